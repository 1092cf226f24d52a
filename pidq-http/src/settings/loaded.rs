//! Loaded settings: typed reading, and errors that name the source of a value.

use std::collections::BTreeMap;

use super::error::SettingError;
use super::setting::{AnySetting, Setting};
use super::setting_type::SettingType;
use crate::secret::Secret;

/// Loaded settings. [`Settings::read`] has checked all values.
pub struct Settings {
    pub(super) rows: Vec<&'static dyn AnySetting>,
    values: BTreeMap<&'static str, SourcedValue>,
    pub(super) warnings: Vec<String>,
}

/// Value with its source.
struct SourcedValue {
    text: Secret,
    source: String,
}

impl Settings {
    pub(super) fn new(rows: Vec<&'static dyn AnySetting>) -> Settings {
        Settings { rows, values: BTreeMap::new(), warnings: Vec::new() }
    }

    /// Returns warnings to log.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the value of a setting. An empty text counts as unset.
    ///
    /// # Errors
    /// Fails if the setting is in none of the tables that were read.
    pub fn get<T: SettingType>(&self, row: &Setting<T>) -> Result<T::Value, SettingError> {
        if !self.rows.iter().any(|known| known.env() == row.env()) {
            return Err(SettingError::new(format!("unknown setting `{}`", row.env())));
        }
        match self.text(row.env()) {
            Some(text) => T::parse(text).map_err(|reason| self.invalid(row, &reason)),
            None => T::unset().ok_or_else(|| missing(row)),
        }
    }

    /// Returns the value of an optional setting that is required in this case.
    ///
    /// # Errors
    /// Fails if the setting is unset.
    pub fn required<T: SettingType>(&self, row: &Setting<Option<T>>) -> Result<T::Value, SettingError> {
        self.get(row)?.ok_or_else(|| missing(row))
    }

    /// Returns whether a setting has a value, which may be its default.
    pub fn is_set(&self, row: &dyn AnySetting) -> bool {
        self.text(row.env()).is_some()
    }

    /// Returns true if a flag sets the value, so that it is meant for this process: files and variables may be those of several.
    pub fn is_set_by_flag(&self, row: &dyn AnySetting) -> bool {
        self.values.get(row.env()).is_some_and(|value| value.source == flag_source(row))
    }

    /// Returns an error about a value, with the setting, the source of the value, and the reason.
    pub fn invalid(&self, row: &dyn AnySetting, reason: &str) -> SettingError {
        let env = row.env();
        SettingError::new(match self.values.get(env) {
            Some(value) => format!("`{env}`, set by {}: {reason}", value.source),
            None => format!("`{env}`: {reason}"),
        })
    }

    pub(super) fn set(&mut self, row: &dyn AnySetting, text: String, source: String) {
        self.values.insert(row.env(), SourcedValue { text: Secret::new(text), source });
    }

    /// Checks all values. An empty one counts as unset, which is an error only where the value is read.
    pub(super) fn validate(&self) -> Vec<SettingError> {
        let error = |row: &dyn AnySetting| {
            let reason = row.check(self.text(row.env())?).err()?;
            Some(self.invalid(row, &reason))
        };
        self.rows.iter().filter_map(|row| error(*row)).collect()
    }

    fn text(&self, env: &str) -> Option<&str> {
        self.values.get(env).map(|value| value.text.expose()).filter(|text| !text.is_empty())
    }
}

/// Returns the source of values that a flag sets.
pub(super) fn flag_source(row: &dyn AnySetting) -> String {
    format!("the flag `{}`", row.flag())
}

/// Returns the error for a setting without a value.
fn missing(row: &dyn AnySetting) -> SettingError {
    let env = row.env();
    let file = if row.is_secret() { format!(", or `{env}_FILE`") } else { String::new() };
    SettingError::new(format!("`{env}` is missing: set it{file} ({})", description(row)))
}

/// Returns the summary in lower case, without the final period.
fn description(row: &dyn AnySetting) -> String {
    let mut letters = row.summary().trim_end_matches('.').chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
