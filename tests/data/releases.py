"""The bundled sample written as somebody's copy of a release: other column names, other formats, other encodings."""

import base64
import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SAMPLE = Path(__file__).parents[2] / "geoeval" / "data" / "sample"
DATASETS = sorted(path.stem for path in SAMPLE.glob("*.parquet"))
FORMATS = ("json", "jsonl", "csv", "parquet", "save_to_disk", "imagefolder")
SETTINGS = ("ref_cond", "icd", "within", "outside")
SPELLINGS = {
    "id": "Item ID",
    "question": "Query",
    "images": "image",
    "gold": "ground_truth",
    "level": "cognitive_level",
    "lithology": "class",
    "category": "Refusal Category",
    "cluster": "cluster",
}
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def canonical(dataset):
    """The sample's rows without what is drawn for the settings."""
    rows = pq.read_table(SAMPLE / f"{dataset}.parquet").to_pylist()
    hidden = {*SETTINGS, *(f"{name}_images" for name in SETTINGS)}
    return [{name: value for name, value in row.items() if name not in hidden} for row in rows]


def renamed(row, dataset, **changes):
    """A row under the names of a release; the derived verdict is not in one."""
    names = {**SPELLINGS, **({"gold": "gold_verdicts"} if dataset == "georefusal" else {})}
    return {names.get(k, k): v for k, v in {**row, **changes}.items() if k != "verdict"}


def export(dataset, folder, form):
    """Write the rows of a dataset as a release in one format; returns the folder."""
    rows = canonical(dataset)
    place = folder / dataset
    place.mkdir(parents=True)
    globals()[f"_{form}"](dataset, rows, place)
    return folder


def _json(dataset, rows, place):
    """A list; pictures as base64, the first as a data URL; gold as a string where there is one."""
    out = []
    for n, row in enumerate(rows):
        prefix = "data:image/png;base64," if n == 0 else ""
        shown = [prefix + base64.b64encode(picture["bytes"]).decode() for picture in row["images"]]
        gold = row["gold"] if len(row["gold"]) > 1 else row["gold"][0]
        out.append(renamed(row, dataset, images=shown if len(shown) > 1 else shown[0], gold=gold))
    (place / "test.json").write_text(json.dumps(out, ensure_ascii=False), encoding="utf-8")


def _jsonl(dataset, rows, place):
    """One object a line; pictures as paths in a folder beside the table; options as an object by letter."""
    (place / "images").mkdir()
    with open(place / "train.jsonl", "w", encoding="utf-8") as file:
        for row in rows:
            options = dict(zip(row["choices"], row["options"], strict=False))
            changes = {"options": options or None, "images": _files(row, place, "images")}
            file.write(json.dumps(renamed(row, dataset, **changes)) + "\n")


def _csv(dataset, rows, place):
    """Lists as strings: gold with bars, letters run together, options as JSON, several pictures as JSON."""
    (place / "images").mkdir()
    out = []
    for row in rows:
        files = _files(row, place, "images")
        out.append(
            renamed(
                row,
                dataset,
                gold="|".join(row["gold"]),
                choices=_run_together(row["choices"]),
                options=json.dumps(row["options"]) if row["options"] else "",
                images=files[0] if len(files) == 1 else json.dumps(files),
            )
        )
    with open(place / "data.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, out[0])
        writer.writeheader()
        writer.writerows(out)


def _parquet(dataset, rows, place):
    """Two shards with pictures as Hugging Face embeds them; gold as JSON."""
    out = [renamed(row, dataset, gold=json.dumps(row["gold"])) for row in rows]
    fields = [(name, pa.list_(IMAGE) if name == "image" else _type(out[0][name])) for name in out[0]]
    half = len(out) // 2
    for n, part in enumerate((out[:half], out[half:])):
        table = pa.Table.from_pylist(part, schema=pa.schema(fields))
        pq.write_table(table, place / f"test-{n:05d}-of-00002.parquet")


def _save_to_disk(dataset, rows, place):
    import datasets

    out = [renamed(row, dataset) for row in rows]
    text, texts = datasets.Value("string"), datasets.List(datasets.Value("string"))
    features = {name: texts if isinstance(value, list) else text for name, value in out[0].items()}
    features["image"] = datasets.List(datasets.Image(decode=False))
    made = datasets.Dataset.from_list(out, features=datasets.Features(features))
    datasets.DatasetDict({"test": made}).save_to_disk(place)


def _imagefolder(dataset, rows, place):
    """Pictures beside a metadata file whose file_name says which; several pictures as a list."""
    with open(place / "metadata.jsonl", "w", encoding="utf-8") as file:
        for row in rows:
            files = _files(row, place, "")
            out = renamed(row, dataset)
            del out["image"]
            file.write(json.dumps({"file_name": files[0] if len(files) == 1 else files, **out}) + "\n")


def _files(row, place, folder):
    names = []
    for picture in row["images"]:
        name = f"{folder}/{picture['path']}".lstrip("/")
        (place / name).write_bytes(picture["bytes"])
        names.append(name)
    return names


def _run_together(choices):
    return "".join(choices) if all(len(choice) == 1 for choice in choices) else json.dumps(choices)


def _type(value):
    return pa.list_(pa.string()) if isinstance(value, list) else pa.string()


def georefusal_release(folder, form="json", rows=None):
    """The three configs of GeoRefusalBench with pictures in images/{A,B,C}; returns the folder."""
    rows = canonical("georefusal") if rows is None else rows
    for row in rows:
        path = folder / "images" / row["set"] / f"{row['id']}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(row["images"][0]["bytes"])
    label = ("id", "set", "gold", "category", "intensity", "lever", "follow_up")
    tables = {
        "cases": [{"id": r["id"], "set": r["set"], "image": _where(r), "question": r["question"]} for r in rows],
        "labels": [{name: r[name] for name in label} for r in reversed(rows)],
        "provenance": [
            {"id": r["id"], "set": r["set"], "base question": r["cluster"], "operator": "x", "seed": 7} for r in rows
        ],
    }
    for config, table in tables.items():
        if form == "json":
            (folder / f"{config}.json").write_text(json.dumps(table), encoding="utf-8")
        elif form == "by set":
            by_set = {s: [row for row in table if row["set"] == s] for s in "ABC"}
            (folder / f"{config}.json").write_text(json.dumps(by_set), encoding="utf-8")
        elif form == "files by set":
            (folder / config).mkdir()
            for s in "ABC":
                lines = "".join(json.dumps(row) + "\n" for row in table if row["set"] == s)
                (folder / config / f"{s}.jsonl").write_text(lines, encoding="utf-8")
        elif form == "csv":
            with open(folder / f"{config}.csv", "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, table[0])
                writer.writeheader()
                writer.writerows({**row, **({"gold": "|".join(row["gold"])} if "gold" in row else {})} for row in table)
        elif form == "card":  # the names of the configs are in the dataset card only
            pq.write_table(pa.Table.from_pylist(table), folder / f"{config[0]}.parquet")
            configs = "".join(f"- config_name: {c}\n  data_files: {c[0]}.parquet\n" for c in tables)
            (folder / "README.md").write_text(f"---\nconfigs:\n{configs}---\n# Card\n", encoding="utf-8")
    return folder


def _where(row):
    return f"images/{row['set']}/{row['id']}.png"
