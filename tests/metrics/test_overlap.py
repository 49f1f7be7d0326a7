import gzip
import json
import math
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from geoeval.metrics.overlap import (
    BLEU_VARIANTS,
    bleu_4,
    bleu_4_signature,
    corpus_bleu_4,
    has_cjk,
    open_score,
    rouge_l,
    rouge_l_signature,
)

ROOT = Path(__file__).resolve().parents[2]
REPLIES = ROOT.parent / "shared" / "corpora" / "replies_raw.jsonl.gz"


def texts(count, seed=0):
    """Texts with punctuation, upper case, numbers, markup and characters that lowering or rouge-score treat oddly."""
    draw = random.Random(seed)
    words = ["The", "layered", "rock,", "rock", "is", "1.5", "m-scale", "of", "(dark)", "**SLATE**", "K", "İ", "é", "ß"]
    words += ["&amp;", "tone.\n", "don't", "\\boxed{A}", "the", "a_b", "²", "x\x00y", "\ud800"]
    return [" ".join(draw.choices(words, k=draw.randint(0, 150))) for _ in range(count)]


# --- ROUGE-L -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "references", "expected"),
    [
        ("the cat sat", "the cat sat", 1.0),
        ("police kill the gunman", "police killed the gunman", 3 / 4),  # Lin (2004), section 3.1, sentence 2
        ("the gunman kill police", "police killed the gunman", 2 / 4),  # same, sentence 3: order matters
        ("a b c d", "b d", 2 * (2 / 4) * 1.0 / (2 / 4 + 1.0)),
        ("Sand-stone!", "sand STONE", 1.0),  # case and punctuation do not count
        ("runs", "running", 0.0),  # no stemming
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("?!", "...", 0.0),
        ("a b", ["c", "a b", "a"], 1.0),  # best of several
        ("a b", ("c", "a"), 2 / 3),
    ],
)
def test_rouge_l_by_hand(reply, references, expected):
    assert rouge_l(reply, references) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("reply", "reference", "expected"),
    [
        ("砂岩", "砂岩", 1.0),  # rouge-score gives 0
        ("砂岩为主", "以砂岩为主。", 2 * 1.0 * (4 / 5) / (1.0 + 4 / 5)),
        ("花崗岩です", "花崗岩でした", 2 * (4 / 5) * (4 / 6) / (4 / 5 + 4 / 6)),
        ("カード", "カート", 2 / 3),  # the long-vowel mark is a character of the word
        ("사암 지층", "사암", 2 * (2 / 4) * 1.0 / (2 / 4 + 1.0)),
        ("厚度约15m的sandstone", "厚度约15M的 Sandstone", 1.0),  # other words stay whole
        ("𠀀𠀁", "𠀀", 2 * (1 / 2) * 1.0 / (1 / 2 + 1.0)),  # outside the basic plane
        ("sandstone 砂岩砂岩", "sandstone", 2 * (1 / 5) * 1.0 / (1 / 5 + 1.0)),  # CJK padding costs precision
    ],
)
def test_rouge_l_counts_cjk_characters(reply, reference, expected):
    assert rouge_l(reply, reference) == pytest.approx(expected, abs=1e-15)


def test_rouge_l_equals_rouge_score_to_the_last_bit():
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    for reply, reference in zip(texts(150), texts(150, seed=1), strict=True):
        assert rouge_l(reply, reference) == scorer.score(reference, reply)["rougeL"].fmeasure
    several = texts(3, seed=2)
    assert rouge_l(texts(1)[0], several) == scorer.score_multi(several, texts(1)[0])["rougeL"].fmeasure


@pytest.mark.skipif(not REPLIES.exists(), reason="the corpus of real replies is not here")
def test_rouge_l_and_bleu_4_equal_the_libraries_on_real_replies():
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=False)
    bleu = pytest.importorskip("sacrebleu").BLEU(effective_order=True)
    with gzip.open(REPLIES, "rt", encoding="utf-8") as lines:
        replies = [reply for line in lines if (reply := json.loads(line)["reply"]).isascii()]
    for reply, reference in zip(replies[:600:2], replies[1:600:2], strict=True):
        assert rouge_l(reply, reference) == scorer.score(reference, reply)["rougeL"].fmeasure
        assert bleu_4(reply, reference) == pytest.approx(bleu.sentence_score(reply, [reference]).score / 100, abs=1e-15)


# --- BLEU-4 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "references", "expected"),
    [
        ("the cat sat on the mat", "the cat sat on the mat", 1.0),
        # "the" is clipped: 5/6, 3/5, 2/4, 1/3
        ("the cat sat on the mat", "the cat sat on a mat", (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4)),
        # all n-grams match but the reply is short: brevity penalty alone
        ("a b c d", "a b c d e f", math.exp(1 - 6 / 4)),
        # no 4-gram matches: exponential smoothing halves 1/1
        ("a b c x", "a b c y", (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4)),
        ("a b", "a b", 1.0),  # effective order 2
        ("The", "the", 0.0),  # case counts
        ("a, b.", "a , b .", 1.0),  # 13a splits punctuation
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("a b c d e f", ["a b c x y z", "u v c d e f"], (6 / 6 * 5 / 5 * 3 / 4 * 1 / 3) ** (1 / 4)),  # pooled
        ("a b c d", ["a b c d e f", "a b"], 1.0),  # of two lengths equally close the shorter counts
    ],
)
def test_bleu_4_by_hand(reply, references, expected):
    assert bleu_4(reply, references) == pytest.approx(expected, abs=1e-12)


def test_bleu_4_equals_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    bleu, chinese = sacrebleu.BLEU(effective_order=True), sacrebleu.BLEU(effective_order=True, tokenize="zh")
    for reply, first, second in zip(texts(60), texts(60, seed=1), texts(60, seed=2), strict=True):
        expected = bleu.sentence_score(reply, [first, second]).score / 100
        assert bleu_4(reply, [first, second]) == pytest.approx(expected, abs=1e-15)
    reply, reference = "该图以砂岩为主，夹少量泥岩 about 15%。", "图中以砂岩为主，局部见泥岩，about 15%。"
    expected = chinese.sentence_score(reply, [reference]).score / 100
    assert 0.3 < expected < 0.9
    assert bleu_4(reply, reference) == pytest.approx(expected, abs=1e-15)


def test_bleu_4_nltk_method1_equals_nltk():
    nltk = pytest.importorskip("nltk.translate.bleu_score")
    smoothing = nltk.SmoothingFunction().method1
    for reply, first, second in zip(texts(40), texts(40, seed=1), texts(40, seed=2), strict=True):
        expected = nltk.sentence_bleu([first.split(), second.split()], reply.split(), smoothing_function=smoothing)
        assert bleu_4(reply, [first, second], variant="nltk_method1") == expected
    # 0 of 1 four-grams becomes 0.1 of 1
    assert bleu_4("a b c x", "a b c y", "nltk_method1") == pytest.approx((3 / 4 * 2 / 3 * 1 / 2 * 0.1) ** (1 / 4))
    assert bleu_4("砂岩为主", "砂岩为主", "nltk_method1") == pytest.approx(1.0)


def test_only_the_references_choose_the_tokenizer():
    english = bleu_4("dark slate (foliated)", "dark slate (foliated)")
    assert english == 1.0
    assert bleu_4("dark slate—ridge", "dark slate ridge 岩") != bleu_4("dark slate—ridge 岩", "dark slate ridge")
    sacrebleu = pytest.importorskip("sacrebleu")
    reply = "dark slate—ridge of the valley 岩"  # zh would split the dash, 13a does not
    expected = sacrebleu.BLEU(effective_order=True).sentence_score(reply, ["dark slate ridge"]).score / 100
    assert bleu_4(reply, "dark slate ridge") == pytest.approx(expected, abs=1e-15)


def test_corpus_bleu_4():
    sacrebleu = pytest.importorskip("sacrebleu")
    replies, references = texts(40), texts(40, seed=1)
    expected = sacrebleu.BLEU().corpus_score(replies, [references]).score / 100
    assert corpus_bleu_4(replies, references) == pytest.approx(expected, abs=1e-15)
    assert corpus_bleu_4(["a b c d", "x"], ["a b c d", ["y", "z"]]) == pytest.approx((4 / 5) ** (1 / 4))
    assert corpus_bleu_4(["a b"], ["a b"]) == 0.0  # no effective order: a corpus without 4-grams has no BLEU-4
    assert math.isnan(corpus_bleu_4([], []))
    with pytest.raises(ValueError, match="zip"):
        corpus_bleu_4(["a"], [])


@pytest.mark.parametrize(
    ("text", "expected"), [("岩", True), ("a ア", True), ("층", True), ("a、“b”…é™", False), ("", False)]
)
def test_has_cjk(text, expected):
    assert has_cjk(text) is expected


# --- both ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [rouge_l, *(lambda r, s, v=v: bleu_4(r, s, v) for v in BLEU_VARIANTS)])
@pytest.mark.parametrize("reference", ["dark foliated rock", "深色片岩，见褶皱", "", "\ud83d"])
@pytest.mark.parametrize(
    "reply",
    [
        *(
            "",
            " ",
            "\n\n",
            "\x00",
            "\ud800",
            "\udfff dark",
            "\ufeff",
            "<skipped>",
            "-\n",
            "&lt;&amp;",
            "{{{",
            "|:" * 50,
        ),
        *("dark " * 2000, "岩" * 2000, "a" * 5000, "🪨" * 50, "ﬁ İ ẞ", "\u202e dark", "dark rock\r\n"),
    ],
)
def test_any_reply_has_a_value(score, reference, reply):
    assert 0.0 <= score(reply, reference) <= 1.0


def test_a_runaway_reply_is_harmless():
    reference = " ".join(f"w{i}" for i in range(100))
    reply = f"{reference} " * 5000 + "filler " * 400_000  # 5 MB
    start = time.monotonic()
    words = 100 * 5000 + 400_000
    assert rouge_l(reply, reference) == pytest.approx(2 * 100 / (words + 100))
    assert 0 < bleu_4(reply, reference) < 0.001
    assert time.monotonic() - start < 60


def test_four_threads_agree_with_one():
    pairs = list(zip(texts(200), texts(200, seed=1), strict=True))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda pair: (rouge_l(*pair), bleu_4(*pair)), pairs)) == [
            (rouge_l(*pair), bleu_4(*pair)) for pair in pairs
        ]


@pytest.mark.parametrize("score", [rouge_l, bleu_4])
def test_an_item_without_references_is_a_mistake_of_the_caller(score):
    with pytest.raises(ValueError, match="reference"):
        score("a", [])


def test_unknown_variant():
    with pytest.raises(ValueError, match="nltk_method1"):
        bleu_4("a", "a", "nltk")
    with pytest.raises(ValueError, match="sacrebleu_corpus"):
        bleu_4_signature(["a"], "nltk")


@pytest.mark.parametrize(
    ("rouge", "bleu", "published"),  # arXiv 2605.07640: ROUGE-L, BLEU-4 and OPEN without judge of all 14 rows
    [
        (0.1360, 0.0331, 0.9484),
        (0.1635, 0.0439, 1.1564),
        (0.1246, 0.0298, 0.8666),
        (0.1775, 0.0471, 1.2536),
        (0.1670, 0.0441, 1.1784),
        (0.1872, 0.0545, 1.3413),
        (0.2231, 0.0782, 1.6512),
        (0.1706, 0.0471, 1.2119),
        (0.1644, 0.0427, 1.1570),
        (0.1697, 0.0443, 1.1953),
        (0.1838, 0.0425, 1.2727),
        (0.1414, 0.0297, 0.9671),
        (0.2570, 0.1080, 1.9740),
        (0.2306, 0.0863, 1.7288),
    ],
)
def test_open_score_reproduces_the_published_rows(rouge, bleu, published):
    assert open_score(rouge, bleu) == pytest.approx(published, abs=0.0003)


# --- signatures, imports, benchmark --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (rouge_l_signature(["a", "b"]), "rouge_l|nrefs:1|stem:no|tok:a-z0-9+cjk-char|rapidfuzz:"),
        (rouge_l_signature([["a", "b"], "c"]), "rouge_l|nrefs:var|"),
        (bleu_4_signature(["a"]), "bleu_4|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|sacrebleu:"),
        (bleu_4_signature(["岩"]), "bleu_4|nrefs:1|case:mixed|eff:yes|tok:zh|smooth:exp|sacrebleu:"),
        (bleu_4_signature(["岩", ["a", "b"]]), "bleu_4|nrefs:var|case:mixed|eff:yes|tok:13a,zh|smooth:exp|"),
        (
            bleu_4_signature(["a"], "nltk_method1"),
            "bleu_4|nrefs:1|case:mixed|eff:no|tok:split|smooth:nltk-method1|nltk:",
        ),
        (bleu_4_signature(["a"], "sacrebleu_corpus"), "bleu_4_corpus|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|"),
    ],
)
def test_signatures(signature, expected):
    assert signature.startswith(expected)
    assert "|geoeval:" in signature
    assert "\n" not in signature


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=True).stdout


def test_importing_the_metrics_imports_nothing_heavy():
    modules = "overlap, classification, refusal, intervals"
    heavy = "{'numpy', 'scipy', 'sacrebleu', 'rouge_score', 'nltk', 'rapidfuzz'}"
    assert (
        run("-c", f"from geoeval.metrics import {modules}; import sys; print({heavy} & set(sys.modules))") == "set()\n"
    )


def test_the_benchmark_runs(tmp_path):
    pytest.importorskip("rouge_score")
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps({"reply": text}) + "\n" for text in texts(40)), encoding="utf-8")
    printed = run(ROOT / "benchmarks" / "overlap.py", path, "--pairs", 20)
    assert printed.startswith("20 pairs from real replies, 40")
    assert "maximal difference 0.0e+00" in printed
