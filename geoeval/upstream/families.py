"""What a contribution says of a benchmark beside its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from geoeval.benchmarks import Benchmark, benchmark_names, get_benchmark
from geoeval.data.fetch import REPOSITORIES
from geoeval.data.schema import BENCHMARKS
from geoeval.types import Item


@dataclass(frozen=True)
class Case:
    """A reply and what must be read of it.

    Attributes:
        task: The task.
        reply: The reply.
        read: The value read, or None.
    """

    task: str
    reply: str
    read: str | None


@dataclass(frozen=True)
class Family:
    """One benchmark: what a contribution is made of.

    Attributes:
        name: "lithobench", "georefusal" or "forge".
        title: As people call it.
        line: What it is, in one line.
        links: Name -> address, the paper first where there is one.
        headlines: The tasks that stand for it.
        constant: A reply to every item, for a run without a model.
        cases: Replies and what is read of them, for its unit tests.
        words: What stands in its README for what only geoeval has.
    """

    name: str
    title: str
    line: str
    links: Mapping[str, str]
    headlines: tuple[str, ...]
    constant: str
    cases: tuple[Case, ...]
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The module of its tasks."""
        return f"geoeval.benchmarks.{self.name}"

    @property
    def datasets(self) -> tuple[str, ...]:
        """Its files of rows."""
        return BENCHMARKS[self.name]

    @property
    def tasks(self) -> tuple[Benchmark, ...]:
        """All its tasks."""
        every = map(get_benchmark, benchmark_names())
        return tuple(benchmark for benchmark in every if benchmark.dataset in self.datasets)

    @property
    def published(self) -> str | None:
        """Where its authors published it; the files of a contribution are of another layout."""
        return REPOSITORIES.get(self.name)

    def item(self, task: str) -> Item:
        """An item that stands for a task in its unit tests."""
        benchmark = get_benchmark(task)
        lettered = benchmark.labels[:4] if benchmark.labels and len(benchmark.labels[0]) == 1 else ()
        gold = benchmark.labels[:1] or ("Granite.",)
        return Item("item", "What is it?", gold, "cluster", choices=lettered, modality=_MODALITIES[benchmark.dataset])


_MODALITIES = {
    "lithobench_mcq": "tile",
    "lithobench_open": "tile",
    "georefusal": "scene",
    "forge_workveri": "photo",
    "forge_assyveri": "photo",
    "forge_surfinsp": "three_view",
}
_LETTERS = (
    ("B", "B"),
    ("Answer: B", "B"),
    ("A is darker, but the correct option is (B).", "B"),
    ("<think>Perhaps C.</think>\nThe answer is **B**", "B"),
    ("<think>It could be B", None),
    ("I cannot tell from this picture.", None),
    ("It is either A or B.", None),
    ("Answer: A. No, wait: the answer is B", "B"),
)

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family(
            "lithobench",
            "LithoBench",
            "lithology from satellite tiles: twelve classes, five cognitive levels, multiple choice and open answers",
            {"paper": "https://arxiv.org/abs/2605.07640"},
            ("lithobench_mcq", "lithobench_open"),
            "A",
            (
                *(Case("lithobench_mcq", reply, read) for reply, read in _LETTERS),
                Case("lithobench_open", "<think>Pink.</think> Granite.", "Granite."),
                Case("lithobench_open", "<think>Pink, so", None),
            ),
        ),
        Family(
            "georefusal",
            "GeoRefusalBench",
            "knowing when an Earth-observation question cannot be answered: one of six verdicts",
            {"data": "https://huggingface.co/datasets/albertLee/GeoRefusalBench"},
            ("georefusal",),
            "ANSWER",
            tuple(
                Case("georefusal", reply, read)
                for reply, read in (
                    ('{"verdict": "ANSWER", "answer": "yes", "justification": "Seen."}', "ANSWER"),
                    ('```json\n{"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": null}\n```', "REFUSE_AMBIGUOUS_QUERY"),
                    ('{"verdict": "ANSWER"} No: {"verdict": "REFUSE_NONFACTUAL_QUERY"}', "REFUSE_NONFACTUAL_QUERY"),
                    ("REFUSE_GRANULARITY_MISMATCH", "REFUSE_GRANULARITY_MISMATCH"),
                    ("I would say REFUSE_AMBIGUOUS_QUERY fits, or ANSWER.", None),
                    ('{"verdict": "REFUSE", "answer": null}', None),
                    ('<think>{"verdict": "ANSWER"}', None),
                    ("I'm sorry, I can't help with that.", None),
                )
            ),
            {"`geoeval.data.fingerprint` finds it by hashing\nboth.": "A hash of both finds it."},
        ),
        Family(
            "forge",
            "FORGE",
            "manufacturing parts down to the model number: odd parts, surface defects, assemblies, grounding probes",
            {
                "paper": "https://arxiv.org/abs/2604.07413",
                "data": "https://huggingface.co/datasets/AI4Manufacturing/forge",
            },
            ("forge_workveri", "forge_surfinsp", "forge_assyveri"),
            "A",
            (
                *(Case("forge_workveri", reply, read) for reply, read in _LETTERS),
                Case("forge_surfinsp", "Condition: NORMAL", "NORMAL"),
                Case("forge_surfinsp", "I do not know.", None),
            ),
            {"`geoeval.data.demonstrations` draws it": "it was drawn"},
        ),
    )
}
