"""What is known of the run that is under way, for the prediction files and records it writes."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_facts: dict[str, Any] = {}


def note(**facts: Any) -> None:
    """Keep facts of this run: plain JSON values, never a key."""
    _facts.update(facts)


def run_facts() -> dict[str, Any]:
    """The harness's version and all that was noted."""
    return {"harness_version": harness_version(), **_facts}


def harness_version() -> str:
    """The commit of a checkout, or the version of the wheel: ``vlmeval.__version__`` is the same in both."""
    import vlmeval

    folder = Path(vlmeval.__path__[0])
    checkout = folder.parent
    if (checkout / ".git").exists():
        done = subprocess.run(
            ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
        if done.returncode == 0:
            return done.stdout.strip()
    try:
        return f"ms-vlmeval {version('ms-vlmeval')}" if "site-packages" in folder.parts else "unknown"
    except PackageNotFoundError:
        return "unknown"
