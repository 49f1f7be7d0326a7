"""A progress bar for what takes more than two seconds; silent where standard error is no terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
_PATIENCE = 2.0


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a bar that counts them."""
    with progress(what, total) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def progress(what: str, total: int | None = None, as_bytes: bool = False) -> Iterator[Callable[[int], None]]:
    """A bar that is shown once two seconds have passed.

    Yields:
        What to call with how much was done; from any thread.
    """
    if not sys.stderr.isatty():
        yield lambda amount: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    count = DownloadColumn() if as_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task, started = bar.add_task(what, total=total), time.monotonic()

    def advance(amount: int) -> None:
        bar.update(task, advance=amount)
        if not bar.live.is_started and time.monotonic() - started > _PATIENCE:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()


@contextmanager
def growing(what: str, folder: Path, total: int) -> Iterator[None]:
    """A bar that follows the size of the files in a folder."""
    before, stop = _size(folder), threading.Event()
    with progress(what, total, as_bytes=True) as advance:

        def follow() -> None:
            shown = 0
            while not stop.wait(0.5):
                size = _size(folder) - before
                advance(size - shown)
                shown = size

        thread = threading.Thread(target=follow, daemon=True)
        if sys.stderr.isatty():
            thread.start()
        try:
            yield
        finally:
            stop.set()


def _size(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # a file may be gone by now
            size += path.stat().st_size if path.is_file() else 0
    return size
