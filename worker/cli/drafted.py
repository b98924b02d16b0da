"""The plan of a predictions file that a command is given in place of a plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from worker.cli.parts import ask
from worker.errors import AssayError

PLANS = (".yaml", ".yml")


def draft_of(path: Path) -> Path:
    """Where the plan of a file of predictions is written: of its name, in the folder one is in."""
    from worker.plan.model import as_id

    return Path(f"{as_id(path)}.yaml")


def plan_of(path: Path, command: str, say: Callable[[str], None], *, is_shown: bool = True) -> Path:
    """The path, if it is a plan; of predictions what `assay init` writes, or wrote earlier.

    Args:
        command: as in `assay up`; a message says it.
        is_shown: people will look at the items, so that something must be there to look at.

    Raises:
        AssayError: there is a plan, and it is of another file.
    """
    if path.suffix in PLANS:
        return path
    from worker.plan import load_plan
    from worker.setup.drafting import draft_plan

    draft = draft_of(path)
    if not draft.exists():
        text = draft_plan(path, draft, is_shown=is_shown, say=say, ask=ask)
        draft.write_text(text, encoding="utf-8")
        say(f"Wrote {draft}, with a comment at every key: what is asked, and when it stops.")
    elif load_plan(draft, for_simulation=not is_shown).pool.predictions.resolve() != path.resolve():
        raise AssayError(
            f"{draft} is there already, and is not of {path}. `{command} {draft}` runs it; "
            f"`assay init {path} --plan other.yaml` writes one, and `{command} other.yaml` "
            "runs that."
        )
    else:
        say(f"{draft} is there already, of {path}.")
    return draft
