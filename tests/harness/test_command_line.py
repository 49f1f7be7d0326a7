"""``lmms_eval`` ends with a status that tells the truth (upstream's ends with 0)."""

import sys

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

from runs import SCRIPT, evaluate, run


def test_success_is_0_and_prints_both_tables(tmp_path):
    done = evaluate(tmp_path, "strategy=gold", tasks=("georefusal",))
    assert done.status == 0, done.output
    assert "|georefusal|none" in done.output.replace(" ", "")
    assert "95 % interval" in done.output
    assert "SAMPLE numbers" in done.output
    (record,) = tmp_path.rglob("*.geoeval.json")
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
    assert "no item could be scored" in done.output


def test_nothing_scored_is_1_without_a_sample_log_too(tmp_path):
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"id": "nobody", "reply": "A"}\n', encoding="utf-8")
    model = ("--model", "geoeval_baseline", "--model_args", f"strategy=replay,path={replies}")
    done = run(tmp_path, *model, "--tasks", "forge_workveri", "--output_path", str(tmp_path / "a [/b] c"))
    assert done.status == 1
    assert "no item could be scored" in done.output


def test_predict_only_is_no_failure(tmp_path):
    assert evaluate(tmp_path, "strategy=gold", "--predict_only", tasks=("forge_workveri",)).status == 0


def test_a_users_own_task_of_our_name_is_no_failure(tmp_path):
    """Deliberate, as the log says; its samples are not ours to read."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "data.jsonl").write_text('{"q": "?"}\n', encoding="utf-8")
    (tmp_path / "mine" / "mine.yaml").write_text(
        "task: forge_workveri\ndataset_path: json\ndataset_kwargs: {data_files: {test: data.jsonl}}\n"
        "test_split: test\noutput_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{q}}'\n"
        "doc_to_visual: !function utils.none\ngeneration_kwargs: {until: []}\n"
        "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]\n",
        encoding="utf-8",
    )
    (tmp_path / "mine" / "utils.py").write_text("def none(doc):\n    return []\n", encoding="utf-8")
    include = ("--include_path", str(tmp_path / "mine"))
    done = evaluate(tmp_path, "response=A", *include, model="dummy", tasks=("forge_workveri",))
    assert done.status == 0, done.output


def test_a_part_of_the_items_is_named_as_such(tmp_path):
    done = evaluate(tmp_path / "a [bold] [/b]", "strategy=gold", "--limit", "5", tasks=("forge_workveri",))
    assert done.status == 0, done.output
    assert "5 of 5 items scored (the task has 48)" in done.output
    assert str(tmp_path / "a [bold] [/b]") in done.output


def test_a_shipped_configuration_is_found_by_name(tmp_path):
    done = run(tmp_path, "--config", "demo", "--output_path", str(tmp_path), "--limit", "2", GEOEVAL_DATA="")
    assert done.status == 0, done.output
    assert len(done.results) == 3


def test_missing_harness_is_named(tmp_path):
    """Without lmms-eval the script says what to install."""
    code = "import sys; sys.modules['lmms_eval'] = None; from geoeval.harness.lmms_eval.cli import main; main()"
    done = run(tmp_path, "-c", code, command=(sys.executable,))
    assert done.status == 1
    assert "pip install" in done.output


def test_help_needs_no_registration(tmp_path):
    assert run(tmp_path, "--help", command=SCRIPT).status == 0
