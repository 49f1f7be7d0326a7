"""``geoeval score`` as a user runs it."""

import csv
import json

import pytest
from saved_runs import gold_replies, items, write_plain

from geoeval.cli import main
from geoeval.runs.model import Reply


@pytest.fixture
def score(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder; returns status, output and messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEOEVAL_DATA", "sample")

    def command(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["score", *map(str, arguments)])
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return command


@pytest.fixture
def plain_file(tmp_path):
    return write_plain(tmp_path / "replies.jsonl", gold_replies("georefusal", wrong=4))


def test_a_plain_file(score, plain_file, tmp_path):
    status, out, err = score("replies.jsonl", "--task", "georefusal", "--model", "mine")
    assert status == 0
    assert "replies.jsonl: plain" in err
    assert "georefusal  mine  (version 1-A, SAMPLE)" in out
    assert "random" in out
    assert "always answer" in out
    assert "replies_georefusal_mine.geoeval.json" in out
    record = json.loads((tmp_path / "replies_georefusal_mine.geoeval.json").read_text(encoding="utf-8"))
    assert record["run"]["model"] == "mine"
    assert record["metrics"][0]["value"] == pytest.approx(79 / 83)


def test_json_is_the_records_and_nothing_else(score, plain_file):
    status, out, _ = score("replies.jsonl", "--task", "georefusal", "--json", "-o", "out")
    (record,) = json.loads(out)
    assert status == 0
    assert record["task"] == "georefusal"


def test_quiet_is_a_line_a_run_and_says_what_must_be_said(score, tmp_path):
    replies = gold_replies("forge_workveri")[1:]
    replies[0] = Reply(replies[0].id, None)
    write_plain(tmp_path / "replies.jsonl", replies)
    status, out, _ = score("replies.jsonl", "--task", "forge_workveri", "-q", "--allow-partial")
    assert status == 0
    assert out.startswith("forge_workveri  unknown  accuracy 1.0000 [")
    assert "n=46 (SAMPLE, PARTIAL 47/48, 1 failed)" in out


def test_part_of_the_items_is_refused_then_said_on_every_line(score, tmp_path):
    write_plain(tmp_path / "replies.jsonl", gold_replies("forge_workveri")[3:])
    status, out, err = score("replies.jsonl", "--task", "forge_workveri")
    assert (status, out) == (1, "")
    assert "3 items have no reply" in err
    assert "--allow-partial" in err
    assert [path.name for path in tmp_path.iterdir()] == ["replies.jsonl"]
    status, out, _ = score("replies.jsonl", "--task", "forge_workveri", "--allow-partial")
    assert status == 0
    numbers = [line for line in out.splitlines() if " n=" in line or "0.95" in line or "1.0000" in line]
    assert len(numbers) > 10
    assert all("PARTIAL 45/48" in line for line in numbers)


def test_policy_has_files_of_its_own(score, tmp_path):
    write_plain(tmp_path / "replies.jsonl", gold_replies("forge_workveri"))
    status, out, _ = score("replies.jsonl", "--task", "forge_workveri", "--policy", "first_letter")
    assert status == 0
    assert "policy first_letter" in out
    assert (tmp_path / "replies_forge_workveri_first_letter.geoeval.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["nowhere"], 2, "no such file or folder"),
        (["notes.txt"], 2, "not known as replies of any harness"),
        (["empty"], 2, "lmms-eval: <stamp>_results.json"),
        (["replies.jsonl"], 1, "does not say which task it is of; give --task"),
        (["replies.jsonl", "--task", "nothing"], 1, "no task 'nothing'"),
        (["replies.jsonl", "--task", "forge_workveri"], 1, "83 ids are not of forge_workveri"),
        (["replies.jsonl", "--task", "georefusal", "--rules", "2-A"], 1, "marks by rules 1-A, not 2-A"),
        (["replies.jsonl", "--task", "georefusal", "--data", "nowhere"], 1, "no file"),
        (["replies.jsonl", "--columns", "x=y"], 2, "wanted one of id, reply"),
        (["replies.jsonl", "--encoding", "klingon"], 2, "klingon"),
        (["replies.jsonl", "--check"], 2, "--check needs records"),
        (["replies.jsonl", "--policy", "guess"], 2, "invalid choice"),
        ([], 2, "FILE"),
    ],
)
@pytest.mark.usefixtures("plain_file")
def test_what_goes_wrong_is_said(score, tmp_path, arguments, status, says):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    found, out, err = score(*arguments)
    assert (found, out) == (status, "")
    assert says in err
    assert "Traceback" not in err


def test_one_bad_run_does_not_keep_the_others(score, tmp_path):
    good = [{"task": "georefusal", "id": r.id, "reply": r.text} for r in gold_replies("georefusal")]
    bad = [{"task": "forge_workveri", "id": "nobody", "reply": "A"}, {"task": "no_task", "id": "x", "reply": "A"}]
    lines = "".join(f"{json.dumps(line)}\n" for line in [*bad, *good])
    (tmp_path / "replies.jsonl").write_text(lines, encoding="utf-8")
    status, out, err = score("replies.jsonl", "-q")
    assert status == 1
    assert out.startswith("georefusal  unknown")
    assert "not of forge_workveri" in err
    assert "no task 'no_task'" in err
    status, out, err = score("replies.jsonl", "-q", "--task", "georefusal")
    assert status == 0


def test_a_table_of_a_spreadsheet(score, tmp_path):
    """Semicolons, a mark before UTF-16, a line end in a cell, and columns by other names."""
    with open(tmp_path / "replies.csv", "w", encoding="utf-16", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["question_id", "prediction", "note"])
        for reply in gold_replies("georefusal"):
            writer.writerow([reply.id, f"Let me look.\n{reply.text}", "é"])
    status, out, _ = score(
        "replies.csv", "--task", "georefusal", "-q", "--columns", "id=question_id", "reply=prediction"
    )
    assert status == 0
    assert "accuracy 1.0000" in out


def test_records_are_checked_and_scored_again(score, plain_file, tmp_path):
    assert score("replies.jsonl", "--task", "georefusal", "-o", "out", "-q")[0] == 0
    status, out, err = score("out", "--check")
    assert (status, out) == (0, "")
    assert "83 items" in err
    before = (tmp_path / "out" / "replies_georefusal.items.jsonl").read_bytes()
    status, out, err = score("out", "-o", "again", "-q")
    assert status == 0
    assert "geoeval" in err
    assert (tmp_path / "again" / "replies_georefusal.items.jsonl").read_bytes() == before


def test_other_data_are_named(score, tmp_path, monkeypatch):
    """Scored on the sample, then with a folder whose file is another."""
    import pyarrow.parquet as pq

    from geoeval.data import locate

    write_plain(tmp_path / "replies.jsonl", gold_replies("georefusal"))
    assert score("replies.jsonl", "--task", "georefusal", "-o", "out", "-q")[0] == 0
    (tmp_path / "data").mkdir()
    pq.write_table(pq.read_table(locate("georefusal", "sample").path), tmp_path / "data" / "georefusal.parquet")
    status, _, err = score("out", "--data", "data", "-q")
    assert status == 1
    assert locate("georefusal", "sample").sha256 in err
    assert locate("georefusal", "data").sha256 in err
    status, out, _ = score("out", "--data", "data", "-q", "--other-data")
    assert status == 0
    assert "asked on OTHER DATA" in out


def test_names_in_a_file_are_data(score, tmp_path):
    """Markup, terminal codes and paths in names change neither the console nor where files go."""
    name = "[red]x[/red]\x1b[31m/../../evil"
    lines = [{"id": item.id, "reply": "A", "model": name} for item in items("forge_workveri")]
    (tmp_path / "replies.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    status, out, _ = score("replies.jsonl", "--task", "forge_workveri", "-o", "out")
    assert status == 0
    assert "[red]x[/red]" in out
    assert "\x1b" not in out
    assert "\x1b" not in score("replies.jsonl", "--task", "forge_workveri", "-o", "out", "-q")[1]
    assert {path.parent.name for path in tmp_path.rglob("*evil*")} == {"out"}


@pytest.mark.parametrize("source", ["replies.jsonl", "replies_lithobench_open.geoeval.json"])
def test_a_record_with_a_judges_marks_is_not_written_over(score, tmp_path, source):
    write_plain(tmp_path / "replies.jsonl", gold_replies("lithobench_open"))
    given = ("--task", "lithobench_open")
    assert score("replies.jsonl", *given)[0] == 0
    (path,) = tmp_path.glob("*.geoeval.json")
    assert score("replies.jsonl", *given)[0] == 0  # without marks it is written anew
    record = json.loads(path.read_text(encoding="utf-8"))
    record["judge"] = {"model": "stern"}
    path.write_text(json.dumps(record), encoding="utf-8")
    files = {file: file.read_bytes() for file in tmp_path.iterdir()}
    status, out, err = score(path.name if source.endswith(".json") else source, *given, "--json")
    assert (status, json.loads(out)) == (1, [])
    assert "holds the marks of the judge stern" in err
    assert "-o DIR" in err
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == files
    assert score(source if source == "replies.jsonl" else path.name, *given, "-o", "apart")[0] == 0
