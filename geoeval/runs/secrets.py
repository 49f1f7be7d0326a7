"""What a harness's file says of a model, without keys: facts of a run are stored and printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SECRET = re.compile(r"(?:key|token|secret|password|credentials?|auth|authorization|headers?)$", re.IGNORECASE)
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")


def without_secrets(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values whose name does not look like a key's, at every level; addresses lose their login."""
    return {name: _cleaned(value) for name, value in values.items() if not _SECRET.search(name)}


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _LOGIN.sub("", value)
    if isinstance(value, Mapping):
        return without_secrets(value)
    return [_cleaned(part) for part in value] if isinstance(value, (list, tuple)) else value
