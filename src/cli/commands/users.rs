//! Subcommand `pidq users`: administration of users and grants.

use std::io::{self, BufRead, IsTerminal};

use clap::{Args, Subcommand};
use pidq_http::auth::{Account, Grant, Identities, IdentityError, NewUser, ROLES, Right, Secret, Timestamp};
use pidq_server::DEFAULT_TENANT;

use super::serve::{ServiceOptions, print, print_text, with_accounts};
use crate::cli::failure::{Failure, Result, Status};

const EXAMPLES: &str = "\
Examples:
  pidq users list
  pidq users add maria@plant.example --role editor < password.txt
  pidq users add maria@plant.example --role editor --group process       generates a password at a terminal
  pidq users grant '200-*' group:process write
  pidq users disable maria@plant.example

Passwords are read from standard input, because other users of the machine can see command lines.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    action: Action,

    #[command(flatten)]
    service: ServiceOptions,
}

#[derive(Subcommand)]
enum Action {
    /// List the users.
    List,
    /// Create a user.
    Add {
        /// E-mail address, or any name without spaces
        login: String,
        /// Role of the user
        #[arg(long, default_value = "viewer", value_parser = role_names())]
        role: String,
        /// Group of the user, for grants to groups; repeatable
        #[arg(long = "group", value_name = "NAME")]
        groups: Vec<String>,
        /// Tenant of the user
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: String,
        /// Create a user without a password, for single sign-on; the provider's tokens define the permissions
        #[arg(long)]
        sso_only: bool,
    },
    /// Change the password of a user.
    Passwd {
        /// Login of the user
        login: String,
    },
    /// Change the role of a user.
    Role {
        /// Login of the user
        login: String,
        /// New role
        #[arg(value_parser = role_names())]
        role: String,
    },
    /// Disable a user and revoke all tokens. Single sign-on users are disabled at the provider.
    Disable {
        /// Login of the user
        login: String,
    },
    /// Enable a disabled user.
    Enable {
        /// Login of the user
        login: String,
    },
    /// Delete a user.
    Delete {
        /// Login of the user
        login: String,
    },
    /// List the grants.
    Grants {
        /// Tenant of the grants
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: String,
    },
    /// Grant a permission on graphs (`GRAPH_ID` or `PREFIX*`) to `user:LOGIN`, `client:ID`, `group:NAME`,
    /// `sso:ISSUER#ID` or `everyone`.
    Grant {
        /// Graph id, or a prefix followed by `*`
        graphs: String,
        /// Recipient of the grant
        subject: String,
        /// Permission
        #[arg(value_parser = ["read", "write", "admin"])]
        right: String,
        /// Tenant of the graphs
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: String,
    },
    /// Revoke a grant.
    Revoke {
        /// Graphs of the grant, as shown by `grants`
        graphs: String,
        /// Recipient of the grant, as shown by `grants`
        subject: String,
        /// Tenant of the grant
        #[arg(long, default_value = DEFAULT_TENANT)]
        tenant: String,
    },
}

fn role_names() -> clap::builder::PossibleValuesParser {
    let rows = ROLES.iter().map(|role| clap::builder::PossibleValue::new(role.name).help(role.summary));
    rows.collect::<Vec<_>>().into()
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result {
    if matches!(options.action, Action::List | Action::Grants { .. }) {
        options.service.require_data_dir(&pidq_server::DATABASE_URL)?;
    }
    with_accounts(&options.service, async |identities| run_action(&options.action, identities).await)
}

async fn run_action(action: &Action, identities: &Identities) -> Result {
    let now = Timestamp::now();
    let result = match action {
        Action::List => return print(&rows(&identities.users().await.map_err(account_failure)?)),
        Action::Grants { tenant } => {
            return print(&grant_rows(&identities.grants(tenant).await.map_err(account_failure)?));
        }
        Action::Add { login, role, groups, tenant, sso_only } => {
            let password = if *sso_only { None } else { Some(password()?) };
            let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
            let password = password.as_ref().map(Password::text);
            let user = NewUser { login, password, tenant, role, groups: &groups, sso_only: *sso_only };
            identities.create_user(user, now).await.map(|_| ())
        }
        Action::Passwd { login } => identities.set_password(login, password()?.text(), now).await,
        Action::Role { login, role } => identities.set_role(login, role, now).await,
        Action::Disable { login } => identities.disable_user(login, now).await,
        Action::Enable { login } => identities.enable_user(login).await,
        Action::Delete { login } => identities.delete_user(login).await,
        Action::Grant { graphs, subject, right, tenant } => {
            let right = Right::from_name(right).unwrap_or(Right::Read);
            let subject = identities.resolve_subject(tenant, subject).await.map_err(account_failure)?;
            let grant = Grant { pattern: graphs.clone(), subject, right, is_creator: false };
            identities.grant(tenant, &grant, now).await
        }
        Action::Revoke { graphs, subject, tenant } => {
            // The subject may no longer exist.
            let resolved = identities.resolve_subject(tenant, subject).await.unwrap_or_else(|_| subject.clone());
            match identities.revoke_grant(tenant, graphs, &resolved).await {
                Ok(false) => Err(IdentityError::Unknown(format!("grant to {subject} on {graphs}"))),
                other => other.map(|_| ()),
            }
        }
    };
    result.map_err(account_failure)?;
    Ok(Status::Done)
}

fn rows(accounts: &[Account]) -> Vec<Vec<String>> {
    let head = ["id", "login", "role", "tenant", "groups", "state"].map(str::to_owned).to_vec();
    let row = |account: &Account| {
        let state = match (account.is_disabled, account.sso_only) {
            (true, _) => "disabled",
            (_, true) => "sso only",
            _ => "active",
        };
        let (login, role, tenant) = (account.login.clone(), account.role.clone(), account.tenant.clone());
        vec![account.id.clone(), login, role, tenant, account.groups.join(" "), state.to_owned()]
    };
    std::iter::once(head).chain(accounts.iter().map(row)).collect()
}

fn grant_rows(grants: &[Grant]) -> Vec<Vec<String>> {
    let head = ["graphs", "subject", "right", "origin"].map(str::to_owned).to_vec();
    let origin = |grant: &Grant| if grant.is_creator { "creator" } else { "grant" }.to_owned();
    let row = |grant: &Grant| {
        vec![grant.pattern.clone(), grant.subject.clone(), grant.right.name().to_owned(), origin(grant)]
    };
    std::iter::once(head).chain(grants.iter().map(row)).collect()
}

/// Password, given or generated.
enum Password {
    Given(String),
    Generated(Secret),
}

impl Password {
    fn text(&self) -> &str {
        match self {
            Password::Given(text) => text,
            Password::Generated(secret) => secret.expose(),
        }
    }
}

/// Reads the password from the first line of standard input. At a terminal one is generated and shown, since typing
/// would show it too.
fn password() -> Result<Password> {
    if io::stdin().is_terminal() {
        let secret = Secret::random().map_err(account_failure)?;
        print_text(&format!("password: {}\n", secret.expose()))?;
        return Ok(Password::Generated(secret));
    }
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::Usage(format!("cannot read the password from standard input: {error}")))?;
    let text = line.trim_end_matches(['\n', '\r']).to_owned();
    match text.is_empty() {
        true => Err(Failure::Usage("the first line of standard input is empty; it must be the password".into())),
        false => Ok(Password::Given(text)),
    }
}

/// Converts an account error into a failure.
pub fn account_failure(error: IdentityError) -> Failure {
    Failure::Usage(error.to_string())
}
