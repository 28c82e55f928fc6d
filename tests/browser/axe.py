"""axe-core over a page: every violation with the elements it names."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def violations(page: Page) -> list[str]:
    """One line per violation of WCAG 2 A and AA and of axe's best practices."""
    found = Axe().run(page).response["violations"]
    return [f"{item['id']} ({item['impact']}): {[node['target'] for node in item['nodes']][:4]}" for item in found]
