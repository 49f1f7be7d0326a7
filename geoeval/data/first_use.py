"""The published release, fetched and prepared when a task first asks for it: once, whoever else asks with it."""

from __future__ import annotations

import sys

from geoeval.data.errors import DataError
from geoeval.data.schema import LAYOUT, benchmark_of
from geoeval.data.source import cache_folder, prepared_folder


def prepare_release(dataset: str) -> None:
    """Fetch and prepare one dataset of a release, unless another process did so while this one waited.

    Raises:
        DataError: It cannot be done; says what to do instead.
    """
    from filelock import FileLock

    from geoeval.data.fetch import fetch
    from geoeval.data.prepare import prepare

    if dataset not in LAYOUT:
        raise DataError(f"no dataset {dataset!r}; there are {', '.join(LAYOUT)}")
    benchmark, path = benchmark_of(dataset), prepared_folder() / f"{dataset}.parquet"
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with FileLock(cache_folder() / f"{benchmark}.lock"):
            if path.is_file():
                return
            print(f"geoeval: {dataset}: preparing the published release, once, in {cache_folder()}", file=sys.stderr)
            written, problems = prepare(benchmark, fetch(benchmark).folder, prepared_folder(), only=[dataset])
            if not written:
                raise DataError("\n".join(problems))
    except OSError as error:
        raise DataError(
            f"{dataset}: {cache_folder()} cannot be used ({error}); set GEOEVAL_CACHE to a folder"
        ) from error
    except DataError as error:
        raise DataError(
            f"{dataset}: GEOEVAL_DATA is not set, so the published release is asked for, which is not prepared yet.\n"
            f"{error}\n"
            f"Or set GEOEVAL_DATA=sample for the bundled SAMPLE, or GEOEVAL_DATA=/folder with {dataset}.parquet in the "
            f"canonical layout (geoeval data prepare {benchmark} --from COPY --to /folder)."
        ) from error
