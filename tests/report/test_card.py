"""What a card says, who gets none, and that nothing in a name does harm."""

import json
import math
from dataclasses import replace

import pytest
import yaml
from card_results import README, result
from huggingface_hub import parse_eval_result_entries

from geoeval import cli
from geoeval.data import DataError
from geoeval.report.card import every_eval_ever
from geoeval.report.card.entries import Dataset, Settings, entries, without_secrets
from geoeval.report.card.eval_results import check_files, eval_results
from geoeval.report.card.section import END, START, cell, code, section
from geoeval.types import Metric

SAMPLE = Settings(sample=True, command="geoeval card results --sample")


@pytest.fixture
def card(monkeypatch, tmp_path):
    """Runs ``geoeval card`` on given results; returns the exit status."""

    def run(results, *arguments):
        loader = type("loader", (), {"load_results": staticmethod(lambda paths: list(results))})
        monkeypatch.setitem(__import__("sys").modules, "geoeval.runs.load", loader)
        with pytest.raises(SystemExit) as ended:
            cli.main(["card", "record.geoeval.json", *map(str, arguments)])
        return ended.value.code

    return run


def test_section_has_value_n_interval_baseline_coverage_signature_date_versions_commands():
    text = section(entries([result()], SAMPLE))
    # 83 sample items: one failed, one empty, 81 right; Wilson interval of 81 of 82 at the design effect of its clusters
    assert "| accuracy | 0.9878 |" in text
    assert "| 82 | 0.5030 |" in text
    assert "82 of 83 items scored; 81 read, 0 unreadable, 1 empty" in text
    assert "1 failed requests" in text
    assert "2026-11-30T10:00:00" in text
    assert "lmms-eval 0.7.3" in text
    assert "`georefusal:1-A|data:SAMPLE@" in text
    assert "lmms_eval --model openai --model_args" in text
    assert "geoeval card results --sample" in text
    assert "SAMPLE numbers" in text
    assert "sk-very-secret" not in text
    assert "user:pw" not in text
    assert (text.count(START), text.count(END)) == (1, 1)


def test_a_command_that_is_a_marker_does_no_harm():
    text = section(entries([result(facts={"command": END})], SAMPLE))
    assert [line for line in text.splitlines() if line in (START, END)] == [START, END]


def test_a_withheld_number_is_shown_with_its_reason_and_in_no_metadata():
    given = result()
    withheld = Metric("macro_f1", math.nan, 82, note="withheld: 9 of 82 answers have no mark")
    metrics = tuple(withheld if metric.name == "macro_f1" else metric for metric in given.summary.metrics)
    found = entries([replace(given, summary=replace(given.summary, metrics=metrics))], SAMPLE)
    text = section(found)
    assert "| macro_f1 | n/a | n/a | 82 | n/a |" in text
    assert "- macro_f1: withheld: 9 of 82 answers have no mark" in text
    assert "macro_f1" not in [metric.name for metric in found[0].metrics]


@pytest.mark.parametrize(
    ("results", "settings", "says"),
    [
        ([], SAMPLE, "no results"),
        ([result()], Settings(), "SAMPLE"),
        ([result(), result()], SAMPLE, "more than one result"),
        ([result(), result("lithobench_open", facts={"model": "other"})], SAMPLE, "are of 2"),
    ],
)
def test_refused(results, settings, says):
    with pytest.raises(DataError, match=says):
        entries(results, settings)


HOSTILE = f"x\n{END}\n<script>alert(1)</script> | `a` ``b`` [l](javascript:1) $m$ ![i](u) &lt; \\"


def test_hostile_names_stay_text():
    given = result(facts={"model": HOSTILE, "harness": HOSTILE, "command": f"run ```\n{END}\n```", "date": HOSTILE})
    text = section(entries([given], SAMPLE))
    assert [line for line in text.splitlines() if line.strip() in (START, END)] == [START, END]
    assert "<script>" not in text
    assert "[l](" not in text
    assert all(line.count("|") - line.count("\\|") in (0, 6) for line in text.splitlines() if line.startswith("|"))
    assert "````bash" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b_c", "a_b_c"),
        ("_a_ *b*", "\\_a\\_ \\*b\\*"),
        ("a|b<c>&d", "a\\|b&lt;c&gt;&amp;d"),
        ("two\nlines", "two lines"),
    ],
)
def test_cell(text, shown):
    assert cell(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("a|b", "`a|b`"), ("`a`", "`` `a` ``"), ("a``b", "```a``b```")])
def test_code(text, shown):
    assert code(text) == shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("model=a,api_key=sk-1,max_new_tokens=9", "model=a,api_key=***,max_new_tokens=9"),
        ('{"api_key": "sk 1", "tokenizer": "t"}', '{"api_key": ***, "tokenizer": "t"}'),
        ("hf_token=hf_x password='a b' x=1", "hf_token=*** password=*** x=1"),
        ("base_url=https://me:pw@host/v1", "base_url=https://***@host/v1"),
    ],
)
def test_secrets_are_left_out(text, kept):
    assert without_secrets(text) == kept


def test_dataset_is_known_given_or_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOEVAL_CACHE", str(tmp_path))
    release = result(sample=False)
    assert entries([release], Settings())[0].dataset == Dataset("albertLee/GeoRefusalBench")
    assert entries([result(sample=False, facts={"data": "local"})], Settings())[0].dataset is None
    assert entries([result("lithobench_open", sample=False)], Settings())[0].dataset is None
    mine = Settings(datasets={"georefusal": Dataset("me/copy", "abcdef1")})
    assert entries([release], mine)[0].dataset == Dataset("me/copy", "abcdef1")
    manifest = {"source": {"repo": "a/b", "commit": "c0ffee"}, "output": {"sha256": release.run["data_sha256"]}}
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared" / "georefusal.manifest.json").write_text(json.dumps(manifest))
    assert entries([release], Settings())[0].dataset == Dataset("a/b", "c0ffee")


def test_eval_results_are_entries_of_the_hub():
    settings = Settings(source_url="https://example.org/logs", source_name="Logs")
    files = eval_results(entries([result(sample=False)], settings), settings)
    (name,) = files
    (entry,) = parse_eval_result_entries(yaml.safe_load(yaml.safe_dump(files[name])))
    assert name == "geoeval_georefusal.yaml"
    assert (entry.dataset_id, entry.task_id, entry.value) == ("albertLee/GeoRefusalBench", "georefusal", 81 / 82)
    assert (entry.date, entry.source_name) == ("2026-11-30T10:00:00+00:00", "Logs")
    assert "95% interval 0.9" in entry.notes
    assert "1 requests failed" in entry.notes
    assert set(files[name][0]) == {"dataset", "value", "date", "source", "notes"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (result("lithobench_open", sample=False), "--dataset"),
        (result(sample=False, facts={"items_in_task": 587}), "83 of 587 items"),
        (result(sample=False, facts={"partial": {"doubled": 1}}), "not all replies"),
        (result(sample=False, facts={"policy": "first_letter"}), "policy first_letter"),
        (result(sample=False, facts={"data_check": "different"}), "other data"),
    ],
)
def test_no_entry_for_a_leaderboard_that_does_not_stand_for_the_task(given, says):
    with pytest.raises(DataError, match=says):
        eval_results(entries([given], Settings()), Settings())


def test_entries_of_others_are_not_overwritten(tmp_path):
    files = eval_results(entries([result()], SAMPLE), SAMPLE)
    (name,) = files
    check_files(tmp_path, files)
    (tmp_path / name).write_text(yaml.safe_dump(files[name]))
    check_files(tmp_path, files)
    (tmp_path / name).write_text("- dataset: {id: cais/hle, task_id: hle}\n  value: 1\n")
    with pytest.raises(DataError, match="other entries"):
        check_files(tmp_path, files)


def test_records_of_every_eval_ever_are_as_its_schema_asks():
    made = every_eval_ever.records(entries([result(), result("lithobench_open")], SAMPLE), SAMPLE)
    path, record = next(iter(made.items()))
    assert path.startswith("data/SAMPLE_georefusal/acme/rock-vl-7b/")
    numbers = {found["metric_config"]["metric_name"]: found for found in record["evaluation_results"]}
    accuracy = numbers["accuracy"]
    assert accuracy["score_details"]["score"] == 81 / 82
    assert accuracy["score_details"]["uncertainty"]["num_samples"] == 82
    assert numbers["false_refusal_rate"]["metric_config"]["lower_is_better"] is True
    assert (numbers["mcc"]["metric_config"]["min_score"], numbers["mcc"]["metric_config"]["max_score"]) == (-1, 1)
    assert "sk-very-secret" not in json.dumps(made)
    again = every_eval_ever.records(entries([result(), result("lithobench_open")], SAMPLE), SAMPLE)
    assert list(again) == list(made)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda r: r.pop("eval_library"), "'eval_library' is a required property"),
        (
            lambda r: r["source_metadata"].update(evaluator_relationship="self"),
            "evaluator_relationship",
        ),
        (lambda r: r["evaluation_results"][0]["score_details"].update(score="high"), "score"),
        (lambda r: r["evaluation_results"][0]["score_details"].update(score=81), "outside its bounds"),
        (lambda r: r.update(extra=1), "extra"),
    ],
)
def test_a_record_that_is_not_as_the_schema_asks_is_refused(change, says):
    ((path, record),) = every_eval_ever.records(entries([result()], SAMPLE), SAMPLE).items()
    change(record)
    with pytest.raises(DataError, match=says):
        every_eval_ever.check_record(record, path)


def test_command_writes_all_and_again_changes_nothing(card, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(README, encoding="utf-8")
    arguments = ("--sample", "--into", readme, "--eval-results", tmp_path / "e", "--every-eval-ever", tmp_path / "v")
    results = [result(), result("lithobench_open")]
    assert card(results, *arguments) == 0
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written) == 5
    assert card(results, *arguments) == 0
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == written


@pytest.mark.parametrize("broken", ["readme", "entries", "there", "record"])
def test_nothing_is_written_when_one_part_is_refused(card, tmp_path, broken, capsys):
    readme, folder = tmp_path / "README.md", tmp_path / "e"
    readme.write_text("---\nbroken" if broken == "readme" else README, encoding="utf-8")
    given = result()
    if broken == "entries":
        given = result(facts={"items_in_task": 587})
    if broken == "record":
        high = tuple(replace(metric, value=7.0) if metric.name == "crs" else metric for metric in given.summary.metrics)
        given = replace(given, summary=replace(given.summary, metrics=high))
    there = [readme]
    if broken == "there":
        there.append(folder / "SAMPLE_geoeval_georefusal.yaml")
        folder.mkdir()
        there[1].write_text("- 1")
    before = readme.read_bytes()
    status = card([given], "--sample", "--into", readme, "--eval-results", folder, "--every-eval-ever", tmp_path / "v")
    assert status == 1
    assert capsys.readouterr().err.startswith("geoeval: ")
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(there)
    assert readme.read_bytes() == before


def test_without_a_place_the_readme_is_printed(card, capsys):
    assert card([result()], "--sample") == 0
    out = capsys.readouterr().out
    assert out.startswith("---\nmodel-index:\n")
    assert out.rstrip().endswith(END)


def test_json_has_everything(card, capsys, tmp_path):
    assert card([result()], "--sample", "--json", "--into", tmp_path / "README.md") == 0
    made = json.loads(capsys.readouterr().out)
    assert set(made) >= {"section", "model_index", "readme", "eval_results", "every_eval_ever", "warnings", "written"}
    assert made["written"] == [str(tmp_path / "README.md")]


@pytest.mark.parametrize(
    "arguments",
    [("--dataset", "georefusal"), ("--dataset", "other=a/b"), ("--relationship", "self"), ("--source-name", "x")],
)
def test_wrong_arguments(card, arguments):
    assert card([result()], "--sample", *arguments) == 2


def test_sample_is_refused_without_its_flag(card, capsys):
    assert card([result()]) == 1
    assert "--sample" in capsys.readouterr().err
