"""The same replies for every harness: the sample's rows, numbered, and an endpoint that knows the reply to each number.

Replies are real ones where the labelled corpora are at hand, and styled ones besides: right, wrong, reasoning closed
and unclosed, fences, refusals, empty, 40,000 characters, odd characters, failed requests.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from endpoints import Endpoint, JsonHandler, completion, running

from geoeval.benchmarks import get_benchmark
from geoeval.data import item_from_row, locate
from geoeval.types import Item, Score

TASKS = (
    "lithobench_mcq",
    "lithobench_open",
    "georefusal",
    "forge_workveri",
    "forge_surfinsp",
    "forge_assyveri_icd",
    "forge_missing_part_image",
    "forge_grounding_letter_to_coordinate",
    "forge_grounding_cross_letter",
)
CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
FAILED = "(the endpoint fails)"
STYLES = (
    "{answer}",
    "{answer}",
    "<think>Let me look. Maybe A, maybe ANSWER.</think>{answer}",
    "```json\n{answer}\n```",
    "The picture shows a scene. {answer}\n\nI am fairly sure.",
    "<think>never closed {answer}",
    "I cannot tell.",
    "{answer} \U0001f600\u2028\u200b",
    "None",
    "03",
    "N/A",
    "https://example.org/" + "a" * 2100 + "\n{answer}",
    "The scene is wide and calm. " * 1430 + "\n\n{answer}",
    "",
    FAILED,
)
_NUMBER = re.compile(r"\(No\. (\d+)\)")


@dataclass(frozen=True)
class Case:
    """One row, its number, and what the endpoint replies."""

    number: int
    task: str
    item: Item
    reply: str

    @property
    def expected(self) -> Score:
        """What our rules say, computed without any harness."""
        return get_benchmark(self.task).score(self.item, None if self.reply == FAILED else self.reply)


def prepare(folder: Path, tasks: Sequence[str] = TASKS, *, failures: bool = True) -> list[Case]:
    """Write the numbered rows into ``folder`` in the canonical layout, and choose a reply to each.

    Args:
        folder: Gets the rows.
        tasks: No two of them may share a row.
        failures: Whether the endpoint fails on some; a text stands in their place otherwise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    real = _real_replies()
    cases: list[Case] = []
    numbers: dict[str, int] = {}
    for dataset in dict.fromkeys(get_benchmark(task).dataset for task in tasks):
        table = pq.read_table(locate(dataset, "sample").path)
        rows = table.to_pylist()
        for row in rows:
            number = numbers[row["id"]] = len(numbers) + 1
            row["question"] += f" (No. {number})"
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / f"{dataset}.parquet")
        for task in tasks:
            benchmark = get_benchmark(task)
            if benchmark.dataset != dataset:
                continue
            ours = [item_from_row(row, benchmark.strata, benchmark.setting) for row in rows if benchmark.includes(row)]
            for item in ours:
                answers = benchmark.answers(item) or [other.gold[0] for other in ours]
                answer = benchmark.format_reply(item, rng.choice([item.gold[0], rng.choice(answers)]))
                style = rng.choice(STYLES).replace("{answer}", answer)
                kind = "open" if not benchmark.labels else dataset if dataset in real else "letters"
                reply = rng.choice(real[kind]) if real and rng.random() < 0.4 else style
                if reply == FAILED and not failures:
                    reply = "(no failure)"
                cases.append(Case(numbers[item.id], task, item, reply))
    assert len({case.number for case in cases}) == len(cases), "two tasks share a row"
    return cases


def _real_replies() -> dict[str, list[str]]:
    """Real replies by the kind of task; empty where the corpora are not at hand."""
    if not CORPORA.is_dir():
        return {}
    with gzip.open(CORPORA / "replies_raw.jsonl.gz", "rt", encoding="utf-8") as file:
        letters = [reply for line in file if (reply := json.loads(line)["reply"]).strip()]

    def constructed(name: str) -> list[str]:
        with open(CORPORA / name, encoding="utf-8") as file:
            replies = [json.loads(line)["reply"] for line in file]
        return [reply for reply in replies if reply and reply.strip() and _can_be_sent(reply)]

    return {
        "letters": letters,
        "open": [reply for reply in letters if len(reply) > 200],
        "georefusal": constructed("verdicts_dev.jsonl"),
        "forge_surfinsp": constructed("surfinsp_dev.jsonl"),
    }


def _can_be_sent(reply: str) -> bool:
    """Whether it is Unicode text: a lone surrogate is, in no harness's files."""
    try:
        reply.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass
class Seen:
    """What arrived for one number."""

    texts: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    requests: int = 0


class Replies(Endpoint):
    """Knows the reply to each number; ``seen`` maps number to what arrived last."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__(_Handler)
        self.replies = {case.number: case.reply for case in cases}
        self.seen: dict[int, Seen] = {}


class _Handler(JsonHandler):
    server: Replies

    def do_POST(self) -> None:
        content = self.body()["messages"][-1]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [part["text"] for part in parts if part["type"] == "text"]
        found = _NUMBER.findall("\n".join(texts))
        reply = self.server.replies[int(found[-1])] if found else "ok"  # a harness's own first call asks for nothing
        if found:
            with self.server.lock:
                seen = self.server.seen.setdefault(int(found[-1]), Seen())
                seen.requests += 1
                seen.texts = texts
                seen.pictures = [
                    hashlib.sha256(part["image_url"]["url"].encode()).hexdigest()
                    for part in parts
                    if part["type"] == "image_url"
                ]
        if reply == FAILED:
            self.send(500, {"error": {"message": "the engine is overloaded", "type": "server_error"}})
        else:
            self.send(200, completion(reply))

    def do_GET(self) -> None:
        """The list of models, which some clients ask for."""
        self.send(200, {"object": "list", "data": [{"id": "stand-in", "object": "model"}]})


@contextmanager
def serving(cases: Sequence[Case]) -> Iterator[Replies]:
    """A running endpoint on a free port, shut down at the end."""
    server = Replies(cases)
    with running(server):
        yield server
