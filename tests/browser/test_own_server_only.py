"""Whoever looks at a page is known to its server alone: the browser fetches nothing from anywhere else.

Every page is served with a policy that says so, and ``contexts`` sees to it that no page of any browser test comes up
against it. Here it is shown to hold, whatever a page might be brought to ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from playwright.sync_api import BrowserContext

from tests.browser.conftest import settled
from tests.browser.server import free_port

WATCH = """() => {
    window.blocked = []
    const note = one => window.blocked.push([one.effectiveDirective, one.blockedURI])
    document.addEventListener('securitypolicyviolation', note)
}"""
ASK = {  # by the rule that refuses it
    "connect-src": "url => fetch(url).catch(String)",
    "img-src": "url => { const one = new Image(); one.src = url; document.body.append(one) }",
    "script-src-elem": "url => document.body.append(Object.assign(document.createElement('script'), {src: url}))",
    "style-src-elem": "url => document.body.insertAdjacentHTML('beforeend', `<link rel=stylesheet href='${url}'>`)",
    "frame-src": "url => document.body.insertAdjacentHTML('beforeend', `<iframe src='${url}'></iframe>`)",
    "font-src": "url => new FontFace('elsewhere', `url(${url})`).load().catch(String)",
}


def test_a_page_can_fetch_nothing_from_another_server(
    lent: Callable[..., AbstractContextManager[BrowserContext]], address: str
) -> None:
    elsewhere = f"127.0.0.1:{free_port()}"
    sent: list[str] = []
    with lent() as context:
        page = context.new_page()
        page.on("response", lambda response: sent.append(response.url))
        page.goto(address)
        settled(page)
        page.evaluate(WATCH)
        for ask in (*ASK.values(), "url => { try { new WebSocket(url.replace('http', 'ws')) } catch { } }"):
            page.evaluate(ask, f"http://{elsewhere}/")
        page.wait_for_function("most => window.blocked.length >= most", arg=len(ASK) + 1)
        blocked = page.evaluate("window.blocked")
    assert {rule for rule, _ in blocked} == set(ASK)
    assert all(elsewhere in url for _, url in blocked)
    assert any(url.startswith("ws:") for _, url in blocked)
    assert len(sent) > len(ASK)
    assert not [url for url in sent if elsewhere in url]
