//! Login at a real provider (npm `oidc-provider`): its access tokens are accepted.
//!
//! `npm install` in `tests/harness/oidc` sets it up.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use pidq_http::auth::{Provider, ProviderSettings, TenantSource, Timestamp, TokenError};
use serde_json::Value;

const AUDIENCE: &str = "https://pidq.example";

/// Provider process; dropping it closes the pipe that the script waits for.
struct RealProvider {
    _script: Child,
    document: Value,
}

impl RealProvider {
    fn start() -> Option<RealProvider> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/harness/oidc");
        if !folder.join("node_modules/oidc-provider").is_dir() {
            return None;
        }
        let mut script = Command::new("node");
        let script = script.arg("provider.mjs").current_dir(folder).stdin(Stdio::piped());
        let mut script = script.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let mut line = String::new();
        BufReader::new(script.stdout.take()?).read_line(&mut line).unwrap();
        Some(RealProvider { _script: script, document: serde_json::from_str(&line).unwrap() })
    }

    fn issuer(&self) -> &str {
        self.document["issuer"].as_str().unwrap()
    }

    fn settings(&self, audience: &str) -> Provider {
        let tenant = TenantSource::Fixed("acme".into());
        Provider::new(ProviderSettings::rfc9068(self.issuer(), audience, tenant)).unwrap()
    }
}

#[tokio::test]
async fn a_login_at_a_real_provider_maps_to_a_caller() {
    let Some(real) = RealProvider::start() else {
        return eprintln!("SKIPPED: no node, or no `npm install` in tests/harness/oidc");
    };
    let (verifier, other) = (real.settings(AUDIENCE), real.settings("https://other.example"));
    let issued = real.document["issued"].as_object().unwrap();
    assert_eq!(issued.len(), 4);
    for (algorithm, tokens) in issued {
        let token = tokens["access_token"].as_str().unwrap();
        let caller = verifier.verify(token, Timestamp::now()).await;
        let caller = caller.unwrap_or_else(|error| panic!("{algorithm}: {error:?}"));
        assert_eq!(caller.subject.as_str(), format!("sso:{}#ann", real.issuer()));
        assert_eq!(caller.scopes, ["read", "write"]);
        assert_eq!(caller.client_id.as_deref(), Some("tool"));
        let id_token = tokens["id_token"].as_str().unwrap();
        assert_eq!(verifier.verify(id_token, Timestamp::now()).await.err(), Some(TokenError::Type));
        assert_eq!(other.verify(token, Timestamp::now()).await.err(), Some(TokenError::Audience));
    }
}
