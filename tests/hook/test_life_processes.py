"""Life around a watched training that needs processes of its own: data loaders, forked and spawned, and notebooks."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gradwatch.protocol import decode, encode
from tests.hook.ingest_server import Database, IngestServer
from tests.hook.recording import Recording

ROOT = Path(__file__).parents[2]
OPENING = f"""
    import sys
    sys.path.insert(0, {str(ROOT)!r})
    import os, signal, multiprocessing
    import keras, numpy as np, tensorflow as tf
    import gradwatch
    from tests.hook import training
    from tests.hook.test_capture import X, Y, adam, compiled, fit
"""


class Runs(dict):
    """What came, run by run, in the order in which the runs began."""

    def __init__(self):
        super().__init__()
        self.n_connections = 0

    async def serve(self, websocket, _):
        self.n_connections += 1
        hello = decode(await websocket.recv())
        run_id = hello["run"]["run_id"]
        database = self.setdefault(run_id, Database())
        welcome = {"protocol": 1, "run_id": run_id, "last_seq": database.last_seq, "server_version": "0"}
        await websocket.send(encode({"type": "welcome", **welcome}))
        async for data in websocket:
            database.take(decode(data))
            through = {"run_id": run_id, "through_seq": database.last_seq, "findings": []}
            await websocket.send(encode({"type": "ack", "seq": database.last_seq}))
            await websocket.send(encode({"type": "findings", **through}))

    def recordings(self):
        return [Recording(database.log) for database in self.values()]


@pytest.fixture
def run(tmp_path):
    """Runs a script against a server; gives what the server took, and the process."""
    runs = Runs()
    server = IngestServer(runs.serve)

    def run_script(script, **environment):
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(OPENING) + textwrap.dedent(script))
        own = {"GRADWATCH_URL": server.url, "GRADWATCH_DIR": str(tmp_path / "home"), "IPYTHONDIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, str(path)],
            env=os.environ | own | environment, capture_output=True, text=True, timeout=280, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr[-4000:]
        return runs, done

    yield run_script
    server.stop()


LOADERS = """
    model = compiled(training.sequential(), adam())
    watch = gradwatch.watch(model, capture="gradient")  # a spawned worker imports this line, too

    def load(i):
        part = slice(16 * i, 16 * i + 16)
        return X[part], Y[part]

    def load_in_processes():
        with multiprocessing.get_context("fork").Pool(2) as pool:
            yield from pool.imap(load, range(4))

    class Loaded(keras.utils.PyDataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return load(i)

    def end_as_a_program_ends():
        "A forked copy of the training that logs, asks, closes, and runs its exit handlers."
        assert watch.is_closed and watch.findings() == []
        watch.log(loss=1.0)
        watch.close()
        import atexit
        atexit._run_exitfuncs()

    if __name__ == "__main__":
        signature = (tf.TensorSpec([None, 5]), tf.TensorSpec([None], tf.int64))
        generated = tf.data.Dataset.from_generator(load_in_processes, output_signature=signature)
        model.fit(generated, epochs=1, verbose=0)
        model.fit(Loaded(workers=2, use_multiprocessing=True), epochs=1, verbose=0)
        context = multiprocessing.get_context("fork")
        child = context.Process(target=end_as_a_program_ends)
        child.start()
        child.join()
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            spawned = pool.map(load, range(4))
        for x, y in spawned:
            model.train_on_batch(x, y)
        print("child", child.exitcode, watch.findings())
"""


def test_forked_and_spawned_processes_send_nothing_and_close_nothing(run):
    runs, done = run(LOADERS)
    assert done.stdout.splitlines()[-1] == "child 0 []"
    (recording,) = runs.recordings()
    assert runs.n_connections == 1
    assert recording.steps() == list(range(12))
    assert [(state["state"], state["last_step"]) for state in recording.states] == [("finished", 11)]
    assert recording.logged == {}
    lines = [line for line in done.stderr.splitlines() if line.startswith("gradwatch: ")]
    assert [line.split()[1] for line in lines] == ["watching", "healthy"], "the spawned worker said nothing either"


NOTEBOOK = '''
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.user_ns.update(globals())

    def cell(text):
        result = shell.run_cell(text, store_history=True)
        return result.error_in_exec or result.error_before_exec

    MAKE = """
    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                signal.raise_signal(signal.SIGINT)

    def build():
        return compiled(training.sequential(), adam())
    """
    TRAIN = """
    model = build()
    watch = gradwatch.watch(model, capture="gradient")
    model.fit(X, Y, batch_size=16, verbose=0)
    """
    import textwrap
    MAKE, TRAIN = textwrap.dedent(MAKE), textwrap.dedent(TRAIN)
    cell(MAKE)
'''


def test_a_notebook_is_interrupted_goes_on_and_fails_and_its_run_is_finished(run):
    pytest.importorskip("IPython", reason="IPython is not installed")
    script = textwrap.dedent(NOTEBOOK) + textwrap.dedent("""
        errors = [
            cell(TRAIN),
            cell("model.fit(X, Y, batch_size=16, verbose=0, callbacks=[Interrupt()])"),
            cell("assert not watch.is_closed; fit(model, epochs=1)"),
            cell("raise ValueError('a cell that failed')"),
        ]
        print(*(type(error).__name__ for error in errors), int(shell.user_ns["model"].optimizer.iterations))
    """)
    runs, done = run(script)
    assert done.stdout.splitlines()[-1] == "NoneType KeyboardInterrupt NoneType ValueError 10"
    (recording,) = runs.recordings()
    assert recording.steps() == list(range(10))
    assert [(state["state"], state["error"]) for state in recording.states] == [("finished", None)]


def test_a_cell_run_again_begins_a_new_run_and_ends_the_one_before(run):
    """With a new model, though the notebook's output still holds the old one; and with the same model."""
    pytest.importorskip("IPython", reason="IPython is not installed")
    script = textwrap.dedent(NOTEBOOK) + textwrap.dedent("""
        cell(TRAIN)
        cell(TRAIN)
        cell("first = watch; model = model; other = compiled(training.functional(), adam())")
        cell("second = gradwatch.watch(other, capture='gradient'); fit(other, epochs=1)")
        cell("assert not first.is_closed")
        AGAIN = "watch = gradwatch.watch(model, capture='gradient'); fit(model, epochs=1)"
        cell(AGAIN)
        cell(AGAIN)
        error = cell("assert first.is_closed and not second.is_closed and not watch.is_closed")
        print(error)
    """)
    runs, done = run(script)
    assert done.stdout.splitlines()[-1] == "None"
    recordings = runs.recordings()
    assert [one.steps() for one in recordings] == [list(range(4))] * 5
    assert [[state["state"] for state in one.states] for one in recordings] == [["finished"]] * 5
    lines = [line for line in done.stderr.splitlines() if "is closed; a new run begins" in line]
    assert ["by this cell" in line for line in lines] == [True, False, False]
