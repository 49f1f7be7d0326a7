"""What all plots share: settings, size, and how a model is told apart: by its number, and by a colour as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from geoeval.report.lines import Entry
from geoeval.report.palette import LIGHT, series
from geoeval.report.text import clipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 3.75
_SETTINGS: Any = {
    "svg.hashsalt": "geoeval",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.edgecolor": LIGHT["muted"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelcolor": LIGHT["ink"],
    "ytick.labelcolor": LIGHT["ink"],
    "figure.facecolor": LIGHT["card"],
    "axes.facecolor": "none",
    "savefig.facecolor": LIGHT["card"],
}


@dataclass(frozen=True)
class Plot:
    """One plot.

    Attributes:
        name: For its file and its ids; letters, digits, "_", "." and "-".
        title: One line of plain text.
        caption: What must be known to read it.
        draw: Draws it.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure]

    def inline(self) -> str:
        """The SVG element for the page."""
        from geoeval.report.svg import inline, svg_text

        with drawing():
            return inline(svg_text(self.draw()), self.name, self.title)

    def save(self, folder: Path) -> list[Path]:
        """Write it as SVG and PNG.

        Raises:
            DataError: The folder cannot be written.
        """
        from geoeval.data.files import replacing
        from geoeval.report.svg import svg_text

        paths = [folder / f"{self.name}{ending}" for ending in (".svg", ".png")]
        with drawing():
            figure = self.draw()
            figure.suptitle("\n".join(wrap(clipped(self.title, 120), 52)), fontsize=8.5)
            with replacing(paths[0]) as part:
                part.write_text(svg_text(figure), encoding="utf-8")
            with replacing(paths[1]) as part:
                figure.savefig(part, format="png", dpi=200, metadata={"Software": None})
        return paths


@contextmanager
def drawing() -> Iterator[None]:
    """The settings of all plots, for the time of drawing; glyphs that the font lacks are no reason to complain."""
    import warnings

    import matplotlib as mpl

    with warnings.catch_warnings(), mpl.rc_context(_SETTINGS):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def new_axes(height: float) -> tuple[Figure, Axes]:
    """A figure of the common width and some height in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def numbered(axes: Axes, x: float, y: float, key: int) -> None:
    """A model's point, with its number in it."""
    axes.plot(
        x,
        y,
        "o",
        markersize=11,
        color=LIGHT["card"],
        markeredgecolor=LIGHT[series(key)],
        markeredgewidth=1.6,
        clip_on=False,
    )
    axes.text(x, y, str(key), ha="center", va="center_baseline", fontsize=7, fontweight="bold", zorder=5)


def legend(figure: Figure, task: Sequence[Entry]) -> None:
    """Which number and colour is which model."""
    from matplotlib.patches import Patch

    handles = [Patch(color=LIGHT[series(e.key)], label=f"{e.key}  {clipped(e.label, 44)}") for e in task]
    figure.legend(handles=handles, loc="outside lower left", frameon=False, fontsize=7, handlelength=0.9, ncols=1)
