//! Incremental parser of server-sent events, tolerant of the deviations of model servers.
//!
//! By the standard, an event ends at an empty line. Some servers omit it, so data that is complete JSON is an event at
//! once; data over several lines is joined first.

use serde::de::IgnoredAny;

/// Maximum number of attempts to parse the data of one event as JSON: each attempt reads all of its lines.
const MAX_PARSE_ATTEMPTS: u32 = 16;

/// Incremental parser. Characters and line ends may be split across chunks.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    line: Vec<u8>,
    data: Option<String>,
    parse_attempts: u32,
    after_return: bool,
    has_started: bool,
}

impl SseParser {
    /// Parses a chunk and returns the data of the events that it completes.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        let mut remaining = chunk;
        while let Some(&first) = remaining.first() {
            // The second half of a CRLF whose first half ended the previous line.
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                remaining = &remaining[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', remaining) else {
                self.line.extend_from_slice(remaining);
                break;
            };
            self.line.extend_from_slice(&remaining[..end]);
            self.after_return = remaining[end] == b'\r';
            events.extend(self.end_line());
            remaining = &remaining[end + 1..];
        }
        events
    }

    /// Returns the data of the event that the end of the stream completes.
    pub(super) fn finish(&mut self) -> Option<String> {
        let last = if self.line.is_empty() { None } else { self.end_line() };
        last.or_else(|| self.data.take())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line =
            if std::mem::replace(&mut self.has_started, true) { &*line } else { line.trim_start_matches('\u{feff}') };
        if line.is_empty() {
            self.parse_attempts = 0;
            return self.data.take();
        }
        // Comments and the fields `event`, `id` and `retry` are ignored.
        let data = line.strip_prefix("data")?;
        let data = data.strip_prefix(':').or_else(|| data.is_empty().then_some(""))?;
        self.push_data(data.strip_prefix(' ').unwrap_or(data))
    }

    fn push_data(&mut self, line: &str) -> Option<String> {
        let data = match self.data.take() {
            Some(before) => before + "\n" + line,
            None => line.to_owned(),
        };
        self.parse_attempts += 1;
        if self.parse_attempts <= MAX_PARSE_ATTEMPTS && is_complete(&data) {
            self.parse_attempts = 0;
            return Some(data);
        }
        self.data = Some(data);
        None
    }
}

fn is_complete(data: &str) -> bool {
    data.trim() == "[DONE]" || serde_json::from_str::<IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut parser = SseParser::default();
        let mut events: Vec<String> = chunks.into_iter().flat_map(|chunk| parser.push(chunk)).collect();
        events.extend(parser.finish());
        events
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(parse([text.as_bytes()]), expected, "{text:?}");
        let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
        assert_eq!(parse(bytes), expected, "{text:?}, byte by byte");
    }

    #[test]
    fn events_are_parsed_in_all_variants() {
        check("data: {}\n\ndata: [DONE]\n\n", &["{}", "[DONE]"]);
        check("data:{}\n\n", &["{}"]);
        check("data: {}\r\n\r\ndata: 1\r\n\r\n", &["{}", "1"]);
        check("data: {}\r\rdata: 1\r\r", &["{}", "1"]);
        check(": comment\n\nevent: x\nid: 7\nretry: 5\ndata: 1\n\n", &["1"]);
        check("data: {\"a\":\ndata: 1}\n\n", &["{\"a\":\n1}"]);
        check("\u{feff}data: 1\n\n", &["1"]);
        check("data: \"Überdruck €\"\n\n", &["\"Überdruck €\""]);
    }

    #[test]
    fn missing_empty_lines_and_ends_are_tolerated() {
        check("data: {}", &["{}"]);
        check("data: {}\ndata: 1\ndata: [DONE]", &["{}", "1", "[DONE]"]);
        check("data: half\n\n", &["half"]);
        check("data: half", &["half"]);
        check("data\n\n", &[""]);
        check("database: 1\n\n", &[]);
        check("", &[]);
    }

    #[test]
    fn the_lines_of_one_event_are_not_parsed_again_for_each_line() {
        let text = "data: [\n".repeat(200_000);
        assert_eq!(parse([text.as_bytes()]).len(), 1);
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_affect_the_result(text in "(data: ?|\\{\\}|[a€\r\n:]){0,40}", cuts in prop::collection::vec(0usize..200, 0..8)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= bytes.len()).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
            prop_assert_eq!(parse(chunks), parse([bytes]));
        }
    }
}
