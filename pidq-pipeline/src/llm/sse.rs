//! Incremental parser of server-sent events, tolerant of the deviations of model servers.
//!
//! By the standard, an event ends at an empty line. Some servers omit it, so data that is complete JSON is an event at
//! once; data over several lines is joined first.

use std::num::NonZeroUsize;

use serde::de::IgnoredAny;
use sse_core::{SseDecoder, SseEvent};

use super::MAX_RESPONSE_SIZE;

/// Maximum number of attempts to parse the data of one event as JSON: each attempt reads all of its lines.
const MAX_PARSE_ATTEMPTS: u32 = 16;

/// Maximum size of the data of an event in bytes. A larger event would be skipped; no response contains one.
const MAX_EVENT_SIZE: NonZeroUsize = NonZeroUsize::new(MAX_RESPONSE_SIZE).expect("the limit is not 0");

/// End of an event, even after a line that ends with `\r`, whose line end may continue with `\n`.
const EVENT_END: &[u8] = b"\n\n";

/// Incremental parser. Characters and line ends may be split across chunks.
#[derive(Debug)]
pub(super) struct SseParser {
    decoder: SseDecoder,
    parse_attempts: u32,
}

impl Default for SseParser {
    fn default() -> SseParser {
        SseParser { decoder: SseDecoder::with_limit(MAX_EVENT_SIZE), parse_attempts: 0 }
    }
}

impl SseParser {
    /// Parses a chunk and returns the data of the events that it completes.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<String> {
        let parts = chunk.split_inclusive(|byte| matches!(byte, b'\n' | b'\r'));
        parts.filter_map(|part| self.push_part(part)).collect()
    }

    /// Returns the data of the event that the end of the stream completes.
    pub(super) fn finish(&mut self) -> Option<String> {
        next_event(&mut self.decoder, EVENT_END)
    }

    /// Parses a part of a line, with its end if it has one.
    fn push_part(&mut self, part: &[u8]) -> Option<String> {
        let ends_line = matches!(part, [.., b'\n' | b'\r']);
        let mut event = next_event(&mut self.decoder, part);
        if event.is_none() && ends_line {
            event = self.take_complete_data();
        }
        event.inspect(|_| self.parse_attempts = 0)
    }

    /// Returns the data before the empty line that ends the event, if it is complete JSON.
    fn take_complete_data(&mut self) -> Option<String> {
        if self.parse_attempts == MAX_PARSE_ATTEMPTS {
            return None;
        }
        let mut after_event = self.decoder.clone();
        let data = next_event(&mut after_event, EVENT_END)?;
        self.parse_attempts += 1;
        is_complete(&data).then(|| {
            self.decoder = after_event;
            data
        })
    }
}

/// Returns the data of the event that the bytes complete. Fields other than `data` are ignored.
fn next_event(decoder: &mut SseDecoder, mut bytes: &[u8]) -> Option<String> {
    loop {
        match decoder.next(&mut bytes)? {
            Ok(SseEvent::Message(message)) => return Some(message.data),
            Ok(SseEvent::Retry(_)) | Err(_) => {}
        }
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

    #[test]
    fn an_event_above_the_limit_is_skipped() {
        let line = "data: [\"".to_owned() + &"x".repeat(1 << 20) + "\"\n";
        let text = line.repeat(9) + "\ndata: 1\n\n";
        assert_eq!(parse([text.as_bytes()]), ["1"]);
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
