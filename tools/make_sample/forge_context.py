"""What a FORGE sample item shows before its question in each setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from geoeval.data.demonstrations import demonstrations
from geoeval.data.schema import settings_of
from tools.make_sample.table import Row

Shown = tuple[str, tuple[bytes, ...]]
"""A text with ``<image>`` at the place of each picture, and the pictures."""


def in_context(dataset: str, row: Row, support: Sequence[Row], fixed: Mapping[str, Shown] | None = None) -> Row:
    """The row with all settings of its dataset.

    Args:
        dataset: E.g. "forge_workveri".
        row: The item.
        support: Rows that are no items, to draw worked examples from.
        fixed: The settings that are not drawn, ready made.
    """
    others = [other.columns() for other in support]
    context = dict(fixed or {})
    for setting in settings_of(dataset):
        if setting not in context:
            text, pictures = demonstrations(dataset, setting, others, row.columns())
            context[setting] = (text, tuple(picture["bytes"] for picture in pictures))
    return replace(row, context=context)
