"""Which judge, how it is asked and how far: one set of settings for every harness and the command line.

They come from a YAML file (``GEOEVAL_JUDGE_CONFIG``: a path, or the name of one shipped in ``yaml_configs/judge``) and
from ``GEOEVAL_JUDGE_<NAME>`` environment variables, which win. There is no judge without a model. The key is no
setting: it is read from an environment variable when the client is made, and is kept nowhere else.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geoeval.judge.errors import JudgeError

PREFIX = "GEOEVAL_JUDGE_"
OPENAI = "https://api.openai.com/v1"
_KEY, _CONFIG = f"{PREFIX}API_KEY", f"{PREFIX}CONFIG"
_CHOICES = {"structured": ("auto", "schema", "text"), "replay": ("off", "strict", "lenient")}
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_AT_LEAST = {"concurrency": 1, "retries": 0, "repeat": 0, "max_tokens": 1, "max_calls": 0, "max_cost": 0, "backoff": 0}
_ABOVE_ZERO = ("timeout", "requests_per_minute", "tokens_per_minute")
_SHARES = ("weight", "max_unscored")


@dataclass(frozen=True)
class JudgeSettings:
    """Settings of a judge. Each is a key of the YAML and, in capitals after ``GEOEVAL_JUDGE_``, a variable.

    Attributes:
        model: Name of the judge, as the endpoint knows it.
        base_url: OpenAI-compatible endpoint, without credentials; with api_version the Azure resource.
        api_version: Of Azure OpenAI; "" for every other endpoint.
        api_key_env: Name of the environment variable that holds the key. Where that is not set, OPENAI_API_KEY is taken
            for OpenAI's own endpoint and none for others.
        rubric: Name of a shipped rubric, or path of a YAML file.
        weight: w of ``(1 - w) * open_score + w * judge_score``, 0-1.
        picture: Whether the judge sees the picture.
        structured: "schema" wants marks as JSON that follows a schema, "text" as labelled lines, "auto" the first where
            the endpoint supports it.
        temperature: Sent where the model takes one.
        seed: The same; each further question about the same answer adds to it. None sends none.
        max_tokens: Longest reply, reasoning included.
        concurrency: Calls under way at once.
        requests_per_minute, tokens_per_minute: Limits of the endpoint; None for none.
        timeout: Of one call, seconds.
        retries: How often a call that failed is repeated, and an unreadable reply asked for again.
        backoff: Upper end of the first random wait before a repetition, seconds; it doubles each time, up to a minute.
        max_unscored: Largest share of the answers without a mark, 0-1; above it the combined number is withheld.
        max_calls: Requests that one run may send; None for any number.
        max_cost: What one run may cost, USD; None for any amount. Needs a price of the model.
        prices: Price table, a YAML file like the shipped ``geoeval/judge/prices.yaml``; "" for that one.
        store: File of all calls; "" for ``judge.sqlite`` in the cache folder. For a replay also an exported JSONL.
        replay: "off" asks the judge what is not stored; "strict" never asks and fails when a call is missing; "lenient"
            never asks and leaves such answers unscored.
        repeat: Number of the repetition, to measure the judge's own noise: each is asked anew.
        allow_self: Let a model judge its own answers; the signature says so.
    """

    model: str
    base_url: str = OPENAI
    api_version: str = ""
    api_key_env: str = _KEY
    rubric: str = "lithology-1"
    weight: float = 0.5
    picture: bool = False
    structured: str = "auto"
    temperature: float = 0.0
    seed: int | None = 0
    max_tokens: int = 4096
    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 300.0
    retries: int = 5
    backoff: float = 1.0
    max_unscored: float = 0.05
    max_calls: int | None = None
    max_cost: float | None = None
    prices: str = ""
    store: str = ""
    replay: str = "off"
    repeat: int = 0
    allow_self: bool = False

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise JudgeError(f"judge: model is empty; give the name that the endpoint knows ({PREFIX}MODEL)")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise JudgeError(f"judge: {name} is {getattr(self, name)!r}; use one of {list(choices)}")
        for name in _SHARES:
            self._check(name, 0 <= getattr(self, name) <= 1, "a number from 0 to 1")
        for name in _ABOVE_ZERO:
            self._check(name, getattr(self, name) is None or getattr(self, name) > 0, "a number above 0")
        for name, least in _AT_LEAST.items():
            self._check(name, getattr(self, name) is None or getattr(self, name) >= least, f"a number from {least}")
        if self.store.endswith(".jsonl") and self.replay == "off":
            raise JudgeError(f"judge: store {self.store} is an export, good for replay; to ask, take another file")
        self._check("temperature", 0 <= self.temperature <= 2, "a number from 0 to 2")
        if not _VARIABLE.fullmatch(self.api_key_env):  # not said: it may be the key itself
            raise JudgeError("judge: api_key_env is no name of an environment variable; use capitals, digits and _")
        _check_url(self.base_url)

    @property
    def endpoint(self) -> str:
        """Where calls go, as it is stored and printed: never with credentials."""
        return self.base_url.rstrip("/") + (f"?api-version={self.api_version}" if self.api_version else "")

    @property
    def store_path(self) -> Path:
        """The file of all calls."""
        if self.store:
            return Path(self.store).expanduser()
        from geoeval.data.source import cache_folder

        return cache_folder() / "judge.sqlite"

    def api_key(self, environ: Mapping[str, str] | None = None) -> str:
        """The key; "" when there is none and the endpoint may need none.

        Raises:
            JudgeError: OpenAI or Azure without a key.
        """
        environ = os.environ if environ is None else environ
        is_openai = urlsplit(self.base_url).hostname == urlsplit(OPENAI).hostname
        key = environ.get(self.api_key_env) or (environ.get("OPENAI_API_KEY") if is_openai else None) or ""
        if not key and (is_openai or self.api_version):
            raise JudgeError(f"judge {self.model}: {self.endpoint} needs a key; set {self.api_key_env}")
        return key.strip()

    def is_tested(self, tested: str | None) -> bool:
        """Whether the judge is the model under test, going by its name."""
        return tested is not None and same_model(self.model, tested)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> JudgeSettings | None:
        """The settings of the environment; None when it sets no judge.

        Raises:
            JudgeError: A setting is unknown or wrong, or there are some but no model.
        """
        environ = os.environ if environ is None else environ
        given = {name: value for name, value in environ.items() if name.startswith(PREFIX) and value}
        config = given.pop(_CONFIG, "")
        base = _read_yaml(find_config(config)) if config else {}
        key_name = given.get(f"{PREFIX}API_KEY_ENV") or base.get("api_key_env")
        for name in (_KEY, key_name):
            given.pop(str(name), None)
        own = _converted({name[len(PREFIX) :].lower(): value for name, value in given.items()}, "environment", PREFIX)
        values = {**base, **own}
        if not values:
            return None
        if "model" not in values:
            raise JudgeError(f"judge: {sorted(given)} are set but no judge; set {PREFIX}MODEL or {_CONFIG}")
        return cls(**values)

    @classmethod
    def from_yaml(cls, path: str | Path) -> JudgeSettings:
        """The settings of a file; the environment is not looked at.

        Raises:
            JudgeError: It cannot be read, or a setting is unknown or wrong.
        """
        values = _read_yaml(find_config(path))
        if "model" not in values:
            raise JudgeError(f"judge: {path}: no model; add the line model: NAME")
        return cls(**values)

    def with_values(self, **values: Any) -> JudgeSettings:
        """The same with some settings replaced, given as in YAML or as text.

        Raises:
            JudgeError: A setting is unknown or wrong.
        """
        return replace(self, **_converted(values, "settings"))

    def after(self, facts: Mapping[str, Any]) -> JudgeSettings:
        """The same with what a run left of max_calls and max_cost, for the next run under one limit.

        Args:
            facts: Of the run: ``calls`` it sent and ``spent``, USD, see `geoeval.judge.engine.Judged`.
        """
        calls, cost = self.max_calls, self.max_cost
        return replace(
            self,
            max_calls=None if calls is None else max(0, calls - facts["calls"]),
            max_cost=None if cost is None else max(0.0, cost - (facts["spent"] or 0.0)),
        )

    def _check(self, name: str, fine: bool, want: str) -> None:
        value = getattr(self, name)
        if not fine or (isinstance(value, float) and not math.isfinite(value)):
            raise JudgeError(f"judge: {name} is {value!r}; use {want}")


def find_config(name: str | Path) -> Path:
    """The file of that path, or the shipped one of that name.

    Raises:
        JudgeError: There is none.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path
    package = Path(__file__).parents[1]
    folder = next(f for f in (package, package.parent) if (f / "yaml_configs").is_dir()) / "yaml_configs" / "judge"
    shipped = sorted(file.stem for file in folder.glob("*.yaml"))
    if str(name) in shipped:
        return folder / f"{name}.yaml"
    raise JudgeError(f"judge: no file {str(name)!r}; give the path of a YAML file or one of {shipped}")


def same_model(one: str, other: str) -> bool:
    """Whether two names are of the same model, whoever serves it and whatever the date of the version."""

    def plain(name: str) -> str:
        name = re.sub(r"[^a-z0-9]+", "-", name.strip().rstrip("/").rsplit("/", 1)[-1].casefold())
        return re.sub(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$", "", name.strip("-"))

    return plain(one) == plain(other)


def _check_url(url: str) -> None:
    """Never says the address itself: it may hold a key."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fine = False
    if not fine:
        raise JudgeError("judge: base_url is no address; write https://HOST/v1 or http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise JudgeError(
            f"judge: base_url has a user, password or query ({parts.hostname}); it is stored and printed, so put a key "
            f"into {_KEY} instead"
        )


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeError(f"judge: {path}: cannot be read ({type(error).__name__})") from error
    except yaml.YAMLError as error:  # its text shows the line, which may hold a key
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        raise JudgeError(f"judge: {path}{place}: not YAML") from None
    if not isinstance(raw, dict):
        raise JudgeError(f"judge: {path}: not a map of settings such as model: NAME")
    return _converted(raw, str(path))


def _converted(raw: Mapping[Any, Any], where: str, prefix: str = "") -> dict[str, Any]:
    kinds = {field.name: str(field.type) for field in fields(JudgeSettings)}
    values = {}
    for name, value in raw.items():
        if name not in kinds:
            raise JudgeError(f"judge: {where}: {_unknown(str(name), kinds, prefix)}")
        if value is None or (value == "" and "None" in kinds[name]):
            default = next(field.default for field in fields(JudgeSettings) if field.name == name)
            if default is not MISSING:
                values[name] = None if "None" in kinds[name] else default
            continue
        values[name] = _convert(name, value, kinds[name], where)
    return values


def _unknown(name: str, known: Iterable[str], prefix: str) -> str:
    def spelt(setting: str) -> str:
        return f"{prefix}{setting.upper()}" if prefix else setting

    if "key" in name.lower():
        return f"no setting {spelt(name)}; put the key into an environment variable and its name into api_key_env"
    close = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"did you mean {spelt(close[0])}?" if close else f"there are {', '.join(map(spelt, known))}"
    return f"no setting {spelt(name)}; {hint}"


def _convert(name: str, value: Any, kind: str, where: str) -> Any:
    if value is False and "off" in _CHOICES.get(name, ()):
        return "off"  # what YAML makes of it
    want = kind.split(" ", maxsplit=1)[0]
    text = str(value).strip()
    try:
        if want == "bool":
            return {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}[text.lower()]
        if want in ("int", "float") and not isinstance(value, bool):
            return int(text) if want == "int" else float(text)
        if want == "str" and isinstance(value, (str, date)):  # YAML makes a date of an api_version
            return text
    except (KeyError, ValueError):
        pass
    what = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a text"}[want]
    raise JudgeError(f"judge: {where}: {name} is {value!r}; use {what}")
