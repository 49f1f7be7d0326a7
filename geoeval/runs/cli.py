"""``geoeval score FILES...``.

Exit status: 0 all scored, 1 a run could not be scored or a record is not of its schema, 2 wrong arguments or a file
that no reader knows. Tables and, with ``--json``, records are on standard output; messages are on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.data.errors import DataError

if TYPE_CHECKING:
    from geoeval.runs.model import Result, SavedRun
    from geoeval.runs.recognise import Found


def add_score_command(commands: Any) -> None:
    """Add ``score`` to the subcommands of ``geoeval``."""
    score = commands.add_parser(
        "score",
        help="score saved replies of any harness by the rules of today",
        description="Score saved replies: of lmms-eval, VLMEvalKit, inspect-ai, lm-eval, records of geoeval, or plain "
        "JSON lines, CSV or TSV of id and reply. Writes <name>.geoeval.json (values, n, intervals, strata, baselines, "
        "coverage, signature) and <name>.items.jsonl (every reply with its marking) for each run, and prints its "
        "tables. No model is asked and no network is used.",
        epilog="Examples: geoeval score results/; geoeval score replies.csv --task georefusal --model my-model -o out. "
        "Exit status: 0 all scored, 1 a run could not be scored, 2 wrong arguments or a file that no reader knows.",
    )
    score.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file of replies, or a folder of them")
    score.add_argument("-o", "--output", type=Path, metavar="DIR", help="for the records (default: beside each file)")
    score.add_argument("--task", metavar="T", help="the task, where the file does not say it; else only runs of it")
    score.add_argument("--model", metavar="NAME", help="the model's name, where the file does not say it")
    score.add_argument(
        "--data", metavar="WHERE", help="sample or a folder (default: what the run and GEOEVAL_DATA say)"
    )
    score.add_argument("--other-data", action="store_true", help="score although other data were asked; it is said")
    score.add_argument("--allow-partial", action="store_true", help="score although ids are missing; it is said")
    score.add_argument(
        "--policy", choices=("declared", "first_letter"), default="declared", help="how letters are read"
    )
    score.add_argument("--rules", metavar="N-X", help="version of the task to mark by (default: the installed one)")
    score.add_argument(
        "--columns", nargs="+", metavar="OURS=THEIRS", help="columns of plain files, e.g. id=qid reply=prediction"
    )
    score.add_argument("--encoding", metavar="NAME", help="of plain files that are not Unicode, e.g. gb18030")
    score.add_argument("--check", action="store_true", help="check records and items against their schemas, no more")
    score.add_argument("-q", "--quiet", action="store_true", help="print one line a run in place of the tables")
    score.add_argument("--json", action="store_true", help="print the records as JSON")
    score.set_defaults(run=_score)


def _score(parsed: argparse.Namespace) -> int:
    from geoeval.runs.recognise import UnknownFormatError, find_replies

    try:
        columns = dict(_pair(text) for text in parsed.columns or ())
        found = find_replies(parsed.files, records=parsed.check, columns=columns, encoding=parsed.encoding)
    except (UnknownFormatError, ValueError, LookupError) as error:
        print(f"geoeval: {error}", file=sys.stderr)
        return 2
    if parsed.check:
        found = [one for one in found if one.reader == "saved"]
        if not found:
            print("geoeval: --check needs records (*.geoeval.json), and there are none", file=sys.stderr)
            return 2
    session = _Session(parsed)
    for one in found:
        print(f"{one.path}: {one.title}", file=sys.stderr)
        session.check(one) if parsed.check else session.score(one)
    session.end()
    return session.status


class _Session:
    """One command: what was printed and written so far, and whether something went wrong.

    Args:
        parsed: The arguments.
    """

    def __init__(self, parsed: argparse.Namespace) -> None:
        from geoeval.runs import saved

        self.status = 0
        self._parsed = parsed
        self._stems = saved.Stems(parsed.output)
        self._records: list[dict[str, Any]] = []
        self._sample = False

    def score(self, found: Found) -> None:
        """Score the runs of a file."""
        n = 0
        with self._told():
            for run in found.runs():
                if self._parsed.task in (None, run.task) or not run.task:
                    n += 1
                    with self._told():
                        self._one(self._completed(run))
            if not n:
                wanted = self._parsed.task or "geoeval"
                raise DataError(f"{found.path}: no task of {wanted} in this run")

    def check(self, found: Found) -> None:
        """Check a record and its items."""
        from geoeval.runs import saved

        with self._told():
            print(f"{found.path}: as its schema says, {saved.check(found.path)} items", file=sys.stderr)

    def end(self) -> None:
        """What is printed once."""
        from geoeval.report.table import SAMPLE_NOTE

        if self._parsed.json and not self._parsed.check:
            print(json.dumps(self._records, indent=2, ensure_ascii=False))
        elif self._sample:
            print(SAMPLE_NOTE)

    @contextmanager
    def _told(self) -> Iterator[None]:
        from geoeval.judge.errors import JudgeError

        try:
            yield
        except (DataError, JudgeError) as error:
            print(f"geoeval: {error}", file=sys.stderr)
            self.status = 1

    def _completed(self, run: SavedRun) -> SavedRun:
        """The run with what the file does not say and the command does."""
        facts = dict(run.facts)
        if self._parsed.model:
            facts.setdefault("model", self._parsed.model)
        return replace(run, task=run.task or self._parsed.task or "", facts=facts)

    def _one(self, run: SavedRun) -> None:
        from geoeval.runs import saved
        from geoeval.runs.record import to_record
        from geoeval.runs.score import score_run

        parsed = self._parsed
        stem = self._stems.of(run, parsed.policy)
        saved.keep_judged(stem)
        result = score_run(
            run,
            data=parsed.data,
            policy=parsed.policy,
            rules=parsed.rules,
            allow_partial=parsed.allow_partial,
            other_data=parsed.other_data,
            items_to=saved.items_file(stem),
        )
        self._sample = self._sample or result.is_sample
        if parsed.json:
            saved.write_result(result, stem)
            self._records.append(to_record(result))
        elif parsed.quiet:
            files = saved.write_result(result, stem)
            print(_line(result), files[0], sep="  ")
        else:
            write_and_print(result, run.source, stem)


def write_and_print(result: Result, source: Path, stem: Path, *, quiet: bool = False) -> None:
    """Write the files of a result and print its tables.

    Args:
        result: The result.
        source: The file of replies.
        stem: Of the files to write.
        quiet: Write them only.

    Raises:
        DataError: They cannot be written.
    """
    from geoeval.report.table import plain_console, print_result
    from geoeval.runs.saved import write_result

    files = write_result(result, stem)
    if not quiet:
        print_result(plain_console(), result)
        print("files:", source, *files, sep="\n  ")
        print()


def _line(result: Result) -> str:
    """The headline of a result, and what must be said of it."""
    from geoeval.report.table import marks_of, number, printable

    (metric, *_), coverage = result.summary.metrics, result.summary.coverage
    interval = f"{number(metric.low)} to {number(metric.high)}"
    marks = [*marks_of(result), *([metric.note] if metric.note else [])]
    marks += [f"{coverage.failed} failed"] if coverage.failed else []
    said = f" ({', '.join(marks)})" if marks else ""
    value = f"{metric.name} {number(metric.value)} [{interval}] n={metric.n}"
    return f"{result.task}  {printable(result.model)}  {value}{said}"


def _pair(text: str) -> tuple[str, str]:
    from geoeval.runs.plain import COLUMNS

    ours, equals, theirs = text.partition("=")
    if not equals or ours not in COLUMNS or not theirs:
        raise ValueError(f"--columns {text!r}: wanted one of {', '.join(COLUMNS)}, then = and the name in the file")
    return ours, theirs
