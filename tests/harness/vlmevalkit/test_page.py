"""The commands of docs/vlmevalkit.md, and its table of names."""

import os
from pathlib import Path

from plain_endpoint import serving
from test_docs import Place, run_page
from vlmevalkit_runs import environment, python


def test_the_commands_of_the_page_work(tmp_path):
    path = os.pathsep.join([str(Path(python()).parent), os.environ["PATH"]])
    with serving("Answer: A") as host:
        place = Place(tmp_path, environment(tmp_path, PATH=path), {"HOST:PORT": host, "NAME": "some-model"})
        assert run_page("vlmevalkit.md", place) == 3
