"""The commands of docs/inspect.md and docs/lm_eval.md, run in the environment of these harnesses."""

import os

import pytest
from inspect_runs import inspect_python
from plain_endpoint import serving
from test_docs import Place, run_page

LETTER = "Answer: A"
MARKS = "\n".join(
    f"MARK {name}: 5" for name in ("correctness", "evidence", "soundness", "completeness", "faithfulness", "overall")
)


@pytest.mark.parametrize(("page", "commands"), [("inspect.md", 5), ("lm_eval.md", 2)])
def test_commands_of_the_page_work(tmp_path, page, commands):
    path = os.pathsep.join([str(inspect_python().parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "HOME": str(tmp_path), "NO_PROXY": "127.0.0.1", "INSPECT_DISPLAY": "plain"}
    with serving(f"{LETTER}\n{MARKS}") as place:
        assert (
            run_page(page, Place(tmp_path, env, {"HOST:PORT": place, "NAME": "some-model", "JUDGE": "judge"}))
            == commands
        )
