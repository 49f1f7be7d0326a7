"""What the page is made with: template, style, script, and the policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Any

from geoeval.report.lines import coverage_notes, top
from geoeval.report.palette import DARK, LIGHT, variables
from geoeval.report.table import number
from geoeval.report.text import clipped, counted, html

_STYLES = ("base.css", "browser.css")
_SCRIPTS = ("text.js", "list.js", "filter.js", "detail.js", "main.js")


@cache
def environment() -> Any:
    """The templates; everything that is not marked safe is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("geoeval.report", "page")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, auto_reload=False)
    made.globals.update(html=html, clipped=clipped, counted=counted, number=number, top=top, notes=coverage_notes)
    return made


def policy(style: str, script: str) -> str:
    """A content security policy under which nothing runs or loads but our own style and script."""
    rules = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    if script:
        rules += [f"script-src '{_hash(script)}'", "require-trusted-types-for 'script'", "trusted-types 'none'"]
    return "; ".join(rules)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def style() -> str:
    """All style sheets, the colours of both schemes first."""
    schemes = (
        f":root{{{variables(LIGHT)}color-scheme:light dark}}"
        f"@media (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
        f"@media print{{:root{{{variables(LIGHT)}}}}}"
    )
    return schemes + "".join(_file(name) for name in _STYLES)


def script() -> str:
    """All scripts as one, in which each may use what stands before it."""
    return '"use strict";\n(() => {\n' + "".join(_file(name) for name in _SCRIPTS) + "})();\n"


def _file(name: str) -> str:
    return (resources.files("geoeval.report") / "page" / name).read_text(encoding="utf-8")


def safe(markup: str) -> Any:
    """Markup of our own making, which the template must not escape again."""
    from markupsafe import Markup

    return Markup(markup)
