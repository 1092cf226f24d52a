//! Rows of the settings tables: the name, type, default and description of a setting.

use std::marker::PhantomData;

use super::PREFIX;
use super::setting_type::SettingType;

/// Definition of a setting. The type of its value says how the text is parsed, what is valid, and whether it is a secret.
///
/// Rows are declared with [`settings!`](crate::settings!), and read with [`Settings::get`](crate::Settings::get).
pub struct Setting<T> {
    env: &'static str,
    config_key: &'static str,
    default: Option<&'static str>,
    summary: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T: SettingType> Setting<T> {
    /// Creates a row without a default, from its environment variable (`PIDQ_DATABASE_URL`), its config key
    /// (`config.database.url`; in the settings file the same without `config`), and its description in one sentence.
    pub const fn new(env: &'static str, config_key: &'static str, summary: &'static str) -> Setting<T> {
        Setting { env, config_key, default: None, summary, value: PhantomData }
    }

    /// Returns the row with a default.
    #[must_use]
    pub const fn with_default(self, default: &'static str) -> Setting<T> {
        Setting { default: Some(default), ..self }
    }

    /// Returns the environment variable. The flag is derived from it: `--database-url`.
    pub const fn env(&self) -> &'static str {
        self.env
    }
}

/// Setting with a value of any type, as a row of a table.
pub trait AnySetting: Sync {
    /// Returns the environment variable.
    fn env(&self) -> &'static str;

    /// Returns the config key, with the prefix `config.`, or `secrets.` for some secrets.
    fn config_key(&self) -> &'static str;

    /// Returns the default. `None`: the setting is off, or required.
    fn default(&self) -> Option<&'static str>;

    /// Returns the description, in one sentence.
    fn summary(&self) -> &'static str;

    /// Returns whether the value is a secret. A secret has no flag, can be read from a file (`…_FILE`), and is never
    /// shown.
    fn is_secret(&self) -> bool;

    /// Returns the expected form of a value.
    fn expected(&self) -> String;

    /// Returns the reason why a text is not a value of this setting, if it is not.
    fn check(&self, text: &str) -> Result<(), String>;

    /// Returns the flag: `--database-url`.
    fn flag(&self) -> String {
        format!("--{}", self.env().trim_start_matches(PREFIX).to_ascii_lowercase().replace('_', "-"))
    }

    /// Returns the key in the settings file: `database.url`.
    fn file_key(&self) -> &'static str {
        self.config_key().strip_prefix("config.").unwrap_or(self.config_key())
    }
}

impl<T: SettingType> AnySetting for Setting<T> {
    fn env(&self) -> &'static str {
        self.env
    }

    fn config_key(&self) -> &'static str {
        self.config_key
    }

    fn default(&self) -> Option<&'static str> {
        self.default
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn is_secret(&self) -> bool {
        T::IS_SECRET
    }

    fn expected(&self) -> String {
        T::expected()
    }

    fn check(&self, text: &str) -> Result<(), String> {
        T::parse(text).map(drop)
    }
}

/// Table of settings.
pub type SettingTable = &'static [&'static dyn AnySetting];

/// Merges tables. A row of a later table replaces the row of the same name: services differ in defaults.
pub(super) fn merged_rows(tables: &[SettingTable]) -> Vec<&'static dyn AnySetting> {
    let mut rows: Vec<&'static dyn AnySetting> = Vec::new();
    for row in tables.iter().flat_map(|table| table.iter()) {
        match rows.iter_mut().find(|known| known.env() == row.env()) {
            Some(known) => *known = *row,
            None => rows.push(*row),
        }
    }
    rows
}

/// Declares settings and their table. A row has the name of its constant, its type, and the arguments of
/// [`Setting::new`]; the default follows after `or`.
///
/// ```
/// use pidq_http::{NonZeroDuration, settings};
///
/// settings! {
///     /// Settings of the example.
///     pub TABLE {
///         pub QUERY_TIMEOUT: NonZeroDuration = ("PIDQ_QUERY_TIMEOUT", "config.query.timeout", "Query timeout.") or "10s";
///         pub QUOTA: Option<u64> = ("PIDQ_QUOTA", "config.quota", "Maximum number of graphs; by default unlimited.");
///     }
/// }
/// assert_eq!(TABLE.len(), 2);
/// ```
///
/// The table does not refer to the constants, so that the compiler reports a private setting that is never read.
#[macro_export]
macro_rules! settings {
    (
        $(#[$attribute:meta])* $visibility:vis $table:ident {
            $($row_visibility:vis $name:ident: $type:ty = ($env:literal, $config_key:literal, $summary:literal)
                $(or $default:literal)?;)*
        }
    ) => {
        $(
            #[doc = concat!("`", $env, "`: ", $summary)]
            $row_visibility const $name: $crate::Setting<$type> =
                $crate::Setting::new($env, $config_key, $summary)$(.with_default($default))?;
        )*

        $(#[$attribute])*
        $visibility const $table: $crate::SettingTable = &[$({
            const ROW: &$crate::Setting<$type> =
                &$crate::Setting::new($env, $config_key, $summary)$(.with_default($default))?;
            ROW
        }),*];
    };
}
