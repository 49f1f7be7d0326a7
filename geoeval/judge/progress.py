"""How far a judge is: a bar with the cost so far; silent where standard error is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def judging(total: int, shown: bool | None = None) -> Iterator[Callable[[str], None]]:
    """A bar.

    Args:
        total: How many answers.
        shown: Whether to show it; None where standard error is a terminal.

    Yields:
        What to call after each answer, with the cost so far.
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda cost: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[cost]}"),
    )
    with Progress(*columns, console=Console(stderr=True, force_terminal=shown), transient=True) as bar:
        task = bar.add_task("judging", total=total, cost="")
        yield lambda cost: bar.update(task, advance=1, cost=cost)
