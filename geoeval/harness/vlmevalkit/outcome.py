"""What came of a run of VLMEvalKit, which ends with 0 whatever failed; and what earlier runs left behind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from geoeval.data.files import write_json
from geoeval.harness.vlmevalkit.scoring import read_record, stem_of
from geoeval.runs.saved import items_file, record_file
from geoeval.runs.vlmevalkit import datasets

STATUS = "status.json"


def failures(run_dir: Path, names: Sequence[str], mode: str, started: datetime) -> Iterator[str]:
    """What is wrong with one model's run.

    Args:
        run_dir: Where its ``status.json`` is.
        names: The datasets that were asked for.
        mode: "all", "infer" or "eval".
        started: When the run began; what is older says nothing of it.
    """
    try:
        entries = json.loads((run_dir / STATUS).read_text(encoding="utf-8"))["datasets"]
    except (OSError, ValueError, KeyError) as error:
        yield f"{run_dir / STATUS}: cannot be read ({error!r})"
        return
    for name in names:
        entry = entries.get(name, {})
        if not entry or datetime.fromisoformat(entry["updated_at"]) < started:
            yield f"{name}: was not run; the log says why"
        elif entry.get("error_message"):
            yield f"{name}: {entry['error_message'].strip().splitlines()[0]}"
        elif entry.get("skip_reason") and not (mode == "infer" and entry["skip_reason"] == "mode_infer"):
            yield f"{name}: skipped, {entry['skip_reason']}"
        elif entry.get("status") != "done":
            yield f"{name}: ended in the state {entry.get('status')!r}"
        elif name in datasets():
            yield from _unscored(_predictions_of(run_dir, entry), name, mode)
        elif mode != "infer" and not entry.get("metrics"):
            yield f"{name}: no number came of it"


def _unscored(predictions: Path, name: str, mode: str) -> Iterator[str]:
    if not predictions.is_file():
        yield f"{name}: no predictions in {predictions}"
    elif mode != "infer" and read_record(predictions) is None:
        yield f"{name}: no record {record_file(stem_of(predictions))}"


def report(run_dir: Path, names: Sequence[str]) -> list[Path]:
    """Print our tables of one model's run.

    Returns:
        The files that were written.
    """
    from geoeval.data import SAMPLE
    from geoeval.report.table import SAMPLE_NOTE, plain_console, print_summary
    from geoeval.runs.record import summary_from_record

    console, files, sample = plain_console(), [], False
    for predictions in _predictions(run_dir, names):
        record = read_record(predictions)
        if record is None:
            files.append(predictions)
            continue
        sample = record["run"]["data"] == SAMPLE
        title, whole = f"{record['task']}  {record['run']['model']}", record["run"]["items_in_task"]
        print_summary(console, title, summary_from_record(record), sample=sample, items_in_task=whole)
        files += [predictions, items_file(stem_of(predictions)), record_file(stem_of(predictions))]
    if sample:
        console.print(SAMPLE_NOTE, style="bold")
    return files


def _predictions(run_dir: Path, names: Sequence[str]) -> Iterator[Path]:
    try:
        entries = json.loads((run_dir / STATUS).read_text(encoding="utf-8"))["datasets"]
    except (OSError, ValueError, KeyError):
        return
    for name in names:
        if name in datasets() and name in entries and _predictions_of(run_dir, entries[name]).is_file():
            yield _predictions_of(run_dir, entries[name])


def _predictions_of(run_dir: Path, entry: Mapping[str, Any]) -> Path:
    """Only the name is used: it stands below the run's folder or below the working one, as the folder was given."""
    return run_dir / Path(entry.get("prediction_file") or "none").name


def move_aside(folder: Path, model: str, names: Sequence[str], others: Sequence[str], stamp: str) -> Path | None:
    """Move what an earlier run of the same model and datasets left, which ms-vlmeval would take for today's replies.

    Args:
        folder: Of the model; what is in run folders of their own is no danger.
        model: As it stands in file names.
        names: The datasets.
        others: All datasets the harness knows, so that ``GeoRefusalBench`` does not take ``GeoRefusalBench_A`` along.
        stamp: For the name of the folder they are moved to.

    Returns:
        That folder; None when there was nothing.
    """
    if not folder.is_dir():
        return None
    old = [path for path in sorted(folder.iterdir()) if _is_of(path, model, names, others)]
    aside = folder / f"earlier-{stamp}"
    status = folder / STATUS
    entries = _without(status, names) if status.is_file() and not status.is_symlink() else None
    if not old and entries is None:
        return None
    aside.mkdir()
    if entries is not None:
        (aside / STATUS).write_bytes(status.read_bytes())
        write_json(status, entries)
    for path in old:
        path.rename(aside / path.name)
    return aside


def _is_of(path: Path, model: str, names: Sequence[str], others: Sequence[str]) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    for name in names:
        if re.fullmatch(rf"\d+_{re.escape(name)}\.pkl", path.name):
            return True
        start = f"{model}_{name}"
        longer = [other for other in others if other.startswith((f"{name}_", f"{name}-"))]
        if path.name.startswith((f"{start}.", f"{start}_")) and not path.name.startswith(
            tuple(f"{model}_{other}" for other in longer)
        ):
            return True
    return False


def _without(status: Path, names: Sequence[str]) -> dict[str, Any] | None:
    """A status without some datasets; None when it has none of them."""
    try:
        content: dict[str, Any] = json.loads(status.read_text(encoding="utf-8"))
        kept = {name: entry for name, entry in content["datasets"].items() if name not in names}
    except (ValueError, KeyError, AttributeError):
        return {"datasets": {}}
    return None if len(kept) == len(content["datasets"]) else {**content, "datasets": kept}
