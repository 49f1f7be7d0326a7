"""``python -m geoeval``: the command ``geoeval``."""

from geoeval.cli import main

if __name__ == "__main__":
    main()
