"""Speed and exactness of ROUGE-L and BLEU-4 beside rouge-score and sacrebleu, on the same pairs in one run.

    python benchmarks/overlap.py [replies.jsonl.gz] [--pairs 1000]

The file holds one JSON object a line with a "reply". Without one, the replies beside this repository are taken when
they are there, else text generated from a fixed seed. Each reply is compared with the next one in the file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from geoeval.metrics.overlap import bleu_4, bleu_4_signature, has_cjk, rouge_l, rouge_l_signature

REPLIES = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "replies_raw.jsonl.gz"


def main() -> None:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replies", nargs="?", type=Path, default=REPLIES if REPLIES.exists() else None)
    parser.add_argument("--pairs", type=int, default=1000)
    arguments = parser.parse_args()

    texts = generated(2 * arguments.pairs) if arguments.replies is None else read(arguments.replies)
    latin = [text for text in texts if not has_cjk(text)]
    pairs = list(islice(zip(latin[::2], latin[1::2], strict=False), arguments.pairs))
    if not pairs:
        parser.error("fewer than two replies without CJK")
    source = f"generated text, seed 0 ({len(texts)})" if arguments.replies is None else f"real replies, {len(texts)}"
    print(
        f"{len(pairs)} pairs from {source}; {len(texts) - len(latin)} texts with CJK left out (they differ by design)"
    )

    scorer, bleu = RougeScorer(["rougeL"], use_stemmer=False), BLEU(effective_order=True)
    report("ROUGE-L", rouge_l, lambda reply, ref: scorer.score(ref, reply)["rougeL"].fmeasure, pairs)
    report("BLEU-4", bleu_4, lambda reply, ref: bleu.sentence_score(reply, [ref]).score / 100, pairs)
    print(rouge_l_signature(ref for _, ref in pairs))
    print(bleu_4_signature(ref for _, ref in pairs))


def report(name: str, ours: Score, theirs: Score, pairs: list[tuple[str, str]]) -> None:
    """Time both on all pairs and print the ratio and the largest difference."""
    for score in (ours, theirs):
        score("import and build caches", "first")
    (values, seconds), (expected, slow) = timed(ours, pairs), timed(theirs, pairs)
    difference = max(abs(value - other) for value, other in zip(values, expected, strict=True))
    each = 1e6 / len(pairs)
    print(
        f"{name}: {seconds * each:.0f} us a pair, library {slow * each:.0f} us: {slow / seconds:.1f} times faster, "
        f"maximal difference {difference:.1e}"
    )


def timed(score: Score, pairs: list[tuple[str, str]]) -> tuple[list[float], float]:
    """The values of all pairs and the seconds they took."""
    start = time.perf_counter()
    values = [score(reply, reference) for reply, reference in pairs]
    return values, time.perf_counter() - start


def read(path: Path) -> list[str]:
    """All replies of a file, gzipped or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["reply"] for line in lines]


def generated(count: int) -> list[str]:
    """Texts of 10 to 200 words, frequent words being frequent."""
    draw = random.Random(0)
    words = [f"{stem}{ending}" for stem in ("rock", "tone", "band", "ridge") for ending in ("", "s", "ed", "y", "ing")]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [" ".join(draw.choices(words, weights, k=draw.randint(10, 200))) for _ in range(count)]


Score = Callable[[str, str], float]

if __name__ == "__main__":
    main()
