"""The same over PostgreSQL, where one is at hand: POSTGRES_URL=postgresql+psycopg://user@host/an_empty_database."""

import os
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from gradwatch_server.store.database import open_engine
from gradwatch_server.store.schema import metadata
from tests.serving import Server
from tests.synthetic import SyntheticRun, stream

URL = os.environ.get("POSTGRES_URL", "")
pytestmark = pytest.mark.skipif(not URL, reason="POSTGRES_URL names no database")


def test_a_run_is_kept_found_read_and_deleted(tmp_path: Path) -> None:
    run = SyntheticRun("sick", 3, 200)
    with Server(tmp_path, database=URL) as server:
        findings = stream(server.url, run)
        assert findings
    with Server(tmp_path, database=URL) as server:
        path = f"/api/runs/{run.run_id}"
        assert server.get(f"{path}/findings")["findings"] == findings
        assert run.run_id in {one["id"] for one in server.get("/api/runs", search="INVENT")["runs"]}
        assert server.get(f"{path}/heatmap")["steps"] == list(range(200))
        assert server.request("DELETE", path).status_code == 204
        assert server.request("GET", path).status_code == 404


def test_migrations_lead_to_the_schema_in_code(tmp_path: Path) -> None:
    with Server(tmp_path, database=URL):
        pass
    engine = open_engine(URL, writes=False)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []
    engine.dispose()
