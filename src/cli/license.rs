//! `pidq pipeline license`: keys and licences of those who distribute the platform, and what a licence says.

use std::env::VarError;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use pidq_http::auth::Moment;
use pidq_http::{Secret, uuid_v7};
use pidq_pipeline::license::{Allowance, DAY, Issuer, Licence, State, Trust};

use super::failure::{Failure, Result, Status};

/// Where the secret key is looked for.
const KEY: &str = "PIDQ_LICENSE_KEY";

#[derive(Subcommand)]
pub enum Command {
    /// Make a key: the secret half for whoever gives licences, the public half for installations.
    Key,
    /// Print the name of an installation, which a licence is made for.
    Id(Place),
    /// Make a licence; the secret key is read from PIDQ_LICENSE_KEY.
    Issue(Issue),
    /// Check a licence.
    Verify(Verify),
}

/// Which installation a command is about.
#[derive(Args)]
pub struct Place {
    /// The data directory of the platform; `PIDQ_DATABASE_URL` holds for it too
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Args)]
pub struct Issue {
    /// The name of the installation, as PIDQ-XXXX-XXXX-XXXX-XXXX
    #[arg(long, value_name = "ID")]
    system_id: String,
    /// Whom it is given to
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    organisation: String,
    /// What it is called
    #[arg(long, value_name = "NAME", default_value = "standard")]
    plan: String,
    /// For how many days it holds
    #[arg(long, value_name = "DAYS", default_value_t = 365)]
    days: u32,
    /// Until when it holds, in place of that: 2027-12-31, to the end of that day in UTC, or a moment as RFC 3339 has it
    #[arg(long, value_name = "DATE", conflicts_with = "days", value_parser = end_of)]
    expires: Option<Moment>,
    /// How many days after its end everything still works
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    grace: u32,
    /// How many pipelines it allows
    #[arg(long)]
    pipelines: Option<u64>,
    /// How many documents it allows
    #[arg(long)]
    documents: Option<u64>,
    /// How many questions a day it allows
    #[arg(long)]
    queries_per_day: Option<u64>,
    /// What else it allows; may be given again
    #[arg(long = "feature", value_name = "NAME")]
    features: Vec<String>,
}

#[derive(Args)]
pub struct Verify {
    /// The licence
    licence: String,
    /// The name of the installation
    #[arg(long, value_name = "ID")]
    system_id: String,
    /// The public keys that are trusted
    #[arg(long, value_name = "KEY", required = true)]
    key: Vec<String>,
}

/// Runs the subcommand.
pub fn run(command: &Command) -> Result {
    match command {
        Command::Key => key(),
        Command::Id(place) => id(place),
        Command::Issue(issue) => self::issue(issue),
        Command::Verify(verify) => self::verify(verify),
    }
}

fn key() -> Result {
    let secret = Issuer::generate().map_err(|error| Failure::Usage(error.to_string()))?;
    let issuer = Issuer::read(&secret).map_err(|error| Failure::Usage(error.to_string()))?;
    writeln!(io::stdout(), "secret  {}", secret.expose())?;
    writeln!(io::stdout(), "public  {}", issuer.public_key())?;
    Ok(Status::Done)
}

fn id(place: &Place) -> Result {
    let arguments = place.data_dir.iter().flat_map(|path| ["--data-dir".to_owned(), path.display().to_string()]);
    let environment = super::service::variables()?;
    let id = super::service::wait(async {
        pidq_pipeline::system_id(arguments, environment).await.map_err(|error| Failure::Usage(error.to_string()))
    })?;
    writeln!(io::stdout(), "{id}")?;
    Ok(Status::Done)
}

fn issue(issue: &Issue) -> Result {
    let secret = std::env::var(KEY).map_err(|error| match error {
        VarError::NotPresent => {
            Failure::Usage(format!("set {KEY} to the secret key; `pidq pipeline license key` makes one"))
        }
        VarError::NotUnicode(_) => Failure::Usage(format!("{KEY} is no key")),
    })?;
    let issuer = Issuer::read(&Secret::new(secret)).map_err(|error| Failure::Usage(format!("{KEY}: {error}")))?;
    let now = Moment::now().seconds();
    let licence = Licence {
        v: 1,
        lid: uuid_v7(),
        sys: issue.system_id.clone(),
        org: issue.organisation.clone(),
        plan: issue.plan.clone(),
        iat: now,
        nbf: now,
        exp: issue.expires.map_or(now + i64::from(issue.days) * DAY, Moment::seconds),
        grace_days: issue.grace,
        limits: Allowance {
            pipelines: issue.pipelines,
            documents: issue.documents,
            queries_per_day: issue.queries_per_day,
        },
        features: issue.features.clone(),
    };
    writeln!(io::stdout(), "{}", issuer.issue(&licence))?;
    Ok(Status::Done)
}

/// The moment of a text, or the end of its day.
fn end_of(text: &str) -> std::result::Result<Moment, String> {
    let day = || Some(Moment::from_rfc3339(&format!("{text}T00:00:00Z"))? + Duration::from_secs(DAY.unsigned_abs()));
    let moment = Moment::from_rfc3339(text).or_else(day);
    moment.ok_or_else(|| "write a date as 2027-12-31, or a moment as 2027-12-31T12:00:00Z".to_owned())
}

fn verify(verify: &Verify) -> Result {
    let trust = Trust::read(&verify.key).map_err(|error| Failure::Usage(error.to_string()))?;
    let state = trust.judge([verify.licence.as_str()], &verify.system_id, Moment::now());
    writeln!(io::stdout(), "status  {}", state.word())?;
    if let State::Invalid(why) = &state {
        writeln!(io::stdout(), "reason  {why}")?;
    }
    if let Some(licence) = state.licence() {
        let ends = Moment(licence.exp.saturating_mul(1000)).to_rfc3339();
        writeln!(io::stdout(), "plan    {}\nends    {ends}", licence.plan)?;
    }
    Ok(if state.is_good() { Status::Done } else { Status::Falsy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_holds_to_the_end_of_its_last_day() {
        for (text, expected) in [
            ("2027-12-31", Some("2028-01-01T00:00:00.000Z")),
            ("2027-12-31T12:30:00+01:00", Some("2027-12-31T11:30:00.000Z")),
            ("2027-02-30", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(end_of(text).ok().map(Moment::to_rfc3339).as_deref(), expected, "{text:?}");
        }
    }
}
