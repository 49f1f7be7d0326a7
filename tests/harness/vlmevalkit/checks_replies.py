"""Replies on their way through VLMEvalKit's own inference."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import checking
from checking import check, dataset, raises


class Model:
    """A local model, built as the harness's are; says what it is told for each item."""

    def __new__(cls, replies, interleave=True):
        from vlmeval.vlm.base import BaseModel

        class Told(BaseModel):
            INTERLEAVE = interleave

            def generate_inner(self, message, dataset=None):
                return replies.pop(0)

        return Told()


def infer(folder, replies, name="GeoRefusalBench_A", interleave=True, reuse=False):
    """The harness's own inference with a local model on the first rows."""
    from vlmeval.inference import infer_data_job

    built = dataset(name)
    built.data = built.data.iloc[: len(replies)]
    given = list(replies)
    infer_data_job(Model(given, interleave), folder, "m", built, retry_failed=True)
    assert reuse or not given
    return built, Path(folder) / f"m_{name}.tsv"


@check
def what_a_local_model_says_is_saved_as_it_is():
    from geoeval.runs.vlmevalkit import replies

    said = ["None", "N/A", "03", "", None, "half \ud83d", "x\ty\r\nz\"'", "long " * 20_000, "nan", "\x00"]
    want = ["None", "N/A", "03", "", None, "half \ufffd", "x\ty\r\nz\"'", "long " * 20_000, "nan", "\x00"]
    with tempfile.TemporaryDirectory() as folder:
        _, file = infer(folder, said)
        assert [reply.text for reply in replies(file)] == want
        assert not list(Path(folder).glob("*.pkl"))


@check
def what_was_saved_is_reused_as_it_is_and_failures_are_asked_again():
    from geoeval.runs.vlmevalkit import replies

    said = ["None", "N/A", "03", "", None]
    with tempfile.TemporaryDirectory() as folder:
        infer(folder, said)
        _, file = infer(folder, ["again"] * 5, reuse=True)
        assert [reply.text for reply in replies(file)] == ["None", "N/A", "03", "", "again"]


@check
def every_format_the_harness_writes_is_read():
    import vlmeval.inference

    from geoeval.runs.vlmevalkit import replies

    said = [
        "None",
        "N/A",
        "03",
        "",
        "x\ty\r\nz\"'",
        "=1+1" if checking.RUNNER.__name__ != "vlmeval.run" else "1+1",
        "\x00",
    ]
    built = dataset("GeoRefusalBench_A")
    frame = built.data.iloc[: len(said)].assign(prediction=said)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("tsv", "csv", "json", "xlsx"):
            file = Path(folder) / f"m_GeoRefusalBench_A.{suffix}"
            vlmeval.inference.dump(frame, str(file))
            assert [reply.text for reply in replies(file)] == said, suffix


@check
def predictions_of_other_data_are_not_reused():
    from vlmeval.inference import load
    from vlmeval.smp.file import is_prediction_complete

    from geoeval.data import DataError

    with tempfile.TemporaryDirectory() as folder:
        built, file = infer(folder, ["x"])
        index = list(built.data["index"])
        assert is_prediction_complete(str(file), index)
        file.write_text(file.read_text().replace('""SAMPLE""', '""local""'))
        raises(DataError, load, str(file), match="predictions were made with version, data")
        assert not is_prediction_complete(str(file), index)


@check
def a_model_that_shows_one_picture_is_not_given_several():
    with tempfile.TemporaryDirectory() as folder:
        infer(folder, ["x"], "FORGE_WORKVERI", interleave=False)
        raises(
            ValueError, infer, folder, ["x"], "FORGE_WORKVERI_ICD", interleave=False, match="first of several pictures"
        )


def endpoint(answers, **settings):
    """A model behind an API whose answers are (status, text) or errors, and what the harness makes of it."""
    from vlmeval.api.base import BaseAPI

    class Told(BaseAPI):
        is_api = True

        def generate_inner(self, inputs, **keywords):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return (*answer, "log")

    built = dataset("GeoRefusalBench_A")
    model = Told(retry=len(answers), wait=0, verbose=False, **settings)
    return model.generate(built.build_prompt(0), dataset="GeoRefusalBench_A")


@check
def an_empty_reply_is_told_from_a_failed_request():
    failed = "Failed to obtain answer via API."
    assert endpoint([(0, ""), (0, "  ")]) == ""
    assert endpoint([(0, ""), (0, "fine")]) == "fine"
    assert endpoint([(0, "half \ud83d")]) == "half \ufffd"
    assert endpoint([(0, failed)]).startswith(failed)
    assert endpoint([(0, ""), ValueError("cut")]) == f"{failed} ValueError: cut"
    assert endpoint([(500, "Error: the engine is overloaded")]) == f"{failed} status 500"
    assert endpoint([ConnectionError("a"), ConnectionError("b")]) == f"{failed} ConnectionError: b"


@check
def a_model_that_raises_outside_its_retries_is_a_failed_request():
    from vlmeval.api.base import BaseAPI

    class Broken(BaseAPI):
        allowed_types = ("text",)

        def generate_inner(self, inputs, **keywords):
            raise AssertionError("never asked")

    answer = Broken(retry=1, wait=0).generate(dataset("GeoRefusalBench_A").build_prompt(0))
    assert answer.startswith("Failed to obtain answer via API. AssertionError: Invalid input type"), answer


@check
def api_mode_ends_when_a_reply_cannot_be_saved():
    import asyncio

    from vlmeval.inference_api import APIEvalPipeline, DatasetConfig

    from geoeval.harness.vlmevalkit import hooks

    class Told:
        def generate(self, message, dataset=None):
            raise OSError("no space left on device")

    built = dataset("GeoRefusalBench_A")
    built.data = built.data.iloc[:2]
    hooks._PATIENCE, before = 1, hooks._PATIENCE
    try:
        with tempfile.TemporaryDirectory() as folder:
            config = DatasetConfig(
                "GeoRefusalBench_A", built, "m", Told(), folder, f"{folder}/m_GeoRefusalBench_A.tsv", {}
            )
            asyncio.run(asyncio.wait_for(APIEvalPipeline([config], concurrency=2).run(), timeout=30))
            status = json.loads((Path(folder) / "status.json").read_text())["datasets"]["GeoRefusalBench_A"]
            assert status["error_message"] == "0 of 2 replies, none saved; the log says why", status
    finally:
        hooks._PATIENCE = before


@check
def messages_of_other_datasets_are_left_alone():
    from vlmeval.api.base import BaseAPI

    class Told(BaseAPI):
        def generate_inner(self, inputs, **keywords):
            return 0, "", "log"

    assert Told(retry=1, wait=0).generate([{"type": "text", "value": "x"}]).startswith("Failed to obtain answer")
