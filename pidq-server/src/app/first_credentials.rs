//! Credentials of the first start: shown to a person, or written to a file that only its owner can read.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use pidq_http::auth::CreatedCredentials;
use pidq_http::{CommonSettings, Secret, Settings};

use crate::app::settings::DATA_DIR;
use crate::app::startup::OpenError;
use crate::server::Server;

/// File of the data directory with the generated credentials, as `NAME=VALUE` lines with the variables of the command.
pub(crate) const FILE_NAME: &str = "initial-credentials";

/// Prints the credentials that were created, if the log is for a person, or else writes them to a file. A log of JSON
/// lines is collected and kept; therefore, it names the file only.
///
/// # Errors
/// If a setting is invalid.
pub fn deliver(server: &Server, settings: &Settings) -> Result<(), OpenError> {
    let Some(created) = server.take_first_credentials() else { return Ok(()) };
    if CommonSettings(settings).logs_text()? {
        eprint!("{}", as_text(&created));
        return Ok(());
    }
    log_file(&created, &settings.get(&DATA_DIR)?.join(FILE_NAME));
    Ok(())
}

/// Writes the credentials to a file, and logs its name.
fn log_file(created: &CreatedCredentials, file: &Path) {
    let (login, client_id) = (created.login.as_str(), created.client_id.as_str());
    if created.password.is_none() && created.client_secret.is_none() {
        tracing::info!(
            login,
            client_id,
            "first start: created an account and a client with the secrets of the settings"
        );
        return;
    }
    match write(created, file) {
        Ok(()) => {
            tracing::info!(login, client_id, file = %file.display(), "first start: created an account and a client; their secrets are in the file, which can be deleted");
        }
        Err(error) => tracing::error!(
            %error, file = %file.display(), login, client_id,
            "first start: the file with the generated secrets cannot be written; set others with `pidq users passwd` and `pidq clients rotate`"
        ),
    }
}

fn write(created: &CreatedCredentials, file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    // A file of another installation is not overwritten.
    let mut file = options.write(true).create_new(true).mode(0o600).open(file)?;
    for (name, value) in [
        ("PIDQ_USERNAME", Some(created.login.as_str())),
        ("PIDQ_PASSWORD", created.password.as_ref().map(Secret::expose)),
        ("PIDQ_CLIENT_ID", Some(created.client_id.as_str())),
        ("PIDQ_CLIENT_SECRET", created.client_secret.as_ref().map(Secret::expose)),
    ] {
        if let Some(value) = value {
            writeln!(file, "{name}={value}")?;
        }
    }
    file.sync_all()
}

fn as_text(created: &CreatedCredentials) -> String {
    let value = |secret: &Option<Secret>| secret.as_ref().map_or("(from the settings)", Secret::expose).to_owned();
    format!(
        "First start: created an account and a client:\n  username       {}\n  password       {}\n  client_id      {}\n  \
         client_secret  {}\nGenerated secrets are not shown again.\n",
        created.login,
        value(&created.password),
        created.client_id,
        value(&created.client_secret)
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn created(secret: Option<&str>) -> CreatedCredentials {
        let secret = secret.map(Secret::new);
        CreatedCredentials {
            login: "admin".into(),
            password: secret.clone(),
            client_id: "pidq".into(),
            client_secret: secret,
        }
    }

    #[test]
    fn the_file_is_for_its_owner_and_is_not_overwritten() {
        let file = std::env::temp_dir().join(format!("pidq-initial-{}", std::process::id()));
        write(&created(Some("s-1")), &file).expect("it is written");
        let text = std::fs::read_to_string(&file).expect("a file");
        assert_eq!(text, "PIDQ_USERNAME=admin\nPIDQ_PASSWORD=s-1\nPIDQ_CLIENT_ID=pidq\nPIDQ_CLIENT_SECRET=s-1\n");
        assert_eq!(std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
        assert!(write(&created(Some("s-2")), &file).is_err());
        std::fs::remove_file(file).expect("it is removed");
    }

    #[test]
    fn secrets_of_the_settings_are_not_shown() {
        assert_eq!(as_text(&created(None)).matches("(from the settings)").count(), 2);
    }
}
