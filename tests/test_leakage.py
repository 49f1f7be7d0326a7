"""Labels cannot leak: nothing but the question, its options and the pixels reaches a model, in any task and setting."""

import io

import pyarrow.parquet as pq
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import locate
from geoeval.data.items import context_from_row
from geoeval.harness.lmms_eval import adapter

CANARY = "canary-4f1c"
WITH_EXAMPLES = [name for name in benchmark_names() if get_benchmark(name).setting not in ("", "coordinates")]
ASKED = ("question", "choices", "options", "modality", "coordinates")
"""Columns that are meant for the model, beside pictures and the settings."""


def marked(picture: dict) -> dict:
    """A picture whose file name, PNG text or EXIF and comment tell the canary."""
    with Image.open(io.BytesIO(picture["bytes"])) as image:
        image.load()
        buffer, exif, text = io.BytesIO(), Image.Exif(), PngInfo()
        exif[0x010E] = f"{CANARY} description"
        text.add_text("answer", f"{CANARY} text")
        text.add_itxt("XML:com.adobe.xmp", f"<x>{CANARY}</x>")
        if image.mode == "RGB" and image.width % 2:
            image.save(buffer, "JPEG", exif=exif, comment=f"{CANARY} comment")
        else:
            image.save(buffer, "PNG", pnginfo=text, exif=exif)
    return {"bytes": buffer.getvalue(), "path": f"{CANARY}.png"}


def planted(task: str) -> list[dict]:
    """Rows of a task with the canary wherever no prompt may look."""
    benchmark = get_benchmark(task)
    rows = pq.read_table(locate(benchmark.dataset, "sample").path).to_pylist()
    kept = (*ASKED, "images", benchmark.setting)
    result = []
    for row in [row for row in rows if benchmark.includes(row)][:4]:
        hidden = {
            name: [CANARY] if isinstance(value, list) else f"{CANARY}-{name}"
            for name, value in row.items()
            if name not in kept and not name.endswith("_images")
        }
        pictures = {n: [marked(p) for p in row[n] or ()] for n in row if n == "images" or n.endswith("_images")}
        result.append({**row, **hidden, **pictures, "provenance": CANARY, "seed": CANARY, "task": task})
    return result


def as_sent(image: Image.Image) -> bytes:
    """What the usual backends make of a picture."""
    sent = io.BytesIO()
    for kind in ("PNG", "JPEG", "WEBP"):
        image.save(sent, kind)
    return sent.getvalue()


def test_the_canary_is_really_in_the_files():
    (row, *_) = planted("georefusal")
    assert CANARY.encode() in row["images"][0]["bytes"]
    with Image.open(io.BytesIO(row["images"][0]["bytes"])) as image:
        assert CANARY in str(image.info)


@pytest.mark.parametrize("task", benchmark_names())
def test_no_prompt_tells_a_label_provenance_or_metadata(task):
    documents = planted(task)
    assert documents
    for doc in documents:
        (message,) = adapter.doc_to_messages(doc)
        assert CANARY not in adapter.doc_to_text(doc)
        for part in message["content"]:
            if part["type"] == "text":
                assert CANARY not in part["text"]
            else:
                assert part["url"].info == {}
                assert not getattr(part["url"], "filename", "")
                assert CANARY.encode() not in as_sent(part["url"])


@pytest.mark.parametrize("task", benchmark_names())
def test_the_gold_answer_changes_nothing_in_the_prompt(task):
    for doc in planted(task):
        texts = {adapter.doc_to_text({**doc, "gold": [gold]}) for gold in (*doc["choices"], "ANSWER", "NORMAL")}
        assert len(texts) == 1


@pytest.mark.parametrize(
    "task", [name for name in benchmark_names() if get_benchmark(name).setting not in ("", "coordinates")]
)
def test_a_question_is_never_among_its_own_examples(task):
    benchmark = get_benchmark(task)
    rows = pq.read_table(locate(benchmark.dataset, "sample").path).to_pylist()
    for row in filter(benchmark.includes, rows):
        own = {picture["bytes"] for picture in row["images"]}
        shown = {part["image"]["bytes"] for part in context_from_row(row, benchmark.setting) if part["type"] == "image"}
        assert shown
        assert not own & shown
