"""The page at its edges: nothing there yet, nothing there at all, a server that comes and goes or asks for a token."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, WebSocketRoute, expect

from tests.e2e.chromium import watch_page
from tests.e2e.conftest import Open
from tests.serving import Server, ServerProcess
from tests.synthetic import SyntheticHook, SyntheticRun, stream


def test_a_fresh_install_shows_the_one_line(open_page: Open) -> None:
    page = open_page("/")
    expect(page.get_by_role("heading", level=1, name="No run yet")).to_be_visible()
    expect(page.locator(".welcome")).to_contain_text("gradwatch.watch(model)")
    expect(page.locator(".welcome")).to_contain_text("gradwatch demo")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the line").click()
    expect(page.get_by_role("button", name="Copy the line")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "import gradwatch\ngradwatch.watch(model)"


def test_the_first_run_replaces_the_empty_page_by_itself(browser: Browser, tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        page = browser.new_page()
        page.goto(server.url)
        expect(page.locator(".welcome")).to_be_visible()
        stream(server.url, SyntheticRun(layers=2, steps=16, run_id="first"))
        expect(page.locator("tr[data-run=first]")).to_be_visible()
        page.close()


def test_an_unknown_run_is_said_to_be_unknown(browser: Browser, server: Server) -> None:
    page = browser.new_page()
    guard = watch_page(page, server.url)
    page.goto(f"{server.url}/runs/nobody")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such run")
    expect(page.locator(".empty")).to_contain_text("nobody")
    page.get_by_role("link", name="See all runs").click()
    expect(page.locator(".welcome")).to_be_visible()
    page.close()
    # Chromium writes each failed request on the console itself; nothing else may stand there.
    assert [line for line in guard.complaints if "404" not in line] == []
    assert guard.foreign == []


def test_a_run_before_its_first_step_says_that_it_waits(open_page: Open, server: Server) -> None:
    run = SyntheticRun(layers=2, steps=80, run_id="slow-start")
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        page = open_page("/runs/slow-start")
        expect(page.get_by_role("heading", level=1)).to_have_text("Waiting for the first step")
        messages = list(run.log())
        hook.send(messages[0])
        hook.send(messages[1])
        expect(page.get_by_role("heading", level=1)).to_have_text("Too early to say")
        expect(page.locator(".run-chart [data-drawn]")).to_be_visible()
        for message in messages[2:]:
            hook.send(message)
        hook.wait_for_verdict(messages[-1]["seq"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Healthy to the end")


def test_what_came_before_the_page_listened_is_not_lost(browser: Browser, server: Server) -> None:
    """A run may say its last word between the page's first look at it and the moment when its messages are heard."""
    run = SyntheticRun(layers=2, steps=80, run_id="quick")
    held = []

    def hold(line: WebSocketRoute) -> None:
        to_server = line.connect_to_server()
        line.on_message(lambda message: held.append(lambda: to_server.send(message)))

    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        detail, listing = browser.new_page(), browser.new_page()
        for page, path in (detail, "/runs/quick"), (listing, "/"):
            page.route_web_socket("**/ws/live", hold)
            page.goto(server.url + path)
        expect(detail.get_by_role("heading", level=1)).to_have_text("Waiting for the first step")
        expect(listing.locator("tr[data-run=quick]")).to_contain_text("live")
        messages = list(run.log())
        for message in messages:
            hook.send(message)
        hook.wait_for_verdict(messages[-1]["seq"])
        stream(server.url, SyntheticRun(layers=2, steps=8, run_id="quicker"))
    expect(detail.get_by_role("heading", level=1)).to_have_text("Waiting for the first step")
    assert len(held) == 2
    for release in held:
        release()
    expect(detail.get_by_role("heading", level=1)).to_have_text("Healthy to the end")
    expect(detail.locator(".run-chart [data-drawn]")).to_be_visible()
    expect(listing.locator("tr[data-run=quick]")).to_contain_text("finished")
    expect(listing.locator("tr[data-run=quicker]")).to_be_visible()
    detail.close()
    listing.close()


def test_a_lost_connection_is_said_and_mended(browser: Browser, tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        stream(server.url, SyntheticRun(layers=2, steps=60, run_id="before"))
        page = browser.new_page()
        page.goto(server.url)
        expect(page.locator("tr[data-run=before]")).to_be_visible()
        server.kill()
        notice = page.locator("[data-sort=line]")
        expect(notice).to_contain_text("Connection to the server lost")
        expect(page.locator("tr[data-run=before]")).to_be_visible()
        page.get_by_role("button", name="Try now").click()
        expect(notice).to_contain_text("Trying again in")
        server.start()
        expect(notice).to_have_count(0, timeout=20_000)
        stream(server.url, SyntheticRun(layers=2, steps=16, run_id="after"))
        expect(page.locator("tr[data-run=after]")).to_be_visible(timeout=15_000)
        page.close()


def test_a_token_is_asked_for_and_leads_back(browser: Browser, tmp_path: Path) -> None:
    with Server(tmp_path, token="s3cret-token") as server:
        stream(server.url, SyntheticRun(layers=2, steps=60, run_id="guarded", name="guarded"), token="s3cret-token")
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{server.url}/runs/guarded")
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("token")
        page.get_by_label("Token").fill("s3cret-token")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Healthy to the end")
        context.close()
