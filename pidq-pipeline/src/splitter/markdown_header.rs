//! Sections of Markdown: what stands under the same headings.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use fancy_regex::Regex;

use super::headings::Open;
use super::length::is_space;
use super::parameters::{Kind, Parameter, Parameters};
use super::room::Chunks;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The row.
pub const MARKDOWN_HEADER: Splitter = Splitter {
    name: "markdown_header",
    summary: "sections of Markdown with the headings they stand under",
    parameters: &[
        Parameter {
            name: "headers_to_split_on",
            kind: Kind::Pairs,
            default: r####"[["#", "h1"], ["##", "h2"], ["###", "h3"]]"####,
            summary: "marks of headings, and the names of their levels",
        },
        Parameter {
            name: "strip_headers",
            kind: Kind::Flag,
            default: "true",
            summary: "whether headings are left out of the text",
        },
        Parameter {
            name: "return_each_line",
            kind: Kind::Flag,
            default: "false",
            summary: "whether paragraphs stay apart",
        },
    ],
    build: |parameters| Ok(Box::new(Sections::new(parameters))),
};

struct Sections {
    marks: Vec<(String, String)>,
    strip_headers: bool,
    each_line: bool,
}

impl Sections {
    fn new(parameters: &Parameters) -> Self {
        let mut marks = parameters.pairs("headers_to_split_on");
        marks.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.chars().count()));
        let (strip_headers, each_line) = (parameters.flag("strip_headers"), parameters.flag("return_each_line"));
        Sections { marks, strip_headers, each_line }
    }

    /// The mark and the name of the level, if a line is a heading.
    fn heading(&self, line: &str) -> Option<&(String, String)> {
        self.marks.iter().find(|(mark, _)| {
            line.strip_prefix(mark.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }
}

impl Split for Sections {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let mut run =
            Run { sections: self, open: Open::default(), fence: "", lines: Vec::new(), chunks: Chunks::of(text) };
        let mut start = 0;
        for line in text.split('\n') {
            run.line(line, start..start + line.len())?;
            start += line.len() + 1;
        }
        run.close()?;
        Ok(run.chunks.into_list())
    }
}

/// One text being read line by line.
struct Run<'s, 't> {
    sections: &'s Sections,
    open: Open,
    /// What ends the code block that is open.
    fence: &'static str,
    /// Lines of the paragraph that is open.
    lines: Vec<(Cow<'t, str>, Range<usize>)>,
    chunks: Chunks<'t>,
}

impl<'t> Run<'_, 't> {
    fn line(&mut self, line: &'t str, span: Range<usize>) -> Result<(), Refusal> {
        let shown = printable(line.trim_matches(is_space));
        self.fence_of(&shown);
        if !self.fence.is_empty() {
            self.lines.push((shown, span));
        } else if let Some((mark, name)) = self.sections.heading(&shown) {
            self.close()?;
            self.open.open(mark.matches('#').count(), name, shown[mark.len()..].trim_matches(is_space));
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

    /// Opens and ends code blocks.
    fn fence_of(&mut self, line: &str) {
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

    /// Ends the paragraph that is open. Those under the same headings are one chunk, unless they shall stay apart.
    fn close(&mut self) -> Result<(), Refusal> {
        let (Some((_, first)), Some((_, last))) = (self.lines.first(), self.lines.last()) else { return Ok(()) };
        let span = first.start..last.end;
        let lines: Vec<_> = self.lines.drain(..).map(|(line, _)| line).collect();
        let (text, under) = (lines.join("\n"), self.open.named());
        match self.chunks.last_mut().filter(|_| !self.sections.each_line) {
            Some(last) if last.headings == under => append(last, &text, span.end),
            Some(last) if !self.sections.strip_headers && is_title_of(last, under) => {
                last.headings = under.to_vec();
                append(last, &text, span.end);
            }
            _ => self.chunks.push(Chunk { text: text.into(), span: Some(span), headings: under.to_vec() })?,
        }
        Ok(())
    }
}

/// A line without characters that cannot be seen: of Unicode's "other" and separators, only the space stays.
#[expect(clippy::expect_used, reason = "a pattern that is a constant")]
fn printable(line: &str) -> Cow<'_, str> {
    static UNSEEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{C}\p{Z}&&[^ ]]+").expect("a pattern"));
    if line.bytes().all(|b| (b' '..0x7f).contains(&b)) { Cow::Borrowed(line) } else { UNSEEN.replace_all(line, "") }
}

/// Whether a chunk ends with a heading that what follows stands under.
fn is_title_of(chunk: &Chunk<'_>, under: &[(String, String)]) -> bool {
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
