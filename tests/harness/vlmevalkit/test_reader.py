"""Prediction files as VLMEvalKit and others write them; those of real runs are read in ``test_runs.py``."""

import json

import pytest

from geoeval.benchmarks import benchmark_names
from geoeval.data import DataError
from geoeval.runs.vlmevalkit import dataset_name, datasets, read, recognises, replies, split_stem

TEXTS = ["None", "N/A", "03", "", "nan", " 1e5", "=1+1", 'a\tb\r\nc"d"\'', "\x00", "é😀\u2028", "x" * 200_000]


def quoted(texts, separator):
    """The file as pandas writes it with csv.QUOTE_ALL."""
    rows = [("index", "question", "prediction"), *((f"i{k:02}", "q\nr", text) for k, text in enumerate(texts))]
    return "".join(separator.join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) + "\n" for row in rows)


@pytest.mark.parametrize(("suffix", "separator"), [(".tsv", "\t"), (".csv", ",")])
def test_cells_are_text(tmp_path, suffix, separator):
    file = tmp_path / f"m_GeoRefusalBench{suffix}"
    file.write_text(quoted(TEXTS, separator), encoding="utf-8", newline="")
    assert recognises(file)
    assert [(reply.id, reply.text) for reply in replies(file)] == [(f"i{k:02}", text) for k, text in enumerate(TEXTS)]


def test_json_tells_null_from_empty(tmp_path):
    file = tmp_path / "m_GeoRefusalBench.json"
    file.write_text(json.dumps([{"index": k, "prediction": text} for k, text in enumerate([*TEXTS, None])]))
    assert recognises(file)
    found = list(replies(file))
    assert [reply.text for reply in found] == [*TEXTS, None]
    assert [reply.id for reply in found][:2] == ["0", "1"]
    assert found[-1].failure == "null_reply"


def book(file, texts):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [("index", "prediction"), *((f"i{k:02}", text) for k, text in enumerate(texts))]:
        book.active.append(row)
    for row in book.active.iter_rows(min_row=2, min_col=2):
        if isinstance(row[0].value, str):
            row[0].data_type = "s"  # as the harness's writer does for text that looks like a number
    book.save(file)
    return file


def test_xlsx_says_where_a_reply_was_cut(tmp_path):
    file = book(tmp_path / "m_GeoRefusalBench.xlsx", ["None", "03", "", "x" * 32_766, "x" * 32_767, "a_x000D_b"])
    assert recognises(file)
    found = list(replies(file))
    assert [reply.text for reply in found] == ["None", "03", "", "x" * 32_766, None, "a\rb"]
    assert found[4].failure == "cut_by_xlsx: 32,767 characters; run again with PRED_FORMAT=tsv"


@pytest.mark.parametrize("value", [3, 0.5, True])
def test_what_is_no_text_is_not_made_text(tmp_path, value):
    file = tmp_path / "m_GeoRefusalBench.json"
    file.write_text(json.dumps([{"index": "a", "prediction": value}]))
    with pytest.raises(DataError, match=r"row 1 \(a\): the prediction is"):
        list(replies(file))


@pytest.mark.parametrize(
    "text",
    [
        "Failed to obtain answer via API. ",
        " Failed to obtain answer: <class 'RuntimeError'> out of memory",
        "Failed to obtain answer via bailingMM API.",
        "Fail to obtain answer via API.",
    ],
)
def test_a_failed_request_is_one_again(tmp_path, text):
    file = tmp_path / "m_GeoRefusalBench.tsv"
    file.write_text(quoted([text, f"It says: {text}"], "\t"), encoding="utf-8")
    failed, said = replies(file)
    assert (failed.text, failed.failure) == (None, text.strip())
    assert said.text == f"It says: {text}"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("m_GeoRefusalBench.pkl", b"\x80\x04N.", "a pickle can run code"),
        ("m_GeoRefusalBench.xlsx", b"no zip", "cannot be read as predictions"),
        ("m_GeoRefusalBench.json", b'{"a": ', "cannot be read as predictions"),
        ("m_GeoRefusalBench.json", b'{"a": 1}', "not a list of objects"),
        ("m_GeoRefusalBench.tsv", b'"index"\t"prediction"\n"a"\t"\xff"\n', "cannot be read as predictions"),
        ("m_GeoRefusalBench.tsv", b'"index"\t"answer"\n"a"\t"b"\n', r"no column \['prediction'\]"),
        ("m_GeoRefusalBench.tsv", b'"index"\t"prediction"\n', "no predictions in this file"),
        ("m_GeoRefusalBench.tsv", b'"index"\t"prediction"\n""\t"b"\n', "row 1: the index '' is no id"),
        ("m_GeoRefusalBench.tsv", b'"index"\t"prediction"\t"geoeval"\n"a"\t"b"\t"no json"\n', "not what geoeval wrote"),
        ("m_MMStar.tsv", b'"index"\t"prediction"\n"a"\t"b"\n', "must end with one of our datasets"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path, name, content, said):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(DataError, match=said):
        list(*(run.read() for run in read(file)))


def test_what_geoeval_noted_is_known_again(tmp_path):
    facts = {"version": "1-A", "data": "SAMPLE", "data_sha256": "ab", "models": {"a--b": "a/b"}, "items_asked": 1}
    rows = [{"index": "i", "prediction": "x", "geoeval": json.dumps(facts)}]
    file = tmp_path / "a--b_FORGE_WORKVERI_IMAGE_ICD.json"
    file.write_text(json.dumps(rows))
    (tmp_path / "status.json").write_text(json.dumps({"argv": ["x", "--data", "y"], "created_at": "2026-01-02"}))
    (run,) = read(file)
    assert (run.task, run.data, run.data_sha256) == ("forge_workveri_image_icd", "SAMPLE", "ab")
    assert run.facts == {
        "harness": "VLMEvalKit", "model": "a/b", "model_args": "--data y", "date": "2026-01-02", "version": "1-A",
        "items_asked": 1,
    }  # fmt: skip


def test_a_file_of_somebody_elses_run_is_read_too(tmp_path):
    """The road for forks: their own TSV dataset of one of our names, and `geoeval score` afterwards."""
    file = tmp_path / "GPT4o_LithoBench_MCQ.tsv"
    file.write_text("index\tprediction\nlitho-1\tB\n", encoding="utf-8")
    (run,) = read(file)
    assert (run.task, run.data, run.facts["model"]) == ("lithobench_mcq", "", "GPT4o")


@pytest.mark.parametrize(
    "name",
    [
        "m_MMStar.tsv",
        "m_GeoRefusalBench_score.geoeval.json",
        "m_GeoRefusalBench.txt",
        "GeoRefusalBench.tsv",
        "01_GeoRefusalBench.pkl",
        "m_GeoRefusalBench_checkpoint.pkl",
    ],
)
def test_other_files_are_not_recognised(tmp_path, name):
    file = tmp_path / name
    file.write_text("index\tprediction\n", encoding="utf-8")
    assert not recognises(file)


def test_every_task_has_its_own_name_that_leads_back_to_it():
    assert len(datasets()) == len(benchmark_names())
    for task in benchmark_names():
        assert split_stem(f"my_FORGE_model_{dataset_name(task)}") == ("my_FORGE_model", dataset_name(task))
        assert datasets()[dataset_name(task)] == task


def test_the_names_that_users_expect():
    wanted = [
        "LithoBench_MCQ",
        "LithoBench_OPEN",
        "GeoRefusalBench",
        "FORGE_WORKVERI",
        "FORGE_SURFINSP",
        "FORGE_ASSYVERI",
    ]
    assert set(wanted) <= set(datasets())
