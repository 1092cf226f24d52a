"""A certificate authority valid for an hour, and the certificates that it signs."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

PEM = serialization.Encoding.PEM


CERT_SIGN = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
DIGITAL_SIGNATURE = x509.KeyUsage(True, False, False, False, False, False, False, False, False)


def named(name):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


class Authority:
    """Signs certificates for this machine."""

    def __init__(self, folder):
        self.key, self.name, self.file = ec.generate_private_key(ec.SECP256R1()), named("An authority"), folder / "authority.pem"
        certificate = self.signed(self.name, self.key, [(x509.BasicConstraints(True, None), True), (CERT_SIGN, True)])
        self.file.write_bytes(certificate.public_bytes(PEM))

    def signed(self, subject, key, extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(self.name, subject, key.public_key(), x509.random_serial_number(),
                                          now - datetime.timedelta(hours=1), now + datetime.timedelta(days=30))
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        for extension, critical in [*extensions, (own, False), (signer, False)]:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256())

    def pair(self):
        """Returns a new certificate and its key as PEM, and its serial number."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        server = x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH])
        extensions = [(x509.BasicConstraints(False, None), True), (DIGITAL_SIGNATURE, True), (server, False), (names, False)]
        certificate = self.signed(named("localhost"), key, extensions)
        private = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return certificate.public_bytes(PEM), private, certificate.serial_number
