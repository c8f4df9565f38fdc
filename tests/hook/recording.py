"""What the hook said, message by message, in place of the sender; and what it meant, step by step."""

import threading

import numpy as np

from gradwatch.protocol import STATISTICS, decode, decode_columns, decode_rows, decode_scalars, encode
from tests.numerics.reference import NAMES

assert NAMES == STATISTICS, "the reference speaks of the same statistics in the same order"


class Collector:
    """Stands where the sender stands: takes the same arguments, keeps every message as it would travel."""

    def __init__(self, *, url, token, run, worker, spool, on_findings, on_notice, on_control=None):
        self.url, self.token, self.run, self.worker = url, token, decode(encode({"type": "hello", "run": run})), worker
        self.messages = []
        self.findings = []
        self.ask = on_control
        self.busy_s = 0.0
        self.is_connected = True
        self.is_closed = False
        self._lock = threading.Lock()

    def start(self):
        pass

    def put(self, message):
        with self._lock:
            self.messages.append(decode(encode(message | {"seq": len(self.messages)})))

    def wait_for_findings(self, timeout_s):
        return list(self.findings)

    def close(self, timeout_s):
        self.is_closed = True
        return True


class Recording:
    """The messages of one run, decoded: rows by stream, values by kind and tensor."""

    def __init__(self, messages):
        self.tables = {m["stream"]: m for m in messages if m["type"] == "tensors"}
        self.states = [m for m in messages if m["type"] == "state"]
        self.rows = {stream: [] for stream in self.tables}
        known = set()
        for message in messages:
            if message["type"] == "tensors":
                known.add(message["stream"])
            if message["type"] == "rows":
                assert message["stream"] in known, "a table comes before its rows"
                table = self.tables[message["stream"]]
                counts = {f"n_{what}": len(table[what]) for what in ("tensors", "scalars", "operations")}
                self.rows[message["stream"]].append(decode_rows(message, **counts, statistics=table["statistics"]))
        self.columns = [decode_columns(m) for m in messages if m["type"] == "columns"]
        self.logged = {}
        for message in (decode_scalars(m) for m in messages if m["type"] == "scalars"):
            values = self.logged.setdefault(message["name"], {})
            for step, value in zip(message["steps"].tolist(), message["values"].tolist(), strict=True):
                assert step not in values, f"{message['name']} was logged twice for step {step}"
                values[step] = value

    @property
    def stream(self):
        """The number of the only stream."""
        (only,) = self.tables
        return only

    @property
    def n_lost(self):
        return sum(message["n_lost"] for rows in self.rows.values() for message in rows)

    @property
    def n_skipped(self):
        return sum(message["n_skipped"] for rows in self.rows.values() for message in rows)

    def steps(self, stream=None):
        """The steps of a stream's rows, in the order in which they were sent."""
        rows = self.rows[self.stream if stream is None else stream]
        return [int(step) for message in rows for step in message["steps"]]

    def tensors(self, kind="gradient", stream=None):
        """The names of a stream's tensors of one kind, in the table's order."""
        table = self.tables[self.stream if stream is None else stream]
        return [tensor["tensor"] for tensor in table["tensors"] if tensor["kind"] == kind]

    def statistics(self, kind, tensor, stream=None):
        """The rows of one tensor: float32 ``[n_steps, 12]``."""
        stream = self.stream if stream is None else stream
        keys = [(one["kind"], one["tensor"]) for one in self.tables[stream]["tensors"]]
        blocks = [message["statistics"][:, keys.index((kind, tensor))] for message in self.rows[stream]]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(STATISTICS)), np.float32)

    def scalar(self, name, stream=None):
        """A scalar's values by step, where it was captured."""
        stream = self.stream if stream is None else stream
        place = self.tables[stream]["scalars"].index(name)
        return {
            int(step): float(values[place])
            for message in self.rows[stream]
            for step, values, present in zip(
                message["steps"], message["scalars"], message["scalars_present"], strict=True
            )
            if present[place]
        }

    def logged_arrays(self):
        """Every logged scalar's name with its steps and values, in order of steps."""
        for name, values in self.logged.items():
            steps = sorted(values)
            yield name, (np.array(steps, np.int64), np.array([values[step] for step in steps], np.float64))
