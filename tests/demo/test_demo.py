"""The demo as a user meets it: real scripts, real processes, a real server on a free port."""

import ast
import contextlib
import http.server
import io
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import httpx
import psutil
import pytest
from rich.console import Console

from gradwatch_server.demo import SCENARIOS, TOUR, run, show
from gradwatch_server.demo import training as training_module
from gradwatch_server.demo.dashboard import Dashboard
from gradwatch_server.demo.errors import DashboardError, MissingPackageError, TrainingError
from gradwatch_server.demo.scenario import choose_scenarios
from gradwatch_server.demo.training import Training, check_packages
from gradwatch_server.errors import NotFoundError

STEPS_TOGETHER = 40
STEPS_BEFORE_INTERRUPT = 30
"""So many that what a run says once, at its start, is over."""


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(autouse=True)
def _own_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADWATCH_DIR", str(tmp_path / "gradwatch"))
    for name in ("GRADWATCH_TOKEN", "GRADWATCH_URL", "GRADWATCH_DATABASE", "GRADWATCH_DISABLED"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def screen():
    return Console(record=True, width=120, file=io.StringIO())


@pytest.fixture
def stranger(port):
    """A web server that is none of ours."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def shorten(name: str, directory):
    """A scenario with fewer steps, otherwise word for word."""
    scenario = SCENARIOS[name]
    source = scenario.script.read_text(encoding="utf-8")
    source, n_replaced = re.subn(r"STEPS_TOGETHER = \d+", f"STEPS_TOGETHER = {STEPS_TOGETHER}", source)
    assert n_replaced == 1
    source, n_replaced = re.subn(r"STEPS_PER_TASK = \d+", "STEPS_PER_TASK = 1", source)
    assert n_replaced == 1
    script = directory / scenario.script.name
    script.write_text(source, encoding="utf-8")
    return replace(scenario, script=script)


class TestCatalogue:
    @pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.name)
    def test_script_is_a_users_own_with_the_one_line(self, scenario):
        tree = ast.parse(scenario.script.read_text(encoding="utf-8"))
        calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert calls.count("gradwatch.watch") == 1
        imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        assert [name for name in imported if name.startswith("gradwatch")] == ["gradwatch"]
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert scenario.name not in texts

    @pytest.mark.parametrize("name", [None, "", TOUR])
    def test_without_a_name_it_is_the_tour(self, name):
        assert [scenario.name for scenario in choose_scenarios(name)] == ["healthy", "norm-mask", "norm-mask-cured"]

    def test_unknown_name_lists_all(self):
        with pytest.raises(NotFoundError, match=r"'norm'; there are: tour, healthy, norm-mask, norm-mask-cured"):
            choose_scenarios("norm")

    def test_unknown_name_ends_with_2_before_anything_is_started(self, port, capsys):
        assert run("nope", host="127.0.0.1", port=port, open_browser=False) == 2
        assert "No scenario 'nope'" in capsys.readouterr().err
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False)


class TestDashboard:
    def test_something_else_at_the_port(self, stranger, port, capsys):
        assert run("healthy", host="127.0.0.1", port=port, open_browser=False) == 1
        message = capsys.readouterr().err
        assert "no gradwatch server" in message
        assert "--port" in message

    def test_server_that_cannot_start_tells_what_it_said(self, port, monkeypatch, tmp_path):
        blocked = tmp_path / "a-file"
        blocked.touch()
        monkeypatch.setenv("GRADWATCH_DIR", str(blocked / "below"))
        with pytest.raises(DashboardError, match=r"did not start:\n.*a-file"), Dashboard(host="127.0.0.1", port=port):
            pass

    @pytest.mark.parametrize(
        ("host", "url"),
        [("0.0.0.0", "http://127.0.0.1:8470"), ("::", "http://[::1]:8470"), ("server", "http://server:8470")],
    )
    def test_address_that_a_browser_can_open(self, host, url):
        dashboard = Dashboard(host=host, port=8470, token="secret")
        assert dashboard.url == url
        assert dashboard.page_url("/runs/1") == f"{url}/runs/1?token=secret"
        dashboard.close()


class TestTraining:
    def test_failure_tells_the_end_of_what_it_wrote(self, tmp_path):
        script = tmp_path / "broken.py"
        script.write_text("raise RuntimeError('the disk is on fire')")
        told = pytest.raises(TrainingError, match=r"broken\.py ended with status 1:\n(?s:.*)the disk is on fire")
        with Training(script, url="http://127.0.0.1:1", token=None) as training, told:
            training.read_result()

    def test_leaving_ends_it_as_an_interrupt_does(self, tmp_path):
        script = tmp_path / "long.py"
        script.write_text("import pathlib, time\npathlib.Path(__file__).with_suffix('.up').touch()\ntime.sleep(60)")
        with Training(script, url="http://127.0.0.1:1", token=None) as training:
            wait_for(script.with_suffix(".up").exists)
            process = psutil.Process(training.pid)
        assert not process.is_running()

    def test_leaving_interrupts_again_what_dropped_the_first(self, tmp_path, monkeypatch):
        monkeypatch.setattr(training_module, "STOP_TIMEOUT_S", 1.0)
        script = tmp_path / "deaf.py"
        script.write_text(
            "import signal, time\n"
            "def drop(*_):\n"
            "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "signal.signal(signal.SIGINT, drop)\n"
            f"open({str(tmp_path / 'ready')!r}, 'w').close()\n"
            "try:\n"
            "    time.sleep(60)\n"
            "except KeyboardInterrupt:\n"
            f"    open({str(tmp_path / 'heard')!r}, 'w').close()\n"
        )
        with Training(script, url="http://127.0.0.1:1", token=None) as training:
            wait_for((tmp_path / "ready").exists)
        assert not training.is_running
        assert (tmp_path / "heard").exists()

    def test_missing_package_names_the_command(self, monkeypatch):
        monkeypatch.setattr("gradwatch_server.demo.training.importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingPackageError, match=r"tensorflow, which .* Run: pip install tensorflow"):
            check_packages()


class TestPlaying:
    def test_sick_and_cured(self, port, screen, tmp_path, monkeypatch):
        """The sick one is found at the very step where the mask sets in; the cured one, with the same data, is not."""
        monkeypatch.setattr(Dashboard, "wait", lambda self: None)
        scenarios = [shorten("norm-mask", tmp_path), shorten("norm-mask-cured", tmp_path)]
        with Dashboard(host="127.0.0.1", port=port) as dashboard:
            show._play_all(screen, dashboard, scenarios, open_browser=False)
            cured, sick = dashboard.list_runs("demo")
            (finding,) = dashboard.list_findings(sick["id"])
            assert dashboard.list_findings(cured["id"]) == []
        assert [run["state"] for run in (sick, cured)] == ["finished", "finished"]
        assert [run["last_step"] for run in (sick, cured)] == [sick["config"]["steps"] - 1] * 2
        assert (finding["kind"], finding["first_step"]) == ("singular_gradient", STEPS_TOGETHER)
        assert finding["operation"]["type"] in ("Sqrt", "SqrtGrad")
        assert finding["source"]["file"].endswith("norm_mask.py")
        assert "tf.norm(ystar - y2, axis=0)" in finding["source"]["code"]
        text = screen.export_text()
        assert finding["title"] in text
        assert f"healthy over {cured['config']['steps']} steps" in text
        assert f"/compare?run={sick['id']}&run={cured['id']}" in text

    def test_interrupt_ends_the_training_and_the_server(self, port):
        command = [sys.executable, "-m", "gradwatch_server", "demo", "healthy", "--port", str(port), "--no-browser"]
        demo = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 no other thread holds a lock that one signal call needs
        )
        try:
            for line in demo.stdout:
                if line.startswith("live at"):
                    break
            children = psutil.Process(demo.pid).children(recursive=True)
            wait_for(lambda: (list_runs(port)[0]["last_step"] or 0) >= STEPS_BEFORE_INTERRUPT)
            demo.send_signal(signal.SIGINT)
            rest, _ = demo.communicate(timeout=120)
        finally:
            demo.kill()
            demo.wait()
            demo.stdout.close()
        assert demo.returncode == 130, rest
        assert "Stopped. What was recorded is kept." in rest
        assert len(children) >= 2
        assert [child for child in children if child.is_running()] == []
        listed = subprocess.run(
            [sys.executable, "-m", "gradwatch_server", "runs", "--json"], capture_output=True, text=True, check=True
        )
        (recorded,) = json.loads(listed.stdout)["runs"]
        assert recorded["state"] in ("finished", "crashed")
        assert recorded["last_step"] > 0


def heed_interrupts() -> None:
    """Where a shell started the tests in the background, their children would ignore an interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def list_runs(port: int) -> list[dict]:
    return httpx.get(f"http://127.0.0.1:{port}/api/runs", trust_env=False).json()["runs"]


def wait_for(is_true, timeout_s: float = 120.0) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.HTTPError, IndexError):
            if is_true():
                return
        time.sleep(0.05)
    raise AssertionError(f"not true within {timeout_s} s")
