//! The `markdown_header` splitter: sections of Markdown with their headings.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use fancy_regex::Regex;

use super::headings::HeadingStack;
use super::length::is_space;
use super::parameters::{Parameter, ParameterKind, Parameters};
use super::size_limit::ChunkList;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `markdown_header` splitter.
pub const MARKDOWN_HEADER: Splitter = Splitter {
    name: "markdown_header",
    summary: "sections of Markdown, each with the headings above it",
    parameters: &[
        Parameter {
            name: "headers_to_split_on",
            kind: ParameterKind::Pairs,
            default: r####"[["#", "h1"], ["##", "h2"], ["###", "h3"]]"####,
            summary: "heading markers and the names of their levels",
        },
        Parameter {
            name: "strip_headers",
            kind: ParameterKind::Flag,
            default: "true",
            summary: "whether headings are removed from the text",
        },
        Parameter {
            name: "return_each_line",
            kind: ParameterKind::Flag,
            default: "false",
            summary: "whether each paragraph is its own chunk",
        },
    ],
    build: |parameters| Ok(Box::new(MarkdownHeaderSplitter::new(parameters))),
};

struct MarkdownHeaderSplitter {
    markers: Vec<(String, String)>,
    strip_headers: bool,
    each_line: bool,
}

impl MarkdownHeaderSplitter {
    fn new(parameters: &Parameters) -> Self {
        let mut markers = parameters.pairs("headers_to_split_on");
        markers.sort_by_key(|(marker, _)| std::cmp::Reverse(marker.chars().count()));
        let (strip_headers, each_line) = (parameters.flag("strip_headers"), parameters.flag("return_each_line"));
        MarkdownHeaderSplitter { markers, strip_headers, each_line }
    }

    /// Returns the marker and the level name if a line is a heading.
    fn heading(&self, line: &str) -> Option<&(String, String)> {
        self.markers.iter().find(|(marker, _)| {
            line.strip_prefix(marker.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }
}

impl Split for MarkdownHeaderSplitter {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let mut state = SplitState {
            splitter: self,
            open: HeadingStack::default(),
            fence: "",
            lines: Vec::new(),
            chunks: ChunkList::for_text(text),
        };
        let mut start = 0;
        for line in text.split('\n') {
            state.line(line, start..start + line.len())?;
            start += line.len() + 1;
        }
        state.close()?;
        Ok(state.chunks.into_vec())
    }
}

/// State of splitting one text line by line.
struct SplitState<'s, 't> {
    splitter: &'s MarkdownHeaderSplitter,
    open: HeadingStack,
    /// End marker of the open code block, or empty.
    fence: &'static str,
    /// Lines of the open paragraph.
    lines: Vec<(Cow<'t, str>, Range<usize>)>,
    chunks: ChunkList<'t>,
}

impl<'t> SplitState<'_, 't> {
    fn line(&mut self, line: &'t str, span: Range<usize>) -> Result<(), SplitError> {
        let content = printable(line.trim_matches(is_space));
        self.update_fence(&content);
        if !self.fence.is_empty() {
            self.lines.push((content, span));
        } else if let Some((marker, name)) = self.splitter.heading(&content) {
            self.close()?;
            self.open.push(marker.matches('#').count(), name, content[marker.len()..].trim_matches(is_space));
            if !self.splitter.strip_headers {
                self.lines.push((content, span));
            }
        } else if content.is_empty() {
            self.close()?;
        } else {
            self.lines.push((content, span));
        }
        Ok(())
    }

    /// Opens and closes code blocks.
    fn update_fence(&mut self, line: &str) {
        if !self.fence.is_empty() {
            if line.starts_with(self.fence) {
                self.fence = "";
            }
        } else if line.starts_with("```") && line.matches("```").count() == 1 {
            self.fence = "```";
        } else if line.starts_with("~~~") {
            self.fence = "~~~";
        }
    }

    /// Closes the open paragraph. Paragraphs under the same headings form one chunk, unless each is its own.
    fn close(&mut self) -> Result<(), SplitError> {
        let (Some((_, first)), Some((_, last))) = (self.lines.first(), self.lines.last()) else { return Ok(()) };
        let span = first.start..last.end;
        let lines: Vec<_> = self.lines.drain(..).map(|(line, _)| line).collect();
        let (text, headings) = (lines.join("\n"), self.open.named());
        match self.chunks.last_mut().filter(|_| !self.splitter.each_line) {
            Some(last) if last.headings == headings => append(last, &text, span.end),
            Some(last) if !self.splitter.strip_headers && ends_with_heading(last, headings) => {
                last.headings = headings.to_vec();
                append(last, &text, span.end);
            }
            _ => self.chunks.push(Chunk { text: text.into(), span: Some(span), headings: headings.to_vec() })?,
        }
        Ok(())
    }
}

/// Removes invisible characters from a line: of Unicode's categories "other" and "separator", only the space is kept.
#[expect(clippy::expect_used, reason = "the pattern is a constant")]
fn printable(line: &str) -> Cow<'_, str> {
    static INVISIBLE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[\p{C}\p{Z}&&[^ ]]+").expect("the pattern is valid"));
    if line.bytes().all(|b| (b' '..0x7f).contains(&b)) { Cow::Borrowed(line) } else { INVISIBLE.replace_all(line, "") }
}

/// Returns whether a chunk ends with a heading of the following paragraph.
fn ends_with_heading(chunk: &Chunk<'_>, headings: &[(String, String)]) -> bool {
    chunk.headings.len() < headings.len() && chunk.text.rsplit('\n').next().is_some_and(|line| line.starts_with('#'))
}

fn append(chunk: &mut Chunk<'_>, next: &str, end: usize) {
    let text = chunk.text.to_mut();
    text.push_str("  \n");
    text.push_str(next);
    if let Some(span) = &mut chunk.span {
        span.end = end;
    }
}
