//! Flags of a regular expression.

use crate::error::{Code, Error, Result};

/// Flags that affect matching. `d` and `g` have no effect here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// `i`
    pub ignore_case: bool,
    /// `m`
    pub multiline: bool,
    /// `s`
    pub dot_all: bool,
    /// `u` or `v`: the strict syntax.
    pub unicode: bool,
    /// `v`: set operations in classes.
    pub sets: bool,
    /// `y`: a match begins exactly where the search begins.
    pub sticky: bool,
}

impl Flags {
    pub fn parse(text: &str) -> Result<Flags> {
        let mut flags = Flags::default();
        for (at, flag) in text.char_indices() {
            if text[..at].contains(flag) {
                return Err(invalid_flags(text).with_help(format!("the flag `{flag}` is given twice")));
            }
            flags.set(flag).ok_or_else(|| invalid_flags(text).with_help(flags_help()))?;
        }
        if text.contains('u') && text.contains('v') {
            return Err(invalid_flags(text).with_help("`u` and `v` exclude each other"));
        }
        Ok(flags)
    }

    fn set(&mut self, flag: char) -> Option<()> {
        match flag {
            'd' | 'g' => {}
            'i' => self.ignore_case = true,
            'm' => self.multiline = true,
            's' => self.dot_all = true,
            'u' => self.unicode = true,
            'v' => (self.unicode, self.sets) = (true, true),
            'y' => self.sticky = true,
            _ => return None,
        }
        Some(())
    }

    /// Returns true if case is folded by Unicode rules rather than by upper case.
    pub fn folds_unicode(self) -> bool {
        self.ignore_case && self.unicode
    }
}

fn invalid_flags(flags: &str) -> Error {
    let shown: String = flags.chars().take(20).collect();
    Error::new(Code::BadRegexFlag, format!("Invalid flags supplied to RegExp constructor '{shown}'"))
}

fn flags_help() -> &'static str {
    "the flags are `d`, `g`, `i`, `m`, `s`, `u`, `v` and `y`"
}
