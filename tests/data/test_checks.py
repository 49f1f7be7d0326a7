"""``geoeval data check``: what is found in good data, in bad data, and beside what is published."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from releases import DATASETS, SAMPLE

from geoeval.data import locate
from geoeval.data.checks import check
from geoeval.data.published import PUBLISHED
from geoeval.data.schema import arrow_schema, columns_of

VERDICTS = next(column.values for column in columns_of("georefusal") if column.name == "verdict")


def found(dataset, folder):
    return {c.name: c for c in check(locate(dataset, str(folder)))}


def changed(tmp_path, change, dataset="georefusal"):
    table = pq.read_table(SAMPLE / f"{dataset}.parquet")
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), tmp_path / f"{dataset}.parquet")
    return found(dataset, tmp_path)


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_sample_is_good_and_not_compared(dataset):
    checks = check(locate(dataset, "sample"))
    assert [c for c in checks if c.level == "error"] == []
    assert not any("published" in c.finding for c in checks)


def test_the_sample_as_local_data_is_compared(tmp_path):
    checks = changed(tmp_path, lambda rows: None)
    assert checks["rows"].finding == "83; published: 587"
    assert checks["always answering"].finding == "49.40 %; published: 50.3 %"
    assert checks["duplicates"].finding == "0; published: 1"
    assert checks["several verdicts accepted"].finding == "6; published: 15"
    assert {checks[n].level for n in ("rows", "always answering", "duplicates")} == {"error"}


def truncated(rows):
    content = rows[7]["images"][0]["bytes"]
    rows[7]["images"][0]["bytes"] = content[: len(content) // 2]


CHANGES = {
    "an id twice": (lambda rows: rows[1].update(id=rows[0]["id"]), "ids", "1 occur more than once: A-"),
    "a truncated picture": (truncated, "pictures", "1 cannot be opened: row '.-[0-9a-f]+': column 'images'"),
    "no picture": (lambda rows: rows[7].update(images=[]), "values", "column 'images' is empty"),
    "a picture file that is gone": (
        lambda rows: rows[7].update(images=[{"bytes": None, "path": "/nowhere/x.png"}]),
        "pictures",
        "/nowhere/x.png: cannot be opened",
    ),
    "an unknown verdict": (lambda rows: rows[7].update(gold=["MAYBE"]), "values", "unknown verdict"),
    "order of precedence": (
        lambda rows: rows[7].update(gold=["REFUSE_AMBIGUOUS_QUERY", "REFUSE_FALSE_PREMISE_IN_QUERY"]),
        "values",
        "not in order of precedence",
    ),
}


@pytest.mark.parametrize(("change", "name", "says"), CHANGES.values(), ids=CHANGES)
def test_what_is_wrong_is_found(tmp_path, change, name, says):
    import re

    result = changed(tmp_path, change)[name]
    assert result.level == "error"
    assert re.search(says, result.finding), result.finding


def test_duplicates_must_share_a_cluster(tmp_path):
    def twin(rows):
        rows[1].update(question=rows[0]["question"], images=rows[0]["images"], cluster="other")

    checks = changed(tmp_path, twin)
    assert checks["duplicates"].level == "ok"
    assert checks["duplicates"].finding.startswith("1, as published: A-")
    assert checks["clusters of duplicates"].level == "error"


def test_follow_ups_that_are_not_marked_are_no_error(tmp_path):
    checks = changed(tmp_path, lambda rows: [row.update(follow_up="no") for row in rows])
    assert checks["by follow_up"].level == "info"
    assert checks["by follow_up"].finding == "no 83: this data does not mark the 3 published ones"


def test_gold_must_be_offered(tmp_path):
    checks = changed(tmp_path, lambda rows: rows[0].update(gold=["Z"]), "forge_workveri")
    assert "gold ['Z'] is not among the choices" in checks["values"].finding


def test_a_file_that_is_no_parquet_and_one_of_another_dataset(tmp_path):
    (tmp_path / "georefusal.parquet").write_bytes(b"PAR1")
    assert "cannot be read" in found("georefusal", tmp_path)["file"].finding
    (tmp_path / "georefusal.parquet").write_bytes((SAMPLE / "lithobench_open.parquet").read_bytes())
    assert found("georefusal", tmp_path)["columns"].finding.startswith("no columns set (string")


def png(n):
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (n % 256, n // 256, 7)).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def published_rows(dataset):
    """As many rows as are published, with the published balance and baselines, in tiny pictures."""
    about, rows = PUBLISHED[dataset], []
    for n in range(about.rows):
        row = {column.name: "" if column.type == "string" else [] for column in columns_of(dataset)}
        row.update({c.name: c.values[0] for c in columns_of(dataset) if c.values})
        row.update(id=f"i{n}", question="?", images=[png(n)], cluster=f"c{n}", scenario="X")
        rows.append(row)
    for column, counts in about.counts.items():
        values = [value for value, count in counts.items() for _ in range(count)]
        for row, value in zip(rows, values, strict=True):
            row[column] = value
    for row, choices in zip(rows, letters(dataset), strict=True):
        row.update(choices=list(choices), gold=["A"] if choices else ["x"])
    return rows


def letters(dataset):
    """Letters of each row with the published mean of 1 / number of options, worked out by hand."""
    if dataset == "forge_assyveri":  # 526 thirds and 640 ... : (a/3 + b/4) / 1166 = 0.295
        thirds = round(1166 * (0.295 - 0.25) * 12)
        return ["ABC"] * thirds + ["ABCD"] * (1166 - thirds)
    if dataset == "forge_missing_part":  # equal parts of six, three and five options
        return ["ABCDEF"] * 126 + ["ABC"] * 125 + ["ABCDE"] * 126
    rows = PUBLISHED[dataset].rows
    return ["" if dataset in ("georefusal", "lithobench_open") else "ABCD"] * rows


@pytest.mark.parametrize("dataset", [name for name, about in PUBLISHED.items() if about.rows])
def test_data_as_published_is_all_right(tmp_path, dataset):
    rows = published_rows(dataset)
    if dataset == "georefusal":
        _refuse(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema(dataset)), tmp_path / f"{dataset}.parquet")
    checks = found(dataset, tmp_path)
    assert {name: c.finding for name, c in checks.items() if c.level == "error"} == {}
    compared = {name for name, c in checks.items() if "as published" in c.finding}
    assert "rows" in compared
    assert ("random baseline" in compared) == (PUBLISHED[dataset].random is not None)
    if dataset == "georefusal":
        assert checks["always answering"].finding == "50.3 %, as published"


def _refuse(rows):
    """295 to answer, 15 of the others with two verdicts, one duplicate."""
    for n, row in enumerate(rows):
        gold = ["ANSWER"] if n < 295 else [VERDICTS[1 + n % 5]]
        row.update(gold=gold)
    for row in rows[-15:]:
        row.update(gold=[VERDICTS[1], VERDICTS[2]])
    for row in rows:
        row["verdict"] = row["gold"][0]
    rows[1].update(images=rows[0]["images"], cluster=rows[0]["cluster"])
