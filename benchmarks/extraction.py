"""How fast the extractors read: replies per second on real replies, and seconds on the worst ones we know.

Run with ``python benchmarks/extraction.py [replies.jsonl.gz]``; without a file it looks beside the project.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from geoeval.extraction import extract_inspection, extract_letter, extract_verdict
from geoeval.extraction.reasoning import strip_reasoning

REPLIES = Path(__file__).parents[2] / "shared" / "corpora" / "replies_raw.jsonl.gz"
SIZE = 5_000_000
WORST = {
    "100,000 opening brackets": "(" * 100_000,
    "200,000 times 'Answer:'": "Answer: " * 200_000,
    "5 MB of 'Answer: A, B'": "Answer: " + "A, B, " * (SIZE // 6),
    "5 MB of '('": "(" * SIZE,
    "5 MB of '{'": "{" * SIZE,
    "5 MB of '<'": "<" * SIZE,
    "5 MB of '<think>'": "<think>" * (SIZE // 7),
    "5 MB of letters": "(A) " * (SIZE // 4),
    "5 MB of an option": "about the same " * (SIZE // 15),
    "5 MB of line ends": ":\n" * (SIZE // 2),
    "5 MB of headings": "\n\nQuestion:" * (SIZE // 11),
    "5 MB of Chinese": "答案" * (SIZE // 2),
    "100,000 combining marks": "\u0301\u0323" * 50_000,
}


def seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else REPLIES
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    readers: dict[str, Callable[[dict], object]] = {
        "strip_reasoning": lambda row: strip_reasoning(row["reply"]),
        "extract_letter": lambda row: extract_letter(row["reply"], row["choices"], row["options"]),
        "extract_verdict": lambda row: extract_verdict(row["reply"]),
        "extract_inspection": lambda row: extract_inspection(row["reply"]),
    }
    print(f"{len(rows)} replies, {sum(len(row['reply']) for row in rows) / len(rows):.0f} characters on average")
    for name, read in readers.items():
        best = min(seconds(lambda read=read: [read(row) for row in rows]) for _ in range(3))
        print(f"{name:20} {len(rows) / best:10,.0f} replies/s")
    print(f"\n{'seconds':28}" + "".join(f"{name:>20}" for name in readers))
    for label, reply in WORST.items():
        row = {"reply": reply, "choices": list("ABCD"), "options": ["Point A", "about the same", "3.5", "none"]}
        print(
            f"{label:28}"
            + "".join(f"{seconds(lambda read=read, row=row: read(row)):20.2f}" for read in readers.values())
        )


if __name__ == "__main__":
    main()
