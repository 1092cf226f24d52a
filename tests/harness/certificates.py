"""Certificate authority for tests, and the server certificates that it issues."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PEM = serialization.Encoding.PEM


CERT_SIGN = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
DIGITAL_SIGNATURE = x509.KeyUsage(True, False, False, False, False, False, False, False, False)


def common_name(name):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


class CertificateAuthority:
    """Issues certificates for this machine, valid for 30 days."""

    def __init__(self, folder):
        self.key, self.name, self.file = ec.generate_private_key(ec.SECP256R1()), common_name("Test CA"), folder / "authority.pem"
        certificate = self.issue(self.name, self.key, [(x509.BasicConstraints(True, None), True), (CERT_SIGN, True)])
        self.file.write_bytes(certificate.public_bytes(PEM))

    def issue(self, subject, key, extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(self.name, subject, key.public_key(), x509.random_serial_number(),
                                          now - datetime.timedelta(hours=1), now + datetime.timedelta(days=30))
        authority_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        subject_id = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        for extension, critical in [*extensions, (subject_id, False), (authority_id, False)]:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256())

    def issue_server_certificate(self):
        """Returns a new certificate and its key as PEM, and its serial number."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        server = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH])
        extensions = [(x509.BasicConstraints(False, None), True), (DIGITAL_SIGNATURE, True), (server, False), (names, False)]
        certificate = self.issue(common_name("localhost"), key, extensions)
        private = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return certificate.public_bytes(PEM), private, certificate.serial_number
