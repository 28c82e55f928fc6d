"""Several servers behind HAProxy, for one page: ``epsilon-lab serve --replicas 3`` or ``make serve REPLICAS=3``.

HAProxy (a package of Debian's) keeps each visitor at the replica they began with, by a cookie, for pages, files and
websockets alike, and brings a phone to the replica that its room's code names; asks every replica whether it is well;
and sends the visitors of one that died to another, where the page connects by itself. All replicas share one ledger.
This process starts them, starts anew whichever ends or stands still, and when it is told to stop lets no new visitor in
before it ends them.
"""

from __future__ import annotations

import base64
import errno
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_network
from operator import methodcaller
from pathlib import Path
from queue import Empty, SimpleQueue

from dashboard import machine_memory
from dashboard.people.browser_token import PHONE, TOKEN_LENGTH
from dashboard.poll.along import KEY
from dashboard.poll.codes import ALPHABET, GO, LENGTH, PARAMETER
from dashboard.serving import held_ports, output
from dashboard.serving.host_cookies import PREFIX
from dashboard.serving.open_files import raise_file_limit
from dashboard.serving.output import say
from dashboard.serving.pace import EACH
from dashboard.serving.replica import Replica, asking
from dashboard.serving.settings import PLACE, REPLICAS
from dashboard.serving.uploads import most_together

COOKIE = "epsilon_lab_replica"
MOST = 64
CONNECTIONS, FILES_RESERVED = 4000, 200
"""Connections for each replica at once where there are files for them, and files that HAProxy needs besides."""
TUNNEL = 150
"""Seconds after which a page's connection on which nothing was said is over."""
HERE = "127.0.0.1,::1"
"""Whose word about where a visitor comes from is taken unless FORWARDED_ALLOW_IPS says others: this computer's."""
ANEW, SUSTAINED = 1.5, 3.0
"""How often in ten seconds, and in a minute, one address may open as many connections as it may have at one replica,
to which all of them may go."""
TAKEN = (
    "port {} is taken: another program listens there, or servers and a HAProxy that were left when what started them "
    "was killed; end these first, or choose another port"
)
MISSING = "HAProxy was not found; install Debian's package haproxy and try again"
_OTHERS = {
    *("KILL", "STOP"),  # cannot be seen
    *("CONT", "TSTP", "TTIN", "TTOU", "CHLD", "URG", "WINCH", "INFO"),  # end nothing
    # say that an instruction of this process failed, which would be tried again, for good, by whoever takes them
    *("BUS", "EMT", "FPE", "ILL", "SEGV", "TRAP"),
}
ENDS = signal.valid_signals() - {one for one in signal.Signals if one.name.removeprefix("SIG") in _OTHERS}
"""What ends all servers: each signal that would end who looks after them alone, such as a terminal's that is closed,
or a real-time one, of which Python names two."""
_SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"  # noqa: S105 - the name of one
_PLACES = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
_LOOK, DRAIN = 0.5, 10.0
"""Seconds between two looks at the replicas, and for the last answers when all stops: of the balancer, and then of all
replicas together, and as many again for what stands still."""

CONFIGURATION = """\
global
    maxconn {connections}
    ssl-default-bind-options ssl-min-ver TLSv1.2
    # a second one at the same port, beside replicas of the same names, would have every other visitor
    noreuseport

defaults
    mode http
    timeout connect 2s
    timeout http-request 10s
    timeout client 60s
    timeout server 60s
    # a server asks each page whether it is there more often. HAProxy 2.6 can keep a connection of which both ends have
    # gone at one moment, and spend all its time on it, until this time is over
    timeout tunnel {tunnel}s
    timeout queue 10s
    # a replica that is only slow to answer keeps its visitors: whoever is cut off loses the files of their session. Of
    # one that stands still two checks in a row are not answered, which takes some 15 seconds
    timeout check 7500ms
    option forwardfor
    option redispatch
    retries 2
    retry-on conn-failure empty-response

frontend visitors
    bind {bind}
    # a proxy of one's own brings the connections of all its visitors, and bounds them; replicas know these by name
    tcp-request connection accept if {{ src {proxies} }}
    # whoever opens connections and says nothing leaves some for everybody else; a network of IPv6 is one, as for pages
    stick-table type ipv6 size 100k expire 1m store conn_cur,conn_rate(10s)
    tcp-request connection track-sc0 src,ipmask(32,56)
    tcp-request connection reject if {{ sc0_conn_cur gt {share} }}
    # nor does it help to give up and begin anew: a browser keeps its few connections
    tcp-request connection reject if {{ sc0_conn_rate gt {rate} }}
    tcp-request connection track-sc1 src,ipmask(32,56) table begun
    tcp-request connection reject if {{ sc1_conn_rate(begun) gt {sustained} }}
    # HTTP/2 would be a hundred requests on one connection, each with files here and at a replica, which speaks 1.1
    option disable-h2-upgrade
    # a replica takes a path with a line break behind it for the path without, and so would find more than what is
    # refused here; none of ours has any control character, and as they are, not written so, HAProxy takes none
    http-request deny deny_status 400 if {{ path -m reg -i %([01][0-9a-f]|7f|c2%[89][0-9a-f]) }}
    # asked by nobody but the owner, who asks a replica
    http-request deny deny_status 404 if {{ path,url_dec -m end /_stcore/metrics }}
    # no page of ours posts; a form that another site's page sends comes without the cookie of who is at a replica, for
    # that is for this site alone, and a browser would keep the one of its answer: so it is given none
    http-request deny deny_status 405 if {{ method POST TRACE CONNECT }}
    # a replica refuses it as well, but as work of its own: no browser asks so, and health checks by HTTP/1.0 alone
    http-request return status 400 if !{{ req.ver 1.0 }} !{{ req.hdr(host) -m found }}
    # whether a visitor speaks TLS is for a proxy of one's own to say, which may have taken it off
    acl by_proxy src {proxies}
    acl says_how req.hdr(X-Forwarded-Proto) -m found
    http-request set-header X-Forwarded-Proto {scheme} if !by_proxy or !says_how
    # what a visitor says of where they come from; a proxy of one's own says it of them
    http-request del-header X-Forwarded-For if !{{ src {proxies} }}
    # at which replica a visitor is, by a cookie: over TLS of a name that no other host, nor any answer of plain HTTP,
    # can have kept (host_cookies.py). Of several of one name the last counts, and browsers send what is kept for all
    # paths, as ours, after what is kept for some: so none for the path of uploads parts these from their page. Cookies
    # end where browsers end them: HAProxy itself finds one behind a comma within another, and none between quotes
    http-request set-var(txn.tls) bool(true) if {{ req.fhdr(X-Forwarded-Proto,-1) -m str https wss }}
    acl over_tls var(txn.tls) -m bool
    http-request set-var(txn.at) {the_kept} if over_tls
    http-request set-var(txn.at) {the_cookie} if !over_tls
    acl keeps srv_name,strcmp(txn.at) eq 0
    http-response add-header Set-Cookie "{cookie}=%[srv_name]; path=/; HttpOnly; SameSite=Lax" if !over_tls !keeps
    http-response add-header Set-Cookie "{kept}=%[srv_name]; path=/; HttpOnly; SameSite=Lax; Secure" if over_tls !keeps
    http-response set-header Cache-Control "private, no-store" if !keeps
{transport}    http-response del-header Server
    # what it answers itself, as to whoever asks wrongly, no page may frame either
    acl guarded res.hdr(Content-Security-Policy) -m found
    http-after-response set-header X-Frame-Options DENY if !guarded
    http-after-response set-header X-Content-Type-Options nosniff if !guarded
    http-after-response set-header Referrer-Policy same-origin if !guarded
    http-after-response set-header Content-Security-Policy "default-src 'none'; frame-ancestors 'none'" if !guarded
    # whoever is at none yet begins at one that answers, where another has not for a while: with the fewest connections,
    # as one that stands still soon has, it would be given all of them. A room is at its replica, whatever that does
    acl at_one var(txn.at) -m str {names}
    http-request set-var(txn.room) "urlp({join}),url_dec,upper,regsub([^{alphabet}],,g)" if {{ path_reg ^/[a-z]*$ }}
    acl to_room var(txn.room),length {length}
    # fewer answer there than are well: one that begins, and is well there first, is nobody's yet
    http-request set-var(txn.well) nbsrv(replicas)
    use_backend newcomers if !at_one !to_room {{ nbsrv(newcomers),sub(txn.well) lt 0 }} {{ nbsrv(newcomers) gt 0 }}
    default_backend replicas

backend begun
    stick-table type ipv6 size 100k expire 2m store conn_rate(60s)

backend replicas
    balance leastconn
    # a live room is at one replica, which its code names (poll/codes.py): whoever opens its link and is at none yet
    # goes there, and stays. Whoever is at one already may have a file or a room of their own there, so that page asks
    # first; no address takes them along but with what that page alone can have told their browser (poll/along.py): not
    # every browser says, and over plain HTTP none, whether a page of ours led it to an address
    acl at_one var(txn.at) -m str {names}
    http-request set-var(txn.phone) {the_phone} if !{{ var(txn.tls) -m bool }}
    http-request set-var(txn.kept) {the_kept_phone}
    http-request set-var(txn.phone) var(txn.kept) if {{ var(txn.kept) -m len 1: }}
    http-request set-var(txn.proof) "var(txn.room),concat(:,txn.phone),hmac(sha256,{key}),hex,lower"
    acl known_phone var(txn.phone) -m len {token}
    acl sent_along urlp({go}),secure_memcmp(txn.proof)
    http-request set-var(txn.goes) int(1) if {room} !at_one
    http-request set-var(txn.goes) int(1) if {room} known_phone sent_along
{rooms}
    use-server %[var(txn.at)] if at_one
{asked}
    default-server check inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{servers}

backend newcomers
    timeout check 3s
    balance leastconn
{asked}
    default-server check inter 1s fall 1 rise 1
{servers}
"""
_ASKED = """\
    option httpchk
    http-check send meth GET uri /_stcore/health ver HTTP/1.1 hdr Host localhost
    http-check expect status 200"""
"""Whether a replica is well."""


def configuration(
    ports: Sequence[int],
    *,
    port: int,
    address: str,
    certificate: Path | None = None,
    files: int = 65_536,
    proxies: str = HERE,
    along: str = "",
) -> str:
    """HAProxy's configuration for replicas at these ports of this computer; with TLS where there is a certificate.

    ``files`` is how many it may open: it needs two for a connection, and does not start with too few. ``proxies`` are
    those of one's own before it, addresses and networks as in FORWARDED_ALLOW_IPS. ``along`` is the replicas' key of
    ``poll.along``; "" for one that nobody has.
    """
    place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    secure = certificate is not None
    transport = '    http-after-response set-header Strict-Transport-Security "max-age=31536000"\n' if secure else ""
    room, goes = f"{{ var(txn.room),length {LENGTH} }}", "{ var(txn.goes) -m int 1 }"
    rooms = [
        f"    use-server r{number + 1} if {goes} {{ var(txn.room),crc32,mod({len(ports)}) {number} }}"
        for number in range(len(ports))
    ]
    servers = [f"    server r{number} 127.0.0.1:{at}" for number, at in enumerate(ports, 1)]
    connections = max(1, min(CONNECTIONS * len(ports), (files - FILES_RESERVED) // 2))
    return CONFIGURATION.format(
        connections=connections,
        tunnel=TUNNEL,
        share=max(1, int(EACH * connections)),
        rate=int(ANEW * (each := max(1, int(EACH * min(CONNECTIONS, connections))))),
        sustained=int(SUSTAINED * each),
        proxies=" ".join(filter(None, map(_network, proxies.split(",")))) or "::1",
        bind=place + (f" ssl crt {_quoted(certificate)} alpn http/1.1" if secure else ""),
        scheme="https" if secure else "http",
        transport=transport,
        cookie=COOKIE,
        kept=PREFIX + COOKIE,
        the_cookie=_last(COOKIE),
        the_kept=_last(PREFIX + COOKIE),
        alphabet=ALPHABET,
        room=room,
        goes=goes,
        go=GO,
        length=LENGTH,
        the_phone=_last(PHONE.name),
        the_kept_phone=_last(PREFIX + PHONE.name),
        token=TOKEN_LENGTH,
        key=base64.b64encode(bytes.fromhex(along or secrets.token_hex(32))).decode("ascii"),
        join=PARAMETER,
        names=" ".join(f"r{number}" for number in range(1, len(ports) + 1)),
        rooms="\n".join(rooms),
        asked=_ASKED,
        servers="\n".join(servers),
    )


def _last(cookie: str) -> str:
    """What the last cookie of this name says, as HAProxy finds it; "" where there is none."""
    blank = "[[:blank:]]*"
    line = f"^(.*;)?{blank}{cookie}=([^;[:blank:]]*){blank}(;.*)?$|^.*$"
    return f'req.fhdr(cookie),\'regsub("{line}","\\2")\''


def _network(said: str) -> str:
    """An address or a network as HAProxy takes it; "" for what is none, such as * for everybody."""
    try:
        return str(ip_network(said.strip(), strict=False))
    except ValueError:
        return ""


def balancer() -> str:
    """Where HAProxy is. Raises FileNotFoundError with a sentence."""
    found = os.environ.get("EPSILON_LAB_HAPROXY") or shutil.which("haproxy")
    found = found or next((path for folder in _PLACES if os.access(path := f"{folder}/haproxy", os.X_OK)), None)
    if found is None:
        raise FileNotFoundError(MISSING)
    return found


def serve(count: int, *, port: int, address: str, hosts: Sequence[str], certificate: Path | None = None) -> int:
    """Run ``count`` replicas behind HAProxy until told to stop; the exit code.

    Raises ValueError and FileNotFoundError with a sentence.
    """
    if not 1 <= count <= MOST:
        raise ValueError(f"the number of replicas must be from 1 to {MOST}")
    if port == 0:
        raise ValueError("replicas need a port that is said, not 0")
    if certificate is not None and not certificate.is_file():
        raise ValueError("the certificate must be a file with the chain and its key, in PEM form")
    program, told, stop, ended = balancer(), SimpleQueue[int](), threading.Event(), False
    _must_be_free(address, port)
    for each in ENDS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # as where it is to outlive its terminal
            # one may come while another is told, or this thread looks: a lock that it held would be waited for for good
            signal.signal(each, lambda number, _: told.put(number))
    # one secret for all, so that a cookie of one replica is understood by the next
    shared = {_SECRET: os.environ.get(_SECRET) or secrets.token_hex(32)}
    shared |= {REPLICAS: str(count), KEY: secrets.token_hex(32)}
    # without empty ones, which would be the folder that this was called in
    folders = filter(None, [_root(), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    shared["PYTHONPATH"] = os.pathsep.join(folders)
    shared |= shares(count)
    output.apart()
    with held_ports.held(count) as held, tempfile.TemporaryDirectory(prefix="epsilon-lab-balancer-") as folder:
        replicas = [
            Replica(
                name=f"r{number}",
                port=at,
                hosts=tuple(hosts),
                environment={**os.environ, **shared, PLACE: str(number)},
            )
            for number, at in enumerate(held.ports, 1)
        ]
        file = Path(folder) / "haproxy.cfg"
        text = configuration(
            held.ports,
            port=port,
            address=address,
            certificate=certificate,
            files=raise_file_limit(),
            proxies=os.environ.get("FORWARDED_ALLOW_IPS", HERE),
            along=shared[KEY],
        )
        file.write_text(text, encoding="utf-8")
        _must_be_understood(program, file, with_certificate=certificate is not None)
        asked = [asking(replica, stop) for replica in replicas]
        front: subprocess.Popen[bytes] | None = None
        try:
            for replica in replicas:
                replica.start()
            # with what holds the ports: it goes on to hand visitors to them where this process is killed
            front = subprocess.Popen(  # noqa: S603 - found above
                [program, "-W", "-db", "-f", str(file)],
                pass_fds=held.sockets,
                stdin=subprocess.DEVNULL,
                process_group=0,
            )
            say(f"{'https' if certificate else 'http'}://{address}:{port}")
            while not (ended := _is_told(told)) and front.poll() is None:
                for replica, thread in zip(replicas, asked, strict=True):
                    replica.keep()
                    thread.wake()
        finally:
            stop.set()
            if front is not None:
                front.send_signal(signal.SIGUSR1)  # no new visitors; those who are here are answered
                end_together([front])
            for replica in replicas:
                if replica.process is not None and not replica.ended():
                    replica.process.terminate()
            end_together([replica.process for replica in replicas if replica.process is not None])
    return 0 if ended else 1


def _is_told(told: SimpleQueue[int]) -> bool:
    """Whether all is to end, as a signal says within a moment."""
    with suppress(Empty):
        told.get(timeout=_LOOK)
        return True
    return False


def _quoted(path: Path | None) -> str:
    """A file as HAProxy's configuration names it, whatever stands in its name."""
    return "'" + str(path).replace("'", "'\\''") + "'"


def _must_be_understood(program: str, configuration: Path, *, with_certificate: bool) -> None:
    """Raises ValueError with HAProxy's first line on what it does not start with, before anything is started."""
    done = subprocess.run(  # noqa: S603 - found by balancer
        [program, "-c", "-f", str(configuration)], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode:
        why = next((line for line in done.stderr.splitlines() if "ALERT" in line), "it says nothing")
        certificate = "the certificate may lack its key or its chain, in PEM form; " if with_certificate else ""
        raise ValueError(f"HAProxy does not start so: {certificate}it says: {why}")


def _must_be_free(address: str, port: int) -> None:
    """Raises ValueError where somebody listens there already; HAProxy, which says it in its own way, comes later."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ValueError(TAKEN.format(port)) from None


def shares(count: int) -> dict[str, str]:
    """What each of ``count`` replicas may hold of all that they may hold together: memory for files, and uploads."""
    together = {"EPSILON_LAB_MEMORY_ALL": machine_memory.for_files(count), "EPSILON_LAB_UPLOADS": most_together()}
    return {name: str(max(1, (size >> 20) // count)) for name, size in together.items()}


def _root() -> str:
    """The folder that holds this package, so that replicas are of the same program wherever they are started."""
    return str(Path(__file__).resolve().parents[2])


def end_together(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait for all of them at once; whichever stands still is told once more, and killed after as long again."""
    for end in (methodcaller("terminate"), methodcaller("kill")):
        until = time.monotonic() + DRAIN
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))
        for process in processes:
            if process.poll() is None:
                end(process)
    for process in processes:
        process.wait()


def free_ports(count: int) -> list[int]:
    """Ports of this computer that nobody listens at, for what is to begin alone."""
    with held_ports.held(count) as held:
        return held.ports
