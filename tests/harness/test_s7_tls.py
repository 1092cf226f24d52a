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
from certificates import CertificateAuthority
from cryptography import x509
from service import LONG, Service, goal

RELOADS = 1_000 if LONG else 25


class CertificateFiles:
    """The files of a server's certificate and key, and their CA."""

    def __init__(self, folder):
        self.authority = CertificateAuthority(folder)
        self.files = folder / "server.pem", folder / "server.key"
        self.renew()

    def settings(self):
        return {"PIDQ_TLS_CERT": str(self.files[0]), "PIDQ_TLS_KEY": str(self.files[1])}

    def write(self, certificate, key):
        for file, content in zip(self.files, (certificate, key)):
            new_file = file.with_suffix(".new")
            new_file.write_bytes(content)
            os.replace(new_file, file)

    def renew(self):
        """Writes a new certificate with its key and returns its serial number."""
        certificate, key, serial = self.authority.issue_server_certificate()
        self.write(certificate, key)
        return serial

    def write_mismatched(self):
        """Writes a certificate with the key of another one."""
        self.write(self.authority.issue_server_certificate()[0], self.authority.issue_server_certificate()[1])


def served_serial(service, context):
    """Returns the serial number of the server's certificate after a successful request."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection, context.wrap_socket(connection, server_hostname="localhost") as tls:
        serial = x509.load_der_x509_certificate(tls.getpeercert(binary_form=True)).serial_number
        tls.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert tls.recv(100).startswith(b"HTTP/1.1 200")
        return serial


def test_scanner(tmp_path):
    if not importlib.util.find_spec("sslyze"):
        pytest.skip("sslyze is not installed")
    certificates, failed = CertificateFiles(tmp_path), []
    for profile, minimum in (("intermediate", "1.2"), ("modern", "1.3")):
        with Service(ca_file=str(certificates.authority.file), PIDQ_TLS_MIN=minimum, **certificates.settings()) as service:
            command = [sys.executable, "-m", "sslyze", f"--mozilla_config={profile}", f"--certinfo_ca_file={certificates.authority.file}", f"localhost:{service.port}"]
            process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            if process.returncode != 0 or "OK - Compliant" not in process.stdout:
                print(process.stdout[-3_000:], process.stderr[-1_000:])
                failed.append(profile)
    goal("S7-scan", {"profiles": "intermediate+modern", "failed": len(failed)}, "0", not failed)


def test_certificate_reload(tmp_path):
    certificates, stop, failures, handshakes = CertificateFiles(tmp_path), threading.Event(), [], [0]
    context = ssl.create_default_context(cafile=str(certificates.authority.file))
    with Service(ca_file=str(certificates.authority.file), **certificates.settings()) as service:

        def connect_repeatedly():
            while not stop.is_set():
                try:
                    served_serial(service, context)
                    handshakes[0] += 1
                except (OSError, AssertionError) as error:
                    failures.append(repr(error))

        threads = [threading.Thread(target=connect_repeatedly) for _ in range(3)]
        for thread in threads:
            thread.start()
        late = 0
        for _ in range(RELOADS):
            serial, start = certificates.renew(), time.monotonic()
            service.process.send_signal(signal.SIGHUP)
            while served_serial(service, context) != serial:
                if time.monotonic() - start > 5:
                    late += 1
                    break
        certificates.write_mismatched()
        service.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        mismatch_rejected = served_serial(service, context) == serial
        stop.set()
        for thread in threads:
            thread.join()
    for failure in failures[:5]:
        print("FAILURE", failure)
    measurements = {"reloads": RELOADS, "late": late, "handshakes": handshakes[0], "failed": len(failures), "mismatch_rejected": mismatch_rejected}
    goal("S7-reload", measurements, "0,0", not failures and not late and mismatch_rejected)
