"""Make the bundled SAMPLE: ``python -m tools.make_sample [--out DIR]``, from the root of the repository."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.make_sample import (
    forge_assyveri,
    forge_grounding,
    forge_missing_part,
    forge_surfinsp,
    forge_workveri,
    georefusal,
    lithobench_mcq,
    lithobench_open,
)
from tools.make_sample.table import Row, write_table

BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    "lithobench_mcq": lithobench_mcq.rows,
    "lithobench_open": lithobench_open.rows,
    "georefusal": georefusal.rows,
    "forge_workveri": forge_workveri.rows,
    "forge_assyveri": forge_assyveri.rows,
    "forge_surfinsp": forge_surfinsp.rows,
    "forge_missing_part": forge_missing_part.rows,
    "forge_grounding": forge_grounding.rows,
}
_DEFAULT = Path(__file__).parents[2] / "geoeval" / "data" / "sample"


def main() -> None:
    """Write one parquet file per benchmark and say how large it is."""
    parser = argparse.ArgumentParser(prog="python -m tools.make_sample", description=__doc__)
    parser.add_argument("--out", type=Path, default=_DEFAULT, help="folder of the parquet files")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, rows in BENCHMARKS.items():
        # Ordered by opaque id: the first few rows are a mixture, whatever a run is limited to.
        items = sorted(rows(), key=lambda row: row.id)
        path = out / f"{name}.parquet"
        write_table(path, name, items)
        print(f"{path}: {len(items)} rows, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
