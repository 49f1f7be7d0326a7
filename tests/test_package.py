"""What the wheel holds: every file of the tree that a user needs, and no global package called ``tasks``."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"geoeval": "geoeval", "tasks": "geoeval/tasks", "yaml_configs": "geoeval/yaml_configs"}
pytest.importorskip("build", reason="needs the package 'build'")


@pytest.fixture(scope="module")
def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def wheel(tracked, tmp_path_factory):
    """Built from a copy, since setuptools would put stale files of an earlier ``build`` folder into it."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_wheel_holds_the_tree_and_nothing_else(wheel, tracked):
    folders = [name.split("/", 1) for name in tracked if name.split("/")[0] in FOLDERS]
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == {f"{FOLDERS[folder]}/{rest}" for folder, rest in folders}


def test_wheel_names_its_entry_points(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    text = wheel.read(name).decode()
    assert "geoeval = geoeval.cli:main" in text
    assert "lmms_eval = geoeval.harness.lmms_eval.cli:main" in text
    assert "[lmms_eval.models]" in text


def test_extra_pins_what_breaks_the_harness(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    requirements = wheel.read(name).decode()
    assert 'lmms-eval>=0.7.3; extra == "lmms-eval"' in requirements
    assert 'filelock<4.3; extra == "lmms-eval"' in requirements
