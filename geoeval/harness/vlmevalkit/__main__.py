"""``python -m geoeval.harness.vlmevalkit``: the command ``geoeval vlmevalkit`` for launchers such as torchrun."""

from geoeval.harness.vlmevalkit.cli import main

if __name__ == "__main__":
    main()
