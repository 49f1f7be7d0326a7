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
    "lithobench_open": ["level", "lithology"],
    "georefusal": ["set", "verdict", "category", "intensity", "lever"],
    "forge_workveri": ["scenario", "granularity"],
}
ROWS = {"lithobench_open": 60, "georefusal": 83, "forge_workveri": 48}
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
    (picture,) = row["images"]
    return picture["bytes"]


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
    assert [{**row, "images": None} for row in bundled] == [{**row, "images": None} for row in fresh]
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
    assert {field.name: field.type for field in schema} == expected
    assert list(schema.names) == list(expected)
    about = json.loads(schema.metadata[b"geoeval"])
    assert about == {"source": "SAMPLE", "benchmark": benchmark, "generator": "1"}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_hugging_face_decodes_the_pictures(benchmark, tmp_path):
    datasets = pytest.importorskip("datasets")
    file = str(SAMPLE / f"{benchmark}.parquet")
    rows = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=str(tmp_path))
    (picture,) = rows[0]["images"]
    assert isinstance(picture, Image.Image)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_rows(benchmark):
    rows = read(benchmark)
    assert len(rows) == len({row["id"] for row in rows}) == ROWS[benchmark]
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    for row in rows:
        assert all(row[name] for name in ("question", "gold", "cluster", "modality", *STRATA[benchmark]))
        assert row["images"][0]["path"] == f"{row['id']}.png"
        assert row["question"].endswith("?") or benchmark == "lithobench_open"
        assert row["options"] == []
        assert pixels(row).std() > 10
    assert len({(png(row), row["question"]) for row in rows}) == len(rows)


def test_total_size():
    assert sum((SAMPLE / f"{name}.parquet").stat().st_size for name in BENCHMARKS) < 3e6


def test_lithobench_covers_every_level_and_surface_once():
    rows = read("lithobench_open")
    levels = ("ID", "Cmp", "Exp", "App", "Rea")
    assert Counter((row["level"], row["lithology"]) for row in rows) == Counter(
        (level, code) for level in levels for code in LITHOLOGIES
    )
    assert all(pixels(row).shape == (224, 224, 3) for row in rows)
    assert {row["modality"] for row in rows} == {"tile"}
    assert all(row["choices"] == [] and len(row["gold"]) == 1 for row in rows)
    tiles = {(row["cluster"], png(row)) for row in rows}
    assert len(tiles) == len({picture for _, picture in tiles}) == 24


def test_lithobench_question_does_not_name_the_surface_and_the_reference_does():
    for row in read("lithobench_open"):
        name = LITHOLOGIES[row["lithology"]]
        (reference,) = row["gold"]
        assert name not in row["question"].lower(), row["question"]
        assert name in reference.lower(), reference
        assert 1 <= reference.count(". ") + 1 <= 3


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
