//! Fuzz property of `parts`: for a boundary in the first line and a multipart form in the rest, the form is read to its
//! end or rejected, with the same parts for any chunking; and the bytes of any part are returned as sent.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use hyper::Request as HttpRequest;
use pidq_http::{
    Accepts, Access, Action, App, Bytes, Method, MultipartLimits, Problem, Request, Response, Route, Service,
    StatusCode, header,
};
use tokio::runtime::{Builder, Runtime};

const LIMIT: u64 = 1 << 20;
/// Size of the read buffer.
const BUFFER_SIZE: usize = 8 << 10;
/// Head of a part with a name of one letter.
const HEAD: &[u8] = b"\r\nContent-Disposition: form-data; name=\"p\"\r\n\r\n";

/// The parts of the last request.
type Parts = Vec<Part>;

/// A part as received by the handler.
#[derive(Debug, Eq, PartialEq)]
struct Part {
    name: String,
    file_name: Option<String>,
    media: Option<String>,
    bytes: Vec<u8>,
}

const ROUTES: &[Route<Mutex<Parts>>] = &[Route {
    method: Method::POST,
    path: "/",
    access: Access::Public,
    action: Action::None,
    summary: "Reads a form to its end.",
    parameters: &[],
    body: Some(Accepts::of::<pidq_http::Binary>(&["multipart/form-data"], LIMIT)),
    replies: &[],
    handler: |parts, request| Box::pin(read(parts, request)),
}];

async fn read(received: &Arc<Mutex<Parts>>, mut request: Request) -> Result<Response, Problem> {
    let mut form = request.multipart(MultipartLimits::default())?;
    let mut parts = Parts::new();
    while let Some(mut part) = form.next().await? {
        let mut bytes = Vec::new();
        while let Some(chunk) = part.chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        let text = |text: Option<&str>| text.map(str::to_owned);
        let (file_name, media) = (text(part.file_name()), text(part.content_type()));
        parts.push(Part { name: part.name().to_owned(), file_name, media, bytes });
    }
    *received.lock().unwrap_or_else(PoisonError::into_inner) = parts;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

struct Fixture {
    runtime: Runtime,
    service: Service<Mutex<Parts>>,
    received: Arc<Mutex<Parts>>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let app = App::new("parts", "0", Mutex::default(), ROUTES);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let received = app.state.clone();
    Fixture { runtime, service: app.build(), received }
});

/// Panics if the property is violated.
pub fn check(input: &[u8]) {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (boundary, body) = (&input[..at], input.get(at + 1..).unwrap_or_default());
    any_bytes_are_a_valid_part(body);
    let Some(parts) = parts_of(boundary, body) else { return };
    assert!(parts.len() <= MultipartLimits::default().parts, "{} parts", parts.len());
    assert!(parts.iter().map(|part| part.bytes.len()).sum::<usize>() <= body.len());
    let opening = [b"--", boundary].concat();
    if body.starts_with(&opening) && parts.len() < MultipartLimits::default().parts {
        let with_padding = parts_of(boundary, &[&padding(&opening, body.len()), body].concat());
        assert_eq!(with_padding.as_deref().and_then(|parts| parts.get(1..)), Some(&*parts), "after a padding part");
    }
}

/// Returns a padding part of such a length that the read buffer ends in the middle of the following bytes.
fn padding(opening: &[u8], following: usize) -> Vec<u8> {
    let around = opening.len() + HEAD.len() + 2;
    let length = BUFFER_SIZE.saturating_sub(around + following / 2);
    [opening, HEAD, &vec![b'x'; length], b"\r\n"].concat()
}

/// Checks that bytes without the boundary are accepted as a part and returned unchanged.
fn any_bytes_are_a_valid_part(bytes: &[u8]) {
    const BOUNDARY: &[u8] = b"x7";
    const CLOSING: &[u8] = b"\r\n--x7";
    let is_cut = bytes.windows(CLOSING.len()).any(|window| window == CLOSING) || bytes.starts_with(&CLOSING[2..]);
    if is_cut || bytes.len() as u64 > LIMIT / 2 {
        return;
    }
    let body = [b"--x7", HEAD, bytes, b"\r\n--x7--\r\n"].concat();
    let sent = Part { name: "p".to_owned(), file_name: None, media: None, bytes: bytes.to_vec() };
    assert_eq!(parts_of(BOUNDARY, &body), Some(vec![sent]), "any bytes are a part");
}

/// Returns the parts of a body; `None` if it is rejected.
fn parts_of(boundary: &[u8], body: &[u8]) -> Option<Parts> {
    let media = [b"multipart/form-data; boundary=", boundary].concat();
    let request = HttpRequest::post("/").header(header::CONTENT_TYPE, media).header(header::HOST, "localhost");
    // Boundaries that are not a valid header value are skipped.
    let request = request.body(Bytes::copy_from_slice(body)).ok()?;
    let Fixture { runtime, service, received } = &*FIXTURE;
    let status = runtime.block_on(service.call(request)).status().as_u16();
    assert!([204, 400, 413, 415].contains(&status), "{status}");
    (status == 204).then(|| std::mem::take(&mut *received.lock().unwrap_or_else(PoisonError::into_inner)))
}
