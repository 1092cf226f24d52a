//! Secrets appear nowhere: not in logs, errors, `Debug` output, or the database.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use pidq_http::auth::{NewUser, OAuthReply, token_endpoint};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::set_global_default;
use tracing::{Event, Metadata, Subscriber};

use crate::databases::{open, sqlite_url};
use crate::fixture::{CLIENT_FORM, Fixture, LOGIN, PASSWORD, PASSWORD_FORM, SECRET, check};

/// Subscriber that records every event at every level.
#[derive(Clone, Default)]
struct EventRecorder(Arc<Mutex<String>>);

impl Visit for EventRecorder {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for EventRecorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

const GUESS: &str = "canary-guess-in-password";
const MISPLACED: &str = "canary-password-as-name";

/// Performs all account operations; returns every secret that occurred.
async fn run_all_operations(fixture: &Fixture) -> Vec<String> {
    let login = fixture.log_in().await;
    let next = fixture.refresh(&login.refresh()).await;
    fixture.caller(&next.access()).await.unwrap();
    fixture.token(&format!("grant_type=password&username={LOGIN}&password={GUESS}")).await;
    fixture.token(&format!("grant_type=password&username={MISPLACED}&password={GUESS}")).await;
    let wrong = format!("{PASSWORD_FORM}&client_id=desk&client_secret=canary-client-secret");
    fixture.send(fixture.request(&wrong)).await;
    fixture.introspect(&format!("token={}&{CLIENT_FORM}", next.refresh())).await;
    fixture.later(60).refresh(&login.refresh()).await;
    fixture.revoke(&format!("token={}", next.access())).await;
    let short =
        NewUser { login: "x", password: Some("canary7"), tenant: "a", role: "editor", groups: &[], sso_only: false };
    let error = fixture.identities.create_user(short, fixture.now).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"));
    let rotated = fixture.identities.rotate_secret("desk").await.unwrap();
    let known = [PASSWORD, SECRET, GUESS, MISPLACED, "canary"].map(str::to_owned);
    let issued = [login.access(), login.refresh(), next.access(), next.refresh(), rotated.expose().to_owned()];
    known.into_iter().chain(issued).collect()
}

#[test]
fn logs_contain_no_secret() {
    let log = EventRecorder::default();
    // With a single subscriber, an event first met by another test on a thread without one would be disabled for all.
    let _second = tracing::Dispatch::new(EventRecorder::default());
    let secrets = Arc::new(Mutex::new(Vec::new()));
    // Global, because events first met by another test would otherwise be cached as disabled.
    set_global_default(log.clone()).expect("no other test sets a subscriber");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(check(async |fixture: Fixture| {
        let found = run_all_operations(&fixture).await;
        secrets.lock().unwrap().extend(found);
    }));
    let log = log.0.lock().unwrap();
    for event in ["refresh-token-reused", "accepted", "refused", "revoked", "client-refused", "secret-rotated"] {
        assert!(log.contains(event), "no {event} in the log:\n{log}");
    }
    for secret in secrets.lock().unwrap().iter() {
        assert!(!log.contains(secret.as_str()), "{secret} is in the log:\n{log}");
    }
}

#[tokio::test]
async fn the_database_file_contains_no_secret() {
    let folder = tempfile::TempDir::new().unwrap();
    let fixture = Fixture::on(open(&sqlite_url(&folder)).await).await;
    let secrets = run_all_operations(&fixture).await;
    fixture.database.close().await;
    for entry in std::fs::read_dir(folder.path().join("data")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in the file");
        }
    }
}

#[tokio::test]
async fn the_debug_output_of_a_reply_is_only_its_status() {
    check(async |fixture: Fixture| {
        let body = format!("{PASSWORD_FORM}&{CLIENT_FORM}");
        let reply: OAuthReply = token_endpoint(&fixture.identities, fixture.request(&body)).await;
        assert_eq!(format!("{reply:?}"), "OAuthReply { status: 200, .. }");
    })
    .await;
}
