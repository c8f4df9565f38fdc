"""The page and its files, login, health check and metrics: everything over HTTP that is not ``/api``."""

from __future__ import annotations

import gzip
from functools import cache
from importlib import resources
from pathlib import Path
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from gradwatch_server import __version__
from gradwatch_server.access import COOKIE, check_host, check_token, cookie_value, is_token
from gradwatch_server.answers import Answer
from gradwatch_server.api.models import Login
from gradwatch_server.api.query import ERRORS, Here, check_access
from gradwatch_server.errors import AccessError
from gradwatch_server.metrics import CONTENT_TYPE

__all__ = ["POLICY", "router"]

router = APIRouter(include_in_schema=False)

POLICY = "; ".join(
    (
        "default-src 'self'",
        # Plotly writes style elements, and draws heatmaps as images.
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
IMMUTABLE = "public, max-age=31536000, immutable"
SESSION_S = 30 * 24 * 3600


@router.get("/healthz")
def get_health() -> Response:
    """Says that the server is up; needs no token."""
    return Answer({"status": "ok", "version": __version__})


@router.get("/metrics", dependencies=[Depends(check_access)])
def get_metrics(services: Here) -> Response:
    """The server's counters, for Prometheus."""
    services.metrics.cache_bytes.set(services.store.columns.size_bytes)
    services.metrics.browsers.set(len(services.hub.subscribers))
    return Response(services.metrics.render(), media_type=CONTENT_TYPE)


@router.get("/")
@router.get("/runs/{run_id}")
@router.get("/compare")
@router.get("/alerts")
def get_page(request: Request, services: Here) -> Response:
    """The page. ``?token=`` signs in and is taken out of the address at once."""
    settings = services.settings
    check_host(request, settings)
    offered = request.query_params.get("token")
    path = request.url.path
    if offered is not None and settings.secret is not None and is_token(settings, offered):
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        answer = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303)
        return _sign_in(answer, request, settings.secret)
    try:
        check_token(request, settings)
    except AccessError:
        wanted = f"{path}?{request.url.query}" if request.url.query and offered is None else path
        return RedirectResponse(f"/login?{urlencode({'next': wanted})}", 303)
    return _page()


@router.get("/login")
def get_login(request: Request, services: Here) -> Response:
    """The page, which asks for the token."""
    check_host(request, services.settings)
    return _page()


@router.post("/login", responses=ERRORS)
def post_login(request: Request, services: Here, login: Login) -> Response:
    """Signs a browser in: 204 with the cookie."""
    check_host(request, services.settings)
    if not is_token(services.settings, login.token):
        text = "That is not this server's token; it is the GRADWATCH_TOKEN that the server was started with."
        raise AccessError("unauthorized", text)
    answer = Response(status_code=204)
    secret = services.settings.secret
    return answer if secret is None else _sign_in(answer, request, secret)


def _sign_in(answer: Response, request: Request, secret: str) -> Response:
    is_secure = request.url.scheme == "https"
    # "lax", so that a link to a run in a chat or a notebook opens; a foreign page still cannot change anything with it.
    answer.set_cookie(COOKIE, cookie_value(secret), SESSION_S, httponly=True, samesite="lax", secure=is_secure)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@router.get("/assets/{path:path}")
def get_asset(path: str, request: Request) -> Response:
    """A file of the page, or plotly."""
    name, plain, packed = _plotly()
    if path == name:
        is_packed = "gzip" in request.headers.get("accept-encoding", "")
        headers = {"Cache-Control": IMMUTABLE, "Vary": "Accept-Encoding"}
        headers |= {"Content-Encoding": "gzip"} if is_packed else {}
        return Response(packed if is_packed else plain, media_type=MEDIA_TYPES[".js"], headers=headers)
    root = _frontend()
    file = (root / path).resolve()
    if file.suffix not in MEDIA_TYPES or root not in file.parents or not file.is_file():
        raise HTTPException(404)
    # Revalidated at each load: after an upgrade no browser runs old modules beside new ones.
    headers = {"Cache-Control": "no-cache"}
    answer = FileResponse(file, media_type=MEDIA_TYPES[file.suffix], headers=headers, stat_result=file.stat())
    if request.headers.get("if-none-match") == answer.headers["etag"]:
        return Response(status_code=304, headers={**headers, "ETag": answer.headers["etag"]})
    return answer


def _page() -> Response:
    file = _frontend() / "index.html"
    if not file.is_file():
        raise HTTPException(404)
    html = file.read_text(encoding="utf-8").replace("{{plotly_src}}", f"/assets/{_plotly()[0]}")
    return HTMLResponse(html, headers={"Cache-Control": "no-cache"})


@cache
def _frontend() -> Path:
    return Path(str(resources.files("gradwatch_frontend"))).resolve()


@cache
def _plotly() -> tuple[str, bytes, bytes]:
    """The name that holds plotly's version, its bytes, and the same packed once for all browsers."""
    # See api.figures on why it is imported late.
    from plotly.offline import get_plotlyjs, get_plotlyjs_version  # noqa: PLC0415

    plain = get_plotlyjs().encode()
    return f"plotly-{get_plotlyjs_version()}.min.js", plain, gzip.compress(plain, 6)
