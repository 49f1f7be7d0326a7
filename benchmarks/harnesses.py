"""What each harness adds: seconds to start, and milliseconds an item, side by side in one run.

    python benchmarks/harnesses.py [--items 640]

Each harness evaluates the same model on georefusal twice, with 40 items and with more, as a user runs it. The model
is an endpoint on loopback that answers at once, so that what is measured is the harness, its client and our scoring:
pictures are decoded, encoded and sent. The difference of the two runs is what items cost, the rest is start-up. The
last line is what the same requests take with nothing but an HTTP client. Harnesses whose environment is missing are
left out.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TESTS = Path(__file__).parents[1] / "tests" / "harness"
sys.path[:0] = [str(TESTS), *(str(TESTS / name) for name in ("inspect_ai", "lm_eval", "vlmevalkit"))]
import inspect_runs
import lm_eval_runs
import runs
import vlmevalkit_runs
from plain_endpoint import serving

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, open_picture, task_items

TASK, FEW, AT_ONCE = "georefusal", 40, 8
REPLY = '{"verdict": "ANSWER", "answer": "yes", "justification": "It is there."}'


def lmms_eval(folder: Path, data: Path, url: str) -> int:
    model = f"model=m,base_url={url},num_concurrent={AT_ONCE},max_retries=1"
    return runs.evaluate(folder, model, model="openai", tasks=(TASK,), GEOEVAL_DATA=str(data)).status


def inspect_ai(folder: Path, data: Path, url: str) -> int:
    return inspect_runs.evaluate(folder, url, TASK, GEOEVAL_DATA=str(data)).status


def vlmevalkit(folder: Path, data: Path, url: str) -> int:
    more = ("--api-nproc", str(AT_ONCE))
    return vlmevalkit_runs.evaluate(folder, url, ["GeoRefusalBench"], *more, GEOEVAL_DATA=str(data)).status


def lm_eval(folder: Path, data: Path, url: str) -> int:
    return lm_eval_runs.evaluate(folder, url, TASK, GEOEVAL_DATA=str(data)).status


def bare_client(folder: Path, data: Path, url: str) -> int:
    """The same requests, eight at once, built as a harness builds them."""
    benchmark = get_benchmark(TASK)
    host = url.removeprefix("http://").removesuffix("/v1")

    def ask(item: object) -> None:
        (message,) = benchmark.prompt(item)  # type: ignore[arg-type]
        parts = []
        for part in message["content"]:
            if part["type"] == "image":
                content = io.BytesIO()
                open_picture(part["image"]).save(content, "PNG")
                picture = "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
                parts.append({"type": "image_url", "image_url": {"url": picture}})
            else:
                parts.append(part)
        connection = http.client.HTTPConnection(host)
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": parts}]})
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        connection.getresponse().read()
        connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(ask, task_items(TASK, locate(TASK, str(data)))))
    return 0


HARNESSES: dict[str, Callable[[Path, Path, str], int]] = {
    "lmms-eval": lmms_eval,
    "VLMEvalKit": vlmevalkit,
    "inspect-ai": inspect_ai,
    "lm-eval": lm_eval,
    "bare client": bare_client,
}


def data_of(folder: Path, n: int) -> Path:
    """Rows of the sample under new ids, as many as wanted."""
    folder.mkdir(parents=True)
    table = pq.read_table(locate(TASK, "sample").path)
    rows = table.to_pylist()
    rows = [{**rows[k % len(rows)], "id": f"{rows[k % len(rows)]['id']}-{k}"} for k in range(n)]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / f"{TASK}.parquet")
    return folder


def seconds(run: Callable[[Path, Path, str], int], folder: Path, data: Path, url: str) -> float:
    begun = time.perf_counter()
    status = run(folder, data, url)
    if status:
        sys.exit(f"{run.__name__} ended with {status}")
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=640)
    many = parser.parse_args().items
    print(f"{'':14}{'start, s':>10}{'ms an item':>12}{'to lmms-eval':>14}   n={many} and {FEW}, {AT_ONCE} at once")
    first = None
    with tempfile.TemporaryDirectory() as place, serving(REPLY) as host:
        few, more = (data_of(Path(place) / f"data_{n}", n) for n in (FEW, many))
        for name, run in HARNESSES.items():
            folder = Path(place) / run.__name__
            try:
                short = seconds(run, folder / "few", few, f"http://{host}/v1")
                long = seconds(run, folder / "many", more, f"http://{host}/v1")
            except pytest.skip.Exception as missing:
                print(f"{name:14}left out: {missing}")
                continue
            each = (long - short) / (many - FEW)
            first = first or each
            print(f"{name:14}{short - FEW * each:10.1f}{1000 * each:12.1f}{each / first:14.2f}", flush=True)


if __name__ == "__main__":
    main()
