"""``geoeval judge RESULTS...``: a model marks the open answers of saved replies.

Exit status: 0 all marked, or the dry run done; 1 the judge cannot be used, a run cannot be scored, or a combined number
is withheld; 2 wrong arguments or a file that no reader knows. With ``--json`` standard output is JSON and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geoeval.data.errors import DataError

if TYPE_CHECKING:
    from geoeval.judge.cost import Estimate
    from geoeval.judge.settings import JudgeSettings
    from geoeval.runs.judging import Budget
    from geoeval.runs.model import SavedRun
    from geoeval.types import Judgement, Metric

_OWN_OPTIONS = ("model", "base_url", "weight", "rubric", "concurrency", "max_calls", "max_cost", "replay", "store")


def add_judge_command(commands: Any) -> None:
    """Add ``judge`` to the subcommands of ``geoeval``."""
    judge = commands.add_parser(
        "judge",
        help="have a model mark the open answers of saved replies",
        description="A judge marks the answers of lithobench_open in saved replies of any harness; open_score stays "
        "beside its marks and the combination. Every call is stored: a rerun goes on where it stopped and pays for "
        "nothing twice. The judge is set by GEOEVAL_JUDGE_* or --config, and the options below go before both. Its "
        "key is read from GEOEVAL_JUDGE_API_KEY.",
        epilog="Examples: geoeval judge results --config openai --dry-run   |   geoeval judge results --config openai "
        "--max-cost 5   |   geoeval judge results --config openai --replay strict",
    )
    judge.add_argument("results", nargs="*", type=Path, metavar="RESULTS", help="replies that geoeval score reads")
    judge.add_argument(
        "--config", metavar="NAME", help="a YAML file, or one that comes with geoeval, e.g. openai, vllm"
    )
    judge.add_argument("--model", metavar="NAME", help="the judge, as its endpoint knows it")
    judge.add_argument("--base-url", metavar="URL", help="its endpoint, e.g. http://HOST:PORT/v1")
    judge.add_argument("--weight", type=float, metavar="W", help="open_with_judge = (1-W) open_score + W judge_score")
    judge.add_argument("--rubric", metavar="NAME", help="a rubric of geoeval or a file (default lithology-1)")
    judge.add_argument("--concurrency", type=int, metavar="N", help="calls under way at once")
    judge.add_argument(
        "--max-calls", type=int, metavar="N", help="stop after as many calls in all; a rerun goes on there"
    )
    judge.add_argument("--max-cost", type=float, metavar="USD", help="stop before all of it costs more")
    judge.add_argument("--replay", choices=("strict", "lenient"), help="make no call: take all from the store, or fail")
    judge.add_argument("--store", metavar="FILE", help="of all calls (default: judge.sqlite in geoeval's cache)")
    judge.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting of a judge")
    judge.add_argument("--dry-run", action="store_true", help="print calls, tokens and cost, and make none")
    judge.add_argument("--repeats", type=int, metavar="K", help="mark K times and print the judge's own noise")
    judge.add_argument(
        "--agree-with",
        metavar="MARKS",
        help="print agreement with marks of people (.csv, .jsonl) or another judge (.yaml)",
    )
    judge.add_argument("--letters", action="store_true", help="instead: let it read the letters that were left unread")
    judge.add_argument("--import-calls", type=Path, metavar="FILE", help="first add published calls to the store")
    judge.add_argument("--export-calls", type=Path, metavar="FILE", help="write the calls that the marks rest on")
    judge.add_argument("-o", "--output", type=Path, metavar="DIR", help="for the records (default: beside each file)")
    judge.add_argument("--data", metavar="WHERE", help="sample or a folder (default: what run and GEOEVAL_DATA say)")
    judge.add_argument("--allow-partial", action="store_true", help="go on although ids are missing; it is said")
    judge.add_argument("--json", action="store_true", help="print JSON")
    judge.set_defaults(run=_judge)


def _judge(parsed: argparse.Namespace) -> int:
    from geoeval.judge.errors import JudgeError
    from geoeval.runs.recognise import UnknownFormatError, find_replies

    try:
        settings = settings_of(parsed)
        if parsed.import_calls:
            _import(parsed.import_calls, settings)
        if parsed.repeats is not None and parsed.repeats < 2:
            return _wrong(f"--repeats {parsed.repeats}: noise shows from 2 on")
        if not parsed.results:
            return 0 if parsed.import_calls else _wrong("give the replies to judge, e.g. a folder of results")
        found = find_replies(parsed.results)
        runs = [run for one in found for run in one.runs() if _is_wanted(run, parsed.letters)]
        if not runs:
            what = "letters" if parsed.letters else "open answers (lithobench_open...)"
            raise DataError(f"{', '.join(map(str, parsed.results))}: no run of a task with {what}")
        if parsed.letters and (parsed.repeats or parsed.agree_with):
            return _wrong("--letters goes without --repeats and --agree-with")
        action = _dry_run if parsed.dry_run else _letters if parsed.letters else _mark
        return action(parsed, settings, runs)
    except UnknownFormatError as error:
        return _wrong(str(error))
    except (DataError, JudgeError) as error:
        print(f"geoeval: {error}", file=sys.stderr)
        return 1


def settings_of(parsed: argparse.Namespace) -> JudgeSettings:
    """The judge of a command line: its options, then ``--config``, then the environment.

    Raises:
        JudgeError: A setting is unknown or wrong, or no judge is set.
    """
    from geoeval.judge.errors import JudgeError
    from geoeval.judge.settings import PREFIX, JudgeSettings

    given = {name: getattr(parsed, name) for name in _OWN_OPTIONS if getattr(parsed, name) is not None}
    for text in parsed.set:
        name, equals, value = text.partition("=")
        if not equals:
            raise JudgeError(f"--set {text!r}: write NAME=VALUE")
        given[name] = value
    if parsed.config:
        base = JudgeSettings.from_yaml(parsed.config)
        unused = sorted(
            n for n, v in os.environ.items() if n.startswith(PREFIX) and v and not n.startswith(f"{PREFIX}API_")
        )
        if unused:
            names = ", ".join(unused)
            print(f"geoeval: with --config these count for nothing: {names}; give options or --set", file=sys.stderr)
        return base.with_values(**given)
    model = {f"{PREFIX}MODEL": str(given["model"])} if "model" in given else {}
    settings = JudgeSettings.from_env({**os.environ, **model})
    if settings is None:
        raise JudgeError("no judge: give --config or --model, or set GEOEVAL_JUDGE_MODEL")
    return settings.with_values(**given)


def _is_wanted(run: SavedRun, letters: bool) -> bool:
    from geoeval.benchmarks import get_benchmark
    from geoeval.benchmarks.choice import ChoiceBenchmark
    from geoeval.benchmarks.lithobench import LithoBenchOpen

    if not run.task:
        hint = "a record that geoeval score --task T makes of it can be judged"
        print(f"geoeval: {run.source}: does not say which task it is of; {hint}", file=sys.stderr)
        return False
    return isinstance(get_benchmark(run.task), ChoiceBenchmark if letters else LithoBenchOpen)


def _import(path: Path, settings: JudgeSettings) -> None:
    from geoeval.judge.errors import JudgeError
    from geoeval.judge.store import CallStore

    if settings.store_path.suffix == ".jsonl":
        raise JudgeError(
            f"--import-calls: {settings.store_path} is an export, nothing is added to it; give another --store"
        )
    with CallStore(settings.store_path) as store:
        print(f"{path}: {store.import_(path)} new calls in {settings.store_path}", file=sys.stderr)


def _dry_run(parsed: argparse.Namespace, settings: JudgeSettings, runs: list[SavedRun]) -> int:
    from geoeval.judge.engine import dry_run, dry_run_letters
    from geoeval.runs.judging import Budget, answers, unread_letters

    if parsed.letters:
        asks = [one for run in runs for one in unread_letters(run, **_scoring(parsed))]
        first, second = dry_run_letters(asks, settings), None
    else:

        def plan(judge: JudgeSettings, repeats: int = 1) -> Estimate:  # all at once: a task and its levels share calls
            asked = [one for run in runs for one in answers(run, judge.picture, **_scoring(parsed))]
            return dry_run(asked, judge, repeats)

        other = _other(parsed, settings)
        first = plan(settings, parsed.repeats or 1)
        second = plan(other.settings) if isinstance(other, Budget) else None
    if parsed.json:
        print(json.dumps(asdict(first) | ({"agree_with": asdict(second)} if second else {}), indent=2))
    else:
        print(*first.lines(), *(second.lines() if second else ()), sep="\n")
    return 0


def _other(parsed: argparse.Namespace, settings: JudgeSettings) -> Budget | dict[str, Judgement] | None:
    """What the marks are compared with: looked at before anything is paid for."""
    from geoeval.runs import trust

    return trust.other_side(parsed.agree_with, settings) if parsed.agree_with else None


def _mark(parsed: argparse.Namespace, settings: JudgeSettings, runs: list[SavedRun]) -> int:
    from geoeval.judge.engine import CTRL_C
    from geoeval.judge.errors import JudgeError
    from geoeval.report.table import SAMPLE_NOTE
    from geoeval.runs.cli import write_and_print
    from geoeval.runs.judging import Budget
    from geoeval.runs.record import to_record
    from geoeval.runs.saved import Stems, items_file
    from geoeval.runs.score import score_run

    stems, records, status, calls, sample = Stems(parsed.output), list[dict[str, Any]](), 0, set[str](), False
    judge, other = Budget(settings), _other(parsed, settings)
    for run in runs:
        stem = stems.of(run)
        try:
            result = score_run(run, judge=judge.settings, items_to=items_file(stem), **_scoring(parsed))
            judge.take(result.judge)
            write_and_print(result, run.source, stem, quiet=parsed.json)
            records.append(to_record(result))
            sample = sample or result.is_sample
            calls |= {key for score, _ in result.items() if score.judgement for key in score.judgement.calls}
            status = max(status, _withheld(run.task, result.summary.metrics))
            if result.judge["stopped"] == CTRL_C:
                break
            records[-1].update(_trust(parsed, judge, other, run))
        except (DataError, JudgeError) as error:
            print(f"geoeval: {error}", file=sys.stderr)
            status = 1
            if not _concerns_one_run(error):
                break
    if parsed.json:
        print(json.dumps(records, indent=2, ensure_ascii=False))
    elif sample:
        print(SAMPLE_NOTE)
    if parsed.export_calls:
        from geoeval.judge.store import CallStore

        with CallStore(settings.store_path) as store:
            n = store.export(parsed.export_calls, calls)
        print(f"{parsed.export_calls}: {n} calls", file=sys.stderr)
    return status


def _withheld(task: str, metrics: Iterable[Metric]) -> int:
    """1 where a number is withheld, which is said."""
    withheld = [metric for metric in metrics if metric.note.startswith("withheld")]
    for metric in withheld:
        print(f"geoeval: {task}: {metric.name} is {metric.note}", file=sys.stderr)
    return int(bool(withheld))


def _concerns_one_run(error: Exception) -> bool:
    """Whether the judge may be asked about other runs."""
    from geoeval.judge.errors import MissingCallsError, OwnJudgeError

    return isinstance(error, (DataError, MissingCallsError, OwnJudgeError))


def _trust(
    parsed: argparse.Namespace, judge: Budget, other: Budget | dict[str, Judgement] | None, run: SavedRun
) -> Iterator[tuple[str, Any]]:
    """How far the marks can be trusted, where that was asked: printed, and for the JSON."""
    from geoeval.runs import trust
    from geoeval.runs.record import without_nan

    found = []
    if other is not None:
        comparison = trust.agreed(run, judge, other, **_scoring(parsed))
        found.append(("agreement", f"agreement with {parsed.agree_with}", comparison))
    if parsed.repeats:
        comparison = trust.noisy(run, judge, parsed.repeats, **_scoring(parsed))
        found.append(("noise", f"noise of the judge, which marked {parsed.repeats} times", comparison))
    for name, title, comparison in found:
        if not parsed.json:
            trust.print_comparison(title, comparison)
        yield name, without_nan(asdict(comparison))


def _letters(parsed: argparse.Namespace, settings: JudgeSettings, runs: list[SavedRun]) -> int:
    from geoeval.data.files import write_json
    from geoeval.report.table import plain_console, print_metrics
    from geoeval.runs.judging import Budget, letters_read
    from geoeval.runs.record import metrics_from_record
    from geoeval.runs.saved import Stems

    stems, made, status, judge = Stems(parsed.output), [], 0, Budget(settings)
    for run in runs:
        read = letters_read(run, judge.settings, **_scoring(parsed))
        judge.take(read["judge"])
        metrics = metrics_from_record(read["metrics"])
        status = max(status, _withheld(run.task, metrics))
        stem = stems.of(run)
        path = stem.with_name(f"{stem.name}.reading.json")
        write_json(path, read)
        made.append(read)
        if not parsed.json:
            console = plain_console()
            print_metrics(console, f"{run.task}  {read['model']}", metrics)
            console.print(f"signature: {read['signature']}\nfiles:\n  {path}", soft_wrap=True)
    if parsed.json:
        print(json.dumps(made, indent=2, ensure_ascii=False))
    return status


def _scoring(parsed: argparse.Namespace) -> dict[str, Any]:
    return {"data": parsed.data, "allow_partial": parsed.allow_partial}


def _wrong(message: str) -> int:
    print(f"geoeval: {message}", file=sys.stderr)
    return 2
