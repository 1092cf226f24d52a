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
    summary: "sections of Markdown with the headings above them",
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
    marks: Vec<(String, String)>,
    strip_headers: bool,
    each_line: bool,
}

impl MarkdownHeaderSplitter {
    fn new(parameters: &Parameters) -> Self {
        let mut marks = parameters.pairs("headers_to_split_on");
        marks.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.chars().count()));
        let (strip_headers, each_line) = (parameters.flag("strip_headers"), parameters.flag("return_each_line"));
        MarkdownHeaderSplitter { marks, strip_headers, each_line }
    }

    /// Returns the marker and the level name if a line is a heading.
    fn heading(&self, line: &str) -> Option<&(String, String)> {
        self.marks.iter().find(|(mark, _)| {
            line.strip_prefix(mark.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }
}

impl Split for MarkdownHeaderSplitter {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let mut run = Run {
            sections: self,
            open: HeadingStack::default(),
            fence: "",
            lines: Vec::new(),
            chunks: ChunkList::for_text(text),
        };
        let mut start = 0;
        for line in text.split('\n') {
            run.line(line, start..start + line.len())?;
            start += line.len() + 1;
        }
        run.close()?;
        Ok(run.chunks.into_vec())
    }
}

/// State of splitting one text line by line.
struct Run<'s, 't> {
    sections: &'s MarkdownHeaderSplitter,
    open: HeadingStack,
    /// End marker of the open code block, or empty.
    fence: &'static str,
    /// Lines of the open paragraph.
    lines: Vec<(Cow<'t, str>, Range<usize>)>,
    chunks: ChunkList<'t>,
}

impl<'t> Run<'_, 't> {
    fn line(&mut self, line: &'t str, span: Range<usize>) -> Result<(), SplitError> {
        let shown = printable(line.trim_matches(is_space));
        self.update_fence(&shown);
        if !self.fence.is_empty() {
            self.lines.push((shown, span));
        } else if let Some((mark, name)) = self.sections.heading(&shown) {
            self.close()?;
            self.open.push(mark.matches('#').count(), name, shown[mark.len()..].trim_matches(is_space));
            if !self.sections.strip_headers {
                self.lines.push((shown, span));
            }
        } else if shown.is_empty() {
            self.close()?;
        } else {
            self.lines.push((shown, span));
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
        let (text, under) = (lines.join("\n"), self.open.named());
        match self.chunks.last_mut().filter(|_| !self.sections.each_line) {
            Some(last) if last.headings == under => append(last, &text, span.end),
            Some(last) if !self.sections.strip_headers && ends_with_heading(last, under) => {
                last.headings = under.to_vec();
                append(last, &text, span.end);
            }
            _ => self.chunks.push(Chunk { text: text.into(), span: Some(span), headings: under.to_vec() })?,
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
fn ends_with_heading(chunk: &Chunk<'_>, under: &[(String, String)]) -> bool {
    chunk.headings.len() < under.len() && chunk.text.rsplit('\n').next().is_some_and(|line| line.starts_with('#'))
}

fn append(chunk: &mut Chunk<'_>, next: &str, end: usize) {
    let text = chunk.text.to_mut();
    text.push_str("  \n");
    text.push_str(next);
    if let Some(span) = &mut chunk.span {
        span.end = end;
    }
}
