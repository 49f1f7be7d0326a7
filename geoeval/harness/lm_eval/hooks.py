"""``!function geoeval.harness.lm_eval.hooks.<kind>_<task>`` in a task YAML: what lm-eval wants to know about one task.

``!function`` takes no arguments and calls nothing; so each pair of kind and task is an attribute of this module, made
when it is asked for.

| attribute | for the YAML's field |
| --- | --- |
| ``documents_<task>`` | ``custom_dataset``: the rows |
| ``metadata_<task>`` | ``metadata``: version and data hash |
| ``metrics_<task>`` | ``metric_list`` |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from geoeval.harness.lm_eval import adapter

_KINDS: dict[str, Callable[[str], Any]] = {
    "documents": lambda task: partial(adapter.documents, task),
    "metadata": adapter.metadata,
    "metrics": adapter.metric_list,
}


def __getattr__(name: str) -> Any:
    kind, _, task = name.partition("_")
    if kind not in _KINDS or not task:
        raise AttributeError(f"no hook {name!r}; hooks are named <kind>_<task>, with a kind of {', '.join(_KINDS)}")
    return _KINDS[kind](task)
