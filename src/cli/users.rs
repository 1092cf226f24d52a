//! `pidq users`: who may use the service, and what they may do.

use std::io::{self, BufRead, IsTerminal};

use clap::{Args, Subcommand};
use pidq_http::auth::{Account, Grant, Identities, IdentityError, Moment, NewUser, ROLES, Right, Secret};
use pidq_server::OPEN_TENANT;

use super::failure::{Failure, Result, Status};
use super::service::{Place, print, print_text, with_accounts};

const EXAMPLES: &str = "\
Examples:
  pidq users list
  pidq users add maria@plant.example --role editor < password.txt
  pidq users add maria@plant.example --role editor --group process       makes up a password at a terminal
  pidq users grant '200-*' group:process write
  pidq users disable maria@plant.example

A password is read from the standard input, never from the command line, where others could see it.";

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
    /// List the users.
    List,
    /// Make a user.
    Add {
        /// The e-mail address, or any name without spaces
        login: String,
        /// What the user may do at most
        #[arg(long, default_value = "viewer", value_parser = role_names())]
        role: String,
        /// A group that grants may name; may be given again
        #[arg(long = "group", value_name = "NAME")]
        groups: Vec<String>,
        /// Whose graphs the user sees
        #[arg(long, default_value = OPEN_TENANT)]
        tenant: String,
        /// The user has no password: a login that is kept for somebody who comes by single sign-on. What they may do is
        /// said by their tokens
        #[arg(long)]
        sso_only: bool,
    },
    /// Give a user another password.
    Passwd { login: String },
    /// Give a user another role.
    Role {
        login: String,
        #[arg(value_parser = role_names())]
        role: String,
    },
    /// Shut a user and all their tokens out. Whoever comes by single sign-on is shut out at the provider.
    Disable { login: String },
    /// Let a user in again.
    Enable { login: String },
    /// Delete a user.
    Delete { login: String },
    /// List the rights that were given.
    Grants {
        #[arg(long, default_value = OPEN_TENANT)]
        tenant: String,
    },
    /// Give a right to jobs: `JOB` or `PREFIX*`, to `user:LOGIN`, `client:ID`, `group:NAME`, `sso:ISSUER#ID` or `everyone`.
    Grant {
        jobs: String,
        subject: String,
        #[arg(value_parser = ["read", "write", "admin"])]
        right: String,
        #[arg(long, default_value = OPEN_TENANT)]
        tenant: String,
    },
    /// Take a right back.
    Ungrant {
        jobs: String,
        subject: String,
        #[arg(long, default_value = OPEN_TENANT)]
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
        options.place.is_there("PIDQ_DATABASE_URL")?;
    }
    with_accounts(&options.place, async |identities| act(&options.action, identities).await)
}

async fn act(action: &Action, identities: &Identities) -> Result {
    let now = Moment::now();
    let done = match action {
        Action::List => return print(&rows(&identities.users().await.map_err(failed)?)),
        Action::Grants { tenant } => return print(&grant_rows(&identities.grants(tenant).await.map_err(failed)?)),
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
        Action::Grant { jobs, subject, right, tenant } => {
            let right = Right::named(right).unwrap_or(Right::Read);
            let subject = identities.subject_named(tenant, subject).await.map_err(failed)?;
            let grant = Grant { pattern: jobs.clone(), subject, right, is_creator: false };
            identities.grant(tenant, &grant, now).await
        }
        Action::Ungrant { jobs, subject, tenant } => {
            // Also from somebody who is gone.
            let named = identities.subject_named(tenant, subject).await.unwrap_or_else(|_| subject.clone());
            match identities.ungrant(tenant, jobs, &named).await {
                Ok(false) => Err(IdentityError::Unknown(format!("{subject} on {jobs}"))),
                done => done.map(|_| ()),
            }
        }
    };
    done.map_err(failed)?;
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
    let head = ["jobs", "to", "right", "because"].map(str::to_owned).to_vec();
    let because = |grant: &Grant| if grant.is_creator { "creator" } else { "grant" }.to_owned();
    let row = |grant: &Grant| {
        vec![grant.pattern.clone(), grant.subject.clone(), grant.right.name().to_owned(), because(grant)]
    };
    std::iter::once(head).chain(grants.iter().map(row)).collect()
}

/// A password that was given, or made up.
enum Password {
    Given(String),
    MadeUp(Secret),
}

impl Password {
    fn text(&self) -> &str {
        match self {
            Password::Given(text) => text,
            Password::MadeUp(secret) => secret.expose(),
        }
    }
}

/// The first line of the standard input. At a terminal one is made up and shown, since typing would show it too.
fn password() -> Result<Password> {
    if io::stdin().is_terminal() {
        let secret = Secret::random().map_err(failed)?;
        print_text(&format!("password: {}\n", secret.expose()))?;
        return Ok(Password::MadeUp(secret));
    }
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::Usage(format!("the password cannot be read from the standard input: {error}")))?;
    let text = line.trim_end_matches(['\n', '\r']).to_owned();
    match text.is_empty() {
        true => Err(Failure::Usage("the standard input has no password in its first line".into())),
        false => Ok(Password::Given(text)),
    }
}

/// What the accounts refuse.
pub fn failed(error: IdentityError) -> Failure {
    Failure::Usage(error.to_string())
}
