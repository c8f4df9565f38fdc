"""Who is let in: token, cookie, origin, host name."""

import httpx
import orjson
import pytest
from websockets.exceptions import ConnectionClosed

from gradwatch.protocol import decode
from gradwatch_server.access import COOKIE
from tests.serving import Server, connect
from tests.synthetic import SyntheticHook, SyntheticRun, stream

TOKEN = "open sesame"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("guarded"), token=TOKEN) as running:
        yield running


@pytest.fixture
def stranger(guarded: Server):
    with httpx.Client(base_url=guarded.url, trust_env=False) as client:
        yield client


def first_word(server: Server, path: str, **headers: str) -> tuple[dict, int]:
    """What a socket is told before it says anything, and with which code it is closed."""
    with connect(server.ws_url + path, additional_headers=headers) as socket:
        data = socket.recv(timeout=60)
        word = decode(data) if isinstance(data, bytes) else orjson.loads(data)
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=60)
    return word, closed.value.rcvd.code


@pytest.mark.parametrize("path", ["/api/runs", "/api/runs/x", "/api/figures/run", "/metrics"])
@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic b3Blbg==", "Bearer", "Bearer \xff"])
def test_without_the_token_nothing_is_told(stranger: httpx.Client, path: str, header: str | None) -> None:
    headers = {"authorization": header.encode("latin-1")} if header else {}
    answer = stranger.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthorized"
    assert "GRADWATCH_TOKEN" in answer.json()["message"]
    assert TOKEN not in answer.text


def test_what_everyone_may_see(stranger: httpx.Client) -> None:
    for path in ("/healthz", "/login", "/assets/main.js"):
        assert stranger.get(path).status_code == 200


def test_a_page_leads_to_the_login_and_back(stranger: httpx.Client) -> None:
    answer = stranger.get("/runs/x?kind=weight")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=%2Fruns%2Fx%3Fkind%3Dweight"
    assert stranger.post("/login", json={"token": "guess"}).status_code == 401
    signed = stranger.post("/login", json={"token": TOKEN})
    assert signed.status_code == 204
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    # The cookie is no copy of the token.
    assert TOKEN not in cookie
    assert stranger.get("/runs/x?kind=weight").status_code == 200
    assert stranger.get("/api/runs").status_code == 200


def test_a_link_with_the_token_signs_in_and_hides_it(stranger: httpx.Client) -> None:
    answer = stranger.get("/runs/x", params={"token": TOKEN, "kind": "weight"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/runs/x?kind=weight"
    assert stranger.get("/api/runs").status_code == 200
    wrong = httpx.get(f"{stranger.base_url}/runs/x?token=guess", trust_env=False)
    assert wrong.headers["location"] == "/login?next=%2Fruns%2Fx"
    assert "set-cookie" not in wrong.headers


def test_a_hook_needs_the_token(guarded: Server) -> None:
    for headers in ({}, {"Authorization": "Bearer guess"}):
        word, code = first_word(guarded, "/ws/ingest", **headers)
        assert (word["code"], word["fatal"], code) == ("unauthorized", True, 1008)
    run = SyntheticRun("healthy", 2, 16)
    stream(guarded.url, run, token=TOKEN)
    assert guarded.get(f"/api/runs/{run.run_id}")["state"] == "finished"


def test_a_browser_needs_the_cookie(guarded: Server, stranger: httpx.Client) -> None:
    word, code = first_word(guarded, "/ws/live")
    assert (word["code"], code) == ("unauthorized", 1008)
    stranger.post("/login", json={"token": TOKEN})
    cookie = f"{COOKIE}={stranger.cookies[COOKIE]}"
    with connect(guarded.ws_url + "/ws/live", additional_headers={"Cookie": cookie}) as socket:
        socket.send('{"type": "subscribe", "runs": "all"}')
        assert orjson.loads(socket.recv(timeout=60))["type"] == "subscribed"


@pytest.mark.parametrize("path", ["/ws/live", "/ws/ingest"])
def test_a_foreign_page_is_sent_away(server: Server, path: str) -> None:
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"):
        word, code = first_word(server, path, Origin=origin)
        assert (word["code"], code) == ("forbidden_origin", 1008)


def test_the_own_page_and_an_allowed_one_are_let_in(start_server) -> None:
    server = start_server(allowed_origins=("https://board.example",))
    for origin in (server.url, "https://board.example"):
        with connect(server.ws_url + "/ws/live", origin=origin) as socket:
            socket.send('{"type": "subscribe", "runs": []}')
            assert orjson.loads(socket.recv(timeout=60)) == {"type": "subscribed", "runs": []}


def test_a_name_that_points_here_is_not_enough(server: Server) -> None:
    for path in ("/api/runs", "/", "/metrics"):
        answer = server.request("GET", path, headers={"host": f"evil.example:{server.port}"})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden_host")
    for name in ("localhost", "127.0.0.1", "[::1]"):
        assert server.request("GET", "/api/runs", headers={"host": f"{name}:{server.port}"}).status_code == 200


def test_two_runs_side_by_side_one_with_a_wrong_token(guarded: Server) -> None:
    run = SyntheticRun("healthy", 2, 24)
    log = list(run.log())
    with SyntheticHook(guarded.url, run, TOKEN) as hook:
        hook.greet()
        for message in log:
            first_word(guarded, "/ws/ingest", Authorization="Bearer guess")
            hook.send(message)
        assert hook.wait_for_verdict(log[-1]["seq"]) == []
