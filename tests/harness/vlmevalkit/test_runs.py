"""VLMEvalKit run as users run it, against an endpoint that answers in the many ways real ones do."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
import standin
from vlmevalkit_runs import KEY, checkout, evaluate, python, tagged

from geoeval.benchmarks import get_benchmark
from geoeval.data import open_picture
from geoeval.runs.vlmevalkit import XLSX_LIMIT, dataset_name, read
from geoeval.runs.vlmevalkit import replies as read_replies

STYLES = tuple(style for style in standin.STYLES if style not in ("slow", "http_429_once", "http_500_once"))
TASKS = {"georefusal": STYLES, "forge_workveri_icd": ("plain", "empty", "null"), "lithobench_mcq": ("plain",) * 4}
ROUTES = {"local": (), "api": ("--api-mode",), "checkout": ("--vlmevalkit-root",)}


@pytest.fixture(scope="module", params=ROUTES)
def ran(request, tmp_path_factory):
    """One run of each route over tasks of every kind of prompt."""
    python()
    route = list(ROUTES[request.param])
    if request.param == "checkout":
        route.append(checkout())
    folder = tmp_path_factory.mktemp(request.param)
    asked, first = {}, 1
    for task, styles in TASKS.items():
        asked[task] = tagged(folder / "data", task, styles, first)
        first += len(styles)
    with standin.serving() as server:
        names = [dataset_name(task) for task in TASKS]
        run = evaluate(folder, server.url, names, "--api-nproc", "8", *route, GEOEVAL_DATA=str(folder / "data"))
    return SimpleNamespace(run=run, server=server, asked=asked)


def every(ran):
    return [(task, *one) for task, found in ran.asked.items() for one in found]


def test_the_run_ends_well_and_prints_our_tables(ran):
    assert ran.run.status == 0, ran.run.output[-4000:]
    assert "georefusal  org/stand-in  (version 1-A)" in ran.run.output
    scored = sum(standin.expected(style)[0] != "failed" for style in STYLES)
    assert f"coverage: {scored} of {len(STYLES)} items scored" in ran.run.output


def test_every_reply_ends_as_the_rules_say(ran):
    for task, number, style, item in every(ran):
        score = ran.run.scores(dataset_name(task))[item.id]
        outcome, read_ = standin.expected(style)
        assert score.outcome.value == outcome, (number, style, score.reason)
        assert bool(score.extracted) == read_, style
        assert score.values.get("accuracy", 0) == int(read_), style


def test_no_reply_is_cut(ran):
    replies = ran.run.replies("GeoRefusalBench")
    (long,) = [item.id for _, style, item in ran.asked["georefusal"] if style == "long"]
    assert len(replies[long]) > XLSX_LIMIT


def test_every_prompt_is_the_benchmarks_own_in_its_order(ran):
    for task, number, _, item in every(ran):
        (message,) = get_benchmark(task).prompt(item)
        assert ran.server.parts[number] == [part.get("text") for part in message["content"]]


def test_pictures_arrive_as_jpeg_of_the_same_size(ran):
    for task, number, _, item in every(ran):
        (message,) = get_benchmark(task).prompt(item)
        pictures = [open_picture(part["image"]) for part in message["content"] if part["type"] == "image"]
        sizes = [found.rpartition(":")[0] for found in ran.server.pictures[number]]
        assert sizes == [str(picture.size) for picture in pictures]


def test_each_task_has_its_own_limit_and_the_name_its_slash(ran):
    for task, number, *_ in every(ran):
        sent = ran.server.settings[number]
        assert sent["max_tokens"] == get_benchmark(task).max_new_tokens
        assert (sent["temperature"], sent["model"]) == (0, "org/stand-in")


def test_no_file_and_no_line_has_the_key(ran):
    assert KEY not in ran.run.output
    files = [path for path in ran.run.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert "***" in ran.run.state["argv"]


def test_status_and_record_say_what_happened(ran):
    state, record = ran.run.state["datasets"], ran.run.record("GeoRefusalBench")
    assert state["GeoRefusalBench"]["primary_metric"] == "accuracy"
    assert not state["GeoRefusalBench"].get("judge_model")
    metrics = {metric["name"]: metric["value"] for metric in record["metrics"]}
    assert state["GeoRefusalBench"]["metrics"]["accuracy"] == pytest.approx(metrics["accuracy"], abs=1e-12)
    facts = record["run"]
    assert (facts["harness"], facts["model"]) == ("VLMEvalKit", "org/stand-in")
    assert facts["generation_kwargs"] == {"temperature": 0.0}
    assert facts["harness_version"] not in ("", "unknown")
    assert (facts["data"], facts["items_asked"]) == ("local", len(STYLES))


def test_the_prediction_file_alone_gives_the_same_replies_and_facts(ran):
    (saved,) = read(ran.run.predictions("GeoRefusalBench"))
    assert (saved.task, saved.facts["model"], saved.data) == ("georefusal", "org/stand-in", "local")
    assert {reply.id: reply.text for reply in saved.read()} == ran.run.replies("GeoRefusalBench")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Three items of one task, one of which fails, evaluated, and the endpoint still there."""
    folder = tmp_path_factory.mktemp("small")
    tagged(folder / "data", "georefusal", ("plain", "null", "empty"))
    with standin.serving() as server:

        def again(*arguments, **more):
            before = sum(server.calls.values())
            run = evaluate(
                folder, server.url, ["GeoRefusalBench"], *arguments, GEOEVAL_DATA=f"{folder / 'data'}", **more
            )
            return run, sum(server.calls.values()) - before

        yield again(), again


def coverage(run):
    return {name: count for name, count in run.record("GeoRefusalBench")["coverage"].items() if count}


WANTED = {"items": 3, "read": 1, "empty": 1, "failed": 1}


def test_a_run_with_a_failed_request_is_evaluated_again_and_nothing_is_asked(small):
    (first, calls), again = small
    assert (first.status, calls, coverage(first)) == (0, 3, WANTED), first.output[-3000:]
    first.file("*_score.geoeval.json").unlink()
    run, calls = again("--mode", "eval")
    assert (run.status, calls, coverage(run)) == (0, 0, WANTED), run.output[-3000:]


def test_earlier_replies_are_not_taken_for_todays(small):
    """As a module under torchrun, which is how several GPUs are used."""
    _, again = small
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "1", "-m", "geoeval.harness.vlmevalkit")
    run, calls = again(launcher=launcher)
    assert (run.status, calls, coverage(run)) == (0, 3, WANTED), run.output[-3000:]
    (aside,) = run.folder.glob("out/org--stand-in/earlier-*")
    assert {path.suffix for path in aside.iterdir()} == {".tsv", ".json", ".jsonl"}


def test_reuse_asks_what_failed_only(small):
    _, again = small
    run, calls = again("--reuse")
    assert (run.status, calls, coverage(run)) == (0, 1, WANTED), run.output[-3000:]


def test_xlsx_as_it_was_asked_for_loses_no_reply_without_saying_so(tmp_path):
    """The harness's own default; our command takes tsv."""
    tagged(tmp_path / "data", "georefusal", ("plain", "long"))
    with standin.serving() as server:
        data = str(tmp_path / "data")
        run = evaluate(tmp_path, server.url, ["GeoRefusalBench"], GEOEVAL_DATA=data, PRED_FORMAT="xlsx")
    assert coverage(run) == {"items": 2, "read": 1, "failed": 1}
    (cut,) = [reply for reply in read_replies(run.file("*_GeoRefusalBench.xlsx")) if reply.text is None]
    assert cut.failure.startswith("cut_by_xlsx: 32,767 characters")


def test_a_dead_endpoint_ends_with_1(tmp_path):
    """From a configuration file, whose key must not be stored either."""
    tagged(tmp_path / "data", "georefusal", ("plain",))
    model = {"class": "LMDeployAPI", "model": "a/b", "api_base": "http://127.0.0.1:9/v1/chat/completions", "retry": 1}
    config = {
        "model": {"dead": {**model, "key": KEY}},
        "data": {"GeoRefusalBench": {"class": "GeoEvalDataset", "dataset": "GeoRefusalBench"}},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    from vlmevalkit_runs import command

    run = command(tmp_path, "--config", "config.json", "--work-dir", "out", GEOEVAL_DATA=str(tmp_path / "data"))
    assert run.status == 1
    assert "GeoRefusalBench: " in run.output.splitlines()[-1]
    assert "no item could be scored, all 1 requests failed" in run.output.splitlines()[-1]
    assert coverage(run) == {"items": 1, "failed": 1}
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


class JudgeHandler(standin.Handler):
    """The model under test, and a judge that gives 7 to every answer but one, where it cannot be read."""

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(content)
        if body["model"] != "judge":
            self.rfile = io.BytesIO(content)
            super().do_POST()
            return
        assert self.headers["Authorization"] == f"Bearer {KEY}-of-the-judge"
        schema = body["response_format"]["json_schema"]["schema"]["properties"]
        marks = {name: 7 if about["type"] in ("number", "integer") else "Sound." for name, about in schema.items()}
        text = "Seven, I think" if "too small for me" in str(body["messages"]) else json.dumps(marks)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        about = {"id": "1", "object": "chat.completion", "created": 0, "model": "judge", "choices": [choice]}
        self.send(200, {**about, "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}})


def test_a_judge_marks_open_answers_and_what_it_cannot_mark_is_unscored(tmp_path):
    tagged(tmp_path / "data", "lithobench_open", ("plain", "prose", "null"))
    with standin.serving() as server:
        server.RequestHandlerClass = JudgeHandler
        chosen = ("--judge", "judge", "--judge-base-url", server.url, "--judge-key", f"{KEY}-of-the-judge")
        cache = {"GEOEVAL_CACHE": str(tmp_path / "cache"), "GEOEVAL_DATA": str(tmp_path / "data")}
        run = evaluate(tmp_path, server.url, ["LithoBench_OPEN"], *chosen, "--judge-retry", "0", **cache)
    assert run.status == 0, run.output[-4000:]
    scores, record = run.scores("LithoBench_OPEN").values(), run.record("LithoBench_OPEN")
    assert sorted(str(score.judgement and score.judgement.score) for score in scores) == ["7.0", "None", "None"]
    assert record["judge"]["model"] == "judge"
    assert (record["coverage"]["failed"], record["coverage"]["unscored"]) == (1, 1)
    state = run.state["datasets"]["LithoBench_OPEN"]["metrics"]
    assert state["judge_score"] == pytest.approx(7)
    assert "open_with_judge" not in state  # half of the answers are without a mark
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
