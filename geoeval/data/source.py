"""Where the rows of a task come from: the setting ``GEOEVAL_DATA`` and nothing else.

``sample`` is the bundled sample and any other value a folder that holds ``<task>.parquet`` in the canonical layout.
There is no fall-back from one to another.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

SAMPLE = "SAMPLE"
_SAMPLE_DIR = Path(__file__).parent / "sample"


class DataError(Exception):
    """The data of a task cannot be used; the message says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Source:
    """The rows of one task.

    Attributes:
        task: E.g. "georefusal".
        path: The parquet file.
        label: "SAMPLE" for the bundled sample, else "local".
        sha256: Hash of the file, 64 hex digits.
    """

    task: str
    path: Path
    label: str
    sha256: str

    @property
    def signature(self) -> str:
        """Short form that identifies the data in a printed line, e.g. ``SAMPLE@0123456789ab``."""
        return f"{self.label}@{self.sha256[:12]}"


def locate(task: str, setting: str | None = None) -> Source:
    """Find the rows of a task.

    Args:
        task: The task's name.
        setting: "sample" or a folder; the environment variable GEOEVAL_DATA when None.

    Raises:
        DataError: Nothing is set, or there is no such file.
    """
    setting = os.environ.get("GEOEVAL_DATA", "") if setting is None else setting
    if not setting:
        raise DataError(
            f"{task}: GEOEVAL_DATA is not set. Set GEOEVAL_DATA=sample for the bundled SAMPLE, or GEOEVAL_DATA=/folder "
            f"with {task}.parquet in the canonical layout (see tasks/README.md). "
            f"Fetching the published release is not part of this version."
        )
    folder, label = (_SAMPLE_DIR, SAMPLE) if setting == "sample" else (Path(setting).expanduser(), "local")
    path = (folder / f"{task}.parquet").resolve()
    if not path.is_file():
        raise DataError(f"{task}: no file {path}. GEOEVAL_DATA={setting!r} must be 'sample' or a folder that holds it.")
    stat = path.stat()
    return Source(task, path, label, _sha256(path, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=64)
def _sha256(path: Path, mtime_ns: int, size: int) -> str:
    """Hash of a file; time and size are in the cache key so that a changed file is read again."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
