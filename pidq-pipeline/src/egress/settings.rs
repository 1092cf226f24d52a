//! What an administrator decides about addresses of callers: the rows, and the policy that they make.

use pidq_http::{Kind, Setting, SettingError, Settings, settings};

use super::{AllowList, BackEnd, Level, Policy, Reach};

/// What an administrator decides about the addresses that callers name: of models, and of webhooks.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_LLM_ALLOW", "config.llm.allow", Kind::List, None, false, "Addresses of LLMs that callers may name, each with all below it; nothing else is called then.";
    "PIDQ_LLM_EGRESS", "config.llm.egress", Kind::OneOf(&["public", "private", "local"]), None, false, "Without a list: how near an LLM may be. `private`, or `local` while the server listens on loopback.";
    "PIDQ_WEBHOOK_ALLOW", "config.webhooks.allow", Kind::List, None, false, "Addresses that webhooks may have, each with all below it; nothing else is called then.";
    "PIDQ_WEBHOOK_EGRESS", "config.webhooks.egress", Kind::OneOf(&["public", "private", "local"]), None, false, "Without a list: how near a webhook may be. `private`, or `local` while the server listens on loopback.";
    "PIDQ_LLM_CA", "config.llm.ca", Kind::Path, None, false, "Certificates (PEM) of authorities to trust beside the public ones.";
];

impl Policy {
    /// The policy of the settings for models.
    pub fn of(settings: &Settings, on_loopback: bool, back_ends: Vec<BackEnd>) -> Result<Policy, SettingError> {
        Policy::read(settings, ["PIDQ_LLM_ALLOW", "PIDQ_LLM_EGRESS"], on_loopback, back_ends)
    }

    /// The policy of the settings for webhooks.
    pub fn of_webhooks(
        settings: &Settings,
        on_loopback: bool,
        back_ends: Vec<BackEnd>,
    ) -> Result<Policy, SettingError> {
        Policy::read(settings, ["PIDQ_WEBHOOK_ALLOW", "PIDQ_WEBHOOK_EGRESS"], on_loopback, back_ends)
    }

    /// The policy of a list and a level. Without any, this machine is reached only while it serves itself alone.
    fn read(
        settings: &Settings,
        [list, level]: [&str; 2],
        on_loopback: bool,
        back_ends: Vec<BackEnd>,
    ) -> Result<Policy, SettingError> {
        let listed = settings.optional(list)?.map(str::parse::<AllowList>).transpose();
        let listed = listed.map_err(|error| settings.wrong(list, &error.to_string()))?;
        let level = match settings.optional(level)? {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn policy(variables: &[(&str, &str)], on_loopback: bool) -> Result<Policy, SettingError> {
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let settings = Settings::read(&[SETTINGS], Vec::new(), BTreeMap::from_iter(variables))?;
        Policy::of(&settings, on_loopback, Vec::new())
    }

    fn level(variables: &[(&str, &str)], on_loopback: bool) -> Option<Level> {
        match policy(variables, on_loopback).expect("settings").reach {
            Reach::Level(level) => Some(level),
            _ => None,
        }
    }

    #[test]
    fn this_machine_is_reached_only_by_itself_or_where_somebody_says_so() {
        assert_eq!(level(&[], false), Some(Level::Private));
        assert_eq!(level(&[], true), Some(Level::Local));
        assert_eq!(level(&[("PIDQ_LLM_EGRESS", "public")], true), Some(Level::Public));
        assert_eq!(level(&[("PIDQ_LLM_EGRESS", "private")], true), Some(Level::Private));
        assert_eq!(level(&[("PIDQ_LLM_EGRESS", "local")], false), Some(Level::Local));
        let listed = [("PIDQ_LLM_ALLOW", "https://api.example.com/v1"), ("PIDQ_LLM_EGRESS", "local")];
        assert_eq!(level(&listed, true), None, "a list stands alone");
    }

    #[test]
    fn a_wrong_list_ends_the_start() {
        let error = policy(&[("PIDQ_LLM_ALLOW", "https://a.example, b.example")], false).expect_err("no policy");
        assert!(error.to_string().contains("PIDQ_LLM_ALLOW"), "{error}");
        assert!(error.to_string().contains("b.example"), "{error}");
        assert!(policy(&[("PIDQ_LLM_EGRESS", "everything")], false).is_err());
    }

    #[test]
    fn back_ends_are_read_from_their_addresses() {
        let check = |url: &str, expected: Option<(&str, u16)>| {
            let expected = expected.map(|(host, port)| BackEnd { host: host.to_owned(), port });
            assert_eq!(BackEnd::of_url(url), expected, "{url}");
        };
        check("postgres://user:secret@db.plant/pidq", Some(("db.plant", 5432)));
        check("postgresql://[::1]:5433/pidq", Some(("[::1]", 5433)));
        check("redis://localhost/0", Some(("localhost", 6379)));
        check("nats://nats:4223", Some(("nats", 4223)));
        check("sqlite:data/pidq.db", None);
        check("", None);
    }
}
