"""From a finding to its evidence, to the file that is handed on, and to the run that shows whether it helped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from gradwatch_server.report import MARK, make_archive, render_document
from gradwatch_server.terminal import open_store
from tests.e2e.chart import NONFINITE, PIXEL, wait_for_chart
from tests.e2e.chromium import watch_page
from tests.e2e.conftest import SLOW_MS, Open
from tests.serving import Server
from tests.synthetic import SyntheticRun, stream
from tests.synthetic_layers import BAD_COLUMNS, LayeredRun

STARTED_AT = 1.79e9
WHOLE = "document.querySelectorAll('.run-chart .plot')[1]"
COLOUR = ",".join(map(str, NONFINITE))
SICK = LayeredRun(kind="sick", layers=8, steps=240, run_id="sick", name="digits", project="d", started_at=STARTED_AT)
DIRTY = LayeredRun(kind="dirty", layers=4, steps=200, run_id="dirty", name="gaps", project="g", started_at=STARTED_AT)
CURED = SyntheticRun(
    kind="healthy", layers=8, steps=300, run_id="cured", name="digits", project="d", started_at=STARTED_AT + 60
)


@pytest.fixture(scope="module", autouse=True)
def runs(server: Server) -> None:
    stream(server.url, SICK, crash=True)
    for run in (DIRTY, CURED):
        stream(server.url, run)


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Open]:
    """Opens a file in a browser without a network; afterwards it may have complained of nothing and asked nobody."""
    opened = []

    def open_path(file: Path, *, theme: str = "light") -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 980}, color_scheme=theme, offline=True)  # type: ignore[arg-type]
        context.set_default_timeout(SLOW_MS)
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        opened.append((context, watch_page(page, ""), asked, file.as_uri()))
        page.goto(file.as_uri())
        return page

    yield open_path
    for context, guard, asked, address in opened:
        context.close()
        guard.check()
        assert [url for url in asked if not url.startswith("data:")] == [address]


@pytest.fixture(scope="module")
def report(server: Server, runs: None, tmp_path_factory: pytest.TempPathFactory):
    """Makes the report of a run."""
    folder = tmp_path_factory.mktemp("reports")

    def make(run_id: str) -> Path:
        file = folder / f"{run_id}.html"
        with open_store(server.settings.database_url) as store:
            file.write_text(render_document(make_archive(store, run_id)), encoding="utf-8")
        return file

    return make


def wait_for_charts(page: Page, n: int) -> None:
    """Waits until all is drawn."""
    expect(page.locator("[data-drawn]")).to_have_count(n)


def test_a_report_opens_from_a_file_with_verdict_evidence_and_facts(open_file: Open, report, server: Server) -> None:
    finding = server.get("/api/runs/sick/findings")["findings"][0]
    page = open_file(report("sick"), theme="dark")
    wait_for_charts(page, 3)
    verdict = page.get_by_role("region", name="Verdict").first
    expect(verdict).to_contain_text(finding["evidence"]["summary"].replace("`", ""))
    expect(verdict.locator(".operations li").first).to_contain_text("SqrtGrad")
    expect(verdict.locator(".source .culprit")).to_contain_text("scale = tf.norm(features, axis=-1)")
    expect(verdict).to_contain_text("Not seen in 300 steps of the next run, digits.")
    expect(verdict).to_contain_text("InvalidArgumentError: loss is not finite")
    expect(page.locator("h1")).to_have_count(1)
    facts = page.get_by_role("region", name="Facts")
    expect(facts).to_contain_text("optimizer.learning_rate")
    expect(facts).to_contain_text("synthetic")
    expect(page.locator("footer")).to_contain_text("from run sick")
    expect(page).to_have_title("digits · gradwatch report")
    check_charts(page, finding)


def check_charts(page: Page, finding: dict[str, Any]) -> None:
    """Holds what was drawn against the finding: its steps, and NaN in its colour, in both themes."""
    near, whole = page.locator(".run-chart .plot").nth(0), page.locator(".run-chart .plot").nth(1)
    read = "element => element._fullLayout.xaxis.range"
    assert near.evaluate(read) == [finding["view"]["from"] - 0.5, min(finding["view"]["to"], 240) - 0.5]
    assert whole.evaluate(read) == [-0.5, 239.5]
    expect(page.locator(".lines-chart .scatterlayer path.js-line").first).to_be_visible()
    # NaN has its colour, that of the dark theme, at the end of the whole run.
    x, y = whole.evaluate(
        """element => {
             const {xaxis, yaxis3} = element._fullLayout;
             return [xaxis._offset + xaxis.d2p(220), yaxis3._offset + yaxis3.d2p(2)];
           }"""
    )
    dark = whole.evaluate(PIXEL, [x, y])
    page.get_by_role("button", name="Light or dark").click()
    page.wait_for_function(f"async place => String(await ({PIXEL})({WHOLE}, place)) === '{COLOUR}'", arg=[x, y])
    assert dark not in (None, NONFINITE)


def test_a_drag_looks_closer_and_back(open_file: Open, report) -> None:
    page = open_file(report("cured"))
    wait_for_charts(page, 1)
    expect(page.get_by_role("heading", level=1)).to_have_text("Healthy to the end")
    box = page.locator(".run-chart .plot").bounding_box()
    assert box is not None
    y = box["y"] + 60
    page.mouse.move(box["x"] + 400, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 600, y, steps=5)
    page.mouse.up()
    steps = page.locator(".chart-head .number")
    expect(steps).not_to_have_text("steps 0 to 299")
    page.get_by_role("button", name="Show all steps").click()
    expect(steps).to_have_text("steps 0 to 299")


def test_a_finding_about_an_input_brings_its_columns_and_rows(open_file: Open, report) -> None:
    page = open_file(report("dirty"))
    wait_for_charts(page, 3)
    tables = page.get_by_role("region", name="Where input is broken")
    expect(tables.locator("tbody").first.locator("tr")).to_have_count(len(BAD_COLUMNS))
    expect(page.locator(".chart-head b").first).to_have_text("input norm")


def test_the_run_page_hands_out_the_report(open_page: Open) -> None:
    page = open_page("/runs/sick")
    wait_for_chart(page)
    with page.expect_download(timeout=SLOW_MS) as download:
        page.get_by_role("link", name="Report").click()
    assert download.value.suggested_filename == "gradwatch-digits-sick.html"
    assert MARK in download.value.path().read_text(encoding="utf-8")


def test_a_finding_opens_to_what_shows_it_and_the_address_keeps_it(open_page: Open, server: Server) -> None:
    finding = server.get("/api/runs/dirty/findings")["findings"][0]
    page = open_page("/runs/dirty")
    wait_for_chart(page)
    page.get_by_role("button", name=f"Zoom to step {finding['first_step']}").click()
    page.wait_for_url(re.compile(rf"kind=input.*finding={re.escape(finding['id'])}.*from={finding['view']['from']}"))
    expect(page.locator(".path")).to_have_text("input")
    expect(page.get_by_role("button", name="input", exact=True)).to_have_attribute("aria-pressed", "true")
    address = page.url.removeprefix(server.url)
    again = open_page(address)
    wait_for_chart(again)
    expect(again.locator(".path")).to_have_text("input")
    axis = "document.querySelector('.run-chart .plot')._fullLayout.xaxis"
    again.wait_for_function(f"() => {axis}.range[0] === {finding['view']['from']} - 0.5")


def test_the_page_says_whether_it_helped_and_leads_to_the_comparison(open_page: Open, server: Server) -> None:
    page = open_page("/runs/sick")
    sequel = page.locator(".sequel")
    expect(sequel).to_contain_text("Did it help?")
    expect(sequel).to_contain_text("Not seen in 300 steps of the next run, digits.")
    expect(page.locator(".source .line")).to_have_count(4)  # the fifth is blank
    expect(page.locator(".source .line-number").first).to_have_text("45")
    sequel.get_by_role("link", name="Compare the two runs").click()
    page.wait_for_url(re.compile(r"/compare\?run=sick&run=cured"))
    expect(page.locator(".compare-chart[data-drawn]")).to_be_visible()
    page = open_page("/runs/dirty")
    expect(page.locator(".sequel")).to_contain_text("Change it and run again")
    expect(page.locator(".sequel a")).to_have_count(0)
    stream(server.url, LayeredRun(kind="dirty", layers=4, steps=200, run_id="dirty-2", name="gaps", project="g"))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # the reader comes back
    expect(page.locator(".sequel")).to_contain_text("It came back at step 140 of the next run, gaps.")


def test_a_sick_run_is_held_against_the_last_healthy_one(open_page: Open, server: Server) -> None:
    shared = {"layers": 3, "steps": 160, "name": "held", "project": "held"}
    config = {"optimizer": {"name": "adam", "learning_rate": 3e-4}}
    stream(server.url, SyntheticRun("healthy", run_id="well", started_at=1.7e9, config=config, **shared))
    stream(server.url, SyntheticRun("sick", run_id="unwell", started_at=1.7e9 + 60, **shared))
    page = open_page("/runs/unwell")
    table = page.locator(".baseline")
    expect(table).to_contain_text("Against the last healthy run, held")
    expect(table.locator("tbody tr").first).to_have_text(re.compile(r"optimizer.learning_rate\s*3e-4\s*0\.001"))
    expect(table).to_contain_text("gradient norm before step")
    table.get_by_role("link").click()
    page.wait_for_url(re.compile(r"/compare\?run=unwell&run=well"))
    page = open_page("/runs/well")
    wait_for_chart(page)
    expect(page.locator(".baseline")).to_have_count(0)
