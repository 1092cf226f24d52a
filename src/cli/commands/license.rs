//! Subcommand `pidq pipeline license`: license keys, issuing and verification.

use std::env::VarError;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use pidq_http::auth::Timestamp;
use pidq_http::{COMMON, Secret, Settings, uuid_v7};
use pidq_server::{DATA_DIR, DATABASE_URL};
use pidq_store::domain::license::{DAY, Issuer, License, LicenseLimits, LicenseState, TrustedKeys};

use crate::cli::environment::environment_for;
use crate::cli::failure::{Failure, Result, Status};

/// Environment variable with the secret key.
const KEY_VARIABLE: &str = "PIDQ_LICENSE_KEY";

#[derive(Subcommand)]
pub enum Command {
    /// Generate a key pair: the secret key for the issuer, the public key for installations.
    Key,
    /// Print the id of an installation; a license is issued for one installation.
    Id(InstallationOptions),
    /// Issue a license; the secret key is read from PIDQ_LICENSE_KEY.
    Issue(Issue),
    /// Verify a license.
    Verify(Verify),
}

/// Location of an installation.
#[derive(Args)]
pub struct InstallationOptions {
    /// Data directory of the platform; `PIDQ_DATABASE_URL` applies too
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Args)]
pub struct Issue {
    /// Installation id, such as PIDQ-XXXX-XXXX-XXXX-XXXX
    #[arg(long, value_name = "ID")]
    system_id: String,
    /// Name of the licensee
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    organization: String,
    /// Name of the plan
    #[arg(long, value_name = "NAME", default_value = "standard")]
    plan: String,
    /// Validity in days
    #[arg(long, value_name = "DAYS", default_value_t = 365)]
    days: u32,
    /// Expiry instead of --days: a date such as 2027-12-31 (end of that day, UTC), or an RFC 3339 timestamp
    #[arg(long, value_name = "DATE", conflicts_with = "days", value_parser = parse_expiry)]
    expires: Option<Timestamp>,
    /// Grace period in days after the expiry
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    grace: u32,
    /// Maximum number of pipelines
    #[arg(long)]
    pipelines: Option<u64>,
    /// Maximum number of documents
    #[arg(long)]
    documents: Option<u64>,
    /// Maximum number of questions per day
    #[arg(long)]
    questions_per_day: Option<u64>,
    /// Additional feature; repeatable
    #[arg(long = "feature", value_name = "NAME")]
    features: Vec<String>,
}

#[derive(Args)]
pub struct Verify {
    /// License text
    license: String,
    /// Installation id
    #[arg(long, value_name = "ID")]
    system_id: String,
    /// Trusted public keys
    #[arg(long, value_name = "KEY", required = true)]
    key: Vec<String>,
}

/// Runs the subcommand.
pub fn run(command: &Command) -> Result {
    match command {
        Command::Key => generate_key(),
        Command::Id(installation) => print_installation_id(installation),
        Command::Issue(issue) => self::issue(issue),
        Command::Verify(verify) => self::verify(verify),
    }
}

fn generate_key() -> Result {
    let secret = Issuer::generate().map_err(|error| Failure::Usage(error.to_string()))?;
    let issuer = Issuer::parse(&secret).map_err(|error| Failure::Usage(error.to_string()))?;
    writeln!(io::stdout(), "secret  {}", secret.expose())?;
    writeln!(io::stdout(), "public  {}", issuer.public_key())?;
    Ok(Status::Done)
}

fn print_installation_id(installation: &InstallationOptions) -> Result {
    let data_dir = &installation.data_dir;
    let arguments = data_dir.iter().flat_map(|path| ["--data-dir".to_owned(), path.display().to_string()]);
    let arguments: Vec<String> = arguments.collect();
    let mut environment = environment_for(pidq_pipeline::TABLES)?;
    environment.extend(database_in_data_dir(arguments.clone())?.map(|url| (DATABASE_URL.env().to_owned(), url)));
    let id = super::serve::block_on(async {
        pidq_pipeline::system_id(arguments, environment).await.map_err(|error| Failure::Usage(error.to_string()))
    })?;
    writeln!(io::stdout(), "{id}")?;
    Ok(Status::Done)
}

/// Returns the URL of the database in the data directory, unless the settings name a database. None is created: its id
/// would be that of no service.
fn database_in_data_dir(arguments: Vec<String>) -> Result<Option<String>> {
    let tables = [COMMON, pidq_server::SETTINGS];
    let settings = Settings::read(&tables, arguments, environment_for(&tables)?).map_err(Failure::usage)?;
    if settings.is_set(&DATABASE_URL) {
        return Ok(None);
    }
    let data_dir = settings.get(&DATA_DIR).map_err(Failure::usage)?;
    // That of `pidq up`, or that of `pidq pipeline serve`.
    let database = ["pidq.db", "pipeline.db"].map(|name| data_dir.join(name)).into_iter().find(|path| path.exists());
    match database {
        Some(path) => Ok(Some(format!("sqlite:{}", path.display()))),
        None => Err(Failure::Usage(format!(
            "no database in the data directory `{}`; start the service first, and set `--data-dir` or `PIDQ_DATABASE_URL` as for the service",
            data_dir.display()
        ))),
    }
}

fn issue(issue: &Issue) -> Result {
    let secret = std::env::var(KEY_VARIABLE).map_err(|error| match error {
        VarError::NotPresent => {
            Failure::Usage(format!("set {KEY_VARIABLE} to the secret key; `pidq pipeline license key` generates one"))
        }
        VarError::NotUnicode(_) => Failure::Usage(format!("{KEY_VARIABLE} is not UTF-8; set it to the secret key")),
    })?;
    let issuer =
        Issuer::parse(&Secret::new(secret)).map_err(|error| Failure::Usage(format!("{KEY_VARIABLE}: {error}")))?;
    let now = Timestamp::now().seconds();
    let expiry = expiry(issue, now)?;
    let license = License {
        v: 1,
        lid: uuid_v7(),
        sys: issue.system_id.clone(),
        org: issue.organization.clone(),
        plan: issue.plan.clone(),
        iat: now,
        nbf: now,
        exp: expiry,
        grace_days: issue.grace,
        limits: LicenseLimits {
            pipelines: issue.pipelines,
            documents: issue.documents,
            questions_per_day: issue.questions_per_day,
        },
        features: issue.features.clone(),
    };
    writeln!(io::stdout(), "{}", issuer.issue(&license))?;
    Ok(Status::Done)
}

/// Returns the expiry in seconds since 1970. A license that has expired would be of no use.
fn expiry(issue: &Issue, now: i64) -> Result<i64> {
    let expiry = issue.expires.map_or(now + i64::from(issue.days) * DAY, Timestamp::seconds);
    if expiry > now {
        return Ok(expiry);
    }
    let time = Timestamp(expiry.saturating_mul(1000)).to_rfc3339();
    Err(Failure::Usage(format!(
        "the license would have expired already, at {time}; name a later date with --expires, or a number of days with --days"
    )))
}

/// Parses a timestamp, or a date as the end of that day.
fn parse_expiry(text: &str) -> std::result::Result<Timestamp, String> {
    let day = || Some(Timestamp::from_rfc3339(&format!("{text}T00:00:00Z"))? + Duration::from_secs(DAY.unsigned_abs()));
    let timestamp = Timestamp::from_rfc3339(text).or_else(day);
    timestamp
        .ok_or_else(|| "expected a date such as 2027-12-31, or a timestamp such as 2027-12-31T12:00:00Z".to_owned())
}

fn verify(verify: &Verify) -> Result {
    let trusted_keys = TrustedKeys::parse(&verify.key).map_err(|error| Failure::Usage(error.to_string()))?;
    let state = trusted_keys.evaluate([verify.license.as_str()], &verify.system_id, Timestamp::now());
    writeln!(io::stdout(), "status  {}", state.as_str())?;
    if let LicenseState::Invalid(reason) = &state {
        writeln!(io::stdout(), "reason  {reason}")?;
    }
    if let Some(license) = state.license() {
        let expiry = Timestamp(license.exp.saturating_mul(1000)).to_rfc3339();
        writeln!(io::stdout(), "plan    {}\nends    {expiry}", license.plan)?;
    }
    Ok(if state.is_active() { Status::Done } else { Status::Falsy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_license_that_has_expired_is_not_issued() {
        let issue = |days, expires: Option<&str>| Issue {
            system_id: "PIDQ-AAAA-AAAA-AAAA-AAAA".into(),
            organization: String::new(),
            plan: "standard".into(),
            days,
            expires: expires.map(|text| parse_expiry(text).expect("a date")),
            grace: 14,
            pipelines: None,
            documents: None,
            questions_per_day: None,
            features: Vec::new(),
        };
        let now = parse_expiry("2027-01-01T00:00:00Z").expect("a time").seconds();
        assert_eq!(expiry(&issue(1, None), now).ok(), Some(now + DAY));
        assert_eq!(expiry(&issue(365, Some("2027-01-01")), now).ok(), Some(now + DAY), "to the end of the day");
        for (days, expires) in [(0, None), (365, Some("2026-12-31")), (365, Some("2027-01-01T00:00:00Z"))] {
            let Err(Failure::Usage(message)) = expiry(&issue(days, expires), now) else {
                panic!("{days} {expires:?} is accepted");
            };
            assert!(message.contains("--expires") && message.contains("202"), "{message}");
        }
    }

    #[test]
    fn a_license_is_valid_to_the_end_of_its_last_day() {
        for (text, expected) in [
            ("2027-12-31", Some("2028-01-01T00:00:00.000Z")),
            ("2027-12-31T12:30:00+01:00", Some("2027-12-31T11:30:00.000Z")),
            ("2027-02-30", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(parse_expiry(text).ok().map(Timestamp::to_rfc3339).as_deref(), expected, "{text:?}");
        }
    }
}
