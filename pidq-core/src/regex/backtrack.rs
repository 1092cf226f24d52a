//! Backtracking engine: exact JavaScript semantics, with limits.
//!
//! No recursion, and each step examines one character, so the limits on steps and on the stack bound the time and the
//! memory of a match for every pattern.

use super::flags::Flags;
use super::linear_engine::Spans;
use super::program::{Program, Step};
use super::set;
use super::tree::Assert;
use crate::error::{Code, Error, Result};

/// Steps allowed per backtrack allowed. Most steps of a well-behaved pattern do not backtrack.
const STEPS_PER_BACKTRACK: usize = 32;
/// Steps that cost one unit of fuel: a step examines a character and may push to the stack, which takes as long as half
/// a unit of other work.
const STEPS_PER_FUEL: u64 = 2;
/// A register without a position.
const UNSET: usize = usize::MAX;

/// Limits of a search, and the total work of all searches.
#[derive(Debug)]
pub(crate) struct BacktrackBudget {
    backtracks: usize,
    /// Steps of all searches together.
    max_steps: u64,
    steps: u64,
}

impl BacktrackBudget {
    /// Creates a budget with a limit of `backtracks` per search.
    pub fn new(backtracks: usize) -> BacktrackBudget {
        BacktrackBudget { backtracks, max_steps: u64::MAX, steps: 0 }
    }

    /// Returns the budget with a limit on the fuel of all searches. A search that exceeds it fails, and
    /// [`BacktrackBudget::fuel`] is then more than `fuel`.
    pub fn with_fuel(self, fuel: u64) -> BacktrackBudget {
        BacktrackBudget { max_steps: fuel.saturating_add(1).saturating_mul(STEPS_PER_FUEL), ..self }
    }

    /// Returns the fuel of the searches beyond their [`Regex::search_cost`](super::Regex::search_cost).
    pub fn fuel(&self) -> u64 {
        self.steps / STEPS_PER_FUEL
    }
}

/// Entry of the backtrack stack.
#[derive(Clone, Copy)]
enum Backtrack {
    /// Continue at `pc` from position `at`.
    Choice { pc: usize, at: usize },
    /// As `Choice`, after a negative lookaround whose body has failed: the regular path, not counted as a backtrack.
    NegativeLookaround { pc: usize, at: usize },
    /// Restore a register.
    Undo { register: usize, value: usize },
}

/// A search.
struct Search<'p, 't> {
    program: &'p Program,
    text: &'t str,
    at: usize,
    registers: Vec<usize>,
    stack: Vec<Backtrack>,
    /// Remaining backtracks, stack entries and steps.
    backtracks: usize,
    stack_left: usize,
    steps: usize,
}

/// Returns the first match of `program` at or after `start`, which is a character boundary of `text`.
pub(super) fn search(
    program: &Program,
    text: &str,
    start: usize,
    budget: &mut BacktrackBudget,
) -> Result<Option<Spans>> {
    let backtracks = budget.backtracks;
    let steps_left = usize::try_from(budget.max_steps.saturating_sub(budget.steps)).unwrap_or(usize::MAX);
    let steps = backtracks.saturating_mul(STEPS_PER_BACKTRACK).min(steps_left);
    let (registers, stack) = (Vec::new(), Vec::new());
    let mut run = Search { program, text, at: start, registers, stack, backtracks, stack_left: backtracks, steps };
    let found = run.first_at_or_after(start);
    budget.steps += (steps - run.steps) as u64;
    found.map_err(|error| error.with_limit("backtracks", backtracks as u64))
}

fn exhausted() -> Error {
    let message = "the regular expression backtracked too often on this text";
    Error::new(Code::RegexBacktracking, message).with_help(
        "nested repetitions such as `(a+)+` match in too many ways: let each character match in only one way",
    )
}

impl Search<'_, '_> {
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
            self.charge(1)?;
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

    fn charge(&mut self, steps: usize) -> Result<()> {
        let left = self.steps.checked_sub(steps);
        // A step that does not fit uses up the rest.
        self.steps = left.unwrap_or(0);
        left.map(|_| ()).ok_or_else(exhausted)
    }

    fn spans(&self, start: usize) -> Spans {
        let register = |at: usize| self.registers.get(at).copied().filter(|position| *position != UNSET);
        let span = |group: usize| Some(register(2 * group)?..register(2 * group + 1)?);
        let mut spans: Spans = (0..self.program.groups).map(span).collect();
        if let Some(overall) = spans.first_mut() {
            *overall = Some(start..self.at);
        }
        spans
    }

    /// Executes one step and returns the next one; `None` if it fails.
    fn step(&mut self, step: &Step, pc: usize) -> Result<Option<usize>> {
        let is_match = match step {
            Step::Char { c, back } => self.take_if(*back, |next| next == *c),
            Step::Class { matcher, back } => {
                let matcher = self.program.matchers.get(*matcher);
                self.take_if(*back, |next| matcher.is_some_and(|matcher| matcher.contains(next)))
            }
            Step::Assert(assert) => self.assert(*assert),
            Step::Backref { groups, back } => self.backref(groups, *back)?,
            Step::Split { first, second } => {
                self.push(Backtrack::Choice { pc: *second, at: self.at })?;
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
                self.bookkeeping_step(other)?;
                true
            }
        };
        Ok(is_match.then_some(pc + 1))
    }

    /// Executes a step that only changes registers and the stack.
    fn bookkeeping_step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Save(register) => self.set(*register, self.at),
            Step::Copy { from, to } => self.set(*to, self.register(*from)),
            Step::Clear(registers) => {
                self.charge(registers.len())?;
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
                self.push(Backtrack::NegativeLookaround { pc: *after, at: self.at })
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
        self.push(Backtrack::Undo { register, value: old })?;
        self.restore(register, value);
        Ok(())
    }

    fn restore(&mut self, register: usize, value: usize) {
        if let Some(slot) = self.registers.get_mut(register) {
            *slot = value;
        }
    }

    /// Saves the height of the stack in a register, including the entry that undoes this.
    fn set_height(&mut self, register: usize) -> Result<()> {
        self.push(Backtrack::Undo { register, value: self.register(register) })?;
        self.restore(register, self.stack.len());
        Ok(())
    }

    fn push(&mut self, back: Backtrack) -> Result<()> {
        if self.stack.len() >= self.stack_left {
            return Err(exhausted());
        }
        self.stack.push(back);
        Ok(())
    }

    fn backtrack(&mut self) -> Result<Option<usize>> {
        while let Some(back) = self.stack.pop() {
            match back {
                Backtrack::Undo { register, value } => self.restore(register, value),
                Backtrack::NegativeLookaround { pc, at } => {
                    self.at = at;
                    return Ok(Some(pc));
                }
                Backtrack::Choice { pc, at } => {
                    self.backtracks = self.backtracks.checked_sub(1).ok_or_else(exhausted)?;
                    self.at = at;
                    return Ok(Some(pc));
                }
            }
        }
        Ok(None)
    }

    /// Restores the stack to a height without trying the choices above.
    fn unwind(&mut self, height: usize) {
        while self.stack.len() > height {
            if let Some(Backtrack::Undo { register, value }) = self.stack.pop() {
                self.restore(register, value);
            }
        }
    }

    /// Removes the choices above a height; the entries that undo captures stay.
    fn drop_choices(&mut self, height: usize) {
        let mut remaining = height;
        for at in height..self.stack.len() {
            if let Some(Backtrack::Undo { .. }) = self.stack.get(at) {
                self.stack.swap(remaining, at);
                remaining += 1;
            }
        }
        self.stack.truncate(remaining);
    }

    fn after(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn before(&self) -> Option<char> {
        self.text.get(..self.at)?.chars().next_back()
    }

    /// Consumes a character if `is_match` accepts it.
    fn take_if(&mut self, back: bool, is_match: impl Fn(char) -> bool) -> bool {
        let next = if back { self.before() } else { self.after() };
        match next {
            Some(c) if is_match(c) && back => self.at -= c.len_utf8(),
            Some(c) if is_match(c) => self.at += c.len_utf8(),
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

    /// Matches the text of a group again; a group without a match counts as empty.
    fn backref(&mut self, groups: &[usize], back: bool) -> Result<bool> {
        let is_set = |group: &&usize| self.register(2 * **group + 1) != UNSET && self.register(2 * **group) != UNSET;
        let Some(group) = groups.iter().find(is_set) else { return Ok(true) };
        let (text, range) = (self.text, self.register(2 * group)..self.register(2 * group + 1));
        let Some(captured) = text.get(range) else { return Ok(true) };
        self.charge(captured.len())?;
        let flags = self.program.flags;
        let mut take = |c: char| self.take_if(back, |next| is_same(c, next, flags));
        Ok(if back { captured.chars().rev().all(&mut take) } else { captured.chars().all(&mut take) })
    }
}

fn is_same(one: char, other: char, flags: Flags) -> bool {
    match (flags.ignore_case, flags.unicode) {
        (false, _) => one == other,
        (true, false) => set::upper(one) == set::upper(other),
        (true, true) => set::fold(one) == set::fold(other),
    }
}
