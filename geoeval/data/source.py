"""Where the rows of a task come from: the setting ``GEOEVAL_DATA`` and nothing else.

| ``GEOEVAL_DATA`` | rows |
| --- | --- |
| ``sample`` | the bundled sample |
| a folder | ``<dataset>.parquet`` in it, in the canonical layout |
| not set | the published release in the cache, fetched and prepared when it is first asked for |

There is no fall-back from one to another.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from geoeval.data.errors import DataError
from geoeval.data.files import sha256_of

__all__ = ["SAMPLE", "DataError", "Source", "cache_folder", "find", "locate", "prepared_folder"]

SAMPLE = "SAMPLE"
_SAMPLE_DIR = Path(__file__).parent / "sample"


@dataclass(frozen=True)
class Source:
    """The rows of one dataset.

    Attributes:
        task: The dataset, e.g. "georefusal".
        path: The parquet file.
        label: "SAMPLE" for the bundled sample, "local" for a folder, "release" for the published release.
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


def cache_folder() -> Path:
    """Where releases are kept: GEOEVAL_CACHE, else ``geoeval`` in the user's cache."""
    own = os.environ.get("GEOEVAL_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "geoeval"
    return (Path(own).expanduser() if own else base).absolute()


def prepared_folder() -> Path:
    """Where the canonical files of published releases are."""
    return cache_folder() / "prepared"


def locate(task: str, setting: str | None = None) -> Source:
    """Find the rows of a dataset; the published release is fetched and prepared first where that is still to be done.

    Args:
        task: The dataset's name.
        setting: "sample", a folder, or "" for the published release; GEOEVAL_DATA when None.

    Raises:
        DataError: There is no such file, or the release cannot be fetched or prepared.
    """
    source = find(task, setting)
    if source is None:
        from geoeval.data.first_use import prepare_release

        prepare_release(task)
        source = find(task, setting)
    if source is None:
        raise DataError(f"{task}: was prepared, but there is no file {prepared_folder() / f'{task}.parquet'}")
    return source


def find(task: str, setting: str | None = None) -> Source | None:
    """Find the rows of a dataset without fetching anything.

    Args:
        task: The dataset's name.
        setting: See `locate`.

    Returns:
        None when the published release is asked for and not prepared yet.

    Raises:
        DataError: There is no such file in the folder that is set.
    """
    setting = os.environ.get("GEOEVAL_DATA", "") if setting is None else setting
    labels = {"": (prepared_folder(), "release"), "sample": (_SAMPLE_DIR, SAMPLE)}
    folder, label = labels.get(setting) or (Path(setting).expanduser(), "local")
    path = (folder / f"{task}.parquet").resolve()
    if not path.is_file():
        if not setting:
            return None
        raise DataError(f"{task}: no file {path}. GEOEVAL_DATA={setting!r} must be 'sample' or a folder that holds it.")
    stat = path.stat()
    return Source(task, path, label, _sha256(path, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=64)
def _sha256(path: Path, mtime_ns: int, size: int) -> str:
    """Hash of a file; time and size are in the cache key so that a changed file is read again."""
    return sha256_of(path)
