//! Sections of Markdown: what stands under the same headings.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use fancy_regex::Regex;

use super::headings::Open;
use super::length::is_space;
use super::parameters::{Kind, Parameter, Parameters};
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
        let mut run = Run { sections: self, open: Open::default(), fence: "", lines: Vec::new(), blocks: Vec::new() };
        let mut start = 0;
        for line in text.split('\n') {
            run.line(line, start..start + line.len());
            start += line.len() + 1;
        }
        run.close(run.open.clone());
        Ok(if self.each_line { run.blocks } else { together(run.blocks, self.strip_headers) })
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
    blocks: Vec<Chunk<'t>>,
}

impl<'t> Run<'_, 't> {
    fn line(&mut self, line: &'t str, span: Range<usize>) {
        let shown = printable(line.trim_matches(is_space));
        let above = self.open.clone();
        self.fence_of(&shown);
        if !self.fence.is_empty() {
            self.lines.push((shown, span));
        } else if let Some((mark, name)) = self.sections.heading(&shown) {
            self.open.open(mark.matches('#').count(), name, shown[mark.len()..].trim_matches(is_space));
            self.close(above);
            if !self.sections.strip_headers {
                self.lines.push((shown, span));
            }
        } else if shown.is_empty() {
            self.close(above);
        } else {
            self.lines.push((shown, span));
        }
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

    /// Ends the paragraph that is open.
    fn close(&mut self, under: Open) {
        let (Some((_, first)), Some((_, last))) = (self.lines.first(), self.lines.last()) else { return };
        let span = first.start..last.end;
        let lines: Vec<_> = self.lines.drain(..).map(|(line, _)| line).collect();
        self.blocks.push(Chunk { text: lines.join("\n").into(), span: Some(span), headings: under.named().to_vec() });
    }
}

/// A line without characters that cannot be seen: of Unicode's "other" and separators, only the space stays.
#[expect(clippy::expect_used, reason = "a pattern that is a constant")]
fn printable(line: &str) -> Cow<'_, str> {
    static UNSEEN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\p{C}\p{Z}&&[^ ]]+").expect("a pattern"));
    if line.bytes().all(|b| (b' '..0x7f).contains(&b)) { Cow::Borrowed(line) } else { UNSEEN.replace_all(line, "") }
}

/// Paragraphs under the same headings as one chunk.
fn together(blocks: Vec<Chunk<'_>>, strip_headers: bool) -> Vec<Chunk<'_>> {
    let mut sections: Vec<Chunk<'_>> = Vec::new();
    for block in blocks {
        match sections.last_mut() {
            Some(last) if last.headings == block.headings => append(last, block),
            Some(last) if !strip_headers && is_title_of(last, &block) => {
                last.headings.clone_from(&block.headings);
                append(last, block);
            }
            _ => sections.push(block),
        }
    }
    sections
}

/// Whether a chunk ends with a heading that the next one stands under.
fn is_title_of(chunk: &Chunk<'_>, next: &Chunk<'_>) -> bool {
    chunk.headings.len() < next.headings.len()
        && chunk.text.rsplit('\n').next().is_some_and(|line| line.starts_with('#'))
}

fn append<'t>(chunk: &mut Chunk<'t>, next: Chunk<'t>) {
    let text = chunk.text.to_mut();
    text.push_str("  \n");
    text.push_str(&next.text);
    if let (Some(span), Some(next)) = (&mut chunk.span, next.span) {
        span.end = next.end;
    }
}
