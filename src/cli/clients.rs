//! `pidq clients`: the programs that may get tokens.

use clap::{Args, Subcommand};
use pidq_http::auth::{Client, GrantType, Identities, Moment, NewClient, Secret};
use pidq_server::OPEN_TENANT;

use super::failure::{Failure, Result, Status};
use super::service::{Place, print, print_text, with_accounts};
use super::users::failed;

const EXAMPLES: &str = "\
Examples:
  pidq clients list
  pidq clients add historian --grant client_credentials --scope read
  pidq clients rotate historian

The secret of a client is made up, shown once, and not stored.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,

    #[command(flatten)]
    place: Place,
}

#[derive(Subcommand)]
enum Action {
    /// List the clients.
    List,
    /// Make a client and show its secret.
    Add {
        /// Its id; without one it is made up
        id: Option<String>,
        /// What it is, for people
        #[arg(long, default_value = "", hide_default_value = true)]
        title: String,
        /// A way to a token: password, refresh_token, client_credentials; may be given again
        #[arg(long = "grant", value_name = "GRANT", default_values = ["password", "refresh_token"])]
        grants: Vec<String>,
        /// What its tokens are good for at most: read, write, and introspection, to ask about tokens of other clients; may be given again
        #[arg(long = "scope", value_name = "SCOPE", default_values = ["read", "write"])]
        scopes: Vec<String>,
        /// Whose graphs it sees
        #[arg(long, default_value = OPEN_TENANT)]
        tenant: String,
    },
    /// Give a client another secret and show it.
    Rotate { id: String },
    /// Shut a client and all its tokens out.
    Disable { id: String },
    /// Let a client in again.
    Enable { id: String },
    /// Delete a client.
    Delete { id: String },
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    if matches!(options.action, Action::List) {
        options.place.is_there("PIDQ_DATABASE_URL")?;
    }
    with_accounts(&options.place, async |identities| act(&options.action, identities).await)
}

async fn act(action: &Action, identities: &Identities) -> Result {
    let now = Moment::now();
    let done = match action {
        Action::List => return print(&rows(&identities.clients().await.map_err(failed)?)),
        Action::Add { id, title, grants, scopes, tenant } => {
            let grant_types: Vec<GrantType> = grants.iter().map(|name| grant(name)).collect::<Result<_>>()?;
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
            let (grant_types, scopes, tenant) = (&grant_types[..], &scopes[..], Some(tenant.as_str()));
            let new = NewClient { id: id.as_deref(), title, tenant, secret: None, grant_types, scopes };
            let (client, secret) = identities.create_client(new, now).await.map_err(failed)?;
            return show(&client.id, &secret);
        }
        Action::Rotate { id } => return show(id, &identities.rotate_secret(id).await.map_err(failed)?),
        Action::Disable { id } => identities.disable_client(id, now).await,
        Action::Enable { id } => identities.enable_client(id).await,
        Action::Delete { id } => identities.delete_client(id).await,
    };
    done.map_err(failed)?;
    Ok(Status::Done)
}

fn grant(name: &str) -> Result<GrantType> {
    let unknown =
        || Failure::Usage(format!("no grant `{name}`; there are password, refresh_token, client_credentials"));
    GrantType::named(name).ok_or_else(unknown)
}

fn show(id: &str, secret: &Secret) -> Result {
    Ok(print_text(&format!("client_id:     {id}\nclient_secret: {}\n", secret.expose()))?)
}

fn rows(clients: &[Client]) -> Vec<Vec<String>> {
    let head = ["id", "title", "tenant", "grants", "scopes", "state"].map(str::to_owned).to_vec();
    let row = |client: &Client| {
        let grants: Vec<&str> = client.grant_types.iter().map(|grant| grant.name()).collect();
        let state = if client.is_disabled { "disabled" } else { "active" };
        let tenant = client.tenant.clone().unwrap_or_default();
        let (grants, scopes) = (grants.join(" "), client.scopes.join(" "));
        vec![client.id.clone(), client.title.clone(), tenant, grants, scopes, state.to_owned()]
    };
    std::iter::once(head).chain(clients.iter().map(row)).collect()
}
