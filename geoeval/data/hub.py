"""How the hub is asked: patiently where it is busy, and with errors that say what to do."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from geoeval.data.errors import DataError

T = TypeVar("T")
_ATTEMPTS = 5
_LONGEST_WAIT = 300.0
_BUSY = (408, 429, 500, 502, 503, 504)
_NETWORK = ("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")


def patiently(call: Callable[[], T], what: str) -> T:
    """Call until it works: five times where the hub is busy or the connection breaks, waiting as long as it asks for.

    Args:
        call: What to do.
        what: For the message.

    Raises:
        DataError: The hub stayed busy, or wants a longer wait than five minutes.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return call()
        except Exception as error:
            wait = _wait(error, attempt)
            if wait is None:
                raise
            if attempt == _ATTEMPTS or wait > _LONGEST_WAIT:
                asked = f"; it asks to wait {wait:.0f} seconds" if wait > _LONGEST_WAIT else ""
                raise DataError(
                    f"{what}: gave up after {attempt} tries ({_say(error)}){asked}. What has arrived is kept: the same "
                    f"command goes on from there."
                ) from error
            print(f"geoeval: {what}: {_say(error)}; trying again in {wait:.0f} s", file=sys.stderr)
            time.sleep(wait)
    raise AssertionError("not reached")


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Errors of the hub in here become those that say what to do."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise DataError(
            f"{what}: access has to be asked for on its page on the hub first; then set HF_TOKEN ({_say(error)})"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise DataError(f"{what}: there is no such revision; give a branch, tag or commit ({_say(error)})") from error
    except errors.RepositoryNotFoundError as error:
        raise DataError(
            f"{what}: there is no such dataset, or it is private; check the id, or set HF_TOKEN ({_say(error)})"
        ) from error
    except errors.HFValidationError as error:
        raise DataError(f"{what}: is no id of a dataset, which is OWNER/NAME ({_say(error)})") from error
    except errors.HfHubHTTPError as error:
        raise DataError(f"{what}: the hub refuses ({_say(error)})") from error
    except OSError as error:
        raise DataError(f"{what}: cannot be fetched ({_say(error)})") from error


@contextmanager
def quiet_bars() -> Iterator[None]:
    """Without the hub's own progress bars, one for each file."""
    from huggingface_hub import utils

    before = utils.are_progress_bars_disabled()  # type: ignore[attr-defined]
    utils.disable_progress_bars()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        if not before:
            utils.enable_progress_bars()  # type: ignore[attr-defined]


def _wait(error: Exception, attempt: int) -> float | None:
    """Seconds until the next try; None when another try is of no use."""
    from huggingface_hub import errors

    backoff = min(float(2 ** (attempt - 1)), _LONGEST_WAIT)
    if isinstance(error, errors.HfHubHTTPError):
        response = error.response
        if response is None or response.status_code not in _BUSY:
            return None
        asked = response.headers.get("Retry-After", "")
        return float(asked) if asked.isdigit() else backoff
    if isinstance(error, errors.OfflineModeIsEnabled):
        return None
    broken = type(error).__module__.split(".")[0] in _NETWORK or isinstance(error, (ConnectionError, TimeoutError))
    short = isinstance(error, OSError) and "Consistency check failed" in str(error)
    return backoff if broken or short or isinstance(error, errors.LocalEntryNotFoundError) else None


def _say(error: Exception) -> str:
    """The first line of an error, and that of its cause, without the token."""
    parts = [str(e).strip().splitlines()[0] for e in (error, error.__cause__) if e is not None and str(e).strip()]
    said = ": ".join(dict.fromkeys(parts)) or type(error).__name__
    token = os.environ.get("HF_TOKEN")
    return said.replace(token, "***") if token else said
