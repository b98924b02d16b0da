"""Wrong tokens are answered late, whether a form or a header brought them, and not many at once."""

from __future__ import annotations

import asyncio

# So late that guessing leads nowhere.
WRONG_TOKEN_S = 1.0
# Of all guessers together; with more than that nobody's token is looked at for a moment.
AT_ONCE = 50
TOO_MANY = "Too many wrong tokens came at once; none is looked at now. Try again in a second."


class Guesses:
    """The wrong tokens that wait for their answer."""

    def __init__(self) -> None:
        self._waiting = 0

    @property
    def are_too_many(self) -> bool:
        """Whether no token should be looked at now."""
        return self._waiting >= AT_ONCE

    async def wait(self) -> None:
        """Make a wrong token wait."""
        self._waiting += 1
        try:
            await asyncio.sleep(WRONG_TOKEN_S)
        finally:
            self._waiting -= 1
