"""S7: the TLS scanner report, and certificate reloads under load."""

import importlib.util
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest
from certificates import Authority
from cryptography import x509
from service import LONG, Service, goal

RELOADS = 1_000 if LONG else 25


class Pair:
    """The certificate files of a server."""

    def __init__(self, folder):
        self.authority = Authority(folder)
        self.files = folder / "server.pem", folder / "server.key"
        self.number = self.renew()

    def settings(self):
        return {"PIDQ_TLS_CERT": str(self.files[0]), "PIDQ_TLS_KEY": str(self.files[1])}

    def write(self, certificate, key):
        for file, text in zip(self.files, (certificate, key)):
            fresh = file.with_suffix(".new")
            fresh.write_bytes(text)
            os.replace(fresh, file)

    def renew(self):
        certificate, key, number = self.authority.pair()
        self.write(certificate, key)
        return number

    def mix(self):
        """Writes a certificate with the key of another one."""
        self.write(self.authority.pair()[0], self.authority.pair()[1])


def greet(service, trust):
    """Returns the serial number of the server's certificate after a successful request."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as line, trust.wrap_socket(line, server_hostname="localhost") as tls:
        number = x509.load_der_x509_certificate(tls.getpeercert(binary_form=True)).serial_number
        tls.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert tls.recv(100).startswith(b"HTTP/1.1 200")
        return number


def test_scanner(tmp_path):
    if not importlib.util.find_spec("sslyze"):
        pytest.skip("sslyze is not there")
    pair, failed = Pair(tmp_path), []
    for profile, oldest in (("intermediate", "1.2"), ("modern", "1.3")):
        with Service(authority=str(pair.authority.file), PIDQ_TLS_MIN=oldest, **pair.settings()) as service:
            command = [sys.executable, "-m", "sslyze", f"--mozilla_config={profile}", f"--certinfo_ca_file={pair.authority.file}", f"localhost:{service.port}"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0 or "OK - Compliant" not in done.stdout:
                print(done.stdout[-3_000:], done.stderr[-1_000:])
                failed.append(profile)
    goal("S7-scan", {"profiles": "intermediate+modern", "failed": len(failed)}, "0", not failed)


def test_certificates_change(tmp_path):
    pair, end, failures, greetings = Pair(tmp_path), threading.Event(), [], [0]
    trust = ssl.create_default_context(cafile=str(pair.authority.file))
    with Service(authority=str(pair.authority.file), **pair.settings()) as service:

        def connect_repeatedly():
            while not end.is_set():
                try:
                    greet(service, trust)
                    greetings[0] += 1
                except (OSError, AssertionError) as error:
                    failures.append(repr(error))

        threads = [threading.Thread(target=connect_repeatedly) for _ in range(3)]
        for thread in threads:
            thread.start()
        late = 0
        for _ in range(RELOADS):
            number, asked = pair.renew(), time.monotonic()
            service.process.send_signal(signal.SIGHUP)
            while greet(service, trust) != number:
                if time.monotonic() - asked > 5:
                    late += 1
                    break
        pair.mix()
        service.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        kept_out = greet(service, trust) == number
        end.set()
        for thread in threads:
            thread.join()
    for fault in failures[:5]:
        print("FAULT", fault)
    measurements = {"reloads": RELOADS, "late": late, "greetings": greetings[0], "failed": len(failures), "mixed_pair_kept_out": kept_out}
    goal("S7-reload", measurements, "0,0", not failures and not late and kept_out)
