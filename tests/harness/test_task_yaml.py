"""The YAMLs are what lmms-eval needs; upstream has no such check and finds out in the middle of a run."""

import inspect
import io
from dataclasses import fields

import pyarrow.parquet as pq
import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

import yaml
from lmms_eval.api.task import ConfigurableTask, TaskConfig
from lmms_eval.utils import load_yaml_config
from PIL import Image
from runs import ALL_TASKS, GROUPS, TASKS

from geoeval.benchmarks import get_benchmark
from geoeval.data import DataError, locate
from geoeval.harness.lmms_eval.adapter import process_docs
from geoeval.harness.lmms_eval.plugin import tasks_dir

YAMLS = sorted(tasks_dir().rglob("*.yaml"))
GROUP_FILES = [path for path in YAMLS if "\ngroup:" in f"\n{path.read_text(encoding='utf-8')}"]
FILES = [path for path in YAMLS if path not in GROUP_FILES]
CONFIGS = sorted((tasks_dir().parent / "yaml_configs").glob("*.yaml"))


@pytest.fixture(autouse=True)
def _sample(monkeypatch):
    monkeypatch.setenv("GEOEVAL_DATA", "sample")


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def config(request):
    return load_yaml_config(str(request.param))


def test_every_benchmark_has_a_task_and_every_task_a_benchmark():
    assert {path.stem for path in FILES} == set(ALL_TASKS)


def test_groups_hold_our_tasks():
    assert sorted(path.stem for path in GROUP_FILES) == sorted(GROUPS)
    for path in GROUP_FILES:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert content["group"] == path.stem
        assert len(content["task"]) == len(set(content["task"]))
        assert set(content["task"]) <= {*ALL_TASKS, *GROUPS}


def test_fields_are_known(config):
    assert set(config) <= {field.name for field in fields(TaskConfig)}


def test_version_and_data_enter_the_cache_key(config):
    """The response cache knows no pictures: the hash of the data must be in the metadata, and only a dict counts."""
    task = config["task"]
    assert config["metadata"] == {
        "version": get_benchmark(task).version,
        "data": "SAMPLE",
        "data_sha256": locate(get_benchmark(task).dataset).sha256,
    }


def test_generation_is_greedy_and_not_cut_at_a_blank_line(config):
    benchmark = get_benchmark(config["task"])
    assert config["generation_kwargs"] == {
        "max_new_tokens": benchmark.max_new_tokens,
        "temperature": 0,
        "do_sample": False,
        "until": [],
    }


def test_metrics_are_complete(config):
    for metric in config["metric_list"]:
        assert set(metric) == {"metric", "aggregation", "higher_is_better"}
        assert metric["higher_is_better"] == (metric["metric"] not in ("false_refusal_rate", "missed_refusal_rate"))
        assert callable(metric["aggregation"])


def test_prompt_of_every_document_builds(config):
    task = ConfigurableTask(config=config, model_name="geoeval_baseline")
    benchmark = get_benchmark(config["task"])
    rows = pq.read_table(locate(benchmark.dataset).path, columns=["id", *benchmark.subset]).to_pylist()
    assert task.eval_docs["id"][:] == [row["id"] for row in rows if benchmark.includes(row)]
    for doc in task.eval_docs:
        (message,) = task.config.doc_to_messages(doc)
        pictures = [part["url"] for part in message["content"] if part["type"] == "image"]
        assert {picture.mode for picture in pictures} <= {"RGB"}
        assert [p.tobytes() for p in pictures] == [visual.tobytes() for visual in task.doc_to_visual(doc)]
        question = message["content"][-1]["text"]
        assert doc["question"] in question
        assert task.doc_to_text(doc).endswith(question)
        if not benchmark.setting:
            assert [part["type"] for part in message["content"]] == ["image"] * len(doc["images"]) + ["text"]
            assert task.doc_to_text(doc) == question


def test_pictures_do_not_reach_scoring(config):
    """Else each picture would be read again for each reply."""
    task = ConfigurableTask(config=config, model_name="geoeval_baseline")
    assert "images" not in task.eval_docs_no_media.features


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_run_configuration_is_loadable(path):
    """Keys are arguments of the command line, the model exists, and it takes the arguments."""
    from lmms_eval.__main__ import parse_eval_args
    from lmms_eval.models import MODEL_REGISTRY_V2
    from lmms_eval.utils import simple_parse_args_string

    settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    parser = inspect.getsource(parse_eval_args)
    for key in settings.keys() - {"env"}:
        assert f'"--{key}"' in parser, key
    assert set(settings["tasks"].split(",")) == set(TASKS)
    resolved = MODEL_REGISTRY_V2.resolve(settings["model"])
    given = simple_parse_args_string(settings["model_args"])
    try:
        model = MODEL_REGISTRY_V2.get_model_class(settings["model"])
    except ImportError:
        pytest.skip(f"{resolved.class_path} needs a package that is not installed here")
    taken = {name for cls in model.__mro__[:3] for name in inspect.signature(cls.__init__).parameters}
    assert set(given) <= taken


ROW = {
    "id": "A-1",
    "question": "Is there a bridge?",
    "choices": [],
    "options": [],
    "gold": ["ANSWER"],
    "cluster": "scene",
    "modality": "scene",
    "set": "A",
    "verdict": "ANSWER",
    "category": "NONE",
    "intensity": "none",
}


def rows_of(*rows):
    from datasets import Dataset, Features, List, Value

    text, texts = Value("string"), List(Value("string"))
    features = {name: texts if isinstance(value, list) else text for name, value in ROW.items()}
    features["images"] = List({"bytes": Value("binary"), "path": Value("string")})
    return Dataset.from_list([{**ROW, "images": [picture(PNG)], **row} for row in rows], features=Features(features))


def picture(content, path=None):
    return {"bytes": content, "path": path}


def encoded(kind, mode="RGB"):
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 50).convert(mode).save(buffer, kind)
    return buffer.getvalue()


PNG, JPEG = encoded("PNG"), encoded("JPEG")


def test_sound_rows_pass():
    rows = rows_of({}, {"id": "A-2", "images": [picture(JPEG)]})
    assert process_docs("georefusal", rows)["task"] == ["georefusal", "georefusal"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"images": []}, "column 'images' is empty"),
        ({"images": [picture(None)]}, "cannot be opened whole"),
        ({"images": [picture(b"no picture")]}, "cannot be opened whole"),
        ({"images": [picture(None, "/none.png")]}, "cannot be opened whole"),
        ({"images": [picture(PNG[: len(PNG) // 2])]}, "cannot be opened whole"),
        ({"images": [picture(PNG[:200] + b"xxxx" + PNG[204:])]}, "cannot be opened whole"),
        ({"images": [picture(JPEG[: len(JPEG) // 2])]}, "cannot be opened whole"),
        ({"images": [picture(encoded("PNG", "I;16"))]}, "not 8 bits a channel"),
        ({"gold": []}, "column 'gold' is empty"),
        ({"gold": ["Answer"]}, "unknown verdict"),
        ({"cluster": None}, "column 'cluster' is empty"),
        ({"modality": "image"}, "'modality' has 'image'"),
        ({"id": "A-0"}, "the id occurs more than once"),
    ],
)
def test_a_bad_row_stops_the_run_before_the_first_request(change, says):
    """It would otherwise be found in the middle of a paid run or after it, and lmms-eval then loses the replies."""
    with pytest.raises(DataError) as error:
        process_docs("georefusal", rows_of({"id": "A-0"}, change))
    assert says in str(error.value)
    assert str(change.get("id", "A-1")) in str(error.value)
