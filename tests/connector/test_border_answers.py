"""What Label Studio answers is no answer: each way becomes an error of ours, with the cure."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

import pytest

from connector.desk import LabelStudioDesk
from connector.errors import InDoubt, NotFound, NotLabelStudio, Refused, Rejected, ServerTrouble
from tests.connector.impostor import HTML, Call, Impostor, calls, every_call, says

whose_answer_is_read = calls("counters", "changes", "census", "read", "find", "put", "upload")


class TestAnswers:
    """What comes back is no answer to the question."""

    @every_call
    def test_a_wrong_token_is_refused_and_the_setting_named(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(401, '{"detail": "Invalid token."}')

        with pytest.raises(Refused, match=r"401: Invalid token(?s:.*)LABEL_STUDIO_API_KEY"):
            call(desk)

    @every_call
    def test_a_page_of_html_is_not_label_studio(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(200, HTML, "text/html")

        with pytest.raises(NotLabelStudio, match=r"Log in(?s:.*)no proxy or login page"):
            call(desk)

    @whose_answer_is_read
    def test_json_of_something_else_is_not_label_studio(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(200, '["something", "else"]')

        with pytest.raises(NotLabelStudio):
            call(desk)

    @calls("counters", "changes", "census", "read", "find")
    @pytest.mark.parametrize("body", ['{"status": "ok"}', "{}"])
    def test_json_without_tasks_is_not_taken_for_an_empty_project(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call, body: str
    ) -> None:
        impostor.answer = says(200, body)

        with pytest.raises(NotLabelStudio, match="Check the address"):
            call(desk)

    @pytest.mark.parametrize(("status", "is_slow"), [(502, False), (503, False), (504, True)])
    def test_an_import_that_a_proxy_has_no_answer_to_is_in_doubt(
        self, impostor: Impostor, desk: LabelStudioDesk, status: int, is_slow: bool
    ) -> None:
        impostor.answer = says(status, "<html>Gateway Time-out</html>", "text/html")

        with pytest.raises(InDoubt, match=rf"{status}(?s:.*)Gateway") as caught:
            desk.put([{"text": "x", "item_id": "a"}])
        assert caught.value.is_slow == is_slow
        with pytest.raises(ServerTrouble):
            desk.describe("x")

    @calls("put", "describe", "close")
    def test_a_fault_of_its_own_is_said_to_be_one(
        self, impostor: Impostor, desk: LabelStudioDesk, call: Call
    ) -> None:
        impostor.answer = says(500, '{"detail": "database is locked"}')

        with pytest.raises(ServerTrouble, match=r"500(?s:.*)database is locked"):
            call(desk)

    def test_a_reading_is_tried_twice_and_an_import_once(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        impostor.answer = says(500, HTML, "text/html")

        with pytest.raises(ServerTrouble):
            desk.counters()
        assert len(impostor.requests) == 2
        with pytest.raises(ServerTrouble):
            desk.put([{"text": "x", "item_id": "a"}])
        assert len(impostor.requests) == 3

    @pytest.mark.parametrize(("body", "kind"), [(HTML, "text/html"), ("{}", "application/json")])
    def test_a_file_that_a_proxy_finds_too_large_is_rejected_with_its_size(
        self, impostor: Impostor, desk: LabelStudioDesk, body: str, kind: str
    ) -> None:
        def first_a_number(request: BaseHTTPRequestHandler) -> None:
            made = says(201, '{"file_upload_ids": [7]}')
            (made if request.command == "POST" else says(413, body, kind))(request)

        impostor.answer = first_a_number

        with pytest.raises(Rejected, match=r"413(?s:.*)a file of 3\.0 MB is more than it"):
            desk.upload("a.png", b"x" * 3_000_000)

    def test_a_missing_project_is_not_found(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        impostor.answer = says(404, '{"detail": "No Project matches the given query."}')

        with pytest.raises(NotFound, match=r"knows no project 12"):
            desk.counters()

    def test_a_rejected_import_says_which_field(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        body = {"detail": "Validation error", "validation_errors": {"text": ["missing"]}}
        impostor.answer = says(400, json.dumps(body))

        with pytest.raises(Rejected, match=r'400\): Validation error \{"text": \["missing"\]\}'):
            desk.put([{"item_id": "a"}])

    def test_a_page_that_never_ends_makes_no_endless_message(
        self, impostor: Impostor, desk: LabelStudioDesk
    ) -> None:
        impostor.answer = says(200, "x" * 1_000_000, "text/html")

        with pytest.raises(NotLabelStudio) as caught:
            desk.counters()

        assert len(str(caught.value)) < 600
