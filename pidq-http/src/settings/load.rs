//! Layers of settings: default, file, environment, flag. Later layers override earlier ones.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use super::PREFIX;
use super::common::CONFIG;
use super::error::SettingError;
use super::file::flatten;
use super::loaded::{Settings, flag_source};
use super::setting::{AnySetting, SettingTable, merged_rows};
use super::suggestion::suggestion;

/// Flags with their values, by the environment variable of the setting.
type Flags = Vec<(&'static dyn AnySetting, String)>;

impl Settings {
    /// Reads the settings of the tables from arguments (`--listen ADDRESS`, `--config FILE`) and environment.
    ///
    /// # Errors
    /// Names every setting with an invalid value, the source of the value, and what is expected.
    pub fn read(
        tables: &[SettingTable],
        arguments: impl IntoIterator<Item = String>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SettingError> {
        let mut loader = Loader { settings: Settings::new(merged_rows(tables)), errors: Vec::new() };
        let flags = loader.parse_flags(arguments);
        let environment: BTreeMap<String, String> =
            environment.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
        let flag = flags.iter().rev().find(|(row, _)| row.env() == CONFIG.env()).map(|(_, path)| path);
        let config = flag.or(environment.get(CONFIG.env())).cloned();
        loader.apply_defaults();
        if let Some(path) = config {
            loader.apply_file(&path);
        }
        loader.apply_environment(environment);
        for (row, value) in flags {
            loader.settings.set(row, value, flag_source(row));
        }
        loader.finish()
    }
}

/// Settings while they are read.
struct Loader {
    settings: Settings,
    errors: Vec<String>,
}

impl Loader {
    fn finish(mut self) -> Result<Settings, SettingError> {
        self.errors.extend(self.settings.validate().into_iter().flat_map(|error| error.0));
        if self.errors.is_empty() { Ok(self.settings) } else { Err(SettingError(self.errors)) }
    }

    fn row(&self, is: impl Fn(&dyn AnySetting) -> bool) -> Option<&'static dyn AnySetting> {
        self.settings.rows.iter().copied().find(|row| is(*row))
    }

    fn secret(&self, is: impl Fn(&dyn AnySetting) -> bool) -> Option<&'static dyn AnySetting> {
        self.row(|row| row.is_secret() && is(row))
    }

    fn suggestion(&self, name: &str, known: impl Fn(&dyn AnySetting) -> String) -> String {
        suggestion(name, self.settings.rows.iter().map(|row| known(*row)))
    }

    fn apply_defaults(&mut self) {
        for row in self.settings.rows.clone() {
            if let Some(default) = row.default() {
                self.settings.set(row, default.to_owned(), "default".to_owned());
            }
        }
    }

    fn parse_flags(&mut self, arguments: impl IntoIterator<Item = String>) -> Flags {
        let mut arguments = arguments.into_iter().peekable();
        let mut flags = Flags::new();
        while let Some(argument) = arguments.next() {
            let (name, inline) = argument.split_once('=').map_or((argument.as_str(), None), |(n, v)| (n, Some(v)));
            let Some(row) = self.row(|row| row.flag() == name) else {
                self.errors.push(self.unknown_flag(name));
                // Skip its value without showing it: it may be a secret.
                while arguments.next_if(|next| !next.starts_with('-')).is_some() {}
                continue;
            };
            let env = row.env();
            match inline.map(str::to_owned).or_else(|| arguments.next()) {
                // Arguments are visible to all users of the machine.
                Some(_) if row.is_secret() => {
                    self.errors.push(format!("`{name}` is a secret: set `{env}` or `{env}_FILE` instead"));
                }
                Some(value) => flags.push((row, value)),
                None => self.errors.push(format!("`{name}` needs a value")),
            }
        }
        flags
    }

    fn unknown_flag(&self, name: &str) -> String {
        match name.starts_with('-') {
            true => format!("unknown flag `{name}`{}", self.suggestion(name, |row| row.flag())),
            false => "unexpected argument: write flags such as `--listen ADDRESS`".to_owned(),
        }
    }

    fn apply_file(&mut self, path: &str) {
        let table = match read_table(path) {
            Ok(table) => table,
            Err(reason) => return self.errors.push(reason),
        };
        for (key, value) in flatten(table) {
            let secret_file = |key: &str| self.secret(|row| row.file_key() == key);
            if let Some(row) = self.row(|row| row.file_key() == key) {
                self.settings.set(row, value, format!("`{key}` in `{path}`"));
            } else if let Some(row) = key.strip_suffix("_file").and_then(secret_file) {
                self.apply_secret_file(row, &value);
            } else {
                let suggestion = self.suggestion(&key, |row| row.file_key().to_owned());
                self.errors.push(format!("`{path}` has an unknown key `{key}`{suggestion}"));
            }
        }
    }

    fn apply_environment(&mut self, environment: BTreeMap<String, String>) {
        for (name, value) in &environment {
            let secret_file = |env: &str| self.secret(|row| row.env() == env);
            if let Some(row) = self.row(|row| row.env() == name) {
                self.settings.set(row, value.clone(), format!("the environment variable `{name}`"));
            } else if let Some(row) = name.strip_suffix("_FILE").and_then(secret_file) {
                // An empty variable is one that is not set, as Compose files have them.
                if value.is_empty() {
                    continue;
                }
                if environment.get(row.env()).is_some_and(|value| !value.is_empty()) {
                    self.errors.push(format!("both `{}` and `{name}` are set: remove one", row.env()));
                }
                self.apply_secret_file(row, value);
            } else {
                let suggestion = self.suggestion(name, |row| row.env().to_owned());
                self.settings.warnings.push(format!("unknown setting `{name}` is ignored{suggestion}"));
            }
        }
    }

    fn apply_secret_file(&mut self, row: &'static dyn AnySetting, path: &str) {
        match fs::read_to_string(path) {
            Ok(text) => {
                let text = text.trim_end_matches(['\r', '\n']).to_owned();
                self.settings.set(row, text, format!("the file `{path}`"));
            }
            Err(error) => self.errors.push(format!("the file `{path}` of `{}` cannot be read: {error}", row.env())),
        }
    }
}

/// Reads a settings file. Errors do not quote the file, which may hold secrets.
fn read_table(path: &str) -> Result<toml::Table, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("the settings file `{path}` cannot be read: {error}"))?;
    text.parse::<toml::Table>().map_err(|error| {
        // Only the message: the rest would show the line.
        let start = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
        format!("the settings file `{path}`, line {line}: {}", error.message())
    })
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
        Err(_) => Err(SettingError::new(format!("`{name}`, set by the environment, is not UTF-8"))),
    };
    prefixed.map(text).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::secret::Secret;
    use crate::settings;
    use crate::settings::COMMON;

    settings! {
        ROWS {
            QUERY_TIMEOUT: Duration = ("PIDQ_QUERY_TIMEOUT", "config.query.timeout", "The thing.") or "10s";
            MASTER_SECRET: Option<Secret> = ("PIDQ_MASTER_SECRET", "config.master.secret", "The thing.");
        }
    }

    fn read(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Settings, String> {
        let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Settings::read(&[COMMON, ROWS], arguments.iter().map(|a| a.to_string()), environment).map_err(|e| e.to_string())
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
        let file = file("listen = \"127.0.0.1:1\"\n[query]\ntimeout = \"1s\"\n");
        let path = file.path().to_str().expect("a path");
        let time = |arguments: &[&str], environment: &[(&str, &str)]| {
            read(arguments, environment)?.get(&QUERY_TIMEOUT).map_err(|e| e.to_string())
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
        let missing = read(&[], &[]).map(|s| s.required(&MASTER_SECRET).map(drop).map_err(|e| e.to_string()));
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
        let secret = settings.get(&MASTER_SECRET).expect("a row").expect("a value");
        assert_eq!((secret.expose(), format!("{secret:?}").as_str()), ("hunter2", "***"));
        let both = [("PIDQ_MASTER_SECRET_FILE", path), ("PIDQ_MASTER_SECRET", "x")];
        assert!(read(&[], &both).is_err_and(|error| error.contains("remove one")));
        for [file, value] in [[path, ""], ["", "hunter2"]] {
            let settings = read(&[], &[("PIDQ_MASTER_SECRET_FILE", file), ("PIDQ_MASTER_SECRET", value)]);
            let secret = settings.expect("an empty variable is not set").get(&MASTER_SECRET).expect("a row");
            assert_eq!(secret.expect("a value").expose(), "hunter2");
        }
    }
}
