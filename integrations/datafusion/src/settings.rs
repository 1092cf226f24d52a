//! Settings of a session: what an error of a drawing does, and the limits for each drawing.

use std::any::Any;
use std::fmt;
use std::str::FromStr;

use datafusion::common::{DataFusionError, Result, config_err};
use datafusion::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use pidq_core::Limits;

/// Effect of an error of one drawing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnError {
    /// Its result is NULL, and `pidq_error` says why.
    #[default]
    Null,
    /// The statement fails.
    Fail,
}

impl fmt::Display for OnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnError::Null => "null",
            OnError::Fail => "fail",
        })
    }
}

impl FromStr for OnError {
    type Err = DataFusionError;

    fn from_str(text: &str) -> Result<OnError> {
        match text.to_ascii_lowercase().as_str() {
            "null" => Ok(OnError::Null),
            "fail" => Ok(OnError::Fail),
            _ => config_err!("`pidq.on_error` is `null` or `fail`, not `{text}`"),
        }
    }
}

/// Settings of a session, `SET pidq.fuel = 1000000`. The limits apply to each drawing, not to a statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Settings {
    /// `pidq.on_error`: `null` or `fail`.
    pub on_error: OnError,
    /// `pidq.fuel`: work per drawing and query.
    pub fuel: u64,
    /// `pidq.memory`: working memory in bytes, in addition to the drawing.
    pub memory: usize,
    /// `pidq.output`: size of a result as JSON in bytes.
    pub output: usize,
    /// `pidq.rows`: rows of a result, and of a traversal.
    pub rows: usize,
    /// `pidq.drawing_size`: size of a drawing in bytes.
    pub drawing_size: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        let Limits { fuel, memory, output, rows, .. } = Limits::default();
        Settings { on_error: OnError::Null, fuel, memory, output, rows, drawing_size: 64 << 20 }
    }
}

/// A setting: its name, what it means, and how it is read and written.
struct Row {
    name: &'static str,
    key: &'static str,
    summary: &'static str,
    value: fn(&Settings) -> String,
    set: fn(&mut Settings, &str) -> Result<()>,
}

const ROWS: &[Row] = &[
    Row {
        name: "on_error",
        key: "pidq.on_error",
        summary: "what an error of one drawing does: its result is `null`, or the statement has to `fail`",
        value: |settings| settings.on_error.to_string(),
        set: |settings, text| {
            settings.on_error = text.parse()?;
            Ok(())
        },
    },
    Row {
        name: "fuel",
        key: "pidq.fuel",
        summary: "work per drawing and query",
        value: |settings| settings.fuel.to_string(),
        set: |settings, text| {
            settings.fuel = number(text)?;
            Ok(())
        },
    },
    Row {
        name: "memory",
        key: "pidq.memory",
        summary: "working memory per drawing, in bytes",
        value: |settings| settings.memory.to_string(),
        set: |settings, text| {
            settings.memory = number(text)?;
            Ok(())
        },
    },
    Row {
        name: "output",
        key: "pidq.output",
        summary: "size of the result of a drawing, in bytes",
        value: |settings| settings.output.to_string(),
        set: |settings, text| {
            settings.output = number(text)?;
            Ok(())
        },
    },
    Row {
        name: "rows",
        key: "pidq.rows",
        summary: "rows of the result of a drawing",
        value: |settings| settings.rows.to_string(),
        set: |settings, text| {
            settings.rows = number(text)?;
            Ok(())
        },
    },
    Row {
        name: "drawing_size",
        key: "pidq.drawing_size",
        summary: "size of a drawing, in bytes",
        value: |settings| settings.drawing_size.to_string(),
        set: |settings, text| {
            settings.drawing_size = number(text)?;
            Ok(())
        },
    },
];

fn number<T: FromStr>(text: &str) -> Result<T> {
    text.parse().or_else(|_| config_err!("`{text}` is not a whole number"))
}

impl Settings {
    /// Returns the settings of a session, not above a ceiling.
    pub(crate) fn of_session(config: &ConfigOptions, ceiling: Option<&Settings>) -> Settings {
        let own = config.extensions.get::<Settings>().cloned().unwrap_or_default();
        match ceiling {
            None => own,
            Some(ceiling) => Settings {
                on_error: own.on_error,
                fuel: own.fuel.min(ceiling.fuel),
                memory: own.memory.min(ceiling.memory),
                output: own.output.min(ceiling.output),
                rows: own.rows.min(ceiling.rows),
                drawing_size: own.drawing_size.min(ceiling.drawing_size),
            },
        }
    }

    pub(crate) fn limits(&self) -> Limits<'static> {
        let Settings { fuel, memory, output, rows, .. } = *self;
        Limits { fuel, memory, output, rows, ..Limits::default() }
    }
}

impl ConfigExtension for Settings {
    const PREFIX: &'static str = "pidq";
}

impl ExtensionOptions for Settings {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match ROWS.iter().find(|row| row.name == key) {
            Some(row) => (row.set)(self, value),
            None => config_err!("there is no setting `pidq.{key}`"),
        }
    }

    /// With the prefix: a cluster sends the entries as they are to its executors.
    fn entries(&self) -> Vec<ConfigEntry> {
        let entry =
            |row: &Row| ConfigEntry { key: row.key.into(), value: Some((row.value)(self)), description: row.summary };
        ROWS.iter().map(entry).collect()
    }
}
