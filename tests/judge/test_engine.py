"""The engine against stand-in judges that behave well and badly."""

import asyncio
import io
import json
import logging
import pickle
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the package openai")
import standin_judge as standin

from geoeval.judge import caller, client
from geoeval.judge.engine import Asked, JudgeError, MissingCallsError, judge_all, judge_letters, judge_run
from geoeval.judge.letters import LetterAsk
from geoeval.judge.limits import Brake, Pace, Stopped
from geoeval.judge.question import Dialect, MarkAsk
from geoeval.judge.rubric import load_rubric
from geoeval.judge.settings import JudgeSettings
from geoeval.judge.store import CallStore
from geoeval.types import Judgement

RUBRIC = load_rubric()
KEY = "sk-test-0123456789abcdef"


def asked(count, text="It is rock {}."):
    return [Asked(f"item-{n}", f"Which rock is it? ({n})", ("Granite.",), text.format(n)) for n in range(count)]


def expected(one):
    """The marks that every well-behaved stand-in gives, whatever the form."""
    marks = standin.marks_of(MarkAsk(one, RUBRIC).messages(structured=True))
    return float(marks.pop("overall")), {name: float(mark) for name, mark in marks.items()}


def png(colour):
    from PIL import Image

    content = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(content, "PNG")
    return content.getvalue()


def marks(judgements):
    return [(judgement.score, dict(judgement.dimensions)) for judgement in judgements]


@pytest.fixture
def settings(tmp_path):
    """For a server that is still to come."""
    store = str(tmp_path / "calls.sqlite")
    return JudgeSettings("judge-1", "http://127.0.0.1:9/v1", store=store, backoff=0.01, timeout=5, concurrency=8)


def at(server, settings, **values):
    return replace(settings, base_url=server.url, **values)


# What each kind of judge is asked.


@pytest.mark.parametrize(
    ("style", "form", "temperature", "refused", "more"),
    [
        ("structured", "schema", "0", {}, 1),
        ("text_only", "text", "0", {400: 1}, 1),
        ("ignores_format", "text", "0", {}, 2),
        ("picky", "schema", "default", {400: 2}, 1),
        ("rate_limited", "schema", "0", None, 1),
        ("failing", "schema", "0", None, 1),
    ],
)
def test_every_judge_gives_the_same_marks_and_each_reply_is_paid_once(  # noqa: PLR0917
    settings, style, form, temperature, refused, more
):
    answers = asked(24)
    with standin.serving(style) as server:
        own = at(server, settings, timeout=0.5)
        judged = judge_run(answers, own)
        assert marks(judged.judgements) == [expected(one) for one in answers]
        assert (judged.facts["form"], judged.facts["temperature"]) == (form, temperature)
        assert f"|judge_form:{form}|judge_temperature:{temperature}|" in judged.signature
        assert "judge:judge-1[judge-1-2026-01-01]|" in judged.signature
        assert f"rubric:lithology-1@{RUBRIC.sha256[:12]}" in judged.signature
        assert set(server.answered.values()) == {1}
        assert len(server.answered) == len(answers) + more
        assert refused is None or server.refused == refused
        before = sum(server.seen.values())
        again = judge_run(answers, own)
        assert sum(server.seen.values()) == before  # no call at all
        assert (again.judgements, again.signature) == (judged.judgements, judged.signature)
        assert (again.facts["calls"], again.facts["from_store"]) == (0, 24)


def test_failing_judge_was_tried_by_every_failure(settings):
    with standin.serving("failing") as server:
        judge_all(asked(60), at(server, settings, timeout=0.5))
        with CallStore(Path(settings.store)) as store:
            errors = {call.error.partition(":")[0] for call in store if call.error}
    assert errors == {"HTTP 500", "no connection", "no answer in 0.5 s", "no chat completion"}


def test_a_dialect_is_announced_and_remembered(settings, capsys):
    with standin.serving("text_only") as server:
        judge_all(asked(1), at(server, settings))
        assert "asked for marks as lines of text, not JSON: HTTP 400" in capsys.readouterr().err
        judge_all(asked(3), at(server, settings))
        assert server.refused == {400: 1}
        assert capsys.readouterr().err == ""


def test_an_endpoint_that_changed_is_found_out_again(settings):
    with standin.serving("structured") as server:
        own = at(server, settings)
        judge_all(asked(2), own)
        server.style = "text_only"
        judged = judge_run(asked(5), own)
        assert judged.facts["form"] == "text"
        assert marks(judged.judgements) == [expected(one) for one in asked(5)]


def test_a_form_that_is_demanded_is_not_replaced(settings):
    with standin.serving("text_only") as server, pytest.raises(JudgeError, match="set structured: text"):
        judge_all(asked(2), at(server, settings, structured="schema"))
    with standin.serving("structured") as server:
        judged = judge_run(asked(2), at(server, settings, structured="text"))
        assert judged.facts["form"] == "text"
        assert not any("response_format" in body for body in server.bodies)


@pytest.mark.parametrize(
    ("words", "parameter", "left_out"),
    [
        ("response_format of type json_schema is not supported", "", Dialect(schema=False)),
        ("Invalid parameter: 'response_format'", "response_format", Dialect(schema=False)),
        ("Use 'max_completion_tokens' instead.", "max_tokens", Dialect(limit="max_completion_tokens")),
        ("'temperature' does not support 0 with this model.", "temperature", Dialect(temperature=False)),
        ('[{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]', "", Dialect(seed=False)),
        ("max_tokens is too large: 4096; this model has 2048", "max_tokens", None),
        ("maximum context length is 2048 tokens", "", None),
        ("image_url is not supported", "messages", None),
    ],
)
def test_what_an_endpoint_refuses_is_left_out_and_nothing_else(words, parameter, left_out):
    assert Dialect().without(words, parameter) == left_out


# What stops a run.


@pytest.mark.parametrize(
    ("style", "status", "words"),
    [
        ("wrong_key", 401, "Incorrect API key provided. -> check the key in GEOEVAL_JUDGE_API_KEY"),
        ("unknown_model", 404, "The model `judge` does not exist. -> check model and base_url"),
        ("forbidden", 403, "has no access"),
        ("no_quota", 429, "exceeded your current quota"),
    ],
)
def test_what_cannot_get_better_stops_after_one_call(settings, style, status, words):
    with standin.serving(style) as server:
        with pytest.raises(JudgeError) as caught:
            judge_all(asked(50), at(server, settings))
        assert words in str(caught.value)
        assert server.url in str(caught.value)
        assert server.refused == {status: 1}


def test_a_key_that_is_revoked_stops_the_run_and_keeps_what_was_answered(settings):
    with standin.serving("structured", latency=0.01) as server:
        own = at(server, settings)
        judge_all(asked(5), own)
        server.style = "wrong_key"
        with pytest.raises(JudgeError, match="401"):
            judge_all(asked(200), own)
        assert server.refused[401] == 1
        server.style = "structured"
        assert judge_run(asked(5), own).facts["calls"] == 0


def test_a_key_that_is_revoked_on_the_way_stops_the_rest(settings):
    with standin.serving("revoked", latency=0.005) as server:
        own = at(server, settings)
        with pytest.raises(JudgeError, match="401"):
            judge_all(asked(200), own)
        assert 1 <= server.refused[401] <= own.concurrency
        server.style = "structured"
        judged = judge_run(asked(200), own)
        assert judged.facts["from_store"] == 29  # and the probe
        assert set(server.answered.values()) == {1}


def test_an_endpoint_that_stays_busy_stops_after_its_repetitions(settings):
    with standin.serving("busy") as server:
        with pytest.raises(JudgeError, match="overloaded"):
            judge_all(asked(50), at(server, settings, retries=2))
        assert server.refused == {503: 3}


def test_an_endpoint_that_dies_on_the_way_is_not_asked_for_ever(settings):
    with standin.serving("structured") as server:
        own = at(server, settings, retries=1)
        judge_all(asked(10), own)
        server.style = "busy"
        with pytest.raises(JudgeError, match=r"2\d calls in a row failed, the last with: HTTP 503"):
            judge_all(asked(500), own)
        assert server.refused[503] <= 1 + 2 * (20 + own.concurrency)
        server.style = "structured"
        assert judge_run(asked(500), own).facts["from_store"] == 10


@pytest.mark.parametrize("fate", ["too_long", "http_filter", "crash"])
def test_an_answer_that_never_works_does_not_stop_the_run_that_begins_with_it(settings, fate):
    with standin.serving("filtering") as server:
        own = at(server, settings, retries=1)
        judge_all(asked(3), own)
        judged = judge_run([*asked(1, f"fate: {fate}"), *asked(9)], own)
        assert judged.judgements[0].score is None
        assert [one.score for one in judged.judgements[1:]] == [expected(one)[0] for one in asked(9)]


def test_no_server_is_an_error_too(settings):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with pytest.raises(JudgeError, match="no connection"):
        judge_all(asked(2), replace(settings, base_url=url, retries=0))


def test_a_very_long_wait_is_not_waited(settings):
    with standin.serving("rate_limited") as server:
        server.retry_after = "86400"
        with pytest.raises(JudgeError, match="it asks to wait 86400 s"):
            judge_all(asked(20), at(server, settings))


def test_redirects_are_not_followed(settings):
    with standin.serving("structured") as other, standin.serving("redirect") as server:
        server.location = other.url
        with pytest.raises(JudgeError, match="307"):
            judge_all(asked(2), at(server, settings))
        assert not other.seen


def test_the_model_under_test_is_not_the_judge(settings):
    with standin.serving("structured") as server:
        for tested in ("judge-1", "org/JUDGE_1-2026-01-01"):
            with pytest.raises(JudgeError, match="is the model under test"):
                judge_all(asked(3), at(server, settings), tested=tested)
        assert not server.seen
        alias = at(server, settings, model="alias")
        with pytest.raises(JudgeError, match="alias, which is judge-1-2026-01-01,"):
            judge_all(asked(3), alias, tested="judge-1")
        assert sum(server.seen.values()) == 1
        allowed = judge_run(asked(3), replace(alias, allow_self=True), tested="judge-1")
        assert "judges_itself" in allowed.signature
        assert "judges_itself" not in judge_run(asked(3), alias, tested="other").signature


# What is no mark.


def test_empty_answers_get_0_without_a_call(settings):
    judgements = judge_all(
        [replace(one, answer=text) for one, text in zip(asked(3), ("", " \n", "\u3000"), strict=True)], settings
    )
    zero = {dimension.name: 0.0 for dimension in RUBRIC.dimensions}
    assert judgements == [Judgement(0.0, zero, reason="empty_answer")] * 3


@pytest.mark.parametrize("kind", standin.HOSTILE)
def test_hostile_output_is_asked_again_and_then_unscored(settings, kind):
    with standin.serving("hostile") as server:
        (good, bad) = judge_run([*asked(1), *asked(1, f"hostile: {kind}")], at(server, settings, retries=2)).judgements
        assert good.score is not None
        assert (bad.score, len(bad.calls)) == (None, 3)
        assert bad.reason.startswith("unreadable: ")
        seeds = {body["seed"] for body in server.bodies if f"hostile: {kind}" in json.dumps(body)}
        assert seeds == {0, 1, 2}
        again = judge_run(asked(1, f"hostile: {kind}"), at(server, settings, retries=4))
        assert again.facts["calls"] == 2  # only what was not asked yet


@pytest.mark.parametrize(
    ("fate", "code"),
    [
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("http_filter", "content_filter"),
        ("refusal", "refusal"),
        ("too_long", "failed"),
    ],
)
def test_what_was_cut_filtered_or_refused_has_its_own_reason_and_stops_nothing(settings, fate, code):
    with standin.serving("filtering") as server:
        judged = judge_run([*asked(1, f"fate: {fate}"), *asked(9)], at(server, settings))
        assert judged.judgements[0].score is None
        assert judged.facts["unscored_reasons"] == {code: 1}
        assert [one.score for one in judged.judgements[1:]] == [expected(one)[0] for one in asked(9)][0:]


def test_the_order_is_that_of_the_answers(settings):
    answers = asked(60)
    with standin.serving("rate_limited") as server:
        forward = judge_all(answers, at(server, settings))
        backward = judge_all(answers[::-1], at(server, settings))
    assert marks(forward) == [expected(one) for one in answers]
    assert forward == backward[::-1]


def test_the_same_answer_is_asked_once(settings):
    with standin.serving("structured", latency=0.02) as server:
        judgements = judge_all(asked(1) * 20, at(server, settings))
        assert len(server.answered) == 2  # with the probe
        assert len({judgement.calls for judgement in judgements}) == 1


def test_a_repetition_is_asked_anew_and_found_again(settings):
    with standin.serving("structured") as server:
        own = at(server, settings)
        judge_all(asked(3), own)
        second = judge_run(asked(3), replace(own, repeat=1))
        assert second.facts["calls"] == 3
        assert "|judge_repeat:1|" in second.signature
        assert judge_run(asked(3), replace(own, repeat=1)).facts["calls"] == 0


def test_the_picture_is_shown_when_wanted(settings):
    one = replace(asked(1)[0], picture={"bytes": png((1, 2, 3)), "path": None})
    with standin.serving("structured") as server:
        with_it = judge_run([one], at(server, settings, picture=True))
        without = judge_run([one], at(server, settings))
        kinds = [isinstance(body["messages"][1]["content"], list) for body in server.bodies]
    assert kinds == [True, True, False]  # the probe has one too
    assert "judge_picture:yes" in with_it.signature
    assert "judge_picture:no" in without.signature


def test_letters_are_read_by_the_same_engine(settings):
    asks = [LetterAsk(f"i{n}", ("A", "B"), (), f"I take B, number {n}") for n in range(3)]
    with standin.serving("letters") as server:
        readings, signature, _ = judge_letters(asks, at(server, settings))
        assert {id_: reading.value for id_, reading in readings.items()} == {"i0": "B", "i1": "B", "i2": "B"}
        assert "reading_prompt:" in signature
        stopped, _, facts = judge_letters([LetterAsk("new", ("A", "B"), (), "A")], at(server, settings, max_calls=0))
        assert stopped["new"].reason == "unreadable: budget: max_calls: 0"
        assert (facts["calls"], facts["stopped"]) == (0, "max_calls: 0")


# Limits.


def test_as_many_calls_at_once_as_wanted(settings):
    with standin.serving("structured", latency=0.05) as server:
        judge_all(asked(40), at(server, settings, concurrency=7))
        assert 1 < server.most_at_once <= 7


def test_max_calls_stops_and_the_next_run_goes_on(settings):
    answers = asked(30)
    with standin.serving("rate_limited") as server:
        own = at(server, settings)
        first = judge_run(answers, replace(own, max_calls=12))
        assert sum(server.seen.values()) == 12
        done = [judgement for judgement in first.judgements if judgement.score is not None]
        assert 0 < len(done) < 12
        assert {one.reason for one in first.judgements if one.score is None} == {"budget: max_calls: 12"}
        assert judge_run(answers, own).judgements == judge_all(answers, replace(own, max_calls=0))
        assert set(server.answered.values()) == {1}


def test_max_cost_stops(settings, tmp_path):
    prices = tmp_path / "prices.yaml"
    prices.write_text("as_of: today\nmodels:\n  judge-1: {input: 10, output: 100}\n")  # $0.02 a call
    with standin.serving("structured") as server:
        own = at(server, settings, prices=str(prices), max_cost=0.2)
        judged = judge_run(asked(30), own)
        assert sum(server.answered.values()) == 10
        assert judged.facts["spent"] == pytest.approx(0.2)
        assert judged.facts["unscored_reasons"] == {"budget": 21}
        whole = judge_run(asked(30), replace(own, max_cost=None))
        assert whole.facts["spent"] == pytest.approx(21 * 0.02)
        assert whole.facts["cost"] == pytest.approx(30 * 0.02)
        with pytest.raises(JudgeError, match="max_cost needs a price of other"):
            judge_run(asked(1), replace(own, model="other"))


def test_turns_are_spread_evenly():
    now = 100.0
    pace = Pace(60, clock=lambda: now)  # one a second
    assert [pace.take() for _ in range(4)] == [0, 1, 2, 3]
    now = 110.0
    assert pace.take() == 0
    pace.correct(2)
    assert pace.take() == 3
    pace.hold(30)
    assert pace.take() == 30
    assert [Pace(None, clock=lambda: now).take(1e9) for _ in range(3)] == [0, 0, 0]


def test_a_request_may_not_be_sent_before_its_turn(settings):
    with standin.serving("structured") as server:
        begun = time.monotonic()
        judge_all(asked(9), at(server, settings, requests_per_minute=600))
        assert time.monotonic() - begun >= 0.8  # ten requests, a tenth of a second apart: never less


def test_tokens_are_counted_as_the_endpoint_counts_them(settings, monkeypatch):
    taken, corrected = [], []
    monkeypatch.setattr(caller.Limits, "take", lambda self, tokens: taken.append(tokens) or 0.0)
    monkeypatch.setattr(caller.Limits, "correct", lambda self, tokens: corrected.append(tokens))
    with standin.serving("structured") as server:
        judge_all(asked(2), at(server, settings, tokens_per_minute=1e9))
    assert all(before + more == 1100 for before, more in zip(taken, corrected, strict=True))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_how_long_an_endpoint_asks_to_wait(headers, seconds):
    assert client._wait(headers) == seconds


def test_waits_grow_at_random_and_are_not_shorter_than_asked(settings):
    class Outcome:
        wait = None

        def result(self):
            return None, self

    class State:
        attempt_number, outcome = 1, Outcome()

    async def waits(attempt, asks):
        State.attempt_number, State.outcome.wait = attempt, asks
        with CallStore(Path(settings.store)) as store:
            own = replace(settings, backoff=1.0)
            patient = caller.Caller(own, store, caller.Meter(own, store), Brake())
            return [patient._wait(State) for _ in range(200)]

    first, fourth, asks = (asyncio.run(waits(*values)) for values in ((1, None), (4, None), (1, 30.0)))
    assert 0 <= min(first) < max(first) <= 1
    assert 4 < max(fourth) <= 8
    assert 30 <= min(asks) < max(asks) <= 31
    assert len({*first}) > 190
    assert max(asyncio.run(waits(30, None))) <= 60


def test_an_endpoint_that_asks_to_wait_holds_all_calls(settings, monkeypatch):
    held = []
    monkeypatch.setattr(caller.Limits, "hold", lambda self, seconds: held.append(seconds))
    with standin.serving("rate_limited") as server:
        server.retry_after = "0.02"
        judge_all(asked(10), at(server, settings))
    assert held == [0.02] * server.refused[429]
    assert held


def test_a_pause_ends_when_the_run_does():
    async def paused():
        brake = Brake()
        asyncio.get_running_loop().call_later(0.01, brake.stop, "enough")
        with pytest.raises(Stopped):
            await asyncio.wait_for(brake.pause(60), 5)

    asyncio.run(paused())


# Interruptions.

CLIENT = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background without it
from geoeval.judge.engine import judge_run
from geoeval.judge.settings import JudgeSettings
sys.path.insert(0, {tests!r})
from test_engine import asked
settings = JudgeSettings("judge-1", {url!r}, store={store!r}, backoff=0.01, concurrency=8)
judged = judge_run(asked({count}), settings)
print(json.dumps([[one.score, one.reason] for one in judged.judgements]))
"""


def start(server, store, count=120):
    code = CLIENT.format(tests=str(Path(__file__).parent), url=server.url, store=str(store), count=count)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(server, count):
    deadline = time.monotonic() + 60
    while sum(server.answered.values()) < count:
        assert time.monotonic() < deadline, "the judge was not asked"
        time.sleep(0.002)


def test_kill_9_in_the_middle_loses_no_stored_call_and_the_next_run_goes_on(tmp_path, settings):
    """Twice: what was under way, at most one call for each place, is all that is asked again."""
    answers, store = asked(120), tmp_path / "killed.sqlite"
    with standin.serving("structured", latency=0.02) as server:
        for count in (25, 70):
            process = start(server, store)
            wait_for(server, count)
            process.kill()
            process.communicate()
            assert process.returncode == -signal.SIGKILL
            paid = dict(server.answered)
            with sqlite3.connect(store) as database:
                assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                (stored,) = database.execute("SELECT count(DISTINCT key) FROM calls WHERE error IS NULL").fetchone()
            assert 0 <= len(paid) - stored <= 8
        server.latency = 0
        resumed = judge_run(answers, at(server, settings, store=str(store)))
        assert sum(server.answered.values()) - len(server.answered) <= 2 * 8
        assert resumed.facts["from_store"] >= 70 - 2 * 8
        whole = judge_run(answers, at(server, settings))
    assert marks(resumed.judgements) == [expected(one) for one in answers]
    assert (resumed.judgements, resumed.signature) == (whole.judgements, whole.signature)


def test_ctrl_c_stores_what_is_under_way(tmp_path, settings):
    store = tmp_path / "interrupted.sqlite"
    with standin.serving("structured", latency=0.1) as server, ExitStack() as stack:
        process = start(server, store, 400)
        stack.callback(process.kill)
        wait_for(server, 25)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert "waiting for the calls under way" in err
        results = json.loads(out)
        scored = [score for score, _ in results if score is not None]
        assert 24 <= len(scored) < 400
        assert {reason for score, reason in results if score is None} == {"budget: ctrl-C"}
        server.latency = 0
        judged = judge_run(asked(400), at(server, settings, store=str(store)))
        assert judged.facts["from_store"] == len(scored)
        assert set(server.answered.values()) == {1}


def test_a_second_ctrl_c_ends_at_once(tmp_path):
    with standin.serving("structured", latency=0.05) as server, ExitStack() as stack:
        process = start(server, tmp_path / "interrupted.sqlite")
        stack.callback(process.kill)
        wait_for(server, 10)
        server.latency = 60
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert "waiting for the calls under way" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert "KeyboardInterrupt" in err
        assert process.returncode != 0


def test_two_processes_at_once_on_one_store_give_the_same(tmp_path):
    store = tmp_path / "shared.sqlite"
    with standin.serving("structured", latency=0.01) as server:
        processes = [start(server, store, 60) for _ in range(2)]
        outputs = [process.communicate(timeout=120) for process in processes]
        assert [process.returncode for process in processes] == [0, 0], outputs
        assert outputs[0][0] == outputs[1][0]
        assert len(server.answered) == 61
    with sqlite3.connect(store) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_from_any_thread_and_inside_an_event_loop(settings):
    async def inside():
        return judge_all(asked(5), own)

    with standin.serving("structured") as server:
        own = at(server, settings)
        results = [asyncio.run(inside())]
        threads = [threading.Thread(target=lambda: results.append(judge_all(asked(5), own))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [results[0]] * 4
    assert not [thread for thread in threading.enumerate() if thread.name == "geoeval-judge"]


def test_an_error_of_ours_is_raised_after_what_is_under_way_is_stored(settings, monkeypatch):
    class Broken(MarkAsk):
        def read(self, reply):
            if self.id == "item-5":
                raise RuntimeError("our mistake")
            return super().read(reply)

    with standin.serving("structured", latency=0.02) as server:
        monkeypatch.setattr("geoeval.judge.engine.MarkAsk", Broken)
        with pytest.raises(RuntimeError, match="our mistake"):
            judge_all(asked(40), at(server, settings))
        monkeypatch.undo()
        assert len(server.answered) < 20
        paid = len(server.answered)
        assert judge_run(asked(40), at(server, settings)).facts["calls"] == 41 - paid


# Replay.


def test_a_score_is_replayed_offline_from_an_export(settings, tmp_path):
    answers = [*asked(12), *asked(1, "hostile: null"), replace(asked(1)[0], answer="")]
    with standin.serving("hostile") as server:
        own = at(server, settings, retries=2)
        judged = judge_run(answers, own)
    with CallStore(Path(own.store)) as store:
        keys = {key for judgement in judged.judgements for key in judgement.calls}
        assert store.export(tmp_path / "calls.jsonl", keys) == len(keys) == 15
    offline = replace(own, store=str(tmp_path / "calls.jsonl"), replay="strict", max_calls=0)
    replayed = judge_run(answers, offline)
    assert (replayed.judgements, replayed.signature) == (judged.judgements, judged.signature)
    assert replayed.facts["calls"] == 0

    more = [*answers, Asked("new-1", "?", ("x",), "y"), Asked("new-2", "?", ("x",), "z")]
    with pytest.raises(MissingCallsError, match="2 answers: new-1, new-2") as caught:
        judge_run(more, offline)
    assert caught.value.ids == ("new-1", "new-2")
    lenient = judge_run(more, replace(offline, replay="lenient"))
    assert lenient.judgements[:-2] == judged.judgements
    assert {one.reason for one in lenient.judgements[-2:]} == {"no_stored_call"}
    with pytest.raises(MissingCallsError, match="of 15 answers"):
        judge_run(more, replace(offline, temperature=1.0))


def test_a_call_that_failed_is_replayed_as_failed(settings):
    with standin.serving("filtering") as server:
        own = at(server, settings)
        judged = judge_run([*asked(3), *asked(1, "fate: too_long")], own)
    replayed = judge_run([*asked(3), *asked(1, "fate: too_long")], replace(own, replay="strict"))
    assert replayed.judgements == judged.judgements
    assert replayed.judgements[3].reason.startswith("failed: HTTP 400")


def test_a_replay_of_lines_of_text(settings):
    with standin.serving("text_only") as server:
        own = at(server, settings)
        judged = judge_run(asked(3), own)
    replayed = judge_run(asked(3), replace(own, replay="strict"))
    assert (replayed.judgements, replayed.signature) == (judged.judgements, judged.signature)


def test_a_replay_needs_no_client(settings, monkeypatch):
    with standin.serving("structured") as server:
        own = at(server, settings)
        judge_all(asked(3), own)
    for package in ("openai", "tenacity"):
        monkeypatch.setitem(sys.modules, package, None)
        assert judge_run(asked(3), replace(own, replay="strict")).facts["unscored"] == 0
        with pytest.raises(JudgeError, match=rf"needs the package {package}; pip install .geoeval\[judge\]"):
            judge_run(asked(4), own)
        monkeypatch.undo()


# The key.


def test_the_key_is_sent_and_nowhere_else(settings, monkeypatch, caplog, capsys, tmp_path):
    monkeypatch.setenv("GEOEVAL_JUDGE_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-0123456789")
    caplog.set_level(logging.DEBUG)
    texts = []
    for style in ("structured", "echo", "failing", "parrot"):
        with standin.serving(style) as server:
            own = at(server, settings, timeout=0.5)
            if style == "echo":
                with pytest.raises(JudgeError, match=r"Incorrect API key provided: \*\*\*") as caught:
                    judge_run(asked(10), own)
                texts.append(f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}")
            else:
                judged = judge_run(asked(10), own)
                texts.append(repr(judged.facts) + judged.signature + repr(judged.judgements))
            assert server.keys == {f"bearer {KEY}"}
            texts.append(repr(own))
            texts.append(pickle.dumps(own).decode("latin-1"))
    with CallStore(Path(settings.store)) as store:
        store.export(tmp_path / "calls.jsonl")
    texts += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()]
    texts += [*capsys.readouterr(), caplog.text]
    assert len("".join(texts)) > 50_000
    assert all(KEY not in text and "sk-other" not in text for text in texts)
    assert any("***" in text for text in texts)


def test_azure_is_asked_by_its_own_addresses(settings, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with standin.serving("structured") as server:
        azure = at(server, settings, api_version="2024-10-21", api_key_env="AZURE_OPENAI_API_KEY")
        azure = replace(azure, base_url=server.url.removesuffix("/v1"))
        judged = judge_run(asked(2), azure)
        assert server.paths == {"/openai/deployments/judge-1/chat/completions?api-version=2024-10-21"}
        assert server.keys == {KEY}
    assert judged.facts["endpoint"].endswith("?api-version=2024-10-21")
    assert judged.facts["unscored"] == 0


@pytest.mark.parametrize("style", ["structured", "failing"])
def test_the_plain_transport_does_as_well(settings, monkeypatch, style):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with standin.serving(style) as server:
        judgements = judge_all(asked(12), at(server, settings, timeout=0.5))
    assert marks(judgements) == [expected(one) for one in asked(12)]


def test_progress_is_silent_where_there_is_no_terminal(settings, capfd):
    with standin.serving("structured") as server:
        judge_all(asked(3), at(server, settings))
    assert capfd.readouterr() == ("", "")


def test_progress_shows_the_cost(settings, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with standin.serving("structured") as server:
        judge_all(asked(3), at(server, settings, model="gpt-5.4"), progress=True)
    assert "judging" in capfd.readouterr().err


def test_nothing_to_judge(settings):
    judged = judge_run([], settings)
    assert (judged.judgements, judged.facts["calls"], judged.facts["unscored"]) == ([], 0, 0)
