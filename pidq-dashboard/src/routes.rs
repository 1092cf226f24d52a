//! Table of routes: the session, the paths that are forwarded to the API, and the front end.

use std::sync::Arc;

use pidq_http::{
    Accepts, Access, Action, Binary, Handler, Method, Parameter, Problem, Reply, Request, Response, Route, codes,
};

use crate::dashboard::Dashboard;
use crate::proxy;
use crate::sign_in::{self, SessionState, SignIn, SignedOut};
use crate::sso_handlers;

/// Maximum size of the credentials in bytes.
const SIGN_IN_SIZE: u64 = 16 << 10;

const STATE: Reply = Reply::json::<SessionState>(200, "Whether a person is signed in.");
const PAGE: Reply = Reply::of::<String>(200, "text/html", "The page or file.");
const FORWARDED: Reply = Reply::of::<Binary>(200, "application/octet-stream", "The response of the API.");

const SIGNED_OUT_HERE: Reply = Reply::json::<SignedOut>(200, "Nobody is signed in here, but at the provider.");
const REDIRECT: Reply = Reply::empty(303, "Redirect.");
const RETURN_TO: Parameter = Parameter::query::<String>("return_to", "Path of the page to open after the sign-in.");
const PROMPT: Parameter = Parameter::query::<String>("prompt", "`login` asks for the person again.");
const STATE_PARAMETER: Parameter = Parameter::query::<String>("state", "State of the sign-in.");
const CODE: Parameter = Parameter::query::<String>("code", "Authorization code.");
const ISSUER: Parameter = Parameter::query::<String>("iss", "Issuer (RFC 9207).");
const ERROR: Parameter = Parameter::query::<String>("error", "Error code instead of an authorization code.");

/// Routes of the dashboard. Everyone may call them: the handlers check the session.
pub(crate) const ROUTES: &[Route<Dashboard>] = &[
    route(Method::GET, "/livez", "Returns 200 while the process is alive.", &[PAGE], |_, _| {
        Box::pin(async { Ok(Response::ok("text/plain", "ok\n")) })
    }),
    route(Method::GET, "/session", "Returns whether a person is signed in.", &[STATE], |dashboard, request| {
        Box::pin(sign_in::show(dashboard, request))
    }),
    Route {
        method: Method::POST,
        path: "/session",
        access: Access::Public,
        action: Action::None,
        summary: "Signs in with a password.",
        parameters: &[],
        body: Some(Accepts::json::<SignIn>(SIGN_IN_SIZE)),
        replies: &[STATE],
        handler: |dashboard, request| Box::pin(sign_in::sign_in(dashboard, request)),
    },
    route(
        Method::DELETE,
        "/session",
        "Signs out, which revokes the tokens.",
        &[SIGNED_OUT_HERE, Reply::empty(204, "Nobody is signed in.")],
        |dashboard, request| Box::pin(sign_in::sign_out(dashboard, request)),
    ),
    redirect("/session/sso", "Redirects to the identity provider.", &[RETURN_TO, PROMPT], |dashboard, request| {
        Box::pin(sso_handlers::start(dashboard, request))
    }),
    redirect(
        "/session/callback",
        "Completes a sign-in at the identity provider, and redirects to a page.",
        &[STATE_PARAMETER, CODE, ISSUER, ERROR],
        |dashboard, request| Box::pin(sso_handlers::complete(dashboard, request)),
    ),
    with_token(Method::GET, "/api"),
    with_token(Method::GET, "/api/{*path}"),
    with_token(Method::POST, "/api/{*path}"),
    with_token(Method::PUT, "/api/{*path}"),
    with_token(Method::PATCH, "/api/{*path}"),
    with_token(Method::DELETE, "/api/{*path}"),
    with_token(Method::GET, "/graph"),
    with_token(Method::POST, "/graph"),
    with_token(Method::GET, "/graph/{*path}"),
    with_token(Method::POST, "/graph/{*path}"),
    with_token(Method::PUT, "/graph/{*path}"),
    with_token(Method::PATCH, "/graph/{*path}"),
    with_token(Method::DELETE, "/graph/{*path}"),
    with_token(Method::GET, "/account"),
    with_token(Method::PUT, "/account/{*path}"),
    with_token(Method::GET, "/accounts"),
    with_token(Method::POST, "/accounts"),
    with_token(Method::POST, "/accounts/{*path}"),
    with_token(Method::PATCH, "/accounts/{*path}"),
    with_token(Method::DELETE, "/accounts/{*path}"),
    with_token(Method::GET, "/clients"),
    with_token(Method::POST, "/clients"),
    with_token(Method::POST, "/clients/{*path}"),
    with_token(Method::PATCH, "/clients/{*path}"),
    with_token(Method::DELETE, "/clients/{*path}"),
    without_token("/functions"),
    without_token("/openapi.json"),
    without_token("/docs"),
    without_token("/docs/{*path}"),
    without_token("/problems"),
    without_token("/problems/{*path}"),
    without_token("/version"),
    without_token("/readyz"),
    route(Method::GET, "/", "Start page of the front end.", &[PAGE], page),
    route(Method::GET, "/{*path}", "Page or file of the front end.", &[PAGE], page),
];

const fn route(
    method: Method,
    path: &'static str,
    summary: &'static str,
    replies: &'static [Reply],
    handler: Handler<Dashboard>,
) -> Route<Dashboard> {
    let (access, action) = (Access::Public, Action::None);
    Route { method, path, access, action, summary, parameters: &[], body: None, replies, handler }
}

const fn redirect(
    path: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    handler: Handler<Dashboard>,
) -> Route<Dashboard> {
    let (method, access, action, replies) = (Method::GET, Access::Public, Action::None, &[REDIRECT]);
    Route { method, path, access, action, summary, parameters, body: None, replies, handler }
}

const fn with_token(method: Method, path: &'static str) -> Route<Dashboard> {
    route(method, path, "Forwarded to the API with the token of the session.", &[FORWARDED], |dashboard, request| {
        Box::pin(proxy::with_token(dashboard, request))
    })
}

const fn without_token(path: &'static str) -> Route<Dashboard> {
    route(Method::GET, path, "Forwarded to the API.", &[FORWARDED], |dashboard, request| {
        Box::pin(proxy::without_token(dashboard, request))
    })
}

/// Paths of the API below which the front end has no pages.
const API_PREFIXES: &[&str] = &["/api/", "/graph/", "/account/", "/accounts/", "/clients/"];

fn page(dashboard: &Arc<Dashboard>, request: Request) -> pidq_http::Fut<'_, Result<Response, Problem>> {
    Box::pin(async move {
        let is_api = API_PREFIXES.iter().any(|prefix| request.head.uri.path().starts_with(prefix));
        let response = if is_api { None } else { dashboard.assets.response(&request.head) };
        response.ok_or_else(|| Problem::new(codes::NOT_FOUND).detail("The dashboard has no file at this path."))
    })
}
