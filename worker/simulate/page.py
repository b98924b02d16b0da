"""A simulation as one HTML page that needs nothing but itself."""

from __future__ import annotations

from typing import Any

from worker.report.pictures_simulation import pictures
from worker.report.templating import template


def page(report: dict[str, Any]) -> str:
    """The report of `simulated` as a page."""
    return template("simulation.html.j2").render(told=report, pictures=list(pictures(report)))
