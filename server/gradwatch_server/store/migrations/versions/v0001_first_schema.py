"""The first schema: runs, workers, streams, frames and findings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _of_run(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=f"fk_{table}_runs", ondelete="CASCADE")


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("project", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("started_at", sa.Float(53), nullable=False),
        sa.Column("ended_at", sa.Float(53)),
        sa.Column("last_step", sa.BigInteger),
        sa.Column("last_time", sa.Float(53)),
        sa.Column("tags", sa.JSON, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("environment", sa.JSON, nullable=False),
        sa.Column("n_rows_lost", sa.BigInteger, nullable=False),
        sa.Column("n_skipped", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.Float(53)),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("n_findings", sa.Integer, nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("sparkline", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_started_at", "runs", ["started_at"])
    op.create_index("ix_runs_project", "runs", ["project"])
    op.create_table(
        "workers",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("last_seq", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "worker", name="pk_workers"),
        _of_run("workers"),
    )
    op.create_table(
        "streams",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("stream", sa.Integer, nullable=False),
        sa.Column("optimizer", sa.Text, nullable=False),
        sa.Column("tensors", sa.JSON, nullable=False),
        sa.Column("scalars", sa.JSON, nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "worker", "stream", name="pk_streams"),
        _of_run("streams"),
    )
    op.create_table(
        "frames",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("received_at", sa.Float(53), nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "worker", "seq", name="pk_frames"),
        _of_run("frames"),
    )
    op.create_table(
        "findings",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "worker", "position", name="pk_findings"),
        _of_run("findings"),
    )
