"""What is said of findings to people elsewhere, in each receiver's own form. Pure: a notice in, a message out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Any
from urllib.parse import quote

__all__ = ["Notice", "make_example", "say_discord", "say_json", "say_mail", "say_slack"]

Json = dict[str, Any]
SHOWN_FINDINGS = 5
"""In a chat or an e-mail; the first is where to begin, and the page has them all."""
JSON_FINDINGS = 20
COLOURS = {"critical": "#b3361b", "warning": "#9a6200"}
TITLE_LIMIT, TEXT_LIMIT, CODE_LIMIT = 250, 1200, 900
"""Characters: Slack takes 3,000 in a section, Discord 256 in a title and 6,000 in all embeds."""


@dataclass(frozen=True)
class Notice:
    """What is to be told of one run.

    Attributes:
        id: the same at each try, so that a receiver can tell a repetition.
        rule: id and name of the rule that wants it.
        run: the run's summary.
        findings: the leading one first; not empty.
        public_url: the server's address as people reach it.
        is_test: asked for by a person who tries the rule.
    """

    id: str
    rule: Json
    run: Json
    findings: Sequence[Json]
    public_url: str
    is_test: bool = False

    @property
    def url(self) -> str:
        """The run's page."""
        return f"{self.public_url}/runs/{quote(self.run['id'])}" if self.run["id"] else self.public_url

    @property
    def headline(self) -> str:
        """The leading finding in a line."""
        leading = self.findings[0]
        return _flat(f"{'Test: ' if self.is_test else ''}{leading['severity']}: {leading['title']}")

    @property
    def about(self) -> str:
        """Which run, in a line."""
        step = "" if self.run["last_step"] is None else f" · step {self.run['last_step']:,}"
        return _flat(f"{self.run['name']} · {self.run['project']}{step}")

    @property
    def more(self) -> str:
        """How many findings are not shown, in words; empty for none."""
        n = len(self.findings) - SHOWN_FINDINGS
        return f"and {n} more" if n > 0 else ""


def make_example(rule: Json, public_url: str, notice_id: str) -> Notice:
    """A notice that looks like a real one, to try a rule with."""
    finding = {
        "id": "singular_gradient-812-example.kernel",
        "kind": "singular_gradient",
        "severity": "critical",
        "first_step": 812,
        "last_step": 812,
        "title": "this is what an alert looks like; no run is ill",
        "layer": "example",
        "tensor": "example/kernel",
        "operation": {"type": "SqrtGrad", "name": "gradient_tape/example/norm/SqrtGrad"},
        "source": {"file": "train.py", "line": 47, "code": "return x / tf.norm(x, axis=-1)"},
        "evidence": {"summary": "Here stand the numbers that the finding was made from, in a sentence or two."},
        "hypotheses": [
            {
                "cause": "a person pressed Test",
                "confidence": 1.0,
                "why": "It was sent by hand. Alerts of this rule arrive in the same way.",
                "fix": "Nothing is to be changed.",
                "code": "- return x / tf.norm(x, axis=-1)\n+ return x / (tf.norm(x, axis=-1) + 1e-6)",
            }
        ],
        "worker": 0,
        "review": None,
    }
    run = {"id": "", "name": "a test", "project": rule["project"] or "any project", "state": "live", "last_step": 812}
    return Notice(notice_id, rule, run, [finding], public_url, is_test=True)


def say_json(notice: Notice) -> Json:
    """The own shape, as docs/contract.md has it."""
    return {
        "type": "test" if notice.is_test else "alert",
        "version": 1,
        "id": notice.id,
        "rule": {"id": notice.rule["id"], "name": notice.rule["name"]},
        "run": {name: notice.run[name] for name in ("id", "name", "project", "state", "last_step")}
        | {"url": notice.url},
        "findings": list(notice.findings[:JSON_FINDINGS]),
        "n_findings": len(notice.findings),
    }


def say_slack(notice: Notice) -> Json:
    """What a Slack webhook takes: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks."""
    blocks = [_slack_section(f"*<{notice.url}|{_slack(notice.about)}>*")]
    for finding in notice.findings[:SHOWN_FINDINGS]:
        blocks.append(_slack_section(f"*{_slack(_cut(finding['title'], TITLE_LIMIT))}*\n{_slack(_explain(finding))}"))
        code = _code_of(finding)
        if code:
            blocks.append(_slack_section(f"```\n{_slack(code)}\n```"))
    if notice.more:
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": notice.more}]})
    colour = COLOURS[notice.findings[0]["severity"]]
    return {"text": _slack(notice.headline), "attachments": [{"color": colour, "blocks": blocks}]}


def say_discord(notice: Notice) -> Json:
    """What a Discord webhook takes: https://discord.com/developers/docs/resources/webhook#execute-webhook."""
    embeds = []
    for finding in notice.findings[:SHOWN_FINDINGS]:
        # Discord takes 6,000 characters in all.
        text = _cut(_discord(_explain(finding)), TEXT_LIMIT * 2 // 3)
        code = _cut(_code_of(finding), 250)
        embeds.append(
            {
                "title": _cut(_discord(finding["title"]), TITLE_LIMIT),
                "url": notice.url,
                "description": text + (f"\n```diff\n{code}\n```" if code else ""),
                "color": int(COLOURS[finding["severity"]][1:], 16),
            }
        )
        if len(embeds) == 3:
            break
    more = len(notice.findings) - len(embeds)
    content = f"**{_discord(_cut(notice.headline, TITLE_LIMIT))}**\n{_discord(_cut(notice.about, TITLE_LIMIT))}"
    content += f" · and {more} more" if more > 0 else ""
    # No title, however odd, may call everybody.
    return {"content": content, "embeds": embeds, "allowed_mentions": {"parse": []}}


def say_mail(notice: Notice, sender: str, recipients: Sequence[str]) -> EmailMessage:
    """The same as an e-mail of plain text."""
    message = EmailMessage()
    message["Subject"] = _cut(f"[gradwatch] {notice.headline} ({_flat(notice.run['name'])})", TITLE_LIMIT)
    message["From"] = sender
    message["To"] = ", ".join(recipients)
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(notice.id, domain=sender.rpartition("@")[2].strip("> ") or "gradwatch")
    message["Auto-Submitted"] = "auto-generated"
    parts = [notice.about, notice.url]
    for finding in notice.findings[:SHOWN_FINDINGS]:
        parts.append(f"{finding['severity'].upper()}  {_flat(finding['title'])}\n\n{_explain(finding)}")
        code = _code_of(finding)
        if code:
            parts.append("\n".join(f"    {line}" for line in code.splitlines()))
    if notice.more:
        parts.append(notice.more)
    parts.append(f"-- \nThe rule “{notice.rule['name']}” of {notice.public_url}/alerts sent this.")
    message.set_content("\n\n".join(parts) + "\n")
    return message


def _explain(finding: Json) -> str:
    """Evidence, place, cause and fix, in plain words with code in backticks."""
    lines = [str(finding["evidence"].get("summary") or "")]
    source = finding.get("source")
    if source:
        lines.append(
            f"At `{source['file']}:{source['line']}`" + (f" in `{finding['layer']}`" if finding["layer"] else "")
        )
    elif finding.get("tensor"):
        lines.append(f"At `{finding['tensor']}`, first at step {finding['first_step']:,}")
    best = _best(finding)
    if best:
        lines.append(f"Likely: {best['cause']} ({best['confidence']:.0%}). {best['fix']}")
    return _cut("\n".join(line for line in lines if line), TEXT_LIMIT)


def _code_of(finding: Json) -> str:
    best = _best(finding)
    # Three backticks would end the block that it stands in.
    return _cut(str(best.get("code") or "").rstrip().replace("```", "'''"), CODE_LIMIT) if best else ""


def _best(finding: Json) -> Json | None:
    hypotheses: list[Json] = finding["hypotheses"]
    return max(hypotheses, key=lambda one: float(one["confidence"]), default=None)


def _slack_section(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _discord(text: str) -> str:
    """Escapes what Discord would take for formatting, outside of code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick alone is just one
        return re.sub(r"([\\*_~|`<>\[\]])", r"\\\1", text)
    escaped = [part if i % 2 else re.sub(r"([\\*_~|<>\[\]])", r"\\\1", part) for i, part in enumerate(parts)]
    return "`".join(escaped)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
