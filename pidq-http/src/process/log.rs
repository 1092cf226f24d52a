//! Log initialization: format, level, and the crates that must not log headers.

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::process::log_text::TextFormat;

/// Format of log lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    /// Text if standard error is a terminal, else JSON.
    Auto,
    /// One JSON object per line.
    Json,
    /// Plain text for people; with colors if standard error is a terminal and `NO_COLOR` is not set.
    Text,
}

impl LogFormat {
    /// Returns whether lines are text, for a person to read.
    pub fn is_text(self) -> bool {
        match self {
            LogFormat::Auto => std::io::stderr().is_terminal(),
            LogFormat::Json => false,
            LogFormat::Text => true,
        }
    }
}

/// Returns whether texts on standard error may have colors (<https://no-color.org>).
pub fn has_colors() -> bool {
    let is_disabled = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !is_disabled
}

/// Targets of libraries with the most detailed level of their lines.
const LIBRARY_LEVELS: [(&str, LevelFilter); 6] = [
    // They log headers and frames, and so tokens, at the lowest levels.
    ("h2", LevelFilter::WARN),
    ("hyper", LevelFilter::WARN),
    ("hyper_util", LevelFilter::WARN),
    ("rustls", LevelFilter::WARN),
    // Notices such as "relation already exists, skipping", at every start.
    ("sqlx::postgres::notice", LevelFilter::WARN),
    // An error at every attempt to connect; the health of dependencies is logged once.
    ("async_nats", LevelFilter::OFF),
];

/// Initializes logging to standard error. Only the first call has an effect.
pub fn init_log(format: LogFormat, level: LevelFilter) {
    let quieted = LIBRARY_LEVELS.map(|(name, most)| (name, level.min(most)));
    let targets = Targets::new().with_default(level).with_targets(quieted);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(targets);
    let _ = if format.is_text() {
        registry.with(layer.with_ansi(has_colors()).event_format(TextFormat)).try_init()
    } else {
        registry.with(layer.json().flatten_event(true).with_current_span(false)).try_init()
    };
}
