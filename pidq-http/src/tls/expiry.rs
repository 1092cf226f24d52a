//! Expiry date of a certificate.
//!
//! A certificate is DER. Only the path to the date is parsed (RFC 5280 4.1).

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;

/// Returns the expiry of a certificate in seconds since 1970. `None` if it cannot be parsed.
pub(super) fn not_after(certificate: &[u8]) -> Option<i64> {
    let (_, certificate, _) = value(certificate)?;
    let (_, mut rest, _) = value(certificate)?;
    if rest.first() == Some(&VERSION) {
        rest = value(rest)?.2;
    }
    // Serial number, algorithm, issuer.
    for _ in 0..3 {
        rest = value(rest)?.2;
    }
    let (tag, validity, _) = value(rest)?;
    let (_, _, end) = value(validity)?;
    let (kind, text, _) = value(end)?;
    (tag == SEQUENCE).then(|| seconds(kind, text))?
}

/// Returns the first DER value: its tag, its content, and the bytes after it.
fn value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    // Lengths up to 127 are one byte; longer ones begin with the number of length bytes.
    let digits = if first < 0x80 { 0 } else { usize::from(first & 0x7f) };
    let (length, rest) = rest.split_at_checked(digits)?;
    let length = match digits {
        0 => usize::from(first),
        1..=4 => length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)),
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Parses `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn seconds(kind: u8, text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let century = match (kind == UTC_TIME, text.get(..2)?.parse::<i64>().ok()?) {
        (false, _) => "",
        // RFC 5280 4.1.2.5.1: two digits below 50 belong to this century.
        (true, 50..) => "19",
        (true, _) => "20",
    };
    let text = format!("{century}{text}");
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let days = days(number(0, 4)?, number(4, 6)?, number(6, 8)?);
    Some(days * 86_400 + number(8, 10)? * 3600 + number(10, 12)? * 60 + number(12, 14)?)
}

/// Returns days since 1970. Years begin in March here, so that the leap day is the last one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds_since_1970() {
        let cases: [(u8, &[u8], i64); 5] = [
            (UTC_TIME, b"700101000000Z", 0),
            (UTC_TIME, b"000229123456Z", 951_827_696),
            (UTC_TIME, b"491231235959Z", 2_524_607_999),
            (0x18, b"20500101000000Z", 2_524_608_000),
            (0x18, b"21000301000000Z", 4_107_542_400),
        ];
        for (kind, text, expected) in cases {
            assert_eq!(seconds(kind, text), Some(expected));
        }
        assert_eq!(seconds(UTC_TIME, b"x"), None);
    }

    #[test]
    fn the_expiry_of_a_certificate_is_parsed() {
        let pair = rcgen::KeyPair::generate().expect("a key");
        let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        parameters.not_after = rcgen::date_time_ymd(2033, 5, 18);
        let certificate = parameters.self_signed(&pair).expect("a certificate");
        assert_eq!(not_after(certificate.der()), Some(1_999_987_200));
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
