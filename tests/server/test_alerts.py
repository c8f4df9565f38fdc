"""Alerts, from a finding to a real receiver on this machine: who is told, when, how often, and after what trouble."""

import itertools
import json
import re
import sys
import threading
import time
from pathlib import Path

import pytest

from gradwatch_server import cli
from gradwatch_server.alerts import FINDING_KINDS
from gradwatch_server.api import alerts as shapes
from gradwatch_server.errors import SettingsError
from gradwatch_server.settings import read_settings
from gradwatch_server.store.findings import replace_findings
from tests.server.receivers import Behaviour, mail_server, receiver
from tests.serving import Server, ServerProcess, free_port, wait_until
from tests.synthetic import SyntheticHook, SyntheticRun, stream

QUICK = {"alert_retry_s": 0.05, "alert_timeout_s": 1.0}


@pytest.fixture(scope="module")
def mail():
    with mail_server() as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory, mail):
    settings = {"smtp_url": mail.url, "smtp_from": "gradwatch <watch@example.com>", **QUICK}
    with Server(tmp_path_factory.mktemp("alerts"), public_url="https://watch.example.com/", **settings) as running:
        yield running


@pytest.fixture
def hook():
    with receiver() as made:
        yield made


def add(server, channel="webhook", *, status=201, **wish):
    answer = server.request("POST", "/api/alerts", json={"channel": channel, "debounce_s": 0, **wish})
    assert answer.status_code == status, answer.text
    if status == 201:
        shapes.Alert.model_validate(answer.json())
    return answer.json()


@pytest.fixture(autouse=True)
def _no_rule_survives(request):
    yield
    if "server" in request.fixturenames:
        running = request.getfixturevalue("server")
        for rule in running.get("/api/alerts")["alerts"]:
            assert running.request("DELETE", f"/api/alerts/{rule['id']}").status_code == 204


def rule_of(server, rule):
    found = server.get("/api/alerts")
    shapes.AlertList.model_validate(found)
    return next(one for one in found["alerts"] if one["id"] == rule["id"])


def is_quiet(server, rule):
    """Whether nothing is left to be told by a rule."""
    return wait_until(lambda: rule_of(server, rule)["n_waiting"] == 0, what="the rule to have nothing left")


def body(name="a", severity="critical", step=3, **more):
    """A finding as an engine gives it."""
    return {
        "id": name, "kind": "zero_gradient", "severity": severity, "first_step": step, "last_step": step,
        "title": f"the gradient of mlp/{name} is zero", "layer": "mlp", "tensor": f"mlp/{name}", "operation": None,
        "source": {"file": "train.py", "line": 47, "code": "x"}, "evidence": {"summary": "All of it."},
        "hypotheses": [{"cause": "it is cut", "confidence": 0.9, "why": "", "fix": "Join it.", "code": "- a\n+ b"}],
        "worker": 0, **more,
    }  # fmt: skip


class Patient:
    """A run whose findings a test sets by hand, as the engine's thread would."""

    def __init__(self, server, project="ward"):
        self._server, self._services = server, server.app.state.services
        run = SyntheticRun("healthy", 2, 8, project=project)
        self.id = run.run_id
        stream(server.url, run)

    def find(self, *bodies):
        store = self._services.store
        store.writer.submit(lambda connection: replace_findings(connection, self.id, 0, bodies)).result(10)
        # What ingest does after it.
        self._services.tasks and next(iter(self._services.tasks)).get_loop().call_soon_threadsafe(
            self._services.dispatcher.wake
        )


@pytest.fixture
def patient(server):
    return Patient(server)


def told(hook):
    return [[one["id"] for one in message["findings"]] for message in hook.taken]


def test_a_sick_training_is_told_once_in_the_own_shape(server: Server, hook) -> None:
    rule = add(server, url=hook.url, name="on call", project="clinic")
    run = SyntheticRun("sick", 2, 160, project="clinic")
    findings = stream(server.url, run)
    stream(server.url, SyntheticRun("sick", 2, 160, project="elsewhere"))
    stream(server.url, SyntheticRun("healthy", 2, 160, project="clinic"))
    wait_until(lambda: hook.taken, what="the alert")
    is_quiet(server, rule)
    (message,) = hook.taken
    assert {name: message[name] for name in ("type", "version", "n_findings", "rule")} == {
        "type": "alert", "version": 1, "n_findings": 1, "rule": {"id": rule["id"], "name": "on call"},
    }  # fmt: skip
    assert message["run"]["url"] == f"https://watch.example.com/runs/{run.run_id}"
    told_of = message["findings"][0]
    assert [told_of[name] for name in ("id", "title", "severity")] == [
        findings[0][name] for name in ("id", "title", "severity")
    ]
    assert hook.headers[0]["content-type"] == "application/json"
    assert hook.headers[0]["x-gradwatch-delivery"] == message["id"]
    assert rule_of(server, rule)["last"]["state"] == "sent"


def test_a_rule_tells_only_what_it_wants_and_only_what_is_new(server: Server, patient, hook) -> None:
    with receiver() as other:
        patient.find(body("old"))
        rules = [add(server, url=hook.url), add(server, url=other.url, severity="warning", kinds=["dead_units"])]
        patient.find(body("old", last_step=9), body("mild", "warning"), body("dead", "warning", kind="dead_units"))
        patient.find(body("old"), body("mild", "critical"), body("dead", "warning", kind="dead_units"))
        is_quiet(server, rules[1])
        patient.find(body("old"), body("mild", "critical"), body("dead", "critical", kind="dead_units"))
        for rule in rules:
            is_quiet(server, rule)
        assert sorted(itertools.chain(*told(hook))) == ["dead", "mild"], "what became critical"
        assert list(itertools.chain(*told(other))) == ["dead", "dead"], "as a warning, and as critical"


def test_what_is_found_in_a_while_is_one_message(start_server, hook) -> None:
    """While a rule's message is on its way, what it is to tell next gathers; so it does in the rule's debounce."""
    server = start_server(alert_timeout_s=60)
    patient, rule, gate = Patient(server), add(server, url=hook.url), threading.Event()
    hook.plan.append(Behaviour(gate=gate))
    patient.find(body("first"))
    wait_until(lambda: hook.n_requests, what="the first message")
    patient.find(body("first"), body("a"))
    patient.find(body("first"), body("a"), body("b"))
    patient.find(body("first"), body("b"), body("c"))
    gate.set()
    is_quiet(server, rule)
    assert [sorted(one) for one in told(hook)] == [["first"], ["b", "c"]], "what is gone by then is not told"
    patient.find(body("first"), body("b"), body("c"), body("a"))
    is_quiet(server, rule)
    assert told(hook)[2:] == [["a"]], "it is back"


def test_a_message_waits_for_the_debounce(server: Server, patient, hook) -> None:
    rule = add(server, url=hook.url, debounce_s=0.7)
    began = time.monotonic()
    patient.find(body())
    is_quiet(server, rule)
    assert hook.times[0] - began >= 0.7


@pytest.mark.parametrize("state", ["acknowledged", "dismissed"])
def test_what_a_person_knows_already_is_not_told(server: Server, patient, hook, state) -> None:
    hook.usual = Behaviour(503)
    rule = add(server, url=hook.url)
    patient.find(body("known"))
    wait_until(lambda: hook.n_requests, what="the first try")
    path = f"/api/runs/{patient.id}/findings/known/review"
    assert server.request("PUT", path, json={"state": state}).status_code == 200
    is_quiet(server, rule)
    hook.usual = Behaviour()
    patient.find(body("known"), body("fresh"))
    is_quiet(server, rule)
    assert told(hook) == [["fresh"]]


@pytest.mark.parametrize("trouble", [500, 503, 408, 429, "hangs"], ids=str)
def test_what_is_not_taken_is_tried_again_with_longer_and_longer_waits(server: Server, patient, hook, trouble) -> None:
    how = Behaviour(hangs=True) if trouble == "hangs" else Behaviour(trouble)
    n = 1 if trouble == "hangs" else 3
    hook.plan.extend([how] * n)
    rule = add(server, url=hook.url)
    patient.find(body())
    wait_until(lambda: hook.taken, 20, "the alert")
    is_quiet(server, rule)
    assert (len(hook.taken), hook.n_requests) == (1, n + 1)
    waits = [after - before for before, after in zip(hook.times, hook.times[1:], strict=False)]
    # No upper bounds: the machine may be slow.
    assert all(wait >= QUICK["alert_retry_s"] * 2**i for i, wait in enumerate(waits))
    assert len({headers["x-gradwatch-delivery"] for headers in hook.headers}) == 1


def test_a_receiver_that_asks_for_time_is_given_it(server: Server, patient, hook) -> None:
    hook.plan.append(Behaviour(429, {"retry-after": "1.2"}))
    add(server, url=hook.url)
    patient.find(body())
    wait_until(lambda: hook.taken, 20, "the alert")
    assert hook.times[1] - hook.times[0] >= 1.15


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (404, {}, "The receiver answered 404 Not Found."),
        (410, {}, "The receiver answered 410 Gone."),
        (302, {"location": "http://127.0.0.1:9/elsewhere"}, "Redirects are not followed"),
    ],
)
def test_what_can_never_be_taken_is_given_up_and_shown(server: Server, patient, hook, status, headers, says) -> None:
    hook.usual = Behaviour(status, headers)
    rule = add(server, url=hook.url)
    patient.find(body())
    is_quiet(server, rule)
    last = rule_of(server, rule)["last"]
    assert (last["state"], hook.n_requests) == ("failed", 1)
    assert says in last["error"]
    metrics = server.request("GET", "/metrics").text
    assert re.search(r'gradwatch_alerts_total\{channel="webhook",outcome="failed"\} [1-9]', metrics)


def test_a_receiver_that_hangs_holds_up_neither_ingest_nor_other_rules(server: Server, hook) -> None:
    with receiver() as stuck:
        stuck.usual = Behaviour(hangs=True)
        add(server, url=stuck.url)
        add(server, url=hook.url)
        run = SyntheticRun("sick", 2, 160)
        with SyntheticHook(server.url, run) as training:
            training.greet()
            seqs = []
            for message in run.log():
                training.send(message)
                seqs.append(message["seq"])
            training.wait_for_verdict(seqs[-1])
        wait_until(lambda: hook.taken, what="the other rule's alert")
        wait_until(lambda: stuck.n_requests, what="the stuck rule's try")
        assert not stuck.taken
        assert server.get("/healthz")["status"] == "ok"
        stuck.over.set()


def test_a_restart_neither_forgets_nor_repeats(tmp_path, hook, monkeypatch) -> None:
    """Killed, not stopped: one alert was sent before, one was due, and its receiver was away."""
    monkeypatch.setenv("GRADWATCH_ALERT_RETRY_S", "0.3")
    port = free_port()
    with receiver() as away:
        away.usual = Behaviour(503, {"retry-after": "1"})
        with ServerProcess(tmp_path, port=port) as process:
            sent, due = add(process, url=hook.url), add(process, url=away.url)
            run = SyntheticRun("sick", 2, 160, run_id="ill")
            log = list(run.log())
            with SyntheticHook(process.url, run) as training:
                training.greet()
                for message in log[:-1]:
                    training.send(message)
                training.wait_for_verdict(len(log) - 2)
            wait_until(lambda: rule_of(process, sent)["last"], what="the first rule's alert")
            wait_until(lambda: rule_of(process, due)["last"], what="the second rule's failure")
            process.kill()
            assert len(hook.taken) == 1
            away.usual = Behaviour()
            process.start()
            stream(process.url, run)  # the engine judges all of it anew
            wait_until(lambda: away.taken, 30, "the alert that was due")
            wait_until(lambda: rule_of(process, due)["n_waiting"] == 0, what="that to be noted")
            assert (len(hook.taken), len(away.taken)) == (1, 1)
            assert rule_of(process, sent)["last"]["state"] == "sent"


def test_a_chat_gets_its_own_form(server: Server, patient, hook) -> None:
    title = "the gradient of mlp/dense_1/kernel & <its> friends *is* zero @everyone"
    for channel in ("slack", "discord"):
        add(server, channel, url=hook.url)
    patient.find(body("odd", title=title), *(body(f"more{i}") for i in range(7)))
    wait_until(lambda: len(hook.taken) == 2, what="both messages")
    slack = next(message for message in hook.taken if "attachments" in message)
    discord = next(message for message in hook.taken if "embeds" in message)
    assert slack["text"] == f"critical: {title}".replace("&", "&amp;").replace("<its>", "&lt;its&gt;")
    (attachment,) = slack["attachments"]
    texts = [block["text"]["text"] for block in attachment["blocks"] if block["type"] == "section"]
    assert texts[0].startswith(f"*<https://watch.example.com/runs/{patient.id}|synthetic-healthy · ward · step 7>*")
    assert "Likely: it is cut (90%). Join it." in texts[1]
    assert texts[2] == "```\n- a\n+ b\n```"
    assert attachment["blocks"][-1]["elements"][0]["text"] == "and 3 more"
    assert all(len(text) <= 3000 for text in texts)
    assert discord["allowed_mentions"] == {"parse": []}
    assert discord["content"].startswith(
        "**critical: the gradient of mlp/dense\\_1/kernel & \\<its\\> friends \\*is\\*"
    )
    assert discord["content"].endswith(" · and 5 more")
    assert discord["embeds"][0]["description"].endswith("```diff\n- a\n+ b\n```")
    assert sum(len(one["title"]) + len(one["description"]) for one in discord["embeds"]) <= 6000


def test_huge_findings_fit(server: Server, patient, hook) -> None:
    long = {"title": "t" * 5000, "evidence": {"summary": "_" * 9000}}
    code = [{"cause": "c" * 999, "confidence": 1.0, "why": "", "fix": "f" * 5000, "code": "```\n" * 900}]
    for channel in ("slack", "discord"):
        add(server, channel, url=hook.url)
    patient.find(*(body(f"n{i}", hypotheses=code, **long) for i in range(12)))
    wait_until(lambda: len(hook.taken) == 2, what="both messages")
    slack = next(message for message in hook.taken if "attachments" in message)
    discord = next(message for message in hook.taken if "embeds" in message)
    blocks = slack["attachments"][0]["blocks"]
    assert len(blocks) <= 50
    assert all(len(block["text"]["text"]) <= 3000 for block in blocks if "text" in block)
    assert len(discord["content"]) <= 2000
    assert all(len(one["title"]) <= 256 and len(one["description"]) <= 4096 for one in discord["embeds"])
    assert sum(len(one["title"]) + len(one["description"]) for one in discord["embeds"]) <= 6000


def test_a_mail_is_read_without_a_browser(server: Server, patient, mail) -> None:
    mail.mails.clear()
    mail.refusals.append("450 greylisted, come back")
    rule = add(server, "email", to=["ops@example.com"], name="the night shift")
    patient.find(body("odd", title="the gradient\r\nBcc: all@example.com is zero"))
    wait_until(lambda: mail.mails, what="the mail, at the second try")
    is_quiet(server, rule)
    ((recipients, message),) = mail.mails
    assert recipients == ["ops@example.com"]
    assert message["subject"] == ("[gradwatch] critical: the gradient Bcc: all@example.com is zero (synthetic-healthy)")
    assert (message["from"], message["bcc"], message["auto-submitted"]) == (
        "gradwatch <watch@example.com>", None, "auto-generated",
    )  # fmt: skip
    text = message.get_content().replace("\r\n", "\n")
    for part in (f"https://watch.example.com/runs/{patient.id}", "CRITICAL", "    - a\n    + b", "the night shift"):
        assert part in text


def test_a_mail_server_that_refuses_for_good_is_not_asked_again(server: Server, patient, mail) -> None:
    mail.refusals.append("550 no such person")
    rule = add(server, "email", to=["nobody@example.com"])
    patient.find(body())
    is_quiet(server, rule)
    assert rule_of(server, rule)["last"]["error"] == "The mail server takes nothing for nobody@example.com (550)."


def test_the_mail_servers_password_is_used_and_never_shown(start_server) -> None:
    with mail_server("sesame") as guarded:
        server = start_server(smtp_url=guarded.url, **QUICK)
        rule = add(server, "email", to=["ops@example.com"])
        assert server.request("POST", f"/api/alerts/{rule['id']}/test").status_code == 200
        assert guarded.logins == ["watch@example.com"]
        assert guarded.mails[0][1]["from"] == "watch@example.com"
        for path in ("/api/alerts", "/metrics", "/api/openapi.json"):
            assert "sesame" not in server.request("GET", path).text
    answer = server.request("POST", f"/api/alerts/{rule['id']}/test")  # it is gone
    assert (answer.status_code, answer.json()["code"]) == (502, "delivery_failed")
    assert "sesame" not in answer.text


@pytest.mark.parametrize("channel", ["webhook", "slack", "discord", "email"])
def test_a_rule_is_tried_at_once(server: Server, hook, mail, channel) -> None:
    mail.mails.clear()
    rule = add(server, channel, **({"to": ["ops@example.com"]} if channel == "email" else {"url": hook.url}))
    answer = server.request("POST", f"/api/alerts/{rule['id']}/test")
    assert answer.status_code == 200
    shapes.AlertTested.model_validate(answer.json())
    said = str(hook.taken[0]) if channel != "email" else mail.mails[0][1].get_content()
    assert "this is what an alert looks like" in said
    assert rule_of(server, rule)["last"] is None, "it was no alert"


def test_a_failed_trial_says_why(server: Server, hook) -> None:
    rule = add(server, url=hook.url)
    hook.usual = Behaviour(500)
    answer = server.request("POST", f"/api/alerts/{rule['id']}/test")
    assert (answer.status_code, answer.json()["code"]) == (502, "delivery_failed")
    assert answer.json()["message"] == "The receiver answered 500 Internal Server Error."
    hook.usual = Behaviour(hangs=True)
    assert "within 1 s" in server.request("POST", f"/api/alerts/{rule['id']}/test").json()["message"]
    assert hook.n_requests == 2, "a trial is not repeated"
    nowhere = add(server, url=f"http://127.0.0.1:{free_port()}/")
    assert "cannot be reached" in server.request("POST", f"/api/alerts/{nowhere['id']}/test").json()["message"]


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "0.0.0.0", "224.0.0.1"])
def test_what_is_no_receivers_address_is_not_posted_to(server: Server, host) -> None:
    rule = add(server, url=f"http://{host}/latest/meta-data")
    answer = server.request("POST", f"/api/alerts/{rule['id']}/test")
    assert answer.status_code == 502
    assert "to which no alert is sent" in answer.json()["message"]


def test_secrets_are_not_shown_again(server: Server, hook) -> None:
    add(server, url=hook.url)
    add(server, url="https://hooks.example.com:8443/services/T0/B0/verysecret7890?key=1234567890")
    add(server, url="https://short.example.com/x")
    text = server.request("GET", "/api/alerts").text
    assert "a-secret-place" not in text
    assert "verysecret" not in text
    shown = [rule["target"] for rule in server.get("/api/alerts")["alerts"]]
    assert shown[0].startswith("http://127.0.0.1:")
    assert shown[0].endswith("/…abcd")
    assert shown[1:] == ["https://hooks.example.com:8443/…7890", "https://short.example.com/…"]


@pytest.mark.parametrize(
    ("wish", "code", "says"),
    [
        ({"channel": "pigeon"}, "invalid_request", "channel"),
        ({"channel": "webhook"}, "invalid_alert", "url: found None, expected the address to post to"),
        ({"channel": "webhook", "url": "ftp://x/y"}, "invalid_alert", "one with ftp://"),
        ({"channel": "webhook", "url": "file:///etc/passwd"}, "invalid_alert", "one with file://"),
        ({"channel": "slack", "url": "http://me:pw@x/"}, "invalid_alert", "a name, a password"),
        ({"channel": "slack", "url": "http://x:99999/"}, "invalid_alert", "url"),
        ({"channel": "slack", "url": "http://x/\r\nHost: y"}, "invalid_alert", "signs that no address has"),
        ({"channel": "slack", "url": "http://x/", "to": ["a@b"]}, "invalid_alert", "to: found"),
        ({"channel": "email"}, "invalid_alert", "to: found [], expected one or more"),
        ({"channel": "email", "to": ["a@b\r\nBcc: c@d"]}, "invalid_alert", "expected an e-mail address"),
        ({"channel": "email", "to": ["a@b"], "url": "http://x"}, "invalid_alert", "url"),
        ({"channel": "webhook", "url": "http://x", "kinds": ["dead_unit"]}, "unknown_finding_kind", "dead_units"),
        ({"channel": "webhook", "url": "http://x", "debounce_s": -1}, "invalid_request", "debounce_s"),
        ({"channel": "webhook", "url": "http://x", "severity": "fatal"}, "invalid_request", "severity"),
        ({"channel": "webhook", "url": "http://x", "evry": 1}, "invalid_request", "evry"),
    ],
)
def test_a_mistake_is_said_in_the_one_shape(server: Server, wish, code, says) -> None:
    answer = server.request("POST", "/api/alerts", json=wish)
    assert (answer.status_code, answer.json()["code"], set(answer.json())) == (422, code, {"code", "message", "detail"})
    assert says in answer.json()["message"]
    assert "pw@" not in answer.text
    assert server.get("/api/alerts")["alerts"] == []


def test_what_is_missing_is_said(server: Server, start_server) -> None:
    for method, path in (("DELETE", "/api/alerts/nothing"), ("POST", "/api/alerts/nothing/test")):
        answer = server.request(method, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_alert")
        assert server.request(method, path, headers={"origin": "http://evil.example"}).status_code == 403
    bare = start_server()
    assert bare.get("/api/alerts") == {"alerts": [], "has_mail": False}
    assert add(bare, "email", to=["a@b"], status=409)["code"] == "no_mail_server"


def test_a_rule_that_is_removed_tells_nothing_more(server: Server, patient, hook) -> None:
    rule = add(server, url=hook.url, debounce_s=3600)
    patient.find(body())
    assert rule_of(server, rule)["n_waiting"] == 1
    assert server.request("DELETE", f"/api/alerts/{rule['id']}").status_code == 204
    # A run that is deleted takes what is due with it too.
    rule = add(server, url=hook.url, debounce_s=3600)
    patient.find(body("b"))
    assert rule_of(server, rule)["n_waiting"] == 1
    server.request("DELETE", f"/api/runs/{patient.id}")
    assert rule_of(server, rule)["n_waiting"] == 0
    assert hook.taken == []


@pytest.mark.parametrize(
    "setting", [{"smtp_url": "mail.example.com:sesame"}, {"smtp_url": "smtp://me:sesame@"}, {"public_url": "watch"}]
)
def test_a_setting_that_cannot_be_is_told_without_its_secret(setting) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings(**setting)
    assert "expected" in str(error.value)
    assert "sesame" not in str(error.value)


@pytest.fixture
def gradwatch(server: Server, monkeypatch, capsys):
    """Runs a command against the server; returns exit code, output and errors."""
    monkeypatch.setenv("GRADWATCH_URL", server.url)
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gradwatch", "alerts", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.run()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return int(exit_.value.code or 0), out, err

    return run


def test_the_command_line_adds_lists_tries_and_removes(server: Server, hook, gradwatch) -> None:
    assert gradwatch("list")[1].startswith("Nobody is told of anything yet")
    options = ("--project", "[vision]", "--severity", "warning", "--kind", "dead_units", "--debounce", "3", "--json")
    code, out, _ = gradwatch("add", "slack", hook.url, "--name", "team", *options)
    rule = json.loads(out)
    assert (code, rule["kinds"], rule["debounce_s"]) == (0, ["dead_units"], 3)
    code, out, _ = gradwatch("list")
    assert code == 0
    assert out.splitlines()[1].split()[:4] == [rule["id"], "team", "[vision]", "dead_units"]
    assert json.loads(gradwatch("list", "--json")[1])["alerts"] == [rule]
    code, out, _ = gradwatch("test", rule["id"])
    assert (code, len(hook.taken)) == (0, 1)
    hook.usual = Behaviour(500)
    code, _, err = gradwatch("test", rule["id"])
    assert (code, err) == (3, "gradwatch: The receiver answered 500 Internal Server Error.\n")
    assert gradwatch("remove", rule["id"])[0] == 0
    code, _, err = gradwatch("remove", rule["id"])
    assert code == 2
    assert "There is no alert rule" in err
    code, _, err = gradwatch("add", "webhook", "http://a", "http://b")
    assert code == 2
    assert "takes one URL" in err


def test_the_kinds_are_those_of_the_contract() -> None:
    contract = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^finding kinds: (.+)$", contract, re.MULTILINE)
    assert re.findall(r"`([a-z_]+)`", listed) == list(FINDING_KINDS)


def test_nothing_is_looked_for_without_need(server: Server, monkeypatch) -> None:
    """At rest the dispatcher does nothing: no rule, no alert, no query."""
    store = server.app.state.services.store
    stream(server.url, SyntheticRun("healthy", 2, 8))
    reads = []
    read = store.read
    monkeypatch.setattr(store, "read", lambda: reads.append(1) or read())
    time.sleep(0.3)
    assert reads == []
