"""``geoeval doctor`` names what is wrong and how to mend it.

The environments are made of package metadata in a folder that stands first on the path, as pip would leave them.
"""

import json
import os
import subprocess
import sys

import pytest


def distribution(folder, name, version, code=None):
    """What an installed package leaves: its metadata and, if given, a module."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    if code is not None:
        (folder / f"{name}.py").write_text(code, encoding="utf-8")


def doctor(*arguments, **changes):
    return subprocess.run(
        [sys.executable, "-m", "geoeval", "doctor", *arguments],
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


NMS = "raise RuntimeError('operator torchvision::nms does not exist')"

CASES = {
    "old harness": ([("lmms-eval", "0.7.2")], "lmms-eval 0.7.2 is too old", 'pip install "lmms-eval>=0.7.3"'),
    "filelock 4.3": (
        [("lmms-eval", "0.7.3"), ("filelock", "4.3.1"), ("torch", "2.13.0")],
        "filelock 4.3.1: lmms-eval imports filelock._api",
        'pip install "filelock<4.3"',
    ),
    "datasets 3": (
        [("lmms-eval", "0.7.3"), ("datasets", "3.6.0"), ("filelock", "4.2.0")],
        "datasets 3.6.0 cannot keep lists of pictures compressed",
        'pip install "datasets>=4"',
    ),
    "torchvision beside a CPU torch": (
        [("lmms-eval", "0.7.3"), ("filelock", "4.2.0"), ("torch", "2.13.0+cpu"), ("torchvision", "0.28.0", NMS)],
        "torchvision 0.28.0 does not work beside torch 2.13.0+cpu (RuntimeError: operator torchvision::nms",
        "pip uninstall torchvision",
    ),
}


@pytest.mark.parametrize(("packages", "says", "fix"), CASES.values(), ids=CASES)
def test_broken_environment(tmp_path, packages, says, fix):
    for package in packages:
        distribution(tmp_path, *package)
    done = doctor(PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    line = next(i for i, text in enumerate(done.stdout.splitlines()) if says in text)
    assert done.stdout.splitlines()[line].startswith("error")
    assert fix in done.stdout.splitlines()[line + 1]


def test_no_harness(monkeypatch):
    """In this process, since an installed package cannot be hidden by a path."""
    from geoeval import doctor as module

    monkeypatch.setattr(module, "version", lambda name: (_ for _ in ()).throw(module.PackageNotFoundError(name)))
    findings = {finding.what: finding for finding in module.examine()}
    missing = findings["lmms-eval is not installed, nor another harness"]
    assert (missing.level, missing.fix) == ("error", 'pip install "geoeval[lmms-eval]"')
    assert "which is not installed" in next(what for what in findings if what.startswith("geoeval report"))


def test_another_harness_will_do(monkeypatch):
    from geoeval import doctor as module

    versions = {"lm-eval": "0.4.13", "geoeval": "0"}

    def version(name):
        if name not in versions:
            raise module.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(module, "version", version)
    found = {finding.what: finding.level for finding in module.examine()}
    assert found["lmms-eval is not installed; another harness is"] == "ok"
    versions["lm-eval"] = "0.4.11"
    assert any("lm-eval 0.4.11 is too old" in finding.what for finding in module.examine())


@pytest.mark.parametrize(
    ("settings", "level", "says"),
    [
        ({}, "ok", "no judge is set"),
        ({"MODEL": "j", "BASE_URL": "http://127.0.0.1:9/v1"}, "ok", "judge j at http://127.0.0.1:9/v1, without a key"),
        (
            {"MODEL": "j", "BASE_URL": "http://127.0.0.1:9/v1", "API_KEY": "sk-x"},
            "ok",
            "with a key; rubric lithology-1",
        ),
        ({"MODEL": "j", "WIEGHT": "1"}, "error", "did you mean GEOEVAL_JUDGE_WEIGHT"),
        ({"MODEL": "j"}, "error", "needs a key"),
    ],
)
def test_judge(monkeypatch, settings, level, says):
    from geoeval import doctor as module

    for name in [name for name in os.environ if name.startswith("GEOEVAL_JUDGE_")] + ["OPENAI_API_KEY"]:
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(f"GEOEVAL_JUDGE_{name}", value)
    (finding,) = module._examine_judge()
    assert (finding.level, says in finding.what) == (level, True), finding
    assert "sk-x" not in finding.what


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("", "GEOEVAL_DATA is not set: tasks use the published releases"),
        ("", "georefusal: not prepared yet; the first task that needs it fetches it"),
        ("", "-> geoeval data fetch forge (or: export GEOEVAL_DATA=sample, or a folder)"),
        ("sample", "georefusal: SAMPLE@"),
        ("/none", "no file /none/georefusal.parquet"),
    ],
)
def test_data_setting(tmp_path, setting, says):
    distribution(tmp_path, "lmms-eval", "0.7.2")
    assert says in doctor(PYTHONPATH=str(tmp_path), GEOEVAL_DATA=setting).stdout


def test_json(tmp_path):
    distribution(tmp_path, "lmms-eval", "0.7.2")
    findings = json.loads(doctor("--json", PYTHONPATH=str(tmp_path)).stdout)
    assert {"level", "what", "fix"} == set(findings[0])
    assert "error" in {finding["level"] for finding in findings}


def test_healthy_environment():
    pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")
    done = doctor(GEOEVAL_DATA="sample")
    assert done.returncode == 0, done.stdout
    assert "our tasks are known to lmms-eval" in done.stdout
