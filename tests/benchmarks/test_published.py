"""Published results: every cell of every table, under the right task, metric and scale."""

import csv
from collections import Counter
from pathlib import Path

import pytest

import geoeval.benchmarks.published as published_module
from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.benchmarks.published import SECOND_NAMES, TABLES, published_results, published_tasks
from geoeval.metrics.overlap import open_score

FOLDER = Path(published_module.__file__).parent
REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference"
LEVELS = ("id", "cmp", "exp", "app", "rea")
PROBES = ("coordinate_to_letter", "letter_to_coordinate", "cross_letter", "cross_coordinate")


def table(name):
    with open(FOLDER / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def values(task, metric):
    return {(row.model, row.setting): row.value for row in published_results(task) if row.metric == metric}


def one(task, model, metric="accuracy", setting="zero_shot"):
    (row,) = [r for r in published_results(task) if (r.model, r.metric, r.setting) == (model, metric, setting)]
    return row


@pytest.mark.parametrize(
    ("task", "model", "metric", "setting", "value"),
    [
        ("lithobench_mcq_id", "Kimi-K2.5", "accuracy", "zero_shot", 0.7588),
        ("lithobench_mcq_rea", "Claude-Sonnet-4.6", "accuracy", "zero_shot", 0.9513),
        ("lithobench_mcq", "Qwen3.5-9B", "accuracy_mean_of_levels", "lora_ft", 0.9825),
        ("lithobench_mcq", "Qwen3.5-9B", "accuracy_mean_of_levels", "zero_shot", 0.8398),
        ("lithobench_open", "GPT-5.4", "open_score", "zero_shot", 1.6512),
        ("lithobench_open", "GPT-5.4", "rouge_l", "zero_shot", 0.2231),
        ("lithobench_open", "GPT-5.4", "bleu_4", "zero_shot", 0.0782),
        ("lithobench_open", "GPT-5.4", "open_score_with_judge", "zero_shot", 4.6317),
        ("forge_workveri_image", "GPT-5", "accuracy", "zero_shot", 0.747),
        ("forge_workveri_image_ref_cond", "GPT-5", "accuracy", "ref_cond", 0.642),
        ("forge_workveri_three_view_icd", "GPT-5", "accuracy", "icd", 0.565),
        ("forge_surfinsp", "GPT-5", "accuracy", "zero_shot", 0.22),
        ("forge_surfinsp_three_view_icd", "GPT-5", "accuracy", "icd", 0.383),
        ("forge_assyveri_image_icd", "Mistral-3-8B", "accuracy", "icd", 0.303),
        ("forge_assyveri_three_view_ref_cond", "Mistral-3-8B", "accuracy", "ref_cond", 0.184),
        ("forge_grounding_coordinate_to_letter", "Seed-1.6", "accuracy", "zero_shot", 0.42),
        ("forge_grounding_letter_to_coordinate", "Seed-1.6", "accuracy", "zero_shot", 0.992),
        ("forge_grounding_cross_letter", "Seed-1.6", "accuracy", "zero_shot", 0.793),
        ("forge_grounding_cross_coordinate", "Seed-1.6", "accuracy", "zero_shot", 0.712),
        ("forge_grounding", "Seed-1.6", "accuracy", "zero_shot", 0.729),
        ("forge_missing_part_image", "Mistral-3-8B", "accuracy", "zero_shot", 0.272),
        ("forge_surfinsp_text", "Gemini-3-Flash", "accuracy", "zero_shot", 0.226),
    ],
)
def test_values_copied_by_eye(task, model, metric, setting, value):
    assert one(task, model, metric, setting).value == value


@pytest.mark.parametrize("name", ["lithobench_results.csv", "forge_results.csv", "forge_grounding.csv"])
def test_tables_are_as_published(name):
    if not REFERENCE.is_dir():
        pytest.skip("no folder with the reference tables beside the repository")
    assert (FOLDER / name).read_text(encoding="utf-8") == (REFERENCE / name).read_text(encoding="utf-8")


def test_every_cell_is_reached_exactly_once():
    cells = Counter()
    for source in TABLES:
        for line in table(source.file):
            assert set(line) == {"model", *source.columns}
            cells.update(
                round(float(cell) / source.unit, 6) for column, cell in line.items() if column != "model" and cell
            )
    tasks = [*(name for name in benchmark_names() if name not in SECOND_NAMES), "forge_grounding"]
    rows = [row for task in tasks for row in published_results(task)]
    assert Counter(row.value for row in rows) == cells
    assert len(rows) == 14 * 10 + 18 * 15 + 5 * 5 + 6
    assert set(published_tasks()) <= set(tasks)


@pytest.mark.parametrize("task", published_tasks())
def test_rows_can_be_compared_with_ours(task):
    rows = published_results(task)
    assert len({(row.model, row.setting, row.metric) for row in rows}) == len(rows)
    for row in rows:
        assert 0 <= row.value <= (10 if "score" in row.metric else 1)
        assert row.source
        if task != "forge_grounding" and row.metric != "open_score_with_judge":
            assert row.metric in get_benchmark(task).metric_names
        if task.startswith("forge") and task != "forge_surfinsp_text":
            setting = get_benchmark(task).setting if task in benchmark_names() else ""
            assert row.setting == (setting or "zero_shot")


def test_second_names_have_the_same_rows():
    for second, first in SECOND_NAMES.items():
        assert (get_benchmark(second).dataset, get_benchmark(second).setting) == (
            get_benchmark(first).dataset,
            get_benchmark(first).setting,
        )
        assert published_results(second) == published_results(first) != ()


@pytest.mark.parametrize("key", values("lithobench_open", "open_score"))
def test_open_score_is_made_of_rouge_and_bleu(key):
    rouge, bleu, score = (values("lithobench_open", metric)[key] for metric in ("rouge_l", "bleu_4", "open_score"))
    assert open_score(rouge, bleu) == pytest.approx(score, abs=3e-4)


@pytest.mark.parametrize("key", values("lithobench_mcq", "accuracy_mean_of_levels"))
def test_overall_mcq_is_the_mean_of_the_levels(key):
    levels = [values(f"lithobench_mcq_{level}", "accuracy")[key] for level in LEVELS]
    assert sum(levels) / 5 == pytest.approx(values("lithobench_mcq", "accuracy_mean_of_levels")[key], abs=1e-4)


@pytest.mark.parametrize("key", values("forge_grounding", "accuracy"))
def test_grounding_average_is_the_mean_of_the_probes(key):
    probes = [values(f"forge_grounding_{probe}", "accuracy")[key] for probe in PROBES]
    assert sum(probes) / 4 == pytest.approx(values("forge_grounding", "accuracy")[key], abs=6e-4)


def test_the_two_denominators_of_forge_are_told():
    conflicts = [(task, row) for task in published_tasks() for row in published_results(task) if row.conflict]
    ((task, row),) = conflicts
    assert (task, row.model, row.value) == ("forge_workveri_three_view", "Kimi-K2.5", round(96 / 496, 3))
    assert "19.4" in row.note
    assert "50.0" in row.note
    doubtful = {
        task for task in published_tasks() if any("two denominators" in r.note for r in published_results(task))
    }
    assert doubtful == {
        f"forge_{task}_three_view{setting}"
        for task in ("workveri", "assyveri")
        for setting in ("", "_ref_cond", "_icd")
    }


def test_what_was_not_checked_against_the_paper_says_so():
    assert all("not checked" in row.note for row in published_results("forge_missing_part_image"))
    assert "not checked" in one("forge_surfinsp_text", "Gemini-3-Flash").note


def test_every_note_is_used():
    columns = {column for source in TABLES for column in source.columns}
    models = {line["model"] for source in TABLES for line in table(source.file)} | {""}
    for line in table("notes.csv"):
        assert line["column"] in columns
        assert line["model"] in models
        assert line["conflict"] in ("yes", "no")


@pytest.mark.parametrize("task", ["forge_workveri", "georefusal", "lithobench_open_id", "no_such_task"])
def test_nothing_is_made_up_where_nothing_is_published(task):
    assert published_results(task) == ()
