//! What an administrator decides about addresses of callers: the rows, and the policy that they make.

use pidq_http::{Kind, Setting, SettingError, Settings};

use super::{AllowList, BackEnd, Level, Policy, Reach};

/// What an administrator decides about the addresses that callers name.
pub const SETTINGS: &[Setting] = &[
    Setting {
        env: "PIDQ_LLM_ALLOW",
        chart: "config.llm.allow",
        default: None,
        kind: Kind::List,
        secret: false,
        summary: "Addresses of LLMs that callers may name, each with all below it; nothing else is called then.",
    },
    Setting {
        env: "PIDQ_LLM_EGRESS",
        chart: "config.llm.egress",
        default: None,
        kind: Kind::OneOf(&["public", "private", "local"]),
        secret: false,
        summary: "Without a list: how near an LLM may be. `private`, or `local` while the server listens on loopback.",
    },
    Setting {
        env: "PIDQ_LLM_CA",
        chart: "config.llm.ca",
        default: None,
        kind: Kind::Path,
        secret: false,
        summary: "Certificates (PEM) of authorities to trust beside the public ones.",
    },
];

impl Policy {
    /// The policy of the settings. Without any, this machine is reached only while it serves itself alone.
    pub fn of(settings: &Settings, on_loopback: bool, back_ends: Vec<BackEnd>) -> Result<Policy, SettingError> {
        let listed = settings.optional("PIDQ_LLM_ALLOW")?.map(str::parse::<AllowList>).transpose();
        let listed = listed.map_err(|error| settings.wrong("PIDQ_LLM_ALLOW", &error.to_string()))?;
        let level = match settings.optional("PIDQ_LLM_EGRESS")? {
            Some("public") => Level::Public,
            Some("local") => Level::Local,
            None if on_loopback => Level::Local,
            _ => Level::Private,
        };
        Ok(Policy { reach: listed.map_or(Reach::Level(level), Reach::Listed), back_ends })
    }
}

impl BackEnd {
    /// The service behind a URL such as `postgres://user:password@host:5432/name`. None: it is a file.
    pub fn of_url(url: &str) -> Option<BackEnd> {
        let url = url::Url::parse(url).ok()?;
        let port = url.port().or_else(|| known_port(url.scheme()))?;
        Some(BackEnd { host: url.host_str()?.to_owned(), port })
    }
}

fn known_port(scheme: &str) -> Option<u16> {
    match scheme {
        "postgres" | "postgresql" => Some(5432),
        "redis" | "rediss" => Some(6379),
        "nats" | "tls" => Some(4222),
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}
