"""The SDK's client of a Label Studio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from connector.errors import Refused
from connector.listing import READ_TIMEOUT_S
from connector.settings import LabelStudioSettings

if TYPE_CHECKING:
    from label_studio_sdk.client import LabelStudio


def connect(settings: LabelStudioSettings) -> LabelStudio:
    """Return a client; personal access tokens and legacy tokens both work.

    Raises:
        Refused: the token is not one, or has expired.
    """
    from label_studio_sdk.client import LabelStudio  # takes a second, which few commands need

    try:
        client: LabelStudio = LabelStudio(  # type: ignore[no-untyped-call]
            base_url=settings.url, api_key=settings.token, timeout=READ_TIMEOUT_S
        )
    except Exception as error:  # the SDK raises its own on an expired or broken personal token
        raise Refused(settings.url, 401, str(error)[:200]) from error
    return client
