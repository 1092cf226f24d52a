//! Tests of pub/sub within a process and over a real NATS server, with the same behavior.

use std::time::Duration;

use pidq_pipeline::cluster::pubsub::{Message, PubSub, Received, Signal, Subscription};
use tokio::time::timeout;

use crate::backend_servers::{Server, free_port};

/// Runs a test with two clients, in one process and over NATS.
async fn on_each(test: impl AsyncFn(PubSub, PubSub)) {
    let local = PubSub::in_process();
    test(local.clone(), local).await;
    for server in [Server::nats(), Server::jetstream()].into_iter().flatten() {
        let (one, other) = (connect(&server).await, connect(&server).await);
        test(one, other).await;
    }
}

async fn connect(server: &Server) -> PubSub {
    let pubsub = PubSub::over_nats(&server.url(), None).unwrap();
    wait_for_health(&pubsub, true).await;
    pubsub
}

async fn wait_for_health(pubsub: &PubSub, up: bool) {
    for _ in 0..400 {
        if pubsub.health().unwrap().is_up() == up {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{pubsub:?}");
}

/// Returns the next message.
async fn next_message(subscription: &mut Subscription) -> (String, String) {
    loop {
        match timeout(Duration::from_secs(5), subscription.next()).await.expect("a message").expect("no end") {
            Received::Message(Message { subject, bytes }) => {
                return (subject, String::from_utf8(bytes.to_vec()).unwrap());
            }
            // Signals a new connection.
            Received::Missed => {}
        }
    }
}

fn message_pair(subject: &str, text: &str) -> (String, String) {
    (subject.to_owned(), text.to_owned())
}

#[tokio::test]
async fn messages_are_delivered_once_to_subscribers_of_both_clients() {
    on_each(async |one, other| {
        let (mut first_subscription, mut second_subscription) =
            (one.subscribe("pidq.v1."), other.subscribe("pidq.v1."));
        wait_until_subscribed(&one, &other).await;
        one.publish("pidq.signal.job_available", "not for them");
        one.publish("pidq.v1.document.ready", "first");
        one.publish("pidq.v1.document.failed", "second");
        for subscription in [&mut first_subscription, &mut second_subscription] {
            assert_eq!(next_message(subscription).await, message_pair("pidq.v1.document.ready", "first"));
            assert_eq!(next_message(subscription).await, message_pair("pidq.v1.document.failed", "second"));
        }
        assert!(timeout(Duration::from_millis(100), first_subscription.next()).await.is_err(), "each message once");
    })
    .await;
}

#[tokio::test]
async fn an_event_is_delivered_and_received() {
    on_each(async |one, other| {
        let mut second_subscription = other.subscribe("pidq.v1.");
        wait_until_subscribed(&one, &other).await;
        one.publish_confirmed("pidq.v1.document.ready", "id-1", "{}").await.unwrap();
        assert_eq!(next_message(&mut second_subscription).await, message_pair("pidq.v1.document.ready", "{}"));
    })
    .await;
}

#[tokio::test]
async fn signals_round_trip_and_subjects_contain_no_classification() {
    let signals = [
        Signal::JobAvailable,
        Signal::DocumentCancelled { document: "0199".into() },
        Signal::PartitionChanged { pipeline: "0199".into(), classification: "secret".into() },
    ];
    for signal in signals {
        let message = Message { subject: signal.subject().into(), bytes: signal.to_bytes() };
        assert!(!message.subject.contains("secret"));
        assert_eq!(Signal::from_message(&message), Some(signal));
    }
    assert_eq!(Signal::from_message(&Message { subject: "pidq.signal.newer".into(), bytes: "{}".into() }), None);
    assert_eq!(
        Signal::from_message(&Message { subject: "pidq.v1.job_available".into(), bytes: "\"job_available\"".into() }),
        None
    );
}

#[tokio::test]
async fn jetstream_stores_unreceived_events_and_deduplicates_ids() {
    let Some(server) = Server::jetstream() else { return };
    let pubsub = connect(&server).await;
    for _ in 0..2 {
        pubsub.publish_confirmed("pidq.v1.document.ready", "the same", "{}").await.unwrap();
    }
    pubsub.publish_confirmed("pidq.v1.document.ready", "another", "{}").await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    let mut stream = async_nats::jetstream::new(client).get_stream("PIDQ_EVENTS").await.unwrap();
    assert_eq!(stream.info().await.unwrap().state.messages, 2);
}

#[tokio::test]
async fn a_recreated_server_gets_its_stream_again() {
    let Some(mut server) = Server::jetstream() else { return };
    let pubsub = connect(&server).await;
    pubsub.publish_confirmed("pidq.v1.document.ready", "one", "{}").await.unwrap();
    server.kill();
    server.delete_data();
    server.restart();
    for _ in 0..400 {
        if pubsub.publish_confirmed("pidq.v1.document.ready", "two", "{}").await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("no messages are delivered");
}

#[tokio::test]
async fn a_crashed_server_is_detected_and_reconnected() {
    let Some(mut server) = Server::nats() else { return };
    let (one, other) = (connect(&server).await, connect(&server).await);
    let mut second_subscription = other.subscribe("pidq.v1.");
    server.kill();
    wait_for_health(&one, false).await;
    wait_for_health(&other, false).await;
    let mut first_subscription = one.subscribe("pidq.v1.");
    one.publish("pidq.v1.a", "here only");
    assert_eq!(
        next_message(&mut first_subscription).await,
        message_pair("pidq.v1.a", "here only"),
        "local messages still arrive"
    );
    assert!(one.publish_confirmed("pidq.v1.a", "id", "").await.is_err(), "the event remains in the outbox");
    server.restart();
    wait_for_health(&one, true).await;
    wait_for_health(&other, true).await;
    while second_subscription.next().await != Some(Received::Missed) {}
    wait_until_subscribed(&one, &other).await;
    one.publish("pidq.v1.b", "everywhere");
    assert_eq!(next_message(&mut second_subscription).await, message_pair("pidq.v1.b", "everywhere"));
}

#[tokio::test]
async fn a_missing_server_is_connected_later() {
    let pubsub = PubSub::over_nats(&format!("nats://127.0.0.1:{}", free_port()), None).unwrap();
    assert!(!pubsub.health().unwrap().is_up());
    let mut first_subscription = pubsub.subscribe("");
    pubsub.publish("pidq.v1.a", "here");
    assert_eq!(next_message(&mut first_subscription).await, message_pair("pidq.v1.a", "here"));
}

#[tokio::test]
async fn an_invalid_url_is_rejected_without_repeating_it() {
    for url in ["", "nats.plant:4222", "redis://host", "http://host:4222", "nats://", "nats://user:hunter2@host:x"] {
        let error = PubSub::over_nats(url, None).expect_err(url).to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}

/// Waits until messages arrive: the server may not have processed the subscription yet.
async fn wait_until_subscribed(one: &PubSub, other: &PubSub) {
    let mut probe = other.subscribe("pidq.probe");
    for _ in 0..100 {
        one.publish("pidq.probe", "");
        if let Ok(Some(Received::Message(_))) = timeout(Duration::from_millis(50), probe.next()).await {
            return;
        }
    }
    panic!("no message arrives");
}
