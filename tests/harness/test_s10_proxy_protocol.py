"""S10: haproxy as a sender of the PROXY protocol, both versions: limits apply to the clients behind it."""

import contextlib
import socket
import ssl
import subprocess

import pytest
from certificates import CertificateAuthority
from service import Service, free_port, goal
from test_s10_smuggling import find_program, wait_for_port

CONFIG = """
defaults
  mode tcp
  timeout connect 2s
  timeout client 10s
  timeout server 10s
frontend plain
  bind 127.0.0.1:{plain}
  default_backend pidq
frontend encrypted
  bind 127.0.0.1:{encrypted} ssl crt {pem}
  default_backend pidq
backend pidq
  server pidq 127.0.0.1:{server} source 127.0.0.9 {send} check check-send-proxy inter 200ms
"""
# Requests per minute of a network.
RATE = 20


@contextlib.contextmanager
def haproxy(service, send, pem):
    """Starts haproxy in front of the service: one port for plain connections, one that terminates TLS."""
    ports = {"plain": free_port(), "encrypted": free_port()}
    config = service.folder / "haproxy.conf"
    config.write_text(CONFIG.format(server=service.port, send=send, pem=pem, **ports))
    with subprocess.Popen([find_program("haproxy"), "-q", "-f", str(config)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for_port(ports["plain"])
            yield ports
        finally:
            process.terminate()


def get(port, source, path="/graph", tls=None):
    """Returns the complete response to a client at a local address."""
    with socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(source, 0)) as connection:
        connection = tls.wrap_socket(connection, server_hostname="127.0.0.1") if tls else connection
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while block := connection.recv(65_536):
                received += block
    return received


def statuses(port, source, count):
    """Returns the count of each status. A truncated response counts as 0."""
    found = [int(get(port, source)[9:12] or 0) for _ in range(count)]
    return {status: found.count(status) for status in set(found)}


@pytest.mark.skipif(not find_program("haproxy"), reason="haproxy is not installed (Debian: haproxy)")
@pytest.mark.parametrize("send", ["send-proxy", "send-proxy-v2", "send-proxy-v2-ssl"])
def test_haproxy_client_addresses(send, tmp_path):
    authority = CertificateAuthority(tmp_path)
    pem = tmp_path / "server.pem"
    pem.write_bytes(b"".join(authority.issue_server_certificate()[:2]))
    settings = {"PIDQ_PROXY_PROTOCOL": "on", "PIDQ_TRUSTED_PROXIES": "127.0.0.9", "PIDQ_RATE_LIMIT": str(RATE)}
    with Service(**settings) as service, haproxy(service, send, pem) as ports:
        first = statuses(ports["plain"], "127.0.0.5", RATE + 10)
        second = statuses(ports["plain"], "127.0.0.6", 5)
        direct_reply = get(service.port, "127.0.0.7")
        forged_reply = get_after(service.port, "127.0.0.7", b"PROXY TCP4 127.0.0.6 127.0.0.1 1 2\r\n")
        silent = get(service.port, "127.0.0.9")
        secure = get(ports["encrypted"], "127.0.0.8", "/livez", ssl.create_default_context(cafile=authority.file))
        hsts = b"strict-transport-security" in secure.lower()
    measurements = {"sender": send, "limited": first.get(429, 0), "others": second.get(429, 0), "broken": first.get(0, 0) + second.get(0, 0)}
    passed = (
        first.get(429, 0) >= 10 and set(first) <= {401, 429} and second == {401: 5}
        and direct_reply.startswith(b"HTTP/1.1 401") and not forged_reply.startswith(b"HTTP/1.1 401") and silent == b""
        and secure.startswith(b"HTTP/1.1 200") and hsts == (send == "send-proxy-v2-ssl")
    )
    goal("S10-proxied", measurements, ">=10,0,0", passed, direct=direct_reply[9:12].decode(), hsts=hsts)


def get_after(port, source, header):
    """Returns the response to a client that sends a header before its request."""
    with socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(source, 0)) as connection:
        connection.sendall(header + b"GET /graph HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            return connection.recv(65_536)
    return b""
