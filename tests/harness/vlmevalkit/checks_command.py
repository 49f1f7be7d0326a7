"""What `geoeval vlmevalkit` makes of arguments."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import checking
from checking import check, raises


def settled(*arguments, keep=False):
    """What `geoeval vlmevalkit` makes of arguments: the parsed ones, the command line to be stored, the runner."""
    import types

    from geoeval.harness.vlmevalkit.arguments import settle

    runner = types.ModuleType("runner")  # so that what `settle` puts in place stays in this check
    vars(runner).update(vars(checking.RUNNER))
    sys.argv = ["geoeval vlmevalkit", *arguments]
    before = dict(os.environ)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            parsed = checking.RUNNER.parse_args()
            return SimpleNamespace(parsed=parsed, argv=settle(parsed, runner, arguments), runner=runner)
    finally:
        if not keep:
            os.environ.clear()
            os.environ.update(before)


@check
def what_cannot_be_right_is_said_before_anything_runs():
    with tempfile.TemporaryDirectory() as folder:

        def with_config(data, model):
            config = Path(folder) / f"{len(list(Path(folder).iterdir()))}.json"
            config.write_text(json.dumps({"data": data, "model": model}))
            return ("--config", str(config))

        by_url = ("--model", "m", "--base-url", "u")
        ours = {"GeoRefusalBench": {"class": "GeoEvalDataset", "dataset": "GeoRefusalBench"}}
        for arguments, said in (
            (("--data", "GeoRefusalBench"), "--data and --model"),
            (("--data", "georefusal", *by_url), "did you mean GeoRefusalBench?"),
            (("--data", "GeoRefusalBnch", *by_url), "did you mean GeoRefusalBench"),
            (("--data", "GeoRefusalBench", "--model", "Qwen/Qwen2.5-VL-7B-Instruct"), "Qwen2.5-VL-7B-Instruct"),
            (("--data", "GeoRefusalBench", "--model", "a/b", "a--b", "--base-url", "u"), "same files"),
            (("--data", "GeoRefusalBench", *by_url, "--judge-args", "{}"), "GEOEVAL_JUDGE_"),
            (
                ("--data", "LithoBench_OPEN", *by_url, "--judge", "j", "--judge-base-url", "x y"),
                "judge: base_url is no address",
            ),
            (("--config", str(Path(folder) / "none.json")), "not JSON with the maps"),
            (with_config(ours, {"a/b": {}}), "call it 'a--b'"),
            (with_config({"own": ours["GeoRefusalBench"]}, {"m": {}}), "must have its own name"),
            ((*with_config(ours, {"m": {}}), "--api-mode"), "no --config in API mode"),
        ):
            raises(ValueError, settled, *arguments, match=said)


@check
def keys_are_in_no_command_line_and_no_log():
    from geoeval.harness.vlmevalkit.redact import redact_logs, redacted

    redact_logs()
    secrets = ("sk-one-11111", "sk-two-22222", "sk-three-333", "sk-four-4444", "sk-env-555555")
    os.environ["SOME_API_KEY"] = secrets[4]
    from geoeval.harness.vlmevalkit.redact import keep_out_environment

    keep_out_environment()
    base = ("--data", "GeoRefusalBench", "MMStar", "--model", "m", "--base-url", "u")
    found = settled(
        *base, "--key", secrets[0], f"--judge-key={secrets[1]}", "--judge-args", json.dumps({"api_key": secrets[2]}),
        "--extra-body", json.dumps({"a": [{"token": secrets[3]}], "max_tokens": "123456789"}),
    )  # fmt: skip
    assert not [secret for secret in secrets if secret in str(found.argv)], found.argv
    assert "123456789" in str(found.argv)
    assert settled(*base, "--key", "abc").argv[-1] == "***"
    stream = io.StringIO()
    logger = logging.getLogger("vlmeval.test")
    logger.addHandler(logging.StreamHandler(stream))
    logger.setLevel("INFO")
    logger.info("judge %s", {"key": secrets[1]})
    logger.info(f"API Key: {secrets[4]}")
    assert "***" in stream.getvalue()
    assert not [secret for secret in secrets if secret in stream.getvalue()], stream.getvalue()
    assert redacted("plain") == "plain"


@check
def names_say_what_a_key_is():
    from geoeval.harness.vlmevalkit.redact import secrets_in

    for name, secret in (
        ("MINIMAX_API_KEY", True),
        ("AZURE_ACCOUNT_KEY", True),
        ("NUMBERS_PASSWORD", True),
        ("MAX_API_KEY", True),
        ("Authorization", True),
        ("hf_token", True),
        ("max_tokens", False),
        ("LLM_MAX_NEW_TOKENS", False),
        ("token_limit", False),
        ("model", False),
    ):
        assert list(secrets_in({name: "12345678"})) == ["12345678"] * secret, name


@check
def a_limit_that_was_given_is_sent_and_noted():
    from geoeval.harness.vlmevalkit import hooks, run_facts

    base = ("--data", "GeoRefusalBench", "--model", "m", "--base-url", "u")
    before = hooks._limits_apply
    try:
        for arguments, own, noted in (
            ((), True, {"temperature": 0.0}),
            (("--max-tokens", "9"), False, {"temperature": 0.0, "max_tokens": 9}),
            (("--max=9",), False, {"temperature": 0.0, "max_tokens": 9}),
            (("--ma", "9", "--thinker"), False, {"temperature": 0.0, "max_tokens": 18}),
            (("--extra-body", '{"max_tokens": 9, "temperature": 1}'), False, {"temperature": 1, "max_tokens": 9}),
            (("--extra-body", '{"seed": 1}', "--top-p", "0.5"), True, {"temperature": 0.0, "top_p": 0.5}),
        ):
            hooks._limits_apply = False
            settled(*base, *arguments)
            assert hooks._limits_apply is own, arguments
            assert run_facts._facts["generation_kwargs"] == noted, (arguments, run_facts._facts)
        raises(ValueError, settled, *base, "--extra-body", "[1]", match="must be a JSON object")
    finally:
        hooks._limits_apply = before


@check
def a_slash_stays_in_the_name_that_is_asked_for():
    found = settled("--data", "GeoRefusalBench", "--model", "a/b", "--base-url", "http://127.0.0.1:1/v1")
    assert found.parsed.model == ["a--b"]
    model = found.runner.LMDeployAPI(model="a--b", api_base="http://127.0.0.1:1/v1/chat/completions")
    assert model.model == "a/b"


@check
def a_judge_of_the_command_line_is_geoevals():
    before = dict(os.environ)
    try:
        found = settled(
            "--data", "LithoBench_OPEN", "GeoRefusalBench", "--model", "m", "--base-url", "u",
            "--judge", "j", "--judge-base-url", "http://127.0.0.1:1/v1", "--judge-key", "sk-judge-1234", keep=True,
        )  # fmt: skip
        kwargs = found.runner.get_judge_kwargs("LithoBench_OPEN", "GeoEval", found.parsed)
        assert not {"model", "key", "api_base"} & kwargs.keys()
        own = {name: value for name, value in os.environ.items() if name.startswith("GEOEVAL_JUDGE_")}
        assert own == {
            "GEOEVAL_JUDGE_MODEL": "j",
            "GEOEVAL_JUDGE_BASE_URL": "http://127.0.0.1:1/v1",
            "GEOEVAL_JUDGE_API_KEY": "sk-judge-1234",
        }
    finally:
        os.environ.clear()
        os.environ.update(before)
    mixed = settled(
        "--data", "LithoBench_OPEN", "GeoRefusalBench", "MMStar", "--model", "m", "--base-url", "u", "--judge", "j",
        "--judge-key", "sk-judge-1234",
    )  # fmt: skip
    for name, judged in (("LithoBench_OPEN", True), ("GeoRefusalBench", False), ("MMStar", True)):
        assert ("model" in mixed.runner.get_judge_kwargs(name, "GeoEval", mixed.parsed)) is judged, name


@check
def failures_do_not_keep_a_run_from_being_evaluated_again():
    found = settled("--data", "GeoRefusalBench", "--model", "m", "--base-url", "u", "--mode", "eval")
    assert found.parsed.keep_failed
