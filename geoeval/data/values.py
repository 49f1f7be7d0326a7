"""One cell of a release -> its canonical value. What cannot be read for certain is a `ValueError` that says why."""

from __future__ import annotations

import ast
import base64
import binascii
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Picture = dict[str, Any]

_SUFFIX = {"JPEG": "jpg", "MPO": "jpg", "TIFF": "tif"}
_DATA_URL = re.compile(r"data:[\w./+-]*(?:;[\w=-]+)*;base64,", re.ASCII)
_LETTERED = re.compile(r"\(?([A-Z])[).:]\s*(\S.*)", re.S)
_NAMED_LETTER = re.compile(r"\(([A-Z])\)")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def is_empty(value: Any) -> bool:
    """Whether a cell holds nothing: null, an empty or blank string, an empty list, a float nan."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or value != value or (isinstance(value, (list, tuple, dict)) and not value)  # noqa: PLR0124


def strings(value: Any, delimiter: str | None) -> list[str]:
    """The texts in a cell: a string, a list, or a string that is a JSON list or parted by a delimiter."""
    if is_empty(value):
        return []
    if isinstance(value, (list, tuple)):
        return [text(part) for part in value]
    if not isinstance(value, str):
        return [text(value)]
    value = value.strip()
    listed = literal(value)
    if isinstance(listed, list) and all(isinstance(part, str) for part in listed):  # a coordinate is no list of answers
        return listed
    if delimiter and delimiter in value:
        return [part.strip() for part in value.split(delimiter) if part.strip()]
    return [value]


def text(value: Any) -> str:
    """A scalar as text.

    Raises:
        ValueError: It is a list or an object.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (Mapping, list, tuple, bytes)):
        raise ValueError(f"a text is wanted, not a {type(value).__name__}")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # how a table with holes stores whole numbers
    return "" if value is None else str(value)


def literal(value: str) -> Any:
    """The list or object that a string spells in JSON or Python; None when it spells none."""
    if value[:1] not in "[{" or not value:
        return None
    for decode in (json.loads, ast.literal_eval):
        try:
            return decode(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def options(value: Any) -> tuple[list[str], list[str]]:
    """The letters and texts of the options in a cell.

    Read are a list of texts (with "A) " before each or none), an object letter -> text, a list of objects with a letter
    and a text, each of these spelled in a string, and a string with one "A) text" a line.

    Raises:
        ValueError: The letters are not A, B, C, ... in order, or it is none of these.
    """
    if isinstance(value, str):
        spelled = literal(value.strip())
        value = spelled if spelled is not None else [line for line in value.splitlines() if line.strip()]
    if isinstance(value, Mapping):
        pairs = [(str(letter), part) for letter, part in value.items() if part is not None]
    else:
        pairs = [_option(part) for part in value or ()]
    letters = [letter or LETTERS[n] for n, (letter, _) in enumerate(pairs[: len(LETTERS)])]
    if letters != list(LETTERS[: len(pairs)]) or len({bool(letter) for letter, _ in pairs}) > 1:
        raise ValueError(f"options must be lettered A, B, C, ... in order; found {letters}")
    return letters, [text(part).strip() for _, part in pairs]


def _option(part: Any) -> tuple[str, Any]:
    if isinstance(part, Mapping):
        letters = [v for v in part.values() if isinstance(v, str) and re.fullmatch("[A-Z]", v)]
        texts = [v for v in part.values() if isinstance(v, str) and v not in letters]
        if len(letters) != 1 or len(texts) != 1:
            raise ValueError(f"an option must have one letter and one text; found {dict(part)}")
        return letters[0], texts[0]
    found = _LETTERED.fullmatch(str(part).strip())
    return (found[1], found[2]) if found else ("", part)


def letters_named(question: str) -> list[str]:
    """The letters a question names as "(A)", which must be A, B, C, ... without a gap.

    Raises:
        ValueError: They are not.
    """
    letters = sorted(set(_NAMED_LETTER.findall(question)))
    if len(letters) < 2 or letters != list(LETTERS[: len(letters)]):
        raise ValueError(f"the letters offered are to be read from the question, which names {letters or 'none'}")
    return letters


def letter(value: str, choices: Sequence[str], texts: Sequence[str]) -> str:
    """The choice that a gold answer means: itself, "(a)", "A) text", or the text of exactly one option.

    Raises:
        ValueError: None or several fit. A number is not read, for it may count from 0 or from 1.
    """
    value = value.strip()
    if value in choices:
        return value
    bare = value.strip("(). ").upper()
    if bare in choices:
        return bare
    same = [c for c, t in zip(choices, texts, strict=False) if t.strip().lower() == value.lower()]
    if len(same) == 1:
        return same[0]
    lettered = _LETTERED.fullmatch(value)
    if lettered and lettered[1] in choices:
        return lettered[1]
    raise ValueError(f"{value!r} is none of the choices {list(choices)}")


def pictures(value: Any, folders: Iterable[Path], root: Path) -> list[Picture]:
    """The pictures in a cell, still compressed, each as ``{"bytes", "format"}`` with a file suffix as the format.

    Args:
        value: One or a list of: bytes, ``{"bytes", "path"}``, a path, a data URL, base64.
        folders: What a relative path may be relative to, in order.
        root: The folder that paths must stay in.

    Raises:
        ValueError: One is missing, lies outside the folder or is no picture.
    """
    if isinstance(value, str) and isinstance(spelled := literal(value.strip()), list):
        value = spelled
    parts = value if isinstance(value, (list, tuple)) else [value]
    folders = list(folders)
    found = [_bytes(part, folders, root) for part in parts if not is_empty(part)]
    return [{"bytes": content, "format": picture_format(content)} for content in found]


def picture_format(content: bytes) -> str:
    """File suffix of a picture, from its header.

    Raises:
        ValueError: It is no picture.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as image:
            name = image.format or ""
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"no picture ({len(content)} bytes: {error})") from error
    return _SUFFIX.get(name, name.lower())


def _bytes(part: Any, folders: Sequence[Path], root: Path) -> bytes:
    if isinstance(part, Mapping):
        part = part.get("bytes") or part.get("path")
    if isinstance(part, (bytes, bytearray)):
        return bytes(part)
    if not isinstance(part, str):
        raise ValueError(f"no picture but {type(part).__name__}")
    if url := _DATA_URL.match(part):
        return _decoded(part[url.end() :])
    if re.match(r"https?://", part):
        raise ValueError(f"the picture is the address {part[:200]}; fetch it first, geoeval reads files only")
    if "." not in part and len(part) > 64:  # base64 has no dot
        return _decoded(part)
    for folder in folders:
        path = Path(os.path.normpath(folder / part))
        if os.path.isfile(path):
            if not path.is_relative_to(os.path.normpath(root)):
                raise ValueError(f"the picture {part} lies outside of {root}")
            return path.read_bytes()
    raise ValueError(f"no picture file {part[:200]!r} in {' or '.join(dict.fromkeys(map(str, folders)))}")


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode("".join(encoded.split()), validate=True)
    except binascii.Error as error:
        raise ValueError(f"broken base64 ({error})") from error
