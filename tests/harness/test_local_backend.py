"""A checkpoint in a folder, loaded and run by lmms-eval's own backend on the CPU: the path of whoever has a GPU.

The model is random (`tiny_model`), so its numbers say nothing; that every reply is its own and reaches its item does.
"""

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("av", reason="PyAV, which lmms-eval imports for local backends, is not installed")

import tiny_model
from runs import TASKS, evaluate

FAMILY = "gemma3"
LIMIT = 6
CHOSEN = (*TASKS, "forge_workveri_ref_cond")  # the last one shows pictures in its context too
BATCH_SIZES = (1, 4)  # of 6 items, so that the last batch is not full


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Batch size -> finished run."""
    checkpoint = tiny_model.save(tmp_path_factory.mktemp("checkpoint"))
    cache = {}

    def get(batch_size):
        if batch_size not in cache:
            cache[batch_size] = evaluate(
                tmp_path_factory.mktemp(f"batch_{batch_size}"),
                f"pretrained={checkpoint},device=cpu,device_map=cpu",
                *("--batch_size", str(batch_size), "--limit", str(LIMIT), "--gen_kwargs", "max_new_tokens=8"),
                model=FAMILY,
                tasks=CHOSEN,
                HF_HUB_OFFLINE="1",
                CUDA_VISIBLE_DEVICES="",
            )
            assert cache[batch_size].status == 0, cache[batch_size].output[-4000:]
        return cache[batch_size]

    return get


def replies(run, task):
    return {sample["doc_id"]: sample["filtered_resps"] for sample in run.samples(task)}


@pytest.mark.parametrize("batch_size", BATCH_SIZES)
@pytest.mark.parametrize("task", CHOSEN)
def test_every_item_is_asked_and_scored(runs, task, batch_size):
    run = runs(batch_size)
    assert run.value(task, "coverage") == 1
    samples = run.samples(task)
    assert sorted(sample["doc_id"] for sample in samples) == list(range(LIMIT))
    assert all(sample["coverage"]["outcome"] in ("read", "unread") for sample in samples)
    assert all(isinstance(reply, str) and reply.strip() for reply in replies(run, task).values())


@pytest.mark.parametrize("batch_size", BATCH_SIZES)
def test_replies_depend_on_the_item(runs, batch_size):
    """Else a reply that went to the wrong item would not show below."""
    assert len(set(replies(runs(batch_size), "lithobench_open").values())) >= LIMIT / 2


def test_a_reply_does_not_depend_on_the_batch(runs):
    """Of most items, not of all: the backend computes in bfloat16, where other padding can turn a near tie."""
    pairs = [(replies(runs(1), task), replies(runs(4), task)) for task in CHOSEN]
    same = sum(alone[item] == batched[item] for alone, batched in pairs for item in range(LIMIT))
    assert same >= 0.75 * LIMIT * len(CHOSEN)
