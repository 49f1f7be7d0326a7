"""A matplotlib figure as SVG inside the page: in its colours, without inline styles, which its policy forbids."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from geoeval.report.palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_VARIABLES = {colour: f"var(--{name})" for name, colour in LIGHT.items()}
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"(?:(?P<weight>bold|\d{3}) )?(?P<size>[\d.]+)px .*")


def svg_text(figure: Figure) -> str:
    """A figure as SVG; the same bytes for the same figure and matplotlib."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return out.getvalue()


def inline(svg: str, name: str, title: str) -> str:
    """An SVG of `svg_text` as an element of the page.

    Args:
        svg: The file.
        name: Made part of every id, so that ids are unique in the page; letters, digits, ".", "_" and "-".
        title: What a screen reader says.
    """
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        _plain_attributes(element, name)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", title)
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _plain_attributes(element: ElementTree.Element, name: str) -> None:
    """Style declarations as attributes, colours as the page's variables, ids and references with a prefix."""
    for declaration in element.attrib.pop("style", "").split(";"):
        property_, colon, value = declaration.partition(":")
        if colon:
            _set(element, property_.strip(), value.strip())
    for key, value in list(element.attrib.items()):
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key == _LINK:
            del element.attrib[key]
            element.set("href", f"#{name}-{value[1:]}")
        else:
            own = _REFERENCE.sub(lambda found: f"url(#{name}-{found[1]})", value)
            element.set(key, _VARIABLES.get(own, own))


def _set(element: ElementTree.Element, property_: str, value: str) -> None:
    font = _FONT.fullmatch(value) if property_ == "font" else None
    if font:
        element.set("font-size", font["size"])
        if font["weight"]:
            element.set("font-weight", font["weight"])
    elif not property_.startswith("font-family"):
        element.set(property_, value)
