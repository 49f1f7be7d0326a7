"""How many replies ``geoeval score`` marks a second, and the memory it takes at 100,000 and at 1,000,000 replies.

Two shapes: many models on one small task, interleaved in one file (``models``), and one model on one huge task
(``items``). Run with ``python benchmarks/score.py [REPLIES [TASK] [SHAPE]]`` (default: 1,000,000 and all). Each
measurement is a process of its own, on files in a temporary folder. Beside it stands how fast the benchmark alone marks
the same replies.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, task_items

TASKS = ("georefusal", "forge_workveri")
ITEMS_OF_A_MODEL = 5_000
PROSE = "The picture shows the same kind of part four times, and one of them differs in its hole. " * 3

COMMAND = """
import re, sys, time
from geoeval.cli import main
try:
    main(sys.argv[1:])
finally:
    print(time.process_time(), re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def data(folder: Path, task: str, n: int) -> None:
    """The bundled sample repeated to n items, without pictures."""
    source = locate(get_benchmark(task).dataset, "sample")
    columns = [c for c in pq.read_schema(source.path).names if not c.endswith("images")]
    rows = pq.read_table(source.path, columns=columns).to_pylist()
    with pq.ParquetWriter(folder / f"{source.task}.parquet", pa.Table.from_pylist(rows).schema) as writer:
        for start in range(0, n, 50_000):
            part = [
                {**rows[k % len(rows)], "id": f"item-{k:08d}", "cluster": f"cluster-{k // 4:07d}"}
                for k in range(start, min(n, start + 50_000))
            ]
            writer.write_table(pa.Table.from_pylist(part, schema=writer.schema))


def replies(path: Path, task: str, folder: Path, n: int, models: int) -> None:
    """Write n replies to all items in turn, each model one reply to each item."""
    benchmark = get_benchmark(task)
    source = locate(benchmark.dataset, str(folder))
    texts = []
    for item in task_items(task, source, pictures=False):
        wrong = benchmark.answers(item)[0]
        answers = [f"{PROSE}\n\n{benchmark.format_reply(item, answer)}" for answer in (item.gold[0], wrong)]
        texts.append([item.id, *map(json.dumps, answers)])
    with open(path, "w", encoding="utf-8") as file:
        for k in range(n):
            id_, *answers = texts[k // models]
            model = f', "model": "model-{k % models}"' if models > 1 else ""
            file.write(f'{{"id": "{id_}", "task": "{task}"{model}, "reply": {answers[k % 3 == 0]}}}\n')


def measure(path: Path, task: str, folder: Path, out: Path) -> tuple[float, int]:
    """Seconds of processor time and peak memory in MB of one command; Linux."""
    command = [sys.executable, "-c", COMMAND, "score", str(path), "--task", task, "--data", str(folder), "-o", str(out)]
    done = subprocess.run([*command, "-q"], capture_output=True, text=True, check=True)
    seconds, kilobytes = done.stdout.split()[-2:]
    return float(seconds), int(kilobytes) // 1024


def alone(path: Path, task: str, folder: Path) -> float:
    """Seconds of processor time that the benchmark itself takes to mark one reply."""
    benchmark = get_benchmark(task)
    items = {item.id: item for item in task_items(task, locate(benchmark.dataset, str(folder)), pictures=False)}
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, 20_000)]
    begun = time.process_time()
    for row in rows:
        benchmark.score(items[row["id"]], row["reply"])
    return (time.process_time() - begun) / len(rows)


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{'task and shape':24}{'replies':>10}{'seconds':>9}{'replies/s':>10}{'marking alone/s':>17}{'peak MB':>9}")
    for task in TASKS:
        for shape in ("models", "items"):
            if not set(sys.argv[2:]) <= {task, shape}:
                continue
            for n in (most // 10, most):
                with tempfile.TemporaryDirectory() as name:
                    folder = Path(name)
                    items = min(ITEMS_OF_A_MODEL, n) if shape == "models" else n
                    data(folder, task, items)
                    replies(folder / "replies.jsonl", task, folder, n, n // items)
                    marking = alone(folder / "replies.jsonl", task, folder)
                    seconds, memory = measure(folder / "replies.jsonl", task, folder, folder / "out")
                rates = f"{n / seconds:10,.0f}{1 / marking:17,.0f}"
                print(f"{f'{task} {shape}':24}{n:10,}{seconds:9.1f}{rates}{memory:9,}", flush=True)


if __name__ == "__main__":
    main()
