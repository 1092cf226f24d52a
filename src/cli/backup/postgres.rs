//! Dumps of PostgreSQL databases by `pg_dump`, and their restoration by `pg_restore`.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use pidq_http::Secret;
use url::Url;

use crate::cli::failure::{Failure, Result};

/// Parameters of database URLs that libpq spells differently; without a name, those that it does not have.
const PARAMETERS: &[(&str, Option<&str>)] = &[
    ("ssl-mode", Some("sslmode")),
    ("ssl-root-cert", Some("sslrootcert")),
    ("ssl-ca", Some("sslrootcert")),
    ("statement-cache-capacity", None),
];

/// Writes a dump of a database: a consistent state, in the custom format, without compression of its own.
pub fn dump(url: &Secret, target: &Path) -> Result<()> {
    let mut command = client("pg_dump", url)?;
    command.args(["--format=custom", "--compress=0", "--no-owner", "--no-privileges", "--file"]).arg(target);
    run(command, "pg_dump")
}

/// Restores a dump into a database without tables of its own. Restores all of it or nothing.
pub fn restore(url: &Secret, dump: &Path) -> Result<()> {
    let mut command = client("pg_restore", url)?;
    command.args(["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]).arg(dump);
    // For the message below, in any language.
    command.env("LC_ALL", "C");
    run(command, "pg_restore").map_err(|failure| match failure {
        Failure::Usage(message) if message.contains(" already exists") => Failure::Usage(
            "the PostgreSQL database is not empty, and was not changed. Create an empty database, and set `PIDQ_DATABASE_URL` \
             and `PIDQ_STORE_URL` to it"
                .into(),
        ),
        other => other,
    })
}

/// Returns a client program for a database. Other users see arguments, so the password is in the environment.
fn client(program: &str, url: &Secret) -> Result<Command> {
    let (url, password) = libpq_url(url)?;
    let mut command = Command::new(program);
    command.arg("--dbname").arg(url).stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    Ok(command)
}

/// Returns a URL that libpq reads, without the password, and the password.
fn libpq_url(url: &Secret) -> Result<(String, Option<String>)> {
    // The error of the parser may quote the URL.
    let invalid =
        || Failure::Usage("the database URL is invalid; expected `postgres://user:password@host/name`".into());
    let mut url = Url::parse(url.expose()).map_err(|_| invalid())?;
    let mut password = url.password().map(|text| percent_decode(text).ok_or_else(invalid)).transpose()?;
    if password.is_some() {
        url.set_password(None).map_err(|()| invalid())?;
    }
    let mut parameters: Vec<(String, String)> = Vec::new();
    for (name, value) in url.query_pairs() {
        match PARAMETERS.iter().find(|(known, _)| *known == name) {
            _ if name == "password" => password = Some(value.into_owned()),
            _ if name.starts_with("options[") => {}
            Some((_, None)) => {}
            Some((_, Some(name))) => parameters.push(((*name).into(), value.into_owned())),
            None => parameters.push((name.into_owned(), value.into_owned())),
        }
    }
    url.set_query(None);
    if !parameters.is_empty() {
        // libpq reads `+` literally.
        let query = url.query_pairs_mut().extend_pairs(parameters).finish().query().unwrap_or_default();
        let query = query.replace('+', "%20");
        url.set_query(Some(&query));
    }
    Ok((url.into(), password))
}

fn percent_decode(text: &str) -> Option<String> {
    percent_encoding::percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

/// Runs a client program. Its messages name no password.
fn run(mut command: Command, program: &str) -> Result<()> {
    let output = command.stderr(Stdio::piped()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Usage(format!(
            "`{program}` is not installed; install the PostgreSQL client programs, of the version of the server or newer"
        )),
        _ => Failure::Usage(format!("cannot run `{program}`: {error}")),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Usage(format!("`{program}` failed: {}", message.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_those_of_libpq_without_the_password() {
        let cases = [
            ("postgres://u:p%40ss@h:5433/db", "postgres://u@h:5433/db", Some("p@ss")),
            ("postgres://u@h/db?ssl-mode=require", "postgres://u@h/db?sslmode=require", None),
            ("postgres://h/db?statement-cache-capacity=9&user=u", "postgres://h/db?user=u", None),
            ("postgres:///db?host=%2Frun%2Fpg&password=p+q", "postgres:///db?host=%2Frun%2Fpg", Some("p q")),
            ("postgres://h/db?application_name=a+b", "postgres://h/db?application_name=a%20b", None),
            ("postgres://h/db?options[search_path]=a", "postgres://h/db", None),
        ];
        for (url, expected, password) in cases {
            let Ok(parsed) = libpq_url(&Secret::new(url)) else { panic!("{url}") };
            assert_eq!(parsed, (expected.to_owned(), password.map(Into::into)), "{url}");
        }
    }

    #[test]
    fn an_invalid_url_is_not_quoted() {
        let Err(Failure::Usage(message)) = libpq_url(&Secret::new("postgres://u:secret@[h/db")) else { panic!() };
        assert!(!message.contains("secret"));
    }
}
