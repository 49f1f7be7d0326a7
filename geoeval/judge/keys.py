"""What identifies a call: hashes of canonical JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any


def canonical(value: Any) -> str:
    """JSON, always the same for the same value: sorted, without spaces, ASCII (half an emoji has no UTF-8).

    Raises:
        TypeError, ValueError: The value is no JSON; nan is not.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def call_key(prompt_sha256: str, model: str, endpoint: str, parameters: Mapping[str, Any], response_format: Any) -> str:
    """Hash of all that decides a reply, 64 hex digits.

    Args:
        prompt_sha256: Of the messages, see `prompt_hash`.
        model: The judge as it is asked for.
        endpoint: Where, without credentials.
        parameters: Temperature and so on, attempt and repeat.
        response_format: The schema that the reply follows, or None.
    """
    return _sha256([prompt_sha256, model, endpoint, parameters, response_format])


def prompt_hash(messages: Iterable[Mapping[str, Any]]) -> str:
    """Hash of messages, 64 hex digits.

    A picture counts by its pixels: other versions of Pillow write other files of the same picture, and a score must be
    replayed with them too.
    """
    return _sha256([{**message, "content": _by_pixels(message["content"])} for message in messages])


def _by_pixels(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [
        {"pixels": _pixels(part["image_url"]["url"])} if part.get("type") == "image_url" else part for part in content
    ]


def _pixels(url: str) -> str:
    import base64
    import io

    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGBA")
    return hashlib.sha256(f"{picture.size} ".encode() + picture.tobytes()).hexdigest()


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()
