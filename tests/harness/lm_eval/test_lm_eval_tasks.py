"""The task YAMLs of lm-eval: all tasks it can show as they are, in a folder that lmms-eval does not index."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import locate
from geoeval.harness.lm_eval.adapter import offered, tasks_dir
from geoeval.harness.lmms_eval.plugin import tasks_dir as lmms_tasks_dir


class Loader(yaml.SafeLoader):
    """Knows ``!function`` as its text."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def load(name):
    return yaml.load((tasks_dir() / name).read_text(encoding="utf-8"), Loader)


def test_there_is_a_yaml_for_every_task_whose_pictures_come_first():
    assert {path.stem for path in tasks_dir().glob("*.yaml")} == {*offered()}
    left_out = [get_benchmark(name) for name in benchmark_names() if name not in offered()]
    assert all(benchmark.setting for benchmark in left_out)
    assert not tasks_dir().is_relative_to(lmms_tasks_dir())


@pytest.mark.parametrize("task", offered())
def test_yaml_names_its_task_and_limit(task):
    hooks = "geoeval.harness.lm_eval.hooks"
    assert load(f"{task}.yaml") == {
        "task": task,
        "include": "_common_yaml",
        "custom_dataset": f"{hooks}.documents_{task}",
        "metric_list": f"{hooks}.metrics_{task}",
        "metadata": f"{hooks}.metadata_{task}",
        "generation_kwargs": {
            "max_gen_toks": get_benchmark(task).max_new_tokens,
            "temperature": 0,
            "do_sample": False,
            "until": [],
        },
    }


def test_hooks_of_the_common_part_exist():
    from geoeval.harness.lm_eval import adapter

    common = load("_common_yaml")
    names = [value for value in common.values() if isinstance(value, str) and value.startswith("geoeval.")]
    names.append(common["filter_list"][0]["filter"][0]["function"])
    assert len(names) == 5
    for name in names:
        module, _, function = name.rpartition(".")
        assert module == adapter.__name__
        assert callable(getattr(adapter, function))


def test_command_prints_the_folder():
    done = subprocess.run([sys.executable, "-m", "geoeval.harness.lm_eval"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tasks_dir())


def test_other_data_in_the_same_process_is_not_answered_from_the_rows_before(monkeypatch, tmp_path):
    from geoeval.harness.lm_eval import adapter

    row = pq.read_table(locate("georefusal", "sample").path).slice(0, 1)
    question = pa.array(["Another question?"])
    changed = row.set_column(row.schema.get_field_index("question"), "question", question)
    pq.write_table(changed, tmp_path / "georefusal.parquet")
    doc = {"task": "georefusal", "id": row["id"][0].as_py()}
    monkeypatch.setenv("GEOEVAL_DATA", "sample")
    before = adapter.doc_to_text(doc)
    monkeypatch.setenv("GEOEVAL_DATA", str(tmp_path))
    assert "Another question?" in adapter.doc_to_text(doc)
    assert "Another question?" not in before
