"""``geoeval data fetch``: a release from Hugging Face into a local folder.

The revision is resolved to a commit first and everything is taken from that commit. A download that broke off goes on
where it stopped. Every file is compared with the size and the hash that the hub states. HF_ENDPOINT, HF_TOKEN and
HF_HUB_OFFLINE are those of `huggingface_hub`.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from geoeval import __version__
from geoeval.data.errors import DataError
from geoeval.data.files import sha256_of, write_json
from geoeval.data.hub import explained, patiently, quiet_bars
from geoeval.data.progress import growing
from geoeval.data.readers import FETCHED
from geoeval.data.source import cache_folder

REPOSITORIES = {"georefusal": "albertLee/GeoRefusalBench", "forge": "AI4Manufacturing/forge"}
_RESERVE = 64 << 20
_WORKERS = 4


@dataclass(frozen=True)
class Fetched:
    """A release on this disk.

    Attributes:
        folder: Where it is.
        repo, revision, commit: Which it is; the revision is what was asked for.
    """

    folder: Path
    repo: str
    revision: str
    commit: str


@dataclass(frozen=True)
class _File:
    """One file, as the hub states it; ``sha256`` for large files, ``sha1`` of the git blob for others."""

    name: str
    size: int
    sha256: str | None
    sha1: str | None

    def is_whole(self, path: Path) -> bool:
        """Whether a file is this one."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        if self.sha256:
            return sha256_of(path) == self.sha256
        return self.sha1 is None or _blob_sha1(path) == self.sha1


def repository(benchmark: str, repo: str | None = None) -> str:
    """The repository of a benchmark: the one given, else GEOEVAL_<BENCHMARK>_REPO, else the published one.

    Raises:
        DataError: None is known.
    """
    setting = f"GEOEVAL_{benchmark.upper()}_REPO"
    found = repo or os.environ.get(setting) or REPOSITORIES.get(benchmark)
    if not found:
        raise DataError(
            f"{benchmark}: the Hugging Face id of this release is not known, and geoeval does not guess one. "
            f"With an id: {setting}=OWNER/NAME, or geoeval data fetch {benchmark} --repo OWNER/NAME. "
            f"With a copy on disk: geoeval data prepare {benchmark} --from FOLDER."
        )
    return found


def fetch(benchmark: str, revision: str | None = None, repo: str | None = None, to: Path | None = None) -> Fetched:
    """Fetch a release; files that are there already are checked and kept.

    Args:
        benchmark: "lithobench", "georefusal" or "forge".
        revision: Branch, tag or commit; "main" when None.
        repo: See `repository`.
        to: The folder; one of its own for each commit in the cache when None.

    Raises:
        DataError: It cannot be fetched; says why and what to do. Whole files stay, and the next try goes on from there.
    """
    repo, revision = repository(benchmark, repo), revision or "main"
    from filelock import FileLock
    from huggingface_hub import HfApi, constants

    base = cache_folder() / "hub" / benchmark
    if constants.HF_HUB_OFFLINE:
        return _fetched_before([to] if to else sorted(base.glob("*")), repo, revision)
    what = f"{repo}@{revision}"
    with explained(what):
        info = patiently(partial(HfApi().dataset_info, repo, revision=revision, files_metadata=True), what)
    files = [_file(sibling) for sibling in info.siblings or ()]
    if not files or not info.sha:
        raise DataError(f"{what}: the hub lists no files")
    folder = (to.expanduser().absolute() if to else base / info.sha[:12]).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error}); set GEOEVAL_CACHE to a folder that can") from error
    with FileLock(folder / ".lock"):
        missing = [file for file in files if not file.is_whole(folder / file.name)]
        _refuse_full_disk(folder, missing)
        with quiet_bars(), explained(what), growing(f"fetching {repo}", folder, sum(file.size for file in missing)):
            _download(repo, info.sha, missing, folder)
        result = Fetched(folder, repo, revision, info.sha)
        write_json(folder / FETCHED, _record(result, files))
    return result


def _download(repo: str, commit: str, files: Sequence[_File], folder: Path) -> None:
    pool = ThreadPoolExecutor(_WORKERS)
    try:
        for _ in pool.map(partial(_download_one, repo, commit, folder), files):
            pass
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _download_one(repo: str, commit: str, folder: Path, file: _File) -> None:
    """One file, under another name until it is whole; what is there of it is kept for the next try.

    Not `hf_hub_download`: releases of the client since 2.0 throw away what a process that was killed had fetched.
    """
    what = f"{repo}@{commit[:12]}: {file.name}"
    path = folder / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{(file.sha256 or file.sha1 or commit)[:12]}.part")
    for _ in range(2):
        patiently(partial(_get, repo, commit, file, part), what)
        if file.is_whole(part):
            os.replace(part, path)
            return
        found = part.stat().st_size
        part.unlink()
    raise DataError(
        f"{what}: arrived with {found:,} bytes or other content than the {file.size:,} bytes that the hub states, "
        f"twice; it was thrown away. Try again later, or with HF_ENDPOINT unset."
    )


def _get(repo: str, commit: str, file: _File, part: Path) -> None:
    """What is missing of a file."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    url = hf_hub_url(repo, file.name, repo_type="dataset", revision=commit)
    with open(part, "ab") as target:
        if target.tell() > file.size:
            target.seek(0)
            target.truncate()
        if target.tell() < file.size:
            http_get(url, target, resume_size=target.tell(), headers=build_hf_headers(), expected_size=file.size)


def _file(sibling: Any) -> _File:
    name = PurePosixPath(sibling.rfilename)
    if name.is_absolute() or ".." in name.parts or "\\" in str(name):
        raise DataError(f"the hub lists a file {str(name)!r}, which would be written outside of the folder")
    lfs = sibling.lfs
    sha256 = (lfs.get("sha256") if isinstance(lfs, dict) else lfs.sha256) if lfs else None
    return _File(str(name), sibling.size or 0, sha256, None if lfs else sibling.blob_id)


def _blob_sha1(path: Path) -> str:
    """The name git gives to the content of a file."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _refuse_full_disk(folder: Path, missing: Iterable[_File]) -> None:
    needed = sum(file.size for file in missing)
    needed = 2 * needed + _RESERVE if needed else 0  # the prepared files are about as large as the release
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"{folder}: {needed / 1e9:.1f} GB are needed for the release and its prepared files, and "
            f"{free / 1e9:.1f} GB are free. Make room, or set GEOEVAL_CACHE to a folder on a larger disk."
        )


def _record(fetched: Fetched, files: Iterable[_File]) -> dict[str, Any]:
    return {
        "repo": fetched.repo,
        "revision": fetched.revision,
        "commit": fetched.commit,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "geoeval": __version__,
        "files": {f.name: {"bytes": f.size, "sha256": f.sha256 or sha256_of(fetched.folder / f.name)} for f in files},
    }


def _fetched_before(folders: Iterable[Path], repo: str, revision: str) -> Fetched:
    """The newest whole copy of a revision, for use without a network."""
    found: list[tuple[str, Fetched]] = []
    for folder in folders:
        if (folder / FETCHED).is_file():
            about = json.loads((folder / FETCHED).read_text(encoding="utf-8"))
            if about["repo"] == repo and (about["revision"] == revision or about["commit"].startswith(revision)):
                found.append((about["date"], Fetched(folder, repo, about["revision"], about["commit"])))
    if not found:
        raise DataError(
            f"{repo}@{revision} is not on this disk, and HF_HUB_OFFLINE forbids to fetch it. Unset HF_HUB_OFFLINE, or "
            f"fetch it elsewhere and use geoeval data prepare NAME --from FOLDER."
        )
    return max(found, key=lambda entry: entry[0])[1]
