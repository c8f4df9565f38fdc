"""Alerts: who is told of what, and what is due. What was found before is told to nobody."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "alert_rules",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("project", sa.Text),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("target", sa.JSON, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("kinds", sa.JSON, nullable=False),
        sa.Column("debounce_s", sa.Float(53), nullable=False),
        sa.Column("created_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alert_rules"),
    )
    op.create_table(
        "alerts",
        sa.Column("rule_id", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("finding_id", sa.Text, nullable=False),
        sa.Column("severity", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("due_at", sa.Float(53), nullable=False),
        sa.Column("n_tries", sa.Integer, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("changed_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("rule_id", "run_id", "finding_id", "severity", name="pk_alerts"),
        sa.ForeignKeyConstraint(["rule_id"], ["alert_rules.id"], name="fk_alerts_alert_rules", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_alerts_runs", ondelete="CASCADE"),
    )
    op.create_index("ix_alerts_state", "alerts", ["state", "due_at"])
