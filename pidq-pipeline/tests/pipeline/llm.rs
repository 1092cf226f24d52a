//! Tests of the LLM client against misbehaving servers.

use std::time::{Duration, Instant};

use pidq_http::{Problem, Secret};
use pidq_pipeline::llm::{BatchOptions, Chat, ClientOptions, Endpoint, LlmError, LlmErrorKind, Sampling, Usage};
use pidq_pipeline::net::egress::EgressRejection;
use serde_json::{Value, json};

use crate::mock_server::{
    KEY, MockServer, Step, client, completion, delta, event, json_reply, last, raw, reply, short_timeouts, stream_head,
    unresponsive,
};

fn question() -> Chat {
    Chat { system: "s".into(), user: "u".into(), ..Chat::default() }
}

/// Returns the streamed text, or the text before an error and the error.
async fn streamed(mock: &MockServer) -> Result<String, (String, LlmError)> {
    let mut text = String::new();
    let failed = |text: &String, error| (text.clone(), error);
    let client = client(short_timeouts());
    let mut deltas = client.stream(&mock.endpoint(), &question()).await.map_err(|error| failed(&text, error))?;
    while let Some(delta) = deltas.next().await.map_err(|error| failed(&text, error))? {
        text.push_str(&delta);
    }
    Ok(text)
}

async fn check(name: &str, steps: Vec<Step>, expected: &str) {
    let mock = MockServer::always(steps).await;
    match streamed(&mock).await {
        Ok(text) => assert_eq!(text, expected, "{name}"),
        Err((partial_text, error)) => {
            let outcome = if partial_text.is_empty() {
                error.code().to_owned()
            } else {
                format!("{partial_text} then {}", error.code())
            };
            assert_eq!(outcome, expected, "{name}: {error}");
            assert!(!format!("{error} {error:?}").contains(KEY), "{name} shows the key");
        }
    }
}

/// Returns a stream with these chunks that ends with its connection.
fn stream(chunks: impl IntoIterator<Item = Step>) -> Vec<Step> {
    [stream_head()].into_iter().chain(chunks).collect()
}

#[tokio::test]
async fn streams_of_all_servers_are_parsed() {
    let done = || raw("data: [DONE]\n\n");
    let hello = || [event(&delta("Hel")), event(&delta("lo"))];
    check("a regular stream", stream(hello().into_iter().chain([event(&last("stop")), done()])), "Hello").await;
    check("no [DONE]", stream(hello().into_iter().chain([event(&last("stop"))])), "Hello").await;
    check("no finish reason", stream(hello().into_iter().chain([done()])), "Hello").await;
    let open_end = raw(format!("data: {}", last("stop")));
    check("no line break at the end", stream([event(&delta("Hello")), open_end]), "Hello").await;
    let truncated = hello().into_iter().chain([event(&last("stop")), raw("data: [DO")]);
    check("truncated after the end", stream(truncated), "Hello").await;
    check("no blank after data:", stream([raw(format!("data:{}\n\n", delta("Hello"))), done()]), "Hello").await;
    check("CRLF", stream([raw(format!("data: {}\r\n\r\ndata: [DONE]\r\n\r\n", delta("Hello")))]), "Hello").await;
    check("comments", stream([raw(": ping\n\n"), event(&delta("Hello")), raw(": ping\n\n"), done()]), "Hello").await;
    let lines = serde_json::to_string_pretty(&delta("Hello")).unwrap().replace('\n', "\ndata: ");
    check("data in several lines", stream([raw(format!("data: {lines}\n\n")), done()]), "Hello").await;
    let role = json!({"choices": [{"delta": {"role": "assistant"}}]});
    check("a role first", stream([event(&role), event(&delta("Hello")), done()]), "Hello").await;
    let nothing = json!({"choices": [{"delta": {"role": null, "content": null}}]});
    check("nulls", stream([event(&nothing), event(&delta("")), event(&delta("Hello")), done()]), "Hello").await;
    let other_id = json!({"id": "other", "choices": [{"delta": {"content": "lo", "role": null}}]});
    check("ids that change", stream([event(&delta("Hel")), event(&other_id), done()]), "Hello").await;
    let reasoning = json!({"choices": [{"delta": {"reasoning_content": "hm", "content": null}}]});
    check("reasoning", stream([event(&reasoning), event(&delta("Hello")), done()]), "Hello").await;
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    check("usage last", stream([event(&delta("Hello")), event(&last("stop")), event(&usage), done()]), "Hello").await;
    let no_delta = json!({"choices": [{"index": 0, "finish_reason": "stop"}]});
    check("a choice without delta", stream([event(&delta("Hello")), event(&no_delta), done()]), "Hello").await;
    check("one chunk", stream([event(&completion("Hello")), done()]), "Hello").await;
    check("no empty lines", stream([raw(format!("data: {}\ndata: [DONE]\n", delta("Hello")))]), "Hello").await;
    check("after the end", stream([event(&delta("Hello")), done(), event(&delta("!"))]), "Hello").await;
    check("JSON instead of a stream", vec![json_reply(200, &completion("Hello"))], "Hello").await;
    let parts = json!({"choices": [{"delta": {"content": [{"type": "text", "text": "Hello"}]}}]});
    check("content in parts", stream([event(&parts), done()]), "Hello").await;
    let second = json!({"choices": [{"index": 1, "delta": {"content": "no"}}]});
    check("a second choice", stream([event(&delta("Hello")), event(&second), done()]), "Hello").await;
}

#[tokio::test]
async fn characters_may_be_split_over_reads() {
    let text = format!("data: {}\n\ndata: [DONE]\n\n", delta("Überdruck 38,5 € 👩‍🔧"));
    let bytes = text.as_bytes().iter().flat_map(|&byte| [Step::Send(vec![byte]), Step::Wait(0)]);
    check("byte by byte", stream(bytes), "Überdruck 38,5 € 👩‍🔧").await;
}

#[tokio::test]
async fn broken_streams_are_errors() {
    let hello = || event(&delta("Hello"));
    let error = json!({"error": {"message": "out of memory", "code": 500}});
    check("an error first", stream([event(&error)]), "llm-bad-response").await;
    check("an error in the middle", stream([hello(), event(&error)]), "Hello then llm-bad-response").await;
    let busy = json!({"error": {"message": "slow down", "code": 429}});
    check("too many in the middle", stream([hello(), event(&busy)]), "Hello then llm-rate-limited").await;
    check("no JSON", stream([hello(), raw("data: {half\n\n")]), "Hello then llm-bad-response").await;
    check("truncated", stream([hello(), raw("data: {\"choi")]), "Hello then llm-truncated").await;
    check("no end", stream([hello()]), "Hello then llm-truncated").await;
    let no_line_break = raw(format!("data: {}", delta(" you")));
    check("no end after an event", stream([hello(), no_line_break]), "Hello you then llm-truncated").await;
    let last_words = raw(format!("data: {error}"));
    check("an error without line break", stream([hello(), last_words]), "Hello then llm-bad-response").await;
    let half_object = completion("Hello").to_string();
    let half_object = reply(200, "", &half_object[..half_object.len() - 3]);
    check("half of a JSON object", vec![half_object], "llm-bad-response").await;
    let half = raw([b"data: \"\xe2\x82".as_slice(), b"\n\n"].concat());
    check("half a character", stream([half]), "llm-bad-response").await;
    check("no text", stream([event(&last("stop")), raw("data: [DONE]\n\n")]), "llm-bad-response").await;
    check("nothing", stream([]), "llm-bad-response").await;
    check("empty choices", vec![json_reply(200, &json!({"choices": []}))], "llm-bad-response").await;
    check("no body", vec![reply(200, "", "")], "llm-bad-response").await;
    check("HTML", vec![reply(200, "", "<html>welcome</html>")], "llm-bad-response").await;
    check("an error with 200", vec![json_reply(200, &error)], "llm-bad-response").await;
    check("no HTTP", vec![raw("SSH-2.0-OpenSSH_9.2\r\n")], "llm-unreachable").await;
    check("no server", vec![Step::Break], "llm-unreachable").await;
    let short = raw(format!("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\ndata: {}\n\n", delta("Hello")));
    check("the connection breaks", vec![short, Step::Wait(50)], "Hello then llm-truncated").await;
    let head = raw("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{\"choices\": [{\"message\": {\"content\": \"Hel");
    check("the connection breaks in a JSON object", vec![head, Step::Wait(50)], "llm-truncated").await;
    let complete = raw(format!("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\ndata: {}\n\n", completion("Hello")));
    check("the connection breaks after the end", vec![complete, Step::Wait(50)], "Hello").await;
}

#[tokio::test]
async fn oversized_responses_are_not_read() {
    let line = vec![b'x'; 10 << 20];
    check("a line of 10 MB", stream([raw("data: "), Step::Send(line.clone())]), "llm-bad-response").await;
    let length = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{{", line.len());
    check("JSON of 10 MB", vec![raw(length), Step::Send(line)], "llm-bad-response").await;
    let comments = raw(": x\n".repeat(3 << 20));
    check("comments without end", stream([comments]), "llm-bad-response").await;
}

#[tokio::test]
async fn slow_servers_time_out() {
    check("no head", vec![Step::Hang], "llm-timeout").await;
    check("no first byte", stream([Step::Hang]), "llm-timeout").await;
    check("a stall", stream([event(&delta("Hello")), Step::Hang]), "Hello then llm-timeout").await;
    let end = event(&last("stop"));
    check("slow, and in time", stream([Step::Wait(200), event(&delta("Hello")), Step::Wait(200), end]), "Hello").await;
    check("finished, and open", stream([event(&delta("Hello")), event(&last("stop")), Step::Hang]), "Hello").await;
    let drops = (0..100).flat_map(|_| [raw(": ping\n"), Step::Wait(20)]);
    let mock = MockServer::always(stream(drops)).await;
    let short_total_timeout = ClientOptions { total_timeout: Duration::from_millis(300), ..short_timeouts() };
    let error = client(short_total_timeout).chat(&mock.endpoint(), &question()).await.unwrap_err();
    assert_eq!(error.code(), "llm-timeout", "the total timeout is exceeded");
}

#[tokio::test]
async fn a_complete_response_has_the_total_timeout() {
    let mock = MockServer::always(vec![Step::Wait(600), json_reply(200, &completion("Hello"))]).await;
    assert_eq!(client(short_timeouts()).chat(&mock.endpoint(), &question()).await.unwrap().text, "Hello");
}

#[tokio::test]
async fn a_missing_server_is_unreachable() {
    let mock = MockServer::always(Vec::new()).await;
    let mut endpoint = mock.endpoint();
    endpoint.base_url = "http://127.0.0.1:1/v1".into();
    assert_eq!(client(short_timeouts()).chat(&endpoint, &question()).await.unwrap_err().code(), "llm-unreachable");
    endpoint.base_url = "http://nowhere.invalid/v1".into();
    assert_eq!(client(short_timeouts()).chat(&endpoint, &question()).await.unwrap_err().code(), "llm-unreachable");
    endpoint.base_url = format!("https://{}/v1", mock.address);
    assert_eq!(client(short_timeouts()).chat(&endpoint, &question()).await.unwrap_err().code(), "llm-unreachable");
    endpoint.base_url = format!("http://{}/v1", unresponsive().await);
    assert_eq!(
        client(short_timeouts()).stream(&endpoint, &question()).await.map(drop).unwrap_err().code(),
        "llm-timeout"
    );
}

#[tokio::test]
async fn a_forbidden_address_is_explained_only_in_the_log() {
    let endpoint = Endpoint::new("http://0xa9fea9fe/v1", Secret::new(KEY), "m");
    let error = client(short_timeouts()).chat(&endpoint, &question()).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("llm-endpoint-forbidden", 403));
    assert_eq!(error.rejection(), Some(&EgressRejection::Never("a link-local address")));
    assert!(!error.to_string().contains("link") && error.upstream().is_none(), "{error}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let honeypot = MockServer::always(vec![json_reply(200, &completion("caught"))]).await;
    for location in ["http://169.254.169.254/latest/meta-data".to_owned(), format!("http://{}/v1", honeypot.address)] {
        for status in [301, 302, 303, 307, 308] {
            let steps = vec![reply(status, &format!("Location: {location}\r\n"), "")];
            check("a redirect", steps, "llm-bad-response").await;
        }
    }
    assert!(honeypot.requests().is_empty());
}

/// Returns rows of the server's status and body, and the expected code, status and upstream code.
fn error_responses() -> Vec<(u16, Value, &'static str, u16, Option<&'static str>)> {
    let error = |code: &str, message: &str| json!({"error": {"message": message, "type": "t", "code": code}});
    vec![
        (401, error("invalid_api_key", "Incorrect API key"), "llm-auth-failed", 502, Some("invalid_api_key")),
        (403, json!({"error": {"message": "no"}}), "llm-auth-failed", 502, None),
        (
            404,
            error("model_not_found", "The model `x` does not exist"),
            "llm-model-not-found",
            422,
            Some("model_not_found"),
        ),
        (404, json!({"error": "model \"x\" not found, try pulling it first"}), "llm-model-not-found", 422, None),
        (400, error("400", "Invalid model name passed in model=x"), "llm-model-not-found", 422, Some("400")),
        (404, json!({"detail": "Not Found"}), "llm-bad-response", 502, None),
        (
            400,
            error("context_length_exceeded", "too long"),
            "llm-context-exceeded",
            422,
            Some("context_length_exceeded"),
        ),
        (
            400,
            error("x", "This model's maximum context length is 4097 tokens. Reduce max_tokens"),
            "llm-context-exceeded",
            422,
            Some("x"),
        ),
        (
            400,
            json!({"object": "error", "message": "the prompt is too long", "code": 400}),
            "llm-context-exceeded",
            422,
            Some("400"),
        ),
        (400, error("invalid_value", "temperature too high"), "llm-rejected-request", 502, Some("invalid_value")),
        (422, json!({"detail": []}), "llm-rejected-request", 502, None),
        (429, error("rate_limit_exceeded", "slow down"), "llm-rate-limited", 503, Some("rate_limit_exceeded")),
        (500, error("server_error", "oops"), "llm-bad-response", 502, Some("server_error")),
        (503, json!(null), "llm-bad-response", 502, None),
        (408, json!({}), "llm-timeout", 504, None),
        (418, json!({}), "llm-bad-response", 502, None),
    ]
}

#[tokio::test]
async fn error_responses_have_stable_codes() {
    for (status, body, code, problem_status, upstream_code) in error_responses() {
        let mock = MockServer::always(vec![json_reply(status, &body)]).await;
        let error = client(short_timeouts()).chat(&mock.endpoint(), &question()).await.unwrap_err();
        let upstream = error.upstream().unwrap();
        assert_eq!((error.code(), error.status()), (code, problem_status), "{status} {body}");
        assert_eq!((upstream.status, upstream.code.as_deref()), (status, upstream_code), "{status} {body}");
        assert_eq!(Problem::from(error).status().as_u16(), problem_status);
    }
}

#[tokio::test]
async fn error_messages_are_shortened_and_contain_no_key() {
    let message = format!("Incorrect key {KEY}\u{202e}\n{}", "x".repeat(1000));
    let code = format!("key-{KEY}-is-wrong");
    let mock = MockServer::always(vec![json_reply(401, &json!({"error": {"message": message, "code": code}}))]).await;
    let error = client(short_timeouts()).chat(&mock.endpoint(), &question()).await.unwrap_err();
    let upstream_message = error.upstream().unwrap().message.clone().unwrap();
    assert!(
        upstream_message.starts_with("Incorrect key *** xxx") && upstream_message.chars().count() <= 300,
        "{upstream_message}"
    );
    assert_eq!(error.upstream().unwrap().code.as_deref(), Some("key--is-wrong"));
    let mock = MockServer::always(vec![reply(500, "", "root:x:0:0:/root")]).await;
    let error = client(short_timeouts()).chat(&mock.endpoint(), &question()).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("root"));
}

/// Rows of status and headers of the first two responses, and the expected number of requests.
#[tokio::test]
async fn retries_follow_retry_after() {
    let rows = [
        (500, "", 3),
        (503, "Retry-After: 0\r\n", 3),
        (429, "retry-after-ms: 3\r\n", 3),
        (408, "", 3),
        (409, "", 3),
        (400, "", 1),
        (401, "", 1),
        (500, "x-should-retry: false\r\n", 1),
        (404, "x-should-retry: true\r\n", 3),
        // Longer than the timeout of the call: returned at once.
        (429, "Retry-After: 60\r\n", 1),
    ];
    for (status, headers, times) in rows {
        let mock = MockServer::start(move |number, _| match number {
            0 | 1 => vec![reply(status, headers, "{}")],
            _ => vec![json_reply(200, &completion("Hello"))],
        })
        .await;
        let answer = client(short_timeouts()).chat(&mock.endpoint(), &question()).await;
        assert_eq!((mock.requests().len(), answer.is_ok()), (times, times == 3), "{status} {headers}");
    }
}

#[tokio::test]
async fn a_broken_connection_is_retried_only_before_the_first_text() {
    let mock = MockServer::start(|number, _| match number {
        0 => vec![Step::Break],
        _ => vec![json_reply(200, &completion("Hello"))],
    })
    .await;
    assert_eq!(streamed(&mock).await.unwrap(), "Hello");
    let mock = MockServer::always(stream([event(&delta("Hel")), event(&json!({"error": {"code": 500}}))])).await;
    assert!(streamed(&mock).await.is_err());
    assert_eq!(mock.requests().len(), 1);
}

#[tokio::test]
async fn a_retry_after_pause_is_respected_and_reported() {
    let mock = MockServer::start(|number, _| match number {
        0 => vec![reply(429, "retry-after-ms: 300\r\n", "{}")],
        _ => vec![json_reply(200, &completion("Hello"))],
    })
    .await;
    let started = Instant::now();
    assert!(client(short_timeouts()).chat(&mock.endpoint(), &question()).await.is_ok());
    assert!(started.elapsed() >= Duration::from_millis(300));
    let mock = MockServer::always(vec![reply(429, "Retry-After: 77\r\n", "{}")]).await;
    let error = client(short_timeouts()).chat(&mock.endpoint(), &question()).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after()), (LlmErrorKind::RateLimited, Some(Duration::from_secs(77))));
}

#[tokio::test]
async fn a_failing_server_opens_the_circuit_breaker() {
    let mock = MockServer::always(vec![reply(503, "", "")]).await;
    let client = client(ClientOptions { failure_threshold: 3, max_retries: 0, ..short_timeouts() });
    for _ in 0..3 {
        assert_eq!(client.chat(&mock.endpoint(), &question()).await.unwrap_err().code(), "llm-bad-response");
    }
    let error = client.chat(&mock.endpoint(), &question()).await.unwrap_err();
    assert_eq!((error.code(), mock.requests().len()), ("llm-unreachable", 3));
    assert!(error.retry_after().is_some());
}

#[tokio::test]
async fn an_open_circuit_breaker_reports_the_last_error() {
    let mock = MockServer::always(vec![reply(503, "", "")]).await;
    let client = client(ClientOptions { failure_threshold: 2, ..short_timeouts() });
    let error = client.chat(&mock.endpoint(), &question()).await.unwrap_err();
    assert_eq!((error.code(), mock.requests().len()), ("llm-bad-response", 2));
}

#[tokio::test]
async fn client_errors_do_not_open_the_circuit_breaker() {
    let mock = MockServer::always(vec![json_reply(401, &json!({}))]).await;
    let client = client(ClientOptions { failure_threshold: 2, max_retries: 0, ..short_timeouts() });
    let with_short_timeout = Chat { total_timeout: Some(Duration::from_millis(1)), ..question() };
    for _ in 0..4 {
        assert_eq!(client.chat(&mock.endpoint(), &question()).await.unwrap_err().code(), "llm-auth-failed");
        let _ = client.chat(&mock.endpoint(), &with_short_timeout).await;
    }
}

#[tokio::test]
async fn unsupported_parameters_are_omitted() {
    let mock = MockServer::start(|_, request| {
        let refuse = |message: &str| vec![json_reply(400, &json!({"error": {"message": message}}))];
        match &request.body {
            body if !body["max_tokens"].is_null() => refuse("Unsupported parameter: 'max_tokens'"),
            body if !body["stream_options"].is_null() => refuse("Unrecognized request argument"),
            _ => vec![json_reply(200, &completion("Hello"))],
        }
    })
    .await;
    let chat = Chat {
        sampling: Sampling { max_tokens: Some(7), temperature: Some(0.5), ..Sampling::default() },
        ..question()
    };
    let mut deltas = client(short_timeouts()).stream(&mock.endpoint(), &chat).await.unwrap();
    assert_eq!(deltas.next().await.unwrap().unwrap(), "Hello");
    let requests = mock.requests();
    let last = &requests.last().unwrap().body;
    assert_eq!(requests.len(), 3);
    assert_eq!((&last["max_completion_tokens"], &last["temperature"]), (&json!(7), &json!(0.5)));
    assert!(last["max_tokens"].is_null() && last["stream_options"].is_null());
}

#[tokio::test]
async fn a_request_contains_only_required_data() {
    let mock = MockServer::always(vec![json_reply(200, &completion("Hello"))]).await;
    let mut endpoint = mock.endpoint();
    endpoint.base_url += "/?api-version=1";
    endpoint.extra_headers = vec![("api-key".into(), Secret::new("k"))];
    client(short_timeouts()).chat(&endpoint, &question()).await.unwrap();
    let head = mock.requests().remove(0).head.to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions?api-version=1 http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: {}\r\n", mock.address)), "{head}");
    assert!(head.contains(&format!("authorization: bearer {KEY}")) && head.contains("api-key: k"), "{head}");
}

#[tokio::test]
async fn an_answer_has_its_finish_reason_and_usage() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 8, "completion_tokens": 2}});
    let steps = stream([event(&delta("Hello")), event(&last("length")), event(&usage), raw("data: [DONE]\n\n")]);
    let mock = MockServer::always(steps).await;
    let client = client(short_timeouts());
    let mut deltas = client.stream(&mock.endpoint(), &question()).await.unwrap();
    while deltas.next().await.unwrap().is_some() {}
    let info = deltas.info();
    assert_eq!((info.finish_reason.as_deref(), info.model.as_deref()), (Some("length"), Some("m-1")));
    assert_eq!(info.usage, Some(Usage { prompt_tokens: 8, completion_tokens: 2, estimated: false }));
}

#[tokio::test]
async fn a_disconnect_cancels_the_request() {
    let mock = MockServer::always(stream([event(&delta("Hello")), Step::Hang])).await;
    let client = client(ClientOptions { idle_timeout: Duration::from_secs(60), ..short_timeouts() });
    let deltas = client.stream(&mock.endpoint(), &question()).await.unwrap();
    drop(deltas);
    let (endpoint, question) = (mock.endpoint(), question());
    let call = client.chat(&endpoint, &question);
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    for _ in 0..100 {
        if mock.disconnect_count() == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the server continues after the disconnect: {} left", mock.disconnect_count());
}

#[tokio::test]
async fn keys_are_not_in_debug_output() {
    let mut endpoint = Endpoint::new("http://127.0.0.1/v1", Secret::new(KEY), "m");
    endpoint.extra_headers = vec![("api-key".into(), Secret::new(KEY))];
    assert!(!format!("{endpoint:?}").contains(KEY));
    endpoint.api_key = Secret::new(format!("{KEY}\r\nX: y"));
    endpoint.base_url = format!("http://{KEY}@127.0.0.1/#");
    endpoint.model = " ".into();
    endpoint.extra_headers.push(("Host".into(), Secret::new("elsewhere")));
    let errors: Vec<_> = endpoint.validate().iter().map(|error| (error.pointer, error.to_string())).collect();
    let pointers: Vec<_> = errors.iter().map(|error| error.0).collect();
    assert_eq!(pointers, ["/api_key", "/model", "/base_url", "/extra_headers"]);
    assert!(!format!("{errors:?}").contains(KEY));
    let error = client(short_timeouts()).chat(&endpoint, &question()).await.unwrap_err();
    assert_eq!(error.code(), "llm-endpoint-forbidden");
    assert!(!format!("{error} {error:?}").contains(KEY));
}

#[tokio::test]
async fn embeddings_are_in_the_order_of_the_texts() {
    let mock = MockServer::start(|_, request| {
        let texts = request.body["input"].as_array().unwrap();
        let row =
            |(index, text): (usize, &Value)| json!({"index": index, "embedding": [text.as_str().unwrap().len(), 0.5]});
        let rows: Vec<_> = texts.iter().enumerate().map(row).rev().collect();
        vec![json_reply(200, &json!({"data": rows}))]
    })
    .await;
    let texts: Vec<String> = (0..100).map(|length| "x".repeat(length)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors =
        client(short_timeouts()).embeddings(&mock.endpoint(), &texts, &BatchOptions::default()).await.unwrap();
    assert!(vectors.iter().enumerate().all(|(length, vector)| vector == &[length as f32, 0.5]));
    assert_eq!((vectors.len(), mock.requests().len()), (100, 2));
    assert!(
        client(short_timeouts()).embeddings(&mock.endpoint(), &[], &BatchOptions::default()).await.unwrap().is_empty()
    );
}

#[tokio::test]
async fn invalid_vectors_are_errors() {
    let row = |index: usize, vector: Value| json!({"index": index, "embedding": vector});
    for data in [
        json!([row(0, json!([1]))]),
        json!([row(0, json!([1])), row(2, json!([1]))]),
        json!([row(0, json!([1])), row(1, json!([1, 2]))]),
        json!([row(0, json!(["1"])), row(1, json!([1]))]),
        json!([row(0, json!([])), row(1, json!([]))]),
        json!([row(0, json!([1e300])), row(1, json!([1]))]),
        json!(null),
    ] {
        let mock = MockServer::always(vec![json_reply(200, &json!({"data": data}))]).await;
        let error = client(short_timeouts())
            .embeddings(&mock.endpoint(), &["a", "b"], &BatchOptions::default())
            .await
            .unwrap_err();
        assert_eq!(error.code(), "llm-bad-response", "{data}");
    }
}

#[tokio::test]
async fn a_connection_test_lists_the_models() {
    let mock = MockServer::always(vec![json_reply(200, &json!({"data": [{"id": "a"}, {"id": "b"}, {}]}))]).await;
    assert_eq!(client(short_timeouts()).models(&mock.endpoint()).await.unwrap(), ["a", "b"]);
    assert!(mock.requests()[0].head.starts_with("GET /v1/models HTTP/1.1"));
    let mock = MockServer::always(vec![json_reply(200, &json!([]))]).await;
    assert_eq!(client(short_timeouts()).models(&mock.endpoint()).await.unwrap_err().code(), "llm-bad-response");
}
