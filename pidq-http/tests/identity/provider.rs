//! Test identity provider on 127.0.0.1, with changeable keys and valid or invalid tokens.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
    RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Two RSA keys for tests only: `ring` cannot generate any.
const RSA_KEYS: [&[u8]; 2] = [include_bytes!("data/rsa_1.der"), include_bytes!("data/rsa_2.der")];

#[derive(Clone)]
pub struct Provider {
    pub issuer: String,
    state: Arc<State>,
}

struct State {
    fetches: AtomicUsize,
    is_unavailable: AtomicBool,
    is_unresponsive: AtomicBool,
    keys: Mutex<Value>,
    discovery: Mutex<Value>,
    token_reply: Mutex<(u16, String)>,
    /// Requests to the endpoints for tokens: head and body.
    token_requests: Mutex<Vec<String>>,
}

impl Provider {
    pub async fn start() -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let discovery = json!({
            "issuer": issuer,
            "jwks_uri": format!("{issuer}/jwks"),
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "revocation_endpoint": format!("{issuer}/revoke"),
            "end_session_endpoint": format!("{issuer}/logout"),
        });
        let state = Arc::new(State {
            fetches: AtomicUsize::new(0),
            is_unavailable: AtomicBool::new(false),
            is_unresponsive: AtomicBool::new(false),
            keys: Mutex::new(json!({"keys": []})),
            discovery: Mutex::new(discovery),
            token_reply: Mutex::new((400, String::new())),
            token_requests: Mutex::default(),
        });
        tokio::spawn(serve(listener, state.clone()));
        Provider { issuer, state }
    }

    pub fn fetches(&self) -> usize {
        self.state.fetches.load(Ordering::SeqCst)
    }

    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.state.is_unavailable.store(is_unavailable, Ordering::SeqCst);
    }

    /// Accepts connections and never responds.
    pub fn stop_responding(&self) {
        self.state.is_unresponsive.store(true, Ordering::SeqCst);
    }

    pub fn publish(&self, keys: &[Value]) {
        *self.state.keys.lock().unwrap() = json!({ "keys": keys });
    }

    pub fn publish_document(&self, document: Value) {
        *self.state.keys.lock().unwrap() = document;
    }

    pub fn set_discovery(&self, discovery: Value) {
        *self.state.discovery.lock().unwrap() = discovery;
    }

    /// Changes a field of the discovery document; `null` removes it.
    pub fn change_discovery(&self, name: &str, value: Value) {
        let mut discovery = self.state.discovery.lock().unwrap();
        discovery[name] = value;
        if discovery[name].is_null() {
            discovery.as_object_mut().unwrap().remove(name);
        }
    }

    /// Sets the response to all requests for tokens.
    pub fn set_token_reply(&self, status: u16, body: impl ToString) {
        *self.state.token_reply.lock().unwrap() = (status, body.to_string());
    }

    /// Returns the requests for tokens and their revocation since the last call.
    pub fn take_token_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.token_requests.lock().unwrap())
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = respond(stream, &state).await;
    }
}

async fn respond(mut stream: TcpStream, state: &State) -> std::io::Result<()> {
    let request = read_request(&mut stream).await?;
    state.fetches.fetch_add(1, Ordering::SeqCst);
    if state.is_unavailable.load(Ordering::SeqCst) {
        return Ok(());
    }
    if state.is_unresponsive.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let (status, body) = match request.split(' ').nth(1) {
        Some("/.well-known/openid-configuration") => (200, state.discovery.lock().unwrap().to_string()),
        Some("/jwks") => (200, state.keys.lock().unwrap().to_string()),
        Some("/token") => {
            state.token_requests.lock().unwrap().push(request);
            state.token_reply.lock().unwrap().clone()
        }
        Some("/revoke") => {
            state.token_requests.lock().unwrap().push(request);
            (200, String::new())
        }
        _ => (302, String::new()),
    };
    let location = if status == 302 { "location: /jwks\r\n" } else { "" };
    let length = body.len();
    let reply = format!("HTTP/1.1 {status} -\r\n{location}connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(reply.as_bytes()).await
}

/// Returns the head and the body of a request.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut text, mut chunk) = (String::new(), vec![0; 4096]);
    loop {
        let size = stream.read(&mut chunk).await?;
        text.push_str(&String::from_utf8_lossy(&chunk[..size]));
        let body = text.split_once("\r\n\r\n").map(|(head, body)| (content_length(head), body.len()));
        if size == 0 || body.is_some_and(|(expected, found)| found >= expected) {
            return Ok(text);
        }
    }
}

fn content_length(head: &str) -> usize {
    let value = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    value.unwrap_or_default()
}

/// Signing key of the provider.
pub struct Signer {
    pub id: String,
    pub algorithm: &'static str,
    pair: Pair,
}

enum Pair {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

pub fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    /// Creates a key for `RS256`, `PS256`, `ES256` or `EdDSA`. There are two RSA keys.
    pub fn new(id: &str, algorithm: &'static str, which: usize) -> Signer {
        let random = SystemRandom::new();
        let pair = match algorithm {
            "ES256" => {
                let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
                let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pair.as_ref(), &random);
                Pair::P256(pair.unwrap())
            }
            "EdDSA" | "Ed25519" => {
                let pair = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
                Pair::Ed25519(Ed25519KeyPair::from_pkcs8(pair.as_ref()).unwrap())
            }
            _ => Pair::Rsa(Box::new(RsaKeyPair::from_der(RSA_KEYS[which]).unwrap())),
        };
        Signer { id: id.to_owned(), algorithm, pair }
    }

    pub fn jwk(&self) -> Value {
        let mut jwk = self.plain_jwk();
        jwk["kid"] = json!(self.id);
        jwk["alg"] = json!(self.algorithm);
        jwk["use"] = json!("sig");
        jwk
    }

    /// Returns the key without its use and algorithm.
    pub fn plain_jwk(&self) -> Value {
        match &self.pair {
            Pair::Rsa(pair) => {
                let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "n": base64url(public.n), "e": base64url(public.e)})
            }
            Pair::P256(pair) => {
                let point = pair.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": base64url(&point[1..33]), "y": base64url(&point[33..])})
            }
            Pair::Ed25519(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": base64url(pair.public_key().as_ref())})
            }
        }
    }

    pub fn header(&self) -> Value {
        json!({"alg": self.algorithm, "typ": "at+jwt", "kid": self.id})
    }

    pub fn token(&self, claims: &Value) -> String {
        self.sign_token(&self.header().to_string(), &claims.to_string())
    }

    pub fn sign_token(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", base64url(header), base64url(claims));
        let signature = self.sign(signed.as_bytes());
        format!("{signed}.{}", base64url(signature))
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let padding: &'static dyn ring::signature::RsaEncoding =
                    if self.algorithm == "PS256" { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Pair::P256(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }
}
