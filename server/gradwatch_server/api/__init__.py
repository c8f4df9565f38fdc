"""The REST interface, one module a resource. ``docs/contract.md`` has the table of paths."""

from gradwatch_server.api.routes import make_router

__all__ = ["make_router"]
