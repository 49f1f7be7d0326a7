"""Real pictures through lmms-eval's OpenAI client against an endpoint that answers in many styles."""

import io
import json
from pathlib import Path

import pytest

pytest.importorskip("lmms_eval", reason="lmms-eval is not installed")

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from runs import TASKS, evaluate
from runs import run as run_command
from standin import STYLES, expected, pixel_hash, serving

from geoeval.harness.lmms_eval.plugin import tasks_dir

REAL = Path(__file__).parents[2].parent / "shared" / "real"
pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the real pictures are not beside this checkout")

ANSWERS = {
    "lithobench_open": "grey granite with joints",
    "georefusal": json.dumps({"verdict": "REFUSE_AMBIGUOUS_QUERY", "answer": None, "justification": "many"}),
    "forge_workveri": "Answer: B",
}
GOLD = {"lithobench_open": ANSWERS["lithobench_open"], "georefusal": "REFUSE_AMBIGUOUS_QUERY", "forge_workveri": "B"}
MODALITY = {"lithobench_open": "tile", "georefusal": "scene"}
STRATA = {
    "lithobench_open": {"level": "ID", "lithology": "GT"},
    "georefusal": {"verdict": "REFUSE_AMBIGUOUS_QUERY", "category": "NONE", "intensity": "low", "set": "A"},
    "forge_workveri": {"scenario": "PCS", "granularity": "workpiece"},
}
# An open answer is whatever the reply says once reasoning is gone, so prose and wrapped answers are read as well.
OPEN_OUTCOME = {"prose": "read"}


def scenes() -> list[Image.Image]:
    """Crops of 224 x 224 of three real satellite and aerial scenes."""
    tifffile = pytest.importorskip("tifffile", reason="needs tifffile to read the scenes")
    crops = []
    for name in ("naip_1m_2018.tif", "landsat_2020.tif", "landsat7_rgb_byte.tif"):
        bands = tifffile.imread(REAL / name)[..., :3]
        crops += [Image.fromarray(bands[100:324, x : x + 224].copy()) for x in (50, 200, 350)]
    return crops


def encoded(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder in the canonical layout: real pictures, one item for each style. Task -> number -> picture."""
    folder = tmp_path_factory.mktemp("data")
    tiles = [encoded(image) for image in scenes()]
    parts = [path.read_bytes() for path in sorted((REAL / "forge_examples").iterdir())]
    shown = {}
    for task in TASKS:
        pictures = parts if task == "forge_workveri" else tiles
        rows = []
        for number, style in enumerate(STYLES):
            picture = pictures[number % len(pictures)]
            shown[task, number] = picture
            rows.append(
                {
                    "id": f"{task}-{number}",
                    "question": f"What is it? [item {number} style {style} answer {ANSWERS[task]}]",
                    "images": [{"bytes": picture, "path": None}],
                    "choices": list("ABCD") if task == "forge_workveri" else [],
                    "options": [],
                    "gold": [GOLD[task]],
                    "cluster": f"{number}",
                    "modality": MODALITY.get(task, "photo" if picture[:2] == b"\xff\xd8" else "three_view"),
                    **STRATA[task],
                }
            )
        strings = {name: pa.list_(pa.string()) for name in ("choices", "options", "gold")}
        types = {"images": pa.list_(pa.struct({"bytes": pa.binary(), "path": pa.string()})), **strings}
        schema = pa.schema([(name, types.get(name, pa.string())) for name in rows[0]])
        pq.write_table(pa.Table.from_pylist(rows, schema), folder / f"{task}.parquet")
    return folder, shown


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    folder, _ = data
    runs = {}
    for task in TASKS:
        with serving() as server:
            done = evaluate(
                tmp_path_factory.mktemp(task),
                f"model=stand-in,base_url={server.url},num_concurrent=8,max_retries=2,retry_backoff_s=0.1",
                model="openai",
                tasks=(task,),
                GEOEVAL_DATA=str(folder),
            )
        runs[task] = (done, server)
    return runs


@pytest.mark.parametrize("task", TASKS)
def test_nothing_crashes(run, task):
    done, _ = run[task]
    assert done.status == 0, done.output
    assert "SAMPLE" not in done.output


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("task", TASKS)
def test_every_odd_reply_is_classified_as_the_rules_say(run, task, style):
    outcome, is_read = expected(style)
    if task == "lithobench_open":
        outcome = OPEN_OUTCOME.get(style, outcome)
    number = STYLES.index(style)
    (sample,) = [s for s in run[task][0].samples(task) if s["coverage"]["id"] == f"{task}-{number}"]
    record = sample["coverage"]
    assert record["outcome"] == outcome, record
    assert record["score"] == float(outcome != "failed")
    metric = "rouge_l" if task == "lithobench_open" else "accuracy"
    assert (metric in sample) == (outcome != "failed")
    if is_read and task != "lithobench_open":
        assert (record["extracted"], sample[metric]["score"]) == (GOLD[task], 1.0)
    elif is_read:
        assert sample[metric]["score"] > 0
    elif outcome != "failed":
        assert sample[metric]["score"] == 0
    if outcome != "read":
        assert record["reason"]


@pytest.mark.parametrize("task", TASKS)
def test_pictures_arrive_as_sent(run, data, task):
    server = run[task][1]
    assert sorted(server.pictures) == list(range(len(STYLES)))
    for number, arrived in server.pictures.items():
        sent = Image.open(io.BytesIO(data[1][task, number]))
        assert arrived == [pixel_hash(sent)], number


def test_the_endpoint_configuration_runs(data, tmp_path):
    """``yaml_configs/openai.yaml`` as a user runs it, with another model and address on the command line."""
    config = tasks_dir().parent / "yaml_configs" / "openai.yaml"
    with serving() as server:
        done = run_command(
            tmp_path,
            *("--config", str(config), "--model_args", f"model=m,base_url={server.url},max_retries=1"),
            *("--output_path", str(tmp_path), "--limit", "3"),
            GEOEVAL_DATA=str(data[0]),
        )
    assert done.status == 0, done.output
    assert done.results.keys() == set(TASKS)
    assert sum(server.calls.values()) == 3 * len(TASKS)


@pytest.mark.parametrize("task", TASKS)
def test_prompt_arrives_as_built(run, data, task):
    from geoeval.benchmarks import get_benchmark
    from geoeval.data import locate, read_items

    benchmark = get_benchmark(task)
    items = read_items(locate(task, str(data[0])), benchmark.strata)
    texts = {number: benchmark.prompt_text(item.prompt_view()) for number, item in enumerate(items)}
    assert run[task][1].texts == texts


@pytest.mark.parametrize("task", TASKS)
def test_failed_requests_are_out_of_the_denominator_and_in_plain_sight(run, task):
    done, _ = run[task]
    failed = sum(expected(style)[0] == "failed" for style in STYLES)
    assert done.value(task, "coverage") == pytest.approx(1 - failed / len(STYLES))
    assert f"{failed} failed requests" in done.output
    metric = "rouge_l" if task == "lithobench_open" else "accuracy"
    scored = [s for s in done.samples(task) if metric in s]
    assert len(scored) == len(STYLES) - failed
