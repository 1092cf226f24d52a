//! Secrets appear nowhere: not in logs, errors, `Debug` output, or the database.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use pidq_http::auth::{NewUser, OAuthReply, token_endpoint};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::set_global_default;
use tracing::{Event, Metadata, Subscriber};

use crate::databases::{open, sqlite_url};
use crate::world::{AS_CLIENT, BY_PASSWORD, LOGIN, PASSWORD, SECRET, World, check};

/// Subscriber that records every event at every level.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<String>>);

impl Visit for Everything {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Everything {
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
async fn live_a_life(world: &World) -> Vec<String> {
    let login = world.log_in().await;
    let next = world.refresh(&login.refresh()).await;
    world.caller(&next.access()).await.unwrap();
    world.token(&format!("grant_type=password&username={LOGIN}&password={GUESS}")).await;
    world.token(&format!("grant_type=password&username={MISPLACED}&password={GUESS}")).await;
    let wrong = format!("{BY_PASSWORD}&client_id=desk&client_secret=canary-client-secret");
    world.send(world.request(&wrong)).await;
    world.introspect(&format!("token={}&{AS_CLIENT}", next.refresh())).await;
    world.later(60).refresh(&login.refresh()).await;
    world.revoke(&format!("token={}", next.access())).await;
    let short =
        NewUser { login: "x", password: Some("canary7"), tenant: "a", role: "editor", groups: &[], sso_only: false };
    let refused = world.identities.create_user(short, world.now).await.unwrap_err();
    assert!(!format!("{refused} {refused:?}").contains("canary"));
    let rotated = world.identities.rotate_secret("desk").await.unwrap();
    let known = [PASSWORD, SECRET, GUESS, MISPLACED, "canary"].map(str::to_owned);
    let minted = [login.access(), login.refresh(), next.access(), next.refresh(), rotated.expose().to_owned()];
    known.into_iter().chain(minted).collect()
}

#[test]
fn logs_hold_no_secret() {
    let log = Everything::default();
    // With a single subscriber, an event first met by another test on a thread without one would be disabled for all.
    let _second = tracing::Dispatch::new(Everything::default());
    let secrets = Arc::new(Mutex::new(Vec::new()));
    // Global, because events first met by another test would otherwise be cached as disabled.
    set_global_default(log.clone()).expect("no other test listens");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(check(async |world: World| {
        let lived = live_a_life(&world).await;
        secrets.lock().unwrap().extend(lived);
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
async fn the_database_file_holds_no_secret() {
    let folder = tempfile::TempDir::new().unwrap();
    let world = World::on(open(&sqlite_url(&folder)).await).await;
    let secrets = live_a_life(&world).await;
    world.database.close().await;
    for entry in std::fs::read_dir(folder.path().join("data")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in the file");
        }
    }
}

#[tokio::test]
async fn a_reply_shows_its_status_only() {
    check(async |world: World| {
        let body = format!("{BY_PASSWORD}&{AS_CLIENT}");
        let reply: OAuthReply = token_endpoint(&world.identities, world.request(&body)).await;
        assert_eq!(format!("{reply:?}"), "OAuthReply { status: 200, .. }");
    })
    .await;
}
