"""Sample logs of lmms-eval and lm-eval: JSON lines, one reply each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from geoeval.data import DataError
from geoeval.runs.model import Reply


def replies_of(samples: Path, read: Callable[[Mapping[str, Any]], Reply]) -> Iterator[Reply]:
    """The replies of a sample log, one at a time.

    Args:
        samples: The file.
        read: From one line to its reply; raises ValueError, KeyError or TypeError where it is none.

    Raises:
        DataError: There is no such file, it cannot be read, or a line is no sample; names the line.
    """
    try:
        with open(samples, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield read(json.loads(line))
                except (ValueError, KeyError, TypeError) as error:
                    raise DataError(f"{samples}:{number}: not a sample of this task ({error!r})") from error
    except FileNotFoundError as error:
        raise DataError(f"{samples}: no such file; run the evaluation with --log_samples and --output_path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{samples}: cannot be read ({error})") from error
