"""``geoeval data show``: columns, counts, and a contact sheet in which every picture is where it belongs."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from releases import DATASETS, SAMPLE

from geoeval.data import DataError, locate, open_picture
from geoeval.data.show import contact_sheet, overview


@pytest.mark.parametrize("dataset", DATASETS)
def test_overview_counts_the_rows(dataset):
    about = overview(locate(dataset, "sample"))
    rows = pq.read_table(SAMPLE / f"{dataset}.parquet").to_pylist()
    assert about.rows == len(rows)
    assert set(about.columns) == set(rows[0])
    for column, counts in about.counts.items():
        values = [row["gold"][0] if column == "gold" else row[column] for row in rows]
        assert counts == {value: values.count(value) for value in set(values)}
    assert ("gold" in about.counts) == (dataset not in ("lithobench_open", "forge_grounding"))


def test_pictures_come_from_all_over_the_dataset(tmp_path):
    source = locate("lithobench_open", "sample")
    sheet = Image.open(contact_sheet(source, tmp_path / "deep" / "sheet.png", count=3))
    rows = pq.read_table(source.path).to_pylist()
    for n, row in enumerate(rows[index] for index in (0, 20, 40)):
        tile = sheet.crop((8 + n * 232, 8, 8 + n * 232 + 224, 232))
        assert np.array_equal(np.asarray(tile), np.asarray(open_picture(row["images"][0])))
    assert sheet.size == (8 + 3 * 232, 8 + 262)


def test_a_picture_that_cannot_be_opened_is_shown_as_such(tmp_path):
    table = pq.read_table(SAMPLE / "georefusal.parquet")
    rows = table.to_pylist()[:2]
    rows[0]["images"][0]["bytes"] = b"broken"
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), tmp_path / "georefusal.parquet")
    sheet = Image.open(contact_sheet(locate("georefusal", str(tmp_path)), tmp_path / "sheet.png"))
    assert sheet.getpixel((8, 8)) == (255, 0, 0)


def test_a_broken_file_and_an_empty_one(tmp_path):
    (tmp_path / "georefusal.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="cannot be read"):
        overview(locate("georefusal", str(tmp_path)))
    empty = pq.read_table(SAMPLE / "georefusal.parquet").slice(0, 0)
    pq.write_table(empty, tmp_path / "georefusal.parquet")
    source = locate("georefusal", str(tmp_path))
    assert overview(source).rows == 0
    assert contact_sheet(source, tmp_path / "sheet.png").is_file()
