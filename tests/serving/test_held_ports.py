"""Nobody else on this computer can take the port of a replica, nor is handed its visitors, while the service lives."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from dashboard.serving import held_ports, replicas
from dashboard.serving import replica as replica_module

NOBODY = 65534
TAKING = """
import itertools, os, socket, sys
port, who = map(int, sys.argv[1:])
if who: os.setuid(who)
for address in ("127.0.0.1", "0.0.0.0", "::"):
    for options in itertools.product((False, True), repeat=2):
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as one:
            for option, on in zip((socket.SO_REUSEADDR, socket.SO_REUSEPORT), options):
                one.setsockopt(socket.SOL_SOCKET, option, on)
            if ":" in address:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            try:
                one.bind((address, port))
                one.listen()
                print(address, options)
            except OSError:
                pass
"""


def taken_by_another(port: int) -> bool:
    """Whether another user can listen there, by whatever address and option; where the tests may be nobody else, a
    program of the same user that does not share ports on purpose."""
    if os.geteuid() == 0:
        command = [sys.executable, "-P", "-c", TAKING, str(port), str(NOBODY)]
        return subprocess.run(command, capture_output=True, check=True, cwd="/").stdout != b""
    for address, again in itertools.product(("127.0.0.1", ""), (False, True)):
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, again)
            try:
                one.bind((address, port))
                one.listen()
            except OSError:
                continue
            return True
    return False


def test_nobody_else_can_listen_before_during_and_after_a_replica() -> None:
    with held_ports.held(1) as holder:
        (port,) = holder.ports
        assert not taken_by_another(port)
        for _ in range(2):
            with held_ports.listening(held_ports.HOST, port, 5) as replica:
                assert not taken_by_another(port)
                with socket.create_connection((held_ports.HOST, port)) as visitor:
                    replica.setblocking(True)
                    replica.accept()[0].close()
                    assert visitor.recv(1) == b""
            assert not taken_by_another(port), "it ended"
    assert taken_by_another(port), "else this would show nothing"


def test_a_replica_that_ended_refuses_at_once_and_begins_again_at_its_port() -> None:
    """HAProxy moves its visitors then; a holder that listened would keep them waiting."""
    with held_ports.held(1) as holder:
        (port,) = holder.ports
        for _ in range(2):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((held_ports.HOST, port), timeout=5)
            replica = held_ports.listening(held_ports.HOST, port, 5)
            replica.setblocking(True)
            with socket.create_connection((held_ports.HOST, port), timeout=5):
                kept = replica.accept()[0]
                replica.close()
                kept.close()  # its end waits for the visitor's


def test_a_replica_listens_beside_the_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.web.server.starlette import starlette_server

    monkeypatch.setattr(starlette_server, "_bind_socket", starlette_server._bind_socket)
    with held_ports.held(1) as holder:
        (port,) = holder.ports
        with pytest.raises(OSError, match="in use"):
            starlette_server._bind_server_socket(held_ports.HOST, held_ports.HOST, port, 5)
        held_ports.listen_at_held()
        found, _ = starlette_server._bind_server_socket(held_ports.HOST, held_ports.HOST, port, 5)
        with found:
            assert found.getsockname()[1] == port


@pytest.mark.parametrize("held", [True, False], ids=["held", "found free, as it was"])
def test_ports_are_held_from_before_the_first_start_till_the_end(
    held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def start(replica: replicas.Replica) -> None:
        seen.append(taken_by_another(replica.port))
        replica.process = subprocess.Popen(["true"])  # it ends at once, and is started again

    balancer = tmp_path / "haproxy"
    balancer.write_text("#!/bin/sh\nsleep 3\n")
    balancer.chmod(0o755)
    monkeypatch.setenv("EPSILON_LAB_HAPROXY", str(balancer))
    monkeypatch.setattr(replicas.Replica, "start", start)
    monkeypatch.setattr(replicas, "_LOOK", 0.1)
    monkeypatch.setattr(replica_module, "AGAIN", 0.0)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(replicas.output, "apart", lambda: None)
    if not held:
        free = replicas.free_ports(2)
        monkeypatch.setattr(held_ports, "held", lambda _: nullcontext(held_ports.Held(free, ())))
    assert replicas.serve(2, port=9600, address="127.0.0.1", hosts=[]) == 1
    assert len(seen) > 4
    assert any(seen) == (not held)


def test_whoever_inherits_the_sockets_holds_the_ports_where_the_holder_is_killed() -> None:
    """HAProxy goes on to hand visitors to them: a port that was let go was taken by another user."""
    for inherited in (True, False):
        with held_ports.held(1) as holder:
            (port,) = holder.ports
            kept = subprocess.Popen(["sleep", "30"], pass_fds=holder.sockets if inherited else ())
        try:
            assert taken_by_another(port) == (not inherited)
        finally:
            kept.kill()
            kept.wait()
