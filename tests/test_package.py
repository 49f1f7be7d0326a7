"""What the wheel holds: every file of the tree that a user needs, and no global package called ``tasks``."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"geoeval": "geoeval", "tasks": "geoeval/tasks", "yaml_configs": "geoeval/yaml_configs"}
pytest.importorskip("build", reason="needs the package 'build'")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_wheel_holds_the_tree_and_nothing_else(wheel):
    tracked = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    wanted = set()
    for name in tracked.stdout.split():
        folder, rest = name.split("/", 1)
        wanted.add(f"{FOLDERS[folder]}/{rest}")
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == wanted


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
