"""What the compose file tells Label Studio, asked of the release that it names."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from connector.local import LabelStudioServer
from connector.local_install import LABEL_STUDIO_VERSION, release_folder

SERVICES = yaml.safe_load(
    (Path(__file__).parents[2] / "deploy" / "compose.yaml").read_text(encoding="utf-8")
)["services"]

ASK = """
import json, socket, sys
import django
django.setup()
from django.conf import settings
from django.core.validators import URLValidator
from core.utils.io import SsrfBlockedUrlError, validate_ip, validate_url_for_ssrf

def is_taken(check, value):
    try:
        check(value)
    except SsrfBlockedUrlError:
        return False
    return True

url, inside = sys.argv[1:]
URLValidator()(url)
socket.gethostbyname = lambda _: inside
socket.getaddrinfo = lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (inside, 0))]
webhook = is_taken(lambda u: validate_url_for_ssrf(u, block_local_urls=True), url)
refused = ["127.0.0.1", "169.254.169.254", "::1"]
database = settings.DATABASES["default"]
print(json.dumps({
    "webhook": webhook,
    "refused": [not is_taken(validate_ip, address) for address in refused],
    "engine": database["ENGINE"].rpartition(".")[2],
    "host": database["HOST"],
    "signup_needs_link": settings.DISABLE_SIGNUP_WITHOUT_LINK,
    "tells": [settings.SENTRY_DSN, settings.FRONTEND_SENTRY_DSN, settings.COLLECT_ANALYTICS],
}))
"""


@pytest.mark.live
def test_it_takes_the_receivers_webhook_keeps_others_out_and_tells_nobody(
    label_studio: LabelStudioServer, tmp_path: Path
) -> None:
    service = SERVICES["label-studio"]
    assert service["image"].endswith(f":{LABEL_STUDIO_VERSION}")
    (url,) = (word for word in SERVICES["receiver"]["command"] if word.startswith("http"))
    (package,) = (release_folder() / "venv").glob("lib/python3*/site-packages/label_studio")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LABEL_STUDIO_BASE_DATA_DIR": str(tmp_path),
        "PYTHONPATH": str(package),
        "DJANGO_SETTINGS_MODULE": "core.settings.label_studio",
    }
    told = {
        name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value)
        for name, value in service["environment"].items()
    }
    done = subprocess.run(
        [release_folder() / "venv" / "bin" / "python", "-c", ASK, f"{url}/hook/x", "172.18.0.5"],
        env=env | told,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "webhook": True,
        "refused": [True, True, True],
        "engine": "postgresql",
        "host": "postgres",
        "signup_needs_link": True,
        "tells": ["", "", False],
    }
