//! Regular expressions that a run computes, from the data or from parts of the query.

use std::sync::Arc;

use hashbrown::{Equivalent, HashMap};

use super::EvalContext;
use super::plan::{Constant, Plan};
use crate::error::{Code, Error, Result};
use crate::limits::MAX_REGEX_SIZE;
use crate::regex::Regex;
use crate::value::Value;
use crate::value::write::describe;

/// Compiled regular expressions of a run. A run begins with an empty one, so that its fuel does not depend on earlier
/// runs.
#[derive(Default)]
pub(super) struct RegexCache {
    entries: HashMap<Key, Arc<Regex>>,
    /// Size of the entries in bytes. Invariant: at most [`MAX_REGEX_SIZE`], which a single entry may have.
    size: usize,
}

/// Pattern and flags.
#[derive(Eq, Hash, PartialEq)]
struct Key(Box<str>, Box<str>);

#[derive(Hash)]
struct KeyRef<'k>(&'k str, &'k str);

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *key.0 == *self.0 && *key.1 == *self.1
    }
}

impl RegexCache {
    fn insert(&mut self, pattern: &str, flags: &str, regex: &Arc<Regex>) {
        let size = regex.size().saturating_add(pattern.len());
        if self.size.saturating_add(size) > MAX_REGEX_SIZE {
            (self.entries, self.size) = (HashMap::new(), 0);
        }
        if size <= MAX_REGEX_SIZE {
            self.entries.insert(Key(pattern.into(), flags.into()), regex.clone());
            self.size += size;
        }
    }
}

impl EvalContext<'_> {
    /// Returns the regular expression of a computed pattern, with the flags that the compiler has added. `PQ2002` for a
    /// value that is not a string, `PQ2008` for a malformed or too large pattern.
    pub(crate) fn regex_from(&mut self, pattern: Value<'_>, flags: Option<&Plan>) -> Result<Arc<Regex>> {
        let text = pattern.as_str().ok_or_else(|| {
            let error = Error::new(Code::StringExpected, "A pattern expected, which is a string");
            let help = if pattern.is_null() { "a property may be missing" } else { "`string(...)` converts a value" };
            error.with_label(format!("the pattern is {}", describe(pattern))).with_help(help)
        })?;
        match flags {
            Some(Plan::Constant(Constant::Text(flags))) => self.compiled_regex(text, flags),
            _ => self.compiled_regex(text, ""),
        }
    }

    /// Returns a regular expression, which is compiled and charged unless the cache has it.
    fn compiled_regex(&mut self, pattern: &str, flags: &str) -> Result<Arc<Regex>> {
        /// Fuel for compiling the smallest pattern, and for each step of its program.
        const COMPILED: (u64, u64) = (500, 20);
        self.charge_bytes(pattern.len())?;
        if let Some(regex) = self.regex_cache.entries.get(&KeyRef(pattern, flags)) {
            return Ok(regex.clone());
        }
        self.charge(COMPILED.0)?;
        let regex = Arc::new(Regex::new(pattern, flags).map_err(of_data)?);
        self.charge(COMPILED.1.saturating_mul(regex.program_size()))?;
        self.regex_cache.insert(pattern, flags, &regex);
        Ok(regex)
    }
}

/// Returns the error of a pattern as one of the data: the query is valid.
fn of_data(error: Error) -> Error {
    let invalid = Error::new(Code::InvalidValue, error.message()).with_label("its pattern is computed");
    match error.help() {
        Some(help) => invalid.with_help(help),
        None => invalid,
    }
}
