"""The bundled SAMPLE: what it promises, and that its generator makes it again."""

import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "geoeval" / "data" / "sample"
STRATA = {
    "lithobench_mcq": ["level", "lithology"],
    "lithobench_open": ["level", "lithology"],
    "georefusal": ["set", "verdict", "category", "intensity", "lever", "follow_up"],
    "forge_workveri": ["scenario", "granularity"],
    "forge_assyveri": ["scenario"],
    "forge_surfinsp": ["scenario", "coordinates"],
    "forge_missing_part": ["scenario"],
    "forge_grounding": ["scenario", "probe"],
}
SETTINGS = {  # what may stand before the question
    **dict.fromkeys(("lithobench_mcq", "lithobench_open", "georefusal", "forge_missing_part"), ()),
    **dict.fromkeys(("forge_workveri", "forge_assyveri", "forge_surfinsp"), ("ref_cond", "icd")),
    "forge_grounding": ("within", "outside"),
}
ROWS = {
    "lithobench_mcq": 60,
    "lithobench_open": 60,
    "georefusal": 83,
    "forge_workveri": 48,
    "forge_assyveri": 24,
    "forge_surfinsp": 30,
    "forge_missing_part": 24,
    "forge_grounding": 24,
}
BENCHMARKS = sorted(ROWS)
ANSWER = "ANSWER"
REFUSALS = [  # in order of precedence
    "REFUSE_FALSE_PREMISE_IN_QUERY",
    "REFUSE_AMBIGUOUS_QUERY",
    "REFUSE_GRANULARITY_MISMATCH",
    "REFUSE_NONFACTUAL_QUERY",
    "REFUSE_INFO_MISSING_IN_CONTEXT",
]
LITHOLOGIES = {
    "AR": "sandstone",
    "BR": "breccia",
    "CR": "carbonate",
    "CG": "conglomerate",
    "CS": "crushed stone",
    "DI": "diorite",
    "GB": "gabbro",
    "GT": "granite",
    "GV": "gravel",
    "SL": "slate",
    "SO": "soil",
    "WA": "water",
}


def read(benchmark, folder=SAMPLE):
    return pq.read_table(folder / f"{benchmark}.parquet").to_pylist()


def png(row):
    return row["images"][0]["bytes"]


def facts(row):
    return {name: value for name, value in row.items() if not name.endswith("images")}


def pixels(row):
    return np.asarray(Image.open(io.BytesIO(png(row))).convert("RGB")).astype(int)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    def make(name):
        out = tmp_path_factory.mktemp(name)
        subprocess.run([sys.executable, "-m", "tools.make_sample", "--out", str(out)], cwd=ROOT, check=True)
        return out

    return make


@pytest.fixture(scope="module")
def again(run):
    return run("again")


def test_again_gives_the_same(run, again):
    """Same bytes as the bundled files; where other library versions made those, same bytes as one more run."""

    def contents(folder):
        return {name: (folder / f"{name}.parquet").read_bytes() for name in BENCHMARKS}

    first = contents(again)
    assert first in (contents(SAMPLE), contents(run("once_more")))


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_bundled_files_are_what_the_generator_makes(benchmark, again):
    bundled, fresh = read(benchmark), read(benchmark, again)
    assert [facts(row) for row in bundled] == [facts(row) for row in fresh]
    for old, new in zip(bundled, fresh, strict=True):
        assert np.abs(pixels(old) - pixels(new)).mean() < 3


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_schema(benchmark):
    schema = pq.read_schema(SAMPLE / f"{benchmark}.parquet")
    strings, image = pa.list_(pa.string()), pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    expected = {
        "id": pa.string(),
        "question": pa.string(),
        "images": pa.list_(image),
        "choices": strings,
        "options": strings,
        "gold": strings,
        "cluster": pa.string(),
        "modality": pa.string(),
        **dict.fromkeys(STRATA[benchmark], pa.string()),
    }
    for name in SETTINGS[benchmark]:
        expected |= {name: pa.string(), f"{name}_images": pa.list_(image)}
    assert {field.name: field.type for field in schema} == expected
    assert list(schema.names) == list(expected)
    about = json.loads(schema.metadata[b"geoeval"])
    assert about == {"source": "SAMPLE", "benchmark": benchmark, "generator": "1"}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_hugging_face_decodes_the_pictures(benchmark, tmp_path):
    datasets = pytest.importorskip("datasets")
    file = str(SAMPLE / f"{benchmark}.parquet")
    rows = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=str(tmp_path))
    for column in ("images", *(f"{name}_images" for name in SETTINGS[benchmark])):
        assert all(isinstance(picture, Image.Image) for picture in rows[0][column])
    assert rows[0]["images"]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_rows(benchmark):
    rows = read(benchmark)
    assert len(rows) == len({row["id"] for row in rows}) == ROWS[benchmark]
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    for row in rows:
        assert all(row[name] for name in ("question", "gold", "cluster", "modality", *STRATA[benchmark]))
        assert row["images"][0]["path"] == f"{row['id']}.png"
        assert row["question"].endswith("?") or benchmark == "lithobench_open", row["question"]
        assert len(row["options"]) in (0, len(row["choices"]))
        assert pixels(row).std() > 10
    assert len({(png(row), row["question"]) for row in rows}) == len(rows)


def test_total_size():
    assert sum((SAMPLE / f"{name}.parquet").stat().st_size for name in BENCHMARKS) < 6e6


def test_lithobench_covers_every_level_and_surface_once():
    rows = read("lithobench_open")
    levels = ("ID", "Cmp", "Exp", "App", "Rea")
    assert Counter((row["level"], row["lithology"]) for row in rows) == Counter(
        (level, code) for level in levels for code in LITHOLOGIES
    )
    assert all(pixels(row).shape == (224, 224, 3) for row in rows)
    assert {row["modality"] for row in rows} == {"tile"}
    assert all(row["choices"] == row["options"] == [] and len(row["gold"]) == 1 for row in rows)
    tiles = {(row["cluster"], png(row)) for row in rows}
    assert len(tiles) == len({picture for _, picture in tiles}) == 24


def test_lithobench_question_does_not_name_the_surface_and_the_reference_does():
    for row in read("lithobench_open"):
        name = LITHOLOGIES[row["lithology"]]
        (reference,) = row["gold"]
        assert name not in row["question"].lower(), row["question"]
        assert name in reference.lower(), reference
        assert 1 <= reference.count(". ") + 1 <= 3


def test_lithobench_choices_are_about_the_same_tiles():
    rows, others = read("lithobench_mcq"), read("lithobench_open")
    assert {(row["level"], row["lithology"], row["cluster"], png(row)) for row in rows} == {
        (row["level"], row["lithology"], row["cluster"], png(row)) for row in others
    }
    assert len({(row["level"], row["lithology"]) for row in rows}) == 60
    assert not {row["id"] for row in rows} & {row["id"] for row in others}


def test_lithobench_letters_are_balanced():
    rows = read("lithobench_mcq")
    assert all(row["choices"] == list("ABCD") and len(row["gold"]) == 1 for row in rows)
    assert Counter(row["gold"][0] for row in rows) == dict.fromkeys("ABCD", 15)
    assert set(Counter((row["level"], row["gold"][0]) for row in rows).values()) == {3}


def test_lithobench_options_do_not_give_the_answer_away():
    """Four different texts; the right one is neither the longest nor the shortest more often than chance."""
    longest = shortest = 0
    for row in read("lithobench_mcq"):
        assert len({text.lower() for text in row["options"]}) == 4
        lengths = [len(text) for text in row["options"]]
        right = lengths.pop("ABCD".index(row["gold"][0]))
        longest, shortest = longest + (right > max(lengths)), shortest + (right < min(lengths))
    assert max(longest, shortest) <= 15


def test_lithobench_identification_offers_look_alikes():
    """The surface is named by one option only, the right one, and the question does not name it."""
    for row in read("lithobench_mcq"):
        name = LITHOLOGIES[row["lithology"]]
        assert name not in row["question"].lower(), row["question"]
        if row["level"] == "ID":
            named = [k for k, text in enumerate(row["options"]) if text.lower().removesuffix(" rock") == name]
            assert named == ["ABCD".index(row["gold"][0])]
            assert {text.lower().removesuffix(" rock") for text in row["options"]} <= set(LITHOLOGIES.values())


def test_georefusal_follow_up():
    (row,) = [row for row in read("georefusal") if row["follow_up"] != "no"]
    assert (row["follow_up"], row["set"], row["intensity"], row["gold"]) == ("yes", "B", "low", [ANSWER])
    assert "? If so, " in row["question"]


def test_georefusal_labels():
    rows = read("georefusal")
    for row in rows:
        assert row["choices"] == []
        assert row["verdict"] == row["gold"][0]
        assert row["gold"] == [ANSWER] or row["gold"] == sorted(row["gold"], key=REFUSALS.index)
        assert (row["category"] == "NONE") == (row["intensity"] == "none") == (row["lever"] == "none")
        assert row["category"] == "NONE" or row["gold"] == [ANSWER] or row["category"] in row["gold"]
        assert row["id"].startswith(f"{row['set']}-")
    assert {row["verdict"] for row in rows} == {ANSWER, *REFUSALS}
    assert {row["set"] for row in rows} == set("ABC")
    perturbed = {(row["category"], row["intensity"]) for row in rows if row["category"] != "NONE"}
    assert perturbed == {(code, level) for code in REFUSALS for level in ("low", "medium", "high")}
    assert 0.45 < np.mean([row["gold"] == [ANSWER] for row in rows]) < 0.55
    assert sum(len(row["gold"]) > 1 for row in rows) >= 5


def test_georefusal_levers_on_the_picture_change_it():
    rows = read("georefusal")
    clean = {row["cluster"]: png(row) for row in rows if row["lever"] == "none"}
    on_picture = {"blackout", "cloud", "saturate", "truncate", "drop_channels", "downsample"}
    touched = [row for row in rows if row["lever"] in on_picture]
    assert {row["lever"] for row in touched} == on_picture
    assert all(png(row) != clean[row["cluster"]] for row in touched)


def test_forge_is_balanced():
    rows = read("forge_workveri")
    cells = Counter((row["modality"], row["scenario"], row["granularity"], row["gold"][0]) for row in rows)
    assert len(cells) == 2 * 3 * 2 * 4
    assert set(cells.values()) == {1}
    assert all(row["choices"] == list("ABCD") and len(row["gold"]) == 1 for row in rows)
    assert len({png(row) for row in rows}) == len(rows)


@pytest.mark.parametrize("modality", ["photo", "three_view"])
def test_forge_question_says_where_the_parts_are(modality):
    for row in read("forge_workveri"):
        if row["modality"] == modality:
            assert all(f"({letter})" in row["question"] for letter in "ABCD") == (modality == "photo")
            height, width, _ = pixels(row).shape
            assert (width > 2 * height) == (modality == "three_view")


FORGE = [name for name in ROWS if name.startswith("forge")]


@pytest.mark.parametrize("benchmark", FORGE)
def test_forge_context_has_a_place_for_every_picture(benchmark):
    for row in read(benchmark):
        for name in SETTINGS[benchmark]:
            assert row[name].count("<image>") == len(row[f"{name}_images"])


@pytest.mark.parametrize("benchmark", FORGE)
def test_forge_context_is_of_no_item(benchmark):
    """What stands before a question has pictures of its own, not those of any item."""
    rows = read(benchmark)
    items = {picture["bytes"] for row in rows for picture in row["images"]}
    shown = {picture["bytes"] for row in rows for name in SETTINGS[benchmark] for picture in row[f"{name}_images"]}
    assert not items & shown


@pytest.mark.parametrize("benchmark", FORGE)
def test_forge_gold_is_offered(benchmark):
    for row in read(benchmark):
        offered = [*row["choices"], *(["NORMAL"] if benchmark == "forge_surfinsp" else [])]
        assert len(row["gold"]) == 1
        assert row["gold"][0] in offered
        assert len(set(offered)) == len(offered)


@pytest.mark.parametrize(
    ("benchmark", "columns", "cells", "each"),
    [
        ("forge_assyveri", ("modality", "scenario"), 2 * 4, 3),
        ("forge_surfinsp", ("scenario", "gold"), 3 * 5, 2),
        ("forge_missing_part", ("modality", "scenario"), 2 * 3, 4),
        ("forge_grounding", ("probe", "scenario"), 4 * 3, 2),
    ],
)
def test_forge_cells(benchmark, columns, cells, each):
    counts = Counter(tuple(str(row[column]) for column in columns) for row in read(benchmark))
    assert len(counts) == cells
    assert set(counts.values()) == {each}


@pytest.mark.parametrize(("scenario", "options"), [("MES", 6), ("PES", 3), ("CNC", 5)])
def test_forge_missing_part_offers_as_many_options_as_published(scenario, options):
    rows = [row for row in read("forge_missing_part") if row["scenario"] == scenario]
    assert {len(set(row["options"])) for row in rows} == {options}
    assert {tuple(row["choices"]) for row in rows} == {tuple("ABCDEF"[:options])}


def test_forge_grounding_offers_six():
    for row in read("forge_grounding"):
        assert len(row["choices"]) == 6
        assert len(row["images"]) == 1 + row["probe"].startswith("cross")
        if row["probe"].endswith("coordinate"):
            pairs = [json.loads(choice) for choice in row["choices"]]
            assert all(0 < value < 1 for pair in pairs for value in pair)


def test_forge_defects_show_in_the_picture():
    """The five pictures of a part differ, and a deformed part in its outline too."""
    for cluster in {row["cluster"] for row in read("forge_surfinsp")}:
        rows = [row for row in read("forge_surfinsp") if row["cluster"] == cluster]
        assert len({png(row) for row in rows}) == len({row["gold"][0] for row in rows}) == 5


def test_forge_text_channel():
    for row in read("forge_surfinsp"):
        triples = json.loads(f"[{row['coordinates'].split(': ', 1)[1]}]")
        assert len(triples) == 120
        assert all(len(triple) == 3 and all(0 <= value <= 1 for value in triple) for triple in triples)
