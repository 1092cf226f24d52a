//! Handlers of the OAuth clients of a tenant, for its administrators.

use pidq_http::auth::{Client, GrantType, NewClient, Secret, Timestamp};
use pidq_http::{Problem, Request, Response, StatusCode, codes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::administration::{Administrator, Name, ScopeName, change_problem};
use crate::server::Server;

/// Clients of the tenant.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ClientList {
    /// Clients, ordered by id: those of the tenant, and those that serve all tenants.
    clients: Vec<ClientEntry>,
}

/// OAuth client.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "OAuthClient")]
pub(crate) struct ClientEntry {
    /// Id.
    id: String,
    /// Title, for display.
    title: String,
    /// Grant types: `password`, `refresh_token`, `client_credentials`.
    grant_types: Vec<&'static str>,
    /// Maximum scopes of its tokens.
    scopes: Vec<String>,
    /// `true` if the client serves all tenants; then only the command `pidq clients` can change it.
    shared: bool,
    /// `true` if the client is disabled.
    disabled: bool,
    /// Secret, shown only in the response to the creation and to a rotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    secret: Option<String>,
}

/// Client to create, for programs: it gets its tokens with `grant_type=client_credentials`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ClientRequest {
    /// Id. Default: a generated one.
    #[schemars(with = "Option<Name>")]
    id: Option<String>,
    /// Title, for display.
    #[serde(default)]
    #[schemars(length(max = 254), regex(pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"))]
    title: String,
    /// Maximum scopes of its tokens.
    #[schemars(with = "Vec<ScopeName>")]
    scopes: Vec<String>,
}

/// Changes of a client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientPatch {
    /// `true` disables the client and revokes all its tokens.
    disabled: bool,
}

impl ClientEntry {
    fn new(client: Client, secret: Option<&Secret>) -> ClientEntry {
        ClientEntry {
            id: client.id,
            title: client.title,
            grant_types: client.grant_types.into_iter().map(GrantType::name).collect(),
            scopes: client.scopes,
            shared: client.tenant.is_none(),
            disabled: client.is_disabled,
            secret: secret.map(|secret| secret.expose().to_owned()),
        }
    }
}

/// `GET /clients`.
pub(crate) async fn list(server: &Server, request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let clients = admin.identities.clients().await.map_err(change_problem)?;
    let is_visible = |client: &Client| client.tenant.as_ref().is_none_or(|tenant| *tenant == admin.tenant);
    let clients = clients.into_iter().filter(is_visible).map(|client| ClientEntry::new(client, None));
    Response::json(&ClientList { clients: clients.collect() })
}

/// `POST /clients`.
pub(crate) async fn create(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let body: ClientRequest = request.object().await?;
    let new = NewClient {
        id: body.id.as_deref(),
        title: &body.title,
        tenant: Some(&admin.tenant),
        secret: None,
        grant_types: &[GrantType::ClientCredentials],
        scopes: &body.scopes.iter().map(String::as_str).collect::<Vec<_>>(),
    };
    let (client, secret) = admin.identities.create_client(new, Timestamp::now()).await.map_err(change_problem)?;
    Ok(Response::json(&ClientEntry::new(client, Some(&secret)))?.status(StatusCode::CREATED))
}

/// `PATCH /clients/{client_id}`.
pub(crate) async fn update(server: &Server, mut request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let mut client = find_client(&admin, &request).await?;
    let ClientPatch { disabled } = request.object().await?;
    match disabled {
        true => admin.identities.disable_client(&client.id, Timestamp::now()).await,
        false => admin.identities.enable_client(&client.id).await,
    }
    .map_err(change_problem)?;
    client.is_disabled = disabled;
    Response::json(&ClientEntry::new(client, None))
}

/// `POST /clients/{client_id}/rotate`.
pub(crate) async fn rotate(server: &Server, request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let client = find_client(&admin, &request).await?;
    let secret = admin.identities.rotate_secret(&client.id).await.map_err(change_problem)?;
    Response::json(&ClientEntry::new(client, Some(&secret)))
}

/// `DELETE /clients/{client_id}`.
pub(crate) async fn delete(server: &Server, request: Request) -> Result<Response, Problem> {
    let admin = Administrator::from_request(server, &request)?;
    let client = find_client(&admin, &request).await?;
    admin.identities.delete_client(&client.id).await.map_err(change_problem)?;
    Ok(Response::empty(StatusCode::NO_CONTENT))
}

/// Returns the client of the request path; those of other tenants do not exist, those of all tenants are read-only.
async fn find_client(admin: &Administrator<'_>, request: &Request) -> Result<Client, Problem> {
    let id = request.path("client_id").unwrap_or_default();
    match admin.identities.client(id).await.map_err(change_problem)? {
        Some(client) if client.tenant.as_ref() == Some(&admin.tenant) => Ok(client),
        Some(client) if client.tenant.is_none() => {
            let detail = "The client serves all tenants; `pidq clients` on the server can change it.";
            Err(Problem::new(codes::FORBIDDEN).detail(detail))
        }
        _ => Err(Problem::new(codes::CLIENT_NOT_FOUND)),
    }
}
