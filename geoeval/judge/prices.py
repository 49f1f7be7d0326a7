"""What calls cost, by a table that anyone can edit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geoeval.judge.errors import JudgeError

_SHIPPED = Path(__file__).parent / "prices.yaml"
_MILLION = 1e6


@dataclass(frozen=True)
class Price:
    """Of one model, USD for a million tokens.

    Attributes:
        input: Of the prompt.
        output: Of the reply, reasoning included.
        cached_input: Of the part of the prompt that the provider had in its cache.
    """

    input: float
    output: float
    cached_input: float

    def of(self, usage: Mapping[str, Any]) -> float:
        """Cost of one call, USD; nan when the endpoint did not count its tokens.

        Args:
            usage: ``prompt_tokens``, ``completion_tokens`` and, if known, ``cached_tokens`` among the former.
        """
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if prompt is None or completion is None:
            return math.nan
        cached = min(usage.get("cached_tokens") or 0, prompt)
        dollars = (prompt - cached) * self.input + cached * self.cached_input + completion * self.output
        return float(dollars / _MILLION)


@dataclass(frozen=True)
class Prices:
    """A price table.

    Attributes:
        path: Its file.
        as_of: When the prices were looked up, as the file says it.
        models: Name -> price.
    """

    path: Path
    as_of: str
    models: Mapping[str, Price]

    @property
    def label(self) -> str:
        """Which table, for people."""
        return f"{self.path.name}, as of {self.as_of}"

    def of(self, model: str) -> Price | None:
        """The price of a model, None when the table has none: never that of another model or provider."""
        undated = re.sub(r"-\d{4}-\d{2}-\d{2}$", "", model)
        return self.models.get(model) or self.models.get(undated)


def load_prices(path: str = "") -> Prices:
    """Read a price table.

    Args:
        path: A file like the shipped one; "" for that one.

    Raises:
        JudgeError: It cannot be read, or is no such table.
    """
    import yaml

    file = Path(path).expanduser() if path else _SHIPPED
    try:
        raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise JudgeError(f"{file}: cannot be read as a price table ({error}); it is YAML like {_SHIPPED}") from error
    models = raw.get("models") if isinstance(raw, dict) else None
    if not isinstance(models, dict):
        raise JudgeError(f"{file}: no map of models; write it like {_SHIPPED}")
    return Prices(
        file, str(raw.get("as_of", "unknown")), {str(name): _price(file, name, p) for name, p in models.items()}
    )


def _price(file: Path, name: Any, raw: Any) -> Price:
    fine = isinstance(raw, dict) and {"input", "output"} <= {*raw} <= {"input", "output", "cached_input"}
    fine = fine and all(type(value) in (int, float) and 0 <= value < math.inf for value in raw.values())
    if not fine:
        raise JudgeError(f"{file}: {name}: not {{input: USD, output: USD}} with, if wanted, cached_input: USD")
    return Price(raw["input"], raw["output"], raw.get("cached_input", raw["input"]))
