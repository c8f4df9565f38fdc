"""The answers about alerts, and what a webhook is posted, as the page's tests and receivers read them."""

import re

from gradwatch_server.alerts.notice import Notice, make_example, say_json
from tests.contract.snapshots_io import check, read
from tests.serving import Server

WISH = {
    "channel": "slack",
    "url": "https://hooks.slack.com/services/T0123/B0123/abcdefghijkl",
    "name": "vision team",
    "project": "vision",
    "severity": "warning",
    "kinds": ["dead_units", "missing_gradient"],
}


def without_chance(rule: dict) -> dict:
    assert re.fullmatch(r"[0-9a-f]{8}", rule["id"])
    return {**rule, "id": "5f0c2a9e", "created_at": "2026-09-21T14:13:20.000Z"}


def test_answers_about_alerts(tmp_path) -> None:
    with Server(tmp_path) as server:
        check("alerts_none", server.get("/api/alerts"))
        check("alert", without_chance(server.request("POST", "/api/alerts", json=WISH).json()))
        listed = server.get("/api/alerts")
        check("alerts", {**listed, "alerts": [without_chance(rule) for rule in listed["alerts"]]})
        for name, wish in {
            "error_invalid_alert": {"channel": "webhook", "url": "ftp://example.com"},
            "error_unknown_finding_kind": {**WISH, "kinds": ["dead_unit"]},
            "error_no_mail_server": {"channel": "email", "to": ["ops@example.com"]},
        }.items():
            check(name, server.request("POST", "/api/alerts", json=wish).json())


def test_what_a_webhook_is_posted() -> None:
    rule = {"id": "5f0c2a9e", "name": "vision team", "project": "vision"}
    # One finding that stays as it is, whatever the engine learns to say.
    findings = make_example(rule, "", "").findings
    message = say_json(Notice("0123456789abcdef", rule, read("run"), findings, "https://watch.example.com"))
    check("protocol_alert", message)
