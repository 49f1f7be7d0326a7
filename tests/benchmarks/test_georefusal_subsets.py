"""GeoRefusalBench: its batches, the pictures as JPEG, and the items with a follow-up."""

import io
import json
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from geoeval.benchmarks import benchmark_names, get_benchmark
from geoeval.data import locate, open_picture, read_items
from geoeval.types import AsJpeg

ROOT = Path(__file__).parents[2]
BATCHES = ("georefusal_a", "georefusal_b", "georefusal_c")


def sample(task):
    benchmark = get_benchmark(task)
    return list(read_items(locate(benchmark.dataset, "sample"), benchmark.strata))


def picture(mode="RGB"):
    """Noise, of which JPEG changes a lot."""
    red = Image.effect_noise((64, 48), 90)
    return Image.merge("RGB", (red, red.rotate(90).resize(red.size), ImageChops.invert(red))).convert(mode)


def png(image, **options):
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **options)
    return buffer.getvalue()


def round_trip(image, quality=95):
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert("RGB")


def test_tasks():
    names = [name for name in benchmark_names() if name.startswith("georefusal")]
    assert names == ["georefusal", *BATCHES, "georefusal_jpeg95"]
    assert {get_benchmark(name).version for name in names} == {"1-A"}


def test_batches_part_the_rows():
    for batch in "ABC":
        row = {"set": batch}
        assert [name for name in BATCHES if get_benchmark(name).includes(row)] == [f"georefusal_{batch.lower()}"]
        assert get_benchmark("georefusal").includes(row)
        assert get_benchmark("georefusal_jpeg95").includes(row)


def test_all_tasks_ask_the_same():
    view = sample("georefusal")[0].prompt_view()
    texts = {get_benchmark(name).prompt_text(view) for name in ("georefusal", *BATCHES, "georefusal_jpeg95")}
    assert len(texts) == 1


def test_prompt_holds_a_picture_that_only_opens_as_jpeg():
    """Whoever hands the pictures on has to open them with open_picture, or fails: nobody shows the originals."""
    item = sample("georefusal")[0]
    (message,) = get_benchmark("georefusal_jpeg95").prompt(item)
    shown, text = message["content"]
    assert shown == {"type": "image", "image": AsJpeg(item.images[0], 95)}
    assert text["type"] == "text"
    with pytest.raises(Exception, match="AsJpeg"):
        Image.open(shown["image"])


@pytest.mark.parametrize("mode", ["RGB", "P", "L", "RGBA", "1"])
def test_jpeg_is_pillows_own(mode):
    stored = png(picture(mode))
    shown, original = open_picture(AsJpeg(stored, 95)), open_picture(stored)
    assert shown.mode == "RGB"
    assert shown.tobytes() == round_trip(original).tobytes()
    assert shown.tobytes() != original.tobytes()
    assert shown.tobytes() != round_trip(original, quality=75).tobytes()


def test_jpeg_of_every_way_a_picture_is_given(tmp_path):
    stored = png(picture())
    path = tmp_path / "scene.png"
    path.write_bytes(stored)
    ways = (stored, str(path), path, {"bytes": stored, "path": "x.png"}, {"bytes": None, "path": str(path)})
    assert len({open_picture(AsJpeg(way, 95)).tobytes() for way in ways}) == 1


def test_signature_says_that_pictures_are_jpeg():
    plain, jpeg = (get_benchmark(name).summarise([]).signature for name in ("georefusal", "georefusal_jpeg95"))
    assert "|pictures:jpeg95|" in jpeg
    assert "jpeg" not in plain


def test_items_with_a_follow_up_stay_in_every_metric():
    """Only answer-level metrics lose them, and there are none: what is marked is the verdict."""
    import pyarrow.parquet as pq

    rows = pq.read_table(locate("georefusal", "sample").path, columns=["id", "follow_up", "set", "intensity"])
    (with_follow_up,) = [row for row in rows.to_pylist() if row["follow_up"] == "yes"]
    assert (with_follow_up["set"], with_follow_up["intensity"]) == ("B", "low")
    benchmark, items = get_benchmark("georefusal"), sample("georefusal")
    scores = [benchmark.score(item, json.dumps({"verdict": "ANSWER"})) for item in items]
    (own,) = [score for score in scores if score.id == with_follow_up["id"]]
    assert own.values["accuracy"] == 1
    summary = benchmark.summarise(scores)
    assert {summary[name].n for name in ("accuracy", "parse_rate", "macro_f1", "mcc", "crs")} == {len(items)}


def test_readme_shows_the_prompt_of_a_real_item():
    readme = (ROOT / "tasks" / "georefusal" / "README.md").read_text(encoding="utf-8")
    text = get_benchmark("georefusal").prompt_text
    (shown,) = [item for item in sample("georefusal") if f"```text\n{text(item.prompt_view())}\n```" in readme]
    assert (ROOT / "docs" / "pictures" / "georefusal_scene.png").read_bytes() == shown.images[0]["bytes"]
