"""Scripted annotators who do what people do: answer, err, correct, delete, skip, click twice."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from connector.annotator import Annotator, AnnotatorError
from tests.live.pools import Json, Trial

_DEEDS = {
    "answers": 60, "corrected at once": 8, "wrong, corrected later": 8, "skips": 6,
    "submitted twice": 6, "deleted": 5, "edited by another": 5,
}  # fmt: skip
# Eight people who look again at once would be all that Label Studio has to do.
LOOK_AGAIN_S = 3.0


class Given(NamedTuple):
    """An annotation that somebody gave."""

    annotation: int
    item: str
    trial: Trial


class Wait(NamedTuple):
    """From when somebody asked for a task until there was one, or the day was over."""

    began: float
    ended: float


@dataclass(slots=True)
class People:
    """What all of them did; `over` ends their day.

    open: the projects that ask for answers; in others nobody looks for tasks.
    newest: the latest task of each project; who found none looks again when another one is there.
    think_s: how long they look at a task before they answer it, on average.
    """

    trials: dict[int, Trial]  # by project
    open: set[int] = field(default_factory=set)
    newest: dict[int, int] = field(default_factory=dict)
    think_s: float = 0.0
    waits: list[Wait] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)
    given: list[Given] = field(default_factory=list)
    wrong: list[Given] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def work(self, person: Annotator, rng: random.Random) -> None:
        """One person's day."""
        projects = list(self.trials)
        while not self.over.is_set():
            project = rng.choice(projects)
            deed = rng.choices(list(_DEEDS), weights=list(_DEEDS.values()))[0]
            try:
                is_busy = self._do(deed, person, project, rng)
            except AnnotatorError:
                # Label Studio is away, or somebody else deleted what was to be edited.
                with self.lock:
                    self.done["refused"] += 1
                self.over.wait(0.5)
                continue
            if is_busy:
                with self.lock:
                    self.done[deed] += 1
            else:
                self.over.wait(0.3)

    def _do(self, deed: str, person: Annotator, project: int, rng: random.Random) -> bool:
        trial = self.trials[project]
        if deed == "deleted":
            old = self._taken(self.given, rng)
            if old is not None:
                person.delete(old.annotation)
            return old is not None
        if deed == "edited by another" or (deed == "wrong, corrected later" and rng.random() < 0.5):
            old = self._taken(self.given if deed == "edited by another" else self.wrong, rng)
            if old is not None:
                label = rng.choice([old.trial.truth[old.item], old.trial.another(old.item)])
                person.edit(old.annotation, label)
            return old is not None
        task = self._next_task(person, project)
        if task is None:
            return False
        if self.think_s:
            self.over.wait(rng.expovariate(1 / self.think_s))
        item = task["data"]["item_id"]
        right, wrong = trial.truth[item], trial.another(item)
        if deed == "skips":
            person.skip(task["id"])
        elif deed == "submitted twice":
            with ThreadPoolExecutor(2) as at_once:
                for one in [at_once.submit(self._submit, person, trial, task, right) for _ in "12"]:
                    with suppress(AnnotatorError):
                        self._keep(self.given, one.result(), item, trial)
        elif deed == "wrong, corrected later":
            self._keep(self.wrong, self._submit(person, trial, task, wrong), item, trial)
        elif deed == "corrected at once":
            made = self._submit(person, trial, task, wrong)
            person.edit(made["id"], right)
        else:
            self._keep(self.given, self._submit(person, trial, task, right), item, trial)
        return True

    def _next_task(self, person: Annotator, project: int) -> Json | None:
        """The next task, for which one waits as long as the project asks for answers.

        Raises:
            AnnotatorError: Label Studio is away; that is no wait for a task.
        """
        began, task = time.monotonic(), None
        while project in self.open and not self.over.is_set():
            newest = self.newest.get(project)
            if (task := person.next_task(project)) is not None:
                break
            look_again = time.monotonic() + LOOK_AGAIN_S
            while time.monotonic() < look_again and self.newest.get(project) == newest:
                if self.over.wait(0.1):
                    break
        if task is not None or self.over.is_set():
            with self.lock:
                self.waits.append(Wait(began, time.monotonic()))
        return task

    def _taken(self, of: list[Given], rng: random.Random) -> Given | None:
        """One of these annotations, which nobody else will take."""
        with self.lock:
            return of.pop(rng.randrange(len(of))) if of else None

    def _submit(self, person: Annotator, trial: Trial, task: Json, label: str) -> Json:
        return trial.submit(person, task, label)

    def _keep(self, where: list[Given], made: Json, item: str, trial: Trial) -> None:
        with self.lock:
            where.append(Given(made["id"], item, trial))
