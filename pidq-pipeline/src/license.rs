//! Licences: which installation may do how much, signed by whoever distributes the platform.
//!
//! A licence is `PIDQ1.` + base64url of a JSON payload + `.` + base64url of an Ed25519 signature (RFC 8032) over the
//! payload *as it is sent*: nothing is printed anew before it is checked. The keys that are trusted are a setting.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::BASE32_NOPAD;
use pidq_http::auth::Moment;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What every licence begins with.
const PREFIX: &str = "PIDQ1";
/// What a licence is for, beside the installation.
const PRODUCT: &str = "pidq-pipeline";
/// How long before its end somebody is told.
const SOON: i64 = 30 * DAY;
/// Seconds of a day.
pub const DAY: i64 = 24 * 60 * 60;

/// What a licence says.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Licence {
    /// The version of the form: 1.
    pub v: u32,
    /// Its id.
    pub lid: String,
    /// The system that it is for.
    pub sys: String,
    /// Whom it was given to.
    pub org: String,
    /// What it is called.
    pub plan: String,
    /// When it was given, in seconds since 1970.
    pub iat: i64,
    /// From when on it holds.
    pub nbf: i64,
    /// When it ends.
    pub exp: i64,
    /// How many days after its end everything still works.
    pub grace_days: u32,
    /// How much it allows.
    pub limits: Allowance,
    /// What else it allows.
    #[serde(default)]
    pub features: Vec<String>,
}

/// How much a licence allows; none is without limit.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Allowance {
    /// Pipelines.
    pub pipelines: Option<u64>,
    /// Documents in all pipelines.
    pub documents: Option<u64>,
    /// Questions answered in a day.
    pub queries_per_day: Option<u64>,
}

impl Licence {
    /// Until when everything still works, in seconds since 1970.
    pub fn grace_ends(&self) -> i64 {
        self.exp.saturating_add(i64::from(self.grace_days) * DAY)
    }
}

/// What was given to an installation, with its signature checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Given {
    /// Nothing.
    #[default]
    Nothing,
    /// What is no licence, or what nobody who is trusted signed.
    Invalid(&'static str),
    /// A licence.
    Signed(Licence),
}

impl Given {
    /// Where an installation with it stands.
    pub fn stands(&self, system: &str, now: Moment) -> State {
        match self {
            Given::Nothing => State::Missing,
            Given::Invalid(why) => State::Invalid(why),
            Given::Signed(licence) => stands(licence.clone(), system, now.seconds()),
        }
    }
}

/// Where an installation stands.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// There is no licence.
    Missing,
    /// It holds.
    Valid(Licence),
    /// It holds, and ends soon.
    Expiring(Licence),
    /// It ended, and everything still works for a while.
    Grace(Licence),
    /// It ended.
    Expired(Licence),
    /// It is no licence, or nobody who is trusted signed it.
    Invalid(&'static str),
    /// It is for another installation.
    WrongSystem(Licence),
}

impl State {
    /// Its name on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            State::Missing => "missing",
            State::Valid(_) => "valid",
            State::Expiring(_) => "expiring",
            State::Grace(_) => "grace",
            State::Expired(_) => "expired",
            State::Invalid(_) => "invalid",
            State::WrongSystem(_) => "wrong_system",
        }
    }

    /// The licence, if it was signed by somebody who is trusted.
    pub fn licence(&self) -> Option<&Licence> {
        match self {
            State::Valid(licence) | State::Expiring(licence) | State::Grace(licence) => Some(licence),
            State::Expired(licence) | State::WrongSystem(licence) => Some(licence),
            State::Missing | State::Invalid(_) => None,
        }
    }

    /// Whether everything works.
    pub fn is_good(&self) -> bool {
        matches!(self, State::Valid(_) | State::Expiring(_) | State::Grace(_))
    }
}

/// The name of an installation for whoever gives licences: `PIDQ-` and four times four letters and digits.
pub fn system_id(installation: &str) -> String {
    let digest = Sha256::digest(format!("{installation}{PRODUCT}"));
    let letters = BASE32_NOPAD.encode(&digest[..10]);
    let groups: Vec<&str> = letters.as_bytes().chunks(4).filter_map(|group| std::str::from_utf8(group).ok()).collect();
    format!("PIDQ-{}", groups.join("-"))
}

/// The keys that are trusted.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    keys: Vec<Vec<u8>>,
}

impl Trust {
    /// Reads public keys: base64url of 32 bytes each, perhaps with a name and a colon before.
    ///
    /// # Errors
    /// The key that is none.
    pub fn read(keys: &[String]) -> Result<Trust, BadKey> {
        let key = |text: &String| {
            let key = text.rsplit_once(':').map_or(text.as_str(), |(_, key)| key);
            let bytes = URL_SAFE_NO_PAD.decode(key).ok().filter(|bytes| bytes.len() == 32);
            bytes.ok_or_else(|| BadKey(text.clone()))
        };
        Ok(Trust { keys: keys.iter().map(key).collect::<Result<_, _>>()? })
    }

    /// Where an installation with some licences stands: the newest that is signed counts.
    pub fn judge<'l>(&self, licences: impl IntoIterator<Item = &'l str>, system: &str, now: Moment) -> State {
        self.newest(licences).stands(system, now)
    }

    /// The newest licence that is signed; what is wrong, if none is.
    pub fn newest<'l>(&self, licences: impl IntoIterator<Item = &'l str>) -> Given {
        let mut given = Given::Nothing;
        for licence in licences {
            match (self.open(licence), &given) {
                (Ok(licence), Given::Signed(known)) if licence.iat < known.iat => {}
                (Ok(licence), _) => given = Given::Signed(licence),
                (Err(_), Given::Signed(_)) => {}
                (Err(why), _) => given = Given::Invalid(why),
            }
        }
        given
    }

    /// What a licence says, if somebody who is trusted signed it.
    fn open(&self, licence: &str) -> Result<Licence, &'static str> {
        let parts: Vec<&str> = licence.trim().split('.').collect();
        let [PREFIX, payload, signature] = parts[..] else { return Err("it is no licence of this product") };
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "its signature cannot be read")?;
        let signed = format!("{PREFIX}.{payload}");
        let verifies =
            |key: &Vec<u8>| UnparsedPublicKey::new(&ED25519, key).verify(signed.as_bytes(), &signature).is_ok();
        if !self.keys.iter().any(verifies) {
            return Err("nobody who is trusted signed it");
        }
        let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| "its payload cannot be read")?;
        let licence: Licence = serde_json::from_slice(&payload).map_err(|_| "its payload is not understood")?;
        if licence.v == 1 { Ok(licence) } else { Err("it is of a version that is not known") }
    }
}

fn stands(licence: Licence, system: &str, now: i64) -> State {
    if licence.sys != system {
        State::WrongSystem(licence)
    } else if now < licence.nbf {
        State::Invalid("it does not hold yet")
    } else if now >= licence.grace_ends() {
        State::Expired(licence)
    } else if now >= licence.exp {
        State::Grace(licence)
    } else if now >= licence.exp.saturating_sub(SOON) {
        State::Expiring(licence)
    } else {
        State::Valid(licence)
    }
}

/// The key of whoever gives licences.
pub struct Issuer(Ed25519KeyPair);

impl Issuer {
    /// A new key as PKCS #8 in base64url: to be kept secret.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn generate() -> Result<pidq_http::Secret, BadKey> {
        let random = ring::rand::SystemRandom::new();
        let document = Ed25519KeyPair::generate_pkcs8(&random).map_err(|_| BadKey("no random bytes".into()))?;
        Ok(pidq_http::Secret::new(URL_SAFE_NO_PAD.encode(document.as_ref())))
    }

    /// The key of [`generate`](Self::generate).
    ///
    /// # Errors
    /// If it is none. The key is not in the error.
    pub fn read(key: &pidq_http::Secret) -> Result<Issuer, BadKey> {
        let wrong = || BadKey("(secret)".into());
        let document = URL_SAFE_NO_PAD.decode(key.expose().trim()).map_err(|_| wrong())?;
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(&document).map(Issuer).map_err(|_| wrong())
    }

    /// The public key, for those who check licences.
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// A licence as text.
    pub fn issue(&self, licence: &Licence) -> String {
        let payload = serde_json::to_vec(licence).unwrap_or_default();
        let signed = format!("{PREFIX}.{}", URL_SAFE_NO_PAD.encode(payload));
        let signature = URL_SAFE_NO_PAD.encode(self.0.sign(signed.as_bytes()).as_ref());
        format!("{signed}.{signature}")
    }
}

/// A key that is none.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BadKey(String);

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no Ed25519 key: `pidq pipeline license key` makes one", self.0)
    }
}

impl std::error::Error for BadKey {}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: &str = "PIDQ-AAAA-BBBB-CCCC-DDDD";
    const NOW: Moment = Moment(1_800_000_000_000);

    fn issuer() -> Issuer {
        Issuer::read(&Issuer::generate().expect("a key, or what was made of one"))
            .expect("a key, or what was made of one")
    }

    fn licence() -> Licence {
        let now = NOW.seconds();
        let (iat, nbf, exp) = (now - DAY, now - DAY, now + 300 * DAY);
        let (v, sys, grace_days) = (1, SYSTEM.to_owned(), 14);
        Licence {
            v,
            lid: "L-1".into(),
            sys,
            org: "ACME".into(),
            plan: "site".into(),
            iat,
            nbf,
            exp,
            grace_days,
            ..Licence::default()
        }
    }

    fn judged(change: impl Fn(&mut Licence)) -> &'static str {
        let (issuer, mut licence) = (issuer(), licence());
        change(&mut licence);
        let trust = Trust::read(&[format!("key-1:{}", issuer.public_key())]).expect("a key, or what was made of one");
        trust.judge([issuer.issue(&licence).as_str()], SYSTEM, NOW).word()
    }

    #[test]
    fn a_licence_goes_through_its_states_at_the_second() {
        let now = NOW.seconds();
        assert_eq!(judged(|_| {}), "valid");
        assert_eq!(judged(|licence| licence.exp = now + 30 * DAY), "expiring");
        assert_eq!(judged(|licence| licence.exp = now + 30 * DAY + 1), "valid");
        assert_eq!(judged(|licence| licence.exp = now + 1), "expiring");
        assert_eq!(judged(|licence| licence.exp = now), "grace");
        assert_eq!(judged(|licence| licence.exp = now - 14 * DAY + 1), "grace");
        assert_eq!(judged(|licence| licence.exp = now - 14 * DAY), "expired");
        assert_eq!(judged(|licence| licence.nbf = now + 1), "invalid");
        assert_eq!(judged(|licence| licence.sys.push('X')), "wrong_system");
        assert_eq!(judged(|licence| licence.v = 2), "invalid");
    }

    #[test]
    fn every_byte_of_a_licence_is_signed() {
        let issuer = issuer();
        let trust = Trust::read(&[issuer.public_key()]).expect("a key, or what was made of one");
        let good = issuer.issue(&licence());
        assert!(trust.judge([good.as_str()], SYSTEM, NOW).is_good());
        for at in 0..good.len() {
            let mut bytes = good.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("a key, or what was made of one");
            assert!(!trust.judge([changed.as_str()], SYSTEM, NOW).is_good() || same_bits(&changed, &good), "{at}");
        }
    }

    /// The last digit of base64 has bits that nothing reads.
    fn same_bits(a: &str, b: &str) -> bool {
        let read = |text: &str| text.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).ok()).collect::<Vec<_>>();
        read(a) == read(b)
    }

    #[test]
    fn keys_change_and_the_newest_licence_counts() {
        let (old, new) = (issuer(), issuer());
        let trust = Trust::read(&[old.public_key(), new.public_key()]).expect("a key, or what was made of one");
        let ended = old.issue(&Licence { iat: 1, exp: 2, ..licence() });
        let renewed = new.issue(&licence());
        assert_eq!(trust.judge([renewed.as_str(), ended.as_str()], SYSTEM, NOW).word(), "valid");
        assert_eq!(trust.judge([ended.as_str()], SYSTEM, NOW).word(), "expired");
        assert_eq!(trust.judge([], SYSTEM, NOW).word(), "missing");
        let stranger = issuer().issue(&licence());
        assert_eq!(trust.judge([stranger.as_str()], SYSTEM, NOW), State::Invalid("nobody who is trusted signed it"));
    }

    #[test]
    fn a_system_id_has_its_form_and_stays() {
        let id = system_id("0199");
        assert_eq!((id.len(), id == system_id("0199"), id == system_id("0198")), (24, true, false));
        assert!(
            id.strip_prefix("PIDQ-").expect("a key, or what was made of one").split('-').all(|group| group.len() == 4),
            "{id}"
        );
    }
}
