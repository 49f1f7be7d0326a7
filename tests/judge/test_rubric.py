"""Rubrics: the shipped ones never change, a user's is checked."""

import hashlib
from pathlib import Path

import pytest
import yaml

from geoeval.judge import rubric as module
from geoeval.judge.errors import JudgeError
from geoeval.judge.rubric import DEFAULT_RUBRIC, load_rubric, shipped_rubrics

# A shipped rubric is never edited: marks by it could not be compared any more. Add a file with the next version.
HASHES = {"lithology-1": "d70c1f5b6e18e3abfaf5cb812cf61cbaf82f1277c1578611cbd2845fbc701648"}

SMALL = {
    "name": "my_rubric",
    "version": 3,
    "about": "For a test.",
    "role": "You mark.",
    "rules": "Mark well.",
    "dimensions": [
        {
            "name": "truth",
            "title": "Truth",
            "description": "Is it true?",
            "levels": {0: "No.", "4-6": "So so.", 10: "Yes."},
        }
    ],
    "overall": {"description": "As a whole.", "levels": {"0": "Bad.", "10": "Good."}},
}


def write(tmp_path, content):
    path = tmp_path / "own.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def test_shipped_rubrics_are_what_they_were():
    assert {name: load_rubric(name).sha256 for name in shipped_rubrics()} == HASHES


def test_a_shipped_rubric_is_named_after_its_name_and_version():
    for name in shipped_rubrics():
        assert load_rubric(name).id == name


def test_the_default_marks_what_it_should():
    rubric = load_rubric()
    assert rubric.id == DEFAULT_RUBRIC
    assert rubric.marks == ("correctness", "evidence", "soundness", "completeness", "faithfulness", "overall")
    assert "paper's rubric is not published" in rubric.about
    assert "not published" in module.__doc__
    for dimension in (*rubric.dimensions, rubric.overall):
        assert [mark for mark, _ in dimension.levels] == ["0", "2-3", "5", "7-8", "10"]


def test_a_rubric_of_ones_own(tmp_path):
    path = write(tmp_path, SMALL)
    rubric = load_rubric(path)
    assert rubric == load_rubric(str(path))
    assert (rubric.id, rubric.marks) == ("my_rubric-3", ("truth", "overall"))
    assert rubric.dimensions[0].levels == (("0", "No."), ("4-6", "So so."), ("10", "Yes."))
    assert rubric.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_shipped_file_may_be_the_start_of_ones_own(tmp_path):
    shipped = Path(module.__file__).parent / "rubrics" / f"{DEFAULT_RUBRIC}.yaml"
    assert load_rubric(write(tmp_path, shipped.read_text("utf-8"))).marks == load_rubric().marks


def dimension(**changes):
    return {"dimensions": [{**SMALL["dimensions"][0], **changes}]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": "red"}, "unknown keys ['colour']"),
        ({"rules": ""}, "rules is ''"),
        ({"role": 5}, "role is 5"),
        ({"name": "My rubric"}, "name is 'My rubric'"),
        ({"version": "1"}, "version is '1'"),
        ({"version": 0}, "version is 0"),
        ({"version": True}, "version is True"),
        ({"dimensions": []}, "at least one"),
        ({"dimensions": {"truth": 1}}, "not a list"),
        ({"dimensions": ["truth"]}, "dimension 1': not a map"),
        ({"dimensions": SMALL["dimensions"] * 2}, "['truth'] occur twice"),
        (dimension(name="overall"), "['overall'] occur twice or are reserved"),
        (dimension(name="reasoning"), "reserved"),
        (dimension(name="Truth"), "name is 'Truth'"),
        (dimension(title=None), "title is None"),
        (dimension(levels={0: "No.", 9: "Yes."}), "do not rise from 0 to 10"),
        (dimension(levels={0: "No.", 5: "b", 3: "a", 10: "Yes."}), "do not rise"),
        (dimension(levels={0: "No.", "3-5": "b", 5: "a", 10: "Yes."}), "do not rise"),
        (dimension(levels={0: "No.", "five": "b", 10: "Yes."}), "level 'five'"),
        (dimension(levels={0: "No.", 5: "", 10: "Yes."}), "level 5"),
        (dimension(levels={}), "do not rise"),
        (dimension(levels=["No."]), "not a map from marks"),
        ({"overall": {"levels": {}}}, "overall': missing keys ['description']"),
    ],
)
def test_what_is_wrong_with_it_is_said(tmp_path, change, words):
    path = write(tmp_path, {**SMALL, **change})
    with pytest.raises(JudgeError) as error:
        load_rubric(path)
    assert words in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("content", ["", "- a", "a: [", "\tx"])
def test_a_file_that_is_no_rubric(tmp_path, content):
    with pytest.raises(JudgeError, match=r"not a (map|YAML file)"):
        load_rubric(write(tmp_path, content))


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_bytes(b"name: \xff")
    with pytest.raises(JudgeError, match="UTF-8"):
        load_rubric(path)


@pytest.mark.parametrize("name", ["lithology-9", "nowhere/own.yaml", ""])
def test_none_of_that_name(name):
    with pytest.raises(JudgeError, match=r"one of \['lithology-1'\]"):
        load_rubric(name)
