"""Every FORGE task through the whole harness: right answers reach the maximum, pictures stand in reading order."""

import io
import json
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

from lmms_eval.api.task import ConfigurableTask
from lmms_eval.utils import load_yaml_config
from PIL import Image
from runs import evaluate

from geoeval.benchmarks import get_benchmark
from geoeval.benchmarks.base import QUESTION_FOLLOWS
from geoeval.benchmarks.forge import TASKS as BENCHMARKS
from geoeval.data import DataError, locate
from geoeval.harness.lmms_eval.adapter import process_docs
from geoeval.harness.lmms_eval.plugin import tasks_dir

TASKS = tuple(benchmark.name for benchmark in BENCHMARKS)
WITH_PICTURES_BEFORE = [b.name for b in BENCHMARKS if b.setting and b.setting != "coordinates"]
N = {  # items of each task in the sample
    **{f"forge_workveri{modality}": n for modality, n in (("", 48), ("_image", 24), ("_three_view", 24))},
    **{f"forge_assyveri{modality}": n for modality, n in (("", 24), ("_image", 12), ("_three_view", 12))},
    **{f"forge_surfinsp{modality}": 30 for modality in ("", "_three_view", "_text")},
    "forge_missing_part_image": 12,
    "forge_missing_part_three_view": 12,
    **{
        f"forge_grounding_{probe}": 6
        for probe in ("letter_to_coordinate", "coordinate_to_letter", "cross_letter", "cross_coordinate")
    },
}
SETTINGS = ("_ref_cond", "_icd", "_within", "_outside")


def zero_shot(task: str) -> str:
    return next((task.removesuffix(setting) for setting in SETTINGS if task.endswith(setting)), task)


def test_the_tasks_are_those_of_the_issue():
    three = [f"{task}{m}{s}" for task in ("forge_workveri", "forge_assyveri") for m in ("", "_image", "_three_view")
             for s in ("", "_ref_cond", "_icd")]  # fmt: skip
    inspection = [f"forge_surfinsp{m}{s}" for m in ("", "_three_view") for s in ("", "_ref_cond", "_icd")]
    probes = [f"forge_grounding_{probe}{s}" for probe in ("letter_to_coordinate", "coordinate_to_letter")
              for s in ("", "_within", "_outside")]  # fmt: skip
    others = ["forge_surfinsp_text", "forge_missing_part_image", "forge_missing_part_three_view",
              "forge_grounding_cross_letter", "forge_grounding_cross_coordinate"]  # fmt: skip
    assert sorted(TASKS) == sorted(three + inspection + probes + others)


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    """All tasks in one run, answered right."""
    run = evaluate(tmp_path_factory.mktemp("gold"), "strategy=gold", tasks=TASKS)
    assert run.status == 0, run.output[-4000:]
    return run


@pytest.fixture(scope="module")
def groups(tmp_path_factory):
    run = evaluate(tmp_path_factory.mktemp("groups"), "strategy=gold", tasks=("forge", "forge_grounding"))
    assert run.status == 0, run.output[-4000:]
    return run


@pytest.mark.parametrize("task", TASKS)
def test_right_answers_reach_the_maximum(gold, task):
    benchmark = get_benchmark(task)
    for metric in ("coverage", *benchmark.rates, *benchmark.composites):
        if metric != "accuracy_first_letter":  # "Answer: B" is read as "A" by that policy
            assert gold.value(task, metric) == 1, metric
    assert len(gold.samples(task)) == N[zero_shot(task)]


@pytest.mark.parametrize(
    ("task", "baseline"),
    [
        ("forge_workveri", 1 / 4),
        ("forge_surfinsp", 1 / 5),
        ("forge_surfinsp_text", 1 / 5),
        # Six, three and five options: the mean that the paper gives as 23.3 %.
        ("forge_missing_part_image", (1 / 6 + 1 / 3 + 1 / 5) / 3),
        ("forge_missing_part_three_view", (1 / 6 + 1 / 3 + 1 / 5) / 3),
        ("forge_grounding_letter_to_coordinate", 1 / 6),
        ("forge_grounding_coordinate_to_letter_within", 1 / 6),
        ("forge_grounding_cross_letter", 1 / 6),
        ("forge_grounding_cross_coordinate", 1 / 6),
        # Assemblies of 5, 3, 5 and 4 parts, of which one item in three has one part more.
        ("forge_assyveri_image", (4 / 5 + 2 / 6 + 2 / 3 + 1 / 4 + 2 / 4 + 1 / 5) / 12),
    ],
)
def test_random_baseline_is_the_mean_of_one_over_options(gold, task, baseline):
    assert gold.value(task, "random_baseline") == pytest.approx(baseline, abs=1e-12)


def test_groups_run_and_average_as_published(groups):
    """The paper's "average" of the probes is their unweighted mean; other groups have no overall number."""
    assert groups.value("forge_grounding", "accuracy") == 1
    assert "accuracy,none" not in groups.results.get("forge", {})
    saved = json.loads(groups.results_file.read_text(encoding="utf-8"))
    assert sorted(saved["group_subtasks"]["forge"]) == [
        "forge_assyveri",
        "forge_missing_part_image",
        "forge_missing_part_three_view",
        "forge_surfinsp",
        "forge_workveri",
    ]
    assert len(saved["group_subtasks"]["forge_grounding"]) == 4


@pytest.fixture
def documents(monkeypatch):
    """A task as the harness builds it."""
    monkeypatch.setenv("GEOEVAL_DATA", "sample")

    def build(name):
        (path,) = tasks_dir().rglob(f"{name}.yaml")
        return ConfigurableTask(config=load_yaml_config(str(path)), model_name="geoeval_baseline")

    return build


def pixels(image):
    return image.size, image.tobytes()


def stored(pictures):
    return [pixels(Image.open(io.BytesIO(picture["bytes"])).convert("RGB")) for picture in pictures]


@pytest.mark.parametrize("task", WITH_PICTURES_BEFORE)
def test_pictures_and_captions_stand_in_reading_order(documents, task):
    """Text, picture, text, ... exactly as the column has them; then the question with its own pictures."""
    setting = get_benchmark(task).setting
    built = documents(task)
    for doc in built.eval_docs:
        (message,) = built.config.doc_to_messages(doc)
        content = message["content"]
        border = content.index({"type": "text", "text": QUESTION_FOLLOWS})
        before, after = content[:border], content[border + 1 :]
        texts = [text.strip() for text in doc[setting].split("<image>")]
        spoken = iter(part["text"] for part in before if part["type"] == "text")
        assert list(spoken) == [text for text in texts if text]
        assert [part["type"] for part in before] == ["text"] + ["image", "text"] * len(doc[f"{setting}_images"])
        shown = [pixels(part["url"]) for part in before if part["type"] == "image"]
        assert shown == stored(doc[f"{setting}_images"])
        assert [pixels(part["url"]) for part in after[:-1]] == stored(doc["images"])
        assert [pixels(image) for image in built.doc_to_visual(doc)] == shown + stored(doc["images"])
        assert doc["question"] in after[-1]["text"]
        flat = built.doc_to_text({k: v for k, v in doc.items() if not k.endswith("images")})
        assert flat.index(QUESTION_FOLLOWS) > flat.index(f"[picture {len(shown)}]")
        assert flat.endswith(after[-1]["text"])


@pytest.mark.parametrize("task", WITH_PICTURES_BEFORE)
def test_the_question_is_never_among_its_demonstrations(documents, task):
    """Nor is any other item of the evaluation: the sample draws them from pictures of their own."""
    built = documents(task)
    setting = get_benchmark(task).setting
    asked = {pixels for doc in built.eval_docs for pixels in stored(doc["images"])}
    for doc in built.eval_docs:
        assert not set(stored(doc[f"{setting}_images"])) & asked
        assert doc["id"] not in doc[setting]


@pytest.mark.parametrize("task", WITH_PICTURES_BEFORE)
def test_no_picture_reaches_scoring(documents, task):
    """Else each picture would be read again for each reply."""
    features = documents(task).eval_docs_no_media.features
    assert not [name for name in features if name.endswith("images")]


def test_zero_shot_does_not_carry_the_pictures_of_other_settings(documents):
    assert [name for name in documents("forge_workveri").eval_docs.features if name.endswith("images")] == ["images"]


def test_the_text_control_has_coordinates_and_no_picture(documents):
    built = documents("forge_surfinsp_text")
    for doc in built.eval_docs:
        (message,) = built.config.doc_to_messages(doc)
        assert {part["type"] for part in message["content"]} == {"text"}
        assert message["content"][0]["text"] == doc["coordinates"]
        assert built.doc_to_visual(doc) == []
        assert built.doc_to_text(doc).startswith(doc["coordinates"])


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("icd", "", "icd has 0 times <image> and 2 pictures"),
        ("icd", "One <image>", "icd has 1 times <image> and 2 pictures"),
        (
            "icd_images",
            [{"bytes": b"no picture", "path": None}] * 2,
            "60 things .* 'icd_images' cannot be opened whole",
        ),
    ],
)
def test_a_setting_that_cannot_be_shown_stops_the_run(column, value, says):
    """Never a silent zero-shot run under the name of a setting."""
    from datasets import Image, List, load_dataset

    file = str(locate("forge_surfinsp", "sample").path)
    dataset = load_dataset("parquet", data_files={"test": file}, split="test")
    dataset = dataset.cast_column("icd_images", List(Image(decode=False)))
    feature, values = dataset.features[column], [value] * len(dataset)
    dataset = dataset.remove_columns(column).add_column(column, values, feature=feature)
    with pytest.raises(DataError, match=says):
        process_docs("forge_surfinsp_icd", dataset)


def test_sample_files_stay_small():
    folder = Path(locate("forge_workveri", "sample").path).parent
    assert sum(path.stat().st_size for path in folder.glob("*.parquet")) < 6e6
