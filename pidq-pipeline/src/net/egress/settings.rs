//! Settings of the egress policies for models and webhooks.

use std::path::PathBuf;

use pidq_http::{Choice, Setting, SettingError, SettingType, Settings, settings};

use super::allow_list::AllowListError;
use super::{AllowList, Backend, EgressScope, Level, Policy};

settings! {
    /// Settings for the URLs of models and webhooks that callers name.
    pub SETTINGS {
        LLM_ALLOW: Option<AllowList> = ("PIDQ_LLM_ALLOW", "config.llm.allow", "Allow list of LLM URLs; each entry includes the URLs below it. If set, no other LLM can be called.");
        LLM_EGRESS: Option<Level> = ("PIDQ_LLM_EGRESS", "config.llm.egress", "Network scope of LLM addresses if there is no allow list: `public` (internet only), `private` (also private networks) or `local` (also this machine). Default: `private`, or `local` if the server listens on loopback only.");
        WEBHOOK_ALLOW: Option<AllowList> = ("PIDQ_WEBHOOK_ALLOW", "config.webhooks.allow", "Allow list of webhook URLs; each entry includes the URLs below it. If set, no other webhook can be called.");
        WEBHOOK_EGRESS: Option<Level> = ("PIDQ_WEBHOOK_EGRESS", "config.webhooks.egress", "Network scope of webhook addresses if there is no allow list, as for `PIDQ_LLM_EGRESS`.");
        pub(crate) LLM_CA: Option<PathBuf> = ("PIDQ_LLM_CA", "config.llm.ca", "CA certificates (PEM) trusted in addition to the public ones.");
    }
}

impl Choice for Level {
    const CHOICES: &'static [(&'static str, Level)] =
        &[("public", Level::Public), ("private", Level::Private), ("local", Level::Local)];
}

/// Comma-separated URLs.
impl SettingType for AllowList {
    type Value = AllowList;

    fn expected() -> String {
        <Vec<String>>::expected()
    }

    fn parse(text: &str) -> Result<AllowList, String> {
        text.parse().map_err(|error: AllowListError| error.to_string())
    }
}

impl Policy {
    /// Returns the policy for models.
    pub fn for_llm(settings: &Settings, on_loopback: bool, backends: Vec<Backend>) -> Result<Policy, SettingError> {
        Policy::from_settings(settings, (&LLM_ALLOW, &LLM_EGRESS), on_loopback, backends)
    }

    /// Returns the policy for webhooks.
    pub fn for_webhooks(
        settings: &Settings,
        on_loopback: bool,
        backends: Vec<Backend>,
    ) -> Result<Policy, SettingError> {
        Policy::from_settings(settings, (&WEBHOOK_ALLOW, &WEBHOOK_EGRESS), on_loopback, backends)
    }

    /// Builds a policy from an allow list and a level. By default, loopback is permitted only while the server listens on
    /// loopback only.
    fn from_settings(
        settings: &Settings,
        (list, level): (&Setting<Option<AllowList>>, &Setting<Option<Level>>),
        on_loopback: bool,
        backends: Vec<Backend>,
    ) -> Result<Policy, SettingError> {
        let allow_list = settings.get(list)?;
        let default = if on_loopback { Level::Local } else { Level::Private };
        let level = settings.get(level)?.unwrap_or(default);
        Ok(Policy { scope: allow_list.map_or(EgressScope::Level(level), EgressScope::AllowListed), backends })
    }
}

impl Backend {
    /// Returns host and port of a URL such as `postgres://user:password@host:5432/name`; `None` for a file.
    pub fn from_url(url: &str) -> Option<Backend> {
        let url = url::Url::parse(url).ok()?;
        let port = url.port().or_else(|| default_port(url.scheme()))?;
        Some(Backend { host: url.host_str()?.to_owned(), port })
    }
}

fn default_port(scheme: &str) -> Option<u16> {
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
        Policy::for_llm(&settings, on_loopback, Vec::new())
    }

    fn level(variables: &[(&str, &str)], on_loopback: bool) -> Option<Level> {
        match policy(variables, on_loopback).expect("settings").scope {
            EgressScope::Level(level) => Some(level),
            _ => None,
        }
    }

    #[test]
    fn loopback_is_permitted_only_on_loopback_or_by_the_setting() {
        assert_eq!(level(&[], false), Some(Level::Private));
        assert_eq!(level(&[], true), Some(Level::Local));
        assert_eq!(level(&[("PIDQ_LLM_EGRESS", "public")], true), Some(Level::Public));
        assert_eq!(level(&[("PIDQ_LLM_EGRESS", "private")], true), Some(Level::Private));
        assert_eq!(level(&[("PIDQ_LLM_EGRESS", "local")], false), Some(Level::Local));
        let listed = [("PIDQ_LLM_ALLOW", "https://api.example.com/v1"), ("PIDQ_LLM_EGRESS", "local")];
        assert_eq!(level(&listed, true), None, "a list replaces the level");
    }

    #[test]
    fn an_invalid_list_is_an_error() {
        let error = policy(&[("PIDQ_LLM_ALLOW", "https://a.example, b.example")], false).expect_err("no policy");
        assert!(error.to_string().contains("PIDQ_LLM_ALLOW"), "{error}");
        assert!(error.to_string().contains("b.example"), "{error}");
        assert!(policy(&[("PIDQ_LLM_EGRESS", "everything")], false).is_err());
    }

    #[test]
    fn backends_are_parsed_from_their_urls() {
        let check = |url: &str, expected: Option<(&str, u16)>| {
            let expected = expected.map(|(host, port)| Backend { host: host.to_owned(), port });
            assert_eq!(Backend::from_url(url), expected, "{url}");
        };
        check("postgres://user:secret@db.plant/pidq", Some(("db.plant", 5432)));
        check("postgresql://[::1]:5433/pidq", Some(("[::1]", 5433)));
        check("redis://localhost/0", Some(("localhost", 6379)));
        check("nats://nats:4223", Some(("nats", 4223)));
        check("sqlite:data/pidq.db", None);
        check("", None);
    }
}
