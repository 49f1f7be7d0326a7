"""Column names: the likely spellings are known, the user's win, and nothing is guessed."""

import json

import pyarrow.parquet as pq
import pytest
from releases import canonical

from geoeval.data import DataError
from geoeval.data.columns import load_names
from geoeval.data.prepare import prepare
from geoeval.data.readers import tables
from geoeval.data.schema import BENCHMARKS, LAYOUT, columns_of


def table(folder, row, name="cases.json"):
    (folder / name).write_text(json.dumps([row]))
    return tables(folder / name)[0]


def own(folder, text):
    file = folder / "columns.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_shipped_files_name_canonical_columns_and_allowed_values_only(benchmark):
    shipped = load_names(benchmark).shipped
    columns = {c.name: c for dataset in BENCHMARKS[benchmark] for c in columns_of(dataset)}
    assert set(shipped["columns"]) <= {*columns, "dataset"}
    for name, values in shipped["values"].items():
        column = columns.get(name.split(".")[-1])
        if column is not None and column.values:
            assert set(values) <= set(column.values), name
    for config in shipped["configs"].values():
        assert config.get("dataset", BENCHMARKS[benchmark][0]) in LAYOUT
    spellings = [s for names in shipped["columns"].values() for s in names if isinstance(s, str)]
    assert len(spellings) == len(set(spellings))


@pytest.mark.parametrize("name", ["question", "Question", "QUERY", " query ", "Que-ry"])
def test_case_and_punctuation_do_not_matter(tmp_path, name):
    found = load_names("georefusal").resolve(table(tmp_path, {name: "?"}), ["question"])
    assert found == {"question": name}


def test_a_missing_column_stops_with_the_lines_to_write(tmp_path):
    with pytest.raises(DataError) as error:
        load_names("georefusal").resolve(table(tmp_path, {"id": "1", "frage": "?"}), ["id", "question"])
    said = str(error.value)
    assert "not found: question (looked for ['question', 'query'])" in said
    assert "columns present: id, frage" in said
    assert said.endswith("--columns FILE:\ncolumns:\n  question: THE_COLUMN")


def test_two_candidates_stop_even_where_the_column_is_optional(tmp_path):
    row = {"id": "1", "query": "?", "question": "?", "follow_up": 0, "followup": 0}
    with pytest.raises(DataError, match=r"question could be question or query(.|\n)*  question: question  # or"):
        load_names("georefusal").resolve(table(tmp_path, row), ["question"])
    with pytest.raises(DataError, match="follow_up could be follow_up or followup"):
        load_names("georefusal").resolve(table(tmp_path, row), [], ["follow_up"])


def test_one_column_cannot_serve_two(tmp_path):
    names = load_names("georefusal")
    names.shipped["columns"]["id"].append("batch")
    with pytest.raises(DataError, match=r"not found: set (.|\n)*unclear: id could be batch"):
        names.resolve(table(tmp_path, {"batch": "A"}), ["id", "set"])


def test_a_column_belongs_to_what_the_user_says(tmp_path):
    names = load_names("lithobench", own(tmp_path, "columns: {options: choices}"))
    row = table(tmp_path, {"choices": ["x", "y"]})
    assert names.resolve(row, [], ["options", "choices"]) == {"options": "choices"}
    with pytest.raises(DataError, match="not found: choices"):
        names.resolve(row, ["choices"], ["options"])


def test_texts_are_no_letters(tmp_path):
    folder = mcq(tmp_path, choices=["granite", "slate"], options=None)
    _, (problem,) = prepare("lithobench", folder, tmp_path / "out")
    assert "letters are wanted, not ['granite', 'slate']; if these are the options" in problem


def test_the_lines_written_as_told_are_what_is_used(tmp_path):
    row = {"id": "1", "query": "?", "question": "!"}
    names = load_names("georefusal", own(tmp_path, "columns:\n  question: query  # or another\n"))
    assert names.resolve(table(tmp_path, row), ["question"]) == {"question": "query"}


def test_a_column_of_the_users_must_be_there(tmp_path):
    names = load_names("georefusal", own(tmp_path, "columns: {lever: hebel}"))
    with pytest.raises(DataError, match=r"not found: lever \(looked for hebel\)"):
        names.resolve(table(tmp_path, {"lever": "x"}), [], ["lever"])


def test_columns_that_belong_together(tmp_path):
    row = {"A": "a", "B": "b", "C": "c", "D": "d"}
    assert load_names("lithobench").resolve(table(tmp_path, row), [], ["options"]) == {"options": ("A", "B", "C", "D")}
    names = load_names("lithobench", own(tmp_path, "columns: {options: [A, B]}"))
    assert names.resolve(table(tmp_path, row), ["options"]) == {"options": ("A", "B")}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colums: {}", "unknown section 'colums'; there are configs, columns"),
        ("columns: [a]", "section 'columns' must be a dict"),
        ("[a]", "must be a mapping"),
        ("a: [", "cannot be read as YAML"),
        ("configs: {x: {dataset: forge_workveri}}", r"config 'x' must have `files: \[NAME, ...\]`"),
    ],
)
def test_what_is_wrong_in_the_users_file_is_named(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        load_names("forge", own(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.yaml: cannot be read"):
        load_names("forge", tmp_path / "none.yaml")


def test_a_table_that_fits_two_configs_stops(tmp_path):
    folder = tmp_path / "cases"
    folder.mkdir()
    with pytest.raises(DataError, match=r"fits the configs \['cases', 'labels'\]"):
        load_names("georefusal").config(tables(table(folder, {"id": 1}, "labels.json").folder.parent)[0])


@pytest.mark.parametrize(
    ("dataset", "column", "value", "canonical"),
    [
        ("georefusal", "gold", "refuse false premise in query", "REFUSE_FALSE_PREMISE_IN_QUERY"),
        ("georefusal", "gold", "INFO_MISSING_IN_CONTEXT", "REFUSE_INFO_MISSING_IN_CONTEXT"),
        ("georefusal", "gold", "something", "something"),
        ("georefusal", "category", None, "NONE"),
        ("georefusal", "intensity", "", "none"),
        ("georefusal", "follow_up", False, "no"),
        ("georefusal", "follow_up", None, "no"),
        ("georefusal", "follow_up", True, "yes"),
        ("georefusal", "follow_up", "If so, how many?", "yes"),
        ("lithobench_mcq", "level", "Comprehensive Reasoning", "Rea"),
        ("lithobench_mcq", "level", "CMP", "Cmp"),
        ("lithobench_mcq", "lithology", "crushed stone", "CS"),
        ("forge_surfinsp", "gold", "Crack", "A"),
        ("forge_workveri", "gold", "Crack", "Crack"),
    ],
)
def test_values_in_other_spellings(dataset, column, value, canonical):
    assert load_names(dataset.split("_")[0]).value(dataset, column, value) == canonical


def test_gold_in_every_form_with_own_names(tmp_path):
    """A string, a list, JSON and bars; verdicts under the user's own codes, columns and values in German."""
    rows = [row for row in canonical("georefusal") if len(row["gold"]) == 2][:3] + canonical("georefusal")[:1]
    code = {"ANSWER": "ja", "REFUSE_NONFACTUAL_QUERY": "meinung", "REFUSE_AMBIGUOUS_QUERY": "mehrdeutig"}
    forms = (list, json.dumps, "|".join, lambda gold: gold[0] if len(gold) == 1 else gold)
    out = []
    for row, form in zip(rows, forms, strict=True):
        picture = tmp_path / f"{row['id']}.png"
        picture.write_bytes(row["images"][0]["bytes"])
        out.append(
            {
                "kennung": row["id"],
                "teil": row["set"],
                "frage": row["question"],
                "bild": picture.name,
                "urteil": form([code.get(v, v) for v in row["gold"]]),
                "klasse": row["category"],
                "staerke": row["intensity"],
                "follow_up": row["follow_up"],
                "lever": row["lever"],
                "basis": row["cluster"],
            }
        )
    (tmp_path / "daten.json").write_text(json.dumps(out))
    file = own(
        tmp_path,
        """
columns: {id: kennung, set: teil, question: frage, images: bild, gold: urteil, category: klasse, intensity: staerke,
  cluster: basis}
values:
  gold: {ANSWER: ja, REFUSE_NONFACTUAL_QUERY: meinung, REFUSE_AMBIGUOUS_QUERY: [mehrdeutig]}
""",
    )
    (done,), problems = prepare("georefusal", tmp_path, tmp_path / "out", file)
    assert problems == []
    assert pq.read_table(done.path).to_pylist() == rows


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"A": "x", "C": "y"}, "lettered A, B, C, ... in order"),
        (["A) x", "y"], "lettered A, B, C, ... in order"),
        ([{"label": "A", "text": "x", "more": "z"}, {"label": "B", "text": "y"}], "one letter and one text"),
    ],
)
def test_options_that_are_unclear_stop(tmp_path, options, says):
    _, (problem,) = prepare("lithobench", mcq(tmp_path, options=options), tmp_path / "out")
    assert says in problem


@pytest.mark.parametrize(
    "options",
    [
        ["granite", "slate", "soil"],
        ["A. granite", "B. slate", "C. soil"],
        {"A": "granite", "B": "slate", "C": "soil", "D": None},
        [{"label": "A", "text": "granite"}, {"label": "B", "text": "slate"}, {"label": "C", "text": "soil"}],
        "A) granite\nB) slate\nC) soil",
        '["granite", "slate", "soil"]',
        "{'A': 'granite', 'B': 'slate', 'C': 'soil'}",
    ],
)
@pytest.mark.parametrize("gold", ["B", "b", "(B)", "B.", "B. slate", "slate", ["B"], '["B"]'])
def test_options_and_gold_in_every_form(tmp_path, options, gold):
    (done,), problems = prepare("lithobench", mcq(tmp_path, options=options, answer=gold), tmp_path / "out")
    assert problems == []
    (row,) = pq.read_table(done.path).to_pylist()
    assert row["choices"] == ["A", "B", "C"]
    assert row["options"] == ["granite", "slate", "soil"]
    assert row["gold"] == ["B"]


@pytest.mark.parametrize("gold", [1, "1", "E", "A|E", "quartz"])
def test_a_gold_answer_that_is_no_choice_stops(tmp_path, gold):
    _, (problem,) = prepare("lithobench", mcq(tmp_path, answer=gold), tmp_path / "out")
    assert "none of the choices ['A', 'B', 'C']" in problem


def mcq(folder, **changes):
    row = {"question": "Which rock?", "image": "p.png", "options": ["granite", "slate", "soil"], "answer": "A"}
    (folder / "p.png").write_bytes(canonical("lithobench_open")[0]["images"][0]["bytes"])
    (folder / "mcq.json").write_text(json.dumps([{**row, "level": "ID", **changes}]))
    return folder
