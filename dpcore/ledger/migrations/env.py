"""Alembic's entry: runs the steps on the connection that ``dpcore.ledger.engine`` hands over."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transaction_per_migration=False, transactional_ddl=True)
context.run_migrations()
