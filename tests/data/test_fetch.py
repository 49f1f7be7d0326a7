"""Fetching from a stand-in hub: what arrives, what is checked, what happens when the hub or the line fails."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

import pytest
from releases import canonical, georefusal_release
from standin_hub import Hub, blob_sha1, serving

REPO = "albertLee/GeoRefusalBench"
FILES = {"README.md": b"card", "large.bin": bytes(range(256)) * 8000, "images/A/x.png": b"small" * 300}


@pytest.fixture
def hub():
    with serving(Hub(REPO, dict(FILES))) as hub:
        yield hub


def geoeval(hub, cache, *arguments, start=False, **environment):
    """Run the command in a process of its own, since the hub's address is read when its client is imported."""
    command = [sys.executable, "-m", "geoeval", "data", *arguments]
    env = {
        **os.environ,
        "HF_HUB_OFFLINE": "0",
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(cache / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "GEOEVAL_CACHE": str(cache / "geoeval"),
        **environment,
    }
    if start:
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)


def fetched(hub, tmp_path, *arguments, **environment):
    return geoeval(hub, tmp_path, "fetch", "georefusal", "--to", str(tmp_path / "to"), *arguments, **environment)


def content(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def gets(hub, name):
    return [asked for asked in hub.asked if asked[0] == "GET" and asked[1].split("?")[0].endswith(name)]


def test_files_arrive_whole_and_are_recorded(hub, tmp_path):
    done = fetched(hub, tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert content(tmp_path / "to") == FILES
    record = json.loads((tmp_path / "to" / "fetched.json").read_text())
    assert (record["repo"], record["revision"], record["commit"]) == (REPO, "main", "c" * 40)
    assert record["files"] == {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in FILES.items()
    }
    assert json.loads(done.stdout)["fetched"]["commit"] == "c" * 40
    assert all("c" * 40 in path for _, path, _ in hub.asked if "/resolve/" in path)


def test_what_is_there_is_checked_and_kept(hub, tmp_path):
    fetched(hub, tmp_path)
    (tmp_path / "to" / "large.bin").write_bytes(FILES["large.bin"][:-1] + b"?")
    (tmp_path / "to" / "README.md").write_bytes(b"edit")
    hub.asked.clear()
    assert fetched(hub, tmp_path).returncode == 0
    assert content(tmp_path / "to") == FILES
    assert not gets(hub, "x.png")


def test_a_broken_connection_goes_on(hub, tmp_path):
    hub.faults = {"cut": 2}
    assert fetched(hub, tmp_path).returncode == 0
    assert content(tmp_path / "to") == FILES


def test_files_are_followed_to_another_address(hub, tmp_path):
    hub.elsewhere = True
    assert fetched(hub, tmp_path).returncode == 0
    assert content(tmp_path / "to") == FILES


def test_a_killed_download_goes_on_where_it_stopped(hub, tmp_path):
    """The process is killed when a third of a large file has come; the next asks for the rest only."""
    big = os.urandom(60_000_000)
    hub.files["c" * 40]["large.bin"], hub.pace = big, 10_000_000
    process = geoeval(hub, tmp_path, "fetch", "georefusal", "--to", str(tmp_path / "to"), start=True)
    part = None
    for _ in range(400):
        parts = list((tmp_path / "to").rglob(".large.bin.*.part"))
        if parts and parts[0].stat().st_size > 15_000_000:
            (part,) = parts
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert part is not None
    have, hub.pace = part.stat().st_size, None
    hub.asked.clear()
    assert fetched(hub, tmp_path).returncode == 0
    assert (tmp_path / "to" / "large.bin").read_bytes() == big
    (asked,) = gets(hub, "large.bin")
    assert int(asked[2].removeprefix("bytes=").rstrip("-")) >= have > 15_000_000


@pytest.mark.parametrize("status", ["429", "503"])
def test_a_busy_hub_is_waited_for(hub, tmp_path, status):
    hub.faults, hub.retry_after = {status: 2}, "1"
    started = time.monotonic()
    assert fetched(hub, tmp_path).returncode == 0
    assert content(tmp_path / "to") == FILES
    assert time.monotonic() - started > 2


def test_a_hub_that_asks_for_hours_is_not_waited_for(hub, tmp_path):
    hub.faults, hub.retry_after = {"429": 9}, "7200"
    done = fetched(hub, tmp_path)
    assert done.returncode == 1
    assert "gave up after 1 tries" in done.stderr
    assert "asks to wait 7200 seconds" in done.stderr
    assert "the same command goes on from there" in done.stderr


def test_a_file_of_the_wrong_size_is_thrown_away(hub, tmp_path):
    """Once is mended; always is an error that names the file."""
    hub.faults = {"short": 1}
    assert fetched(hub, tmp_path).returncode == 0
    assert content(tmp_path / "to") == FILES
    shutil.rmtree(tmp_path / "to")
    hub.other["README.md"] = b"CARD"
    done = fetched(hub, tmp_path)
    assert done.returncode == 1
    assert "README.md: arrived with 4 bytes or other content than the 4 bytes" in done.stderr
    assert not (tmp_path / "to" / "README.md").exists()
    assert not (tmp_path / "to" / "fetched.json").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--revision", "v9"], "albertLee/GeoRefusalBench@v9: there is no such revision"),
        (
            ["--repo", "no/such"],
            "no/such@main: there is no such dataset, or it is private; check the id,",
        ),
        (["--repo", "no id at all"], "is no id of a dataset, which is OWNER/NAME"),
    ],
)
def test_what_is_not_there_is_named(hub, tmp_path, arguments, says):
    done = fetched(hub, tmp_path, *arguments)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_gated_release_needs_a_token_that_is_never_printed(hub, tmp_path):
    hub.gated = True
    done = fetched(hub, tmp_path)
    assert done.returncode == 1
    assert "access has to be asked for on its page" in done.stderr
    wrong = fetched(hub, tmp_path, HF_TOKEN="hf_wrongsecret")
    assert wrong.returncode == 1
    right = fetched(hub, tmp_path, HF_TOKEN="hf_secret")
    assert right.returncode == 0, right.stderr
    assert "Bearer hf_secret" in hub.tokens
    written = b"".join(path.read_bytes() for path in (tmp_path / "to").rglob("*") if path.is_file())
    assert "secret" not in wrong.stdout + wrong.stderr + right.stdout + right.stderr
    assert b"hf_secret" not in written


def test_a_changed_revision_is_another_commit(hub, tmp_path):
    folder = georefusal_release(tmp_path / "release")
    files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    hub.files["c" * 40] = files
    assert geoeval(hub, tmp_path, "fetch", "georefusal").returncode == 0
    labels = json.loads(files["labels.json"])
    labels[0]["lever"] = "changed"
    hub.files["d" * 40] = {**files, "labels.json": json.dumps(labels).encode()}
    hub.revisions["main"] = "d" * 40
    done = geoeval(hub, tmp_path, "fetch", "georefusal", "--json")
    assert done.returncode == 0, done.stderr
    (prepared,) = json.loads(done.stdout)["prepared"]
    assert prepared["source"]["commit"] == "d" * 40
    assert {path.name for path in (tmp_path / "geoeval" / "hub" / "georefusal").iterdir()} == {"c" * 12, "d" * 12}
    old = geoeval(hub, tmp_path, "fetch", "georefusal", "--revision", "c" * 40, "--json")
    assert json.loads(old.stdout)["prepared"][0]["source"]["commit"] == "c" * 40


def test_offline_uses_what_was_fetched_and_else_says_what_to_do(hub, tmp_path):
    done = geoeval(hub, tmp_path, "fetch", "georefusal", HF_HUB_OFFLINE="1")
    assert done.returncode == 1
    assert "is not on this disk, and HF_HUB_OFFLINE forbids to fetch it" in done.stderr
    fetched(hub, tmp_path)
    hub.asked.clear()
    assert fetched(hub, tmp_path, HF_HUB_OFFLINE="1").returncode == 0
    assert hub.asked == []


def test_no_hub_at_all(monkeypatch, tmp_path):
    from huggingface_hub import constants

    from geoeval.data import DataError, fetch, hub

    waits = []
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hub.time, "sleep", waits.append)
    with pytest.raises(DataError, match=r"GeoRefusalBench@main: gave up after 5 tries .*the same command goes on"):
        fetch.fetch("georefusal", to=tmp_path)
    assert waits == [1, 2, 4, 8]


def test_too_much_of_a_file_is_thrown_away(hub, tmp_path):
    fetched(hub, tmp_path)
    (tmp_path / "to" / "README.md").unlink()
    name = f".README.md.{blob_sha1(FILES['README.md'])[:12]}.part"
    (tmp_path / "to" / name).write_bytes(b"far too much")
    assert fetched(hub, tmp_path).returncode == 0
    assert content(tmp_path / "to") == FILES


def test_a_disk_without_room_is_found_before_anything_is_fetched(monkeypatch, tmp_path):
    from geoeval.data import DataError, fetch

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda folder: usage(1, 1, 1_000_000_000))
    with pytest.raises(DataError, match=r"2\.1 GB are needed .* and 1\.0 GB are free\. Make room"):
        fetch._refuse_full_disk(tmp_path, [fetch._File("a", 1_000_000_000, None, None)])
    fetch._refuse_full_disk(tmp_path, [])


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a\\..\\x"])
def test_a_name_that_leads_outside_is_refused(name):
    from types import SimpleNamespace

    from geoeval.data import DataError, fetch

    with pytest.raises(DataError, match="outside of the folder"):
        fetch._file(SimpleNamespace(rfilename=name, size=1, lfs=None, blob_id="x"))


def test_lithobench_is_not_guessed(hub, tmp_path):
    done = geoeval(hub, tmp_path, "fetch", "lithobench")
    assert done.returncode == 1
    for part in ("GEOEVAL_LITHOBENCH_REPO=OWNER/NAME", "--repo OWNER/NAME", "geoeval data prepare lithobench --from"):
        assert part in done.stderr
    assert hub.asked == []
    asked = geoeval(hub, tmp_path, "fetch", "lithobench", GEOEVAL_LITHOBENCH_REPO="some/where")
    assert "some/where@main: there is no such dataset" in asked.stderr


def test_fetch_prepares_and_the_tasks_use_it(hub, tmp_path):
    folder = georefusal_release(tmp_path / "release")
    hub.files["c" * 40] = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    done = geoeval(hub, tmp_path, "fetch", "georefusal")
    assert done.returncode == 0, done.stderr
    assert f"georefusal: {len(canonical('georefusal'))} rows" in done.stdout
    shown = geoeval(hub, tmp_path, "show", "georefusal", "--json", "--sheet", str(tmp_path))
    assert json.loads(shown.stdout)[0]["signature"].startswith("release@")
