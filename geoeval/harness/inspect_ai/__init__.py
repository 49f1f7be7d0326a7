"""inspect-ai (0.3.285 or later): tasks, scorers and metrics through its entry point ``inspect_ai``.

| module | what |
| --- | --- |
| `_registry` | the entry point: what inspect-ai finds under ``geoeval/`` |
| `tasks` | ``geoeval/<task>``: samples, prompt, generation settings |
| `samples` | items and scores in inspect-ai's form, and back |
| `replies` | what the model wrote, told from a request that failed |
| `scorers` | ``geoeval/<task>``: one reply -> `Score` |
| `grader` | the model role ``grader`` as judge of open answers |
| `metrics` | all scores -> the numbers of `Benchmark.summarise` |

Every module but this imports inspect-ai, and nothing outside this folder imports them. The rows behind the samples are
`geoeval.harness.rows`.
"""
