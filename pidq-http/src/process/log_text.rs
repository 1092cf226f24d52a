//! Text format of log lines, for people: time of day, level, message, and the fields that matter.

use std::fmt::{self, Debug, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Target of the access log.
const ACCESS: &str = "access";

/// Fields of an access line, in this order. The others are in the JSON format only.
const ACCESS_FIELDS: [&str; 5] = ["method", "route", "status", "ms", "principal"];

const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const GREEN: &str = "\x1b[32m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// Formats an event as one line of text.
pub(crate) struct TextFormat;

impl<S, N> FormatEvent<S, N> for TextFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let paint = Paint { has_colors: writer.has_ansi_escapes() };
        write!(writer, "{} ", paint.with(DIM, &time_of_day(SystemTime::now())))?;
        let metadata = event.metadata();
        match metadata.target() {
            ACCESS => writeln!(writer, "{}", access_line(&fields, &paint)),
            _ => writeln!(writer, "{}", message_line(*metadata.level(), &fields, &paint)),
        }
    }
}

/// Returns the time of day in UTC, to the second.
fn time_of_day(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    format!("{:02}:{:02}:{:02}Z", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// Returns the line of a request, such as `200 GET /graph/{job_id} 3 ms ann`.
fn access_line(fields: &Fields, paint: &Paint) -> String {
    let [method, route, status, milliseconds, principal] = ACCESS_FIELDS.map(|name| fields.get(name));
    let color = match status.as_bytes().first() {
        Some(b'5') => RED,
        Some(b'4') => YELLOW,
        _ => GREEN,
    };
    let route = if route.is_empty() { "(no such path)" } else { route };
    let details = paint.with(DIM, format!("{milliseconds} ms {principal}").trim_end());
    format!("{} {method} {route} {details}", paint.with(color, status))
}

/// Returns the line of a message: its level unless it is information, the text, and the fields.
fn message_line(level: Level, fields: &Fields, paint: &Paint) -> String {
    let level = match level {
        Level::ERROR => paint.with(RED, "error: "),
        Level::WARN => paint.with(YELLOW, "warning: "),
        Level::INFO => String::new(),
        Level::DEBUG => paint.with(DIM, "debug: "),
        Level::TRACE => paint.with(DIM, "trace: "),
    };
    let mut line = level + fields.get("message");
    for (name, value) in fields.0.iter().filter(|(name, _)| *name != "message") {
        let separator = if line.is_empty() { "" } else { " " };
        let _ = write!(line, "{separator}{}", paint.with(DIM, &format!("{name}={value}")));
    }
    line
}

/// Colors, if the line is for a terminal.
struct Paint {
    has_colors: bool,
}

impl Paint {
    fn with(&self, color: &str, text: &str) -> String {
        if self.has_colors { format!("{color}{text}{RESET}") } else { text.to_owned() }
    }
}

/// Fields of an event as text, in order.
#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// Returns the value of a field; empty if it is absent.
    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// Adds a value without control characters, which could forge lines or change the terminal.
    fn add(&mut self, field: &Field, value: &str) {
        let clean = value.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        self.0.push((field.name(), clean));
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PLAIN: Paint = Paint { has_colors: false };

    fn fields(list: &[(&'static str, &str)]) -> Fields {
        Fields(list.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
    }

    #[test]
    fn a_request_is_one_short_line() {
        let request = fields(&[
            ("request_id", "r-1"),
            ("method", "GET"),
            ("route", "/graph/{job_id}"),
            ("status", "404"),
            ("ms", "3"),
            ("principal", "ann"),
        ]);
        assert_eq!(access_line(&request, &PLAIN), "404 GET /graph/{job_id} 3 ms ann");
        assert_eq!(access_line(&fields(&[("status", "404"), ("ms", "0")]), &PLAIN), "404  (no such path) 0 ms");
        assert!(access_line(&request, &Paint { has_colors: true }).starts_with("\x1b[33m404\x1b[0m"));
    }

    #[test]
    fn a_message_is_followed_by_its_fields() {
        let event = fields(&[("message", "listening"), ("address", "127.0.0.1:8000")]);
        assert_eq!(message_line(Level::INFO, &event, &PLAIN), "listening address=127.0.0.1:8000");
        assert_eq!(message_line(Level::WARN, &event, &PLAIN), "warning: listening address=127.0.0.1:8000");
        assert_eq!(message_line(Level::INFO, &fields(&[("event", "x")]), &PLAIN), "event=x");
    }

    #[test]
    fn the_time_is_the_time_of_day() {
        assert_eq!(time_of_day(UNIX_EPOCH + Duration::from_secs(86_400 + 3_661)), "01:01:01Z");
    }
}
