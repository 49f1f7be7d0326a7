"""Prepare and check releases at their published sizes, made up here: seconds and peak memory.

    python benchmarks/prepare.py lithobench|georefusal|forge [--folder DIR]

Rows and picture sizes are those published: 10,000 tiles of 224 x 224; 587 scenes (800 x 800, our choice); 3,320 FORGE
items with photos of 2304 x 2304 and three-view pictures of 2810 x 1077. FORGE takes about 12 GB of disk twice.
"""

from __future__ import annotations

import argparse
import io
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from geoeval.data import locate
from geoeval.data.checks import check
from geoeval.data.prepare import prepare

PHOTO, THREE_VIEW = (2304, 2304, "JPEG"), (2810, 1077, "PNG")
PLACES = "Where? [0.1, 0.2] (A) [0.3, 0.4] (B) [0.5, 0.6] (C) [0.7, 0.8] (D)"
FORGE = {
    "task1_image": (451, PHOTO, {"granularity": "workpiece"}),
    "task1_three_view": (496, THREE_VIEW, {}),
    "task2_three_view": (830, THREE_VIEW, {}),
    "task3_image": (857, PHOTO, {}),
    "task3_three_view": (309, THREE_VIEW, {"choices": "ABC"}),
    "missing_part_image": (200, PHOTO, {}),
    "missing_part_three_view": (177, THREE_VIEW, {}),
}


def noise(rng: np.random.Generator, width: int, height: int, kind: str) -> bytes:
    """An encoded picture that compresses about as badly as a real one."""
    coarse = rng.integers(0, 255, (height // 4 + 1, width // 4 + 1, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC).save(buffer, kind, quality=90)
    return buffer.getvalue()


def write(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    """Write rows to a parquet file, 50 at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer, block = None, []
    for row in rows:
        block.append(row)
        if len(block) == 50:
            table = pa.Table.from_pylist(block)
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
            block = []
    if block:
        table = pa.Table.from_pylist(block)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table.cast(writer.schema))
    if writer:
        writer.close()


def lithobench(folder: Path, rng: np.random.Generator) -> None:
    """4,000 multiple-choice and 6,000 open items in two parquet files."""
    for kind, count in (("mcq", 4000), ("open", 6000)):
        rows = (
            {
                "question": f"Which rock? {i}",
                "image": {"bytes": noise(rng, 224, 224, "PNG"), "path": "x.png"},
                "answer": "A" if kind == "mcq" else "It is granite.",
                "level": ("ID", "Cmp", "Exp", "App", "Rea")[i % 5],
                "lithology": "GT",
                **({"options": ["granite", "slate", "gabbro", "water"]} if kind == "mcq" else {}),
            }
            for i in range(count)
        )
        write(folder / f"{kind}.parquet", rows)


def georefusal(folder: Path, rng: np.random.Generator) -> None:
    """587 items as two JSON files and a folder of pictures."""
    cases, labels = [], []
    for i in range(587):
        batch = "ABC"[i % 3]
        picture = folder / "images" / batch / f"{batch}-{i}.png"
        picture.parent.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(noise(rng, 800, 800, "PNG"))
        name = str(picture.relative_to(folder))
        cases.append({"id": f"{batch}-{i}", "set": batch, "image": name, "question": "Is there a bridge?"})
        facts = {"gold": "ANSWER", "category": "none", "intensity": "none", "lever": "x"}
        labels.append({"id": f"{batch}-{i}", "set": batch, **facts})
    (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")


def forge(folder: Path, rng: np.random.Generator) -> None:
    """3,320 items in seven configs; six pictures a config, made different by bytes after their end."""
    for config, (count, size, extra) in FORGE.items():
        pool = [noise(rng, *size) for _ in range(6)]
        inspection = config == "task2_three_view"
        rows = (
            {
                "id": i,
                "question": PLACES,
                "image": {"bytes": pool[i % 6] + str(i).encode(), "path": "x"},
                "answer": ("yes", "Crack", "Cut")[i % 3] if inspection else "ABC"[i % 3],
                "scenario": ("MES", "PES", "CNC")[i % 3],
                **extra,
            }
            for i in range(count)
        )
        write(folder / config / "train-00000-of-00001.parquet", rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    makers = {"lithobench": lithobench, "georefusal": georefusal, "forge": forge}
    parser.add_argument("name", choices=makers)
    parser.add_argument("--folder", type=Path, help="where to work; a temporary folder by default")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as work:
        source, target = Path(work, "release"), Path(work, "prepared")
        source.mkdir()
        makers[arguments.name](source, np.random.default_rng(0))
        size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
        begun = time.perf_counter()
        written, problems = prepare(arguments.name, source, target)
        seconds = time.perf_counter() - begun
        rows = sum(part.manifest["output"]["rows"] for part in written)
        print(f"prepare: {rows:,} rows, {size / 1e9:.1f} GB, {seconds:.1f} s, peak {peak()} MB", *problems)
        begun = time.perf_counter()
        for part in written:
            wrong = [found.finding for found in check(locate(part.dataset, str(target))) if found.name == "pictures"]
            print(f"check {part.dataset}: {'; '.join(wrong)}")
        print(f"check: {time.perf_counter() - begun:.1f} s, peak {peak()} MB")


def peak() -> int:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
