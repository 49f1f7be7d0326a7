"""What is wrong in an environment and how to mend it, for ``geoeval doctor``.

Every check is a fact measured on lmms-eval 0.7.3, ms-vlmeval 0.0.20, inspect-ai 0.3.285 or lm-eval 0.4.13;
`Finding.fix` is a command or setting that removes it. A harness that is not installed is an error only where none is.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version

OLDEST_LMMS_EVAL, OLDEST_INSPECT, OLDEST_LM_EVAL = "0.7.3", "0.3.285", "0.4.13"
_EXTRAS = {"report": ("jinja2", "matplotlib"), "judge": ("openai", "tenacity")}
_DATASETS_FIX = 'pip install "datasets>=4"'


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes:
        level: "ok", "warning" (something of ours cannot be used) or "error" (evaluations fail).
        what: What was found.
        fix: How to mend it; empty when nothing is wrong.
    """

    level: str
    what: str
    fix: str = ""


def examine() -> Iterator[Finding]:
    """Look at this environment, cheap checks first."""
    yield Finding("ok", f"Python {platform.python_version()}, geoeval {installed('geoeval') or 'not installed'}")
    others = [*_examine_vlmevalkit(), *_examine_inspect(), *_examine_lm_eval()]
    harness = installed("lmms-eval")
    if harness is None and others:
        yield Finding("ok", "lmms-eval is not installed; another harness is")
    elif harness is None:
        yield Finding("error", "lmms-eval is not installed, nor another harness", 'pip install "geoeval[lmms-eval]"')
    elif not at_least(harness, OLDEST_LMMS_EVAL):
        yield Finding(
            "error",
            f"lmms-eval {harness} is too old: its wheels lack the templates of its own tasks, so it cannot list any",
            f'pip install "lmms-eval>={OLDEST_LMMS_EVAL}"',
        )
    else:
        yield Finding("ok", f"lmms-eval {harness}")
        parts = [*_examine_datasets(), *_examine_filelock(), *_examine_torch()]
        yield from parts
        if all(part.level == "ok" for part in parts):  # else it would only say the same again
            yield from _examine_registration()
    yield from others
    yield from _examine_data()
    yield from _examine_judge()
    for extra, packages in _EXTRAS.items():
        missing = [package for package in packages if installed(package) is None]
        needed = f"geoeval {extra} needs {', '.join(missing)}, which is not installed"
        yield Finding(
            "ok", f"geoeval {extra} can be used" if not missing else f'{needed}: pip install "geoeval[{extra}]"'
        )


def installed(package: str) -> str | None:
    """The installed version of a package, None when there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def at_least(found: str, wanted: str) -> bool:
    """Whether a version is not older than another."""
    from packaging.version import Version

    return Version(found) >= Version(wanted)


def _examine_datasets() -> Iterator[Finding]:
    found = installed("datasets")
    if found and not at_least(found, "4"):
        yield Finding(
            "error", f"datasets {found} cannot keep lists of pictures compressed, which our tasks do", _DATASETS_FIX
        )


def _examine_filelock() -> Iterator[Finding]:
    found = installed("filelock")
    if found and at_least(found, "4.3"):
        yield Finding(
            "error",
            f"filelock {found}: lmms-eval imports filelock._api, which 4.3 dropped, and every evaluation fails",
            'pip install "filelock<4.3"',
        )
    else:
        yield Finding("ok", f"filelock {found}")


def _examine_torch() -> Iterator[Finding]:
    torch, vision = installed("torch"), installed("torchvision")
    if torch is None:
        yield Finding("error", "torch is not installed, and lmms-eval imports it", "pip install torch")
        return
    if vision is None:
        yield Finding("ok", f"torch {torch}, no torchvision (lmms-eval does not need it)")
        return
    # A torchvision for CUDA beside a torch for the CPU fails at import only, and takes transformers with it.
    error = _import_error("torchvision")
    if error:
        yield Finding(
            "error",
            f"torchvision {vision} does not work beside torch {torch} ({error}), and transformers imports it",
            "pip uninstall torchvision (or install the build that belongs to this torch)",
        )
    else:
        yield Finding("ok", f"torch {torch}, torchvision {vision}")


def _examine_registration() -> Iterator[Finding]:
    names = {entry.name for entry in entry_points(group="lmms_eval.models")}
    if "geoeval" not in names:
        yield Finding(
            "error",
            "lmms-eval does not see geoeval: its entry point is missing",
            "pip install geoeval (a folder on PYTHONPATH is not enough)",
        )
        return
    error = _import_error(
        "lmms_eval.models; from lmms_eval.tasks import TaskManager; from geoeval.harness.lmms_eval import plugin; "
        "from geoeval.benchmarks import benchmark_names; index = TaskManager('ERROR').all_tasks; "
        "problems = plugin.problems + [n + ' is missing' for n in benchmark_names() if n not in index]; "
        "assert not problems, '; '.join(problems)"
    )
    if error:
        yield Finding(
            "error", f"our tasks are not known to lmms-eval: {error}", "see the message; pip install -U geoeval"
        )
    else:
        yield Finding("ok", "our tasks are known to lmms-eval")


def _examine_vlmevalkit() -> Iterator[Finding]:
    found = installed("ms-vlmeval") or installed("vlmeval")
    if found is None:
        return
    for package in ("openpyxl", "xlsxwriter"):
        if installed(package) is None:
            yield Finding(
                "error",
                f"VLMEvalKit {found} without {package}: it falls back to pickles, or fails after the last request",
                f"pip install {package}",
            )
    error = _import_error("torchvision")
    if error:
        what = f"VLMEvalKit {found} imports torchvision, which does not work here ({error})"
        yield Finding("error", what, "install the torchvision that belongs to this torch")
    else:
        yield Finding("ok", f"VLMEvalKit {found}: run it as geoeval vlmevalkit")


def _examine_inspect() -> Iterator[Finding]:
    yield from _examine_entry_point(
        "inspect-ai", OLDEST_INSPECT, "inspect", "inspect_ai", "geoeval.harness.inspect_ai._registry"
    )


def _examine_lm_eval() -> Iterator[Finding]:
    found = installed("lm-eval")
    if found and not at_least(found, OLDEST_LM_EVAL):
        what = f"lm-eval {found} is too old: it does not tell our tasks how many pictures the model is shown"
        yield Finding("error", what, f'pip install "lm-eval>={OLDEST_LM_EVAL}"')
    elif found:
        yield Finding("ok", f'lm-eval {found}: --include_path "$(python -m geoeval.harness.lm_eval)"')


def _examine_entry_point(package: str, oldest: str, extra: str, group: str, module: str) -> Iterator[Finding]:
    """A harness that reads an entry point and only warns where that cannot be imported."""
    found = installed(package)
    if found is None:
        return
    if not at_least(found, oldest):
        yield Finding("error", f"{package} {found} is too old for our metrics", f'pip install "{package}>={oldest}"')
    elif "geoeval" not in {entry.name for entry in entry_points(group=group)}:
        yield Finding("error", f"{package} does not see geoeval: its entry point is missing", "pip install geoeval")
    elif error := _import_error(module):
        yield Finding("error", f"{package} cannot load our tasks: {error}", f'pip install -U "geoeval[{extra}]"')
    else:
        yield Finding("ok", f"{package} {found}: our tasks are geoeval/<task>")


def _examine_judge() -> Iterator[Finding]:
    """The judge of the environment; nothing is sent, and its key is not shown."""
    from geoeval.judge.errors import JudgeError
    from geoeval.judge.rubric import load_rubric
    from geoeval.judge.settings import JudgeSettings

    try:
        settings = JudgeSettings.from_env()
        if settings is None:
            yield Finding("ok", "no judge is set (GEOEVAL_JUDGE_MODEL): open answers get no judge's marks")
            return
        key = "with a key" if settings.api_key() else f"without a key ({settings.api_key_env} is not set)"
        rubric = load_rubric(settings.rubric).id
        yield Finding(
            "ok", f"judge {settings.model} at {settings.endpoint}, {key}; rubric {rubric}, w {settings.weight:g}"
        )
    except JudgeError as error:
        yield Finding("error", str(error), "see docs/judge.md, or unset GEOEVAL_JUDGE_*")


def _examine_data() -> Iterator[Finding]:
    from geoeval.benchmarks import benchmark_names, get_benchmark
    from geoeval.data import DataError
    from geoeval.data.schema import benchmark_of
    from geoeval.data.source import find, prepared_folder

    if not os.environ.get("GEOEVAL_DATA"):
        yield Finding("ok", f"GEOEVAL_DATA is not set: tasks use the published releases in {prepared_folder()}")
    for dataset in dict.fromkeys(get_benchmark(task).dataset for task in benchmark_names()):
        try:
            source = find(dataset)
        except DataError as error:
            yield Finding("warning", str(error), "set GEOEVAL_DATA to 'sample' or to the folder that holds the file")
            continue
        if source:
            yield Finding("ok", f"{dataset}: {source.signature}")
        else:
            yield Finding(
                "warning",
                f"{dataset}: not prepared yet; the first task that needs it fetches it",
                f"geoeval data fetch {benchmark_of(dataset)} (or: export GEOEVAL_DATA=sample, or a folder)",
            )


def _import_error(module: str) -> str:
    """Why importing a module fails, tried in a process of its own; empty when it works."""
    command = [sys.executable, "-c", f"import {module}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return "no end after five minutes"
    last = done.stderr.strip().splitlines()[-1:] or [f"ended with status {done.returncode}"]
    return last[0] if done.returncode else ""
