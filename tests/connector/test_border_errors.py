"""Every error of httpx and of Label Studio's SDK becomes one of ours."""

from __future__ import annotations

from inspect import isclass

import httpx
import label_studio_sdk.errors
import pytest
from label_studio_sdk.core.api_error import ApiError

from connector.border import label_studio_errors
from connector.errors import ConnectorError, Unreachable

URL = "http://label-studio.example"


def raised_inside(error: Exception, *, writes: bool = False) -> Exception:
    with (
        pytest.raises(Exception) as caught,
        label_studio_errors(URL, "project 12", writes=writes),
    ):
        raise error
    return caught.value


FOREIGN_OF_HTTPX = [
    found
    for found in vars(httpx).values()
    if isclass(found) and issubclass(found, httpx.HTTPError | httpx.InvalidURL)
]
FOREIGN_OF_THE_SDK = [
    getattr(label_studio_sdk.errors, name) for name in label_studio_sdk.errors.__all__
]


class TestTheList:
    """No foreign error gets through; a new one of the SDK or of httpx would show here."""

    @pytest.mark.parametrize("foreign", FOREIGN_OF_HTTPX)
    @pytest.mark.parametrize("writes", [False, True])
    def test_every_error_of_httpx_becomes_ours(
        self, foreign: type[Exception], writes: bool
    ) -> None:
        if foreign is httpx.HTTPStatusError:
            answer = httpx.Response(503, request=httpx.Request("GET", URL))
            error: Exception = httpx.HTTPStatusError("bad", request=answer.request, response=answer)
        else:
            error = foreign("it broke")

        ours = raised_inside(error, writes=writes)

        assert isinstance(ours, ConnectorError)
        assert URL in str(ours)
        assert ours.__cause__ is error

    @pytest.mark.parametrize("foreign", FOREIGN_OF_THE_SDK)
    def test_every_error_of_the_sdk_becomes_ours(self, foreign: type[ApiError]) -> None:
        ours = raised_inside(foreign(body={"detail": "because"}))

        assert isinstance(ours, ConnectorError)
        assert not isinstance(ours, Unreachable)

    @pytest.mark.parametrize("error", [httpx.ConnectError("x"), httpx.ConnectTimeout("x")])
    def test_what_was_never_sent_is_not_in_doubt(self, error: Exception) -> None:
        assert type(raised_inside(error, writes=True)) is Unreachable

    @pytest.mark.parametrize("body", [None, "", {"no": "detail"}, ["a list"], b"bytes", 5])
    @pytest.mark.parametrize("status", [None, 400, 401, 403, 404, 409, 418, 500, 503])
    def test_no_status_and_no_body_is_too_odd(self, status: int | None, body: object) -> None:
        ours = raised_inside(ApiError(status_code=status, body=body))

        assert isinstance(ours, ConnectorError)

    def test_errors_of_our_own_pass(self) -> None:
        assert isinstance(raised_inside(ZeroDivisionError()), ZeroDivisionError)
