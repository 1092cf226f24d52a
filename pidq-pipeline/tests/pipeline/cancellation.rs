//! A client that leaves ends the call of the model, for streamed and for whole answers, over real connections.

use std::time::Duration;

use pidq_http::{Listener, Shutdown, serve_service};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::mock_server::{MockServer, Step, delta, event, stream_head};
use crate::platform::TestPlatform;

const DOCUMENT: &[u8] = b"PSV-2015A is set at 38.5 barg. It protects V-201.\n";

/// Asks a question over a connection and leaves while the model is silent. Returns whether its server sees the end of
/// its connection.
async fn is_cancelled(steps: Vec<Step>, is_streamed: bool) -> bool {
    let mock = MockServer::always(steps).await;
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let pipeline = platform.pipeline().await;
    platform.upload_and_wait(&pipeline, "V-201.md", DOCUMENT, &[("classification", "manual")]).await;
    let listener = Listener::insecure("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address().unwrap();
    let (_stop, shutdown) = Shutdown::manual();
    let server = tokio::spawn(serve_service(platform.service.clone(), vec![listener], shutdown));
    let endpoint = mock.endpoint();
    let body = json!({
        "query": "What is PSV-2015A set at?", "classification": "manual", "stream": is_streamed,
        "llm_endpoint": {"api_key": "none", "model": endpoint.model, "base_url": endpoint.base_url},
    })
    .to_string();
    let mut client = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/pipelines/{pipeline}/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    if is_streamed {
        client.read_u8().await.unwrap();
    }
    wait_until(|| !mock.requests().is_empty()).await;
    assert_eq!(mock.disconnect_count(), 0);
    drop(client);
    let is_cancelled = wait_until(|| mock.disconnect_count() == 1).await;
    server.abort();
    is_cancelled
}

/// Waits for a condition, far less than the timeouts of the model. Returns whether it became true.
async fn wait_until(condition: impl Fn() -> bool) -> bool {
    for _ in 0..1000 {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_a_stream_ends_the_call_of_the_model() {
    assert!(is_cancelled(vec![stream_head(), event(&delta("PSV-2015A is ")), Step::Hang], true).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_before_a_whole_answer_ends_the_call_of_the_model() {
    assert!(is_cancelled(vec![Step::Hang], false).await);
}
