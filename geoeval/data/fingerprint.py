"""Which items are the same item: a name made of what a model is shown, pictures and question."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def fingerprint(pictures: Sequence[bytes], question: str) -> str:
    """Name of a question about pictures; equal for two items if and only if their bytes and question are.

    Items that share it are duplicates and belong into one cluster. The file's bytes are compared, not its pixels: the
    same scene stored twice with other compression is another picture here.

    Args:
        pictures: The files' bytes, in the order they are shown.
        question: Without the options and the wording of the prompt.

    Returns:
        SHA-256 as 64 hex digits. The length of each part goes in before it, so that no two lists of parts run together.
    """
    digest = hashlib.sha256()
    for part in (*pictures, question.encode("utf-8", "surrogatepass")):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
