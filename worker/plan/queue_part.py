"""The parts of the plan that say how items are queued, and in which Label Studio."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    field_validator,
)

from worker.plan.fields import FilePath, Name, PlanPart, Whole, YesOrNo


def _web_address(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise ValueError(f"came {text!r}, expected an address such as http://localhost:8080")
    return text.rstrip("/")


class QueuePlan(PlanPart):
    """How items reach the annotators."""

    look_ahead: Annotated[Whole, Field(ge=1)] = 3
    """open tasks for every active annotator."""
    mode: Literal["import", "prioritise"] = "import"
    """`import` tasks, or `prioritise` those of `pool.project` where they are."""


class LabelStudioPlan(PlanPart):
    """Where Label Studio is and which project is used; the token is in the environment."""

    url: Annotated[Name, AfterValidator(_web_address)] | None = None
    """which server; a token goes to its own one only:
    [deploying](../../deploy/README.md#settings). Default: `LABEL_STUDIO_URL`."""
    project: Annotated[Literal["new"] | Whole, Field(union_mode="left_to_right")] = "new"
    """`new`, or the number of an empty project."""
    title: Name | None = None
    """the title of a new project."""
    config: FilePath | None = None
    """the labelling configuration of a new project, an XML file. Default: made from the classes."""
    instruction: str | None = None
    """what annotators of a new project read."""
    show_finding: YesOrNo = Field(default=False, exclude_if=lambda value: value is False)
    """tell annotators what is found, not only how much is done; it biases what they label next."""

    @field_validator("project", mode="before")
    @classmethod
    def _new_or_number(cls, project: Any) -> Any:
        is_number = isinstance(project, int) and not isinstance(project, bool) and project >= 1
        if project != "new" and not is_number:
            raise ValueError(f"came {project!r}, expected new or the number of a project")
        return project

    @property
    def given(self) -> dict[str, object]:
        """What is asked for of the project, by its key; without the address."""
        values = self.model_dump(exclude={"url"}, exclude_none=True)
        return {key: value for key, value in values.items() if value != "new"}
