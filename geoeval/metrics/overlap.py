"""Text overlap of a reply with reference answers: ROUGE-L, BLEU-4 and the open score made of both.

All values are 0-1 (the open score is 0-10). Every function is total and thread-safe: any string has a value, an empty
one 0.0. For a given reference the time grows linearly with the length of the reply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from geoeval import __version__

References = str | Sequence[str]
"""What a reply is compared with: one text or several."""

BLEU_VARIANTS = ("sacrebleu_sentence", "nltk_method1")

_MAX_ORDER = 4
_CJK = (
    r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"  # hangul
    r"\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    r"\u3005-\u3007\u3100-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # han
)
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_WORD = re.compile(f"[a-z0-9]+|[{_CJK}]")


def rouge_l(reply: str, references: References) -> float:
    """ROUGE-L F1 (Lin, 2004), without stemming; the best over several references.

    Equal to the last bit to ``RougeScorer(["rougeL"], use_stemmer=False)`` of rouge-score where reply and references
    hold no CJK. That package sees nothing but a-z and 0-9, so two equal Chinese texts get 0; here each Han, kana or
    hangul character is a word as well. This holds for every text: neither side can choose the tokenizer.

    Args:
        reply: The model's text.
        references: One reference or several.

    Returns:
        0-1; 0.0 when either side holds no word.

    Raises:
        ValueError: There is no reference.
    """
    words = _WORD.findall(reply.lower())
    return max(_rouge_l_f1(words, _WORD.findall(reference.lower())) for reference in _several(references))


def bleu_4(reply: str, references: References, variant: str = "sacrebleu_sentence") -> float:
    """Sentence BLEU with n-grams of 1 to 4 words.

    Several references are pooled as BLEU defines it (Papineni et al., 2002): n-grams of all of them match, the closest
    length counts. Two variants, since values of different ones do not compare:

    * ``sacrebleu_sentence``: ``sacrebleu.BLEU(effective_order=True)`` / 100, exponential smoothing, tokenizer 13a.
    * ``nltk_method1``: ``nltk`` ``sentence_bleu`` with smoothing method 1 on words split at white space.

    Both use sacrebleu's tokenizer ``zh`` instead when a reference holds CJK. Only the references decide that: a reply
    cannot choose how it is counted, and all models answering an item share one tokenizer.

    Args:
        reply: The model's text.
        references: One reference or several.
        variant: One of `BLEU_VARIANTS`.

    Returns:
        0-1; 0.0 when no word is shared.

    Raises:
        ValueError: There is no reference, or no such variant.
    """
    texts = _several(references)
    if variant == "sacrebleu_sentence":
        return _sacrebleu(_bleu_statistics(reply, texts), effective_order=True)
    if variant == "nltk_method1":
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

        split = _splitter(_bleu_tokenizer(texts, default="split"))
        smoothing = SmoothingFunction().method1
        return float(sentence_bleu([split(text) for text in texts], split(reply), smoothing_function=smoothing))
    raise ValueError(f"no BLEU variant {variant!r}; there are {', '.join(BLEU_VARIANTS)}")


def corpus_bleu_4(replies: Sequence[str], references: Sequence[References]) -> float:
    """Corpus BLEU-4: n-gram counts are added over all replies before the precisions are taken.

    Equal to ``sacrebleu.BLEU().corpus_score`` / 100; each item brings its own tokenizer (see `bleu_4`).

    Args:
        replies: The model's texts.
        references: For each reply its reference or references.

    Returns:
        0-1; nan when there are no replies.

    Raises:
        ValueError: The lengths differ, or an item has no reference.
    """
    if not replies and not references:
        return float("nan")
    each = [_bleu_statistics(reply, _several(refs)) for reply, refs in zip(replies, references, strict=True)]
    return _sacrebleu([sum(column) for column in zip(*each, strict=True)], effective_order=False)


def open_score(rouge_l: float, bleu_4: float) -> float:
    """LithoBench's "OPEN without judge": ``10 * (0.6 * ROUGE-L + 0.4 * BLEU-4)``.

    Derived from the 14 published rows, all of which it reproduces within 0.0003.

    Args:
        rouge_l: 0-1.
        bleu_4: 0-1.

    Returns:
        0-10.
    """
    return 10 * (0.6 * rouge_l + 0.4 * bleu_4)


def has_cjk(text: str) -> bool:
    """Whether a text holds a Han, kana or hangul character: a word of `rouge_l`, a reason for ``zh`` in `bleu_4`."""
    return _CJK_CHARACTER.search(text) is not None


def rouge_l_signature(references: Iterable[References]) -> str:
    """One line that says how `rouge_l` was computed, in the manner of sacrebleu.

    Args:
        references: For each item of the run its reference or references.

    Returns:
        E.g. ``rouge_l|nrefs:1|stem:no|tok:a-z0-9+cjk-char|rapidfuzz:3.14.6|geoeval:0.1.0``.
    """
    nrefs = _one_or_var({len(_several(refs)) for refs in references})
    return f"rouge_l|nrefs:{nrefs}|stem:no|tok:a-z0-9+cjk-char|{_versions('rapidfuzz')}"


def bleu_4_signature(references: Iterable[References], variant: str = "sacrebleu_sentence") -> str:
    """One line that says how `bleu_4` or `corpus_bleu_4` was computed, in the manner of sacrebleu.

    Args:
        references: For each item of the run its reference or references.
        variant: One of `BLEU_VARIANTS`, or ``sacrebleu_corpus`` for `corpus_bleu_4`.

    Returns:
        E.g. ``bleu_4|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|sacrebleu:2.6.0|geoeval:0.1.0``. ``nrefs`` is
        ``var`` and ``tok`` lists several when items differ.

    Raises:
        ValueError: No such variant.
    """
    settings = {
        "sacrebleu_sentence": ("yes", "13a", "exp", ("sacrebleu",)),
        "sacrebleu_corpus": ("no", "13a", "exp", ("sacrebleu",)),
        "nltk_method1": ("no", "split", "nltk-method1", ("nltk", "sacrebleu")),
    }
    if variant not in settings:
        raise ValueError(f"no BLEU variant {variant!r}; there are {', '.join(settings)}")
    effective, default, smoothing, libraries = settings[variant]
    texts = [_several(refs) for refs in references]
    nrefs = _one_or_var({len(several) for several in texts})
    tokenizers = ",".join(sorted({_bleu_tokenizer(several, default) for several in texts})) or default
    name = "bleu_4_corpus" if variant == "sacrebleu_corpus" else "bleu_4"
    fields = f"case:mixed|eff:{effective}|tok:{tokenizers}|smooth:{smoothing}"
    return f"{name}|nrefs:{nrefs}|{fields}|{_versions(*libraries)}"


def _several(references: References) -> tuple[str, ...]:
    several = (references,) if isinstance(references, str) else tuple(references)
    if not several:
        raise ValueError("an item needs at least one reference")
    return several


def _one_or_var(sizes: set[int]) -> str:
    return str(sizes.pop()) if len(sizes) == 1 else "var"


def _versions(*libraries: str) -> str:
    from importlib.metadata import version

    return "|".join([*(f"{name}:{version(name)}" for name in libraries), f"geoeval:{__version__}"])


def _rouge_l_f1(reply: list[str], reference: list[str]) -> float:
    from rapidfuzz.distance import LCSseq

    if not reply or not reference:
        return 0.0
    known = set(reference)  # other words cannot be shared; without them a runaway reply costs little
    common = LCSseq.similarity(reference, [word for word in reply if word in known])
    precision, recall = common / len(reply), common / len(reference)
    return 2 * precision * recall / (precision + recall) if common else 0.0


def _bleu_tokenizer(references: Sequence[str], default: str) -> str:
    return "zh" if any(map(has_cjk, references)) else default


@cache
def _splitter(tokenizer: str) -> Callable[[str], list[str]]:
    """The function that splits a text into words, by the tokenizer's name in sacrebleu (or "split")."""
    if tokenizer == "split":
        return str.split
    from sacrebleu.metrics.bleu import BLEU

    tokenize = BLEU(tokenize=tokenizer).tokenizer
    return lambda text: tokenize(text.rstrip()).split()


def _ngrams(words: list[str], order: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(order)), strict=False)


def _bleu_statistics(reply: str, references: Sequence[str]) -> list[int]:
    """What BLEU adds up over items: reply length, closest reference length, then matches and n-grams of each order.

    sacrebleu counts every n-gram of the reply, here only those a reference holds are: a 5 MB reply takes a third of
    the time and little memory.
    """
    split = _splitter(_bleu_tokenizer(references, default="13a"))
    words, texts = split(reply), [split(text) for text in references]
    closest = min((len(text) for text in texts), key=lambda length: (abs(length - len(words)), length))
    matches = []
    for order in range(1, _MAX_ORDER + 1):
        allowed: Counter[tuple[str, ...]] = Counter()
        for text in texts:
            allowed |= Counter(_ngrams(text, order))
        found = Counter(filter(allowed.__contains__, _ngrams(words, order)))
        matches.append((found & allowed).total())
    totals = [max(len(words) - order + 1, 0) for order in range(1, _MAX_ORDER + 1)]
    return [len(words), closest, *matches, *totals]


def _sacrebleu(statistics: list[int], effective_order: bool) -> float:
    from sacrebleu.metrics.bleu import BLEU

    reply_length, reference_length = statistics[:2]
    matches, totals = statistics[2 : 2 + _MAX_ORDER], statistics[2 + _MAX_ORDER :]
    score = BLEU.compute_bleu(
        matches, totals, reply_length, reference_length, smooth_method="exp", effective_order=effective_order
    ).score
    return min(float(score) / 100, 1.0)  # rounding can leave 100.00000000000004
