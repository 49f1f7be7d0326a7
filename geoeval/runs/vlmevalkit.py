"""Prediction files of VLMEvalKit: ``<model>_<dataset>.tsv``, ``.xlsx``, ``.json`` or ``.csv``. Needs no VLMEvalKit.

Cells are text: "None", "N/A" and "03" stay what the model wrote, where VLMEvalKit's own loader makes nan and 3 of them.
The harness writes a failed request as the text of `FAILURE_MARKERS`, which becomes a failed request again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from geoeval.benchmarks import benchmark_names
from geoeval.data.errors import DataError
from geoeval.runs.model import Reply, SavedRun

FAILURE_MARKERS = ("Failed to obtain answer", "Fail to obtain answer")
"""How a failed request begins in a prediction file; the second is StepAI's."""
FACTS_COLUMN = "geoeval"
"""The column in which our dataset class notes what was asked: version, data and more, as JSON, the same in each row."""
XLSX_LIMIT = 32_767
"""Characters of an xlsx cell. What is longer was cut by whoever wrote the file."""
SCORE_SUFFIX = "_score"
"""Ends the stem of our record beside a prediction file. With the same stem VLMEvalKit would take it for predictions."""

_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f])_")
_SUFFIXES = (".tsv", ".xlsx", ".json", ".csv", ".pkl")
_FIRST_PARTS = {"lithobench": "LithoBench", "georefusal": "GeoRefusalBench", "forge": "FORGE"}


def dataset_name(task: str) -> str:
    """Our task's name as VLMEvalKit's users expect it.

    >>> dataset_name("forge_workveri_image_icd")
    'FORGE_WORKVERI_IMAGE_ICD'
    """
    first, *rest = task.split("_")
    return "_".join([_FIRST_PARTS[first], *(part.upper() for part in rest)])


@lru_cache(maxsize=1)
def datasets() -> Mapping[str, str]:
    """VLMEvalKit's name of each of our tasks -> the task."""
    return {dataset_name(task): task for task in benchmark_names()}


def split_stem(stem: str) -> tuple[str, str] | None:
    """The model and our dataset in the stem of a prediction file; None when it names none of ours."""
    for name in sorted(datasets(), key=len, reverse=True):
        if stem.endswith(f"_{name}"):
            return stem.removesuffix(f"_{name}"), name
    return None


def recognises(path: Path) -> bool:
    """Whether a file is a prediction file of one of our tasks. A pickle is one too, so that `read` can say why not."""
    split = split_stem(path.stem)
    if path.suffix not in _SUFFIXES or split is None or not path.is_file():
        return False
    if path.suffix == ".pkl" and split[0].isdecimal():  # replies of a run that is under way or was stopped
        return False
    if path.suffix in (".xlsx", ".pkl"):
        return True
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        head = file.read(4096)
    return head.lstrip().startswith("[") if path.suffix == ".json" else "index" in head and "prediction" in head


def read(path: Path) -> Iterator[SavedRun]:
    """The run in a prediction file.

    Raises:
        DataError: The file cannot be used; says why.
    """
    split = split_stem(path.stem)
    if split is None:
        raise DataError(f"{path}: the name must end with one of our datasets, e.g. model_GeoRefusalBench{path.suffix}")
    model, dataset = split
    first = next(_rows(path), None)
    if first is None:
        raise DataError(f"{path}: no predictions in this file")
    facts = _facts(path, first.get(FACTS_COLUMN))
    asked = {"harness": "VLMEvalKit", **_status_facts(path), **facts}
    asked["model"] = asked.pop("models", {}).get(model, model)
    data, data_sha256 = asked.pop("data", ""), asked.pop("data_sha256", "")
    yield SavedRun(datasets()[dataset], path, lambda: replies(path), data, data_sha256, asked)


def replies(path: Path) -> Iterator[Reply]:
    """The replies of a prediction file, in its order.

    Raises:
        DataError: The file cannot be used; names the row.
    """
    for number, row in enumerate(_rows(path), 1):
        id_, text = row["index"], row["prediction"]
        if isinstance(id_, int) and not isinstance(id_, bool):
            id_ = str(id_)
        if not isinstance(id_, str) or not id_:
            raise DataError(f"{path}: row {number}: the index {id_!r} is no id")
        if not isinstance(text, str | None):
            raise DataError(
                f"{path}: row {number} ({id_}): the prediction is {type(text).__name__} {text!r}, not text. "
                f"The file was written by something else than VLMEvalKit; use the original."
            )
        yield _reply(id_, text, path)


def _reply(id_: str, text: str | None, path: Path) -> Reply:
    if text is None:
        return Reply(id_, None, "null_reply")
    if text.lstrip().startswith(FAILURE_MARKERS):
        return Reply(id_, None, text.strip()[:200])
    if path.suffix == ".xlsx" and len(text) >= XLSX_LIMIT:
        return Reply(id_, None, f"cut_by_xlsx: {XLSX_LIMIT:,} characters; run again with PRED_FORMAT=tsv")
    return Reply(id_, text)


def _facts(path: Path, cell: Any) -> dict[str, Any]:
    """What our dataset class noted in the file; nothing when another one made it."""
    if not cell:
        return {}
    try:
        return dict(json.loads(cell))
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: the column {FACTS_COLUMN!r} is not what geoeval wrote ({error})") from error


def _status_facts(path: Path) -> dict[str, Any]:
    """What the harness says of the run in the ``status.json`` beside."""
    try:
        status = json.loads((path.parent / "status.json").read_text(encoding="utf-8"))
        found = {"model_args": " ".join(status["argv"][1:]), "date": status["created_at"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a file, with "index", "prediction" and, where it is there, the column of facts."""
    readers = {".tsv": _delimited, ".csv": _delimited, ".json": _json, ".xlsx": _xlsx}
    if path.suffix == ".pkl":
        raise DataError(
            f"{path}: a pickle can run code when it is opened, so it is not. VLMEvalKit falls back to one when it "
            f"cannot write the file asked for; run again with PRED_FORMAT=tsv, or convert it yourself if you trust it."
        )
    if path.suffix not in readers:
        raise DataError(f"{path}: not one of {', '.join(readers)}")
    try:
        yield from readers[path.suffix](path)
    except (OSError, ValueError, KeyError) as error:  # Arrow's and openpyxl's errors are among these
        raise DataError(f"{path}: cannot be read as predictions of VLMEvalKit ({error})") from error


def _delimited(path: Path) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa
    from pyarrow import csv

    size = max(path.stat().st_size + 1, 1 << 20)  # a row must fit into a block, and a reply may be long
    table = csv.read_csv(
        path,
        csv.ReadOptions(block_size=min(size, (1 << 31) - 1), use_threads=False),
        csv.ParseOptions(delimiter="\t" if path.suffix == ".tsv" else ",", newlines_in_values=True),
        csv.ConvertOptions(
            column_types=dict.fromkeys(("index", "prediction", FACTS_COLUMN), pa.string()), strings_can_be_null=False
        ),
    )
    wanted = _columns(table.column_names)
    for batch in table.select(wanted).to_batches(max_chunksize=1000):
        yield from batch.to_pylist()


def _json(path: Path) -> Iterator[Mapping[str, Any]]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("not a list of objects")
    for row in rows:
        yield {name: row[name] for name in _columns(list(row))}


def _xlsx(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError as error:
        raise DataError(f"{path}: openpyxl is needed to read xlsx; run: pip install openpyxl") from error
    import zipfile

    try:
        book = openpyxl.load_workbook(path, read_only=True)
    except (InvalidFileException, zipfile.BadZipFile) as error:
        raise ValueError(str(error)) from error
    try:
        cells = iter(book.worksheets[0].iter_rows(values_only=True))
        names = [str(name) for name in next(cells, ())]
        places = {name: names.index(name) for name in _columns(names)}
        for row in cells:
            yield {name: _cell(row[place] if place < len(row) else None, name) for name, place in places.items()}
    finally:
        book.close()


def _cell(value: Any, name: str) -> Any:
    """An empty cell is an empty reply, for the harness has no null when it writes; control characters are escaped."""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value)
    return "" if value is None and name == "prediction" else value


def _columns(names: list[str]) -> list[str]:
    missing = [name for name in ("index", "prediction") if name not in names]
    if missing:
        raise ValueError(f"no column {missing}; there are {names[:20]}")
    return ["index", "prediction", *([FACTS_COLUMN] if FACTS_COLUMN in names else [])]
