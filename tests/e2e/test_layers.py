"""Layers, inputs, operations, the cadence and controls on the page, before a real server and an invented hook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.chart import NONFINITE, PIXEL, find_cell, find_finding, wait_for_chart
from tests.e2e.chromium import watch_page
from tests.e2e.conftest import Open
from tests.serving import Server
from tests.synthetic import SyntheticHook, SyntheticRun, stream
from tests.synthetic_layers import BAD_COLUMNS, FEATURES, LayeredRun

SICK = LayeredRun(kind="sick", layers=8, steps=240, run_id="sick", name="thinned", period=8)
DIRTY = LayeredRun(kind="dirty", layers=4, steps=160, run_id="dirty", name="dirty input")
DEAD = LayeredRun(kind="healthy", layers=6, steps=120, run_id="dead", name="dead units", is_dead=True)
COLLAPSED = LayeredRun(kind="healthy", layers=6, steps=160, run_id="collapsed", name="all alike", is_collapsed=True)


@pytest.fixture(scope="module", autouse=True)
def runs(server: Server) -> None:
    for run in (SICK, DIRTY, DEAD, COLLAPSED):
        stream(server.url, run)


@pytest.fixture
def live_hook(server: Server) -> Iterator[SyntheticHook]:
    """A hook that has sent some steps and stays."""
    run = LayeredRun(kind="healthy", layers=3, steps=64, run_id="live", name="live one")
    messages = list(run.log())[:-1]
    with SyntheticHook(server.url, run) as hook:
        last = hook.greet()
        for message in messages:
            if message["seq"] > last:
                hook.send(message)
        hook.wait_for_ack(messages[-1]["seq"])
        yield hook


def test_only_kinds_that_a_run_has_are_offered(open_page: Open, server: Server) -> None:
    stream(server.url, SyntheticRun(kind="healthy", layers=2, steps=60, run_id="plain"))
    page = open_page("/runs/plain?kind=activation")
    wait_for_chart(page)
    kinds = page.get_by_role("group", name="Kind").get_by_role("button")
    expect(kinds).to_have_text(["gradient", "weight", "update", "update ÷ weight"])
    expect(page.get_by_role("button", name="gradient", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Part of the run")).to_have_count(0)
    page = open_page("/runs/sick")
    wait_for_chart(page)
    kinds = page.get_by_role("group", name="Kind").get_by_role("button")
    expect(kinds).to_have_text(["gradient", "weight", "update", "update ÷ weight", "activation", "backprop", "input"])


def test_saturated_units_are_a_share_from_0_to_1(open_page: Open) -> None:
    page = open_page("/runs/dead")
    wait_for_chart(page)
    expect(page.get_by_label("Statistic").locator("option", has_text="saturated units")).to_have_count(0)
    page.get_by_role("button", name="activation", exact=True).click()
    page.get_by_label("Statistic").select_option("saturated units")
    page.wait_for_url(re.compile("kind=activation&statistic=saturated_share"))
    page.wait_for_function(
        """() => document.querySelector('.run-chart .plot').data.find(each => each.meta.role === 'heatmap')
                 .colorbar.ticktext.includes('100 %')"""
    )
    heatmap = page.locator(".run-chart .plot").evaluate(
        "element => (({z, zmin, zmax}) => ({z, zmin, zmax}))(element.data.find(each => each.meta.role === 'heatmap'))"
    )
    assert (heatmap["zmin"], heatmap["zmax"]) == (0, 1)
    row = DEAD.layer_names.index(DEAD.dead_layer)
    assert heatmap["z"][row][-1] > 0.8
    assert all(heatmap["z"][other][-1] < 0.1 for other in range(len(DEAD.layer_names)) if other != row)
    x, y = find_cell(page, 118, row)
    page.locator(".run-chart .plot").hover(position={"x": x, "y": y})
    expect(page.locator(".tip")).to_contain_text(DEAD.dead_layer)
    expect(page.locator(".tip")).to_contain_text(re.compile(r"8\d\s%"))
    page.get_by_label("Statistic").select_option("zero share")
    page.wait_for_url(re.compile("statistic=zero_share"))
    page.reload()
    expect(page.get_by_label("Statistic")).to_have_value("zero_share")


def test_a_collapse_is_shown_by_the_distance_between_samples(open_page: Open) -> None:
    page = open_page("/runs/collapsed")
    wait_for_chart(page)
    finding = page.locator(".findings").get_by_text("nearly the same for every sample since step")
    expect(finding.first).to_contain_text(COLLAPSED.collapsed_layer)
    page = open_page("/runs/collapsed?kind=activation&statistic=cosine_distance")
    wait_for_chart(page)
    expect(page.get_by_label("Statistic")).to_have_value("cosine_distance")
    row = COLLAPSED.layer_names.index(COLLAPSED.collapsed_layer)
    x, y = find_cell(page, 155, row)
    page.locator(".run-chart .plot").hover(position={"x": x, "y": y})
    expect(page.locator(".tip")).to_contain_text(re.compile(r"0\.000\d|\de-0?[45]"))
    page.get_by_role("button", name="gradient", exact=True).click()
    expect(page.get_by_label("Statistic").locator("option", has_text="distance between samples")).to_have_count(0)


def test_a_layer_is_told_in_one_place(open_page: Open) -> None:
    page = open_page("/runs/dead?tensor=mlp/dense_2/kernel")
    wait_for_chart(page)
    panel = page.get_by_role("region", name="Picked layer")
    expect(panel.locator(".course-name b")).to_have_text(["output", "kernel", "bias"])
    expect(panel.locator(".course-kind")).to_have_text(
        ["activation", "backprop", "gradient", "update", "weight", "gradient", "update", "weight"]
    )
    expect(panel.locator(".course polyline")).to_have_count(8)
    expect(panel.locator(".course-row[aria-pressed=true]")).to_have_text(re.compile("gradient"))
    panel.locator(".course-row").first.click()
    expect(panel.locator(".path")).to_have_text("mlp/dense_2")
    expect(panel.locator(".figures")).to_contain_text("activation norm")
    expect(panel.locator(".figures")).to_contain_text("saturated units")
    expect(page.get_by_role("button", name="gradient", exact=True)).to_have_attribute("aria-pressed", "true")
    panel.locator(".course-row").nth(5).click()
    expect(panel.locator(".path")).to_have_text("mlp/dense_2/bias")
    page.wait_for_url(re.compile("tensor=mlp/dense_2/bias"))


def test_another_kind_keeps_the_layer(open_page: Open) -> None:
    page = open_page("/runs/dead?tensor=mlp/dense_3/bias")
    wait_for_chart(page)
    page.get_by_role("button", name="backprop", exact=True).click()
    expect(page.locator(".path")).to_have_text("mlp/dense_3")
    expect(page.locator(".figures")).to_contain_text("backprop norm")


def test_a_broken_input_names_its_columns_and_rows(open_page: Open) -> None:
    page = open_page("/runs/dirty")
    verdict = page.get_by_role("region", name="Verdict")
    broken = verdict.get_by_role("region", name="Where input is broken")
    expect(broken).to_contain_text(f"2 of {FEATURES} columns of input held NaN or Inf")
    expect(broken.locator("table").first.locator("tbody th")).to_have_text([str(column) for column in BAD_COLUMNS])
    expect(broken.locator("table").first.locator("tbody tr").first).to_contain_text("100")
    expect(broken.locator("table").nth(1).locator("tbody tr").first).to_contain_text(str(DIRTY.steps - 1))
    ranges = verdict.get_by_text("Range of each column")
    ranges.click()
    expect(verdict.locator(".ranges tbody tr")).to_have_count(FEATURES)


def test_the_columns_of_a_picked_input_come_on_request(open_page: Open) -> None:
    page = open_page("/runs/dead?kind=input")
    wait_for_chart(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/columns" in request.url else None)
    panel = page.get_by_role("region", name="Picked layer")
    expect(panel.locator(".path")).to_have_text("input")
    assert asked == []
    panel.get_by_text("Columns and rows").click()
    expect(panel).to_contain_text(f"all {FEATURES} columns finite")
    expect(panel.locator(".ranges tbody tr")).to_have_count(FEATURES)
    assert len(asked) == 1


def test_the_way_from_the_operation_to_the_gradients_is_told(open_page: Open) -> None:
    page = open_page("/runs/sick")
    verdict = page.get_by_role("region", name="Verdict")
    way = verdict.get_by_role("list", name="Operations")
    expect(way.locator("> li").first).to_contain_text("SqrtGrad")
    expect(way.locator("> li").first).to_have_class("cause")
    way.get_by_text("2 more operations").click()
    expect(way).to_contain_text("ReluGrad")
    expect(way.locator("> li").last).to_have_text("the gradients")
    expect(verdict.locator(".source")).to_contain_text("train.py:47")


def test_no_stand_in_for_what_float32_cannot_hold_is_written_out(open_page: Open, server: Server) -> None:
    findings = server.get("/api/runs/sick/findings")
    findings["findings"][0]["evidence"] |= {"amplification": 3.403e38, "largest_norm": 3.403e38, "margin": None}
    page = open_page("/")
    page.route("**/api/runs/sick/findings", lambda route: route.fulfill(body=json.dumps(findings)))
    page.goto(f"{server.url}/runs/sick")
    page.get_by_text("Numbers behind this").click()
    numbers = page.locator("dl.facts", has_text="steps looked at")
    expect(numbers).to_contain_text("beyond float32")
    expect(numbers).to_contain_text("infinite")
    expect(numbers).not_to_contain_text("e38")
    expect(numbers).not_to_contain_text("distance to the singular point")


def test_thinned_steps_are_no_gaps(open_page: Open) -> None:
    page = open_page("/runs/sick?kind=weight")
    wait_for_chart(page)
    chart = page.locator(".run-chart .plot")
    colors = [chart.evaluate(PIXEL, list(find_cell(page, step, 4))) for step in range(96, 104)]
    assert None not in colors
    assert len({tuple(color) for color in colors}) == 1
    assert chart.evaluate(PIXEL, list(find_cell(page, SICK.onset + 17, 4))) == NONFINITE
    expect(page.locator(".legend")).to_contain_text("a value stands until the next")
    lane = chart.evaluate("element => element.data.find(each => each.meta.role === 'lane').z[3]")
    first = lane.index(1)
    assert SICK.onset <= first < SICK.onset + 8
    assert set(lane[first:]) == {1}
    # Wide enough, the steps captured are marked.
    page.goto(page.url.split("?", maxsplit=1)[0] + "?kind=weight&from=96&to=136")
    wait_for_chart(page)
    page.wait_for_function(
        """() => document.querySelector('.run-chart .plot').data?.find(each => each.meta.role === 'captured')
                 .x.join() === '96,104,112,120,128'"""
    )


def test_a_click_on_a_finding_opens_it_and_goes_to_its_onset(open_page: Open, server: Server) -> None:
    finding = server.get("/api/runs/sick/findings")["findings"][0]
    page = open_page("/runs/sick")
    wait_for_chart(page)
    expect(page.locator(".run-chart")).to_contain_text("findings")
    x, y = find_finding(page, finding["first_step"])
    page.mouse.move(x, y)
    expect(page.locator(".tip")).to_contain_text(finding["title"].replace("`", ""))
    page.mouse.click(x, y)
    first, end = finding["view"]["from"], finding["view"]["to"]
    page.wait_for_url(re.compile(f"finding={finding['id']}.*from={first}&to={end}"))
    page.wait_for_function(
        f"() => document.querySelector('.run-chart .plot')._fullLayout.xaxis.range[0] === {first} - 0.5"
    )
    page.get_by_role("button", name="Show all steps").click()
    page.get_by_role("button", name=f"Zoom to step {finding['first_step']}").click()
    page.wait_for_url(re.compile(f"from={first}"))


def test_the_cost_says_the_cadence_and_its_history(open_page: Open) -> None:
    page = open_page("/runs/sick")
    pill = page.get_by_role("button", name="in full every 8 steps")
    expect(pill).to_contain_text("hook costs 1.1")
    pill.click()
    panel = page.get_by_role("group", name="What the hook costs")
    expect(panel).to_contain_text("Full statistics every 8 steps, to stay within the hook's budget.")
    expect(panel.locator("tbody tr")).to_have_count(2)
    expect(panel.locator("tbody tr").first).to_contain_text("40")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(pill).to_be_focused()


def test_a_running_training_is_asked_for_everything(open_page: Open, live_hook: SyntheticHook) -> None:
    page = open_page("/runs/live")
    page.get_by_role("button", name="Controls").click()
    panel = page.get_by_role("group", name="Controls")
    panel.get_by_label("Steps").fill("25")
    panel.get_by_role("button", name="Ask").click()
    expect(panel.get_by_role("status")).to_contain_text("everything in the next 25 steps")
    assert receive_control(live_hook)["everything_for"] == 25
    panel.get_by_label("Cadence").select_option("every 10 steps")
    panel.get_by_role("button", name="Set the cadence").click()
    assert receive_control(live_hook)["every"] == 10
    panel.get_by_label("weight", exact=True).uncheck()
    panel.get_by_role("button", name="Set the kinds").click()
    assert receive_control(live_hook)["kinds"] == ["gradient", "update", "activation", "backprop", "input"]


def test_a_stop_is_confirmed_with_a_reason(open_page: Open, live_hook: SyntheticHook) -> None:
    page = open_page("/runs/live")
    page.get_by_role("button", name="Controls").click()
    page.get_by_role("button", name="Stop training…").click()
    dialog = page.get_by_role("dialog", name="Stop training")
    dialog.get_by_role("button", name="Stop training").click()  # without a reason the browser does not send it
    expect(dialog).to_be_visible()
    dialog.get_by_label("Reason").fill("loss is NaN")
    dialog.get_by_role("button", name="Stop training").click()
    expect(dialog).to_have_count(0)
    assert receive_control(live_hook)["stop"] == "loss is NaN"


def test_a_training_that_is_not_connected_cannot_be_asked(
    browser: Browser, server: Server, live_hook: SyntheticHook
) -> None:
    page = browser.new_page()
    guard = watch_page(page, server.url)
    refusal = {"code": "not_connected", "message": "No hook of the run 'live' is connected.", "detail": None}
    page.route("**/controls", lambda route: route.fulfill(status=409, json=refusal))
    page.goto(f"{server.url}/runs/live")
    page.get_by_role("button", name="Controls").click()
    panel = page.get_by_role("group", name="Controls")
    panel.get_by_role("button", name="Ask").click()
    expect(panel.get_by_role("status")).to_contain_text("not connected to this server just now")
    page.get_by_role("button", name="Stop training…").click()
    dialog = page.get_by_role("dialog", name="Stop training")
    dialog.get_by_label("Reason").fill("enough")
    dialog.get_by_role("button", name="Stop training").click()
    expect(dialog.get_by_role("alert")).to_contain_text("not connected to this server just now")
    page.close()
    # Chromium writes each refused request on the console itself; nothing else may stand there.
    assert [line for line in guard.complaints if "409" not in line] == []


def test_several_workers_can_be_told_apart(open_page: Open, server: Server) -> None:
    for worker in (0, 1):
        run = SyntheticRun(kind="healthy", layers=3, steps=60, run_id="pair", name="pair", worker=worker, seed=worker)
        stream(server.url, run)
    page = open_page("/runs/pair")
    wait_for_chart(page)
    part = page.get_by_label("Part of the run")
    expect(part.locator("option")).to_have_text(["all workers", "worker 0", "worker 1"])
    with page.expect_request(lambda request: "/heatmap" in request.url and "worker=1" in request.url):
        part.select_option("worker 1")
    page.wait_for_url(re.compile("worker=1"))
    expect(part).to_have_value("worker 1")
    page.reload()
    expect(part).to_have_value("worker 1")


def receive_control(hook: SyntheticHook) -> dict[str, object]:
    """The next control that the server hands to the hook."""
    while True:
        message = hook.receive()
        if message["type"] == "control":
            return message
