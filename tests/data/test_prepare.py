"""Any local copy of a release -> the canonical files: the same rows whatever the format, and whole or not at all."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from releases import DATASETS, FORMATS, IMAGE, SETTINGS, canonical, export, georefusal_release

from geoeval.data import DataError
from geoeval.data.prepare import prepare
from geoeval.data.schema import benchmark_of, settings_of


def rows_of(path):
    hidden = {*SETTINGS, *(f"{name}_images" for name in SETTINGS)}
    return [{n: v for n, v in row.items() if n not in hidden} for row in pq.read_table(path).to_pylist()]


def prepared(benchmark, source, to, **changes):
    written, problems = prepare(benchmark, source, to, **changes)
    assert problems == []
    return {p.dataset: p for p in written}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dataset", DATASETS)
def test_a_copy_in_any_format_gives_the_same_rows(tmp_path, dataset, form):
    if form == "save_to_disk":
        pytest.importorskip("datasets")
    done = prepared(benchmark_of(dataset), export(dataset, tmp_path / "copy", form), tmp_path / "out")
    assert rows_of(done[dataset].path) == canonical(dataset)


@pytest.mark.parametrize("form", ["json", "by set", "files by set", "csv", "card"])
def test_georefusal_is_joined_from_its_three_configs(tmp_path, form):
    done = prepared("georefusal", georefusal_release(tmp_path / "copy", form), tmp_path / "out")
    found = sorted(rows_of(done["georefusal"].path), key=lambda row: row["id"])
    assert found == sorted(canonical("georefusal"), key=lambda row: row["id"])


def test_pictures_are_found_by_pattern_where_no_column_holds_them(tmp_path):
    folder = georefusal_release(tmp_path / "copy")
    cases = json.loads((folder / "cases.json").read_text())
    (folder / "cases.json").write_text(json.dumps([{k: v for k, v in c.items() if k != "image"} for c in cases]))
    done = prepared("georefusal", folder, tmp_path / "out")
    assert rows_of(done["georefusal"].path) == canonical("georefusal")


def test_nothing_of_provenance_but_the_base_question_is_kept(tmp_path):
    folder = georefusal_release(tmp_path / "copy")
    entries = json.loads((folder / "provenance.json").read_text())
    (folder / "provenance.json").write_text(json.dumps([{**e, "operator": "CANARY", "gsd": "CANARY"} for e in entries]))
    path = prepared("georefusal", folder, tmp_path / "out")["georefusal"].path
    assert "CANARY" not in json.dumps(pq.read_table(path).drop(["images"]).to_pylist())
    assert b"CANARY" not in path.read_bytes()


def test_accepted_verdicts_are_put_in_order_of_precedence(tmp_path):
    rows = canonical("georefusal")
    several = next(row for row in rows if len(row["gold"]) > 1)
    copy = [{**row, "gold": row["gold"][::-1]} for row in rows]
    done = prepared("georefusal", georefusal_release(tmp_path / "copy", rows=copy), tmp_path / "out")
    found = {row["id"]: row for row in rows_of(done["georefusal"].path)}[several["id"]]
    assert (found["gold"], found["verdict"]) == (several["gold"], several["gold"][0])


def test_duplicates_share_a_cluster_and_tie_those_of_their_base_questions(tmp_path):
    rows = canonical("georefusal")
    one, other = rows[0], next(row for row in rows if row["cluster"] != rows[0]["cluster"])
    twin = {**one, "id": "A-twin", "cluster": other["cluster"]}
    done = prepared("georefusal", georefusal_release(tmp_path / "copy", rows=[*rows, twin]), tmp_path / "out")
    clusters = {row["id"]: row["cluster"] for row in rows_of(done["georefusal"].path)}
    assert len({clusters[row["id"]] for row in (one, twin, other)}) == 1
    apart = {row["cluster"] for row in rows} - {one["cluster"], other["cluster"]}
    assert set(clusters.values()) == apart | {clusters[one["id"]]}


def test_without_provenance_the_picture_is_the_cluster(tmp_path):
    folder = georefusal_release(tmp_path / "copy")
    (folder / "provenance.json").unlink()
    rows = rows_of(prepared("georefusal", folder, tmp_path / "out")["georefusal"].path)
    pictures = {}
    for row in rows:
        pictures.setdefault(row["images"][0]["bytes"], set()).add(row["cluster"])
    assert all(len(clusters) == 1 for clusters in pictures.values())
    assert len({c for clusters in pictures.values() for c in clusters}) == len(pictures)


def edit(file, change):
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


BROKEN = {
    "case without label": ("labels.json", lambda rows: rows.pop(), r"row 'A-[0-9a-f]+' of set A has no label"),
    "label without case": ("cases.json", lambda rows: rows.pop(), "1 labels have no case"),
    "label twice": ("labels.json", lambda rows: rows.append(rows[0]), "labels has row '.*' of set . twice"),
    "case twice": ("cases.json", lambda rows: rows.append(rows[0]), "is there twice"),
    "no such picture": (
        "cases.json",
        lambda rows: rows[3].update(image="gone.png"),
        "column 'images': no picture file 'gone",
    ),
    "picture outside": (
        "cases.json",
        lambda rows: rows[3].update(image="../secret.png"),
        r"column 'images': the picture \.\./secret.png lies outside",
    ),
    "picture is an address": ("cases.json", lambda rows: rows[3].update(image="https://x.org/a.png"), "fetch it first"),
    "unknown verdict": ("labels.json", lambda rows: rows[3].update(gold="MAYBE"), "'MAYBE'.* unknown verdict"),
    "no gold": ("labels.json", lambda rows: rows[3].update(gold=[]), "column 'gold' is empty"),
    "unknown intensity": (
        "labels.json",
        lambda rows: rows[3].update(intensity="mild"),
        r"'mild'; allowed: low, medium, high, none(.|\n)*values:\n  intensity:\n    ONE_OF_THE_ALLOWED: \['mild'\]",
    ),
    "no question": ("cases.json", lambda rows: rows[3].update(question=" "), "column 'question' is empty"),
}


@pytest.mark.parametrize(("file", "change", "says"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_named_and_nothing_is_left_behind(tmp_path, file, change, says):
    folder = georefusal_release(tmp_path / "copy")
    (tmp_path / "secret.png").write_bytes(canonical("georefusal")[0]["images"][0]["bytes"])
    edit(folder / file, change)
    out = tmp_path / "out"
    out.mkdir()
    (out / "georefusal.parquet").write_bytes(b"what was there before")
    written, problems = prepare("georefusal", folder, out)
    assert not written
    (problem,) = problems
    assert re.search(says, problem), problem
    assert [path.name for path in out.iterdir()] == ["georefusal.parquet"]
    assert (out / "georefusal.parquet").read_bytes() == b"what was there before"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cases.json", b'[{"id": "A-1", "question": "q"}, {"id": "A-2", "que'),
        ("cases.json", b"\xff\xfe\x00"),
        ("cases.json", b'"text"'),
        ("cases.json", b"[1, 2]"),
        ("cases.jsonl", b'{"id": "A-1"}\n{"id": \n'),
        ("cases.csv", b"id,question\nA-1\n"),
        ("cases.parquet", b"PAR1 and then nothing"),
        ("cases.arrow", b"nothing"),
        ("cases.json", b""),
    ],
)
def test_a_broken_table_is_named(tmp_path, name, content):
    folder = georefusal_release(tmp_path / "copy")
    (folder / "cases.json").unlink()
    (folder / name).write_bytes(content)
    written, problems = prepare("georefusal", folder, tmp_path / "out")
    assert not written
    assert str(folder / name) in problems[0]


@pytest.mark.parametrize("content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n"])
def test_a_broken_picture_is_named_with_its_row(tmp_path, content):
    folder = georefusal_release(tmp_path / "copy")
    case = json.loads((folder / "cases.json").read_text())[5]
    (folder / case["image"]).write_bytes(content)
    _, (problem,) = prepare("georefusal", folder, tmp_path / "out")
    assert f"row {case['id']!r}: column 'images': no picture" in problem


def test_no_folder_and_no_table(tmp_path):
    with pytest.raises(DataError, match="no folder"):
        prepare("georefusal", tmp_path / "none", tmp_path / "out")
    with pytest.raises(DataError, match="no table here"):
        prepare("georefusal", tmp_path, tmp_path / "out")


def test_ids_of_several_rows_must_differ(tmp_path):
    folder = export("lithobench_open", tmp_path / "copy", "json")
    edit(folder / "lithobench_open" / "test.json", lambda rows: rows.append(rows[0]))
    _, (problem,) = prepare("lithobench", folder, tmp_path / "out")
    assert "occurs twice" in problem


def test_rows_without_id_and_cluster_get_names_made_of_what_is_shown(tmp_path):
    folder = export("lithobench_open", tmp_path / "copy", "json")

    def drop(rows):
        for row in rows:
            del row["Item ID"], row["cluster"]

    edit(folder / "lithobench_open" / "test.json", drop)
    first = rows_of(prepared("lithobench", folder, tmp_path / "one")["lithobench_open"].path)
    edit(folder / "lithobench_open" / "test.json", lambda rows: rows.reverse())
    second = rows_of(prepared("lithobench", folder, tmp_path / "two")["lithobench_open"].path)
    assert first == second[::-1]
    assert len({row["id"] for row in first}) == len(first)
    assert len({row["cluster"] for row in first}) == 24  # the sample has two tiles for each of twelve surfaces


def test_both_kinds_of_lithobench_in_one_file(tmp_path):
    rows = []
    for dataset, kind in (("lithobench_mcq", "MCQ"), ("lithobench_open", "Open-ended")):
        folder = export(dataset, tmp_path / dataset, "json")
        rows += [{**row, "question_type": kind} for row in json.loads((folder / dataset / "test.json").read_text())]
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "data.json").write_text(json.dumps(rows))
    done = prepared("lithobench", tmp_path / "copy", tmp_path / "out")
    for dataset in ("lithobench_mcq", "lithobench_open"):
        assert rows_of(done[dataset].path) == canonical(dataset)


def forge_release(folder, dataset, **configs):
    """Rows of a FORGE dataset by config, as `load_dataset` names them; without the columns that a config implies."""
    for config, modality in configs.items():
        export(dataset, folder / "all", "json")
        rows = json.loads((folder / "all" / dataset / "test.json").read_text())
        (folder / "copy" / config).mkdir(parents=True)
        rows = [
            {k: v for k, v in row.items() if k not in ("modality", "choices", "options")}
            for row in rows
            if row["modality"] == modality
        ]
        for n, row in enumerate(rows):
            row["Item ID"] = n
        (folder / "copy" / config / "train.json").write_text(json.dumps(rows))
        shutil.rmtree(folder / "all")
    return folder / "copy"


def test_forge_configs_say_dataset_modality_and_letters(tmp_path):
    folder = forge_release(tmp_path, "forge_workveri", task1_image="photo", task1_three_view="three_view")
    done = prepared("forge", folder, tmp_path / "out")
    rows = rows_of(done["forge_workveri"].path)
    same = ("question", "gold", "choices", "modality", "scenario", "granularity", "cluster")
    wanted = sorted(canonical("forge_workveri"), key=lambda row: row["modality"])
    assert [[row[name] for name in same] for row in rows] == [[row[name] for name in same] for row in wanted]
    assert rows[0]["id"] == "task1_image-0"
    assert rows[-1]["id"].startswith("task1_three_view-")


def test_an_unknown_config_is_named_and_the_others_are_prepared(tmp_path):
    folder = forge_release(tmp_path, "forge_workveri", task1_image="photo", task9_image="three_view")
    written, (problem,) = prepare("forge", folder, tmp_path / "out")
    assert [p.dataset for p in written] == ["forge_workveri"]
    assert "task9_image" in problem
    assert "configs:\n  NAME: {files: [" in problem


@pytest.mark.parametrize("dataset", [name for name in DATASETS if settings_of(name)])
def test_forge_settings_are_filled_from_other_rows(tmp_path, dataset):
    done = prepared("forge", export(dataset, tmp_path / "copy", "parquet"), tmp_path / "out")[dataset]
    rows = pq.read_table(done.path).to_pylist()
    own = {row["id"]: {picture["bytes"] for picture in row["images"]} for row in rows}
    filled = 0
    for row in rows:
        for setting in settings_of(dataset):
            pictures = row[f"{setting}_images"]
            assert row[setting].count("<image>") == len(pictures)
            for picture in pictures:
                assert Path(picture["path"]).is_absolute()
                content = Path(picture["path"]).read_bytes()
                assert content not in own[row["id"]]
                filled += 1
    assert filled or done.manifest["notes"]


def test_manifest_says_where_everything_came_from(tmp_path):
    folder = georefusal_release(tmp_path / "copy")
    (folder / "fetched.json").write_text(json.dumps({"repo": "o/n", "revision": "v1", "commit": "c" * 40, "files": {}}))
    done = prepared("georefusal", folder, tmp_path / "out")["georefusal"]
    manifest = json.loads((tmp_path / "out" / "georefusal.manifest.json").read_text())
    assert manifest == json.loads(json.dumps(done.manifest))
    assert manifest["source"] == {"folder": str(folder), "repo": "o/n", "revision": "v1", "commit": "c" * 40}
    assert manifest["output"]["sha256"] == hashlib.sha256(done.path.read_bytes()).hexdigest()
    assert manifest["output"]["rows"] == 83
    labels = hashlib.sha256((folder / "labels.json").read_bytes()).hexdigest()
    assert manifest["inputs"]["labels.json"]["sha256"] == labels
    assert manifest["counts"]["set"] == {"A": 28, "B": 28, "C": 27}


def test_what_the_release_may_not_have_is_noted(tmp_path):
    folder = georefusal_release(tmp_path / "copy")
    edit(folder / "labels.json", lambda rows: [row.pop("follow_up") for row in rows])
    done = prepared("georefusal", folder, tmp_path / "out")["georefusal"]
    assert done.manifest["notes"] == ["follow_up: 'no' in every row; the release may not have it"]


def test_a_full_disk_leaves_what_was_there(tmp_path):
    """A limit on the size of files fails a write just where a full disk would."""
    code = (
        "import resource, sys, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000));"
        "from pathlib import Path; from geoeval.data.prepare import prepare;"
        "print(prepare('georefusal', Path(sys.argv[1]), Path(sys.argv[2])))"
    )
    folder = georefusal_release(tmp_path / "copy")
    done = subprocess.run(
        [sys.executable, "-c", code, folder, tmp_path / "out"], capture_output=True, text=True, check=True
    )
    assert "cannot be written" in done.stdout
    assert list((tmp_path / "out").iterdir()) == []


PEAK = """
import resource, sys
from pathlib import Path
from geoeval.data.prepare import prepare
written, problems = prepare("lithobench", Path(sys.argv[1]), Path(sys.argv[2]))
print(written[0].manifest["output"]["rows"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss has other units elsewhere")
@pytest.mark.parametrize("form", ["parquet", "json"])
def test_memory_does_not_grow_with_the_rows(tmp_path, form):
    """200 MB more of pictures, at most 60 MB more memory."""
    peaks = []
    for count in (50, 450):
        copy = tmp_path / f"copy{count}"
        copy.mkdir()
        large_release(copy, form, count)
        command = [sys.executable, "-c", PEAK, copy, tmp_path / f"out{count}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows, peak = map(int, done.stdout.split())
        assert rows == count
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 60, peaks


def large_release(copy, form, count):
    """Pictures of half a megabyte: a real one with other bytes behind its end."""
    picture = canonical("lithobench_open")[0]["images"][0]["bytes"]
    rows = [{"question": f"{n}?", "answer": "Granite.", "level": "ID"} for n in range(count)]
    contents = (picture + os.urandom(500_000) for _ in rows)
    if form == "json":
        with open(copy / "open.json", "w", encoding="utf-8") as file:
            for n, (row, content) in enumerate(zip(rows, contents, strict=True)):
                file.write(",\n" if n else "[")
                file.write(json.dumps({**row, "image": base64.b64encode(content).decode()}))
            file.write("]")
        return
    schema = pa.schema([("question", pa.string()), ("answer", pa.string()), ("level", pa.string()), ("image", IMAGE)])
    with pq.ParquetWriter(copy / "open.parquet", schema) as writer:
        for start in range(0, count, 50):
            part = [{**row, "image": {"bytes": next(contents), "path": None}} for row in rows[start : start + 50]]
            writer.write_table(pa.Table.from_pylist(part, schema=schema))
