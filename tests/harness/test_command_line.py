"""``lmms_eval`` ends with a status that tells the truth (upstream's ends with 0)."""

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

from runs import SCRIPT, evaluate, run


def test_success_is_0_and_prints_both_tables(tmp_path):
    done = evaluate(tmp_path, "strategy=gold", tasks=("georefusal",))
    assert done.status == 0, done.output
    assert "|georefusal|none" in done.output.replace(" ", "")
    assert "95 % interval" in done.output
    assert "SAMPLE numbers" in done.output
    (record,) = tmp_path.rglob("*_geoeval.json")
    assert str(record) in done.output


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "geoeval_baseline", "--tasks", "no_such_task"), "no_such_task"),
        (("--model", "no_such_model", "--tasks", "georefusal"), "no_such_model"),
        (("--model", "geoeval_baseline", "--model_args", "strategy=x", "--tasks", "georefusal"), "choose one of"),
        (("--model", "geoeval_baseline", "--model_args", "strategy=replay", "--tasks", "georefusal"), "needs path"),
        (
            ("--model", "geoeval_baseline", "--model_args", "strategy=replay,path=none.jsonl", "--tasks", "georefusal"),
            "no such file of saved replies",
        ),
    ],
)
def test_failed_evaluation_is_1(tmp_path, arguments, says):
    done = run(tmp_path, *arguments, "--output_path", str(tmp_path))
    assert done.status == 1, done.output
    assert says in done.output
    assert not list(tmp_path.rglob("*_results.json"))


def test_no_data_chosen_is_1_and_says_what_to_set(tmp_path):
    done = evaluate(tmp_path, "strategy=gold", GEOEVAL_DATA="")
    assert done.status == 1
    assert "GEOEVAL_DATA=sample" in done.output


def test_no_task_named_is_2(tmp_path):
    assert run(tmp_path, "--model", "geoeval_baseline").status == 2


def test_listing_tasks_is_0(tmp_path):
    assert run(tmp_path, "--tasks", "list").status == 0


@pytest.mark.skipif(os.geteuid() != 0 and not Path("/dev/full").exists(), reason="needs a place that cannot be written")
def test_results_that_cannot_be_written_are_1(tmp_path):
    """A file stands where the folder should be; upstream logs a warning and ends with 0."""
    (tmp_path / "out").write_text("", encoding="utf-8")
    done = run(
        tmp_path, "--model", "geoeval_baseline", "--tasks", "forge_workveri", "--output_path", str(tmp_path / "out")
    )
    assert done.status == 1, done.output


def test_nothing_scored_is_1(tmp_path):
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"id": "nobody", "reply": "A"}\n', encoding="utf-8")
    done = evaluate(tmp_path, f"strategy=replay,path={replies}", tasks=("forge_workveri",))
    assert done.status == 1
    assert "no item could be scored (48 failed requests)" in done.output


def test_missing_harness_is_named(tmp_path):
    """Without lmms-eval the script says what to install."""
    code = "import sys; sys.modules['lmms_eval'] = None; from geoeval.harness.lmms_eval.cli import main; main()"
    done = run(tmp_path, "-c", code, command=(sys.executable,))
    assert done.status == 1
    assert "pip install" in done.output


def test_help_needs_no_registration(tmp_path):
    assert run(tmp_path, "--help", command=SCRIPT).status == 0
