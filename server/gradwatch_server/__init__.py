"""The gradwatch server: ingest, store, health, figures, live, api and the command line."""
