//! Settings: one row each, in layers: default, file, environment, flag. The later one wins.

mod common;
mod manual;
mod secret;
mod value;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

pub use common::{COMMON, Floor};
pub use manual::{help, manual};
pub use secret::Secret;

use value::{duration, size, switch};

/// A setting: everything about it, once.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in the environment: `PIDQ_DATABASE_URL`. The flag is `--database-url`.
    pub env: &'static str,
    /// Its path in the values of the chart: `config.database.url`. In the file it is the same without `config`.
    pub chart: &'static str,
    /// What holds when nobody says anything. None: it is off, or has to be given.
    pub default: Option<&'static str>,
    /// What it looks like.
    pub kind: Kind,
    /// A secret has no flag, may stand in a file of its own (`…_FILE`), and is never shown.
    pub secret: bool,
    /// What it does, in one sentence.
    pub summary: &'static str,
}

/// What a value looks like. Checked when settings are read, so that a typing error ends the start, not a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number.
    Number,
    /// A whole number from 1, or `all`.
    CountOrAll,
    /// `500ms`, `10s`, `5m`, `24h`, `14d`.
    Duration,
    /// `64KiB`, `2MiB`, `1GiB`, or bytes.
    Size,
    /// `on` or `off`.
    Switch,
    /// Values with commas between them.
    List,
    /// A path.
    Path,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// The settings of a run.
pub struct Settings {
    rows: Vec<&'static Setting>,
    values: BTreeMap<&'static str, Given>,
    warnings: Vec<String>,
}

/// A value, and who said so.
struct Given {
    text: Secret,
    source: String,
}

/// What is wrong with a setting, and what to do: one line per mistake.
#[derive(Debug)]
pub struct SettingError(Vec<String>);

/// A table of settings, a line each: variable, path in a chart, kind, default, whether it is a secret, summary.
#[macro_export]
macro_rules! settings {
    ($($env:literal, $chart:expr, $kind:expr, $default:expr, $secret:literal, $summary:expr;)*) => {
        &[$($crate::Setting {
            env: $env, chart: $chart, default: $default, kind: $kind, secret: $secret, summary: $summary,
        }),*]
    };
}

/// What all names in the environment begin with.
const PREFIX: &str = "PIDQ_";

/// The rows of some tables. One of a later table takes the place of one of its name: services differ in defaults.
fn rows(tables: &[&'static [Setting]]) -> Vec<&'static Setting> {
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
    /// Reads the settings of some tables from arguments (`--listen ADDRESS`, `--config FILE`) and environment.
    pub fn read(
        tables: &[&'static [Setting]],
        arguments: impl IntoIterator<Item = String>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingError> {
        let mut settings = Settings { rows: rows(tables), values: BTreeMap::new(), warnings: Vec::new() };
        let mut wrong = Vec::new();
        let flags = settings.flags(arguments, &mut wrong);
        let environment: BTreeMap<String, String> =
            environment.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
        let config = flags.get("PIDQ_CONFIG").or(environment.get("PIDQ_CONFIG")).cloned();
        settings.defaults();
        if let Some(path) = config {
            settings.file(&path, &mut wrong);
        }
        settings.environment(environment, &mut wrong);
        for (env, value) in flags {
            settings.give(env, value, format!("the flag `{}`", flag(env)));
        }
        settings.check(&mut wrong);
        if wrong.is_empty() { Ok(settings) } else { Err(SettingError(wrong)) }
    }

    /// Things that are no mistake and still worth a line in the log.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// A value that is there, or has a default.
    pub fn text(&self, env: &str) -> Result<&str, SettingError> {
        self.optional(env)?.ok_or_else(|| {
            let file =
                if self.row(env).is_ok_and(|row| row.secret) { format!(", or `{env}_FILE`") } else { String::new() };
            SettingError(vec![format!("`{env}` is missing: set it{file}; it is {}", self.summary(env))])
        })
    }

    /// A value, if there is one. An empty text is none.
    pub fn optional(&self, env: &str) -> Result<Option<&str>, SettingError> {
        self.row(env)?;
        Ok(self.values.get(env).map(|given| given.text.expose()).filter(|text| !text.is_empty()))
    }

    /// A value as a number, an address, or what else can be parsed.
    pub fn parsed<T: FromStr<Err: fmt::Display>>(&self, env: &str) -> Result<T, SettingError> {
        self.text(env)?.trim().parse().map_err(|error: T::Err| self.wrong(env, &error.to_string()))
    }

    /// A value as a list of such things. Empty when there is none.
    pub fn list<T: FromStr<Err: fmt::Display>>(&self, env: &str) -> Result<Vec<T>, SettingError> {
        let items = self.optional(env)?.unwrap_or_default().split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| item.parse().map_err(|error: T::Err| self.wrong(env, &error.to_string()))).collect()
    }

    /// A value as a time.
    pub fn duration(&self, env: &str) -> Result<Duration, SettingError> {
        duration(self.text(env)?).ok_or_else(|| self.wrong(env, Kind::Duration.expected()))
    }

    /// A value as a number of bytes.
    pub fn size(&self, env: &str) -> Result<u64, SettingError> {
        size(self.text(env)?).ok_or_else(|| self.wrong(env, Kind::Size.expected()))
    }

    /// A switch.
    pub fn on(&self, env: &str) -> Result<bool, SettingError> {
        switch(self.text(env)?).ok_or_else(|| self.wrong(env, Kind::Switch.expected()))
    }

    /// A path.
    pub fn path(&self, env: &str) -> Result<Option<PathBuf>, SettingError> {
        Ok(self.optional(env)?.map(PathBuf::from))
    }

    /// A secret, if there is one.
    pub fn secret(&self, env: &str) -> Result<Option<Secret>, SettingError> {
        Ok(self.optional(env)?.map(Secret::new))
    }

    /// An error about a value, saying which setting it is, who set it, and what is wrong with it.
    pub fn wrong(&self, env: &str, what: &str) -> SettingError {
        let source = self.values.get(env).map_or("nobody", |given| &given.source);
        SettingError(vec![format!("`{env}`, set by {source}: {what}")])
    }

    fn row(&self, env: &str) -> Result<&'static Setting, SettingError> {
        let found = self.rows.iter().copied().find(|row| row.env == env);
        found.ok_or_else(|| SettingError(vec![format!("there is no setting `{env}`")]))
    }

    fn summary(&self, env: &str) -> String {
        let summary = self.row(env).map_or("", |row| row.summary).trim_end_matches('.');
        let mut letters = summary.chars();
        letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
    }

    fn give(&mut self, env: &'static str, text: String, source: String) {
        self.values.insert(env, Given { text: Secret::new(text), source });
    }

    fn defaults(&mut self) {
        for row in self.rows.clone() {
            if let Some(default) = row.default {
                self.give(row.env, default.to_owned(), "default".to_owned());
            }
        }
    }

    fn flags(
        &self,
        arguments: impl IntoIterator<Item = String>,
        wrong: &mut Vec<String>,
    ) -> BTreeMap<&'static str, String> {
        let mut arguments = arguments.into_iter().peekable();
        let mut flags = BTreeMap::new();
        while let Some(argument) = arguments.next() {
            let (name, inline) = argument.split_once('=').map_or((argument.as_str(), None), |(n, v)| (n, Some(v)));
            let Some(row) = self.rows.iter().find(|row| flag(row.env) == name) else {
                wrong.push(self.unknown_flag(name));
                // Its value says nothing more, and must not be shown: it may be a secret.
                while arguments.next_if(|next| !next.starts_with('-')).is_some() {}
                continue;
            };
            match inline.map(str::to_owned).or_else(|| arguments.next()) {
                // Arguments are seen by everybody on the machine.
                Some(_) if row.secret => {
                    wrong.push(format!("`{name}` is a secret: set `{}` or `{}_FILE` instead", row.env, row.env));
                }
                Some(value) => drop(flags.insert(row.env, value)),
                None => wrong.push(format!("`{name}` needs a value")),
            }
        }
        flags
    }

    fn unknown_flag(&self, name: &str) -> String {
        match name.starts_with('-') {
            true => format!("unknown flag `{name}`{}", advice(name, self.rows.iter().map(|row| flag(row.env)))),
            false => "there is an argument that is no flag: write `--listen ADDRESS`, for instance".to_owned(),
        }
    }

    fn file(&mut self, path: &str, wrong: &mut Vec<String>) {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return wrong.push(format!("the settings file `{path}` cannot be read: {error}")),
        };
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            // Only the message: the rest would show the line, and the line may hold a secret.
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
                return wrong.push(format!("the settings file `{path}`, line {line}: {}", error.message()));
            }
        };
        for (key, value) in value::leaves(table) {
            match self.rows.iter().find(|row| in_file(row) == key) {
                Some(row) => self.give(row.env, value, format!("`{key}` in `{path}`")),
                None => match key.strip_suffix("_file").and_then(|key| self.secret_row(|row| in_file(row) == key)) {
                    Some(row) => self.secret_file(row, &value, wrong),
                    None => {
                        let known = self.rows.iter().map(|row| in_file(row).to_owned());
                        wrong.push(format!("`{path}` has an unknown key `{key}`{}", advice(&key, known)));
                    }
                },
            }
        }
    }

    fn environment(&mut self, environment: BTreeMap<String, String>, wrong: &mut Vec<String>) {
        for (name, value) in &environment {
            if let Some(row) = self.rows.iter().find(|row| row.env == name) {
                self.give(row.env, value.clone(), format!("the environment variable `{name}`"));
            } else if let Some(row) = name.strip_suffix("_FILE").and_then(|env| self.secret_row(|row| row.env == env)) {
                if environment.contains_key(row.env) {
                    wrong.push(format!("both `{}` and `{name}` are set: take one away", row.env));
                }
                self.secret_file(row, value, wrong);
            } else {
                let known = self.rows.iter().map(|row| row.env.to_owned());
                self.warnings.push(format!("`{name}` is set and means nothing{}", advice(name, known)));
            }
        }
    }

    fn secret_row(&self, is: impl Fn(&Setting) -> bool) -> Option<&'static Setting> {
        self.rows.iter().copied().find(|row| row.secret && is(row))
    }

    fn secret_file(&mut self, row: &'static Setting, path: &str, wrong: &mut Vec<String>) {
        match fs::read_to_string(path) {
            Ok(text) => {
                self.give(row.env, text.trim_end_matches(['\r', '\n']).to_owned(), format!("the file `{path}`"))
            }
            Err(error) => wrong.push(format!("the file `{path}` of `{}` cannot be read: {error}", row.env)),
        }
    }

    fn check(&self, wrong: &mut Vec<String>) {
        for row in &self.rows {
            let Some(given) = self.values.get(row.env).filter(|given| !given.text.expose().is_empty()) else {
                continue;
            };
            if !row.kind.fits(given.text.expose()) {
                let found = if row.secret { String::new() } else { format!(", found `{}`", given.text.expose()) };
                let expected = row.kind.wanted();
                wrong.push(format!("`{}`, set by {}: expected {expected}{found}", row.env, given.source));
            }
        }
    }
}

impl Kind {
    fn fits(self, text: &str) -> bool {
        match self {
            Kind::Text | Kind::List | Kind::Path => true,
            Kind::Number => text.trim().parse::<u64>().is_ok(),
            Kind::CountOrAll => text.trim() == "all" || text.trim().parse::<NonZeroUsize>().is_ok(),
            Kind::Duration => duration(text).is_some(),
            Kind::Size => size(text).is_some(),
            Kind::Switch => switch(text).is_some(),
            Kind::OneOf(words) => words.contains(&text),
        }
    }

    /// The same, with all words where only some will do.
    fn wanted(self) -> String {
        match self {
            Kind::OneOf(words) => format!("one of `{}`", words.join("`, `")),
            other => other.expected().to_owned(),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::List => "values with commas between them",
            Kind::Path => "a path",
            Kind::Number => "a whole number",
            Kind::CountOrAll => "a whole number from 1, or `all`",
            Kind::Duration => "a time such as `500ms`, `10s` or `24h`",
            Kind::Size => "a size such as `64KiB` or `2MiB`",
            Kind::Switch => "`on` or `off`",
            Kind::OneOf(_) => "one of the words that the manual lists",
        }
    }
}

/// The variables of this process that are settings, or look like some. What other programs have there does not matter.
///
/// # Errors
/// Those that are no text.
pub fn environment() -> Result<Vec<(String, String)>, SettingError> {
    texts(std::env::vars_os())
}

fn texts(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Vec<(String, String)>, SettingError> {
    let ours = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let ours = ours.filter(|(name, _)| name.starts_with(PREFIX));
    let text = |(name, value): (String, OsString)| match value.into_string() {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(SettingError(vec![format!("`{name}`, set by the environment, is not UTF-8")])),
    };
    ours.map(text).collect()
}

/// `PIDQ_DATABASE_URL` → `--database-url`.
fn flag(env: &str) -> String {
    format!("--{}", env.trim_start_matches(PREFIX).to_ascii_lowercase().replace('_', "-"))
}

fn in_file(row: &Setting) -> &'static str {
    row.chart.strip_prefix("config.").unwrap_or(row.chart)
}

/// `: did you mean …?`, if something is near.
fn advice(name: &str, known: impl Iterator<Item = String>) -> String {
    let near = known.map(|k| (value::distance(name, &k), k)).min();
    let near = near.filter(|(distance, _)| *distance <= 1 + name.len() / 5);
    near.map(|(_, known)| format!(": did you mean `{known}`?")).unwrap_or_default()
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for SettingError {}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Setting] = &[
        row("PIDQ_CONFIG", "config.file", None, Kind::Path),
        row("PIDQ_LISTEN", "config.listen", Some("127.0.0.1:8080"), Kind::List),
        row("PIDQ_QUERY_TIME", "config.query.time", Some("10s"), Kind::Duration),
        Setting { secret: true, ..row("PIDQ_MASTER_SECRET", "config.master.secret", None, Kind::Text) },
    ];

    const fn row(env: &'static str, chart: &'static str, default: Option<&'static str>, kind: Kind) -> Setting {
        Setting { env, chart, default, kind, secret: false, summary: "The thing." }
    }

    fn read(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Settings, String> {
        let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Settings::read(&[ROWS], arguments.iter().map(|a| a.to_string()), environment).map_err(|e| e.to_string())
    }

    #[test]
    fn what_belongs_to_no_flag_is_not_shown() {
        for arguments in
            [&["--master-secrt", "canary"][..], &["canary"], &["--master-secrt=canary"], &["--x", "canary", "canary"]]
        {
            let refused = read(arguments, &[]).err().expect("there is no such flag");
            assert!(!refused.contains("canary"), "{refused}");
        }
        let refused = read(&["--x", "1", "--lisen", "2"], &[]).err().expect("there are no such flags");
        assert!(refused.contains("`--x`") && refused.contains("did you mean `--listen`?"), "{refused}");
    }

    #[test]
    fn a_file_that_cannot_be_parsed_says_where() {
        let file = file("listen = \"a:1\"\n\n[master]\nsecret = 'canary\n");
        let path = file.path().to_str().expect("a path");
        let refused = read(&["--config", path], &[]).err().expect("it is no TOML");
        assert!(refused.contains("line 4") && !refused.contains("canary"), "{refused}");
    }

    #[test]
    fn only_what_is_ours_has_to_be_text() {
        use std::os::unix::ffi::OsStringExt;
        let variable = |name: &str, value: &[u8]| (OsString::from(name), OsString::from_vec(value.to_vec()));
        let read = |variables: Vec<_>| texts(variables.into_iter()).map_err(|error| error.to_string());
        let ours = variable("PIDQ_LISTEN", b"127.0.0.1:1");
        let (foreign, wrong) = (variable("LS_COLORS", b"\xff"), variable("PIDQ_MASTER_SECRET", b"canary\xff"));
        assert_eq!(read(vec![foreign, ours]), Ok(vec![("PIDQ_LISTEN".to_owned(), "127.0.0.1:1".to_owned())]));
        let refused = read(vec![wrong]).expect_err("it is no text");
        assert!(refused.contains("`PIDQ_MASTER_SECRET`") && !refused.contains("canary"), "{refused}");
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("it can be written");
        file
    }

    #[test]
    fn flags_win_over_the_environment_over_the_file_over_defaults() {
        let file = file("listen = \"file:1\"\n[query]\ntime = \"1s\"\n");
        let path = file.path().to_str().expect("a path");
        let time = |arguments: &[&str], environment: &[(&str, &str)]| {
            read(arguments, environment)?.duration("PIDQ_QUERY_TIME").map_err(|e| e.to_string())
        };
        assert_eq!(time(&[], &[]), Ok(Duration::from_secs(10)));
        assert_eq!(time(&["--config", path], &[]), Ok(Duration::from_secs(1)));
        assert_eq!(time(&[], &[("PIDQ_CONFIG", path), ("PIDQ_QUERY_TIME", "2s")]), Ok(Duration::from_secs(2)));
        assert_eq!(time(&["--query-time=3s"], &[("PIDQ_QUERY_TIME", "2s")]), Ok(Duration::from_secs(3)));
    }

    #[test]
    fn mistakes_name_the_setting_and_what_to_do() {
        let error = |arguments: &[&str], environment: &[(&str, &str)]| {
            read(arguments, environment).map(drop).expect_err("it is wrong")
        };
        assert_eq!(
            error(&[], &[("PIDQ_QUERY_TIME", "soon")]),
            "`PIDQ_QUERY_TIME`, set by the environment variable `PIDQ_QUERY_TIME`: \
             expected a time such as `500ms`, `10s` or `24h`, found `soon`"
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
        assert!(!error(&["--config", path], &[]).contains("hunter2"), "a broken file does not show what is in it");
        let missing =
            read(&[], &[]).map(|s| s.text("PIDQ_MASTER_SECRET").map(str::to_owned).map_err(|e| e.to_string()));
        assert_eq!(
            missing,
            Ok(Err("`PIDQ_MASTER_SECRET` is missing: set it, or `PIDQ_MASTER_SECRET_FILE`; it is the thing".into()))
        );
    }

    #[test]
    fn a_misspelt_variable_is_a_warning_with_advice() {
        let settings = read(&[], &[("PIDQ_LISTENS", "x"), ("HOME", "/")]).expect("no mistake");
        assert_eq!(settings.warnings(), ["`PIDQ_LISTENS` is set and means nothing: did you mean `PIDQ_LISTEN`?"]);
    }

    #[test]
    fn a_secret_may_stand_in_a_file_and_is_never_shown() {
        let file = file("hunter2\n");
        let path = file.path().to_str().expect("a path");
        let settings = read(&[], &[("PIDQ_MASTER_SECRET_FILE", path)]).expect("no mistake");
        let secret = settings.secret("PIDQ_MASTER_SECRET").expect("a row").expect("a value");
        assert_eq!((secret.expose(), format!("{secret:?}").as_str()), ("hunter2", "***"));
        let both = [("PIDQ_MASTER_SECRET_FILE", path), ("PIDQ_MASTER_SECRET", "x")];
        assert!(read(&[], &both).is_err_and(|error| error.contains("take one away")));
    }
}
