"""``geoeval data``: exit status, what is on which stream, and the commands of docs/data.md."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from releases import DATASETS, export, georefusal_release

from geoeval.cli import main

DOCS = Path(__file__).parents[2] / "docs" / "data.md"


def geoeval(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(["data", *map(str, arguments)])
    return (stopped.value.code, *capsys.readouterr())


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GEOEVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_prepare_check_show(capsys, tmp_path, cache):
    copy = georefusal_release(tmp_path / "copy")
    code, out, err = geoeval(capsys, "prepare", "georefusal", "--from", copy)
    assert (code, err) == (0, "")
    assert out == f"georefusal: 83 rows in {cache}/prepared/georefusal.parquet\n"
    code, out, _ = geoeval(capsys, "check", "georefusal")
    assert code == 1  # it is not the published release
    assert "83; published: 587" in out
    code, out, _ = geoeval(capsys, "show", "georefusal", "--sheet", tmp_path)
    assert code == 0
    assert "georefusal  release@" in out
    assert f"contact sheet: {tmp_path}/georefusal.png" in out
    assert (tmp_path / "georefusal.png").is_file()


def test_json_is_one_object_and_nothing_else(capsys, tmp_path):
    copy = georefusal_release(tmp_path / "copy")
    _, out, _ = geoeval(capsys, "prepare", "georefusal", "--from", copy, "--to", tmp_path / "to", "--json")
    assert json.loads(out)["prepared"][0]["output"]["rows"] == 83
    code, out, _ = geoeval(capsys, "check", "georefusal", "--data", tmp_path / "to", "--json")
    (found,) = json.loads(out)
    assert (code, found["ok"], found["data"][:6]) == (1, False, "local@")
    _, out, _ = geoeval(capsys, "show", "georefusal", "--data", "sample", "--sheet", tmp_path, "--json")
    assert json.loads(out)[0]["rows"] == 83


@pytest.mark.parametrize("benchmark", ["lithobench", "georefusal", "forge"])
def test_the_sample_is_good_and_called_sample(capsys, benchmark):
    code, out, err = geoeval(capsys, "check", benchmark, "--data", "sample")
    assert (code, err) == (0, "")
    for dataset in DATASETS:
        assert (f"{dataset}  SAMPLE@" in out) == dataset.startswith(benchmark)
    assert "SAMPLE: not the published data" in out
    assert "published:" not in out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["check", "georefusal"], 1, "georefusal: not prepared yet: geoeval data fetch georefusal"),
        (["check", "forge_workveri"], 1, "forge_workveri: not prepared yet: geoeval data fetch forge"),
        (["show", "nothing"], 1, "no dataset 'nothing'; there are lithobench, georefusal, forge, lithobench_mcq"),
        (["check", "georefusal", "--data", "/nowhere"], 1, "no file /nowhere/georefusal.parquet"),
        (["prepare", "georefusal", "--from", "/nowhere"], 1, "no folder /nowhere"),
        (["fetch", "lithobench"], 1, "GEOEVAL_LITHOBENCH_REPO=OWNER/NAME"),
        (["fetch", "georefusal"], 1, "HF_HUB_OFFLINE forbids"),
        (["prepare", "georefusal"], 2, "--from"),
        (["prepare", "other", "--from", "."], 2, "invalid choice: 'other'"),
    ],
)
def test_what_is_wrong_is_said_in_one_message(capsys, arguments, code, says):
    found, out, err = geoeval(capsys, *arguments)
    assert (found, out) == (code, "")
    assert says in err


def test_one_dataset_in_trouble_does_not_stop_another(capsys, tmp_path):
    copy = export("lithobench_open", tmp_path / "copy", "jsonl")
    (copy / "lithobench_mcq.json").write_text('[{"nummer": 1}]')
    code, out, err = geoeval(capsys, "prepare", "lithobench", "--from", copy, "--to", tmp_path / "to")
    assert code == 1
    assert "lithobench_open: 60 rows" in out
    assert "columns present: nummer" in err
    assert not (tmp_path / "to" / "lithobench_mcq.parquet").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="uses a shell")
def test_the_commands_of_the_documentation_work(tmp_path):
    """Every command of docs/data.md, in order, on stand-in data; those that need the network are left out."""
    georefusal_release(tmp_path / "copies" / "georefusal")
    for dataset in DATASETS:
        if not dataset.startswith("georefusal"):
            export(dataset, tmp_path / "copies" / dataset.split("_")[0], "jsonl")
    blocks = re.findall(r"```(?:bash|yaml file=(\S+))\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    env = {**os.environ, "GEOEVAL_CACHE": str(tmp_path / "cache")}
    run = 0
    for name, text in blocks:
        if name:
            (tmp_path / name).write_text(text)
            continue
        for line in text.splitlines():
            command, _, comment = line.partition("#")
            if not command.strip() or "network" in comment:
                continue
            if command.startswith("export "):
                key, value = shlex.split(command)[1].split("=", 1)
                env[key] = value
                continue
            words = shlex.split(command)
            assert words[0] == "geoeval", line
            done = subprocess.run(
                [sys.executable, "-m", "geoeval", *words[1:]],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == ("exit 1" in comment), f"{line}\n{done.stdout}\n{done.stderr}"
            run += 1
    assert run >= 6
