"""lmms-eval's hooks of lithobench; everything is in `geoeval.harness.lmms_eval.adapter`."""

from functools import partial

from geoeval.harness.lmms_eval import adapter

TASK = "lithobench_open"

DATASET_KWARGS = adapter.dataset_kwargs(TASK)
METADATA = adapter.metadata(TASK)
doc_to_text = partial(adapter.doc_to_text, TASK)
doc_to_messages = partial(adapter.doc_to_messages, TASK)
process_results = partial(adapter.process_results, TASK)
METRICS = adapter.metric_list(TASK)
