//! Program of the backtracking engine: for lookaround, back-references and unusual empty rounds.

use std::ops::Range;

use super::flags::Flags;
use super::set::Set;
use super::tree::{Assert, Class, LookaroundNode, Node, Reference, Repeat};
use crate::limits::MAX_REGEX_SIZE;

/// An instruction. Instruction numbers are called `pc`; registers hold positions in the text.
#[derive(Debug)]
pub(super) enum Step {
    Char {
        c: char,
        back: bool,
    },
    Class {
        matcher: usize,
        back: bool,
    },
    Assert(Assert),
    /// Matches the text of whichever of these groups matched last.
    Backref {
        groups: Vec<usize>,
        back: bool,
    },
    /// Continues at `first`, and at `second` if that fails.
    Split {
        first: usize,
        second: usize,
    },
    Jump(usize),
    /// Saves the position in a register.
    Save(usize),
    Copy {
        from: usize,
        to: usize,
    },
    /// Clears registers.
    Clear(Range<usize>),
    /// Fails if the position equals the register: the round was empty.
    Progress(usize),
    /// Begins a lookaround: saves the height of the stack, and the position in the next register.
    LookStart(usize),
    /// Ends it: removes its choices, keeps its captures and restores the position.
    LookEnd(usize),
    /// Begins a negative lookaround, which continues at `after` if its body fails.
    NotStart {
        register: usize,
        after: usize,
    },
    /// Fails: the body of a negative lookaround has matched.
    NotEnd(usize),
    Match,
}

/// Approximate memory of an instruction.
pub(super) const STEP_SIZE: usize = size_of::<Step>();

/// Limit of classes of a pattern that need the `regex` crate.
const MAX_CRATE_CLASSES: usize = 32;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub steps: Vec<Step>,
    pub matchers: Vec<Matcher>,
    /// Number of registers: two for each group, then those of repetitions and lookarounds.
    pub registers: usize,
    pub groups: usize,
    pub flags: Flags,
    /// True if a match can only begin at the start of the text.
    pub anchored: bool,
}

/// Membership test of a class.
#[derive(Debug)]
pub(super) struct Matcher {
    ascii: u128,
    non_ascii: NonAscii,
}

#[derive(Debug)]
enum NonAscii {
    Set(Set),
    /// For properties and for case folding with the flag `u`.
    Regex(regex::Regex),
}

impl Matcher {
    fn new(class: &Class, flags: Flags) -> Option<Matcher> {
        let non_ascii = match &class.set {
            Some(set) => NonAscii::Set(set.clone()),
            None => {
                let mut builder = regex::RegexBuilder::new(&format!(r"\A(?:{})\z", class.rust));
                NonAscii::Regex(
                    builder.case_insensitive(flags.folds_unicode()).size_limit(MAX_REGEX_SIZE).build().ok()?,
                )
            }
        };
        let ascii =
            (0..128_u8).filter(|byte| non_ascii.contains(char::from(*byte))).fold(0, |bits, byte| bits | 1 << byte);
        Some(Matcher { ascii, non_ascii })
    }

    pub fn contains(&self, c: char) -> bool {
        if c.is_ascii() { self.ascii >> u32::from(c) & 1 == 1 } else { self.non_ascii.contains(c) }
    }
}

impl NonAscii {
    fn contains(&self, c: char) -> bool {
        match self {
            NonAscii::Set(set) => set.contains(u32::from(c)),
            NonAscii::Regex(regex) => regex.is_match(c.encode_utf8(&mut [0; 4])),
        }
    }
}

impl Program {
    /// Returns `None` if the compiled form is too large.
    pub fn new(node: &Node, names: &[Option<String>], flags: Flags) -> Option<Program> {
        let too_large = node.size().saturating_mul(STEP_SIZE as u64) > MAX_REGEX_SIZE as u64;
        if too_large {
            return None;
        }
        let groups = names.len() + 1;
        let mut compiler = Compiler {
            steps: Vec::new(),
            matchers: Vec::new(),
            classes: Vec::new(),
            registers: 2 * groups,
            names,
            flags,
        };
        compiler.emit(node, false)?;
        compiler.steps.push(Step::Match);
        let Compiler { steps, matchers, registers, .. } = compiler;
        let anchored = matches!(steps.first(), Some(Step::Assert(Assert::TextStart)));
        Some(Program { steps, matchers, registers, groups, flags, anchored })
    }
}

struct Compiler<'n> {
    steps: Vec<Step>,
    matchers: Vec<Matcher>,
    /// The text of each matcher.
    classes: Vec<String>,
    registers: usize,
    names: &'n [Option<String>],
    flags: Flags,
}

impl Compiler<'_> {
    /// Adds the steps of `node`. A lookbehind is matched from right to left (`back`), as in JavaScript.
    fn emit(&mut self, node: &Node, back: bool) -> Option<()> {
        match node {
            Node::Empty => {}
            Node::Char(c) => self.steps.push(Step::Char { c: *c, back }),
            Node::Class(class) => self.class(class, back)?,
            Node::Assert(assert) => self.steps.push(Step::Assert(*assert)),
            Node::Group(number, body) => self.group(*number, body, back)?,
            Node::Concat(parts) if back => parts.iter().rev().try_for_each(|part| self.emit(part, back))?,
            Node::Concat(parts) => parts.iter().try_for_each(|part| self.emit(part, back))?,
            Node::Alt(branches) => self.branches(branches, back)?,
            Node::Repeat(repeat) => self.repeat(repeat, back)?,
            Node::Lookaround(node) => self.lookaround(node)?,
            Node::Backref(reference) => self.steps.push(Step::Backref { groups: self.groups_of(reference), back }),
        }
        Some(())
    }

    fn class(&mut self, class: &Class, back: bool) -> Option<()> {
        let known = self.classes.iter().position(|rust| *rust == class.rust);
        let matcher = known.unwrap_or(self.matchers.len());
        if known.is_none() {
            self.matchers.push(Matcher::new(class, self.flags)?);
            self.classes.push(class.rust.clone());
        }
        self.steps.push(Step::Class { matcher, back });
        // A class with a property may take 100 KiB, so their number is limited like the steps.
        let heavy = self.matchers.iter().filter(|matcher| matches!(matcher.non_ascii, NonAscii::Regex(_))).count();
        (heavy <= MAX_CRATE_CLASSES).then_some(())
    }

    fn group(&mut self, number: usize, body: &Node, back: bool) -> Option<()> {
        let (first, second) = (2 * number + usize::from(back), 2 * number + usize::from(!back));
        // The start is kept in a separate register until the group ends: inside, a back-reference to it is empty.
        let start = self.register();
        self.steps.push(Step::Save(start));
        self.emit(body, back)?;
        self.steps.push(Step::Save(second));
        self.steps.push(Step::Copy { from: start, to: first });
        Some(())
    }

    fn groups_of(&self, reference: &Reference) -> Vec<usize> {
        match reference {
            Reference::Number(number) => vec![*number],
            Reference::Name(name) => {
                let named = self.names.iter().zip(1..).filter(|(of, _)| of.as_ref() == Some(name));
                named.map(|(_, number)| number).collect()
            }
        }
    }

    fn register(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    /// Adds a step whose targets are patched later.
    fn placeholder(&mut self) -> usize {
        self.steps.push(Step::Jump(0));
        self.steps.len() - 1
    }

    fn patch(&mut self, hole: usize, step: Step) {
        if let Some(slot) = self.steps.get_mut(hole) {
            *slot = step;
        }
    }

    fn branches(&mut self, branches: &[Node], back: bool) -> Option<()> {
        let Some((last, others)) = branches.split_last() else { return Some(()) };
        let mut exits = Vec::new();
        for branch in others {
            let split = self.placeholder();
            self.emit(branch, back)?;
            exits.push(self.placeholder());
            self.patch(split, Step::Split { first: split + 1, second: self.steps.len() });
        }
        self.emit(last, back)?;
        let end = self.steps.len();
        exits.into_iter().for_each(|exit| self.patch(exit, Step::Jump(end)));
        Some(())
    }

    fn repeat(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        let loops = repeat.max.is_none() && repeat.min > 0 && !repeat.body.is_nullable();
        for _ in 0..repeat.min - u32::from(loops) {
            self.round(repeat, back)?;
        }
        match repeat.max {
            None if loops => self.at_least_once(repeat, back),
            None => self.any_number(repeat, back),
            Some(max) => self.at_most(repeat, max - repeat.min, back),
        }
    }

    fn round(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        if !repeat.groups.is_empty() {
            self.steps.push(Step::Clear(2 * repeat.groups.start..2 * repeat.groups.end));
        }
        self.emit(&repeat.body, back)
    }

    /// Compiles a round that must not be empty.
    fn optional_round(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        if !repeat.body.is_nullable() {
            return self.round(repeat, back);
        }
        let start = self.register();
        self.steps.push(Step::Save(start));
        self.round(repeat, back)?;
        self.steps.push(Step::Progress(start));
        Some(())
    }

    fn at_least_once(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        let start = self.steps.len();
        self.round(repeat, back)?;
        let after = self.steps.len() + 1;
        self.steps.push(choice(repeat, start, after));
        Some(())
    }

    fn any_number(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        let split = self.placeholder();
        self.optional_round(repeat, back)?;
        self.steps.push(Step::Jump(split));
        self.patch(split, choice(repeat, split + 1, self.steps.len()));
        Some(())
    }

    fn at_most(&mut self, repeat: &Repeat, rounds: u32, back: bool) -> Option<()> {
        let mut splits = Vec::new();
        for _ in 0..rounds {
            splits.push(self.placeholder());
            self.optional_round(repeat, back)?;
        }
        let end = self.steps.len();
        splits.into_iter().for_each(|split| self.patch(split, choice(repeat, split + 1, end)));
        Some(())
    }

    fn lookaround(&mut self, node: &LookaroundNode) -> Option<()> {
        let register = self.register();
        self.register();
        let start = self.placeholder();
        self.emit(&node.body, node.behind)?;
        self.steps.push(if node.negated { Step::NotEnd(register) } else { Step::LookEnd(register) });
        let after = self.steps.len();
        let first = if node.negated { Step::NotStart { register, after } } else { Step::LookStart(register) };
        self.patch(start, first);
        Some(())
    }
}

/// Returns the choice between another round and continuing, in the order that the quantifier prefers.
fn choice(repeat: &Repeat, round: usize, on: usize) -> Step {
    if repeat.greedy { Step::Split { first: round, second: on } } else { Step::Split { first: on, second: round } }
}
