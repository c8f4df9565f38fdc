"""The page in a real browser, before a real server that is fed over the real websocket."""

from __future__ import annotations

import re
import threading
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.e2e.chart import NONFINITE, PIXEL, find_cell, wait_for_chart
from tests.e2e.conftest import Open
from tests.serving import Server
from tests.synthetic import SyntheticHook, SyntheticRun, stream

SICK = SyntheticRun(
    kind="sick", layers=12, steps=240, run_id="sick", name="digits-vit", config={"rate": 0.01, "batch": 64}
)
HEALTHY = SyntheticRun(
    kind="healthy", layers=12, steps=240, run_id="healthy", name="digits-cnn", config={"rate": 0.001, "batch": 64}
)


@pytest.fixture(scope="module", autouse=True)
def runs(server: Server) -> None:
    stream(server.url, SICK, crash=True)
    stream(server.url, HEALTHY)


def test_the_list_tells_health_at_a_glance(open_page: Open) -> None:
    page = open_page("/")
    sick, healthy = page.locator("tr[data-run=sick]"), page.locator("tr[data-run=healthy]")
    expect(sick.locator(".health")).to_contain_text("NaN at step 168")
    expect(sick.locator(".state")).to_have_text("crashed")
    expect(healthy.locator(".health")).to_have_text("healthy")
    expect(sick.locator(".sparkline circle").first).to_be_visible()
    expect(healthy.locator(".sparkline circle")).to_have_count(0)
    expect(sick.locator(".sparkline polyline").first).to_be_visible()


def test_search_and_state_filter_the_list_and_the_address(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_label("Search runs").fill("cnn")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert "search=cnn" in page.url
    page.get_by_label("Search runs").fill("")
    page.get_by_label("State").select_option("crashed")
    expect(page.locator("tr[data-run=healthy]")).to_have_count(0)
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_label("State")).to_have_value("crashed")


def test_a_sick_run_opens_with_its_verdict(open_page: Open, server: Server) -> None:
    finding = server.get("/api/runs/sick/findings")["findings"][0]
    page = open_page("/")
    page.get_by_role("link", name="digits-vit").click()
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict.get_by_role("heading", level=1)).to_contain_text("NaN at step 168")
    expect(verdict).to_contain_text(finding["evidence"]["summary"])
    expect(verdict).to_contain_text(finding["hypotheses"][0]["fix"])
    expect(page.locator(".path")).to_have_text(finding["tensor"])
    expect(verdict.locator(".chain li").first).to_have_class("cause")
    expect(verdict.locator(".fix .code")).to_contain_text("clipnorm")
    expect(verdict).to_contain_text("InvalidArgumentError: loss is not finite")
    expect(page.locator(".pill.crashed")).to_contain_text("step 239")


def test_non_finite_cells_have_the_colour_that_nothing_else_has(open_page: Open) -> None:
    page = open_page("/runs/sick")
    wait_for_chart(page)
    chart = page.locator(".run-chart .plot")
    assert chart.evaluate(PIXEL, list(find_cell(page, SICK.onset + 40, 3))) == NONFINITE
    before = chart.evaluate(PIXEL, list(find_cell(page, SICK.onset - 100, 3)))
    assert before is not None
    assert before != NONFINITE


def test_a_click_on_a_cell_shows_that_layers_lines_beside_the_whole(open_page: Open) -> None:
    page = open_page("/runs/sick")
    wait_for_chart(page)
    x, y = find_cell(page, 100, 5)
    page.locator(".run-chart .plot").click(position={"x": x, "y": y})
    expect(page.locator(".path")).to_have_text("mlp/dense_2/bias")
    assert "tensor=mlp/dense_2/bias" in page.url
    figures = page.get_by_role("region", name="Picked layer").locator(".figures")
    expect(figures).to_contain_text("gradient norm")
    expect(figures).to_contain_text("128 float32")
    expect(figures.locator(".bad")).to_have_text("128 of 128")
    lines = page.locator(".lines-chart .scatterlayer path.js-line")
    expect(lines.first).to_be_visible()
    expect(page.locator(".run-chart")).to_be_visible()


def test_a_click_on_a_name_picks_the_layer_too(open_page: Open) -> None:
    page = open_page("/runs/sick")
    wait_for_chart(page)
    _, y = find_cell(page, 0, 8)
    page.locator(".run-chart .plot").click(position={"x": 120, "y": y})
    expect(page.locator(".path")).to_have_text("mlp/dense_4/kernel")


def test_hovering_says_layer_steps_value_and_count(open_page: Open) -> None:
    page = open_page("/runs/sick")
    wait_for_chart(page)
    x, y = find_cell(page, SICK.onset + 39, 5)
    page.locator(".run-chart .plot").hover(position={"x": x, "y": y})
    tip = page.locator(".tip")
    expect(tip).to_contain_text("mlp/dense_2/bias")
    expect(tip).to_contain_text("step 207")
    expect(tip).to_contain_text("128 of 128")
    expect(tip).to_contain_text("NaN")
    expect(page.locator(".lines-chart .crosshair")).to_be_visible()


def test_a_drag_zooms_both_charts_and_the_address_keeps_it(open_page: Open) -> None:
    page = open_page("/runs/sick")
    wait_for_chart(page)
    box = page.locator(".run-chart .plot").bounding_box()
    assert box is not None
    (start, y), (end, _) = find_cell(page, 60, 4), find_cell(page, 120, 4)
    page.mouse.move(box["x"] + start, box["y"] + y)
    page.mouse.down()
    page.mouse.move(box["x"] + end, box["y"] + y, steps=6)
    page.mouse.up()
    page.wait_for_url(re.compile(r"from=\d+&to=\d+"))
    first, last = (int(value) for value in re.findall(r"(?:from|to)=(\d+)", page.url))
    assert abs(first - 60) <= 1
    assert abs(last - 121) <= 1
    for chart in (".run-chart .plot", ".lines-chart .plot"):
        left = f"document.querySelector('{chart}')._fullLayout.xaxis.range[0]"
        page.wait_for_function(f"() => Math.abs({left} - {first}) < 1")
    page.get_by_role("button", name="Show all steps").click()
    page.wait_for_function("() => document.querySelector('.run-chart .plot')._fullLayout.xaxis.range[0] < 0")
    assert "from=" not in page.url


def test_kind_statistic_and_order_are_kept_in_the_address(open_page: Open) -> None:
    page = open_page("/runs/sick")
    wait_for_chart(page)
    page.get_by_role("button", name="update ÷ weight").click()
    page.get_by_role("button", name="by trouble").click()
    expect(page.get_by_role("button", name="update ÷ weight")).to_have_attribute("aria-pressed", "true")
    page.wait_for_url(re.compile("kind=update&statistic=update_ratio&order=trouble"))
    page.reload()
    wait_for_chart(page)
    expect(page.get_by_role("button", name="by trouble")).to_have_attribute("aria-pressed", "true")
    first = page.locator(".run-chart .plot").evaluate("element => element._fullLayout.yaxis3.ticktext[0]")
    assert first.removeprefix("<b>").removesuffix("</b>") == SICK.sick_tensor


def test_the_keyboard_goes_through_layers_and_pages(open_page: Open) -> None:
    page = open_page("/runs/healthy")
    wait_for_chart(page)
    path = page.locator(".path")
    expect(path).to_have_text("mlp/dense_0/kernel")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(path).to_have_text("mlp/dense_1/kernel")
    page.keyboard.press("k")
    expect(path).to_have_text("mlp/dense_0/bias")
    page.locator(".run-chart").focus()
    page.keyboard.press("ArrowDown")
    expect(path).to_have_text("mlp/dense_1/kernel")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("next layer")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches(':focus-visible')")


def test_every_control_has_a_name(open_page: Open) -> None:
    for address in ("/", "/runs/sick", "/compare?run=sick&run=healthy"):
        page = open_page(address)
        page.wait_for_selector("tr[data-run], [data-drawn]")
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, a, input, select')]
                 .filter(each => !each.textContent.trim() && !each.getAttribute('aria-label') && !each.labels?.length)
                 .map(each => each.outerHTML)"""
        )
        assert nameless == []


def test_a_healthy_run_is_said_to_be_healthy(open_page: Open) -> None:
    page = open_page("/runs/healthy")
    expect(page.get_by_role("heading", level=1)).to_have_text("Healthy to the end")
    expect(page.locator(".verdict.healthy")).to_contain_text("240 steps of 72 watched tensors")
    wait_for_chart(page)
    expect(page.locator(".legend .nonfinite")).to_have_count(0)
    expect(page.locator(".run-chart")).to_contain_text("NaN and Inf: none so far")


def test_tags_can_be_changed_and_stay(open_page: Open, server: Server) -> None:
    page = open_page("/runs/healthy")
    page.get_by_label("Add a tag").fill("baseline")
    page.get_by_label("Add a tag").press("Enter")
    expect(page.get_by_label("Remove the tag baseline")).to_be_visible()
    assert "baseline" in server.get("/api/runs/healthy")["tags"]
    page.get_by_label("Remove the tag baseline").click()
    expect(page.get_by_label("Remove the tag baseline")).to_have_count(0)
    assert "baseline" not in server.get("/api/runs/healthy")["tags"]


def test_two_runs_are_chosen_and_compared(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_label("Choose digits-vit for a comparison").check()
    page.get_by_label("Choose digits-cnn for a comparison").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    page.wait_for_selector(".compare-chart[data-drawn]")
    expect(page.locator(".compared")).to_contain_text("loss NaN")
    expect(page.locator(".config .differs")).to_have_count(1)
    expect(page.locator(".config .differs")).to_contain_text("0.01")
    traces = page.locator(".compare-chart").evaluate(
        "element => element.data.map(each => [each.meta.role, each.line?.color])"
    )
    losses = [color for role, color in traces if role == "loss"]
    assert len(losses) == 2
    assert len(set(losses)) == 2
    page.get_by_role("button", name="by wall time").click()
    page.wait_for_function(
        "() => document.querySelector('.compare-chart')._fullLayout.xaxis.title.text.startsWith('seconds')"
    )
    assert "by=time" in page.url
    page.get_by_label("Layer").select_option("mlp/dense_3/bias")
    page.wait_for_url(re.compile("tensor=mlp/dense_3/bias"))


def test_the_theme_follows_the_system_until_it_is_toggled(open_page: Open) -> None:
    page = open_page("/runs/sick", theme="dark")
    wait_for_chart(page)
    ground = "() => getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(ground) == "rgb(18, 20, 24)"
    page.get_by_role("button", name="Light or dark").click()
    page.wait_for_function(f"() => ({ground})() === 'rgb(246, 246, 244)'")
    page.wait_for_function("() => document.querySelector('.run-chart .plot').data[0].line.color === '#1c1e24'")
    page.reload()
    wait_for_chart(page)
    assert page.evaluate(ground) == "rgb(246, 246, 244)"


def test_no_name_overlaps_another(open_page: Open, server: Server) -> None:
    stream(server.url, SyntheticRun(kind="healthy", layers=250, steps=60, run_id="wide", name="wide"))
    page = open_page("/runs/wide")
    wait_for_chart(page)
    tops = page.evaluate(
        """() => [...document.querySelectorAll('.run-chart .y3tick text')].map(each => each.getBoundingClientRect())
             .map(({top, bottom}) => [top, bottom]).sort((a, b) => a[0] - b[0])"""
    )
    assert len(tops) > 20
    assert all(below[0] >= above[1] - 2.5 for above, below in pairwise(tops))


def test_deleting_asks_first(open_page: Open, server: Server) -> None:
    stream(server.url, SyntheticRun(kind="healthy", layers=2, steps=16, run_id="doomed", name="doomed"))
    page = open_page("/")
    page.get_by_role("button", name="Delete doomed").click()
    page.get_by_role("button", name="Keep it").click()
    expect(page.locator("tr[data-run=doomed]")).to_have_count(1)
    page.get_by_role("button", name="Delete doomed").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("tr[data-run=doomed]")).to_have_count(0)
    assert server.request("GET", "/api/runs/doomed").status_code == 404


def test_a_live_run_is_followed_until_it_crashes(open_page: Open, server: Server) -> None:
    run = SyntheticRun(kind="sick", layers=6, steps=240, run_id="live", name="live one")
    messages = list(run.log(crash=True))
    first, middle, end = messages[:12], messages[12:-1], messages[-1]
    with SyntheticHook(server.url, run) as hook:
        hook.greet()
        for message in first:
            hook.send(message)
        page = open_page("/runs/live")
        expect(page.locator(".pill.live")).to_contain_text("step 87")
        expect(page.get_by_role("heading", level=1)).to_have_text("Healthy so far")
        wait_for_chart(page)
        page.get_by_role("button", name="Pause").click()
        for message in middle:
            hook.send(message)
            hook.drain()
        expect(page.locator(".pill.live")).to_contain_text("step 239")
        expect(page.get_by_role("heading", level=1)).to_contain_text("NaN at step 168")
        assert page.locator(".run-chart .plot").evaluate("element => element._fullLayout.xaxis.range[1]") < 100
        page.get_by_role("button", name="Follow").click()
        page.wait_for_function("() => document.querySelector('.run-chart .plot')._fullLayout.xaxis.range[1] > 239")
        assert page.locator(".run-chart .plot").evaluate(PIXEL, list(find_cell(page, 220, 2))) == NONFINITE
        page.get_by_text("Numbers behind this").click()
        hook.send(end)
        hook.wait_for_verdict(end["seq"])
    expect(page.locator(".pill.crashed")).to_be_visible()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("InvalidArgumentError")
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    expect(page.locator("details[open] dl.facts dt", has_text="steps looked at").first).to_be_visible()


def test_runs_appear_in_the_list_while_it_is_open(open_page: Open, server: Server) -> None:
    page = open_page("/")
    page.wait_for_selector("tr[data-run]")
    run = SyntheticRun(kind="healthy", layers=2, steps=16, run_id="newcomer", name="newcomer")
    streaming = threading.Thread(target=stream, args=(server.url, run))
    streaming.start()
    expect(page.locator("tr[data-run=newcomer]")).to_be_visible()
    streaming.join(20)


def test_names_from_the_network_are_only_ever_text(open_page: Open, server: Server) -> None:
    name = "<img src=x onerror=document.title='owned'>"
    stream(server.url, SyntheticRun(kind="sick", layers=3, steps=80, run_id="markup", name=name, tags=("<b>bold</b>",)))
    page = open_page("/")
    row = page.locator("tr[data-run=markup]")
    expect(row.get_by_role("link")).to_have_text(name)
    expect(row.locator("img, b")).to_have_count(0)
    row.get_by_role("link").click()
    wait_for_chart(page)
    expect(page.locator(".run-title")).to_have_text(name)
    assert page.title() != "owned"


LINES = """element => element.data.filter(one => one.meta?.role === "correlation").map(
  ({line, y, text}) => [line.dash ?? "solid", y.at(-1), text.filter(Boolean).join()])"""


@pytest.mark.parametrize(
    ("targets", "dashes"), [(("target",), ["solid", "dot"]), (("target/a", "target/b"), ["solid"] * 2)]
)
def test_a_linear_fit_stands_beside_the_model_where_there_is_one_target(
    open_page: Open, server: Server, targets: tuple[str, ...], dashes: list[str]
) -> None:
    run_id = f"fit-{len(targets)}"
    stream(server.url, SyntheticRun(layers=2, steps=120, run_id=run_id, targets=targets, linear_fit=0.75))
    page = open_page(f"/runs/{run_id}")
    wait_for_chart(page)
    found = page.locator(".run-chart .plot").evaluate(LINES)
    assert [dash for dash, _, _ in found] == dashes
    if len(targets) == 1:
        _, level, name = found[1]
        assert (level, name) == (0.75, "linear fit")
