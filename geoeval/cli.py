"""The command ``geoeval``.

Exit status: 0 all well, 1 something is wrong with the data, results or environment, or the output was not read to its
end, 2 wrong arguments.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from geoeval import __version__
from geoeval.catalogue import add_tasks_command
from geoeval.data.cli import add_data_command
from geoeval.harness.vlmevalkit.cli import add_vlmevalkit_command
from geoeval.report.card.cli import add_card_command
from geoeval.report.cli import add_report_command
from geoeval.runs.cli import add_score_command
from geoeval.runs.compare_cli import add_compare_command
from geoeval.runs.judge_cli import add_judge_command
from geoeval.upstream.cli import add_upstream_command


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
    parsed = _parser().parse_args(arguments)
    try:
        status = parsed.run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, e.g. ``geoeval tasks | head``
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python's own last flush complains
        status = 1
    sys.exit(status)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="geoeval",
        description="LithoBench, GeoRefusalBench and FORGE for the evaluation harnesses of multimodal models.",
        epilog='To evaluate a model, use the harness: "lmms_eval --model ... --tasks lithobench_open,georefusal". '
        "Exit status: 0 success, 1 trouble that the message explains, 2 wrong arguments.",
    )
    parser.add_argument("--version", action="version", version=f"geoeval {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    add_tasks_command(commands)
    add_data_command(commands)
    add_score_command(commands)
    add_judge_command(commands)
    add_compare_command(commands)
    add_report_command(commands)
    add_card_command(commands)
    doctor = commands.add_parser("doctor", help="say what is wrong in this environment and how to mend it")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(run=_doctor)
    add_vlmevalkit_command(commands)
    add_upstream_command(commands)
    return parser


def _doctor(parsed: argparse.Namespace) -> int:
    from dataclasses import asdict

    from geoeval.doctor import examine

    if parsed.json:
        findings = list(examine())
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        findings = []
        for finding in examine():
            findings.append(finding)
            print(f"{finding.level:8} {finding.what}")
            if finding.fix:
                print(f"{'':8} -> {finding.fix}")
    return int(any(finding.level == "error" for finding in findings))
