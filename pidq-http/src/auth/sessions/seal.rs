//! A pair of tokens that may be fetched once more, locked with the refresh token that it followed.
//!
//! Whoever reads the database reads nothing: the key is the old token, of which only a fingerprint is stored.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use zeroize::Zeroizing;

use super::Tokens;
use crate::auth::secret::random;
use crate::auth::{IdentityError, Moment, Secret};

const PURPOSE: &[&[u8]] = &[b"pidq: the pair after this refresh token"];

pub(super) fn close(tokens: &Tokens, token: &str, family: &str) -> Result<String, IdentityError> {
    let nonce = random::<NONCE_LEN>()?;
    let mut text = write(tokens);
    key(token)
        .and_then(|key| key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad(family), &mut text).ok())
        .ok_or(IdentityError::NoRandomness)?;
    let sealed: Vec<u8> = nonce.into_iter().chain(text).collect();
    Ok(URL_SAFE_NO_PAD.encode(sealed))
}

pub(super) fn open(sealed: &str, token: &str, family: &str) -> Option<Tokens> {
    let mut sealed = Zeroizing::new(URL_SAFE_NO_PAD.decode(sealed).ok()?);
    let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let text = key(token)?.open_in_place(nonce, aad(family), text).ok()?;
    read(std::str::from_utf8(text).ok()?)
}

fn aad(family: &str) -> Aad<&[u8]> {
    Aad::from(family.as_bytes())
}

fn key(token: &str) -> Option<LessSafeKey> {
    let secret = Salt::new(HKDF_SHA256, b"pidq").extract(token.as_bytes());
    let okm = secret.expand(PURPOSE, &CHACHA20_POLY1305).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(okm)))
}

/// No part holds a line feed.
fn write(tokens: &Tokens) -> Vec<u8> {
    let refresh = tokens.refresh.as_ref().map_or("", |refresh| refresh.expose());
    format!("{}\n{refresh}\n{}\n{}", tokens.access.expose(), tokens.expires_at.0, tokens.scope).into_bytes()
}

fn read(text: &str) -> Option<Tokens> {
    let mut lines = text.split('\n');
    let mut line = || lines.next().map(str::to_owned);
    let (access, refresh) = (line()?, line()?);
    let expires_at = Moment(line()?.parse().ok()?);
    Some(Tokens { access: Secret::new(access), refresh: Some(Secret::new(refresh)), expires_at, scope: line()? })
}
