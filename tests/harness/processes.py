"""Commands run as a user would, to their end."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def finished(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """A command after its end; both streams in one text.

    Args:
        command: Program and arguments.
        folder: Where it runs; made if it is not there.
        environment: All of it.
        timeout: Seconds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        command,
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
