"""What the files of checks share; see `inside`."""

from __future__ import annotations

from pathlib import Path

CHECKS = {}
RUNNER = None  # the harness's run.py, set by `inside`


def check(function):
    CHECKS[function.__name__] = function
    return function


def raises(error, function, *arguments, match="", **keywords):
    try:
        function(*arguments, **keywords)
    except error as found:
        said = str(found)
    else:
        raise AssertionError(f"{error} was not raised")
    assert match in said, f"{said} does not say {match!r}"


def dataset(name="GeoRefusalBench"):
    from geoeval.harness.vlmevalkit.dataset import GeoEvalDataset

    return GeoEvalDataset(name)


def predictions(folder, name, replies, data=None):
    """A prediction file as the harness writes it after a run of our dataset."""
    import vlmeval.inference

    data = data if data is not None else dataset(name)
    frame = data.data.iloc[: len(replies)].copy()
    frame["prediction"] = replies
    file = Path(folder) / f"m_{name}.tsv"
    vlmeval.inference.dump(frame, str(file))
    return file
