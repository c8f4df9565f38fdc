"""The steps from one schema to the next; see `gradwatch_server.store.migrate`."""
