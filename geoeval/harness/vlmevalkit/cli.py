"""``geoeval vlmevalkit``: VLMEvalKit's own runner with our datasets, made safe, and an honest exit status.

Exit status: 0 all well; 1 a dataset failed, or no item of it could be scored; 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

_DESCRIPTION = "Run VLMEvalKit (ms-vlmeval, or a checkout) with the datasets of geoeval."
_EPILOG = """\
Everything else is passed on, e.g.
  geoeval vlmevalkit --data GeoRefusalBench FORGE_WORKVERI --model NAME --base-url http://HOST:PORT/v1
  geoeval vlmevalkit --data LithoBench_OPEN --model Qwen2.5-VL-7B-Instruct --work-dir outputs
  torchrun --nproc-per-node 8 -m geoeval.harness.vlmevalkit --data GeoRefusalBench --model ...
VLMEvalKit's own options: python -m vlmeval --help
The datasets: %s and their subsets, e.g. FORGE_WORKVERI_IMAGE_ICD for the task forge_workveri_image_icd.
Exit status: 0 all well; 1 a dataset failed, or no item of it could be scored; 2 wrong arguments."""
_MISSING = """\
geoeval: VLMEvalKit cannot be imported (%s).
Run: pip install "geoeval[vlmevalkit]", or give a checkout with --vlmevalkit-root.
docs/vlmevalkit.md has a smaller install."""


def add_vlmevalkit_command(commands: Any) -> None:
    """Add ``vlmevalkit`` to the subcommands of ``geoeval``."""
    parser = commands.add_parser(
        "vlmevalkit",
        help="run VLMEvalKit with our datasets",
        add_help=False,
        prefix_chars="\0",  # so that no option of the harness is taken for one of geoeval's
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parser.set_defaults(run=lambda parsed: run(parsed.arguments))


def main() -> None:
    """The command, for ``python -m``."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run VLMEvalKit's command line; see the module for the exit status."""
    from geoeval.harness.vlmevalkit import plugin

    parser = _parser()
    own, rest = parser.parse_known_args(arguments)
    if own.help or not rest:
        parser.print_help()
        return 0 if own.help else 2
    try:
        runner = plugin.load_runner(own.vlmevalkit_root)
        plugin.register()
    except FileNotFoundError as error:
        parser.error(str(error))
    except ImportError as error:
        print(_MISSING % error, file=sys.stderr)
        return 1
    from geoeval.harness.vlmevalkit.arguments import settle

    sys.argv = ["geoeval vlmevalkit", *rest]
    parsed = runner.parse_args()
    try:
        sys.argv = settle(parsed, runner, rest)
    except ValueError as error:
        parser.error(str(error))
    return _run(runner, parsed)


def _parser() -> argparse.ArgumentParser:
    names = "LithoBench_MCQ, LithoBench_OPEN, GeoRefusalBench, FORGE_WORKVERI, FORGE_SURFINSP, FORGE_ASSYVERI"
    parser = argparse.ArgumentParser(
        prog="geoeval vlmevalkit",
        usage="geoeval vlmevalkit [--vlmevalkit-root PATH] --data NAME [NAME ...] --model NAME [options of VLMEvalKit]",
        description=_DESCRIPTION,
        epilog=_EPILOG % names,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this help")
    parser.add_argument("--vlmevalkit-root", type=Path, metavar="PATH", help="a checkout in place of ms-vlmeval")
    return parser


def _run(runner: ModuleType, parsed: Any) -> int:
    from geoeval.harness.vlmevalkit import outcome

    started = datetime.now().astimezone()
    names, mode = _names(runner, parsed), parsed.mode
    run_dirs: list[Path] = []
    upsert = runner.upsert_run_status

    def noted(run_dir: str | Path, **fields: Any) -> Any:
        run_dirs.append(Path(run_dir))
        return upsert(run_dir, **fields)

    runner.upsert_run_status = noted  # type: ignore[attr-defined]
    runner.parse_args = lambda: parsed  # type: ignore[attr-defined]
    runner.main()
    if int(os.environ.get("RANK", "0")) != 0:
        return 0
    if not run_dirs:
        print("geoeval: nothing was run; the log says why", file=sys.stderr)
        return 1
    problems = [problem for run_dir in run_dirs for problem in outcome.failures(run_dir, names, mode, started)]
    files = [file for run_dir in run_dirs for file in outcome.report(run_dir, names)]
    print("files:", *files, *(run_dir / outcome.STATUS for run_dir in run_dirs), sep="\n  ", flush=True)
    for problem in problems:
        print(f"geoeval: {problem}", file=sys.stderr)
    return int(bool(problems))


def _names(runner: ModuleType, parsed: Any) -> list[str]:
    """The datasets of the run; of a configuration they are its keys."""
    return list(runner.load(parsed.config)["data"]) if parsed.config else list(parsed.data)
