"""What a contribution cannot know by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from geoeval.report.card.entries import Dataset
from geoeval.runs.model import Result
from geoeval.upstream.families import Family


@dataclass(frozen=True)
class Settings:
    """Given on the command line.

    Attributes:
        datasets: Benchmark -> the dataset of the Hub that holds its files of rows.
        results: Results of real runs, for the text of the PR.
        repository: Address of the repository that the contribution points at, for projects that only point.
        commit: Its commit, 40 hex digits.
    """

    datasets: Mapping[str, Dataset] = field(default_factory=dict)
    results: Sequence[Result] = ()
    repository: str | None = None
    commit: str | None = None


def data_values(family: Family, settings: Settings) -> dict[str, str]:
    """What templates say of where the rows are."""
    dataset = settings.datasets.get(family.name)
    return {
        "title": family.title,
        "name": family.name,
        "repository": dataset.id if dataset else "",
        "revision": repr(dataset.revision) if dataset else "None",
        "variable": f"{family.name.upper()}_DATA",
        "files": ", ".join(f"`{name}.parquet`" for name in family.datasets),
    }


def data_note(family: Family, settings: Settings, project: str) -> str:
    """Where the rows are, or what is still to be done."""
    values = data_values(family, settings)
    if values["repository"]:
        return f"read from `{values['repository']}`"
    return (
        f"{values['files']} (made by `geoeval data prepare`) have to be hosted first; then `geoeval upstream {project} "
        f"--dataset {family.name}=OWNER/NAME@COMMIT` writes their place into the code"
    )
