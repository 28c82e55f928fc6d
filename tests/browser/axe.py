"""axe-core over a page: every violation with the elements it names."""

from __future__ import annotations

import json

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# What passes is not described element by element and does not leave the page: half of a run's work.
RUN = """async only => {
  const options = { resultTypes: ['violations'], ...(only && { runOnly: { type: 'rule', values: [only] } }) }
  const { violations } = await axe.run(options)
  return JSON.stringify(violations.map(({ id, impact, nodes }) => [id, impact, nodes.map(node => node.target)]))
}"""


def violations(page: Page, only: str | None = None) -> list[str]:
    """One line per violation of WCAG 2 A and AA and of axe's best practices, or of the rule ``only``.

    The pointer goes aside first: where it was left, a hint of Streamlit's may hang over the page, outside its regions.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    for _ in range(3):  # what is drawn anew at that moment is faded; a real violation stays
        page.mouse.move(1, 1)
        page.wait_for_timeout(500)
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        found = json.loads(page.evaluate(RUN, only))
        if not found:
            break
    return [f"{name} ({impact}): {targets[:4]}" for name, impact, targets in found]
