"""Our tasks are there by install alone, and nobody else is disturbed."""

import shutil
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

import lmms_eval.models  # noqa: F401 - builds the model registry, which runs our entry point
from lmms_eval.tasks import TaskManager
from loguru import logger
from runs import ALL_TASKS, GROUPS, MODULE, SCRIPT, UPSTREAM_SCRIPT, evaluate, run

from geoeval.harness.lmms_eval import plugin

SOME_TASK = "task: {name}\ndataset_path: none\ntest_split: test\n"


@pytest.fixture
def fresh(monkeypatch):
    """No problems noted so far; those of a test are forgotten."""
    monkeypatch.setattr(plugin, "problems", [])
    return plugin.problems


@pytest.fixture
def log():
    """What is logged, as the harness logs."""
    lines = []
    handler = logger.add(lines.append, format="{level} {message}")
    yield lines
    logger.remove(handler)


def test_tasks_are_known_by_install_alone(fresh):
    index = TaskManager("ERROR").task_index
    assert {*ALL_TASKS, *GROUPS} <= index.keys()
    assert "mme" in index
    assert fresh == []


def test_registering_twice_changes_nothing():
    before = TaskManager.initialize_tasks
    plugin.register_tasks()
    assert TaskManager.initialize_tasks is before


@pytest.mark.parametrize("as_list", [False, True])
def test_include_path_of_a_user_still_works(tmp_path, as_list):
    (tmp_path / "mine.yaml").write_text(SOME_TASK.format(name="my_task"), encoding="utf-8")
    index = TaskManager("ERROR", include_path=[str(tmp_path)] if as_list else str(tmp_path)).task_index
    assert {"my_task", *ALL_TASKS, *GROUPS} <= index.keys()


def test_without_defaults_only_ours_and_the_users(tmp_path):
    (tmp_path / "mine.yaml").write_text(SOME_TASK.format(name="my_task"), encoding="utf-8")
    index = TaskManager("ERROR", include_path=str(tmp_path), include_defaults=False).task_index
    assert {"my_task", *ALL_TASKS, *GROUPS} == index.keys()


def test_a_users_task_of_our_name_wins_and_is_logged(tmp_path, fresh, log):
    """Deliberate, so no failure; but nobody may take its number for ours."""
    (tmp_path / "mine.yaml").write_text(SOME_TASK.format(name="georefusal"), encoding="utf-8")
    index = TaskManager("ERROR", include_path=str(tmp_path)).task_index
    assert index["georefusal"]["yaml_path"] == str(tmp_path / "mine.yaml")
    assert fresh == []
    assert f"WARNING geoeval: the task name 'georefusal' is taken by {tmp_path}" in "".join(log)


def test_our_own_folder_as_include_path_is_no_clash(fresh):
    assert {*ALL_TASKS, *GROUPS} <= TaskManager("ERROR", include_path=str(plugin.tasks_dir())).task_index.keys()
    assert fresh == []


def test_a_name_that_upstream_has_is_reported(tmp_path, fresh, monkeypatch):
    (tmp_path / "clash.yaml").write_text(SOME_TASK.format(name="mme"), encoding="utf-8")
    monkeypatch.setattr(plugin, "tasks_dir", lambda: tmp_path)
    assert "lmms_eval/tasks/mme" in TaskManager("ERROR").task_index["mme"]["yaml_path"]
    assert len(fresh) == 1
    assert "'mme' is taken by" in fresh[0]


@pytest.mark.parametrize("content", ["include: missing_file\ntask: x\n", "task: [unclosed\n", "\x00"])
def test_a_broken_yaml_of_ours_stops_nobody_else(tmp_path, fresh, monkeypatch, content):
    (tmp_path / "broken.yaml").write_text(content, encoding="utf-8")
    monkeypatch.setattr(plugin, "tasks_dir", lambda: tmp_path)
    assert "mme" in TaskManager("ERROR").task_index
    assert len(fresh) == 1


def test_entry_point_never_raises(fresh, monkeypatch):
    monkeypatch.setattr(plugin, "register_tasks", lambda: 1 / 0)
    (manifest,) = plugin.manifests()
    assert manifest.model_id == "geoeval_baseline"
    assert "include_path" in fresh[0]


def test_entry_point_is_installed():
    assert "geoeval.harness.lmms_eval.plugin:manifests" in {e.value for e in entry_points(group="lmms_eval.models")}


@pytest.mark.parametrize("command", [UPSTREAM_SCRIPT, MODULE], ids=["lmms-eval", "python -m lmms_eval"])
def test_upstreams_own_commands_run_our_tasks(tmp_path, command):
    done = evaluate(tmp_path, "strategy=gold", tasks=("forge_workveri",), command=command)
    assert done.value("forge_workveri", "accuracy") == 1.0


def test_our_script_lists_our_tasks(tmp_path):
    done = run(tmp_path, "tasks", "list", command=SCRIPT)
    assert done.status == 0
    assert {*ALL_TASKS, *GROUPS} <= set(done.output.split())


def test_python_call_runs_our_tasks(monkeypatch):
    from lmms_eval.evaluator import simple_evaluate

    monkeypatch.setenv("GEOEVAL_DATA", "sample")
    results = simple_evaluate(
        model="geoeval_baseline", model_args="strategy=gold", tasks=["forge_workveri"], batch_size=1
    )
    assert results["results"]["forge_workveri"]["accuracy,none"] == 1.0


def test_fallback_folder_works_without_the_plugin(tmp_path):
    """The folder printed by our error message is usable by itself: nothing in it needs the wrapped TaskManager."""
    copy = shutil.copytree(plugin.tasks_dir(), tmp_path / "tasks")
    original = TaskManager.initialize_tasks.__wrapped__
    index = original(TaskManager("ERROR"), include_path=str(copy))
    assert {*ALL_TASKS, *GROUPS} <= index.keys()
    assert Path(index["georefusal"]["yaml_path"]).is_relative_to(copy)
