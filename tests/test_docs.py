"""The commands of the pages in docs/: every line of a ``bash`` block is run in order, in one folder, as a user would.

A command with ``# GPU`` or ``# network`` in it is left out; ``# exit N`` says what it ends with. What a user fills in
(NAME, HOST:PORT) is filled in here, and a page may need files or a server: see `PAGES`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from geoeval.data import locate, task_items

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```bash\n(.*?)```", re.S)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses a shell")


@dataclass
class Place:
    """Where a page's commands run."""

    folder: Path
    env: dict[str, str]
    fills: dict[str, str]


def commands(page: Path) -> Iterator[tuple[str, int]]:
    """The commands of a page that can be run here, with the exit status they should have."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        command, end = "", ""
        for line in block.splitlines(keepends=True):
            command += line
            if not end and (heredoc := re.search(r"<<'(\w+)'", line)):
                end = heredoc.group(1)
            elif end and line.strip() == end:
                end = ""
            if end or line.rstrip().endswith("\\"):
                continue
            if command.strip() and not re.search(r"# .*(GPU|network)", command):
                status = re.search(r"# exit (\d)", command)
                yield command, int(status.group(1)) if status else 0
            command = ""


def run_page(name: str, place: Place) -> int:
    """Run a page's commands; returns how many there were."""
    run = 0
    for written, status in commands(ROOT / "docs" / name):
        command = written
        for old, new in place.fills.items():
            command = command.replace(old, new)
        if command.startswith("export "):
            key, value = command.removeprefix("export ").partition("#")[0].strip().split("=", 1)
            place.env[key] = value
            continue
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=place.folder,
            env=place.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == status, f"{name}: {command}\n{done.stdout[-3000:]}"
        run += 1
    return run


def _api(place: Place, stack: ExitStack) -> None:
    """Any endpoint: here one that answers every question with a letter."""
    from plain_endpoint import serving

    place.fills.update({"HOST:PORT": stack.enter_context(serving("Answer: A")), "NAME": "some-model"})


def _judge(place: Place, stack: ExitStack) -> None:
    """A judge, marks of people, and the settings of a second judge."""
    from standin_judge import serving

    url = stack.enter_context(serving()).url
    place.fills.update({"HOST:PORT": url.removeprefix("http://").removesuffix("/v1"), "=JUDGE": "=judge-1"})
    place.env["GEOEVAL_CACHE"] = str(place.folder / "cache")
    ids = [item.id for item in task_items("lithobench_open", locate("lithobench_open", "sample"), pictures=False)]
    marks = "".join(f"{id_},{k % 11}\n" for k, id_ in enumerate(ids))
    (place.folder / "people.csv").write_text(f"id,score\n{marks}", encoding="utf-8")
    (place.folder / "second.yaml").write_text(f"model: judge-2\nbase_url: {url}\n", encoding="utf-8")


def _checkout(place: Place, stack: ExitStack) -> None:
    """A checkout of its own, which the page changes."""
    for folder in ("geoeval", "tasks", "yaml_configs"):
        shutil.copytree(ROOT / folder, place.folder / folder, ignore=shutil.ignore_patterns("__pycache__"))
    place.env["PYTHONPATH"] = str(place.folder)


def _nothing(place: Place, stack: ExitStack) -> None:
    """The page needs nothing but the sample."""


PAGES = {
    "api.md": _api,
    "card.md": _nothing,
    "compare.md": _nothing,
    "gpus.md": _nothing,
    "judge.md": _judge,
    "report.md": _nothing,
    "rescore.md": _nothing,
    "subset.md": _checkout,
    "upstream.md": _nothing,
}
TESTED_ELSEWHERE = {"architecture.md", "data.md", "inspect.md", "lm_eval.md", "results.md", "vlmevalkit.md"}


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work(page, tmp_path):
    pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    place = Place(tmp_path, {**os.environ, "PATH": path, "GEOEVAL_DATA": "sample"}, {})
    with ExitStack() as stack:
        PAGES[page](place, stack)
        assert run_page(page, place) > 0


def test_every_page_is_tested():
    assert {path.name for path in (ROOT / "docs").glob("*.md")} <= {*PAGES, *TESTED_ELSEWHERE}
