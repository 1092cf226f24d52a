//! Types of the settings for traces: header lines and a share.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::setting_type::{SettingType, mismatch};

/// Header lines `NAME: VALUE`, which may contain keys and are secret.
pub struct HeaderLines;

impl SettingType for HeaderLines {
    type Value = HeaderMap;
    const IS_SECRET: bool = true;

    fn expected() -> String {
        "header lines such as `Authorization: Bearer KEY`".to_owned()
    }

    fn parse(text: &str) -> Result<HeaderMap, String> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| header(line).ok_or_else(|| mismatch::<Self>(line))).collect()
    }
}

fn header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some((name.trim().parse().ok()?, value))
}

/// Share from 0 to 1.
pub struct Ratio;

impl SettingType for Ratio {
    type Value = f64;

    fn expected() -> String {
        "a number from 0 to 1".to_owned()
    }

    fn parse(text: &str) -> Result<f64, String> {
        let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
        ratio.ok_or_else(|| mismatch::<Self>(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines_and_errors_do_not_show_them() {
        let headers = HeaderLines::parse("Authorization: Bearer canary\n\nX-Scope: a:b\n").expect("they are valid");
        assert_eq!(headers.len(), 2);
        assert_eq!(headers["authorization"], "Bearer canary");
        assert_eq!(headers["x-scope"], "a:b");
        assert!(!format!("{headers:?}").contains("canary"));
        for bad in ["canary", "a b: canary", "x: canary\u{1}"] {
            assert!(HeaderLines::parse(bad).is_err_and(|reason| !reason.contains("canary")), "{bad}");
        }
    }

    #[test]
    fn a_ratio_is_from_0_to_1() {
        assert_eq!(["0", "0.25", "1"].map(Ratio::parse), [Ok(0.0), Ok(0.25), Ok(1.0)]);
        for bad in ["-0.1", "1.1", "NaN", "inf", "10%", ""] {
            assert!(Ratio::parse(bad).is_err(), "{bad}");
        }
    }
}
