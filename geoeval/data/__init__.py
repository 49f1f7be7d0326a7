"""Where rows come from, and rows -> `Item`."""

from geoeval.data.items import item_from_row, open_picture, read_items
from geoeval.data.source import DataError, Source, locate

__all__ = ["DataError", "Source", "item_from_row", "locate", "open_picture", "read_items"]
