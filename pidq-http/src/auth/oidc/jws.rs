//! A signed token as it is sent: three parts with dots between them. RFC 7515, the compact form, and nothing else of it.
//!
//! Keys never come from the token: what it says in `jku`, `jwk`, `x5u` or `x5c` is not read.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::TokenFault;
use super::keys::PublicKey;

/// A way to sign. None of them works with a secret that both sides know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Algorithm {
    /// RSA with PKCS #1 v1.5 padding and SHA-256.
    Rs256,
    /// RSA with PSS padding and SHA-256.
    Ps256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 4] = [Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::EdDsa];

    /// The algorithm of this name. Ed25519 has two: that of RFC 8037, and its own since RFC 9864.
    pub fn named(name: &str) -> Option<Algorithm> {
        match name {
            "RS256" => Some(Algorithm::Rs256),
            "PS256" => Some(Algorithm::Ps256),
            "ES256" => Some(Algorithm::Es256),
            "EdDSA" | "Ed25519" => Some(Algorithm::EdDsa),
            _ => None,
        }
    }
}

/// A token, taken apart.
pub(super) struct Jws<'a> {
    header: Map<String, Value>,
    payload: &'a str,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    pub(super) fn read(token: &'a str) -> Result<Jws<'a>, TokenFault> {
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenFault::Shape)?;
        let parts = signed.split_once('.').filter(|(_, payload)| !payload.contains('.'));
        let (header, payload) = parts.ok_or(TokenFault::Shape)?;
        let header = object(&decode(header)?).ok_or(TokenFault::Header)?;
        Ok(Jws { header, payload, signed, signature: decode(signature)? })
    }

    /// The algorithm, if it is one of those allowed.
    pub(super) fn algorithm(&self, allowed: &[Algorithm]) -> Result<Algorithm, TokenFault> {
        let algorithm = self.text("alg").and_then(Algorithm::named).ok_or(TokenFault::Algorithm)?;
        if allowed.contains(&algorithm) { Ok(algorithm) } else { Err(TokenFault::Algorithm) }
    }

    /// Refuses a header that only makes sense to those who know more than we do.
    pub(super) fn refuse_demands(&self) -> Result<(), TokenFault> {
        let demands = ["crit", "b64", "zip", "enc"];
        if demands.iter().any(|name| self.header.contains_key(*name)) { Err(TokenFault::Critical) } else { Ok(()) }
    }

    pub(super) fn kind(&self) -> Option<&str> {
        self.text("typ")
    }

    pub(super) fn key_id(&self) -> Option<&str> {
        self.text("kid")
    }

    pub(super) fn claims(&self) -> Result<Map<String, Value>, TokenFault> {
        object(&decode(self.payload)?).ok_or(TokenFault::Claims)
    }

    pub(super) fn is_signed_by(&self, key: &PublicKey, algorithm: Algorithm) -> bool {
        let (message, signature) = (self.signed.as_bytes(), self.signature.as_slice());
        let verified = match (algorithm, key) {
            (Algorithm::Rs256, PublicKey::Rsa { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Algorithm::Ps256, PublicKey::Rsa { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PSS_2048_8192_SHA256, message, signature)
            }
            (Algorithm::Es256, PublicKey::P256(point)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Algorithm::EdDsa, PublicKey::Ed25519(point)) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            _ => return false,
        };
        verified.is_ok()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.header.get(name).and_then(Value::as_str)
    }
}

/// Strict: no padding, no bits left over, so that a token has one spelling.
pub(super) fn decode(part: &str) -> Result<Vec<u8>, TokenFault> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenFault::Shape)
}

/// An object of JSON whose names are different. Where a name is there twice, two readers may see two tokens.
fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice::<Distinct>(bytes).ok().map(|distinct| distinct.0)
}

struct Distinct(Map<String, Value>);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Distinct, D::Error> {
        deserializer.deserialize_map(DistinctNames)
    }
}

struct DistinctNames;

impl<'de> Visitor<'de> for DistinctNames {
    type Value = Distinct;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Distinct, A::Error> {
        let mut map = Map::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if map.insert(name, value).is_some() {
                return Err(A::Error::custom("a name is there twice"));
            }
        }
        Ok(Distinct(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_a_token_or_refused(text in "[A-Za-z0-9_.=-]{0,80}") {
            let is_token = Jws::read(&text).is_ok();
            prop_assert!(!is_token || text.matches('.').count() == 2);
        }

        #[test]
        fn any_header_is_an_object_or_refused(header in "\\PC{0,60}", nested in 0usize..300) {
            let header = format!("{}{header}", "[".repeat(nested));
            let token = format!("{}..", URL_SAFE_NO_PAD.encode(&header));
            let is_object = serde_json::from_str::<Map<String, Value>>(&header).is_ok();
            prop_assert!(is_object || Jws::read(&token).err() == Some(TokenFault::Header));
        }
    }
}
