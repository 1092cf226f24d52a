//! Expiry date of a certificate.

use x509_cert::Certificate;
use x509_cert::der::Decode;

/// Returns the expiry of a certificate in seconds since 1970. `None` if it cannot be parsed.
pub(super) fn not_after(certificate: &[u8]) -> Option<i64> {
    let certificate = Certificate::from_der(certificate).ok()?;
    i64::try_from(certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expiry_of_a_certificate_is_parsed() {
        // Two digits of the year until 2049, four later (RFC 5280, 4.1.2.5).
        let cases = [
            (rcgen::date_time_ymd(2000, 2, 29), 951_782_400),
            (rcgen::date_time_ymd(2033, 5, 18), 1_999_987_200),
            (rcgen::date_time_ymd(2049, 12, 31), 2_524_521_600),
            (rcgen::date_time_ymd(2050, 1, 1), 2_524_608_000),
            (rcgen::date_time_ymd(2100, 3, 1), 4_107_542_400),
        ];
        for (date, expected) in cases {
            let pair = rcgen::KeyPair::generate().expect("a key");
            let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
            parameters.not_after = date;
            let certificate = parameters.self_signed(&pair).expect("a certificate");
            assert_eq!(not_after(certificate.der()), Some(expected));
        }
    }

    #[test]
    fn an_invalid_certificate_has_no_expiry() {
        let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let der = pair.cert.der();
        for length in 0..der.len() {
            not_after(&der[..length]);
        }
        for index in 0..der.len() {
            let mut changed = der.to_vec();
            changed[index] ^= 0xff;
            not_after(&changed);
        }
        assert_eq!(not_after(b""), None);
    }
}
