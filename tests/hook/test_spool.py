"""The spool: in order, without holes, bounded, and honest about what it dropped."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import gradwatch.spool
from gradwatch._spool_file import SpoolFile
from gradwatch.errors import ProtocolError, SpoolError
from gradwatch.protocol import columns_message, decode, decode_rows, decode_scalars, rows_message, scalars_message
from gradwatch.spool import Spool, spool_path, spools

HELLO = {"type": "hello", "protocol": 1, "run": {"run_id": "r"}, "worker": 0}
TABLE = {"type": "tensors", "stream": 0, "optimizer": "adam", "tensors": [], "scalars": []}
END = {"type": "state", "state": "finished", "error": None, "last_step": 3}


def rows(n_rows: int = 2, stream: int = 0, n_tensors: int = 5) -> dict[str, Any]:
    return rows_message(
        seq=0,
        stream=stream,
        steps=np.arange(n_rows),
        times=np.arange(n_rows, dtype=np.float64),
        statistics=np.ones((n_rows, n_tensors, 12), np.float32),
        scalars=np.ones((n_rows, 1), np.float32),
        scalars_present=np.ones((n_rows, 1), np.uint8),
        n_lost=0,
        cost=None,
    )


def scalars(n_rows: int = 1) -> dict[str, Any]:
    numbers = np.arange(n_rows)
    return scalars_message(
        seq=0, name="loss", steps=numbers, times=numbers.astype(np.float64), values=numbers.astype(np.float32)
    )


def columns(n_rows: int = 2) -> dict[str, Any]:
    return columns_message(
        seq=0,
        stream=0,
        tensor="input",
        steps=np.arange(n_rows),
        times=np.arange(n_rows, dtype=np.float64),
        columns=np.ones((n_rows, 12, 3), np.float32),
        bad_rows=np.full((n_rows, 8), -1),
        n_bad_rows=np.zeros(n_rows, np.int64),
    )


def read_all(spool: Spool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    seq = spool.acknowledged_seq
    while chunk := spool.read_after(seq, limit_bytes=5000, limit_messages=7):
        found += [decode(payload) for _, payload in chunk]
        seq = chunk[-1][0]
    return found


def count_lost(messages: list[dict[str, Any]]) -> int:
    return sum(message["n_lost"] for message in messages if message["type"] == "rows")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return spool_path(tmp_path, "run")


@pytest.fixture
def spool(path: Path) -> Iterator[Spool]:
    spool = Spool(path)
    spool.hello = HELLO
    yield spool
    spool.close()


def files(path: Path) -> list[Path]:
    return list(path.parent.iterdir()) if path.parent.exists() else []


def test_numbers_messages_from_0_whoever_puts_them(spool: Spool) -> None:
    threads = [threading.Thread(target=lambda: [spool.put(scalars()) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [message["seq"] for message in read_all(spool)] == list(range(800))


def test_reads_disk_and_memory_as_one_log(spool: Spool, path: Path) -> None:
    for n in range(30):
        spool.put(rows(n_rows=n))
        if n in (9, 19):
            spool.to_disk()
    assert path.exists()
    assert [message["n_rows"] for message in read_all(spool)] == list(range(30))
    assert spool.n_rows_waiting == sum(range(30))


def test_nothing_touches_the_disk_before_it_is_asked_to(spool: Spool, path: Path) -> None:
    spool.put(TABLE)
    assert files(path) == []


def test_the_file_goes_when_all_is_acknowledged(spool: Spool, path: Path) -> None:
    for _ in range(10):
        spool.put(rows())
    spool.to_disk()
    spool.put(rows())
    spool.acknowledge(4)
    assert path.exists()
    assert [message["seq"] for message in read_all(spool)] == [5, 6, 7, 8, 9, 10]
    spool.acknowledge(10)
    assert files(path) == []
    assert (spool.n_waiting, spool.n_rows_waiting, spool.memory_bytes) == (0, 0, 0)
    spool.put(rows())
    spool.to_disk()
    assert [message["seq"] for message in read_all(spool)] == [11]


def test_limits_of_a_read(spool: Spool) -> None:
    for _ in range(10):
        spool.put(rows(n_rows=1))
    size = len(spool.read_after(-1, limit_bytes=1, limit_messages=9)[0][1])
    assert len(spool.read_after(-1, limit_bytes=1, limit_messages=9)) == 1
    assert len(spool.read_after(-1, limit_bytes=3 * size, limit_messages=9)) == 3
    assert len(spool.read_after(-1, limit_bytes=10**6, limit_messages=4)) == 4
    assert spool.read_after(-1, limit_bytes=0, limit_messages=4) == []
    assert spool.read_after(9, limit_bytes=10**6, limit_messages=4) == []


def test_memory_is_bounded_and_rows_go_before_scalars_before_all_else(path: Path) -> None:
    spool = Spool(path, memory_limit_bytes=20_000)
    spool.put(TABLE)
    for _ in range(500):
        spool.put(rows(n_rows=3))
        spool.put(scalars(n_rows=1))
        assert spool.memory_bytes <= 20_000
    spool.put(END)
    messages = read_all(spool)
    assert [message["seq"] for message in messages] == list(range(1002))
    assert (messages[0]["type"], messages[-1]["type"]) == ("tensors", "state")
    kept_rows = [message for message in messages if message["type"] == "rows" and message["n_rows"]]
    lost = count_lost(messages)
    assert sum(message["n_rows"] for message in kept_rows) + lost == 1500
    # The newest rows are there, the oldest are not.
    assert not kept_rows or kept_rows[0]["seq"] > 500
    assert spool.n_dropped >= lost


def test_columns_of_inputs_go_first_and_are_no_lost_rows(path: Path) -> None:
    spool = Spool(path, memory_limit_bytes=6000)
    spool.put(TABLE)
    for _ in range(4):
        spool.put(rows())
        spool.put(columns())
    found = read_all(spool)
    assert [message["seq"] for message in found] == list(range(9))
    assert sum(message["type"] == "columns" for message in found) < 4
    assert sum(message["type"] == "rows" and message["n_rows"] > 0 for message in found) == 4
    assert (count_lost(found), spool.n_dropped) == (0, 0)


def test_a_long_outage_without_a_disk_costs_no_memory(path: Path) -> None:
    path.parent.parent.mkdir(exist_ok=True)
    path.parent.write_text("a file where the folder should be")
    spool = Spool(path, memory_limit_bytes=10_000)
    spool.put(TABLE)
    for n in range(3000):
        spool.put(rows(n_rows=1, stream=n % 2))
        if n % 100 == 0:
            spool.to_disk()
    assert spool.disk_error is not None
    assert spool.memory_bytes <= 10_000
    messages = read_all(spool)
    assert len(messages) == 3001
    assert count_lost(messages) == spool.n_dropped
    assert count_lost(messages) + sum(message.get("n_rows", 0) for message in messages) == 3000
    lost_by_stream = dict.fromkeys((0, 1), 0)
    for message in messages[1:]:
        lost_by_stream[message["stream"]] += message["n_lost"] + message["n_rows"]
    assert lost_by_stream == {0: 1500, 1: 1500}
    assert spool.close() is False
    assert spool.n_rows_waiting == 0
    assert spool.n_dropped == 3000


def test_stand_ins_are_messages_that_a_server_can_read(path: Path) -> None:
    spool = Spool(path, memory_limit_bytes=3000)
    spool.put(scalars(n_rows=50))
    spool.put(TABLE)
    for _ in range(50):
        spool.put(rows(n_rows=2))
        spool.put(scalars(n_rows=4))
    for message in read_all(spool):
        if message["type"] == "rows" and not message["n_rows"]:
            arrays = decode_rows(message, n_tensors=5, n_scalars=1)
            assert arrays["statistics"].shape == (0, 5, 12)
        elif message["type"] == "scalars":
            assert message["name"] == "loss"
            decode_scalars(message)


def test_what_was_told_of_a_gap_stays_true_when_more_is_dropped(path: Path) -> None:
    spool = Spool(path, memory_limit_bytes=3000)
    for _ in range(20):
        spool.put(rows(n_rows=5))
    told = [decode(payload) for _, payload in spool.read_after(-1, limit_bytes=10**6, limit_messages=100)]
    for _ in range(20):
        spool.put(rows(n_rows=5))
    again = read_all(spool)
    stand_ins = [message for message in told if not message["n_rows"]]
    assert again[: len(stand_ins)] == stand_ins
    assert count_lost(again) == spool.n_dropped


def test_a_gap_acknowledged_in_part_is_not_told_twice(path: Path) -> None:
    spool = Spool(path, memory_limit_bytes=3000)
    for n in range(20):
        spool.put(rows(n_rows=5, stream=n % 2))
    first, second, *_ = read_all(spool)
    assert first["n_lost"] > 0
    assert second["n_lost"] > 0
    spool.acknowledge(0)
    rest = read_all(spool)
    assert rest[0] == second
    assert first["n_lost"] + count_lost(rest) == spool.n_dropped


def test_the_disk_bound_drops_the_oldest_rows(path: Path) -> None:
    spool = Spool(path, disk_limit_bytes=20_000)
    spool.put(TABLE)
    for _ in range(100):
        spool.put(rows(n_rows=2))
        spool.put(scalars())
        spool.to_disk()
    spool.put(END)
    assert spool.close() is False
    assert path.stat().st_size < 60_000
    left = Spool.open_left_over(path)
    messages = read_all(left)
    assert [message["seq"] for message in messages] == list(range(202))
    assert [message["type"] for message in messages].count("scalars") == 100
    kept = sum(message["n_rows"] for message in messages if message["type"] == "rows")
    assert 0 < kept < 200
    assert kept == left.n_rows_waiting - 100
    assert kept + count_lost(messages) == 200
    left.close()


def test_more_than_the_disk_may_hold_in_one_batch(path: Path) -> None:
    spool = Spool(path, disk_limit_bytes=3000)
    spool.put(TABLE)
    for _ in range(50):
        spool.put(rows(n_rows=1))
    spool.to_disk()
    messages = read_all(spool)
    assert len(messages) == 51
    assert messages[-1]["n_rows"] == 1
    assert count_lost(messages) == spool.n_dropped > 30
    spool.close()


@pytest.mark.parametrize("error", [sqlite3.OperationalError("database or disk is full"), OSError("no more")])
def test_a_failing_disk_keeps_messages_in_memory(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise error

    spool.put(TABLE)
    spool.put(rows())
    with monkeypatch.context() as patch:
        patch.setattr(SpoolFile, "write", fail)
        spool.to_disk()
        assert spool.disk_error == str(error)
        assert len(read_all(spool)) == 2
    spool.to_disk()
    assert spool.disk_error is None
    assert spool.memory_bytes == 0
    assert len(read_all(spool)) == 2


def test_a_disk_that_is_full_for_real(spool: Spool) -> None:
    """The system refuses to let the file grow, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for _ in range(40):
        spool.put(rows(n_rows=10))
    spool.to_disk()
    assert spool.disk_error is None
    for _ in range(400):
        spool.put(rows(n_rows=10))
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
    try:
        spool.to_disk()
        assert spool.disk_error is not None
        assert len(read_all(spool)) == 440
        spool.acknowledge(10)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    spool.to_disk()
    assert spool.disk_error is None
    messages = read_all(spool)
    assert [message["seq"] for message in messages] == list(range(11, 440))
    assert count_lost(messages) == 0


def test_a_damaged_file_is_counted_as_lost(spool: Spool, path: Path) -> None:
    spool.put(TABLE)
    for _ in range(50):
        spool.put(rows(n_rows=3))
    spool.to_disk()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))
    spool._file._connection.execute("PRAGMA shrink_memory")  # type: ignore[union-attr]
    spool.put(rows(n_rows=7))
    messages = read_all(spool)
    assert [message["seq"] for message in messages] == list(range(52))
    assert messages[0]["type"] == "tensors"
    assert messages[-1]["n_rows"] == 7
    assert sum(message.get("n_rows", 0) for message in messages) + count_lost(messages) == 157
    assert spool.disk_error is not None


def test_a_file_that_is_there_already_is_left_alone(path: Path) -> None:
    earlier = Spool(path)
    earlier.hello = HELLO
    earlier.put(TABLE)
    earlier.close()
    spool = Spool(path)
    spool.put(TABLE)
    spool.to_disk()
    assert spool.disk_error is not None
    left = Spool.open_left_over(path)
    assert left.n_waiting == 1
    left.close()


def test_what_cannot_be_encoded_takes_no_place(spool: Spool) -> None:
    with pytest.raises(ProtocolError, match="cannot encode"):
        spool.put({"type": "rows", "n_rows": object()})
    assert spool.put(rows()) == 0


def test_what_is_too_large_to_send(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradwatch.spool, "MESSAGE_SIZE_LIMIT_BYTES", 1000)
    spool.put(TABLE)
    spool.put(rows(n_rows=50))
    with pytest.raises(ProtocolError, match="too large"):
        spool.put(TABLE | {"scalars": ["x" * 2000]})
    messages = read_all(spool)
    assert [message["n_lost"] for message in messages[1:]] == [50]
    assert spool.n_dropped == 50


def test_rewind_for_a_server_that_forgot(spool: Spool) -> None:
    spool.put(scalars())
    spool.put(TABLE)
    for _ in range(10):
        spool.put(rows())
    spool.acknowledge(8)
    assert spool.rewind(-1) == 8
    messages = read_all(spool)
    assert [message["seq"] for message in messages] == list(range(12))
    assert [message["type"] for message in messages[:3]] == ["scalars", "tensors", "rows"]
    assert [message["n_rows"] for message in messages if message["type"] == "rows"] == [0] * 7 + [2] * 3
    spool.acknowledge(11)
    assert (spool.n_waiting, spool.n_rows_waiting, spool.memory_bytes) == (0, 0, 0)


def test_a_left_over_spool_holds_the_run_and_its_messages(spool: Spool, path: Path) -> None:
    spool.put(TABLE)
    spool.put(rows())
    spool.put(rows())
    spool.acknowledge(0)
    assert spool.close() is False
    assert spool.close() is False
    left = Spool.open_left_over(path)
    assert left.hello == HELLO
    assert (left.acknowledged_seq, left.newest_seq, left.n_rows_waiting) == (0, 2, 4)
    assert left.rewind(-1) == 0  # the table was acknowledged, and is still here
    assert [message["type"] for message in read_all(left)] == ["tensors", "rows", "rows"]
    left.acknowledge(2)
    assert left.close() is True
    assert files(path) == []


def test_a_file_is_held_by_one(spool: Spool, path: Path) -> None:
    spool.put(rows())
    spool.to_disk()
    with pytest.raises(SpoolError, match=r"run\.db: a running process holds it; expected a run that has ended"):
        Spool.open_left_over(path)
    code = f"from gradwatch.spool import Spool; from pathlib import Path; Spool.open_left_over(Path({str(path)!r}))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "a running process holds it" in other.stderr
    assert len(read_all(spool)) == 1


@pytest.mark.parametrize("content", [b"", b"this is no database, but long enough to look at" * 50])
def test_a_file_that_is_no_spool(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(SpoolError, match="expected a spool that gradwatch wrote"):
        Spool.open_left_over(path)
    path.unlink()
    with pytest.raises(SpoolError, match="no such file"):
        Spool.open_left_over(path)


def test_spools_are_listed_the_oldest_first(tmp_path: Path) -> None:
    assert spools(tmp_path) == []
    for age, worker in enumerate((0, 1, 2)):
        spool = Spool(spool_path(tmp_path, "run", worker))
        spool.put(TABLE)
        spool.close()
        os.utime(spool.path, (1000 - age, 1000 - age))
    assert [path.name for path in spools(tmp_path)] == ["run.2.db", "run.1.db", "run.db"]


def test_a_killed_process_leaves_what_it_wrote(path: Path) -> None:
    code = f"""
        import os, signal
        from pathlib import Path
        from gradwatch.spool import Spool
        spool = Spool(Path({str(path)!r}))
        spool.hello = {HELLO!r}
        for n in range(50):
            spool.put({{"type": "rows", "stream": 0, "n_rows": 1}})
            spool.to_disk()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = Spool.open_left_over(path)
    assert len(read_all(left)) == 50
    left.close()


def test_a_forked_child_leaves_the_file_to_its_parent(spool: Spool, path: Path) -> None:
    spool.put(rows())
    spool.to_disk()
    spool.put(rows())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads, from Python 3.12 on
        pid = os.fork()
    if pid == 0:
        spool.put(rows())
        spool.to_disk()
        spool.acknowledge(0)
        spool.close()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    spool.to_disk()
    spool.put(rows())
    with pytest.raises(SpoolError, match="a running process holds it"):
        Spool.open_left_over(path)
    assert [message["seq"] for message in read_all(spool)] == [0, 1, 2]
    spool.close()
    left = Spool.open_left_over(path)
    assert len(read_all(left)) == 3
    left.close()


class SpoolAgainstModel(RuleBasedStateMachine):
    """Whatever is done to a spool, in whatever order: the server gets one log, and every row is there or counted."""

    @initialize(memory=st.integers(2_000, 30_000), disk=st.integers(2_000, 30_000))
    def begin(self, memory: int, disk: int) -> None:
        self.directory = Path(tempfile.mkdtemp())
        self.memory, self.n_rows_put, self.n_reads = memory, 0, 0
        self.spool = Spool(self.directory / "run.db", memory_limit_bytes=memory, disk_limit_bytes=disk)
        self.spool.hello = HELLO
        self.spool.put(TABLE)
        self.types = ["tensors"]
        self.received: list[dict[str, Any]] = []

    @rule(n_rows=st.integers(1, 8), stream=st.integers(0, 2))
    def put_rows(self, n_rows: int, stream: int) -> None:
        self.spool.put(rows(n_rows=n_rows, stream=stream))
        self.n_rows_put += n_rows
        self.types.append("rows")

    @rule()
    def put_others(self) -> None:
        self.spool.put(scalars())
        self.spool.put(TABLE | {"stream": 1})
        self.types += ["scalars", "tensors"]

    @rule()
    def write(self) -> None:
        self.spool.to_disk()

    @rule(n=st.integers(1, 20), n_acknowledged=st.integers(0, 20))
    def read(self, n: int, n_acknowledged: int) -> None:
        chunk = self.spool.read_after(len(self.received) - 1, limit_bytes=10**9, limit_messages=n)
        self.n_reads += 1
        chunk = chunk[:n_acknowledged]
        self.received += [decode(payload) for _, payload in chunk]
        self.spool.acknowledge(len(self.received) - 1)

    @rule()
    def restart_as_sync(self) -> None:
        self.spool.close()
        if self.spool.n_waiting:
            left = Spool.open_left_over(self.spool.path)
            messages = read_all(left)
            assert [one["seq"] for one in messages] == list(range(len(self.received), len(self.types)))
            assert left.close() is False
            left = Spool.open_left_over(self.spool.path)
            assert (left.newest_seq, left.n_rows_waiting) == (self.spool.newest_seq, self.spool.n_rows_waiting)
            left.n_dropped, left._memory_limit_bytes = self.spool.n_dropped, self.memory
            left.disk_limit_bytes = self.spool.disk_limit_bytes
            self.spool = left
        else:
            assert files(self.spool.path) == []
            self.begin(self.memory, self.spool.disk_limit_bytes)

    @invariant()
    def memory_is_bounded(self) -> None:
        # What is never dropped: the newest message, tables, and a gap before each table and where a read broke off.
        unbroken = 2_500 + 750 * self.types.count("tensors") + 450 * self.n_reads
        assert self.spool.memory_bytes <= self.memory + unbroken

    def teardown(self) -> None:
        everything = self.received + read_all(self.spool)
        assert [message["seq"] for message in everything] == list(range(len(self.types)))
        assert [one["type"] for one in everything if one["type"] == "tensors"] == ["tensors"] * self.types.count(
            "tensors"
        )
        n_rows = sum(message["n_rows"] for message in everything if message["type"] == "rows")
        assert n_rows + count_lost(everything) == self.n_rows_put
        assert self.spool.disk_error is None
        self.spool.close()
        shutil.rmtree(self.directory)


TestSpoolAgainstModel = SpoolAgainstModel.TestCase
TestSpoolAgainstModel.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
