//! Elements that a browser does not show: by the attribute `hidden` or by their inline style. Style sheets are not read.

use html5gum::emitters::default::StartTag;

use super::{ElementKind, attribute, kind};

/// Elements without content.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// Elements whose end tag may be missing.
struct ImpliedEnd {
    names: &'static [&'static str],
    /// Elements that follow: their start tag ends the element, and so does their end tag.
    followers: &'static [&'static str],
    /// Elements that contain it: their end tag ends the element.
    containers: &'static [&'static str],
}

const IMPLIED_ENDS: &[ImpliedEnd] = &[
    ImpliedEnd { names: &["li"], followers: &["li"], containers: &["ul", "ol", "menu", "dir"] },
    ImpliedEnd { names: &["dt", "dd"], followers: &["dt", "dd"], containers: &["dl"] },
    ImpliedEnd {
        names: &["td", "th"],
        followers: &["td", "th", "tr", "thead", "tbody", "tfoot"],
        containers: &["table"],
    },
    ImpliedEnd { names: &["tr"], followers: &["tr", "thead", "tbody", "tfoot"], containers: &["table"] },
    ImpliedEnd { names: &["thead", "tbody", "tfoot"], followers: &["thead", "tbody", "tfoot"], containers: &["table"] },
];

/// Place of a tag relative to an invisible element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    Inside,
    /// The end tag of the element.
    End,
    /// After the element, whose end tag is missing.
    After,
}

/// An invisible element whose end was not found yet.
pub struct Invisible {
    name: String,
    /// Number of open elements with this name, and of open containers in it.
    depth: usize,
    containers: usize,
    implied_end: Option<&'static ImpliedEnd>,
}

impl Invisible {
    pub fn new(name: String) -> Invisible {
        let implied_end = IMPLIED_ENDS.iter().find(|row| row.names.contains(&&*name));
        Invisible { name, depth: 1, containers: 0, implied_end }
    }

    /// Takes a start tag.
    pub fn start(&mut self, name: &str, is_self_closing: bool) -> Place {
        if self.is_ended_by(name, false) {
            return Place::After;
        }
        if !is_self_closing {
            self.depth += usize::from(self.name == name);
            self.containers += usize::from(self.is_container(name));
        }
        Place::Inside
    }

    /// Takes an end tag.
    pub fn end(&mut self, name: &str) -> Place {
        if self.name == name {
            self.depth -= 1;
            return if self.depth == 0 { Place::End } else { Place::Inside };
        }
        if self.is_ended_by(name, true) {
            return Place::After;
        }
        self.containers = self.containers.saturating_sub(usize::from(self.is_container(name)));
        Place::Inside
    }

    fn is_container(&self, name: &str) -> bool {
        self.implied_end.is_some_and(|row| row.containers.contains(&name))
    }

    fn is_ended_by(&self, name: &str, is_end: bool) -> bool {
        match self.implied_end {
            Some(row) => {
                self.containers == 0 && (row.followers.contains(&name) || is_end && row.containers.contains(&name))
            }
            // A paragraph has no blocks inside.
            None => self.name == "p" && kind(name).is_some_and(|kind| kind != ElementKind::Break) || name == "body",
        }
    }
}

/// Returns true if an element is not shown although its kind is.
pub fn is_invisible(name: &str, tag: &StartTag<()>) -> bool {
    // Pages hide their body until scripts have run.
    let can_hide = !matches!(name, "html" | "body" | "head");
    can_hide
        && (attribute(tag, "hidden").is_some() || attribute(tag, "style").is_some_and(|style| is_hidden_by(&style)))
}

/// Returns true if an element has no end.
pub fn is_void(name: &str) -> bool {
    VOID.contains(&name)
}

/// Returns true if an inline style hides the text.
fn is_hidden_by(style: &str) -> bool {
    style.to_ascii_lowercase().split(';').filter_map(|declaration| declaration.split_once(':')).any(|(name, value)| {
        let value = value.trim().trim_end_matches("!important").trim_end();
        match name.trim() {
            "display" => value == "none",
            "visibility" => matches!(value, "hidden" | "collapse"),
            "opacity" | "font-size" => is_zero(value),
            _ => false,
        }
    })
}

/// Returns true for `0`, `0.0`, `0px` and `0%`.
fn is_zero(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.parse() == Ok(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_hide_text() {
        for style in [
            "display:none",
            "color: red; DISPLAY : None !important",
            "visibility:hidden",
            "opacity: 0.0",
            "font-size:0px",
            "font-size:0",
        ] {
            assert!(is_hidden_by(style), "{style}");
        }
        for style in
            ["", "display:block", "opacity:0.5", "font-size:10px", "font-size:larger", "display", "none:display"]
        {
            assert!(!is_hidden_by(style), "{style}");
        }
    }
}
