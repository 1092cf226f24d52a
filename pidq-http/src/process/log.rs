//! Log initialization: format, level, and the crates that must not log headers.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Format of log lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Plain text.
    Text,
}

/// Crates that log headers and frames, and so tokens, at the lowest levels.
const QUIET_CRATES: [&str; 4] = ["h2", "hyper", "hyper_util", "rustls"];

/// Initializes logging to standard error. Only the first call has an effect.
pub fn init_log(format: LogFormat, level: LevelFilter) {
    let quieted = QUIET_CRATES.map(|name| (name, level.min(LevelFilter::WARN)));
    let targets = Targets::new().with_default(level).with_targets(quieted);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(targets);
    let _ = match format {
        LogFormat::Json => registry.with(layer.json().flatten_event(true).with_current_span(false)).try_init(),
        LogFormat::Text => registry.with(layer.with_ansi(false)).try_init(),
    };
}
