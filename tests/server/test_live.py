"""The browser's socket: soon, coalesced, bounded."""

import asyncio
import time

import orjson
import pytest
from websockets.sync.client import ClientConnection

from gradwatch_server.errors import MessageError
from gradwatch_server.live import Hub, Pace, Subscriber, read_subscription
from tests.serving import Server, connect
from tests.synthetic import SyntheticHook, SyntheticRun, stream


def subscribe(socket: ClientConnection, runs: list[str] | str) -> None:
    socket.send(orjson.dumps({"type": "subscribe", "runs": runs}).decode())
    assert receive(socket)["type"] == "subscribed"


def receive(socket: ClientConnection, timeout_s: float = 60.0) -> dict:
    return orjson.loads(socket.recv(timeout=timeout_s))


def collect(socket: ClientConnection, until, timeout_s: float = 60.0) -> list[dict]:
    messages = []
    end = time.monotonic() + timeout_s
    while not messages or not until(messages[-1]):
        messages.append(receive(socket, max(0.01, end - time.monotonic())))
    return messages


def test_a_run_is_seen_from_its_appearance_to_its_end(server: Server) -> None:
    run = SyntheticRun("sick", 2, 200)

    def is_over(message: dict) -> bool:
        summary = message.get("run", {})
        return summary.get("state") == "finished" and summary["health"]["level"] == "critical"

    with connect(server.ws_url + "/ws/live") as socket:
        subscribe(socket, "all")
        stream(server.url, run)
        messages = collect(socket, is_over)
        mine = [one for one in messages if run.run_id in {one.get("run_id"), one.get("run", {}).get("id")}]
        summaries = [one["run"] for one in mine if one["type"] == "run"]
        assert summaries[0]["state"] == "live"
        if not any(one["type"] == "findings" for one in mine):
            mine += collect(socket, lambda one: one["type"] == "findings")
        findings = [one["findings"] for one in mine if one["type"] == "findings"][-1]
        assert findings[0]["severity"] == "critical"

        def is_last(one: dict) -> bool:  # the burst with the run's end may not be its last
            return one["type"] == "progress" and one["last_step"] == run.steps - 1

        if not any(is_last(one) for one in mine):
            mine += collect(socket, is_last)
        progress = next(one for one in reversed(mine) if is_last(one))
        assert progress["n_rows_lost"] == 0
        assert progress["cost"] == pytest.approx(0.011)
        assert progress["steps_per_s"] == pytest.approx(run.steps_per_s, rel=0.01)


def test_findings_reach_the_page_within_a_second(server: Server) -> None:
    run = SyntheticRun("sick", 3, 200)
    log = list(run.log())
    onset = next(i for i, one in enumerate(log) if one["type"] == "rows" and run.onset < i * run.rows_per_message)
    with connect(server.ws_url + "/ws/live") as socket, SyntheticHook(server.url, run) as hook:
        hook.greet()
        subscribe(socket, [run.run_id])
        for message in log[: onset - 1]:
            hook.send(message)
        hook.wait_for_verdict(onset - 2)
        time.sleep(server.settings.live_interval_s)
        sent_at = time.monotonic()
        for message in log[onset - 1 : onset + 1]:
            hook.send(message)
        collect(socket, lambda one: one["type"] == "findings" and "NaN" in str(one["findings"]), 5)
        assert time.monotonic() - sent_at < 1.0


def test_only_what_was_asked_for_is_sent_and_a_deletion_too(server: Server) -> None:
    wanted, other = SyntheticRun("healthy", 2, 16), SyntheticRun("healthy", 2, 16)
    with connect(server.ws_url + "/ws/live") as socket:
        subscribe(socket, [wanted.run_id])
        stream(server.url, other)
        stream(server.url, wanted)
        server.request("DELETE", f"/api/runs/{wanted.run_id}")
        messages = collect(socket, lambda one: one["type"] == "deleted")
    assert messages[-1] == {"type": "deleted", "run_id": wanted.run_id}
    assert other.run_id not in str(messages)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("no json", "invalid_message"),
        ("[]", "unknown_type"),
        ('{"type": "unsubscribe"}', "unknown_type"),
        ('{"type": "subscribe", "runs": "some"}', "invalid_message"),
        ('{"type": "subscribe", "runs": [1]}', "invalid_message"),
        (b"\x00", "invalid_message"),
    ],
)
def test_a_mistake_is_told_and_the_socket_stays(server: Server, message: str | bytes, code: str) -> None:
    with connect(server.ws_url + "/ws/live") as socket:
        socket.send(message)
        error = receive(socket)
        assert (error["type"], error["code"]) == ("error", code)
        assert {"message", "detail"} < set(error)
        subscribe(socket, "all")


def test_no_more_browsers_than_allowed(start_server) -> None:
    server = start_server(live_client_limit=1)
    with connect(server.ws_url + "/ws/live") as first:
        subscribe(first, "all")
        with connect(server.ws_url + "/ws/live") as second:
            assert receive(second)["code"] == "too_many_browsers"


def test_too_long_a_subscription_is_refused() -> None:
    with pytest.raises(MessageError, match='use "all"'):
        read_subscription(orjson.dumps({"type": "subscribe", "runs": ["x"] * 1001}).decode())


class Reader:
    """A browser's end under a test's control: it takes a message only when told to."""

    def __init__(self) -> None:
        self.taken: list[dict] = []
        self.may_take = asyncio.Event()

    async def __call__(self, text: str, /) -> None:
        await self.may_take.wait()
        self.taken.append(orjson.loads(text))


async def test_a_slow_browser_gets_the_newest_never_a_backlog() -> None:
    reader, subscriber, hub = Reader(), Subscriber(0.01), Hub()
    hub.subscribers.add(subscriber)
    subscriber.subscribe(None)
    sending = asyncio.create_task(subscriber.send_forever(reader))
    for step in range(1000):
        hub.publish_progress("run", last_step=step, marks=[(float(step), step)], cost=None, n_rows_lost=0)
        if step % 100 == 0:
            await asyncio.sleep(0)
    reader.may_take.set()
    await asyncio.sleep(0.1)
    sending.cancel()
    steps = [message["last_step"] for message in reader.taken]
    # The one that was under way, and the newest.
    assert len(steps) == 2
    assert steps[-1] == 999


async def test_one_run_is_told_of_at_most_so_often_and_runs_do_not_wait_for_each_other() -> None:
    now = 0.0
    reader, subscriber = Reader(), Subscriber(1000.0, clock=lambda: now)
    reader.may_take.set()
    subscriber.subscribe(None)
    sending = asyncio.create_task(subscriber.send_forever(reader))

    async def offer(run: str, step: int) -> None:
        subscriber.offer(run, {"type": "progress", "run_id": run, "last_step": step})
        for _ in range(5):
            await asyncio.sleep(0)

    await offer("a", 1)
    await offer("a", 2)
    await offer("b", 1)
    sending.cancel()
    assert [(one["run_id"], one["last_step"]) for one in reader.taken] == [("a", 1), ("b", 1)]


async def test_a_deletion_takes_the_place_of_what_waits() -> None:
    reader, subscriber, hub = Reader(), Subscriber(0.01), Hub()
    hub.subscribers.add(subscriber)
    subscriber.subscribe({"run"})
    hub.publish_findings("run", [])
    hub.publish_deleted("run")
    hub.publish_deleted("another")
    reader.may_take.set()
    sending = asyncio.create_task(subscriber.send_forever(reader))
    await asyncio.sleep(0.05)
    sending.cancel()
    assert reader.taken == [{"type": "deleted", "run_id": "run"}]


def test_pace_is_of_the_last_ten_seconds() -> None:
    pace = Pace()
    assert pace.steps_per_s is None
    for second in range(100):
        pace.note(float(second), second * 10)
    for second in range(100, 120):
        pace.note(float(second), 1000 + (second - 100) * 2)
    assert pace.steps_per_s == pytest.approx(2.0)
    # A clock that goes back is not believed.
    pace.note(0.0, 10**6)
    assert pace.steps_per_s == pytest.approx(2.0)
