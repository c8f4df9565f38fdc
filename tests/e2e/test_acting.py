"""What a person does about a finding, in a real browser: acknowledges it, dismisses it, has others told."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.chromium import watch_page
from tests.e2e.conftest import Open
from tests.server.receivers import Behaviour, receiver
from tests.serving import Server, wait_until
from tests.synthetic import SyntheticRun, stream

ROW = "tr[data-run={}] .health"


@pytest.fixture
def run_id(server: Server, request) -> str:
    run_id = f"ill-{request.node.name[:40]}"
    stream(server.url, SyntheticRun("sick", 4, 160, run_id=run_id, name=run_id))
    return run_id


def test_a_finding_is_acknowledged_and_opened_again(open_page: Open, server: Server, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("NaN at step")
    page.get_by_role("button", name="Acknowledge…").click()
    dialog = page.get_by_role("dialog", name="Acknowledge this finding?")
    dialog.get_by_label("Note").fill("known, see the `log`")
    dialog.get_by_role("button", name="Acknowledge").click()
    expect(dialog).to_have_count(0)
    expect(verdict.locator(".review-line")).to_contain_text("Acknowledged")
    expect(verdict.locator(".review-line")).to_contain_text("“known, see the log”")
    expect(page.locator(".card.verdict")).to_have_class(re.compile(r"\breviewed\b"))
    expect(verdict.get_by_role("heading", level=1)).to_contain_text("NaN at step")  # it is still true
    page.get_by_role("link", name="Runs").click()
    expect(page.locator(ROW.format(run_id))).to_contain_text("NaN at step")
    expect(page.locator(ROW.format(run_id))).to_contain_text("acknowledged")
    page.get_by_role("link", name=run_id).click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Acknowledge…")).to_be_visible()
    assert server.get(f"/api/runs/{run_id}/findings")["findings"][0]["review"] is None


def test_a_finding_is_dismissed_folded_away_and_brought_back(open_page: Open, server: Server, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}")
    page.get_by_role("button", name="Dismiss…").click()
    dialog = page.get_by_role("dialog", name="Dismiss this finding?")
    dialog.get_by_role("button", name="Leave it").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Dismiss…").click()
    dialog.get_by_label("Note").fill("meant")
    dialog.get_by_label("Note").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing left to act on")
    assert server.get(f"/api/runs/{run_id}")["health"]["level"] == "healthy"
    findings = page.get_by_role("region", name="Findings")
    expect(findings.locator(".finding").first).to_be_hidden()
    findings.get_by_text("1 dismissed").click()
    findings.locator(".finding").click()
    expect(page.locator(".review-line")).to_contain_text("Dismissed")
    expect(page.locator(".review-line")).to_contain_text("“meant”")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("NaN at step")
    expect(findings).to_be_hidden()


def test_what_another_person_says_is_seen_at_once(open_page: Open, server: Server, run_id: str) -> None:
    (finding,) = server.get(f"/api/runs/{run_id}/findings")["findings"]
    page = open_page(f"/runs/{run_id}")
    expect(page.get_by_role("button", name="Dismiss…")).to_be_visible()
    path = f"/api/runs/{run_id}/findings/{finding['id']}/review"

    def acknowledge() -> int:
        """Said again until it is seen: the page's live line may not stand yet."""
        server.request("PUT", path, json={"state": "acknowledged", "note": "mine"})
        return page.locator(".review-line").count()

    wait_until(acknowledge, 15, "the page to hear of it")
    expect(page.locator(".review-line")).to_contain_text("“mine”")
    server.request("PUT", path, json={"state": "dismissed"})
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing left to act on")
    server.request("DELETE", path)
    expect(page.get_by_role("heading", level=1)).to_contain_text("NaN at step")


def test_a_rule_is_added_tried_and_removed(browser: Browser, server: Server) -> None:
    with receiver() as hook, browser.new_context(color_scheme="light") as context:
        page = context.new_page()
        guard = watch_page(page, server.url)
        page.goto(server.url)
        page.get_by_role("navigation").get_by_role("link", name="Alerts").click()
        expect(page.get_by_role("heading", name="Nobody is told yet")).to_be_visible()
        page.get_by_label("Channel").select_option("email")
        expect(page.get_by_text("This server has no mail server")).to_be_visible()
        expect(page.get_by_role("button", name="Add")).to_be_disabled()
        page.get_by_label("Channel").select_option("slack")
        page.get_by_label("Address").fill("ftp://example.com")
        page.get_by_label("Name", exact=True).fill("on call")
        page.get_by_label("Project").fill("clinic")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("alert")).to_contain_text("url: found")
        page.get_by_label("Address").fill(hook.url)
        page.get_by_role("button", name="Add").click()
        row = page.locator("tr[data-alert]")
        expect(row).to_contain_text("on call")
        expect(row).to_contain_text("project clinic")
        expect(row).not_to_contain_text("secret")
        page.get_by_role("button", name="Test on call").click()
        expect(row.get_by_role("status")).to_contain_text("the example was taken")
        assert "this is what an alert looks like" in hook.taken[0]["text"]
        hook.usual = Behaviour(404)
        page.get_by_role("button", name="Test on call").click()
        expect(row.get_by_role("status")).to_have_text("Test: The receiver answered 404 Not Found.")
        page.get_by_role("button", name="Remove on call").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        expect(page.get_by_role("heading", name="Nobody is told yet")).to_be_visible()
    assert server.get("/api/alerts")["alerts"] == []
    # Chromium notes what the server refuses, and the page says it in words.
    assert [line for line in guard.complaints if "422" not in line and "502" not in line] == []
    assert guard.foreign == []
