"""What judging costs: the price table, the estimate before a run, the cost in its facts."""

import math
from dataclasses import replace

import pytest

pytest.importorskip("openai", reason="needs the package openai")
import standin_judge as standin

from geoeval.judge.cost import prompt_tokens
from geoeval.judge.engine import Asked, dry_run, judge_run
from geoeval.judge.errors import JudgeError
from geoeval.judge.prices import Price, load_prices
from geoeval.judge.settings import JudgeSettings

ASKED = [Asked(f"i{n}", "Which rock?", ("Granite.",), f"Rock {n}." if n % 4 else " ") for n in range(12)]


@pytest.fixture
def settings(tmp_path):
    prices = tmp_path / "own.yaml"
    prices.write_text("as_of: 2026-02\nmodels:\n  judge-1: {input: 2, output: 8}\n  local: {input: 0, output: 0}\n")
    store = str(tmp_path / "calls.sqlite")
    return JudgeSettings("judge-1", "http://127.0.0.1:9/v1", store=store, prices=str(prices), max_tokens=1000)


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        ({"prompt_tokens": 1_000_000, "completion_tokens": 0}, 2.5),
        ({"prompt_tokens": 0, "completion_tokens": 1_000_000}, 15.0),
        ({"prompt_tokens": 1000, "completion_tokens": 100}, 0.004),
        ({"prompt_tokens": 1000, "completion_tokens": 100, "cached_tokens": 800}, 0.0022),
        ({"prompt_tokens": 1000, "completion_tokens": 100, "cached_tokens": 5000}, 0.00175),
    ],
)
def test_price_of_a_call(usage, dollars):
    assert Price(2.5, 15.0, 0.25).of(usage) == pytest.approx(dollars)


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": 5}, {"completion_tokens": 5}])
def test_a_call_without_counts_has_no_price(usage):
    assert math.isnan(Price(1, 1, 1).of(usage))


def test_a_price_is_only_that_of_the_model_itself():
    prices = load_prices()
    assert prices.of("gpt-5.4") == prices.of("gpt-5.4-2026-03-05") == Price(2.5, 15.0, 0.25)
    assert [prices.of(name) for name in ("gpt-5.4-pro", "other/gpt-5.4", "my-gpt-5.4", "")] == [None] * 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models: [a]", "no map of models"),
        ("{", "cannot be read"),
        ("models: {a: 3}", "a: not {input: USD, output: USD}"),
        ("models: {a: {input: 1}}", "a: not"),
        ("models: {a: {input: -1, output: 2}}", "a: not"),
        ("models: {a: {input: .nan, output: 2}}", "a: not"),
        ("models: {a: {input: 1, output: 2, batch: 3}}", "a: not"),
    ],
)
def test_wrong_price_tables_say_what_is_wrong(tmp_path, text, words):
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(JudgeError) as caught:
        load_prices(str(file))
    assert words in str(caught.value)
    assert str(file) in str(caught.value)


def test_tokens_of_a_prompt():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "x" * 9999}}
    text = {"type": "text", "text": "x" * 40}
    assert prompt_tokens({"messages": [{"content": "x" * 40}]}) == 10
    assert prompt_tokens({"messages": [{"content": "砂岩"}, {"content": "x" * 3}]}) == 3
    assert prompt_tokens({"messages": [{"content": [picture, text]}]}) == 1010


def test_dry_run_sends_nothing_and_says_how_it_estimates(settings):
    plan = dry_run(ASKED, settings)  # there is no such server
    assert (plan.answers, plan.empty, plan.stored, plan.calls) == (12, 3, 0, 10)  # with the probe
    assert plan.completion_tokens == 3000
    assert plan.cost == pytest.approx((plan.prompt_tokens * 2 + 3000 * 8) / 1e6)
    assert plan.most == pytest.approx((plan.prompt_tokens * 2 + 10_000 * 8) / 1e6)
    text = "\n".join(plan.lines())
    for words in ("12 answers, 3 of them empty", "10 to make, 0 in the store", "bytes / 4", "300 each, assumed"):
        assert words in text
    assert "own.yaml, as of 2026-02" in text


def test_dry_run_knows_what_is_stored(settings):
    with standin.serving("text_only") as server:
        own = replace(settings, base_url=server.url)
        judge_run(ASKED[:6], own)
        seen = sum(server.seen.values())
        plan = dry_run([*ASKED, *ASKED[6:8]], own)  # one of the two is asked twice
        assert (plan.answers, plan.empty, plan.stored, plan.calls) == (14, 3, 4, 5)
        assert plan.basis == "100 each, the mean of 5 stored ones"
        judged = judge_run(ASKED, own)
        assert judged.facts["calls"] == 5
        assert dry_run(ASKED, own).calls == 0
        assert sum(server.seen.values()) == seen + 5


def test_an_unknown_price_is_never_0(settings):
    unknown = replace(settings, model="unknown")
    plan = dry_run(ASKED, unknown)
    assert (plan.cost, plan.most) == (None, None)
    assert "n/a: no price of unknown in own.yaml" in "\n".join(plan.lines())
    assert "$" not in "\n".join(plan.lines())
    with standin.serving("structured") as server:
        facts = judge_run(ASKED, replace(unknown, base_url=server.url)).facts
        assert (facts["cost"], facts["spent"]) == (None, None)
        facts = judge_run(ASKED, replace(settings, model="local", base_url=server.url)).facts
        assert (facts["cost"], facts["spent"]) == (0.0, 0.0)


def test_cost_of_a_run_is_that_of_all_its_calls_and_spent_that_of_new_ones(settings):
    each = (1000 * 2 + 100 * 8) / 1e6
    with standin.serving("structured") as server:
        own = replace(settings, base_url=server.url)
        first, second = judge_run(ASKED[:6], own).facts, judge_run(ASKED, own).facts
    assert (first["cost"], first["spent"]) == (pytest.approx(4 * each), pytest.approx(5 * each))  # with the probe
    assert (second["cost"], second["spent"]) == (pytest.approx(9 * each), pytest.approx(5 * each))
