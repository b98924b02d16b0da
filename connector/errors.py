"""Everything that can go wrong between us and Label Studio, one class a diagnosis."""

from __future__ import annotations

from collections.abc import Sequence


class ConnectorError(Exception):
    """Base of all errors of this package; its text is fit to be shown to a user."""


class MissingSetting(ConnectorError):
    """A setting that comes from the environment is not there."""

    def __init__(self, name: str, what: str, example: str) -> None:
        super().__init__(f"{name} is not set: it holds {what}. Set it, e.g. {name}={example}")


class UnusableSecret(ConnectorError):
    """A secret was to come from a file, and cannot; the text never holds any of the secret."""

    def __init__(self, name: str, why: str) -> None:
        cure = f"holds the secret on one line, or set {name} itself"
        if name == "LABEL_STUDIO_SERVERS":
            cure = "holds an address of Label Studio and its token on every line"
        super().__init__(
            f"{name}_FILE {why}. Let it name a file that this process may read and that {cure}."
        )


class Unreachable(ConnectorError):
    """Label Studio did not answer: it is down, too slow, or not at this address."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"Label Studio at {url} did not answer ({why}). Check that it runs and that the "
            "address is right; nothing is lost, the next turn reads what was missed."
        )


class InDoubt(Unreachable):
    """An import was sent and its answer never came: the tasks may or may not be there.

    Attributes:
        is_slow: no answer came in time, so that Label Studio may still be at it.
    """

    def __init__(self, url: str, why: str, *, is_slow: bool = False) -> None:
        super().__init__(url, why)
        self.is_slow = is_slow


class Refused(ConnectorError):
    """Label Studio does not accept the token."""

    def __init__(self, url: str, status: int, detail: str) -> None:
        super().__init__(
            f"Label Studio at {url} refused the token ({status}: {detail}). Put a personal access "
            "token (Account & Settings > Personal Access Token), or a legacy token where the "
            "organisation allows them, into LABEL_STUDIO_API_KEY."
        )


class NotFound(ConnectorError):
    """The project or task does not exist, or this user may not see it."""

    def __init__(self, url: str, what: str) -> None:
        super().__init__(
            f"Label Studio at {url} knows no {what}. It was deleted, or the token belongs to a "
            "user of another organisation; check `label_studio.project` in the plan."
        )


class Rejected(ConnectorError):
    """Label Studio understood the request and said no."""

    def __init__(self, url: str, status: int, detail: str) -> None:
        super().__init__(f"Label Studio at {url} rejected the request ({status}): {detail}")
        self.status = status


class NotLabelStudio(ConnectorError):
    """Something answers at the address, but not Label Studio's API."""

    def __init__(self, url: str, status: int | None, head: str) -> None:
        super().__init__(
            f"{url} answered {status} with something that is not Label Studio's JSON: {head!r}. "
            "Check the address (no path after the host unless Label Studio is served there), and "
            "that no proxy or login page sits in front of it."
        )
        self.status = status


class ServerTrouble(ConnectorError):
    """Label Studio answered with a server error."""

    def __init__(self, url: str, status: int, head: str) -> None:
        super().__init__(
            f"Label Studio at {url} answered {status}: {head!r}. This is a fault on its side; look "
            "into its log. We go on by ourselves when it recovers."
        )


class BadConfig(ConnectorError):
    """The labelling configuration does not fit the plan."""


class ProjectNotEmpty(ConnectorError):
    """The project that the plan names holds tasks already."""

    def __init__(self, project: int, tasks: int) -> None:
        super().__init__(
            f"Project {project} holds {tasks} task{'s' * (tasks != 1)} already; an assessment "
            "imports its own, one by one, and needs an empty project. Name an empty one, or say "
            "`project: new`."
        )


class UnknownClasses(BadConfig):
    """The labelling configuration offers labels that are not the pool's classes, or lacks some."""

    def __init__(self, control: str, missing: Sequence[str], surplus: Sequence[str]) -> None:
        parts = []
        if missing:
            parts.append(f"lacks {', '.join(missing[:8])}")
        if surplus:
            parts.append(f"offers {', '.join(surplus[:8])}, which the pool does not know")
        super().__init__(
            f"The control {control!r} of the labelling configuration {' and '.join(parts)}. Give "
            "the choices the same names (or aliases) as `pool.classes` (where outputs are judged, "
            "as `annotation.verdict`), in any order."
        )


class RankingLost(ConnectorError):
    """Label Studio kept fewer predictions than were sent, so that its order is not ours."""

    def __init__(self, project: int, sent: int, created: int) -> None:
        super().__init__(
            f"Project {project}: {sent} tasks were ranked, but Label Studio kept {created} of the "
            "predictions that carry the order. They were taken back, and the order before stays; "
            "the next turn tries again. If this repeats, look into Label Studio's log."
        )


class RankedByAnother(ConnectorError):
    """Another assessment puts the tasks of this project in order."""

    def __init__(self, project: int, version: str) -> None:
        super().__init__(
            f"Project {project} is put in order by another assessment already: its model version "
            f"is {version!r}. Stop that one (`assay stop`), which puts the project's settings "
            "back; if it is gone, choose another model version in the project's settings."
        )
