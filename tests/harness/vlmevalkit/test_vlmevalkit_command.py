"""The command where VLMEvalKit is not needed or not there."""

from importlib.util import find_spec

import pytest

from geoeval.cli import main


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--help"], 0, "FORGE_WORKVERI_IMAGE_ICD for the task forge_workveri_image_icd"),
        ([], 2, "usage: geoeval vlmevalkit"),
        (["--vlmevalkit-root", "no/such/folder", "--data", "x"], 2, "no checkout of VLMEvalKit"),
        (["--data", "GeoRefusalBench", "--model", "m"], 1, 'pip install "geoeval[vlmevalkit]"'),
    ],
)
def test_what_is_said_and_the_exit_status(arguments, status, said, capsys):
    if status == 1 and find_spec("vlmeval"):
        pytest.skip("VLMEvalKit is installed")
    with pytest.raises(SystemExit) as end:
        main(["vlmevalkit", *arguments])
    assert end.value.code == status
    captured = capsys.readouterr()
    assert said in captured.out + captured.err


def test_a_shell_of_another_harness_does_not_load_this_one():
    """Importing what the command line needs imports no VLMEvalKit, torch or pandas."""
    import subprocess
    import sys

    code = "import geoeval.cli, geoeval.runs.vlmevalkit, sys; print({'vlmeval', 'torch', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
