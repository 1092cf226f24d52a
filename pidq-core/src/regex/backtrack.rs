//! The backtracking engine: exact about JavaScript, and bounded.
//!
//! No recursion, and each step looks at one character, so the bounds on steps and on the stack bound the time and the
//! memory of a match, whatever the pattern.

use super::flags::Flags;
use super::linear::Spans;
use super::program::{Program, Step};
use super::set;
use super::tree::Assert;
use crate::error::{Code, Error, Result};

/// Steps allowed for each backtrack allowed. Most steps of a decent pattern do not backtrack.
const STEPS_PER_BACKTRACK: usize = 32;
/// Steps that are worth a step of a query.
const STEPS_PER_FUEL: u64 = 8;
/// A register without a place.
const UNSET: usize = usize::MAX;

/// What each search may take, and what all of them took.
#[derive(Debug)]
pub(crate) struct Effort {
    backtracks: usize,
    steps: u64,
}

impl Effort {
    /// `backtracks` are for each search.
    pub fn new(backtracks: usize) -> Effort {
        Effort { backtracks, steps: 0 }
    }

    /// What the searches cost beyond their [`Regex::search_cost`](super::Regex::search_cost).
    pub fn fuel(&self) -> u64 {
        self.steps / STEPS_PER_FUEL
    }
}

/// What to do on the way back.
#[derive(Clone, Copy)]
enum Back {
    /// Go on at `pc` from the place `at`.
    Choice { pc: usize, at: usize },
    /// Likewise after a negative lookaround whose body has failed: the regular way, not counted as a backtrack.
    Otherwise { pc: usize, at: usize },
    /// Set a register to what it was.
    Undo { register: usize, value: usize },
}

/// One search.
struct Run<'p, 't> {
    program: &'p Program,
    text: &'t str,
    at: usize,
    registers: Vec<usize>,
    stack: Vec<Back>,
    /// How many backtracks, entries of the stack and steps are left.
    backtracks: usize,
    height: usize,
    steps: usize,
}

/// The first match of `program` at or after `start`, which is a character boundary of `text`.
pub(super) fn search(program: &Program, text: &str, start: usize, effort: &mut Effort) -> Result<Option<Spans>> {
    let backtracks = effort.backtracks;
    let steps = backtracks.saturating_mul(STEPS_PER_BACKTRACK);
    let (registers, stack) = (Vec::new(), Vec::new());
    let mut run = Run { program, text, at: start, registers, stack, backtracks, height: backtracks, steps };
    let found = run.first_at_or_after(start);
    effort.steps += (steps - run.steps) as u64;
    found.map_err(|error| error.with_limit("backtracks", backtracks as u64))
}

fn exhausted() -> Error {
    let message = "the regular expression backtracked too often on this text";
    Error::new(Code::RegexBacktracking, message)
        .with_help("repetitions inside repetitions, as in `(a+)+`, try too many ways: let each character match in one")
}

impl Run<'_, '_> {
    fn first_at_or_after(&mut self, mut start: usize) -> Result<Option<Spans>> {
        let is_bound = self.program.anchored || self.program.flags.sticky;
        loop {
            if self.match_at(start)? {
                return Ok(Some(self.spans(start)));
            }
            match self.text.get(start..).and_then(|rest| rest.chars().next()) {
                Some(c) if !is_bound => start += c.len_utf8(),
                _ => return Ok(None),
            }
        }
    }

    fn match_at(&mut self, start: usize) -> Result<bool> {
        self.at = start;
        self.stack.clear();
        self.registers.clear();
        self.registers.resize(self.program.registers, UNSET);
        let mut pc = 0;
        while let Some(step) = self.program.steps.get(pc) {
            self.pay(1)?;
            pc = match (step, self.step(step, pc)?) {
                (Step::Match, _) => return Ok(true),
                (_, Some(next)) => next,
                (_, None) => match self.backtrack()? {
                    Some(next) => next,
                    None => return Ok(false),
                },
            };
        }
        Ok(false)
    }

    fn pay(&mut self, steps: usize) -> Result<()> {
        self.steps = self.steps.checked_sub(steps).ok_or_else(exhausted)?;
        Ok(())
    }

    fn spans(&self, start: usize) -> Spans {
        let register = |at: usize| self.registers.get(at).copied().filter(|place| *place != UNSET);
        let span = |group: usize| Some(register(2 * group)?..register(2 * group + 1)?);
        let mut spans: Spans = (0..self.program.groups).map(span).collect();
        if let Some(whole) = spans.first_mut() {
            *whole = Some(start..self.at);
        }
        spans
    }

    /// Does one step, and says where to go on; `None` when it fails.
    fn step(&mut self, step: &Step, pc: usize) -> Result<Option<usize>> {
        let holds = match step {
            Step::Char { c, back } => self.take(*back, |next| next == *c),
            Step::Class { matcher, back } => {
                let matcher = self.program.matchers.get(*matcher);
                self.take(*back, |next| matcher.is_some_and(|matcher| matcher.contains(next)))
            }
            Step::Assert(assert) => self.assert(*assert),
            Step::Backref { groups, back } => self.backref(groups, *back)?,
            Step::Split { first, second } => {
                self.push(Back::Choice { pc: *second, at: self.at })?;
                return Ok(Some(*first));
            }
            Step::Jump(to) => return Ok(Some(*to)),
            Step::Progress(register) => self.register(*register) != self.at,
            Step::NotEnd(register) => {
                self.unwind(self.register(*register));
                false
            }
            Step::Match => true,
            other => {
                self.note(other)?;
                true
            }
        };
        Ok(holds.then_some(pc + 1))
    }

    /// The steps that only change registers and the stack.
    fn note(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Save(register) => self.set(*register, self.at),
            Step::Copy { from, to } => self.set(*to, self.register(*from)),
            Step::Clear(registers) => {
                self.pay(registers.len())?;
                registers.clone().try_for_each(|register| self.set(register, UNSET))
            }
            Step::LookStart(register) => {
                self.set(register + 1, self.at)?;
                self.set_height(*register)
            }
            Step::LookEnd(register) => {
                self.drop_choices(self.register(*register));
                self.at = self.register(register + 1);
                Ok(())
            }
            Step::NotStart { register, after } => {
                self.set_height(*register)?;
                self.push(Back::Otherwise { pc: *after, at: self.at })
            }
            _ => Ok(()),
        }
    }

    fn register(&self, register: usize) -> usize {
        self.registers.get(register).copied().unwrap_or(UNSET)
    }

    fn set(&mut self, register: usize, value: usize) -> Result<()> {
        let old = self.register(register);
        if old == value {
            return Ok(());
        }
        self.push(Back::Undo { register, value: old })?;
        self.restore(register, value);
        Ok(())
    }

    fn restore(&mut self, register: usize, value: usize) {
        if let Some(slot) = self.registers.get_mut(register) {
            *slot = value;
        }
    }

    /// Notes the height of the stack, the entry that undoes the note included.
    fn set_height(&mut self, register: usize) -> Result<()> {
        self.push(Back::Undo { register, value: self.register(register) })?;
        self.restore(register, self.stack.len());
        Ok(())
    }

    fn push(&mut self, back: Back) -> Result<()> {
        if self.stack.len() >= self.height {
            return Err(exhausted());
        }
        self.stack.push(back);
        Ok(())
    }

    fn backtrack(&mut self) -> Result<Option<usize>> {
        while let Some(back) = self.stack.pop() {
            match back {
                Back::Undo { register, value } => self.restore(register, value),
                Back::Otherwise { pc, at } => {
                    self.at = at;
                    return Ok(Some(pc));
                }
                Back::Choice { pc, at } => {
                    self.backtracks = self.backtracks.checked_sub(1).ok_or_else(exhausted)?;
                    self.at = at;
                    return Ok(Some(pc));
                }
            }
        }
        Ok(None)
    }

    /// Goes back to a height of the stack without trying the choices above.
    fn unwind(&mut self, height: usize) {
        while self.stack.len() > height {
            if let Some(Back::Undo { register, value }) = self.stack.pop() {
                self.restore(register, value);
            }
        }
    }

    /// Forgets the choices above a height; what undoes the captures stays.
    fn drop_choices(&mut self, height: usize) {
        let mut kept = height;
        for at in height..self.stack.len() {
            if let Some(Back::Undo { .. }) = self.stack.get(at) {
                self.stack.swap(kept, at);
                kept += 1;
            }
        }
        self.stack.truncate(kept);
    }

    fn after(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn before(&self) -> Option<char> {
        self.text.get(..self.at)?.chars().next_back()
    }

    /// Takes a character if it is `wanted`.
    fn take(&mut self, back: bool, wanted: impl Fn(char) -> bool) -> bool {
        let next = if back { self.before() } else { self.after() };
        match next {
            Some(c) if wanted(c) && back => self.at -= c.len_utf8(),
            Some(c) if wanted(c) => self.at += c.len_utf8(),
            _ => return false,
        }
        true
    }

    fn assert(&self, assert: Assert) -> bool {
        let is_line_end = |c: Option<char>| c.is_none_or(|c| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'));
        match assert {
            Assert::TextStart => self.at == 0,
            Assert::TextEnd => self.at == self.text.len(),
            Assert::LineStart => is_line_end(self.before()),
            Assert::LineEnd => is_line_end(self.after()),
            Assert::Word => self.is_word(self.before()) != self.is_word(self.after()),
            Assert::NotWord => self.is_word(self.before()) == self.is_word(self.after()),
        }
    }

    fn is_word(&self, c: Option<char>) -> bool {
        let folds = self.program.flags.folds_unicode();
        c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || (folds && matches!(c, '\u{17F}' | '\u{212A}')))
    }

    /// Takes what a group holds once more; a group without a match is as good as empty.
    fn backref(&mut self, groups: &[usize], back: bool) -> Result<bool> {
        let is_set = |group: &&usize| self.register(2 * **group + 1) != UNSET && self.register(2 * **group) != UNSET;
        let Some(group) = groups.iter().find(is_set) else { return Ok(true) };
        let (text, range) = (self.text, self.register(2 * group)..self.register(2 * group + 1));
        let Some(held) = text.get(range) else { return Ok(true) };
        self.pay(held.len())?;
        let flags = self.program.flags;
        let mut take = |c: char| self.take(back, |next| is_same(c, next, flags));
        Ok(if back { held.chars().rev().all(&mut take) } else { held.chars().all(&mut take) })
    }
}

fn is_same(one: char, other: char, flags: Flags) -> bool {
    match (flags.ignore_case, flags.unicode) {
        (false, _) => one == other,
        (true, false) => set::upper(one) == set::upper(other),
        (true, true) => set::fold(one) == set::fold(other),
    }
}
