//! Tests of invalid settings: the start fails and names the setting.

use std::sync::atomic::{AtomicUsize, Ordering};

use pidq_http::{COMMON, Settings};
use pidq_server::{SETTINGS, open};

/// Returns the startup error for some settings.
async fn startup_error(given: &[(&str, &str)]) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("pidq-invalid-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    let defaults = [("PIDQ_DATA_DIR", folder.to_str().expect("a path")), ("PIDQ_ADMIN_PASSWORD", "blue-valve-open")];
    let all = defaults.iter().filter(|(name, _)| !given.iter().any(|(other, _)| other == name)).chain(given);
    let all = all.map(|(name, value)| (name.to_string(), value.to_string()));
    let error = match Settings::read(&[COMMON, SETTINGS], [], all) {
        Ok(settings) => open(&settings).await.err().map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    let _ = std::fs::remove_dir_all(folder);
    error.unwrap_or_else(|| panic!("it starts with {given:?}"))
}

#[tokio::test]
async fn a_failed_start_names_the_invalid_setting() {
    let none = ("PIDQ_DATA_DIR", "/dev/null/x");
    for (name, value) in [
        none,
        ("PIDQ_DATABASE_URL", "mysql://u:canary@h/x"),
        ("PIDQ_DATABASE_URL", "postgres://u:canary@:x/y"),
        ("PIDQ_STORE_URL", "postgres://u:canary@:x/y"),
        ("PIDQ_STORE_URL", "postgres://u@127.0.0.1:1/x?pass=canary"),
        ("PIDQ_GRAPH_DIR", "/dev/null/x"),
        ("PIDQ_ADMIN_PASSWORD", "canary"),
        ("PIDQ_CLIENT_SECRET", "canary"),
        ("PIDQ_PUBLIC_URL", "pidq.example"),
        ("PIDQ_CORS_ORIGINS", "*"),
        ("PIDQ_REQUEST_LIMIT", "0"),
        // Without a provider these settings are invalid.
        ("PIDQ_SSO_AUDIENCE", "https://pidq.example"),
        ("PIDQ_SSO_JWKS_URI", "https://idp.example/keys"),
        ("PIDQ_SSO_ADMIN_ROLES", "boss"),
    ] {
        let error = startup_error(&[(name, value)]).await;
        assert!(error.contains(&format!("`{name}`")) && !error.contains("canary"), "{name}={value}: {error}");
    }
}

#[tokio::test]
async fn insecure_provider_settings_fail_the_start() {
    const PROVIDER: [(&str, &str); 2] = [("PIDQ_SSO_ISSUER", "https://idp.example"), ("PIDQ_SSO_AUDIENCE", "pidq")];
    for (name, value) in [
        ("PIDQ_SSO_ISSUER", "http://idp.example"),
        ("PIDQ_SSO_AUDIENCE", ","),
        ("PIDQ_SSO_PROFILE", "entra"),
        ("PIDQ_SSO_ALGORITHMS", "RS256,HS256"),
        ("PIDQ_SSO_ALGORITHMS", "none"),
        ("PIDQ_SSO_ALGORITHMS", ","),
        ("PIDQ_SSO_CLOCK_SKEW", "61s"),
        ("PIDQ_SSO_CA", "/dev/null"),
        ("PIDQ_SSO_CA", "/dev/null/x"),
        ("PIDQ_SSO_SCOPES", "theirs=admin"),
        ("PIDQ_SSO_TENANT", "../x"),
        ("PIDQ_SSO_TENANT", "claim:"),
        // Disabled authentication excludes a provider.
        ("PIDQ_AUTH", "off"),
    ] {
        let given: Vec<_> = PROVIDER.into_iter().filter(|(other, _)| *other != name).chain([(name, value)]).collect();
        let error = startup_error(&given).await;
        // The profile requires directories, another setting.
        let named = if name == "PIDQ_SSO_PROFILE" { "PIDQ_SSO_DIRECTORIES" } else { name };
        assert!(error.contains(&format!("`{named}`")), "{name}={value}: {error}");
    }
}
