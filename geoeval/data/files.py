"""Files: written whole or not at all, and hashed."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geoeval.data.errors import DataError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file that takes the place of another when all went well, and is gone otherwise.

    Raises:
        DataError: The disk is full, or the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error})") from error
    part = Path(name)
    try:
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error}); nothing was changed") from error
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file, whole or not at all.

    Raises:
        DataError: The disk is full, or the folder cannot be written.
        TypeError, ValueError: The content is not JSON; nan is not.
    """
    with replacing(path) as part:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        part.write_text(f"{text}\n", encoding="utf-8")


def sha256_of(path: Path) -> str:
    """Hash of a file, 64 hex digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
