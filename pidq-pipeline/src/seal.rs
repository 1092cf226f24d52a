//! Secrets that have to be read again: locked with a key that is made of the application secret, never stored in the clear.
//!
//! Each purpose has a key of its own (HKDF-SHA-256), and what is sealed (ChaCha20-Poly1305) opens only where it belongs:
//! a row that somebody changed, or copied to another place, does not open.

pub(crate) mod pieces;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pidq_http::Secret;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use zeroize::Zeroizing;

/// Seals and opens.
pub struct Sealer {
    root: Prk,
    is_lasting: bool,
}

/// What a sealed text is for, and where it belongs.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// What it is for; other purposes have other keys. Parts of it may be secrets themselves.
    pub purpose: &'a [&'a str],
    /// Where it stands. None of these holds a line feed.
    pub context: &'a [&'a str],
}

impl Sealer {
    /// What this seals opens in every process with the same secret.
    pub fn of(secret: &Secret) -> Sealer {
        Sealer { root: root(secret.expose().as_bytes()), is_lasting: true }
    }

    /// What this seals opens in this process alone. None: the system has no randomness.
    pub fn of_this_process() -> Option<Sealer> {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *secret).ok()?;
        Some(Sealer { root: root(&*secret), is_lasting: false })
    }

    /// Whether it opens after a restart what it seals now.
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// Locks a text. None: the system has no randomness.
    pub(crate) fn seal(&self, place: Place<'_>, text: &[u8]) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut locked = Zeroizing::new(text.to_vec());
        let tag = self
            .key(place)?
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), aad(place), &mut locked)
            .ok()?;
        Some(URL_SAFE_NO_PAD.encode([&nonce[..], &locked[..], tag.as_ref()].concat()))
    }

    /// Opens what was locked for this place; none if it was not, or with another secret.
    pub(crate) fn open(&self, place: Place<'_>, sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
        let mut sealed = Zeroizing::new(URL_SAFE_NO_PAD.decode(sealed).ok()?);
        let (nonce, locked) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self.key(place)?.open_in_place(nonce, aad(place), locked).ok()?;
        Some(Zeroizing::new(text.to_vec()))
    }

    fn key(&self, place: Place<'_>) -> Option<LessSafeKey> {
        let purpose: Vec<&[u8]> = place.purpose.iter().flat_map(|part| [part.as_bytes(), b"\n"]).collect();
        let okm = self.root.expand(&purpose, &CHACHA20_POLY1305).ok()?;
        Some(LessSafeKey::new(UnboundKey::from(okm)))
    }
}

fn root(secret: &[u8]) -> Prk {
    Salt::new(HKDF_SHA256, b"pidq-pipeline").extract(secret)
}

fn aad(place: Place<'_>) -> Aad<Vec<u8>> {
    Aad::from(place.context.join("\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place<'_> = Place { purpose: &["test"], context: &["1", "https://a.example"] };

    fn sealer(secret: &str) -> Sealer {
        Sealer::of(&Secret::new(secret))
    }

    #[test]
    fn what_is_sealed_opens_where_it_belongs_and_nowhere_else() {
        let sealed = sealer("one").seal(PLACE, b"sk-1").expect("randomness");
        let open = |sealer: &Sealer, place| sealer.open(place, &sealed).map(|text| text.to_vec());
        assert_eq!(open(&sealer("one"), PLACE).as_deref(), Some(&b"sk-1"[..]));
        assert_eq!(open(&sealer("two"), PLACE), None);
        for place in [
            Place { purpose: &["other"], ..PLACE },
            Place { context: &["2", "https://a.example"], ..PLACE },
            Place { context: &["1", "https://b.example"], ..PLACE },
        ] {
            assert_eq!(open(&sealer("one"), place), None);
        }
    }

    #[test]
    fn what_was_changed_does_not_open_and_nothing_shows() {
        let sealer = Sealer::of_this_process().expect("randomness");
        let sealed = sealer.seal(PLACE, b"sk-secret").expect("randomness");
        assert_ne!(sealed, sealer.seal(PLACE, b"sk-secret").expect("randomness"), "the same is sealed in another way");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            assert!(sealer.open(PLACE, &changed).is_none(), "{at}");
        }
        for wrong in ["", "AAAA", "ä"] {
            assert!(sealer.open(PLACE, wrong).is_none(), "{wrong}");
        }
    }
}
