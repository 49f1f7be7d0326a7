"""``!function utils.<kind>_<task>`` in a task YAML: what lmms-eval wants to know about one task.

``!function`` takes no arguments and calls nothing, and lmms-eval tells its hooks nothing about their task; so each pair
of kind and task is an attribute of this module, made when it is asked for.

| attribute | for the YAML's field |
| --- | --- |
| ``data_<dataset>`` | ``dataset_kwargs``: the file of rows |
| ``metadata_<task>`` | ``metadata``: version and data hash |
| ``metrics_<task>`` | ``metric_list`` |
| ``docs_<task>`` | ``process_docs``: the rows of the task |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from geoeval.harness.lmms_eval import adapter

_KINDS: dict[str, Callable[[str], Any]] = {
    "data": adapter.dataset_kwargs,
    "metadata": adapter.metadata,
    "metrics": adapter.metric_list,
    "docs": lambda task: partial(adapter.process_docs, task),
}


def __getattr__(name: str) -> Any:
    kind, _, task = name.partition("_")
    if kind not in _KINDS or not task:
        raise AttributeError(f"no hook {name!r}; hooks are named <kind>_<task>, with a kind of {', '.join(_KINDS)}")
    return _KINDS[kind](task)
