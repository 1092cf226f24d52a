//! Settings table and layers: default, file, environment, flag. Later layers override earlier ones.

mod common;
mod reference;
mod value;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

pub use common::{COMMON, CommonSettings};
pub use reference::{settings_help, settings_table};

use crate::secret::Secret;
use value::{duration, size, switch};

/// Definition of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Environment variable: `PIDQ_DATABASE_URL`. The flag is `--database-url`.
    pub env: &'static str,
    /// Config key: `config.database.url`. In the settings file it is the same without `config`.
    pub config_key: &'static str,
    /// Default value. `None`: the setting is off, or required.
    pub default: Option<&'static str>,
    /// Type of the value.
    pub kind: ValueKind,
    /// True if the value is a secret. A secret has no flag, can be read from a file (`…_FILE`), and is never shown.
    pub secret: bool,
    /// Description, in one sentence.
    pub summary: &'static str,
}

/// Type of a value. Checked at startup, so that a typing error stops the start and not a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ValueKind {
    /// Any string.
    Text,
    /// Non-negative integer.
    Number,
    /// Positive integer, or `all`.
    CountOrAll,
    /// Duration: `500ms`, `10s`, `5m`, `24h`, `14d`.
    Duration,
    /// Size: `64KiB`, `2MiB`, `1GiB`, or bytes.
    Size,
    /// Switch: `on` or `off`.
    Switch,
    /// Comma-separated values.
    List,
    /// File system path.
    Path,
    /// One of these values.
    OneOf(&'static [&'static str]),
}

/// Loaded settings.
pub struct Settings {
    rows: Vec<&'static Setting>,
    values: BTreeMap<&'static str, SettingValue>,
    warnings: Vec<String>,
}

/// Value with its source.
struct SettingValue {
    value: Secret,
    source: String,
}

/// Errors in settings, one line each, with the setting and the remedy.
#[derive(Debug, thiserror::Error)]
pub struct SettingError(Vec<String>);

/// Builds a table of settings, one line each: variable, config key, type, default, whether it is a secret,
/// description.
#[macro_export]
macro_rules! settings {
    ($($env:literal, $config_key:expr, $kind:expr, $default:expr, $secret:literal, $summary:expr;)*) => {
        &[$($crate::Setting {
            env: $env, config_key: $config_key, default: $default, kind: $kind, secret: $secret, summary: $summary,
        }),*]
    };
}

/// Prefix of all environment variables.
const PREFIX: &str = "PIDQ_";

/// Merges tables. A row of a later table replaces the row of the same name: services differ in defaults.
fn merged_rows(tables: &[&'static [Setting]]) -> Vec<&'static Setting> {
    let mut rows: Vec<&'static Setting> = Vec::new();
    for row in tables.iter().flat_map(|table| table.iter()) {
        match rows.iter_mut().find(|known| known.env == row.env) {
            Some(known) => *known = row,
            None => rows.push(row),
        }
    }
    rows
}

impl Settings {
    /// Reads the settings of the tables from arguments (`--listen ADDRESS`, `--config FILE`) and environment.
    pub fn read(
        tables: &[&'static [Setting]],
        arguments: impl IntoIterator<Item = String>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingError> {
        let mut settings = Settings { rows: merged_rows(tables), values: BTreeMap::new(), warnings: Vec::new() };
        let mut errors = Vec::new();
        let flags = settings.parse_flags(arguments, &mut errors);
        let environment: BTreeMap<String, String> =
            environment.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
        let config = flags.get("PIDQ_CONFIG").or(environment.get("PIDQ_CONFIG")).cloned();
        settings.apply_defaults();
        if let Some(path) = config {
            settings.apply_file(&path, &mut errors);
        }
        settings.apply_environment(environment, &mut errors);
        for (env, value) in flags {
            settings.set(env, value, format!("the flag `{}`", flag(env)));
        }
        settings.validate(&mut errors);
        if errors.is_empty() { Ok(settings) } else { Err(SettingError(errors)) }
    }

    /// Returns warnings to log.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns a value that is set or has a default.
    pub fn required(&self, env: &str) -> Result<&str, SettingError> {
        self.optional(env)?.ok_or_else(|| {
            let file = if self.setting(env).is_ok_and(|row| row.secret) {
                format!(", or `{env}_FILE`")
            } else {
                String::new()
            };
            SettingError(vec![format!("`{env}` is missing: set it{file} ({})", self.summary(env))])
        })
    }

    /// Returns a value, if it is set. An empty string counts as unset.
    pub fn optional(&self, env: &str) -> Result<Option<&str>, SettingError> {
        self.setting(env)?;
        Ok(self.values.get(env).map(|given| given.value.expose()).filter(|text| !text.is_empty()))
    }

    /// Returns a value parsed as a number, an address, or another type.
    pub fn parsed<T: FromStr<Err: fmt::Display>>(&self, env: &str) -> Result<T, SettingError> {
        self.required(env)?.trim().parse().map_err(|error: T::Err| self.invalid(env, &error.to_string()))
    }

    /// Returns a comma-separated value as parsed items. Empty if it is unset.
    pub fn list<T: FromStr<Err: fmt::Display>>(&self, env: &str) -> Result<Vec<T>, SettingError> {
        let items = self.optional(env)?.unwrap_or_default().split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| item.parse().map_err(|error: T::Err| self.invalid(env, &error.to_string()))).collect()
    }

    /// Returns a value as a duration.
    pub fn duration(&self, env: &str) -> Result<Duration, SettingError> {
        duration(self.required(env)?).ok_or_else(|| self.invalid(env, ValueKind::Duration.expected()))
    }

    /// Returns a value as a number of bytes.
    pub fn size(&self, env: &str) -> Result<u64, SettingError> {
        size(self.required(env)?).ok_or_else(|| self.invalid(env, ValueKind::Size.expected()))
    }

    /// Returns a switch.
    pub fn switch(&self, env: &str) -> Result<bool, SettingError> {
        switch(self.required(env)?).ok_or_else(|| self.invalid(env, ValueKind::Switch.expected()))
    }

    /// Returns a path, if it is set.
    pub fn path(&self, env: &str) -> Result<Option<PathBuf>, SettingError> {
        Ok(self.optional(env)?.map(PathBuf::from))
    }

    /// Returns a secret, if it is set.
    pub fn secret(&self, env: &str) -> Result<Option<Secret>, SettingError> {
        Ok(self.optional(env)?.map(Secret::new))
    }

    /// Returns an error about a value, with the setting, the source of the value, and the reason.
    pub fn invalid(&self, env: &str, what: &str) -> SettingError {
        SettingError(vec![match self.values.get(env) {
            Some(given) => format!("`{env}`, set by {}: {what}", given.source),
            None => format!("`{env}`: {what}"),
        }])
    }

    fn setting(&self, env: &str) -> Result<&'static Setting, SettingError> {
        let found = self.rows.iter().copied().find(|row| row.env == env);
        found.ok_or_else(|| SettingError(vec![format!("unknown setting `{env}`")]))
    }

    fn summary(&self, env: &str) -> String {
        let summary = self.setting(env).map_or("", |row| row.summary).trim_end_matches('.');
        let mut letters = summary.chars();
        letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
    }

    fn set(&mut self, env: &'static str, text: String, source: String) {
        self.values.insert(env, SettingValue { value: Secret::new(text), source });
    }

    fn apply_defaults(&mut self) {
        for row in self.rows.clone() {
            if let Some(default) = row.default {
                self.set(row.env, default.to_owned(), "default".to_owned());
            }
        }
    }

    fn parse_flags(
        &self,
        arguments: impl IntoIterator<Item = String>,
        errors: &mut Vec<String>,
    ) -> BTreeMap<&'static str, String> {
        let mut arguments = arguments.into_iter().peekable();
        let mut flags = BTreeMap::new();
        while let Some(argument) = arguments.next() {
            let (name, inline) = argument.split_once('=').map_or((argument.as_str(), None), |(n, v)| (n, Some(v)));
            let Some(row) = self.rows.iter().find(|row| flag(row.env) == name) else {
                errors.push(self.unknown_flag(name));
                // Skip its value without showing it: it may be a secret.
                while arguments.next_if(|next| !next.starts_with('-')).is_some() {}
                continue;
            };
            match inline.map(str::to_owned).or_else(|| arguments.next()) {
                // Arguments are visible to all users of the machine.
                Some(_) if row.secret => {
                    errors.push(format!("`{name}` is a secret: set `{}` or `{}_FILE` instead", row.env, row.env));
                }
                Some(value) => drop(flags.insert(row.env, value)),
                None => errors.push(format!("`{name}` needs a value")),
            }
        }
        flags
    }

    fn unknown_flag(&self, name: &str) -> String {
        match name.starts_with('-') {
            true => format!("unknown flag `{name}`{}", suggestion(name, self.rows.iter().map(|row| flag(row.env)))),
            false => "unexpected argument: write flags such as `--listen ADDRESS`".to_owned(),
        }
    }

    fn apply_file(&mut self, path: &str, errors: &mut Vec<String>) {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return errors.push(format!("the settings file `{path}` cannot be read: {error}")),
        };
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            // Only the message: the rest would show the line, which may hold a secret.
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
                return errors.push(format!("the settings file `{path}`, line {line}: {}", error.message()));
            }
        };
        for (key, value) in value::flatten(table) {
            match self.rows.iter().find(|row| file_key(row) == key) {
                Some(row) => self.set(row.env, value, format!("`{key}` in `{path}`")),
                None => match key.strip_suffix("_file").and_then(|key| self.secret_setting(|row| file_key(row) == key))
                {
                    Some(row) => self.apply_secret_file(row, &value, errors),
                    None => {
                        let known = self.rows.iter().map(|row| file_key(row).to_owned());
                        errors.push(format!("`{path}` has an unknown key `{key}`{}", suggestion(&key, known)));
                    }
                },
            }
        }
    }

    fn apply_environment(&mut self, environment: BTreeMap<String, String>, errors: &mut Vec<String>) {
        for (name, value) in &environment {
            if let Some(row) = self.rows.iter().find(|row| row.env == name) {
                self.set(row.env, value.clone(), format!("the environment variable `{name}`"));
            } else if let Some(row) =
                name.strip_suffix("_FILE").and_then(|env| self.secret_setting(|row| row.env == env))
            {
                if environment.contains_key(row.env) {
                    errors.push(format!("both `{}` and `{name}` are set: remove one", row.env));
                }
                self.apply_secret_file(row, value, errors);
            } else {
                let known = self.rows.iter().map(|row| row.env.to_owned());
                self.warnings.push(format!("unknown setting `{name}` is ignored{}", suggestion(name, known)));
            }
        }
    }

    fn secret_setting(&self, is: impl Fn(&Setting) -> bool) -> Option<&'static Setting> {
        self.rows.iter().copied().find(|row| row.secret && is(row))
    }

    fn apply_secret_file(&mut self, row: &'static Setting, path: &str, errors: &mut Vec<String>) {
        match fs::read_to_string(path) {
            Ok(text) => self.set(row.env, text.trim_end_matches(['\r', '\n']).to_owned(), format!("the file `{path}`")),
            Err(error) => errors.push(format!("the file `{path}` of `{}` cannot be read: {error}", row.env)),
        }
    }

    fn validate(&self, errors: &mut Vec<String>) {
        for row in &self.rows {
            let Some(given) = self.values.get(row.env).filter(|given| !given.value.expose().is_empty()) else {
                continue;
            };
            if !row.kind.accepts(given.value.expose()) {
                let found = if row.secret { String::new() } else { format!(", found `{}`", given.value.expose()) };
                let expected = row.kind.expected_values();
                errors.push(format!("`{}`, set by {}: expected {expected}{found}", row.env, given.source));
            }
        }
    }
}

impl ValueKind {
    fn accepts(self, text: &str) -> bool {
        match self {
            ValueKind::Text | ValueKind::List | ValueKind::Path => true,
            ValueKind::Number => text.trim().parse::<u64>().is_ok(),
            ValueKind::CountOrAll => text.trim() == "all" || text.trim().parse::<NonZeroUsize>().is_ok(),
            ValueKind::Duration => duration(text).is_some(),
            ValueKind::Size => size(text).is_some(),
            ValueKind::Switch => switch(text).is_some(),
            ValueKind::OneOf(words) => words.contains(&text),
        }
    }

    /// Returns the expected form, with all values for an enumeration.
    fn expected_values(self) -> String {
        match self {
            ValueKind::OneOf(words) => format!("one of `{}`", words.join("`, `")),
            other => other.expected().to_owned(),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            ValueKind::Text => "a string",
            ValueKind::List => "comma-separated values",
            ValueKind::Path => "a path",
            ValueKind::Number => "an integer",
            ValueKind::CountOrAll => "a positive integer, or `all`",
            ValueKind::Duration => "a duration such as `500ms`, `10s` or `24h`",
            ValueKind::Size => "a size such as `64KiB` or `2MiB`",
            ValueKind::Switch => "`on` or `off`",
            ValueKind::OneOf(_) => "one of the listed values",
        }
    }
}

/// Returns the environment variables with the prefix `PIDQ_`.
///
/// # Errors
///
/// Fails if a value is not UTF-8.
pub fn environment() -> Result<Vec<(String, String)>, SettingError> {
    utf8_variables(std::env::vars_os())
}

fn utf8_variables(
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Vec<(String, String)>, SettingError> {
    let named = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let prefixed = named.filter(|(name, _)| name.starts_with(PREFIX));
    let text = |(name, value): (String, OsString)| match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(SettingError(vec![format!("`{name}`, set by the environment, is not UTF-8")])),
    };
    prefixed.map(text).collect()
}

/// `PIDQ_DATABASE_URL` → `--database-url`.
fn flag(env: &str) -> String {
    format!("--{}", env.trim_start_matches(PREFIX).to_ascii_lowercase().replace('_', "-"))
}

fn file_key(row: &Setting) -> &'static str {
    row.config_key.strip_prefix("config.").unwrap_or(row.config_key)
}

/// Returns `: did you mean …?` if a known name is similar.
fn suggestion(name: &str, known: impl Iterator<Item = String>) -> String {
    let nearest = known.map(|k| (value::levenshtein(name, &k), k)).min();
    let similar = nearest.filter(|(distance, _)| *distance <= 1 + name.len() / 5);
    similar.map(|(_, known)| format!(": did you mean `{known}`?")).unwrap_or_default()
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Setting] = &[
        row("PIDQ_CONFIG", "config.file", None, ValueKind::Path),
        row("PIDQ_LISTEN", "config.listen", Some("127.0.0.1:8080"), ValueKind::List),
        row("PIDQ_QUERY_TIMEOUT", "config.query.timeout", Some("10s"), ValueKind::Duration),
        Setting { secret: true, ..row("PIDQ_MASTER_SECRET", "config.master.secret", None, ValueKind::Text) },
    ];

    const fn row(
        env: &'static str,
        config_key: &'static str,
        default: Option<&'static str>,
        kind: ValueKind,
    ) -> Setting {
        Setting { env, config_key, default, kind, secret: false, summary: "The thing." }
    }

    fn read(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Settings, String> {
        let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Settings::read(&[ROWS], arguments.iter().map(|a| a.to_string()), environment).map_err(|e| e.to_string())
    }

    #[test]
    fn unexpected_arguments_are_not_shown() {
        for arguments in
            [&["--master-secrt", "canary"][..], &["canary"], &["--master-secrt=canary"], &["--x", "canary", "canary"]]
        {
            let error = read(arguments, &[]).err().expect("there is no such flag");
            assert!(!error.contains("canary"), "{error}");
        }
        let error = read(&["--x", "1", "--lisen", "2"], &[]).err().expect("there are no such flags");
        assert!(error.contains("`--x`") && error.contains("did you mean `--listen`?"), "{error}");
    }

    #[test]
    fn a_parse_error_of_a_file_has_its_line() {
        let file = file("listen = \"a:1\"\n\n[master]\nsecret = 'canary\n");
        let path = file.path().to_str().expect("a path");
        let error = read(&["--config", path], &[]).err().expect("it is not TOML");
        assert!(error.contains("line 4") && !error.contains("canary"), "{error}");
    }

    #[test]
    fn only_own_variables_must_be_utf8() {
        use std::os::unix::ffi::OsStringExt;
        let variable = |name: &str, value: &[u8]| (OsString::from(name), OsString::from_vec(value.to_vec()));
        let read = |variables: Vec<_>| utf8_variables(variables.into_iter()).map_err(|error| error.to_string());
        let own = variable("PIDQ_LISTEN", b"127.0.0.1:1");
        let (foreign, errors) = (variable("LS_COLORS", b"\xff"), variable("PIDQ_MASTER_SECRET", b"canary\xff"));
        assert_eq!(read(vec![foreign, own]), Ok(vec![("PIDQ_LISTEN".to_owned(), "127.0.0.1:1".to_owned())]));
        let error = read(vec![errors]).expect_err("it is not UTF-8");
        assert!(error.contains("`PIDQ_MASTER_SECRET`") && !error.contains("canary"), "{error}");
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("it can be written");
        file
    }

    #[test]
    fn flags_override_the_environment_the_file_and_defaults() {
        let file = file("listen = \"file:1\"\n[query]\ntimeout = \"1s\"\n");
        let path = file.path().to_str().expect("a path");
        let time = |arguments: &[&str], environment: &[(&str, &str)]| {
            read(arguments, environment)?.duration("PIDQ_QUERY_TIMEOUT").map_err(|e| e.to_string())
        };
        assert_eq!(time(&[], &[]), Ok(Duration::from_secs(10)));
        assert_eq!(time(&["--config", path], &[]), Ok(Duration::from_secs(1)));
        assert_eq!(time(&[], &[("PIDQ_CONFIG", path), ("PIDQ_QUERY_TIMEOUT", "2s")]), Ok(Duration::from_secs(2)));
        assert_eq!(time(&["--query-timeout=3s"], &[("PIDQ_QUERY_TIMEOUT", "2s")]), Ok(Duration::from_secs(3)));
    }

    #[test]
    fn errors_name_the_setting_and_the_remedy() {
        let error = |arguments: &[&str], environment: &[(&str, &str)]| {
            read(arguments, environment).map(drop).expect_err("it is wrong")
        };
        assert_eq!(
            error(&[], &[("PIDQ_QUERY_TIMEOUT", "soon")]),
            "`PIDQ_QUERY_TIMEOUT`, set by the environment variable `PIDQ_QUERY_TIMEOUT`: \
             expected a duration such as `500ms`, `10s` or `24h`, found `soon`"
        );
        assert_eq!(
            error(&["--lisen", "x"], &[]).lines().next(),
            Some("unknown flag `--lisen`: did you mean `--listen`?")
        );
        assert_eq!(
            error(&["--master-secret", "hunter2"], &[]),
            "`--master-secret` is a secret: set `PIDQ_MASTER_SECRET` or `PIDQ_MASTER_SECRET_FILE` instead"
        );
        let file = file("listn = \"x\"\nmaster = { secret = 'hunter2' ]");
        let path = file.path().to_str().expect("a path");
        assert!(!error(&["--config", path], &[]).contains("hunter2"), "the error does not quote the file");
        let missing =
            read(&[], &[]).map(|s| s.required("PIDQ_MASTER_SECRET").map(str::to_owned).map_err(|e| e.to_string()));
        assert_eq!(
            missing,
            Ok(Err("`PIDQ_MASTER_SECRET` is missing: set it, or `PIDQ_MASTER_SECRET_FILE` (the thing)".into()))
        );
    }

    #[test]
    fn a_misspelled_variable_is_a_warning_with_a_suggestion() {
        let settings = read(&[], &[("PIDQ_LISTENS", "x"), ("HOME", "/")]).expect("no mistake");
        assert_eq!(settings.warnings(), ["unknown setting `PIDQ_LISTENS` is ignored: did you mean `PIDQ_LISTEN`?"]);
    }

    #[test]
    fn a_secret_may_be_in_a_file_and_is_never_shown() {
        let file = file("hunter2\n");
        let path = file.path().to_str().expect("a path");
        let settings = read(&[], &[("PIDQ_MASTER_SECRET_FILE", path)]).expect("no mistake");
        let secret = settings.secret("PIDQ_MASTER_SECRET").expect("a row").expect("a value");
        assert_eq!((secret.expose(), format!("{secret:?}").as_str()), ("hunter2", "***"));
        let both = [("PIDQ_MASTER_SECRET_FILE", path), ("PIDQ_MASTER_SECRET", "x")];
        assert!(read(&[], &both).is_err_and(|error| error.contains("remove one")));
    }
}
