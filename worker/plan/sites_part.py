"""What the plan's `pool` says of several sites: a file of predictions each, one pool of all."""

from collections.abc import Mapping
from typing import Any

SITE = "site"


def from_sites(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the plan's `pool` says, with `predictions: {north: a, south: b}` as `sites`.

    `predictions` is then the file of the first one, which the others are like.
    """
    files = values.get("predictions")
    if not isinstance(files, Mapping):
        return values
    first = next(iter(files.values()), None)
    named = {"sites": dict(files), "site": values.get("site", SITE)}
    return {**values, **named, "predictions": first}


def mistakes_of_sites(
    sites: Mapping[str, Any] | None, site: str | None, taken: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return what is wrong with the sites.

    Args:
        taken: columns of the files that the plan uses, and for what; the site's is none of them.
    """
    if sites is None:
        text = "only predictions of several sites have it: `predictions: {north: a.csv, ...}`"
        return [] if site is None else [("site", text)]
    found = []
    if len(sites) < 2:
        text = f"came {len(sites)} site, expected at least two; else name the file alone"
        found.append(("predictions", text))
    for name, path in sites.items():
        others = [other for other, same in sites.items() if same == path and other != name]
        if others:
            found.append(("predictions", f"{name} and {others[0]} are the same file, {path}"))
            break
    if site in taken:
        text = f"came {site}, but that column holds {taken[str(site)]}; call the sites' another"
        found.append(("site", text))
    return found
