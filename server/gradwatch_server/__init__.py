"""The gradwatch server: ingest, store, health, figures, live, api and the command line."""

from gradwatch import __version__

__all__ = ["__version__"]
