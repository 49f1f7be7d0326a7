"""Makes our tasks known to lmms-eval through its only entry point group, ``lmms_eval.models``.

lmms-eval calls `manifests` while it builds its model registry, which happens before its command line builds a
TaskManager. `manifests` returns the baseline model and, on the way, lets TaskManager index our folder too. lmms-eval
has no entry point for tasks (0.7.3).

One exception here would drop the models of every other plugin, and one unreadable YAML in an indexed folder stops every
run, ours or not; so nothing raises, and our folder is indexed apart from the others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

MODEL_NAME = "geoeval_baseline"
problems: list[str] = []
"""What went wrong in registration, for our own command line and ``geoeval doctor``."""


def shipped(folder: str) -> Path:
    """The folder "tasks" or "yaml_configs", installed or in a checkout."""
    package = Path(__file__).parents[2]
    return package / folder if (package / folder).is_dir() else package.parent / folder


def tasks_dir() -> Path:
    """The folder of our task YAMLs."""
    return shipped("tasks")


def manifests() -> list[Any]:
    """The entry point: registers the tasks and returns the manifest of the baseline model."""
    from lmms_eval.models.registry_v2 import ModelManifest

    try:
        register_tasks()
    except Exception as error:
        report(f"tasks not registered ({error!r}); pass --include_path {tasks_dir()}")
    return [ModelManifest(model_id=MODEL_NAME, chat_class_path="geoeval.harness.lmms_eval.baseline.Baseline")]


def register_tasks() -> None:
    """Let every TaskManager index our tasks after all others. Calling it again changes nothing."""
    from lmms_eval.tasks import TaskManager

    if not hasattr(TaskManager.initialize_tasks, "geoeval"):
        TaskManager.initialize_tasks = _with_ours(TaskManager.initialize_tasks)


def _with_ours(original: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    @functools.wraps(original)
    def initialize_tasks(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        index = original(self, *args, **kwargs)
        try:
            ours = dict(self._get_task_and_group(str(tasks_dir())))
            _check_names(ours, index)
            return {**ours, **index}
        except Exception as error:
            report(f"tasks not registered ({error!r}); pass --include_path {tasks_dir()}")
            return index

    initialize_tasks.geoeval = True  # type: ignore[attr-defined]
    return initialize_tasks


def _check_names(ours: Mapping[str, Mapping[str, Any]], others: Mapping[str, Mapping[str, Any]]) -> None:
    """Report each of our names that somebody else has. Theirs stays: a user's own folder may replace a task of ours."""
    import lmms_eval

    upstream = Path(lmms_eval.__file__).parent
    for name in sorted(ours.keys() & others.keys()):
        theirs = Path(str(others[name]["yaml_path"]))  # -1 for a tag, which has no file
        if theirs.exists() and theirs.samefile(ours[name]["yaml_path"]):
            continue
        problem = f"the task name {name!r} is taken by {theirs}: that task runs, not geoeval's"
        if theirs.exists() and not theirs.is_relative_to(upstream):
            _log("WARNING", problem)
        else:
            report(problem)


def report(problem: str) -> None:
    """Log a problem once, and keep it for the exit status."""
    if problem not in problems:
        problems.append(problem)
        _log("ERROR", problem)


def _log(level: str, message: str) -> None:
    from loguru import logger

    logger.log(level, f"geoeval: {message}")
