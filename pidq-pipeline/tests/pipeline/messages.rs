//! Messages within a process and over a real NATS server: the same to whoever sends and hears them.

use std::time::Duration;

use pidq_pipeline::messages::{Heard, Message, Messages, Signal, Subscription};
use tokio::time::timeout;

use crate::servers::{Server, free_port};

/// Two ends of the same messages: of one process, or of two.
async fn on_each(test: impl AsyncFn(Messages, Messages)) {
    let here = Messages::in_process();
    test(here.clone(), here).await;
    for server in [Server::nats(), Server::jetstream()].into_iter().flatten() {
        let (one, other) = (over(&server).await, over(&server).await);
        test(one, other).await;
    }
}

async fn over(server: &Server) -> Messages {
    let messages = Messages::over_nats(&server.url(), None).unwrap();
    until(&messages, true).await;
    messages
}

async fn until(messages: &Messages, up: bool) {
    for _ in 0..400 {
        if messages.health().unwrap().is_up() == up {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{messages:?}");
}

/// The next message, which has to come.
async fn heard(subscription: &mut Subscription) -> (String, String) {
    loop {
        match timeout(Duration::from_secs(5), subscription.next()).await.expect("a message").expect("no end") {
            Heard::Message(Message { subject, bytes }) => {
                return (subject, String::from_utf8(bytes.to_vec()).unwrap());
            }
            // A connection that was just made.
            Heard::Missed => {}
        }
    }
}

fn pair(subject: &str, text: &str) -> (String, String) {
    (subject.to_owned(), text.to_owned())
}

#[tokio::test]
async fn what_is_published_is_heard_once_on_both_ends_by_those_who_asked_for_it() {
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
async fn an_event_is_delivered_and_heard() {
    on_each(async |one, other| {
        let mut far = other.subscribe("pidq.v1.");
        settled(&one, &other).await;
        one.deliver("pidq.v1.document.ready", "id-1", "{}").await.unwrap();
        assert_eq!(heard(&mut far).await, pair("pidq.v1.document.ready", "{}"));
    })
    .await;
}

#[tokio::test]
async fn signals_are_read_as_they_were_written_and_subjects_tell_no_label() {
    let signals = [
        Signal::Work,
        Signal::Stop { document: "0199".into() },
        Signal::Partition { pipeline: "0199".into(), classification: "secret".into() },
    ];
    for signal in signals {
        let message = Message { subject: signal.subject().into(), bytes: signal.bytes() };
        assert!(!message.subject.contains("secret"));
        assert_eq!(Signal::of(&message), Some(signal));
    }
    assert_eq!(Signal::of(&Message { subject: "pidq.signal.newer".into(), bytes: "{}".into() }), None);
    assert_eq!(Signal::of(&Message { subject: "pidq.v1.work".into(), bytes: "\"work\"".into() }), None);
}

#[tokio::test]
async fn jetstream_keeps_an_event_that_nobody_heard_and_takes_an_id_once() {
    let Some(server) = Server::jetstream() else { return };
    let messages = over(&server).await;
    for _ in 0..2 {
        messages.deliver("pidq.v1.document.ready", "the same", "{}").await.unwrap();
    }
    messages.deliver("pidq.v1.document.ready", "another", "{}").await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    let mut kept = async_nats::jetstream::new(client).get_stream("PIDQ_EVENTS").await.unwrap();
    assert_eq!(kept.info().await.unwrap().state.messages, 2);
}

#[tokio::test]
async fn a_server_that_was_set_up_anew_gets_its_stream_again() {
    let Some(mut server) = Server::jetstream() else { return };
    let messages = over(&server).await;
    messages.deliver("pidq.v1.document.ready", "one", "{}").await.unwrap();
    server.kill();
    server.forget();
    server.restart();
    for _ in 0..400 {
        if messages.deliver("pidq.v1.document.ready", "two", "{}").await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("nothing is delivered any more");
}

#[tokio::test]
async fn a_server_that_dies_is_missed_and_found_again() {
    let Some(mut server) = Server::nats() else { return };
    let (one, other) = (over(&server).await, over(&server).await);
    let mut far = other.subscribe("pidq.v1.");
    server.kill();
    until(&one, false).await;
    until(&other, false).await;
    let mut near = one.subscribe("pidq.v1.");
    one.publish("pidq.v1.a", "here only");
    assert_eq!(heard(&mut near).await, pair("pidq.v1.a", "here only"), "this process goes on");
    assert!(one.deliver("pidq.v1.a", "id", "").await.is_err(), "an event waits in the outbox");
    server.restart();
    until(&one, true).await;
    until(&other, true).await;
    while far.next().await != Some(Heard::Missed) {}
    settled(&one, &other).await;
    one.publish("pidq.v1.b", "everywhere");
    assert_eq!(heard(&mut far).await, pair("pidq.v1.b", "everywhere"));
}

#[tokio::test]
async fn a_server_that_is_not_there_yet_is_waited_for() {
    let messages = Messages::over_nats(&format!("nats://127.0.0.1:{}", free_port()), None).unwrap();
    assert!(!messages.health().unwrap().is_up());
    let mut near = messages.subscribe("");
    messages.publish("pidq.v1.a", "here");
    assert_eq!(heard(&mut near).await, pair("pidq.v1.a", "here"));
}

#[tokio::test]
async fn what_is_no_url_is_refused_without_a_word_of_it() {
    for url in ["", "nats.plant:4222", "redis://host", "http://host:4222", "nats://", "nats://user:hunter2@host:x"] {
        let error = Messages::over_nats(url, None).expect_err(url).to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
}

/// Waits until what one end says is heard at the other: a subscription is on its way to the server before that.
async fn settled(one: &Messages, other: &Messages) {
    let mut probe = other.subscribe("pidq.probe");
    for _ in 0..100 {
        one.publish("pidq.probe", "");
        if let Ok(Some(Heard::Message(_))) = timeout(Duration::from_millis(50), probe.next()).await {
            return;
        }
    }
    panic!("nothing is heard");
}
