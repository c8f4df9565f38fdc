"""The command line, as a user meets it: what it prints, where, and with which exit code."""

import io
import json
import socket
import sys
from pathlib import Path

import pytest

from gradwatch.spool import Spool, spool_path
from gradwatch_server import __version__, cli, entry
from gradwatch_server.settings import Settings, read_settings
from gradwatch_server.store import Store
from tests.serving import Server, ServerProcess, free_port
from tests.synthetic import SyntheticRun, stream


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A GRADWATCH_DIR with one healthy and one sick run; its server is gone again."""
    directory = tmp_path_factory.mktemp("home")
    with Server(directory) as server:
        stream(server.url, SyntheticRun("healthy", 2, 40, run_id="fine-1", name="fine", started_at=1.7e9))
        stream(server.url, SyntheticRun("sick", 2, 200, run_id="sick-1", name="[ill]", started_at=1.7e9 + 60))
        stream(server.url, SyntheticRun("healthy", 2, 8, run_id="sick-2", started_at=1.7e9 + 90))
    return directory


@pytest.fixture
def gradwatch(home: Path, monkeypatch, capsys):
    """Runs a command; returns exit code, output and errors."""
    monkeypatch.setenv("GRADWATCH_DIR", str(home))
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gradwatch", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.run()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return int(exit_.value.code or 0), out, err

    return run


def test_runs_are_listed(gradwatch) -> None:
    code, out, _ = gradwatch("runs")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["RUN", "sick-2", "sick-1", "fine-1"]
    assert "[ill]" in lines[2]
    assert "NaN" in lines[2]
    assert "healthy" in lines[3]
    code, out, _ = gradwatch("runs", "--json", "--limit", "1")
    listed = json.loads(out)
    assert (listed["total"], [run["id"] for run in listed["runs"]]) == (3, ["sick-2"])


def test_findings_say_what_is_wrong_and_fail(gradwatch) -> None:
    code, out, _ = gradwatch("findings", "sick-1")
    assert code == 1
    assert out.startswith("critical ")
    code, out, _ = gradwatch("findings", "sick-1", "--json")
    assert code == 1
    assert json.loads(out)["findings"][0]["severity"] == "critical"
    code, out, _ = gradwatch("findings", "fine")
    assert (code, out) == (0, "healthy: nothing found in 40 steps of fine.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("findings", "nobody"), 2, "There is no run 'nobody'; \"gradwatch runs\" lists them."),
        (("findings", "sick"), 2, "2 runs begin with 'sick': sick-2, sick-1"),
        (("delete", "nobody", "--yes"), 2, "There is no run 'nobody'"),
        (("serve", "--host", "0.0.0.0"), 2, "Set GRADWATCH_TOKEN to a secret"),
        (("serve", "--port", "99999"), 2, "--port: found 99999"),
        (("serve", "--host", "203.0.113.7", "--insecure"), 3, "203.0.113.7"),
        (("serve", "--database", "mysql+nothing://x"), 2, "database: found"),
        (("runs", "--database", "/proc/nowhere/x.db"), 3, "Cannot make the database's directory"),
        (("unknown",), 2, "No such command"),
    ],
)
def test_a_mistake_is_one_clear_line(gradwatch, arguments, code, says) -> None:
    found, _, err = gradwatch(*arguments)
    assert found == code
    assert says in err


def test_a_port_in_use_is_told(gradwatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = gradwatch("serve", "--port", str(port))
    assert code == 3
    assert err.startswith(f"gradwatch: Port {port} on 127.0.0.1 is in use")
    assert len(err.splitlines()) == 1


def test_a_newer_database_is_told(gradwatch, tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    store = Store(read_settings(database=str(file)))
    update = "update alembic_version set version_num = '0099'"
    store.writer.submit(lambda connection: connection.exec_driver_sql(update)).result()
    store.close()
    for arguments in (("runs",), ("serve", "--port", "0")):
        code, _, err = gradwatch(*arguments, "--database", str(file))
        assert code == 3
        assert "Upgrade with \"pip install -U 'gradwatch[server]'\"" in err


def test_a_run_is_deleted_after_a_question(gradwatch, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GRADWATCH_DIR", str(tmp_path))
    with Server(tmp_path) as server:
        stream(server.url, SyntheticRun("healthy", 2, 16, run_id="gone"))
        monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody answers
        assert gradwatch("delete", "gone")[0] == 1
        assert server.request("GET", "/api/runs/gone").status_code == 200
        assert gradwatch("delete", "go", "--yes")[1] == "Deleted gone.\n"
        # The server that runs beside it has noticed.
        assert server.request("GET", "/api/runs/gone").status_code == 404
    assert gradwatch("runs")[1].startswith("No runs yet.")


def test_nothing_waits(gradwatch) -> None:
    code, out, _ = gradwatch("sync")
    assert (code, out.startswith("Nothing waits under ")) == (0, True)
    assert json.loads(gradwatch("sync", "--json")[1]) == {"spools": []}


def test_what_waits_is_delivered_and_without_a_server_it_stays(gradwatch, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GRADWATCH_DIR", str(tmp_path))
    path = leave(SyntheticRun("healthy", 2, 24, run_id="waited"), tmp_path)
    code, out, _ = gradwatch("sync", "--url", f"http://127.0.0.1:{free_port()}")
    assert code == 1
    assert out.startswith("waited.db: ")
    assert path.exists()
    with Server(tmp_path) as server:
        code, out, _ = gradwatch("sync", "--url", server.url, "--json")
        delivered = json.loads(out)["spools"]
        assert code == 0
        assert [(one["n_messages"], one["error"]) for one in delivered] == [(5, None)]
        assert server.get("/api/runs/waited")["state"] == "finished"
        assert server.get("/api/runs/waited/series", kind="scalar", tensor="loss")["steps"] == list(range(24))
    assert not path.exists()


def leave(run: SyntheticRun, directory: Path) -> Path:
    """A spool as a training leaves it that could not reach the server."""
    path = spool_path(directory, run.run_id)
    spool = Spool(path)
    spool.hello = run.hello()
    for message in run.log():
        spool.put(message)
    spool.close()
    return path


def test_what_waits_for_a_deleted_run_is_dropped_or_kept_as_asked(gradwatch, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GRADWATCH_DIR", str(tmp_path))
    run = SyntheticRun("healthy", 2, 24, run_id="unwanted")
    with Server(tmp_path) as server:
        stream(server.url, run)
        assert server.request("DELETE", "/api/runs/unwanted").status_code == 204
        path = leave(run, tmp_path)
        code, out, _ = gradwatch("sync", "--url", server.url, "--keep-deleted")
        assert (code, path.exists()) == (1, True), out
        assert "the run was deleted on the server at 127.0.0.1:" in out
        assert "24 rows that waited for it are kept" in out
        code, out, _ = gradwatch("sync", "--url", server.url, "--json")
        assert code == 0, "nothing is left that could be delivered"
        (outcome,) = json.loads(out)["spools"]
        assert (outcome["n_messages"], outcome["error"]) == (0, None)
        assert outcome["dropped"].endswith("24 rows that waited for it are dropped")
        assert not path.exists()
        path = leave(run, tmp_path)
        _, out, _ = gradwatch("sync", "--url", server.url)
        assert out.startswith("unwanted.db: the run was deleted on the server at 127.0.0.1:")
        assert gradwatch("sync", "--url", server.url)[1].startswith("Nothing waits under ")


def test_serve_serves_until_stopped(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, token="secret")
    with server:
        assert server.get("/api/runs") == {"runs": [], "total": 0}
        process = server._process
    assert process is not None
    assert process.returncode == 0
    assert server.log.read_text() == (
        f"gradwatch {__version__}: {server.url}  (Ctrl+C stops)\nHooks and browsers need GRADWATCH_TOKEN.\n"
    )


def test_without_the_extra_one_line_says_what_to_install(monkeypatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "gradwatch_server.cli")
    with pytest.raises(SystemExit) as exit_:
        entry.main()
    assert exit_.value.code == 3
    assert capsys.readouterr().err == "gradwatch: typer is not installed; run: pip install 'gradwatch[server]'\n"


def test_every_setting_is_explained_and_read_from_the_environment(monkeypatch) -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, f"{name} has no help"
        assert field.description.endswith("."), name
    monkeypatch.setenv("GRADWATCH_PORT", "1234")
    monkeypatch.setenv("GRADWATCH_TOKEN", "hidden")
    settings = read_settings(host=None)
    assert (settings.port, settings.host, settings.secret) == (1234, "127.0.0.1", "hidden")
    assert "hidden" not in repr(settings)
    assert read_settings(port=5678).port == 5678
    with pytest.raises(Exception, match="frozen"):
        settings.port = 1


def test_every_setting_and_exit_code_stands_in_the_manual() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(" `") for line in manual.splitlines() if line.startswith("| `")}
    assert rows == set(Settings.model_fields)
    for code in (0, cli.CRITICAL_FOUND, cli.MISTAKE, cli.FAILURE):
        assert f"\n| {code} | " in manual
