"""The commands of docs/vlmevalkit.md, and its table of names."""

import os
import sys
from pathlib import Path

from vlmevalkit_runs import HERE, environment, python

sys.path.insert(0, str(HERE.parents[1]))


def test_the_commands_of_the_page_work(tmp_path):
    from harness.plain_endpoint import serving
    from test_docs import Place, run_page

    path = os.pathsep.join([str(Path(python()).parent), os.environ["PATH"]])
    with serving("Answer: A") as host:
        place = Place(tmp_path, environment(tmp_path, PATH=path), {"HOST:PORT": host, "NAME": "some-model"})
        assert run_page("vlmevalkit.md", place) == 3
