//! Parser and signature verification of signed tokens: JWS compact serialization, RFC 7515.
//!
//! Keys never come from the token: `jku`, `jwk`, `x5u` and `x5c` are ignored.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::TokenError;

/// Signature algorithm. Only asymmetric ones are supported.
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
    /// All algorithms.
    pub const ALL: [Algorithm; 4] = [Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::EdDsa];

    /// Returns the algorithm of this name. Ed25519 has two: RFC 8037, and RFC 9864.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        match name {
            "RS256" => Some(Algorithm::Rs256),
            "PS256" => Some(Algorithm::Ps256),
            "ES256" => Some(Algorithm::Es256),
            "EdDSA" | "Ed25519" => Some(Algorithm::EdDsa),
            _ => None,
        }
    }
}

/// Public key.
#[derive(Clone, Eq, PartialEq)]
pub(super) enum PublicKey {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl PublicKey {
    /// Verifies the signature of a message. A key of another kind than the algorithm's verifies nothing.
    pub(super) fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (algorithm, self) {
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
}

/// Parsed token.
pub(super) struct Jws<'a> {
    header: Map<String, Value>,
    payload: &'a str,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    pub(super) fn parse(token: &'a str) -> Result<Jws<'a>, TokenError> {
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
        let parts = signed.split_once('.').filter(|(_, payload)| !payload.contains('.'));
        let (header, payload) = parts.ok_or(TokenError::Malformed)?;
        let header = object(&decode(header)?).ok_or(TokenError::Header)?;
        Ok(Jws { header, payload, signed, signature: decode(signature)? })
    }

    /// Returns the algorithm, if it is allowed.
    pub(super) fn algorithm(&self, allowed: &[Algorithm]) -> Result<Algorithm, TokenError> {
        let algorithm = self.text("alg").and_then(Algorithm::from_name).ok_or(TokenError::Algorithm)?;
        if allowed.contains(&algorithm) { Ok(algorithm) } else { Err(TokenError::Algorithm) }
    }

    /// Rejects header parameters that require unsupported processing.
    pub(super) fn reject_critical_headers(&self) -> Result<(), TokenError> {
        let critical = ["crit", "b64", "zip", "enc"];
        if critical.iter().any(|name| self.header.contains_key(*name)) { Err(TokenError::Critical) } else { Ok(()) }
    }

    pub(super) fn kind(&self) -> Option<&str> {
        self.text("typ")
    }

    pub(super) fn key_id(&self) -> Option<&str> {
        self.text("kid")
    }

    pub(super) fn claims(&self) -> Result<Map<String, Value>, TokenError> {
        object(&decode(self.payload)?).ok_or(TokenError::Claims)
    }

    pub(super) fn is_signed_by(&self, key: &PublicKey, algorithm: Algorithm) -> bool {
        key.verifies(algorithm, self.signed.as_bytes(), &self.signature)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.header.get(name).and_then(Value::as_str)
    }
}

/// Decodes base64url strictly, without padding or surplus bits, so that a token has one spelling.
pub(super) fn decode(part: &str) -> Result<Vec<u8>, TokenError> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed)
}

/// Parses a JSON object with unique names. With duplicates, two parsers could see two different tokens.
fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice::<UniqueKeys>(bytes).ok().map(|object| object.0)
}

struct UniqueKeys(Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<UniqueKeys, D::Error> {
        deserializer.deserialize_map(UniqueKeysVisitor)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<UniqueKeys, A::Error> {
        let mut map = Map::new();
        while let Some((name, value)) = entries.next_entry::<String, Value>()? {
            if map.insert(name, value).is_some() {
                return Err(A::Error::custom("duplicate name"));
            }
        }
        Ok(UniqueKeys(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_a_token_or_refused(text in "[A-Za-z0-9_.=-]{0,80}") {
            let is_token = Jws::parse(&text).is_ok();
            prop_assert!(!is_token || text.matches('.').count() == 2);
        }

        #[test]
        fn any_header_is_an_object_or_refused(header in "\\PC{0,60}", nested in 0usize..300) {
            let header = format!("{}{header}", "[".repeat(nested));
            let token = format!("{}..", URL_SAFE_NO_PAD.encode(&header));
            let is_object = serde_json::from_str::<Map<String, Value>>(&header).is_ok();
            prop_assert!(is_object || Jws::parse(&token).err() == Some(TokenError::Header));
        }
    }
}
