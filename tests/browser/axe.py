"""axe-core over a page: every violation with the elements it names."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def violations(page: Page, only: str | None = None) -> list[str]:
    """One line per violation of WCAG 2 A and AA and of axe's best practices, or of the rule ``only``.

    The pointer goes aside first: where it was left, a hint of Streamlit's may hang over the page, outside its regions.
    """
    options = {} if only is None else {"runOnly": {"type": "rule", "values": [only]}}
    for _ in range(3):  # what is drawn anew at that moment is faded; a real violation stays
        page.mouse.move(1, 1)
        page.wait_for_timeout(500)
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        found = Axe().run(page, options=options).response["violations"]
        if not found:
            break
    return [f"{item['id']} ({item['impact']}): {[node['target'] for node in item['nodes']][:4]}" for item in found]
