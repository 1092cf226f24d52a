//! Test service with a route of every kind, and a raw HTTP client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use pidq_http::Accepts;
use pidq_http::Access;
use pidq_http::Action;
use pidq_http::App;
use pidq_http::Head;
use pidq_http::Limits;
use pidq_http::Listener;
use pidq_http::Method;
use pidq_http::Principal;
use pidq_http::PrincipalKind;
use pidq_http::Problem;
use pidq_http::Reply;
use pidq_http::Request;
use pidq_http::Response;
use pidq_http::Route;
use pidq_http::Shutdown;
use pidq_http::StatusCode;
use pidq_http::Stop;
use pidq_http::VectoredBody;
use pidq_http::serve;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

#[derive(Default)]
pub struct State {
    /// Number of started slow handlers.
    pub started: AtomicU64,
    /// Number of cancelled slow handlers.
    pub cancelled: AtomicU64,
}

const OK: &[Reply] = &[Reply::json::<serde_json::Value>(200, "Good.")];
const JSON: Option<Accepts> = Some(Accepts::json::<serde_json::Value>(1 << 16));

macro_rules! row {
    ($method:ident, $path:literal, $access:expr, $body:expr, $handler:ident) => {
        Route {
            method: Method::$method,
            path: $path,
            access: $access,
            action: Action::None,
            summary: "A row for tests.",
            parameters: &[],
            body: $body,
            replies: OK,
            handler: |state, request| Box::pin($handler(state, request)),
        }
    };
}

pub const ROUTES: &[Route<State>] = &[
    row!(GET, "/things/{id}", Access::Public, None, thing),
    row!(GET, "/client", Access::Public, None, client),
    row!(POST, "/echo", Access::Public, JSON, echo),
    row!(GET, "/big", Access::Public, None, big),
    row!(GET, "/parts", Access::Public, None, parts),
    row!(GET, "/long", Access::Public, None, long),
    row!(GET, "/unsent", Access::Public, None, unsent),
    row!(GET, "/file", Access::Public, None, file),
    row!(GET, "/streamed", Access::Public, None, streamed),
    row!(GET, "/short", Access::Public, None, short),
    row!(GET, "/stream", Access::Public, None, stream),
    row!(GET, "/abandoned", Access::Public, None, abandoned),
    row!(GET, "/events", Access::Public, None, events),
    row!(GET, "/slow", Access::Public, None, slow),
    row!(GET, "/panic", Access::Public, None, panics),
    row!(GET, "/mine/slow", Access::Bearer, None, slow),
    row!(GET, "/mine", Access::Bearer, None, mine),
    row!(GET, "/written", Access::Scope("write"), None, mine),
    row!(PUT, "/stored/{id}", Access::Public, JSON, store),
    row!(POST, "/o/token/", Access::Client, FORM, token),
];

const FORM: Option<Accepts> = Some(Accepts::of::<serde_json::Value>(&["application/x-www-form-urlencoded"], 1 << 14));

async fn thing(_: &State, request: Request) -> Result<Response, Problem> {
    Ok(Response::json(&request.path("id")?)?.etag("7"))
}

/// Returns the client address and whether the request came over TLS.
async fn client(_: &State, request: Request) -> Result<Response, Problem> {
    Response::json(&(request.head.client, request.head.secure))
}

async fn echo(_: &State, mut request: Request) -> Result<Response, Problem> {
    let value: serde_json::Value = request.json().await?;
    Response::json(&value)
}

async fn big(_: &State, _: Request) -> Result<Response, Problem> {
    Ok(Response::ok("application/json", vec![b'7'; 8 << 20]))
}

/// Text in 3,000 parts of up to 5,000 bytes; some are empty.
pub struct ManyParts(String);

impl ManyParts {
    const COUNT: usize = 3000;

    pub fn text() -> String {
        (0..7_500_000).map(|at| char::from(b'a' + (at % 23) as u8)).collect()
    }

    /// Returns the start of a part.
    fn start(&self, index: usize) -> usize {
        let even = self.0.len() * index / ManyParts::COUNT;
        if index % 5 == 3 { self.start(index - 1) } else { even }
    }
}

impl VectoredBody for ManyParts {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn part(&self, index: usize) -> Option<&[u8]> {
        (index < ManyParts::COUNT).then(|| &self.0.as_bytes()[self.start(index)..self.start(index + 1)])
    }
}

async fn parts(_: &State, _: Request) -> Result<Response, Problem> {
    Ok(Response::vectored("text/plain", ManyParts(ManyParts::text())))
}

async fn long(_: &State, _: Request) -> Result<Response, Problem> {
    Ok(Response::ok("application/json", vec![b'7'; 2000]).etag("8"))
}

/// Responds without the content; only for clients that have it.
async fn unsent(_: &State, request: Request) -> Result<Response, Problem> {
    assert!(request.head.has_cached("8"));
    Ok(Response::not_modified("application/json", 2000).etag("8"))
}

async fn file(_: &State, _: Request) -> Result<Response, Problem> {
    Ok(Response::ok("text/plain", "0123456789".repeat(200)).etag("v1").accept_ranges())
}

/// Streams the same content.
async fn streamed(_: &State, request: Request) -> Result<Response, Problem> {
    let (mut sender, part, response) = Response::range_stream(&request.head, "text/plain", "v1", 2000)?;
    tokio::spawn(async move {
        for at in part {
            sender.send((at % 10).to_string()).await?;
        }
        sender.finish().await
    });
    Ok(response)
}

/// Announces more than it sends.
async fn short(_: &State, request: Request) -> Result<Response, Problem> {
    let (mut sender, _, response) = Response::range_stream(&request.head, "text/plain", "v1", 2000)?;
    tokio::spawn(async move {
        sender.send("not 2000 bytes").await?;
        sender.finish().await
    });
    Ok(response)
}

async fn stream(_: &State, _: Request) -> Result<Response, Problem> {
    let (mut lines, response) = Response::ndjson();
    tokio::spawn(async move {
        for number in 0..1000 {
            lines.send(&number).await?;
        }
        lines.finish().await
    });
    Ok(response)
}

async fn abandoned(_: &State, _: Request) -> Result<Response, Problem> {
    let (mut sender, response) = Response::stream("text/plain");
    tokio::spawn(async move { sender.send("half a resp").await });
    Ok(response)
}

async fn events(_: &State, _: Request) -> Result<Response, Problem> {
    let (mut events, response) = Response::events();
    tokio::spawn(async move {
        events.send("delta", Some("1"), "one\ntwo").await?;
        events.finish().await
    });
    Ok(response)
}

async fn slow(state: &State, _: Request) -> Result<Response, Problem> {
    struct Count<'a>(&'a AtomicU64);
    impl Drop for Count<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let count = Count(&state.cancelled);
    state.started.fetch_add(1, SeqCst);
    tokio::time::sleep(Duration::from_millis(700)).await;
    std::mem::forget(count);
    Ok(Response::ok("text/plain", "slow"))
}

async fn panics(_: &State, _: Request) -> Result<Response, Problem> {
    std::future::ready(()).await;
    panic!("a bug, on purpose")
}

/// Data of the authenticator.
struct Extension(&'static str);

async fn mine(_: &State, request: Request) -> Result<Response, Problem> {
    let principal = request.principal()?;
    assert_eq!(principal.extension::<Extension>().map(|extension| extension.0), Some("blue"));
    Response::json(&principal.id)
}

async fn store(_: &State, request: Request) -> Result<Response, Problem> {
    request.head.precondition(Some("7-abc"))?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

async fn token(_: &State, mut request: Request) -> Result<Response, Problem> {
    let form = request.form().await?;
    match form.single("grant_type")? {
        Some("password") => Response::json(&"x".repeat(2000)),
        _ => Err(Problem::oauth(StatusCode::BAD_REQUEST, "unsupported_grant_type", "Not that one.")),
    }
}

/// Authenticates tokens of the form `id:scope`.
async fn authenticate(head: &Head) -> Result<Arc<Principal>, Problem> {
    let token = head.bearer()?.ok_or_else(Problem::unauthenticated)?;
    let wrong = || Problem::invalid_token("The access token is invalid.");
    let (id, scope) = token.split_once(':').ok_or_else(wrong)?;
    let mut principal = Principal::new(PrincipalKind::User, "t", id).with_extension(Extension("blue"));
    principal.scopes.push(scope.to_owned());
    Ok(principal.into())
}

pub fn app() -> App<State> {
    let mut app = App::new("test", "1.2.3", State::default(), ROUTES);
    app.authenticate = |_, head| Box::pin(authenticate(head));
    app.limits = Limits { shutdown_delay: Duration::ZERO, shutdown_grace: Duration::from_secs(5), ..Limits::default() };
    app
}

pub struct Server {
    pub address: SocketAddr,
    pub stop: Stop,
    pub state: Arc<State>,
    pub done: JoinHandle<std::io::Result<()>>,
}

impl Server {
    pub fn start(app: App<State>) -> Server {
        let listener = Listener::plain(([127, 0, 0, 1], 0).into()).expect("a free port");
        Server::on(app, vec![listener])
    }

    pub fn on(app: App<State>, listeners: Vec<Listener>) -> Server {
        let address = listeners[0].address().expect("it is bound");
        let (stop, shutdown) = Shutdown::manual();
        let state = app.state.clone();
        Server { address, stop, state, done: tokio::spawn(serve(app, listeners, shutdown)) }
    }

    /// Waits until a slow handler has started.
    pub async fn wait_until_busy(&self) {
        while self.state.started.load(SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("the server listens")
    }

    /// Sends bytes and returns everything until the server closes.
    pub async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        // The server may have closed already; its response counts.
        let _ = stream.write_all(bytes.as_ref()).await;
        rest(stream).await
    }

    /// Sends one request on its own connection.
    pub async fn request(&self, head: &str, body: &str) -> String {
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.raw(format!("{head}\r\nHost: x\r\nConnection: close\r\n{length}\r\n{body}")).await
    }
}

/// Reads to the end, with a timeout of 20 seconds.
pub async fn rest(mut stream: TcpStream) -> String {
    let mut response = Vec::new();
    let read = timeout(Duration::from_secs(20), stream.read_to_end(&mut response)).await;
    assert!(read.is_ok(), "the server neither responds nor closes: {:?}", String::from_utf8_lossy(&response));
    String::from_utf8_lossy(&response).into_owned()
}

pub fn status(response: &str) -> u16 {
    response.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

pub fn header<'a>(response: &'a str, name: &str) -> Option<&'a str> {
    let head = response.split("\r\n\r\n").next()?;
    head.lines().filter_map(|line| line.split_once(": ")).find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
}

pub fn body(response: &str) -> &str {
    response.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}
