"""Keys stay out of what is logged and stored: wherever one of them would stand, there are stars."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

STARS = "***"
_SECRET_OPTION = re.compile(r"--(key|judge-k(?:ey?)?)(=|$)")  # with its abbreviations
_SECRET_NAME = re.compile(r"key|token|secret|password|authorization", re.IGNORECASE)
_NO_SECRET_NAME = re.compile(r"(^|_)(max|num)_(\w+_)?tokens?$|(^|_)tokens?_(count|limit|usage)$", re.IGNORECASE)
_secrets: set[str] = set()


def keep_out(values: Iterable[Any]) -> None:
    """Further keys. Short texts are no keys: they would blot out half of what is written."""
    _secrets.update(value for value in values if isinstance(value, str) and len(value) >= 6)


def keep_out_environment() -> None:
    """The keys of the environment: variables whose name says so."""
    keep_out(value for name, value in os.environ.items() if _is_secret(name))


def secrets_in(content: Any) -> Iterable[str]:
    """Texts under names such as "key" or "api_key", at any depth of a JSON value."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            if isinstance(value, str) and _is_secret(str(name)):
                yield value
            yield from secrets_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from secrets_in(value)


def keep_out_json(text: str | None) -> None:
    """The keys in an option that is JSON; what is no JSON is the harness's to complain about."""
    try:
        keep_out(secrets_in(json.loads(text or "null")))
    except ValueError:
        return


def redacted(text: str) -> str:
    """A text without the keys."""
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, STARS)
    return text


def redacted_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line without the keys, whatever they are and however short."""
    kept: list[str] = []
    hide = False
    for argument in arguments:
        option = _SECRET_OPTION.match(argument)
        if hide:
            kept.append(STARS)
        elif option and option[2]:
            kept.append(f"--{option[1]}={STARS}")
        else:
            kept.append(redacted(argument))
        hide = bool(option and not option[2])
    return kept


def redact_logs() -> None:
    """Let no log record of this process, or of one forked from it, hold a key. Calling it again changes nothing."""
    make = logging.getLogRecordFactory()
    if hasattr(make, "geoeval"):
        return

    def clean(*arguments: Any, **keywords: Any) -> logging.LogRecord:
        record = make(*arguments, **keywords)
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # logging reports it better
            return record
        if redacted(text) != text:
            record.msg, record.args = redacted(text), ()
        return record

    clean.geoeval = True  # type: ignore[attr-defined]
    factory: Callable[..., logging.LogRecord] = clean
    logging.setLogRecordFactory(factory)


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name)) and not _NO_SECRET_NAME.search(name)
