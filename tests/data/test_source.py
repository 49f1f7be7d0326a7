"""Where rows come from: one setting, no fall-back, and errors that say what to do."""

import io
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from releases import georefusal_release
from standin_hub import Hub, serving

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import DataError, item_from_row, locate, open_picture, picture_problem, read_items
from geoeval.data.prepare import prepare
from geoeval.data.source import cache_folder, find, prepared_folder

ROW = {
    "id": "x",
    "question": "q",
    "choices": [],
    "options": [],
    "gold": ["a"],
    "cluster": "c",
    "modality": "tile",
    "level": "ID",
}


@pytest.mark.parametrize("task", benchmark_names())
def test_sample_is_there_and_labelled(task):
    benchmark = get_benchmark(task)
    source = locate(benchmark.dataset, "sample")
    assert source.label == "SAMPLE"
    assert source.signature == f"SAMPLE@{source.sha256[:12]}"
    assert sum(1 for _ in read_items(source, benchmark.strata)) >= 24


@pytest.mark.parametrize(
    ("setting", "says"), [("", "GEOEVAL_DATA is not set"), ("/nowhere", "no file /nowhere/georefusal.parquet")]
)
def test_no_data_is_an_error_that_says_what_to_set(setting, says):
    """Offline, as all tests are; see tests/conftest.py."""
    with pytest.raises(DataError, match=says):
        locate("georefusal", setting)


def test_without_setting_and_network_the_error_says_what_to_do():
    with pytest.raises(DataError) as error:
        locate("georefusal", "")
    for part in (
        "GEOEVAL_DATA is not set, so the published release is asked for, which is not prepared yet",
        "HF_HUB_OFFLINE forbids to fetch it",
        "GEOEVAL_DATA=sample",
        "GEOEVAL_DATA=/folder with georefusal.parquet",
        "geoeval data prepare georefusal --from COPY --to /folder",
    ):
        assert part in str(error.value)
    with pytest.raises(DataError, match="GEOEVAL_LITHOBENCH_REPO=OWNER/NAME"):
        locate("lithobench_open", "")
    with pytest.raises(DataError, match="no dataset 'unknown'"):
        locate("unknown", "")


def test_environment_is_the_setting(monkeypatch):
    monkeypatch.setenv("GEOEVAL_DATA", "sample")
    assert locate("georefusal").label == "SAMPLE"
    monkeypatch.delenv("GEOEVAL_DATA")
    with pytest.raises(DataError):
        locate("georefusal")


def test_a_prepared_release_is_used_without_setting(monkeypatch, tmp_path):
    monkeypatch.setenv("GEOEVAL_CACHE", str(tmp_path))
    assert find("georefusal", "") is None
    prepare("georefusal", georefusal_release(tmp_path / "copy"), prepared_folder())
    source = locate("georefusal", "")
    assert source.path == tmp_path / "prepared" / "georefusal.parquet"
    assert source.signature == f"release@{source.sha256[:12]}"
    with pytest.raises(DataError, match="no file"):  # no fall-back from a folder to the release
        locate("georefusal", str(tmp_path))


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"GEOEVAL_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, "/c"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/geoeval"),
        ({"HOME": "/home/me"}, "/home/me/.cache/geoeval"),
    ],
)
def test_the_cache_is_where_the_environment_says(monkeypatch, environment, folder):
    for name in ("GEOEVAL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert str(cache_folder()) == folder


FIRST_USE = "from geoeval.data import locate; print(locate('georefusal').sha256)"


def first_use(hub, cache):
    env = {
        **os.environ,
        "HF_HUB_OFFLINE": "0",
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(cache / "hf"),
        "GEOEVAL_DATA": "",
    }
    env["GEOEVAL_CACHE"] = str(cache / "geoeval")
    return subprocess.Popen([sys.executable, "-c", FIRST_USE], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_first_use_prepares_once_when_several_processes_start_together(tmp_path):
    folder = georefusal_release(tmp_path / "release", "files by set")
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    with serving(Hub("albertLee/GeoRefusalBench", files)) as hub:
        done = [(process, *process.communicate()) for process in [first_use(hub, tmp_path) for _ in range(4)]]
        asked = [path.split("/resolve/")[1] for method, path, _ in hub.asked if method == "GET" and "/resolve/" in path]
    assert [process.returncode for process, _, _ in done] == [0] * 4, done[0][2]
    assert len({out for _, out, _ in done}) == 1
    assert sum(b"preparing the published release, once" in err for _, _, err in done) == 1
    assert sorted(asked) == sorted(f"{'c' * 40}/{name}" for name in files)
    assert [path.name for path in (tmp_path / "geoeval" / "prepared").iterdir() if path.name.startswith(".")] == []


def test_a_release_that_cannot_be_prepared_stops_with_the_lines_to_write(tmp_path):
    with serving(Hub("albertLee/GeoRefusalBench", {"cases.json": b'[{"nummer": 1}]'})) as hub:
        process = first_use(hub, tmp_path)
        _, error = process.communicate()
    assert process.returncode == 1
    for part in (
        b"columns present: nummer",
        b"columns:\n  question: THE_COLUMN",
        b"geoeval data prepare georefusal --from",
    ):
        assert part in error


def test_a_changed_file_has_another_hash(tmp_path):
    path = tmp_path / "georefusal.parquet"
    hashes = set()
    for content in (b"one", b"three"):
        path.write_bytes(content)
        source = locate("georefusal", str(tmp_path))
        assert source.label == "local"
        hashes.add(source.sha256)
    assert len(hashes) == 2


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "georefusal.parquet").write_bytes(b"id,question\n")
    with pytest.raises(DataError, match="not a parquet file"):
        list(read_items(locate("georefusal", str(tmp_path)), ()))


def test_a_missing_column_is_named(tmp_path):
    pq.write_table(pa.Table.from_pylist([{"id": "x", "question": "q"}]), tmp_path / "georefusal.parquet")
    with pytest.raises(DataError, match=r"row 'x': no column \['choices'.*'set'\]; there are \['id', 'question'\]"):
        list(read_items(locate("georefusal", str(tmp_path)), ("set",)))


def test_row_to_item():
    picture = {"bytes": b"1", "path": None}
    item = item_from_row({**ROW, "images": [picture]}, ("level",))
    assert (item.id, item.gold, item.strata, item.images) == ("x", ("a",), {"level": "ID"}, (picture,))
    assert item_from_row(ROW, ()).images == ()


def test_an_item_without_gold_cannot_be_marked():
    with pytest.raises(DataError, match="row 'x': the column 'gold' is empty"):
        item_from_row({**ROW, "gold": []}, ())


def encoded(mode: str) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, (3, 2), 7 if mode in "LP" else None).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "1"])
def test_pictures_open_as_rgb(mode, tmp_path):
    (tmp_path / "p.png").write_bytes(encoded(mode))
    for picture in (
        encoded(mode),
        {"bytes": encoded(mode), "path": None},
        {"bytes": None, "path": str(tmp_path / "p.png")},
        tmp_path / "p.png",
    ):
        assert open_picture(picture).mode == "RGB"
        assert open_picture(picture).size == (3, 2)


@pytest.mark.parametrize("picture", [b"", b"no picture", {"bytes": None, "path": None}, "/nowhere.png", None])
def test_what_is_no_picture_is_an_error(picture):
    assert picture_problem(picture)
    with pytest.raises(DataError, match="cannot be opened"):
        open_picture(picture)
