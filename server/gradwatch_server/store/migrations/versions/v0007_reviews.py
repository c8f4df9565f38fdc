"""What a person said of a finding: acknowledged or dismissed, with a note. All older ones are open."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table, and counts every finding as open."""
    op.create_table(
        "reviews",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("finding_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "finding_id", name="pk_reviews"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_reviews_runs", ondelete="CASCADE"),
    )
    op.add_column("runs", sa.Column("n_open", sa.Integer, nullable=False, server_default="0"))
    op.execute("update runs set n_open = n_findings")
