"""What the head of a request says: who asks, from where, and for what."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterable, Iterator
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from dashboard.serving import host_cookies
from dashboard.serving.asgi import Scope
from dashboard.serving.paths import HEALTH, leads_to

LINE = 56
"""Bits by which lines of IPv6 are told apart."""
LONGEST_KIND = 1_000
"""Bytes in which a browser says of what kind a file is."""
HEAD = "epsilon_lab.head"
"""What a request counts by its head, as it came."""
MEDIA = "/media/"
"""What stands before the name of a file that is shown or was made."""
USUAL, AS_MUCH, A_LINE = 2 << 10, 1 << 10, 4
"""Bytes of a head that count as one request, those beyond that count as one more, and what a line has beside its name
and value: 62 kB of cookies, or of a query, take sixty times as long as a usual head."""


def plain(headers: Iterable[tuple[bytes, bytes]], *, secure: bool = False) -> Iterator[tuple[bytes, bytes]]:
    """The headers without what is looked through for long, while nobody else may go on: cookies that are not ours, of
    which a head has room for thousands, and ours with backslashes, which none has and which take the square of their
    length (CVE-2024-7592), and kinds of files that are no kinds. Ours go by their usual names behind this.
    """
    for name, value in headers:
        if name == b"cookie":
            ours = host_cookies.ours(value, secure=secure).split(b"; ")
            value = b"; ".join(one for one in ours if b"\\" not in one)
        if name != b"content-type" or len(value) <= LONGEST_KIND:
            yield name, value


def header(scope: Scope, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)


def visitor_of(scope: Scope) -> str:
    """The address that a visitor comes from: behind a proxy of this computer, or of FORWARDED_ALLOW_IPS, the one that
    it says (uvicorn has looked)."""
    return network(str((scope.get("client") or ("",))[0]))


def asking(scope: Scope) -> str:
    """Who counts as one by their requests: a visitor. A balancer on this computer that asks whether this server is well
    is another than whoever comes through it from here: its question says of nobody for whom it is asked. From anywhere
    else it is a visitor's as all others are, who would have as much once more."""
    check = leads_to(scope, HEALTH) and header(scope, b"x-forwarded-for") is None and _is_here(scope)
    return visitor_of(scope) + (" itself" if check else "")


def _is_here(scope: Scope) -> bool:
    """Whether it comes from this computer."""
    try:
        found = ip_address(str((scope.get("client") or ("",))[0]))
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


def network(address: str) -> str:
    """Who counts as one by their address. A network of IPv6 is one, since each of its computers has billions, and so
    are the 256 that one line is given."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((int(found), LINE), strict=False))
    return str(found)


def says_whose(scope: Scope) -> Iterable[tuple[bytes, bytes]]:
    """The headers, with what tells a page of this server from a forged request as this host gave it: over TLS a browser
    that says where a page came from is believed, and not what a script found among cookies of any host."""
    own = host_cookies.is_secure(scope) and _is_of_here(scope)
    return host_cookies.told_by_host(scope["headers"]) if own else scope["headers"]


def is_own_page(scope: Scope) -> bool:
    """Whether the page that opens the connection came from this server. Of several lines that say where from none
    counts: no browser sends two, and others may read another of them."""
    origins, host = _origins(scope), header(scope, b"host")
    said = origins[0] if origins else None
    return len(origins) < 2 and may_open(said, host, secure=host_cookies.is_secure(scope))


def may_open(origin: str | None, host: str | None, *, secure: bool = False) -> bool:
    """Whether a page from ``origin`` may open a connection to the server that is asked as ``host``, over TLS where that
    is known (``secure``)."""
    if not is_host_allowed(host):
        return False
    if origin is None:  # no browser: a browser always says where a page came from
        return True
    return is_of(origin, host or "", secure=secure) or origin in (config.get_option("server.corsAllowedOrigins") or [])


def _is_of_here(scope: Scope) -> bool:
    """Whether a browser says that a page of this server asks."""
    origins, host = _origins(scope), header(scope, b"host")
    return len(origins) == 1 and is_of(origins[0], host or "", secure=host_cookies.is_secure(scope))


def _origins(scope: Scope) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]


def is_of(place: str, host: str, *, secure: bool) -> bool:
    """Whether an address is one of the server that is asked as ``host``: same name, same port, and over TLS where this
    connection is (``secure``). One over TLS counts where this is not known to be: a proxy may have taken it off."""
    try:
        said = urlsplit(place)
    except ValueError:
        return False
    return said.scheme in (("https",) if secure else ("http", "https")) and said.netloc.lower() == host.lower() != ""


def may_measure(scope: Scope) -> bool:
    """Whether who asks for the server's counts knows the token of EPSILON_LAB_METRICS."""
    token = os.environ.get("EPSILON_LAB_METRICS", "")
    given = header(scope, b"authorization") or ""
    return bool(token) and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


def size(scope: Scope) -> int:
    """How many bytes a request says it brings; 0 where it does not say."""
    said = header(scope, b"content-length") or ""
    return int(said) if said.isascii() and said.isdigit() else 0


def by_head(scope: Scope) -> float:
    """What a request counts by its head, where a usual one counts 1: each of us goes through it from end to end."""
    size = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    size += sum(len(name) + len(value) + A_LINE for name, value in scope["headers"])
    return 1.0 + max(0, size - USUAL) / AS_MUCH


def is_of_session(scope: Scope) -> bool:
    """Whether an address names a session, and what is asked of it may do something there."""
    return "/_stcore/upload_file/" in str(scope["path"]) and scope["method"] != "OPTIONS"


def is_file(scope: Scope) -> bool:
    """Whether a browser brings an uploaded file."""
    return is_of_session(scope) and scope["method"] == "PUT"


def is_made(scope: Scope) -> bool:
    """Whether an address names a file that a page shows, or that was made for somebody."""
    return MEDIA in str(scope["path"])


def is_page(scope: Scope) -> bool:
    """Whether a browser asks for a page to show, and not for a part of one."""
    return "text/html" in (header(scope, b"accept") or "") and "/_stcore/" not in str(scope["path"])
