"""A notice goes to the very address that was checked: public ones only, signed, no redirects."""

import hashlib
import hmac
import json
import socket
import time

import pytest

from tests.notices.receiver import receiver
from worker.notices.messages import Event, slack_body, webhook_body
from worker.notices.outbox import NotSent
from worker.notices.sending import is_public, send
from worker.plan.notify_part import NotifyPlan

EVENT = Event("decision:3", "decision", "Enough is known.", 3, "2026-01-01T00:00:00+00:00")
SECRET = {"ASSAY_NOTIFY_SECRET": "a secret"}


@pytest.fixture
def got():
    with receiver() as running:
        yield running


def target(url: str, **more: object) -> NotifyPlan:
    return NotifyPlan.model_validate({"url": url, "allow_private": True} | more)


def test_a_webhook_is_signed_over_its_time_and_body_and_carries_the_decision(got):
    send(target(f"{got.url}/hook"), "mine", EVENT, {"kind": "stop"}, SECRET)

    (headers,), (body,) = got.headers, got.bodies
    signed = headers["X-Assay-Timestamp"].encode() + b"." + body
    expected = hmac.new(b"a secret", signed, hashlib.sha256).hexdigest()
    assert headers["X-Assay-Signature"] == f"v1={expected}"
    assert abs(time.time() - int(headers["X-Assay-Timestamp"])) < 10
    assert headers["Content-Type"] == "application/json"
    assert json.loads(body) == {
        "version": 1,
        "id": "mine/decision:3",
        "event": "decision",
        "assessment": "mine",
        "revision": 3,
        "text": "Enough is known.",
        "at": "2026-01-01T00:00:00+00:00",
        "decision": {"kind": "stop"},
    }


def test_an_unsigned_webhook_is_never_sent(got):
    with pytest.raises(NotSent, match="ASSAY_NOTIFY_SECRET is not set"):
        send(target(got.url), "mine", EVENT, None, {})
    assert got.bodies == []


def test_slack_gets_a_text_in_which_nothing_is_a_command(got):
    event = Event("a", "decision", "<!channel> & <https://evil|x> “<script>”", 1, "")
    send(target(got.url, kind="slack"), "mine", event, None, {})
    (told,) = got.told
    assert set(told) == {"text"}
    assert "<" not in told["text"]
    assert told["text"].startswith("mine: &lt;!channel&gt; &amp; ")


def test_a_message_of_any_length_and_any_characters_can_be_sent(got):
    event = Event("a", "decision", "\u202e猫🐈\ud800" * 3000, 1, "")
    assert len(slack_body("mine", event)["text"]) <= 3000
    send(target(got.url, kind="slack"), "mine", event, None, {})
    send(target(got.url), "mine", event, None, SECRET)
    assert got.told[1] == webhook_body("mine", event, None)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(got, status):
    got.answers.append(status)
    with pytest.raises(NotSent, match="redirect"):
        send(target(got.url), "mine", EVENT, None, SECRET)
    assert got.paths == ["/"]


@pytest.mark.parametrize("status", [400, 404, 410, 429, 500, 503])
def test_any_answer_but_success_is_a_failure_that_names_it(got, status):
    got.answers.append(status)
    with pytest.raises(NotSent, match=str(status)):
        send(target(got.url), "mine", EVENT, None, SECRET)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "::1", "0.0.0.0", "::",  # this machine
        "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd00::1", "fec0::1",  # inside
        "169.254.0.1", "fe80::1", "fe80::1%eth0",  # this link
        "169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
        "100.64.0.1",  # a provider's inside
        "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1",  # nobody's
        "192.0.2.1", "198.18.0.1", "203.0.113.9", "2001:db8::1",  # examples and measurements
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",  # in disguise
        "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001:0:7f00:1::1",
    ],
)  # fmt: skip
def test_an_address_that_is_not_of_the_public_internet_is_refused(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_a_public_address_is_allowed(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_no_way_to_write_this_machine_gets_through(host):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        port = listening.getsockname()[1]
        with pytest.raises(NotSent, match=r"private|no address"):
            send(NotifyPlan(url=f"https://{host}:{port}/", kind="slack"), "mine", EVENT, None, {})
        with pytest.raises(TimeoutError):
            listening.accept()


def test_plain_http_is_refused_unless_private_addresses_are_meant():
    with pytest.raises(NotSent, match="allow_private"):
        send(NotifyPlan(url="http://example.org/", kind="slack"), "mine", EVENT, None, {})


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(got, monkeypatch):
    """A name server that answers another thing the second time gains nothing by it."""
    port = int(got.url.rpartition(":")[2])
    real, asked = socket.getaddrinfo, []

    def lying(host, *rest, **named):
        if host == "moves.example":
            asked.append(host)
            host = "127.0.0.1" if len(asked) == 1 else "127.0.0.66"
        return real(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", lying)
    send(target(f"http://moves.example:{port}/x?y=1"), "mine", EVENT, None, SECRET)

    assert asked == ["moves.example"]
    assert got.headers[0]["Host"] == f"moves.example:{port}"
    assert got.paths == ["/x?y=1"]


def test_a_proxy_of_the_environment_is_not_asked(got, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    send(target(got.url), "mine", EVENT, None, SECRET)
    assert len(got.bodies) == 1


def test_a_secret_address_comes_from_the_environment_and_is_in_no_error(got):
    env = {"ASSAY_NOTIFY_SLACK": got.url + "/T0/B1/hush"}
    written = target("${ASSAY_NOTIFY_SLACK}", kind="slack")
    send(written, "mine", EVENT, None, env)
    assert got.paths == ["/T0/B1/hush"]

    got.answers.append(500)
    with pytest.raises(NotSent) as caught:
        send(written, "mine", EVENT, None, env)
    assert "hush" not in str(caught.value)
    with pytest.raises(NotSent, match="ASSAY_NOTIFY_SLACK is not set"):
        send(written, "mine", EVENT, None, {})


def test_a_variable_in_a_part_of_an_address_is_sent_to_nobody(got):
    written = target(got.url + "/x?take=${ASSAY_NOTIFY_SLACK}", kind="slack")
    with pytest.raises(NotSent, match="whole address into the variable"):
        send(written, "mine", EVENT, None, {"ASSAY_NOTIFY_SLACK": "hush"})
    assert got.bodies == []


def test_a_server_that_takes_the_call_and_says_nothing_is_given_a_few_seconds():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(NotSent, match="did not answer"):
            send(target(url, kind="slack"), "mine", EVENT, None, {})
        assert time.monotonic() - began < 10


def test_nobody_at_the_address_is_a_failure_that_says_so():
    with socket.create_server(("127.0.0.1", 0)) as gone:
        url = f"http://127.0.0.1:{gone.getsockname()[1]}"
    with pytest.raises(NotSent, match="cannot be reached"):
        send(target(url, kind="slack"), "mine", EVENT, None, {})
    with pytest.raises(NotSent, match="no address of"):
        send(target("https://nobody.invalid/", kind="slack"), "mine", EVENT, None, {})
