"""Merging into a README changes our section and our results, and not one other byte."""

import difflib
import re

import pytest
import yaml
from card_results import README, result
from huggingface_hub import ModelCard, metadata_load

from geoeval.data import DataError
from geoeval.report.card.entries import Settings, entries
from geoeval.report.card.model_index import is_ours, model_index
from geoeval.report.card.readme import merged
from geoeval.report.card.section import END, START, section


def made(*tasks, model=None):
    settings = Settings(model=model, sample=True, command="geoeval card results --into README.md --sample")
    found = entries([result(task) for task in tasks or ("georefusal",)], settings)
    return section(found), model_index(found, settings)


TEXT, INDEX = made()


def merge(readme, text=TEXT, index=INDEX):
    content = readme if isinstance(readme, bytes) else readme.encode("utf-8")
    return merged(content, text, index, "README.md")


def without_ours(content: bytes) -> list[str]:
    """Lines of a merged README that are not ours, found by their text and not by the code under test."""
    kept, ours = [], False
    for line in content.decode("utf-8").splitlines(keepends=True):
        ours = ours or line.startswith(START)
        if not ours:
            kept.append(line)
        ours = ours and not line.startswith(END)
    return kept


def test_readme_keeps_every_line_and_gains_only_ours():
    new = merge(README)
    changes = list(difflib.ndiff(README.splitlines(keepends=True), new.decode().splitlines(keepends=True)))
    assert not [line for line in changes if line.startswith("- ")]
    added = "".join(line[2:] for line in changes if line.startswith("+ "))
    assert added.count(START) == added.count(END) == 1
    head, body = new.decode().split("\n---\n", 1)
    assert body.startswith(README.split("\n---\n", 1)[1] + "\n" + START)
    assert "value: 61.30   # re-run in March" in head


def test_hub_reads_the_metadata_ours_after_theirs(tmp_path):
    path = tmp_path / "README.md"
    path.write_bytes(merge(README))
    data, before = metadata_load(path), yaml.safe_load(README.split("---\n")[1])
    assert list(data) == list(before)
    assert {key: data[key] for key in data if key != "model-index"} == {
        key: before[key] for key in before if key != "model-index"
    }
    (model,) = data["model-index"]
    assert model["name"] == "Rock VL 7B"
    assert model["results"][:2] == before["model-index"][0]["results"]
    assert model["results"][2:] == INDEX[0]["results"]
    loaded = ModelCard.load(path)
    values = {found.metric_type: found.metric_value for found in loaded.data.eval_results[2:]}
    assert values["accuracy"] == 81 / 82


@pytest.mark.parametrize(
    "readme",
    [
        pytest.param(README, id="real-looking"),
        pytest.param(README.replace("\n", "\r\n"), id="crlf"),
        pytest.param("\ufeff" + README, id="bom"),
        pytest.param("\ufeff" + README.replace("\n", "\r\n"), id="bom-crlf"),
        pytest.param("", id="empty"),
        pytest.param("# Only a body, no end of line", id="no-front-matter"),
        pytest.param("# Überschrift\n\n\n\n", id="blank-lines-at-the-end"),
        pytest.param("\ufeff# Body after a BOM\n", id="bom-no-front-matter"),
        pytest.param("---\n# only a comment\n---\nbody\n", id="comment-only"),
        pytest.param("\n\n---\nlicense: mit\n---\nbody\n", id="blank-lines-before"),
        pytest.param("---\nlicense: mit\n---", id="no-body"),
        pytest.param("---\nabout: |\n  two\n  lines\n---\nbody\n", id="block-scalar-at-the-end"),
        pytest.param("---\nabout: |+\n  kept\n\n\n---\nbody\n", id="kept-blank-lines-at-the-end"),
        pytest.param("---\n  license: mit\n  tags: [a]\n---\nbody\n", id="indented"),
        pytest.param("---\nmodel-index:\nlicense: mit\n---\nbody\n", id="null-index"),
        pytest.param("---\nmodel-index: []\nlicense: mit # x\n---\nbody\n", id="empty-index"),
        pytest.param("---\nlicense: mit\nmodel-index: []\n---\nbody\n", id="empty-index-last"),
        pytest.param('---\n"model-index": []\n---\nbody\n', id="quoted-key"),
        pytest.param("---\nmodel-index: [{name: x, results: []}]\n---\nbody\n", id="flow-index"),
        pytest.param("---\nmodel-index:\n- name: x\n  results: []\n---\nbody\n", id="flow-results"),
        pytest.param(
            "---\nmodel-index:\n- name: x\n  results:\n  - task: {type: t}\n    dataset: {name: d, type: d}\n"
            "    metrics:\n    - type: m\n      value: |\n        1\nlicense: mit\ntags: [a]\n---\nbody\n",
            id="block-scalar-at-the-end-of-the-index",
        ),
        pytest.param("body\n\n---\n\nmore\n\n---\n", id="rules-in-the-body"),
    ],
)
def test_twice_is_once_and_the_rest_stays(readme):
    once = merge(readme)
    assert merge(once) == once
    other_text, other_index = made("georefusal", "lithobench_open")
    assert merge(merge(once, other_text, other_index)) == once
    bom = "\ufeff" if readme.startswith("\ufeff") else ""
    text = once.decode("utf-8")
    assert text.startswith(bom)
    assert text.count("\r") == (text.count("\n") if "\r\n" in readme else 0)
    body = readme[1:] if bom else readme
    body = re.sub(r"\A\s*---\r?\n.*?\r?\n---[ \t]*(\r?\n|\Z)", "", body, flags=re.DOTALL)
    start = text.index(START)
    assert text[:start].rstrip("\r\n").endswith(body.rstrip("\r\n"))
    assert text[start:].rstrip().endswith(END)
    if body:
        assert body in text
    data = yaml.safe_load(text.lstrip("\ufeff").replace("\r\n", "\n").split("---\n")[1])
    others = re.findall(r"^ *(license|tags|about|pipeline_tag|widget|language)\b", readme, re.MULTILINE)
    assert [key for key in data if key != "model-index"] == others


def test_several_models_keep_their_results_and_ours_get_their_own():
    readme = (
        "---\nmodel-index:\n- name: base\n  results:\n  - task: {type: t}\n    dataset: {name: d, type: d}\n"
        "    metrics: [{type: m, value: 1}]\n# between\n- name: chat\n  results:\n  - task: {type: t}\n"
        "    dataset: {name: e, type: e}\n    metrics: [{type: m, value: 2}]   # last\n# after\n"
        "license: mit\n---\nbody\n"
    )
    once = merge(readme)
    index = yaml.safe_load(once.decode().split("---\n")[1])["model-index"]
    assert [model["name"] for model in index] == ["base", "chat", "acme/rock-vl-7b"]
    assert merge(once) == once
    renamed = merge(once, *made(model="chat"))
    index = yaml.safe_load(renamed.decode().split("---\n")[1])["model-index"]
    assert [model["name"] for model in index] == ["base", "chat"]
    assert [is_ours(found) for found in index[1]["results"]] == [False, True]
    for line in readme.splitlines():
        assert line in renamed.decode().splitlines()


def test_ours_between_others_are_replaced_in_their_place():
    once = merge(README).decode()
    added = "  - task:\n      type: x\n    dataset: {name: n, type: n}\n    metrics: [{type: m, value: 3}]  # new\n"
    later = once.replace("# end of results\n", f"{added}# end of results\n")
    again = merge(later, *made("lithobench_open")).decode()
    results = yaml.safe_load(again.split("---\n")[1])["model-index"][0]["results"]
    assert [is_ours(found) for found in results] == [False, False, True, False]
    assert f"{added}# end of results\n" in again
    assert merge(again) == later.encode()


def test_a_hand_edited_line_around_the_section_stays():
    once = merge(README).decode()
    edited = once.replace(END + "\n", END + "  \nAdded below by hand.").replace("## Licence", "## License")
    again = merge(edited, *made("lithobench_open")).decode()
    assert again.endswith(END + "  \nAdded below by hand.")
    assert "## License" in again


@pytest.mark.parametrize(
    ("readme", "says"),
    [
        ("---\nlicense: mit\nno end\n", "no second ---"),
        ("---\n---\nbody\n", "no second ---"),
        ("---\nlicense: [mit\n---\nbody\n", "not YAML"),
        ("---\n- a\n- b\n---\nbody\n", "list"),
        ("---\njust text\n---\nbody\n", "str"),
        ("---\nmodel-index: 3\n---\nbody\n", "not a valid model-index"),
        ("---\nmodel-index:\n- results: []\n---\nbody\n", "not a valid model-index"),
        ("---\nmodel-index: []\nlicense: a\nmodel-index: []\n---\nbody\n", "2 keys"),
        ("---\n{license: mit}\n---\nbody\n", "front matter"),
        ("---\nmodel-index: [] # none yet\n---\nbody\n", "comments"),
        (f"body\n{START}\nno end\n", "1 lines"),
        (f"{END}\n{START}\n", "in this order"),
        (f"{START}\n{END}\n{START}\n{END}\n", "2 lines"),
        (b"---\nlicense: mit\n---\nlatin \xe9\n", "not UTF-8"),
        (
            "---\nx: &r\n- task: {type: t}\n  dataset: {name: d, type: d}\n  metrics: [{type: m, value: 1}]\n"
            "model-index:\n- name: a\n  results: *r\n---\nbody\n",
            "anchors or aliases",
        ),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(readme, says):
    with pytest.raises(DataError, match=says):
        merge(readme)
