"""Results on the bundled sample with varied replies, for the tests of the report."""

import hashlib

from geoeval.benchmarks import get_benchmark
from geoeval.benchmarks.lithobench import JudgedLithoBenchOpen
from geoeval.data import locate, task_items
from geoeval.runs.model import Result
from geoeval.types import Judgement, Metric

HOSTILE = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "<!--<script>",
    "<img src=x onerror=\"window.pwned=1\"><a href='javascript:window.pwned=1'>x</a>",
    '<svg onload="window.pwned=1"><style>*{display:none}</style></svg>',
    "{{ 7*7 }} {% raw %} ${window.pwned=1} #{1}",
    "\x1b[31mred\x1b[0m \x07\x08\x9b2J",
    "\u202e}B :rewsnA{ \u2066x\u2069 zero\u200b\u200dwidth\ufeff \U000e0041\U000e0042",
    "half \ud83d an emoji \udc00",
    "nul \x00 here\u2028and\u2029there",
    "]]> &lt;b&gt; &amp; &#60;script&#62; \\u003cscript\\u003e <\\/script>",
    "Answer: B\r\nreally\rB",
    "x" * 1_000_000 + "<script>window.pwned=1</script>\nAnswer: A",
)


def chance(*parts):
    """A number in [0, 1) that depends on the parts only."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4], "big") / 2**32


def reply_to(benchmark, item, model, skill):
    """What a made-up model of some skill says: mostly right, sometimes nothing, sometimes unreadable."""
    luck = chance(benchmark.name, item.id, model)
    if luck > 0.98:
        return None
    if luck > 0.96:
        return ""
    if luck > 0.92:
        return "I would rather describe the picture: it shows a surface in natural colours and little else."
    if not benchmark.answers(item):
        words = item.gold[0].split()
        keep = [w for k, w in enumerate(words) if chance(item.id, model, k) < skill]
        return " ".join(keep) or "A surface."
    answers = benchmark.answers(item)
    right = chance(item.id, model, "right") < skill
    answer = item.gold[0] if right else answers[int(chance(item.id, model, "which") * len(answers))]
    body = benchmark.format_reply(item, answer)
    return body if luck < 0.5 or body.startswith("{") else f"Looking at the picture, first the texture.\n\n{body}"


def make_result(task, model="model", skill=0.7, replies=None, sample=True, **run):
    """A result on the bundled sample.

    Args:
        task: The task.
        model: Its name.
        skill: How often it is right.
        replies: Takes an item, gives the reply; made up when None.
        sample: Whether it says that it is of the sample.
        run: Further facts.
    """
    benchmark = get_benchmark(task)
    source = locate(benchmark.dataset, "sample")
    items = list(task_items(task, source, pictures=False))
    say = replies or (lambda item: reply_to(benchmark, item, model, skill))
    pairs = sorted(((benchmark.score(i, say(i)), say(i)) for i in items), key=lambda pair: pair[0].id)
    label = "SAMPLE" if sample else "release"
    facts = {
        "model": model,
        "harness": "lmms-eval",
        "data": label,
        "data_sha256": source.sha256,
        "items_in_task": len(items),
        "date": "2026-01-02T03:04:05",
        **run,
    }
    summary = benchmark.summarise([score for score, _ in pairs], f"{label}@{source.sha256[:12]}")
    return Result(task, summary, facts, lambda: iter(pairs), baselines=_baselines(benchmark, items))


def judged_result(model="model", judge="judge-1", skill=0.7, noise=1.0):
    """A result of open answers with made-up marks; one answer in ten has none."""
    plain = make_result("lithobench_open", model, skill)
    benchmark = JudgedLithoBenchOpen(
        get_benchmark("lithobench_open"),
        weight=0.5,
        dimensions=("correctness", "evidence"),
        max_unscored=0.2,
        signature="judge:stand-in",
    )

    def marked(score):
        if "open_score" not in score.values:
            return score
        if chance(score.id, judge, "none") > 0.9:
            return benchmark.judged(score, Judgement(None, reason="unreadable: no mark for evidence"))
        mark = min(10.0, max(0.0, score.values["open_score"] + noise * (2 * chance(score.id, judge) - 1)))
        comment = "The lithology is named; <b>evidence</b> is thin."
        return benchmark.judged(score, Judgement(mark, {"correctness": mark, "evidence": mark / 2}, comment))

    pairs = [(marked(score), reply) for score, reply in plain.items()]
    summary = benchmark.summarise([score for score, _ in pairs], "SAMPLE")
    about = {"model": judge, "rubric": "lithology-1", "weight": 0.5, "unscored": summary.coverage.unscored}
    return Result("lithobench_open", summary, plain.run, lambda: iter(pairs), judge=about)


def _baselines(benchmark, items):
    if not benchmark.labels:
        return {}
    n, name = len(items), benchmark.metric_names[0]
    random = sum(1 / len(benchmark.answers(item)) for item in items) / n
    return {"random": (Metric(name, random, n),), "majority": (Metric(name, 0.25, n),)}
