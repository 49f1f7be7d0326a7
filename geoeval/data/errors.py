"""The one error of the data road."""

from __future__ import annotations


class DataError(Exception):
    """The data of a task cannot be used; the message says what is wrong, where, and what to do."""
