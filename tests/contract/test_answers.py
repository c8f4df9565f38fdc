"""REST answers and live messages of one invented run, as the page's tests read them.

The run is sick: 3 layers, 160 steps, its first NaN at step 112. ``frontend/tests`` reads the same files.
"""

import asyncio

import orjson
import pytest

from gradwatch_server.live import Hub, Subscriber, read_subscription
from tests.contract.snapshots_io import check
from tests.serving import Server
from tests.synthetic import SyntheticRun, stream

STARTED_AT = 1_790_000_000.0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("contract")) as running:
        shared = {"layers": 3, "steps": 160, "name": "mlp-digits", "project": "demo"}
        sick = SyntheticRun("sick", run_id="20260921-141320-sick", started_at=STARTED_AT, **shared)
        healthy = SyntheticRun(
            "healthy",
            run_id="20260921-151320-cured",
            started_at=STARTED_AT + 3600,
            seed=1,
            config={"optimizer": {"name": "adam", "learning_rate": 0.0005}, "clipnorm": 1.0},
            **shared,
        )
        before = SyntheticRun(
            "healthy",
            run_id="20260921-131320-before",
            started_at=STARTED_AT - 3600,
            seed=2,
            config={"optimizer": {"name": "adam", "learning_rate": 0.0005}},
            **shared,
        )
        stream(running.url, before)
        stream(running.url, sick, crash=True)
        stream(running.url, healthy)
        yield running


RUN = "/api/runs/20260921-141320-sick"
ANSWERS = {
    "runs": "/api/runs",
    "runs_empty": "/api/runs?project=nothing",
    "run": RUN,
    "tensors": f"{RUN}/tensors",
    "findings": f"{RUN}/findings",
    "findings_healthy": "/api/runs/20260921-151320-cured/findings",
    "forecasts": "/api/forecasts",
    "next": f"{RUN}/next",
    "baseline": f"{RUN}/baseline",
    "baseline_none": "/api/runs/20260921-131320-before/baseline",
    "next_none": "/api/runs/20260921-151320-cured/next",
    "series_gradient": f"{RUN}/series?kind=gradient&statistic=norm&tensor=mlp/dense_1/kernel&points=40",
    "series_loss": f"{RUN}/series?kind=scalar&tensor=loss&points=40",
    "series_update_ratio": f"{RUN}/series?kind=update&statistic=update_ratio&tensor=mlp/dense_0/bias&points=20",
    "heatmap_gradient": f"{RUN}/heatmap?columns=40",
    "heatmap_update_ratio": f"{RUN}/heatmap?kind=update&statistic=update_ratio&columns=10",
    "heatmap_tail": f"{RUN}/heatmap?from=150",
    "nonfinite": f"{RUN}/nonfinite?columns=40",
    "compare": "/api/compare?run=20260921-141320-sick&run=20260921-151320-cured&points=20",
}
ERRORS = {
    "error_unknown_run": "/api/runs/nobody",
    "error_unknown_tensor": f"{RUN}/series?tensor=mlp/dense_1/kernl",
    "error_unknown_kind": f"{RUN}/heatmap?kind=gradeint",
    "error_invalid_request": f"{RUN}/heatmap?columns=many",
    "error_not_found": "/api/nothing",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer(server: Server, name: str) -> None:
    check(name, server.get(ANSWERS[name]))


@pytest.mark.parametrize("name", ERRORS)
def test_error(server: Server, name: str) -> None:
    answer = server.request("GET", ERRORS[name])
    assert answer.status_code >= 400
    check(name, answer.json())


def test_report(server: Server) -> None:
    """Without its numbers, which are the answers above, and without what differs from day to day."""
    report = server.get(f"{RUN}/report?format=json")
    answers = dict.fromkeys(report["answers"])
    assert all(report["answers"].values())
    check("report", {**report, "gradwatch": "0.0.0", "made_at": "2026-09-21T17:00:00.000Z", "answers": answers})


async def test_live_messages(server: Server) -> None:
    """What a browser is sent on one run, in its order."""
    detail = server.get(RUN)
    summary = {name: value for name, value in detail.items() if name not in {"error", "streams"}}
    hub, subscriber, sent = Hub(), Subscriber(0.0), []
    hub.subscribers.add(subscriber)
    subscriber.subscribe(read_subscription('{"type": "subscribe", "runs": "all"}'))
    hub.publish_findings(detail["id"], server.get(f"{RUN}/findings")["findings"])
    for step in (119, 159):
        hub.publish_progress(
            detail["id"], last_step=step, marks=[(STARTED_AT + (step + 1) / 40, step)], cost=0.011, n_rows_lost=3
        )
    hub.publish_run(summary)

    async def take(text: str, /) -> None:
        sent.append(orjson.loads(text))

    sending = asyncio.create_task(subscriber.send_forever(take))
    await asyncio.sleep(0.02)
    hub.publish_deleted(detail["id"])
    await asyncio.sleep(0.02)
    sending.cancel()
    assert [message["type"] for message in sent] == ["run", "progress", "findings", "deleted"]
    check("live", sent)
