"""Ten thousand items and more, for the tests in a browser and for ``benchmarks/report.py``."""

from report_results import chance, make_result

from geoeval.benchmarks import get_benchmark
from geoeval.runs.model import Result
from geoeval.types import Item

_WORDS = (
    *("the", "tile", "shows", "pale", "ground", "with", "branching", "gullies", "and", "a", "darker", "band"),
    *("along", "strike", "of", "weathered", "rock"),
)


def thousands(items, models=("model one", "model two"), task="lithobench_mcq", words=60):
    """Results of made-up replies of some length to that many made-up items.

    Args:
        items: How many.
        models: Their names.
        task: A letter task.
        words: Of a reply, on average.
    """
    benchmark = get_benchmark(task)
    like = make_result(task)
    asked = [
        Item(
            f"item-{k:06}",
            "",
            ("ABCD"[k % 4],),
            f"cluster-{k // 2}",
            choices=tuple("ABCD"),
            strata={"level": ("ID", "Cmp", "Exp", "App", "Rea")[k % 5], "lithology": ("GT", "WA", "SL")[k % 3]},
        )
        for k in range(items)
    ]
    return [_answered(benchmark, like, asked, model, words) for model in models]


def _answered(benchmark, like, asked, model, words):
    pairs = []
    for k, item in enumerate(asked):
        length = int(2 * words * chance(item.id, model, "length"))
        said = " ".join(_WORDS[(k + j * j) % len(_WORDS)] for j in range(length))
        letter = item.gold[0] if chance(item.id, model) < 0.7 else "ABCD"[(k + 1) % 4]
        reply = f"{said} needle-{k}.\nAnswer: {letter}"
        pairs.append((benchmark.score(item, reply), reply))
    summary = benchmark.summarise([score for score, _ in pairs], "SAMPLE")
    run = {**like.run, "model": model, "items_in_task": len(asked), "data_sha256": ""}
    return Result(like.task, summary, run, lambda: iter(pairs))
