"""The server that the demo shows its runs on: the one that answers already, or one started for it.

Owns the child process and the HTTP client. Everything that the demo knows about a run comes through here, over the
same interface as the page's; nothing is read from the training process behind the server's back.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from typing import IO, Any, Final

import httpx

from gradwatch_server.demo.errors import DashboardError

__all__ = ["Dashboard"]

START_TIMEOUT_S: Final = 30.0
STOP_TIMEOUT_S: Final = 10.0
REQUEST_TIMEOUT_S: Final = 10.0
LOG_TAIL_BYTES: Final = 4000


class Dashboard:
    """A gradwatch server at one address, used as a context manager.

    On leaving, a server that was started here is stopped; one that was found running is left alone.

    Attributes:
        url: the server's address, without a slash at the end.
        token: what the server asks for, or None.
        is_ours: whether it was started here.
    """

    def __init__(self, *, host: str, port: int, token: str | None = None) -> None:
        """Notes the address; nothing is started yet."""
        # A server bound to every address is reached at the loopback one.
        reachable = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - only compared
        self.url = f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"
        self.is_ours = False
        self.token = token
        self._host, self._port = host, port
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # trust_env: a proxy of the environment is not meant for a server on this machine.
        self._client = httpx.Client(base_url=self.url, headers=headers, timeout=REQUEST_TIMEOUT_S, trust_env=False)

    def __enter__(self) -> Dashboard:
        """Finds the server or starts one.

        Raises:
            DashboardError: something else answers there, or the server does not come up.
        """
        try:
            if not self._answers():
                self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stops what was started here."""
        self.close()

    def close(self) -> None:
        """Stops the server if it was started here. Calling it again does nothing."""
        self._client.close()
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._log is not None:
            self._log.close()

    def wait(self) -> None:
        """Waits until the server that was started here ends, which is until someone stops it."""
        if self._process is not None:
            self._process.wait()

    def page_url(self, path: str) -> str:
        """The address of one of the pages, which opens in a browser that was never here before."""
        return f"{self.url}{path}?token={self.token}" if self.token else f"{self.url}{path}"

    def list_runs(self, project: str) -> list[dict[str, Any]]:
        """The newest runs of a project, with sparklines."""
        return list(self._get("/api/runs", project=project, limit=20)["runs"])

    def list_findings(self, run_id: str) -> list[dict[str, Any]]:
        """What the server found in a run, the leading finding first."""
        return list(self._get(f"/api/runs/{run_id}/findings")["findings"])

    def _get(self, path: str, **query: Any) -> dict[str, Any]:
        try:
            response = self._client.get(path, params=query)
            answer = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise DashboardError("dashboard_lost", f"The server at {self.url} no longer answers: {error}.") from error
        if not response.is_success:
            message = answer.get("message", response.reason_phrase)
            raise DashboardError("dashboard_refused", f"The server at {self.url} refused {path}: {message}", answer)
        return dict(answer)

    def _answers(self) -> bool:
        """Whether a gradwatch server answers; False if nothing does."""
        try:
            response = self._client.get("/healthz")
        except httpx.TransportError:
            return False
        try:
            is_gradwatch = response.is_success and response.json().get("status") == "ok"
        except (ValueError, AttributeError):
            is_gradwatch = False
        if not is_gradwatch:
            raise DashboardError(
                "port_in_use",
                f"Something answers at {self.url}, but it is no gradwatch server. Choose another port with --port.",
            )
        return True

    def _start(self) -> None:
        command = [sys.executable, "-m", "gradwatch_server", "serve", "--host", self._host, "--port", str(self._port)]
        self._log = tempfile.TemporaryFile(prefix="gradwatch-serve-")  # noqa: SIM115 - close() closes it
        # A session of its own: Ctrl-C reaches the demo alone, which stops the training first and the server after it.
        self._process = subprocess.Popen(  # noqa: S603 - our own module, on our own interpreter
            command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True
        )
        self.is_ours = True
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise DashboardError("server_failed", f"The server did not start:\n{self._read_log_tail()}")
            if self._answers():
                return
            time.sleep(0.1)
        raise DashboardError(
            "server_slow", f"The server did not answer within {START_TIMEOUT_S:.0f} s:\n{self._read_log_tail()}"
        )

    def _read_log_tail(self) -> str:
        if self._log is None:
            return ""
        end = self._log.seek(0, 2)
        self._log.seek(max(0, end - LOG_TAIL_BYTES))
        return self._log.read().decode(errors="replace").strip()
