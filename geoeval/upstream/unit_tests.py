"""The unit tests that go with a contribution."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pprint import pformat

from geoeval.benchmarks import get_benchmark
from geoeval.upstream.families import Family
from geoeval.upstream.text import filled
from geoeval.upstream.vendor import Bundle


def unit_tests(family: Family, made: Bundle, *, tasks: Sequence[str], imports: str, extra: str) -> str:
    """Replies and what is read of them, junk, prompts; with what only this project's tests have.

    Args:
        family: The benchmark.
        made: What the contribution has of our sources.
        tasks: The names that its tests look for in the project.
        imports: Import statements of ``extra``.
        extra: Further tests.
    """
    items = {case.task: family.item(case.task) for case in family.cases}
    texts = {task: get_benchmark(task).flat_prompt(item) for task, item in items.items()}
    return filled(
        "test_common.txt",
        title=family.title,
        package=made.package,
        types=made.file_of("geoeval.types"),
        imports=imports,
        items="{" + ", ".join(f"{task!r}: {item!r}" for task, item in items.items()) + "}",
        cases=pformat([(case.task, case.reply, case.read) for case in family.cases], width=200),
        prompts=pformat({task: hashlib.sha256(text.encode()).hexdigest() for task, text in texts.items()}),
        tasks=pformat(list(tasks)),
        extra=extra,
    )
