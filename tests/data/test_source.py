"""Where rows come from: one setting, no fall-back, and errors that say what to do."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import DataError, is_picture, item_from_row, locate, open_picture, read_items

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
    source = locate(task, "sample")
    assert source.label == "SAMPLE"
    assert source.signature == f"SAMPLE@{source.sha256[:12]}"
    assert sum(1 for _ in read_items(source, get_benchmark(task).strata)) >= 48


@pytest.mark.parametrize(
    ("setting", "says"), [("", "GEOEVAL_DATA is not set"), ("/nowhere", "no file /nowhere/georefusal.parquet")]
)
def test_no_data_is_an_error_that_says_what_to_set(setting, says):
    with pytest.raises(DataError, match=says):
        locate("georefusal", setting)


def test_environment_is_the_setting(monkeypatch):
    monkeypatch.setenv("GEOEVAL_DATA", "sample")
    assert locate("georefusal").label == "SAMPLE"
    monkeypatch.delenv("GEOEVAL_DATA")
    with pytest.raises(DataError):
        locate("georefusal")


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
    assert not is_picture(picture)
    with pytest.raises(DataError, match="cannot be opened"):
        open_picture(picture)
