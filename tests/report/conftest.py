"""The few tests of reports that open a page use the app's own fixtures."""

from tests.dashboard.conftest import ledger_file, one_visitor, open_app, workers

__all__ = ["ledger_file", "one_visitor", "open_app", "workers"]
