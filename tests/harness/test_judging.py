"""A judge inside lmms-eval: once after generation, the same numbers as ``geoeval judge``, and no run lost by it."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")
pytest.importorskip("openai", reason="needs the package openai")

import standin_judge as standin
from runs import MODULE, environment, evaluate

TASK = "lithobench_open"
KEY = "sk-never-to-be-seen-1234"


def judge_environment(url, folder):
    return {
        "GEOEVAL_JUDGE_MODEL": "judge-1",
        "GEOEVAL_JUDGE_BASE_URL": url,
        "GEOEVAL_JUDGE_API_KEY": KEY,
        "GEOEVAL_JUDGE_STORE": str(folder / "calls.sqlite"),
        "GEOEVAL_JUDGE_RETRIES": "8",
        "GEOEVAL_JUDGE_BACKOFF": "0.01",
        "GEOEVAL_JUDGE_TIMEOUT": "1",
    }


def judge_command(folder, *arguments, **changes):
    command = [sys.executable, "-m", "geoeval", "judge", str(folder), *arguments]
    return subprocess.run(command, env=environment(**changes), capture_output=True, text=True, timeout=300, check=False)


def record(folder):
    (path,) = folder.rglob("*.geoeval.json")
    return json.loads(path.read_text(encoding="utf-8"))


def values(found):
    return {metric["name"]: metric["value"] for metric in found["metrics"]}


def no_key_below(folder):
    return not any(KEY.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A run with a judge of which 30 % of the calls fail; (run, calls it answered, its environment)."""
    folder = tmp_path_factory.mktemp("judged")
    with standin.serving("failing") as judge:
        changes = judge_environment(judge.url, folder)
        done = evaluate(folder, "strategy=random", tasks=(TASK,), **changes)
        return done, sum(judge.answered.values()), len(judge.answered), changes


def test_table_and_harness_say_the_same_and_each_answer_is_asked_once(judged):
    done, calls, distinct, _ = judged
    assert done.status == 0, done.output[-3000:]
    found = values(record(done.folder))
    for name in ("judge_score", "open_with_judge_w0.5", "open_score"):
        assert done.value(TASK, name) == pytest.approx(found[name], abs=1e-9)
    assert done.value(TASK, "judge_coverage") == 1
    assert "open_with_judge " not in done.output
    # One before the run and one that finds out how the judge is asked are the same question, asked twice.
    assert calls == distinct + 1
    assert no_key_below(done.folder)


def test_judging_afterwards_gives_the_same_numbers_without_a_call(judged, tmp_path):
    done, _, _, changes = judged
    again = judge_command(done.folder, "--replay", "strict", "-o", str(tmp_path), **changes)
    assert again.returncode == 0, again.stderr
    assert values(record(tmp_path)) == values(record(done.folder))
    assert KEY not in again.stdout + again.stderr


def test_two_processes_judge_once(judged, tmp_path):
    done, *_ = judged
    launcher = (sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2", "--cpu", "-m")
    with standin.serving() as judge:
        changes = judge_environment(judge.url, tmp_path)
        command = (*launcher, "geoeval.harness.lmms_eval")
        both = evaluate(tmp_path, "strategy=random", tasks=(TASK,), command=command, **changes)
        assert both.status == 0, both.output[-3000:]
        assert sum(judge.answered.values()) == len(judge.answered) + 1
    assert values(record(tmp_path)) == values(record(done.folder))


def test_a_wrong_key_stops_before_the_model_is_asked(tmp_path):
    with standin.serving("wrong_key") as judge:
        done = evaluate(tmp_path, "strategy=random", tasks=(TASK,), **judge_environment(judge.url, tmp_path))
        assert sum(judge.refused.values()) == 1
    assert done.status == 1
    assert "Incorrect API key provided" in done.output
    assert not list(tmp_path.rglob("*_results.json"))
    assert KEY not in done.output


def test_a_judge_that_is_lost_on_the_way_loses_no_run(tmp_path):
    """It gives 30 replies and then 401; upstream's own command line, since it does not look at the judge first."""
    with standin.serving("revoked") as judge:
        changes = judge_environment(judge.url, tmp_path)
        done = evaluate(tmp_path, "strategy=random", tasks=(TASK,), **changes)
    assert done.status == 1
    assert "not judged" in done.output
    found = values(record(tmp_path))
    assert found["open_score"] == pytest.approx(done.value(TASK, "open_score"), abs=1e-9)
    assert "judge_score" not in found
    assert done.results[TASK]["judge_score,none"] != done.results[TASK]["judge_score,none"]  # nan
    with standin.serving() as other:
        changes["GEOEVAL_JUDGE_BASE_URL"] = other.url
        resumed = judge_command(tmp_path, **changes)
    assert resumed.returncode == 0, resumed.stderr


def test_upstreams_command_line_judges_too(tmp_path):
    with standin.serving("text_only") as judge:
        changes = judge_environment(judge.url, tmp_path)
        done = evaluate(tmp_path, "strategy=gold", tasks=("lithobench_open_id",), command=MODULE, **changes)
        assert done.value("lithobench_open_id", "judge_coverage") == 1
        found = judge_command(tmp_path, "--replay", "strict", **changes)
    assert found.returncode == 0, found.stderr
    assert values(record(tmp_path))["judge_score"] == done.value("lithobench_open_id", "judge_score")


def test_other_tasks_know_no_judge(tmp_path):
    with standin.serving("wrong_key") as judge:
        changes = judge_environment(judge.url, tmp_path)
        done = evaluate(tmp_path, "strategy=gold", tasks=("forge_workveri",), **changes)
        assert not judge.refused
    assert done.status == 0, done.output[-2000:]


def test_other_settings_in_the_same_process_are_judged_anew(monkeypatch):
    from geoeval.harness.lmms_eval import judging

    monkeypatch.setattr(judging, "_last", {})
    monkeypatch.setattr(judging, "_values", lambda task, pairs, settings, args: {"judge_score": settings.weight})
    monkeypatch.setenv("GEOEVAL_JUDGE_MODEL", "judge-1")
    for weight in ("0.25", "0.75"):
        monkeypatch.setenv("GEOEVAL_JUDGE_WEIGHT", weight)
        assert judging._judged(TASK, "judge_score", [("a", "b")]) == float(weight)
