"""The model ``geoeval_baseline``: answers that need no model, through the harness's real prompt path.

``--model geoeval_baseline --model_args strategy=...``: gold; always_answer (never refuses, else the first option);
random (seeded, each item apart); majority (the most frequent answer); first (the first option or verdict); and
replay with ``path=replies.jsonl``, which answers from saved replies by id. It builds the real messages and decodes the
real pictures, so that what works here works with a model.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from lmms_eval.api.instance import GenerationResult
from lmms_eval.api.model import lmms
from lmms_eval.protocol import ChatMessages

from geoeval.benchmarks import Benchmark, get_benchmark
from geoeval.benchmarks.georefusal import ANSWER
from geoeval.data import DataError, item_from_row
from geoeval.types import Item

STRATEGIES = ("gold", "always_answer", "random", "majority", "first", "replay")


class Baseline(lmms):  # type: ignore[misc]
    """See the module.

    Args:
        strategy: gold, always_answer, random, majority, first or replay.
        path: JSONL of ``{"id": ..., "reply": ...}``, needed for replay. A null reply is a failed request.
        seed: Of the strategy random; each item's draw depends on the seed and its id only.

    Raises:
        ValueError: Unknown strategy, or replay without a path.
        DataError: The file of replies cannot be used.
    """

    is_simple = False

    def __init__(self, strategy: str = "gold", path: str = "", seed: int = 0, **ignored: Any) -> None:
        super().__init__()
        if strategy not in STRATEGIES:
            raise ValueError(f"geoeval_baseline: strategy={strategy!r}; choose one of {', '.join(STRATEGIES)}")
        if strategy == "replay" and not path:
            raise ValueError("geoeval_baseline: strategy=replay needs path=FILE, JSONL of id and reply")
        self.accelerator = Accelerator()
        self.device = self.accelerator.device  # the harness gathers counts on it when there are several processes
        self._strategy, self._seed = strategy, int(seed)
        self._replies = load_replies(Path(path)) if path else {}

    def generate_until(self, requests: list[Any]) -> list[GenerationResult]:
        """Build each request's messages as a model would, then answer; a null reply has the text None."""
        replies = []
        references: dict[str, list[str]] = {}
        for request in requests:
            _, doc_to_messages, _, doc_id, task, split = request.args
            docs = self.task_dict[task][split]
            if task not in references:
                references[task] = [gold[0] for gold in docs["gold"]]
            doc = docs[doc_id]
            ChatMessages(messages=doc_to_messages(doc)).to_openai_messages()
            # A bare None would become the text "None" (lmms_eval.api.instance.unwrap_generation_output).
            replies.append(GenerationResult(text=self._reply(task, doc, references[task])))
        return replies

    def _reply(self, task: str, doc: Mapping[str, Any], references: Sequence[str]) -> str | None:
        if self._strategy == "replay":
            return self._replies.get((task, doc["id"]), self._replies.get(("", doc["id"])))
        benchmark = get_benchmark(task)
        item = item_from_row(doc, benchmark.strata)
        return benchmark.format_reply(item, self._answer(benchmark, item, references))

    def _answer(self, benchmark: Benchmark, item: Item, references: Sequence[str]) -> str:
        """The answer of the strategy; for open questions the answers to choose from are the references of all items."""
        if self._strategy == "gold":
            return item.gold[0]
        if self._strategy == "majority":
            return Counter(references).most_common(1)[0][0]
        offered = benchmark.answers(item) or references
        if self._strategy == "random":
            digest = hashlib.sha256(f"{self._seed}:{item.id}".encode()).digest()
            return offered[int.from_bytes(digest[:8], "big") % len(offered)]
        return ANSWER if self._strategy == "always_answer" and ANSWER in offered else offered[0]

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        """Not needed by our tasks.

        Raises:
            TypeError: Always.
        """
        raise TypeError("geoeval_baseline answers generate_until requests only")

    generate_until_multi_round = loglikelihood


def load_replies(path: Path) -> dict[tuple[str, str], str | None]:
    """Read saved replies.

    Args:
        path: JSONL. A line is ``{"id", "reply"}`` (optionally ``"task"``, where ids repeat between tasks), or a line of
            an lmms-eval sample log of ours.

    Returns:
        (task or "", id) -> reply; None for a failed request.

    Raises:
        DataError: No such file, a line that is neither, or an id that occurs twice; names file and line.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file of saved replies")
    replies: dict[tuple[str, str], str | None] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                key, reply = _saved_reply(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}:{number}: needs an object with 'id' and 'reply' ({error!r})") from error
            if key in replies:
                raise DataError(f"{path}:{number}: the id {key[1]!r} occurs twice; which reply counts is not known")
            replies[key] = reply
    return replies


def _saved_reply(line: Mapping[str, Any]) -> tuple[tuple[str, str], str | None]:
    if "coverage" in line:
        task, id_, reply = "", line["coverage"]["id"], line["filtered_resps"]
    else:
        task, id_, reply = line.get("task", ""), line["id"], line["reply"]
    if not isinstance(id_, str) or not isinstance(reply, (str, type(None))):
        raise TypeError("'id' must be a string and 'reply' a string or null")
    return (task, id_), reply
