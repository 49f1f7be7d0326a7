"""``inspect eval geoeval/<task>``: every task as a function that inspect-ai's registry knows.

Those that a register of evaluations may list are written out, since it looks for ``@task`` in the source; the others
are made of the list of benchmarks. The argument ``data`` is "sample" or a folder; without it GEOEVAL_DATA decides.
"""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai import Task, task

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.harness.inspect_ai.building import build


@task  # type: ignore[untyped-decorator]
def lithobench_mcq(data: str | None = None) -> Task:
    """LithoBench, multiple choice: lithology from a satellite tile."""
    return build("lithobench_mcq", data)


@task  # type: ignore[untyped-decorator]
def lithobench_open(data: str | None = None) -> Task:
    """LithoBench, open answers: lithology from a satellite tile; with a judge where the role ``grader`` names one."""
    return build("lithobench_open", data)


@task  # type: ignore[untyped-decorator]
def georefusal(data: str | None = None) -> Task:
    """GeoRefusalBench: whether a question can be answered from an image, and why not."""
    return build("georefusal", data)


@task  # type: ignore[untyped-decorator]
def forge_workveri(data: str | None = None) -> Task:
    """FORGE, work-piece verification: which part does not belong."""
    return build("forge_workveri", data)


@task  # type: ignore[untyped-decorator]
def forge_surfinsp(data: str | None = None) -> Task:
    """FORGE, surface inspection: whether a part is normal, and which defect it has."""
    return build("forge_surfinsp", data)


@task  # type: ignore[untyped-decorator]
def forge_assyveri(data: str | None = None) -> Task:
    """FORGE, assembly verification: which part is extra, mismatched or incorrect."""
    return build("forge_assyveri", data)


@task  # type: ignore[untyped-decorator]
def forge_missing_part_image(data: str | None = None) -> Task:
    """FORGE, missing part, photos."""
    return build("forge_missing_part_image", data)


@task  # type: ignore[untyped-decorator]
def forge_missing_part_three_view(data: str | None = None) -> Task:
    """FORGE, missing part, three-view pictures."""
    return build("forge_missing_part_three_view", data)


def _task(name: str) -> Callable[..., Task]:
    def make(data: str | None = None) -> Task:
        return build(name, data)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{name}, version {get_benchmark(name).version}."
    registered: Callable[..., Task] = task(name=name)(make)
    return registered


TASKS: dict[str, Callable[..., Task]] = {name: globals().get(name) or _task(name) for name in benchmark_names()}
