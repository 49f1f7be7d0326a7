"""The harness's parsed arguments, made safe before it runs."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from geoeval.harness.vlmevalkit import hooks, outcome
from geoeval.harness.vlmevalkit.redact import keep_out, keep_out_json, redacted_arguments, secrets_in
from geoeval.harness.vlmevalkit.run_facts import note
from geoeval.harness.vlmevalkit.scoring import NO_JUDGE, is_judged
from geoeval.runs.vlmevalkit import datasets

_SAFE_SLASH = "--"  # what the harness itself makes of "/" in API mode
_SAMPLING = ("temperature", "top_p", "top_k", "repetition_penalty")


def settle(parsed: Any, runner: ModuleType, given: Sequence[str]) -> list[str]:
    """Check and change the arguments in place.

    Args:
        parsed: What the harness's parser made of them.
        runner: Its ``run.py``.
        given: The arguments as they were given.

    Returns:
        The command line as it may be stored.

    Raises:
        ValueError: They cannot be right; says what to change.
    """
    keep_out([parsed.judge_key, parsed.key if _is_given("--key", given) else None])
    for text in (parsed.judge_args, parsed.extra_body):
        keep_out_json(text)
    names, models = _chosen(parsed, runner)
    _check_names(names, runner, parsed)
    shown = {model.replace("/", _SAFE_SLASH): model for model in models}
    if parsed.config is None:
        _check_models(parsed, runner, shown)
        parsed.model = list(shown)
        _ask_for_true_names(runner, shown)
    _settle_judge(parsed, runner, names)
    _settle_limits(parsed, given, names)
    if parsed.mode == "eval":  # else a run with one failed request is never evaluated
        parsed.keep_failed = True
    note(models={safe: true for safe, true in shown.items() if safe != true})
    _move_earlier(parsed, runner, list(shown), names)
    return redacted_arguments(["geoeval vlmevalkit", *given])


def _is_given(option: str, given: Sequence[str]) -> bool:
    return any(argument == option or argument.startswith(f"{option}=") for argument in given)


def _chosen(parsed: Any, runner: ModuleType) -> tuple[list[str], list[str]]:
    """The datasets and models of the command line, or of the configuration file."""
    if parsed.config is None:
        if not parsed.data or not parsed.model:
            raise ValueError("--data and --model, or --config, are needed")
        return list(parsed.data), list(parsed.model)
    if parsed.api_mode:
        raise ValueError("VLMEvalKit has no --config in API mode; give --data, --model and --base-url")
    if parsed.data or parsed.model:
        raise ValueError("--config names datasets and models; leave out --data and --model")
    try:
        config = runner.load(parsed.config)
        data, models = dict(config["data"]), dict(config["model"])
    except Exception as error:  # whatever its loader raises
        raise ValueError(f"--config {parsed.config}: not JSON with the maps data and model ({error!r})") from error
    keep_out(secrets_in(models))
    for name, settings in data.items():
        if settings.get("class") == "GeoEvalDataset" and settings.get("dataset", "GeoRefusalBench") != name:
            raise ValueError(f"--config {parsed.config}: data {name!r} must have its own name as its dataset")
    for model in models:
        if "/" in model:
            raise ValueError(
                f"--config {parsed.config}: the key {model!r} becomes a file name; call it "
                f"{model.replace('/', _SAFE_SLASH)!r} and leave the slash in its setting model"
            )
    return list(data), list(models)


def _check_names(names: Sequence[str], runner: ModuleType, parsed: Any) -> None:
    if parsed.config is not None:
        return
    from vlmeval.dataset import SUPPORTED_DATASETS
    from vlmeval.smp import LMUDataRoot

    known = {*SUPPORTED_DATASETS, *runner.supported_video_datasets, *(getattr(parsed, "data_config", None) or {})}
    for name in names:
        if name not in known and not (Path(LMUDataRoot()) / f"{name}.tsv").is_file():
            near = difflib.get_close_matches(name, [*datasets(), *known], n=3, cutoff=0.5)
            task = next((found for found, task in datasets().items() if task == name), "")
            hint = (
                f"did you mean {task or ' or '.join(near)}?" if task or near else f"there are {', '.join(datasets())}"
            )
            raise ValueError(f"no dataset {name!r}; {hint}")


def _check_models(parsed: Any, runner: ModuleType, shown: Mapping[str, str]) -> None:
    if len(shown) != len(parsed.model):
        raise ValueError(f"two of the models {parsed.model} would have the same files")
    if parsed.base_url:
        return
    for name in shown.values():
        if name not in runner.supported_VLM:
            near = difflib.get_close_matches(name.rsplit("/", 1)[-1], runner.supported_VLM, n=3)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise ValueError(f"VLMEvalKit has no model {name!r}. {hint}Give an endpoint with --base-url, or --config")


def _ask_for_true_names(runner: ModuleType, shown: Mapping[str, str]) -> None:
    """Files have ``--`` where the model's name has ``/``; the endpoint is asked for the name itself."""
    model_class = runner.LMDeployAPI

    def build(**settings: Any) -> Any:
        return model_class(**{**settings, "model": shown.get(settings["model"], settings["model"])})

    runner.LMDeployAPI = build  # type: ignore[attr-defined]


def _settle_judge(parsed: Any, runner: ModuleType, names: Sequence[str]) -> None:
    """Judging our answers is geoeval's. The harness must neither log the key nor name a judge that was not asked."""
    all_ours = all(name in datasets() for name in names)
    if all_ours and parsed.judge_args:
        raise ValueError("--judge-args are for VLMEvalKit's judge; geoeval's is set with GEOEVAL_JUDGE_*")
    if parsed.judge not in NO_JUDGE and all_ours:
        settings = {
            "MODEL": parsed.judge,
            "BASE_URL": parsed.judge_base_url,
            "API_KEY": parsed.judge_key,
            "CONCURRENCY": parsed.judge_api_nproc,
            "RETRIES": parsed.judge_retry,
        }
        os.environ.update(
            {f"GEOEVAL_JUDGE_{name}": str(value) for name, value in settings.items() if value is not None}
        )
        parsed.judge = parsed.judge_base_url = parsed.judge_key = None
    _check_judge(names)
    original = runner.get_judge_kwargs

    def judge_kwargs(dataset_name: str, dataset_type: str, args: Any) -> dict[str, Any]:
        found: dict[str, Any] = original(dataset_name, dataset_type, args)
        task = datasets().get(dataset_name.split(" ", maxsplit=1)[0])
        if task is None or is_judged(task):
            return found
        return {name: value for name, value in found.items() if name not in ("model", "api_base", "key")}

    runner.get_judge_kwargs = judge_kwargs  # type: ignore[attr-defined]


def _check_judge(names: Sequence[str]) -> None:
    """Find a judge that cannot be used before the first reply is paid for."""
    import asyncio

    from geoeval.judge.errors import JudgeError
    from geoeval.judge.settings import JudgeSettings

    async def make(settings: JudgeSettings) -> None:
        from geoeval.judge.client import Client

        Client(settings)

    if not any(name in datasets() and is_judged(datasets()[name]) for name in names):
        return
    try:
        settings = JudgeSettings.from_env()
        if settings is not None:
            asyncio.run(make(settings))
    except JudgeError as error:
        raise ValueError(str(error)) from error


def _settle_limits(parsed: Any, given: Sequence[str], names: Sequence[str]) -> None:
    if not parsed.base_url:
        return
    all_ours = all(name in datasets() for name in names)
    chosen = {name: getattr(parsed, name) for name in _SAMPLING}
    kept = {name: value for name, value in chosen.items() if value is not None}
    extra = _extra_body(parsed)  # the harness puts these in the place of its own
    if any(_is_limit(argument) for argument in given) or "max_tokens" in extra or parsed.thinker or not all_ours:
        kept["max_tokens"] = parsed.max_tokens * (2 if parsed.thinker else 1)
    else:
        hooks.apply_limits()
        print("geoeval: each task's own limit of new tokens is sent; --max-tokens sets another", flush=True)
    kept |= {name: extra[name] for name in (*_SAMPLING, "max_tokens") if name in extra}
    note(generation_kwargs={"temperature": 0.0, **kept})


def _is_limit(argument: str) -> bool:
    """Whether an argument is ``--max-tokens`` or what the harness's parser takes for it."""
    option = argument.partition("=")[0]
    return len(option) >= len("--ma") and "--max-tokens".startswith(option)


def _extra_body(parsed: Any) -> dict[str, Any]:
    try:
        extra = json.loads(parsed.extra_body or "{}")
    except ValueError as error:
        raise ValueError(f"--extra-body is not JSON ({error})") from error
    if not isinstance(extra, dict):
        raise ValueError("--extra-body must be a JSON object")
    return extra


def _move_earlier(parsed: Any, runner: ModuleType, models: Sequence[str], names: Sequence[str]) -> None:
    if parsed.reuse or parsed.mode == "eval" or int(os.environ.get("RANK", "0")) != 0:
        return
    from vlmeval.dataset import SUPPORTED_DATASETS

    work_dir = parsed.work_dir if parsed.api_mode else os.environ.get("MMEVAL_ROOT", parsed.work_dir)
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    for model in models:
        aside = outcome.move_aside(Path(work_dir) / model, model, names, SUPPORTED_DATASETS, stamp)
        if aside is not None:
            print(
                f"geoeval: the replies of an earlier run were moved to {aside} (--reuse would go on with them)",
                flush=True,
            )
