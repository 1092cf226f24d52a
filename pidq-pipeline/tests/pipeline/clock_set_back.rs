//! Tests with a clock that is set back by a day: nothing waits a day for a lease or a delay that was recorded before.

use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::uuid_v7;
use pidq_store::domain::webhook::{Webhook, WebhookState};
use pidq_store::{Claim, IdempotencyKey};

use crate::store_fixtures::{add, on_each, pipeline};

const LEASE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn a_queued_job_and_the_job_of_a_crashed_worker_run() {
    on_each(async |store, database| {
        let pipeline = pipeline(&store, &["manual"]).await;
        add(&store, &pipeline, "manual", "a valve").await;
        let tomorrow = Timestamp::now() + DAY;
        database.execute("update jobs set run_at = $1", &[tomorrow.0.into()]).await.unwrap();
        let crashed = store.lease_job("one", LEASE).await.unwrap().expect("a queued job");
        assert!(store.lease_job("two", LEASE).await.unwrap().is_none(), "the worker runs");
        database.execute("update jobs set lease_until = $1", &[tomorrow.0.into()]).await.unwrap();
        let job = store.lease_job("two", LEASE).await.unwrap().expect("the job of a worker that crashed");
        assert_eq!((job.id.as_str(), job.attempts), (crashed.id.as_str(), 2));
        assert!(!store.renew_job_lease(&crashed, LEASE).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_delayed_job_waits() {
    on_each(async |store, _| {
        let pipeline = pipeline(&store, &["manual"]).await;
        add(&store, &pipeline, "manual", "a valve").await;
        let job = store.lease_job("one", LEASE).await.unwrap().expect("a queued job");
        for delay in [Duration::from_secs(2), Duration::from_mins(5), Duration::from_mins(15)] {
            store.delay_job(&job, (Timestamp::now() + delay).0).await.unwrap();
            assert!(store.lease_job("two", LEASE).await.unwrap().is_none(), "{delay:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_lease_longer_than_the_default_lasts() {
    on_each(async |store, _| {
        let pipeline = pipeline(&store, &["manual"]).await;
        add(&store, &pipeline, "manual", "a valve").await;
        assert!(store.lease_job("one", DAY).await.unwrap().is_some());
        assert!(store.lease_job("two", DAY).await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn a_request_can_be_repeated_after_its_process_crashed() {
    on_each(async |store, database| {
        let key = || IdempotencyKey { caller: "a".into(), fingerprint: "b".into(), lease_owner: uuid_v7() };
        assert!(matches!(store.claim_idempotency_key(&key()).await.unwrap(), Claim::Acquired));
        assert!(matches!(store.claim_idempotency_key(&key()).await.unwrap(), Claim::InProgress));
        let tomorrow = (Timestamp::now() + DAY).0;
        database.execute("update idempotency_keys set lease_until = $1", &[tomorrow.into()]).await.unwrap();
        assert!(matches!(store.claim_idempotency_key(&key()).await.unwrap(), Claim::Acquired));
        assert!(matches!(store.claim_idempotency_key(&key()).await.unwrap(), Claim::InProgress));
    })
    .await;
}

#[tokio::test]
async fn events_are_published() {
    on_each(async |store, _| {
        store.init_publishing().await.unwrap();
        let now = Timestamp::now();
        let (until, tomorrow) = ((now + LEASE).0, (now + DAY).0);
        assert!(store.lease_publishing(0, tomorrow, tomorrow + 60_000).await.unwrap());
        assert!(
            store.lease_publishing(0, now.0, until).await.unwrap(),
            "the process crashed, then the clock was set back"
        );
        assert!(!store.lease_publishing(0, now.0, until).await.unwrap(), "another process publishes");
    })
    .await;
}

#[tokio::test]
async fn a_webhook_is_called() {
    on_each(async |store, database| {
        let webhook = webhook();
        assert!(store.add_webhook(&webhook, 10).await.unwrap());
        pipeline(&store, &["manual"]).await;
        while store.assign_positions(100).await.unwrap() > 0 {}
        let tomorrow = (Timestamp::now() + DAY + DAY).0;
        database.execute("update deliveries set run_at = $1", &[tomorrow.into()]).await.unwrap();
        database.execute("update webhooks set lease_until = $1, paused_until = $1", &[tomorrow.into()]).await.unwrap();
        let leased = store.lease_webhook("one", LEASE).await.unwrap().expect("an event that was never sent");
        assert_eq!(leased.id, webhook.id);
        assert!(store.next_delivery(&webhook.id).await.unwrap().is_some());
        assert!(store.lease_webhook("two", LEASE).await.unwrap().is_none(), "it is being called");
    })
    .await;
}

fn webhook() -> Webhook {
    Webhook {
        id: uuid_v7(),
        url: "https://example.com/".into(),
        event_types: Vec::new(),
        pipelines: Vec::new(),
        encrypted_secret: String::new(),
        state: WebhookState::Active,
        owner: None,
        revision: 1,
        failures: 0,
        failing_since: None,
        last_error: None,
        created_at: 0,
        updated_at: 0,
    }
}
