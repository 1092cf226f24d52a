//! Events of a JSON text, as option `--stream` of jq defines them: `[path, value]` for each value that is no container or
//! an empty one, and `[path]` for the end of each other list or object, with the path of its last item.

use std::ops::Range;

/// Iterator of the events of a well-formed JSON text, each as JSON.
#[derive(Default)]
pub struct JsonEvents {
    text: Vec<u8>,
    /// Start of what was not read yet.
    at: usize,
    path: Vec<Step>,
}

/// Step of a path.
enum Step {
    Index(usize),
    /// Place of a key in the text, with its quotes.
    Key(Range<usize>),
}

impl JsonEvents {
    pub fn new(text: Vec<u8>) -> JsonEvents {
        JsonEvents { text, at: 0, path: Vec::new() }
    }

    /// Returns true if no event is left.
    pub fn is_at_end(&mut self) -> bool {
        self.skip_white_space();
        self.at >= self.text.len()
    }

    /// Enters a list or an object. Returns it if it is empty, as a leaf.
    fn enter(&mut self, start: usize) -> Option<Vec<u8>> {
        let is_list = self.text[start] == b'[';
        self.at = start + 1;
        self.skip_white_space();
        if matches!(self.text.get(self.at), Some(b']' | b'}') | None) {
            self.at = self.text.len().min(self.at + 1);
            return Some(self.event(Some(if is_list { b"[]" } else { b"{}" })));
        }
        let first = if is_list { Step::Index(0) } else { self.read_key() };
        self.path.push(first);
        None
    }

    /// Goes on to the next item after a comma.
    fn advance(&mut self) {
        self.at += 1;
        let next = match self.path.pop() {
            Some(Step::Index(index)) => Step::Index(index + 1),
            _ => self.read_key(),
        };
        self.path.push(next);
    }

    /// Leaves a list or an object.
    fn leave(&mut self) -> Vec<u8> {
        self.at += 1;
        let event = self.event(None);
        self.path.pop();
        event
    }

    fn read_key(&mut self) -> Step {
        self.skip_white_space();
        let start = self.at;
        self.at = self.scalar_end(start);
        let key = start..self.at;
        self.skip_white_space();
        // The colon.
        self.at = self.text.len().min(self.at + 1);
        Step::Key(key)
    }

    fn read_scalar(&mut self) -> Vec<u8> {
        let start = self.at;
        self.at = self.scalar_end(start);
        self.event(Some(&self.text[start..self.at]))
    }

    /// Returns the end of a string, number or literal.
    fn scalar_end(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        if rest.first() != Some(&b'"') {
            let len =
                rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}' | b':') || byte.is_ascii_whitespace());
            return self.text.len().min(start + len.unwrap_or(rest.len()).max(1));
        }
        let mut is_escaped = false;
        let end = rest.iter().skip(1).position(|byte| {
            let ends = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            ends
        });
        end.map_or(self.text.len(), |len| start + len + 2)
    }

    fn event(&self, value: Option<&[u8]>) -> Vec<u8> {
        let mut event = b"[[".to_vec();
        for (position, step) in self.path.iter().enumerate() {
            if position > 0 {
                event.push(b',');
            }
            match step {
                Step::Index(index) => event.extend(index.to_string().into_bytes()),
                Step::Key(range) => event.extend_from_slice(&self.text[range.clone()]),
            }
        }
        event.push(b']');
        if let Some(value) = value {
            event.push(b',');
            event.extend_from_slice(value);
        }
        event.push(b']');
        event
    }

    fn skip_white_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
    }
}

impl Iterator for JsonEvents {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            self.skip_white_space();
            match self.text.get(self.at)? {
                b',' => self.advance(),
                b']' | b'}' => return Some(self.leave()),
                b'[' | b'{' => {
                    if let Some(leaf) = self.enter(self.at) {
                        return Some(leaf);
                    }
                }
                _ => return Some(self.read_scalar()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<String> {
        JsonEvents::new(text.into()).map(|event| String::from_utf8(event).expect("UTF-8")).collect()
    }

    #[test]
    fn leaves_and_ends_have_their_paths() {
        let cases: [(&str, &[&str]); 8] = [
            ("3", &["[[],3]"]),
            (r#"" , [ \" \\""#, &[r#"[[]," , [ \" \\"]"#]),
            ("[]", &["[[],[]]"]),
            (" { } ", &["[[],{}]"]),
            ("[1, [2,3]]", &["[[0],1]", "[[1,0],2]", "[[1,1],3]", "[[1,1]]", "[[1]]"]),
            (
                r#"{"a":[1,{"b":2}],"c":null}"#,
                &[
                    r#"[["a",0],1]"#,
                    r#"[["a",1,"b"],2]"#,
                    r#"[["a",1,"b"]]"#,
                    r#"[["a",1]]"#,
                    r#"[["c"],null]"#,
                    r#"[["c"]]"#,
                ],
            ),
            (
                r#"{ "a\"," : { } , "b" : [ [ ] ] }"#,
                &[r#"[["a\","],{}]"#, r#"[["b",0],[]]"#, r#"[["b",0]]"#, r#"[["b"]]"#],
            ),
            ("[\n-1.5e3\n,\ttrue ]", &["[[0],-1.5e3]", "[[1],true]", "[[1]]"]),
        ];
        for (text, expected) in cases {
            assert_eq!(events(text), expected, "{text}");
        }
    }

    #[test]
    fn a_malformed_text_ends() {
        for text in ["", "[", "{", "{\"a", "{\"a\"", "{\"a\":", "]", "[,", ",", ":", "{\"a\":1]", "\"\\", "{:", "[[[{{"]
        {
            assert!(events(text).len() <= text.len() + 1, "{text}");
        }
    }
}
