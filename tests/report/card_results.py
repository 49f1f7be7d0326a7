"""Results of the bundled sample for the tests of the card, and a README as one finds them."""

import hashlib
import math

from geoeval.benchmarks import get_benchmark
from geoeval.data import locate, read_items
from geoeval.runs.model import Result
from geoeval.types import Metric

FACTS = {
    "harness": "lmms-eval",
    "harness_version": "0.7.3",
    "model": "acme/rock-vl-7b",
    "backend": "openai",
    "model_args": "model=acme/rock-vl-7b,base_url=http://user:pw@localhost:8000/v1,api_key=sk-very-secret",
    "generation_kwargs": {"max_new_tokens": 2048, "temperature": 0, "do_sample": False},
    "date": "2026-11-30T10:00:00+00:00",
    "policy": "declared",
}

README = """\
---
# licence chosen by legal, do not touch
license: apache-2.0
language: [en, "zh"]   # order matters
tags:
- geology
- 'remote-sensing'
pipeline_tag: image-text-to-text
model-index:
- name: Rock VL 7B   # the nice name
  results:
  # kept by hand
  - task:
      type: text-generation
    dataset: {name: "MMLU", type: cais/mmlu}
    metrics:
    - type: acc
      value: 61.30   # re-run in March
  - task:
      type: image-text-to-text
    dataset:
      name: MMMU
      type: MMMU/MMMU
      args: {subset: all}
    metrics:
    - {type: accuracy, value: 0.4}
# end of results
widget:
- text: "What rock is this? — 什么岩石？"
---

# Rock VL 7B 🪨

Trained on tiles.  \n
| a | b |
| --- | --- |
| 1 | 2 |

```yaml
model-index: not this one
```

## Licence

Apache-2.0
"""


def result(task="georefusal", *, sample=True, reply=None, facts=None, baselines=True):
    """Every reply right but the first, which failed, and the second, which is empty."""
    benchmark = get_benchmark(task)
    source = locate(benchmark.dataset, "sample")
    items = list(read_items(source, benchmark.strata, benchmark.setting))
    replies = [None, ""] + [reply or benchmark.format_reply(item, item.gold[0]) for item in items[2:]]
    scores = [benchmark.score(item, text) for item, text in zip(items, replies, strict=True)]
    run = {
        **FACTS,
        "data": "SAMPLE" if sample else "release",
        "data_sha256": source.sha256,
        "items_in_task": len(items),
        "source_sha256": hashlib.sha256(b"replies").hexdigest(),
        **(facts or {}),
    }
    summary = benchmark.summarise(scores, data=source.signature if sample else f"release@{source.sha256[:12]}")
    floor = {"always_answer": (Metric("accuracy", 0.503, len(items)), Metric("mcc", math.nan, len(items)))}
    return Result(task, summary, run, lambda: iter(()), baselines=floor if baselines else {})
