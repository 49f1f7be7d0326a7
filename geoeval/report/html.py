"""The report: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from geoeval import __version__
from geoeval.data.errors import DataError
from geoeval.data.files import replacing
from geoeval.report import shell
from geoeval.report.browser import LONGEST, asked, json_block, task_data
from geoeval.report.lines import SMALL, Entry, by_task, entries
from geoeval.report.sections import section
from geoeval.report.table import SAMPLE_NOTE
from geoeval.report.text import counted, odd_pattern, plain
from geoeval.report.thumbnails import PIXELS, Thumbnails
from geoeval.runs.model import Result

_CHUNK = 200  # as in detail.js
_SIZE_MARK = "\x02size\x02"  # untrusted text cannot hold it: what is invisible is escaped


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes:
        path: The page.
        size: Its bytes.
        picture_size: How many of them are thumbnails.
        pictures: How many thumbnails there are.
        items: Items in the browser, over all tasks.
        replies: Replies in the browser.
        plots: Files of plots.
        problems: Task -> why its questions and pictures are not in the page.
    """

    path: Path
    size: int
    picture_size: int
    pictures: int
    items: int
    replies: int
    plots: tuple[Path, ...]
    problems: Mapping[str, str]


@dataclass
class _Page:
    """What is collected on the way: the blocks of data of the page, and counts."""

    thumbnails: Thumbnails | None
    blocks: list[tuple[str, str]] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    plots: list[Path] = field(default_factory=list)
    items: int = 0
    replies: int = 0


def write_report(  # noqa: PLR0913 - each is a choice of the user
    results: Sequence[Result],
    to: Path,
    *,
    items: bool = True,
    images: bool = True,
    pixels: int = PIXELS,
    plots: Path | None = None,
    data: str | None = None,
) -> Written:
    """Write the page, whole or not at all.

    Args:
        results: Of any tasks and models.
        to: The HTML file.
        items: Whether it has the item browser.
        images: Whether that has pictures.
        pixels: Longest side of a picture.
        plots: Folder that also gets each plot as SVG and PNG.
        data: Where the data is that was asked, "sample" or a folder; GEOEVAL_DATA when None. Nothing is fetched.

    Raises:
        DataError: There is nothing to report, the files cannot be written, or a library of ``geoeval[report]`` is
            missing.
    """
    _need_libraries()
    found = entries(results)
    page = _Page(Thumbnails(pixels) if items and images else None)
    sections = [_section(task, page, items, plots, data) for task in by_task(found).values()]
    if page.thumbnails:
        page.thumbnails.finish()
        page.blocks += [(f"pictures-{k}", json_block(part)) for k, part in enumerate(page.thumbnails.chunks(_CHUNK))]
    if items:
        names = [section["task"] for section in sections]
        page.blocks.insert(0, ("index", json_block({"tasks": names, "odd": odd_pattern()})))
    text = _render(found, sections, page, items)
    content = text.encode("utf-8")
    content = content.replace(_SIZE_MARK.encode(), _megabytes(len(content)).encode(), 1)
    with replacing(to) as part:
        part.write_bytes(content)
    thumbnails = page.thumbnails or Thumbnails()
    return Written(
        path=to,
        size=len(content),
        picture_size=thumbnails.size,
        pictures=sum(picture is not None for picture in thumbnails.pictures),
        items=page.items,
        replies=page.replies,
        plots=tuple(page.plots),
        problems=page.problems,
    )


def _need_libraries() -> None:
    for name in ("jinja2", "matplotlib"):
        if find_spec(name) is None:
            raise DataError(f"the report needs {name}, which is not installed: pip install 'geoeval[report]'")


def _section(
    task: Sequence[Entry], page: _Page, items: bool, plots: Path | None, data: str | None
) -> Mapping[str, Any]:
    """Draw one task, and put its items into a block of the page."""
    from geoeval.report.plots import plots_of

    name = task[0].result.task
    scored = [{score.id: (score, reply) for score, reply in entry.result.items()} for entry in task]
    if items:
        about = asked(task, page.thumbnails, data)
        if about.problem:
            page.problems[name] = about.problem
        content = task_data(task, scored, about)
        page.blocks.append((f"task-{name}", json_block(content)))
        page.items += len(content["items"])
        page.replies += sum(len(replies) for replies in scored)
    drawn = list(plots_of(task, scored))
    if plots is not None:
        page.plots += [path for plot in drawn for path in plot.save(plots)]
    return section(task, drawn)


def _render(found: Sequence[Entry], sections: Sequence[Mapping[str, Any]], page: _Page, items: bool) -> str:
    style, script = shell.style(), shell.script()
    names = [section["task"] for section in sections]
    models = sorted({(entry.label, entry.key) for entry in found}, key=lambda model: model[1])
    labels = [plain(label) for label, _ in models]
    title = f"{', '.join(names[:2])}{' and more' if len(names) > 2 else ''}: {', '.join(labels[:2])}"
    template = shell.environment().get_template("page.html.j2")
    text: str = template.render(
        title=title + (" and more" if len(labels) > 2 else ""),
        policy=shell.policy(style, script if items else ""),
        style=shell.safe(style),
        script=shell.safe(script) if items else "",
        results=found,
        sections=sections,
        models=models,
        sample=any(entry.result.is_sample for entry in found),
        sample_note=SAMPLE_NOTE,
        browser=items,
        blocks=[(name, shell.safe(content)) for name, content in page.blocks],
        size_line=_size_line(page, items),
        version=__version__,
        small=SMALL,
    )
    return text


def _size_line(page: _Page, items: bool) -> str:
    if not items:
        return f"This page is {_SIZE_MARK}. It was made without items."
    pictures = "without pictures"
    if page.thumbnails:
        n = sum(picture is not None for picture in page.thumbnails.pictures)
        size = _megabytes(page.thumbnails.size)
        pictures = f"of which {counted(n, 'picture')} of at most {page.thumbnails.pixels} pixels take {size}"
    return (
        f"This page is {_SIZE_MARK}, {pictures}; it holds {counted(page.items, 'item')} and "
        f"{counted(page.replies, 'reply', 'replies')}. Of replies over {LONGEST:,} characters it keeps both ends."
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.0f} kB"


def as_json(written: Written) -> dict[str, Any]:
    """What ``--json`` prints."""
    return {**asdict(written), "path": str(written.path), "plots": [str(path) for path in written.plots]}


def summary_lines(written: Written) -> Iterator[str]:
    """What the command prints."""
    pictures = f", of which {counted(written.pictures, 'picture')} {_megabytes(written.picture_size)}"
    yield f"{written.path}: {_megabytes(written.size)}{pictures if written.pictures else ', no pictures'}"
    if written.items:
        yield f"  {counted(written.items, 'item')}, {counted(written.replies, 'reply', 'replies')}"
    if written.plots:
        yield f"  {counted(len(written.plots), 'file')} of plots in {written.plots[0].parent}"
