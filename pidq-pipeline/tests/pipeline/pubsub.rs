//! Tests of PubSub within a process and over a real NATS server, with the same behavior.

use std::time::Duration;

use pidq_pipeline::pubsub::{Message, PubSub, Received, Signal, Subscription};
use tokio::time::timeout;

use crate::backend_servers::{Server, free_port};

/// Two ends of the same messages, in one process or in two.
async fn on_each(test: impl AsyncFn(PubSub, PubSub)) {
    let here = PubSub::in_process();
    test(here.clone(), here).await;
    for server in [Server::nats(), Server::jetstream()].into_iter().flatten() {
        let (one, other) = (over(&server).await, over(&server).await);
        test(one, other).await;
    }
}

async fn over(server: &Server) -> PubSub {
    let messages = PubSub::over_nats(&server.url(), None).unwrap();
    until(&messages, true).await;
    messages
}

async fn until(messages: &PubSub, up: bool) {
    for _ in 0..400 {
        if messages.health().unwrap().is_up() == up {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{messages:?}");
}

/// Returns the next message.
async fn heard(subscription: &mut Subscription) -> (String, String) {
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

fn pair(subject: &str, text: &str) -> (String, String) {
    (subject.to_owned(), text.to_owned())
}

#[tokio::test]
async fn messages_are_delivered_once_to_subscribers_of_both_ends() {
    on_each(async |one, other| {
        let (mut near, mut far) = (one.subscribe("pidq.v1."), other.subscribe("pidq.v1."));
        settled(&one, &other).await;
        one.publish("pidq.signal.work", "not for them");
        one.publish("pidq.v1.document.ready", "first");
        one.publish("pidq.v1.document.failed", "second");
        for end in [&mut near, &mut far] {
            assert_eq!(heard(end).await, pair("pidq.v1.document.ready", "first"));
            assert_eq!(heard(end).await, pair("pidq.v1.document.failed", "second"));
        }
        assert!(timeout(Duration::from_millis(100), near.next()).await.is_err(), "each once");
    })
    .await;
}

#[tokio::test]
async fn an_event_is_delivered_and_received() {
    on_each(async |one, other| {
        let mut far = other.subscribe("pidq.v1.");
        settled(&one, &other).await;
        one.publish_confirmed("pidq.v1.document.ready", "id-1", "{}").await.unwrap();
        assert_eq!(heard(&mut far).await, pair("pidq.v1.document.ready", "{}"));
    })
    .await;
}

#[tokio::test]
async fn signals_round_trip_and_subjects_contain_no_classification() {
    let signals = [
        Signal::Work,
        Signal::Stop { document: "0199".into() },
        Signal::Partition { pipeline: "0199".into(), classification: "secret".into() },
    ];
    for signal in signals {
        let message = Message { subject: signal.subject().into(), bytes: signal.to_bytes() };
        assert!(!message.subject.contains("secret"));
        assert_eq!(Signal::from_message(&message), Some(signal));
    }
    assert_eq!(Signal::from_message(&Message { subject: "pidq.signal.newer".into(), bytes: "{}".into() }), None);
    assert_eq!(Signal::from_message(&Message { subject: "pidq.v1.work".into(), bytes: "\"work\"".into() }), None);
}

#[tokio::test]
async fn jetstream_stores_unreceived_events_and_deduplicates_ids() {
    let Some(server) = Server::jetstream() else { return };
    let messages = over(&server).await;
    for _ in 0..2 {
        messages.publish_confirmed("pidq.v1.document.ready", "the same", "{}").await.unwrap();
    }
    messages.publish_confirmed("pidq.v1.document.ready", "another", "{}").await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    let mut kept = async_nats::jetstream::new(client).get_stream("PIDQ_EVENTS").await.unwrap();
    assert_eq!(kept.info().await.unwrap().state.messages, 2);
}

#[tokio::test]
async fn a_recreated_server_gets_its_stream_again() {
    let Some(mut server) = Server::jetstream() else { return };
    let messages = over(&server).await;
    messages.publish_confirmed("pidq.v1.document.ready", "one", "{}").await.unwrap();
    server.kill();
    server.delete_data();
    server.restart();
    for _ in 0..400 {
        if messages.publish_confirmed("pidq.v1.document.ready", "two", "{}").await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("no messages are delivered");
}

#[tokio::test]
async fn a_crashed_server_is_detected_and_reconnected() {
    let Some(mut server) = Server::nats() else { return };
    let (one, other) = (over(&server).await, over(&server).await);
    let mut far = other.subscribe("pidq.v1.");
    server.kill();
    until(&one, false).await;
    until(&other, false).await;
    let mut near = one.subscribe("pidq.v1.");
    one.publish("pidq.v1.a", "here only");
    assert_eq!(heard(&mut near).await, pair("pidq.v1.a", "here only"), "local messages still arrive");
    assert!(one.publish_confirmed("pidq.v1.a", "id", "").await.is_err(), "the event remains in the outbox");
    server.restart();
    until(&one, true).await;
    until(&other, true).await;
    while far.next().await != Some(Received::Missed) {}
    settled(&one, &other).await;
    one.publish("pidq.v1.b", "everywhere");
    assert_eq!(heard(&mut far).await, pair("pidq.v1.b", "everywhere"));
}

#[tokio::test]
async fn a_missing_server_is_connected_later() {
    let messages = PubSub::over_nats(&format!("nats://127.0.0.1:{}", free_port()), None).unwrap();
    assert!(!messages.health().unwrap().is_up());
    let mut near = messages.subscribe("");
    messages.publish("pidq.v1.a", "here");
    assert_eq!(heard(&mut near).await, pair("pidq.v1.a", "here"));
}

#[tokio::test]
async fn an_invalid_url_is_rejected_without_repeating_it() {
    for url in ["", "nats.plant:4222", "redis://host", "http://host:4222", "nats://", "nats://user:hunter2@host:x"] {
        let error = PubSub::over_nats(url, None).expect_err(url).to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}

/// Waits until messages arrive: the server may not have processed the subscription yet.
async fn settled(one: &PubSub, other: &PubSub) {
    let mut probe = other.subscribe("pidq.probe");
    for _ in 0..100 {
        one.publish("pidq.probe", "");
        if let Ok(Some(Received::Message(_))) = timeout(Duration::from_millis(50), probe.next()).await {
            return;
        }
    }
    panic!("no message arrives");
}
