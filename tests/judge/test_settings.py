"""Settings of the judge: from where, what is refused, and that no key gets in."""

import pickle

import pytest

from geoeval.judge.errors import JudgeError
from geoeval.judge.settings import OPENAI, JudgeSettings, find_config, same_model

KEY = "sk-test-0123456789abcdef"
LOCAL = "http://localhost:8000/v1"


def from_env(**values):
    return JudgeSettings.from_env({f"GEOEVAL_JUDGE_{name}": value for name, value in values.items()})


def test_no_settings_no_judge():
    assert JudgeSettings.from_env({}) is None
    assert JudgeSettings.from_env({"GEOEVAL_JUDGE_API_KEY": KEY, "OPENAI_API_KEY": KEY}) is None
    assert from_env(MODEL="") is None


def test_defaults_are_those_described():
    settings = from_env(MODEL="gpt-5.4")
    assert (settings.weight, settings.picture, settings.concurrency) == (0.5, False, 16)
    assert (settings.temperature, settings.max_unscored, settings.structured) == (0.0, 0.05, "auto")
    assert (settings.replay, settings.base_url, settings.rubric) == ("off", OPENAI, "lithology-1")


def test_environment_values_have_the_right_types():
    settings = from_env(
        MODEL="m",
        BASE_URL=LOCAL,
        PICTURE="yes",
        SEED="7",
        WEIGHT="0.25",
        MAX_CALLS="10",
        TOKENS_PER_MINUTE="",
        REPEAT="2",
    )
    assert settings == JudgeSettings(
        "m", LOCAL, picture=True, seed=7, weight=0.25, max_calls=10, tokens_per_minute=None, repeat=2
    )


def test_environment_wins_over_the_file(tmp_path):
    file = tmp_path / "judge.yaml"
    file.write_text("model: a\nbase_url: http://localhost:1/v1\nconcurrency: 3\nreplay: off\nseed: null\n")
    assert JudgeSettings.from_yaml(file).seed is None
    settings = from_env(CONFIG=str(file), CONCURRENCY="5")
    assert (settings.model, settings.concurrency, settings.replay) == ("a", 5, "off")


@pytest.mark.parametrize("name", ["openai", "azure", "vllm", "ollama"])
def test_shipped_configurations_are_found_by_name(name):
    assert from_env(CONFIG=name) == JudgeSettings.from_yaml(find_config(name))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"MODEL": "m", "CONCURENCY": "3"}, "did you mean GEOEVAL_JUDGE_CONCURRENCY?"),
        ({"MODEL": "m", "ZZZ": "3"}, "there are GEOEVAL_JUDGE_MODEL"),
        ({"WEIGHT": "0.5"}, "set GEOEVAL_JUDGE_MODEL"),
        ({"MODEL": "m", "WEIGHT": "1.5"}, "weight is 1.5"),
        ({"MODEL": "m", "WEIGHT": "nan"}, "weight is nan"),
        ({"MODEL": "m", "WEIGHT": "half"}, "weight is 'half'"),
        ({"MODEL": "m", "RETRIES": "2.5"}, "retries is '2.5'; use a whole number"),
        ({"MODEL": "m", "CONCURRENCY": "0"}, "concurrency is 0"),
        ({"MODEL": "m", "TIMEOUT": "0"}, "timeout is 0.0"),
        ({"MODEL": "m", "TIMEOUT": "inf"}, "timeout is inf"),
        ({"MODEL": "m", "PICTURE": "perhaps"}, "use true or false"),
        ({"MODEL": "m", "REPLAY": "sometimes"}, "['off', 'strict', 'lenient']"),
        ({"MODEL": "m", "STRUCTURED": "json"}, "['auto', 'schema', 'text']"),
        ({"MODEL": " "}, "model is empty"),
        ({"MODEL": "m", "BASE_URL": "localhost:8000"}, "base_url is no address"),
        ({"MODEL": "m", "STORE": "calls.jsonl"}, "good for replay"),
        ({"CONFIG": "opnai"}, "one of ['azure', 'ollama', 'openai', 'vllm']"),
    ],
)
def test_wrong_settings_say_what_to_do(values, words):
    with pytest.raises(JudgeError) as caught:
        from_env(**values)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("model: m\nwieght: 1", "did you mean weight?"),
        ("model: m\nmax_tokens: many", "max_tokens is 'many'"),
        ("- model", "not a map"),
        ("weight: 0.5", "no model"),
        (f"model: m\napi_key: {KEY}", "api_key_env"),
        (f"model: m\napi_key_env: {KEY}", "no name of an environment variable"),
        (f"model: m\nbase_url: https://user:{KEY}@host/v1", "user, password or query (host)"),
        (f"model: m\nbase_url: https://host/v1?api_key={KEY}", "user, password or query (host)"),
        (f"model: m\napi_key: {KEY}: {KEY}", "line 2: not YAML"),
    ],
)
def test_wrong_files_say_what_to_do_and_never_a_key(tmp_path, content, words):
    file = tmp_path / "judge.yaml"
    file.write_text(content)
    with pytest.raises(JudgeError) as caught:
        JudgeSettings.from_yaml(file)
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("settings", "environ", "key"),
    [
        (JudgeSettings("m"), {"GEOEVAL_JUDGE_API_KEY": "own", "OPENAI_API_KEY": "openai"}, "own"),
        (JudgeSettings("m"), {"OPENAI_API_KEY": "openai"}, "openai"),
        (JudgeSettings("m", LOCAL), {"OPENAI_API_KEY": "openai"}, ""),  # never to somebody else's server
        (JudgeSettings("m", "https://api.openai.com.evil.example/v1"), {"OPENAI_API_KEY": "openai"}, ""),
        (JudgeSettings("m", LOCAL, api_key_env="OTHER"), {"OTHER": "other", "GEOEVAL_JUDGE_API_KEY": "own"}, "other"),
    ],
)
def test_which_key_is_taken(settings, environ, key):
    assert settings.api_key(environ) == key


@pytest.mark.parametrize("settings", [JudgeSettings("m"), JudgeSettings("m", "https://x.example", api_version="1")])
def test_missing_key_says_which_variable(settings):
    with pytest.raises(JudgeError, match="set GEOEVAL_JUDGE_API_KEY"):
        settings.api_key({})


def test_a_variable_that_holds_the_key_is_no_setting():
    settings = JudgeSettings.from_env(
        {"GEOEVAL_JUDGE_MODEL": "m", "GEOEVAL_JUDGE_API_KEY_ENV": "GEOEVAL_JUDGE_SECOND", "GEOEVAL_JUDGE_SECOND": KEY}
    )
    assert KEY not in repr(settings)
    assert KEY.encode() not in pickle.dumps(settings)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpt-5.4", "openai/GPT-5.4-2026-03-05", True),
        ("gpt-5.4", "gpt-5.4-mini", False),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_5-vl-7b-instruct", True),
        ("gpt-4o", "gpt-4o-20240806", True),
        ("gpt-4o", "gpt-4", False),
        ("rock-judge", "/models/rock-judge/", True),
        ("rock-judge", "/models/other/", False),
    ],
)
def test_same_model_under_another_name(one, other, same):
    assert same_model(one, other) is same


def test_values_from_the_command_line():
    settings = JudgeSettings("m").with_values(max_cost="2.5", rubric="other.yaml")
    assert (settings.max_cost, settings.rubric) == (2.5, "other.yaml")
    with pytest.raises(JudgeError, match="did you mean max_cost"):
        settings.with_values(max_costs=1)
