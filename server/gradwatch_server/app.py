"""Puts the server together. `create_app` makes an ASGI app of settings; nothing here is global."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, WebSocket
from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect, WebSocketState

from gradwatch_server import __version__, pages
from gradwatch_server.access import check_host, check_origin, check_token
from gradwatch_server.answers import add_error_handlers
from gradwatch_server.api import make_router
from gradwatch_server.errors import AccessError, MessageError
from gradwatch_server.ingest import serve_hook
from gradwatch_server.live import Subscriber, read_subscription
from gradwatch_server.services import Services, open_services
from gradwatch_server.settings import Settings

__all__ = ["create_app"]

POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013


def create_app(settings: Settings) -> FastAPI:
    """Makes the server.

    Args:
        settings: what it is told.

    Returns:
        The app. Its database is opened when it starts, and drained and closed when it stops.
    """

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        app.state.services = await open_services(settings)
        try:
            yield
        finally:
            await app.state.services.close()

    app = FastAPI(
        title="gradwatch",
        version=__version__,
        summary="Runs, their gradients and what is wrong with them",
        lifespan=live,
        openapi_url="/api/openapi.json",
        # Their pages load scripts from elsewhere; no request leaves the host.
        docs_url=None,
        redoc_url=None,
    )
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(_Headers)
    add_error_handlers(app)
    app.include_router(make_router())
    app.include_router(pages.router)

    @app.websocket("/ws/ingest")
    async def ingest(websocket: WebSocket) -> None:
        await serve_hook(websocket, app.state.services)

    @app.websocket("/ws/live")
    async def watch(websocket: WebSocket) -> None:
        await _serve_browser(websocket, app.state.services)

    return app


class _Headers:
    """Puts the content policy on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = pages.POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


async def _serve_browser(websocket: WebSocket, services: Services) -> None:
    await websocket.accept()
    settings = services.settings
    try:
        check_host(websocket, settings)
        check_origin(websocket, settings)
        check_token(websocket, settings)
    except AccessError as error:
        await _send_error(websocket, MessageError(error.code, error.message, error.detail))
        await websocket.close(POLICY_VIOLATION, error.code)
        return
    if len(services.hub.subscribers) >= settings.live_client_limit:
        text = f"{settings.live_client_limit} pages are open already; close some."
        await _send_error(websocket, MessageError("too_many_browsers", text, fatal=False))
        await websocket.close(TRY_AGAIN_LATER, "too_many_browsers")
        return
    subscriber = Subscriber(settings.live_interval_s)
    services.hub.subscribers.add(subscriber)
    sends = asyncio.create_task(subscriber.send_forever(websocket.send_text))
    reads = asyncio.create_task(_read_subscriptions(websocket, subscriber))
    try:
        await asyncio.wait({sends, reads}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        services.hub.subscribers.discard(subscriber)
        for task in (sends, reads):
            task.cancel()
        results = await asyncio.gather(sends, reads, return_exceptions=True)
    for result in results:
        # Either side may be the first to see that the browser is gone.
        is_gone = isinstance(result, (asyncio.CancelledError, WebSocketDisconnect, RuntimeError))
        if isinstance(result, BaseException) and not is_gone:
            raise result


async def _read_subscriptions(websocket: WebSocket, subscriber: Subscriber) -> None:
    while True:
        event = await websocket.receive()
        if event["type"] == "websocket.disconnect":
            return
        try:
            runs = read_subscription(event.get("text"))
        except MessageError as error:
            await _send_error(websocket, error)
            continue
        subscriber.subscribe(runs)
        answer = {"type": "subscribed", "runs": "all" if runs is None else sorted(runs)}
        await websocket.send_json(answer)


async def _send_error(websocket: WebSocket, error: MessageError) -> None:
    if websocket.application_state is WebSocketState.CONNECTED:
        await websocket.send_json(error.to_json())
