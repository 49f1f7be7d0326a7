"""Where rows come from, and rows -> `Item`."""

from geoeval.data.items import context_from_row, item_from_row, open_picture, picture_problem, read_items, task_items
from geoeval.data.source import SAMPLE, DataError, Source, locate

__all__ = [
    "SAMPLE",
    "DataError",
    "Source",
    "context_from_row",
    "item_from_row",
    "locate",
    "open_picture",
    "picture_problem",
    "read_items",
    "task_items",
]
