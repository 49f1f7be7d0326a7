"""The twelve base scenes of the refusal sample."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image

from tools.make_sample.scenes.sites import fields, houses, solar, tanks, tennis, track
from tools.make_sample.scenes.traffic import airport, harbour, parking, rail, river_bridge, roundabout

_ALL = (harbour, airport, parking, roundabout, fields, river_bridge, tanks, tennis, solar, houses, track, rail)
SCENES: dict[str, Callable[[np.random.Generator], Image.Image]] = {scene.__name__: scene for scene in _ALL}
