//! Encryption of a token pair that can be fetched again, with a key derived from the previous refresh token.
//!
//! The database alone does not reveal the pair: it stores only a fingerprint of that refresh token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use zeroize::Zeroizing;

use super::Tokens;
use crate::auth::secret::random;
use crate::auth::{IdentityError, Secret, Timestamp};

const HKDF_INFO: &[&[u8]] = &[b"pidq: the pair after this refresh token"];

pub(super) fn encrypt(tokens: &Tokens, token: &str, family: &str) -> Result<String, IdentityError> {
    let nonce = random::<NONCE_LEN>()?;
    let mut buffer = serialize(tokens);
    key(token)
        .and_then(|key| {
            key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad(family), &mut buffer).ok()
        })
        .ok_or(IdentityError::NoRandomness)?;
    let next_pair: Vec<u8> = nonce.into_iter().chain(buffer).collect();
    Ok(URL_SAFE_NO_PAD.encode(next_pair))
}

pub(super) fn decrypt(next_pair: &str, token: &str, family: &str) -> Option<Tokens> {
    let mut next_pair = Zeroizing::new(URL_SAFE_NO_PAD.decode(next_pair).ok()?);
    let (nonce, ciphertext) = next_pair.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let plaintext = key(token)?.open_in_place(nonce, aad(family), ciphertext).ok()?;
    deserialize(std::str::from_utf8(plaintext).ok()?)
}

fn aad(family: &str) -> Aad<&[u8]> {
    Aad::from(family.as_bytes())
}

fn key(token: &str) -> Option<LessSafeKey> {
    let secret = Salt::new(HKDF_SHA256, b"pidq").extract(token.as_bytes());
    let okm = secret.expand(HKDF_INFO, &CHACHA20_POLY1305).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(okm)))
}

/// Joins the fields with line feeds; no field contains one.
fn serialize(tokens: &Tokens) -> Vec<u8> {
    let refresh = tokens.refresh.as_ref().map_or("", |refresh| refresh.expose());
    format!("{}\n{refresh}\n{}\n{}", tokens.access.expose(), tokens.expires_at.0, tokens.scope).into_bytes()
}

fn deserialize(text: &str) -> Option<Tokens> {
    let mut lines = text.split('\n');
    let mut line = || lines.next().map(str::to_owned);
    let (access, refresh) = (line()?, line()?);
    let expires_at = Timestamp(line()?.parse().ok()?);
    Some(Tokens { access: Secret::new(access), refresh: Some(Secret::new(refresh)), expires_at, scope: line()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_decrypted_only_with_its_token_in_its_family() {
        let tokens = Tokens {
            access: Secret::new("pidq_at_a".to_owned()),
            refresh: Some(Secret::new("pidq_rt_b".to_owned())),
            expires_at: Timestamp(7),
            scope: "read write".to_owned(),
        };
        let next_pair = encrypt(&tokens, "pidq_rt_a", "f_1").expect("encrypted");
        let decrypted = decrypt(&next_pair, "pidq_rt_a", "f_1").expect("decrypted");
        assert_eq!(decrypted.access.expose(), "pidq_at_a");
        assert_eq!(decrypted.refresh.as_ref().map(Secret::expose), Some("pidq_rt_b"));
        assert_eq!((decrypted.expires_at, decrypted.scope.as_str()), (Timestamp(7), "read write"));
        assert!(decrypt(&next_pair, "pidq_rt_b", "f_1").is_none(), "another token");
        assert!(decrypt(&next_pair, "pidq_rt_a", "f_2").is_none(), "another family");
        assert!(decrypt(&next_pair[1..], "pidq_rt_a", "f_1").is_none() && decrypt("", "pidq_rt_a", "f_1").is_none());
    }
}
