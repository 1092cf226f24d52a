//! Roles of nodes for the flow through a plant, and the rules of a drawing that assign them.

mod built_in;
mod class_words;
mod other_languages;
mod passage;
mod tag_letters;

pub(super) use built_in::{built_in_role, has_several_ways, is_general, is_unspecified_valve, patterns};
pub(crate) use class_words::is_hand_valve_word;
pub(crate) use other_languages::EQUIPMENT as EQUIPMENT_IN_OTHER_LANGUAGES;
pub(crate) use passage::Passage;
pub(super) use passage::passage;
pub(crate) use tag_letters::{TagLetters, names_self_acting_valve, tag_letters_behind};

use regex::{Regex, RegexBuilder};

use crate::limits::MAX_REGEX_SIZE;

/// Role of a node for the flow through a plant.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Role {
    #[default]
    None,
    /// A positive isolation: a blind flange, a spool that is removed.
    PositiveBarrier,
    /// A blind that is swung or inserted: positive only where the drawing states that it is closed.
    Blind,
    /// A relief device: a safety valve, a rupture disc.
    Relief,
    /// A check valve.
    OneWay,
    /// A valve with an actuator: closes if its actuator does.
    Control,
    /// A valve that does not close all its ways: a three-way valve, a diverter.
    MultiWay,
    /// A manual valve.
    Barrier,
    Junction,
    SizeBreak,
    OffPage,
    OpenEnd,
    Port,
    Instrument,
    Equipment,
}

/// The names of roles in JSON.
const ROLES: &[(Role, &str)] = &[
    (Role::None, "none"),
    (Role::PositiveBarrier, "positive_barrier"),
    (Role::Blind, "blind"),
    (Role::Relief, "relief"),
    (Role::OneWay, "one_way"),
    (Role::Control, "control"),
    (Role::MultiWay, "multi_way"),
    (Role::Barrier, "barrier"),
    (Role::Junction, "junction"),
    (Role::SizeBreak, "size_break"),
    (Role::OffPage, "off_page"),
    (Role::OpenEnd, "open_end"),
    (Role::Port, "port"),
    (Role::Instrument, "instrument"),
    (Role::Equipment, "equipment"),
];

impl Role {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        ROLES.iter().find(|(role, _)| *role == self).map_or("none", |(_, name)| name)
    }

    /// Returns whether it can close a line or a way of it: manually, by an actuator, or as positive isolation. Whether
    /// it separates what is isolated is decided by `isolate`.
    pub fn closes(self) -> bool {
        matches!(self, Role::Barrier | Role::Control | Role::MultiWay | Role::PositiveBarrier | Role::Blind)
    }
}

impl Role {
    /// Returns the role with a name in JSON.
    pub fn from_name(name: &str) -> Option<Role> {
        ROLES.iter().find(|(_, known)| *known == name).map(|(role, _)| *role)
    }
}

/// A class pattern and its role, from a drawing or a program. Patterns are matched against classes in snake_case,
/// entire and by their last part.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub role: Role,
    pub pattern: Regex,
    /// Bytes of the compiled pattern, rounded up.
    pub size: usize,
}

impl Rule {
    /// Compiles a rule; `None` if the pattern is malformed or too large.
    pub fn new(role: Role, pattern: &str) -> Option<Rule> {
        let within = |size| {
            let mut builder = RegexBuilder::new(pattern);
            let pattern = builder.dfa_size_limit(MAX_REGEX_SIZE >> 2).size_limit(size).build().ok()?;
            Some(Rule { role, pattern, size })
        };
        SIZES.into_iter().find_map(within)
    }
}

/// Size limits of a compiled pattern in bytes. A pattern is accounted with the first one that suffices.
const SIZES: [usize; 4] = [MAX_REGEX_SIZE >> 8, MAX_REGEX_SIZE >> 6, MAX_REGEX_SIZE >> 4, MAX_REGEX_SIZE >> 2];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_rules_record_their_compiled_size() {
        let size = |pattern: &str| Rule::new(Role::Barrier, pattern).map(|rule| rule.size);
        assert_eq!(size("^valve$"), Some(SIZES[0]));
        assert!(size(r"\w{200}").is_none_or(|size| size > SIZES[0]));
        assert_eq!(size("(valve"), None);
    }
}
