"""Where in the log the feature columns of the inputs are; older runs have none."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "column_frames",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("tensor", sa.Text, nullable=False),
        sa.Column("first_step", sa.BigInteger, nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "worker", "seq", name="pk_column_frames"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_column_frames_runs", ondelete="CASCADE"),
    )
    op.create_index("ix_column_frames_tensor", "column_frames", ["run_id", "tensor", "first_step"])
