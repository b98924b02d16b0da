"""The templates of all pages, with their style and script; what is put into them is escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from worker.formats import counted, plain, seemly, shown

# Neither script nor another host: these pages are text, tables and lines.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


_TEMPLATES = Path(__file__).with_name("templates")


@cache
def template(name: str) -> Template:
    """Return a template of worker/report/templates by its file name.

    Numbers are written by the filter `as`, with one of the kinds of `formats.KINDS`, or by
    `counted` with what is counted; texts in which commands stand by `code`.
    """
    environment = Environment(
        loader=PackageLoader("worker.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=seemly,
    )
    environment.filters["as"] = shown
    environment.filters["counted"] = counted
    environment.filters["code"] = _code
    environment.globals["policy"] = POLICY
    return environment.get_template(name)


def _code(text: str) -> Markup:
    """The text, with what stands between backticks as code."""
    pieces = [escape(piece) for piece in plain(text).split("`")]
    pieces[1::2] = [Markup("<code>{}</code>").format(piece) for piece in pieces[1::2]]
    return Markup("").join(pieces)


@cache
def style() -> Markup:
    """The style sheet of all pages."""
    return Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8"))


@cache
def script() -> Markup:
    """The script of all pages: it sorts tables."""
    return Markup((_TEMPLATES / "table.js").read_text(encoding="utf-8"))


@cache
def policy() -> str:
    """A Content-Security-Policy under which the page runs this script and can load nothing."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
