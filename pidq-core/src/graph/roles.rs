//! Roles of nodes for the flow through a plant, and the classes that define them.

use regex::{Regex, RegexBuilder};

use crate::limits::MAX_REGEX_SIZE;

/// Role of a node for the flow through a plant.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) enum Role {
    #[default]
    None,
    /// A positive isolation: a blind, a spade, a spectacle.
    PositiveBarrier,
    /// A relief device: a safety valve, a rupture disc.
    Relief,
    /// A check valve.
    OneWay,
    /// A valve with an actuator: closes if its actuator does.
    Control,
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
    (Role::Relief, "relief"),
    (Role::OneWay, "one_way"),
    (Role::Control, "control"),
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

    /// Returns whether it closes a line: manually, by an actuator, or as positive isolation.
    pub fn closes(self) -> bool {
        matches!(self, Role::Barrier | Role::Control | Role::PositiveBarrier)
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

/// Word-based class matchers. Equivalent patterns exist, but compiling them would take a millisecond per process.
#[derive(Clone, Copy)]
enum Words {
    /// Equals one of these.
    Is(&'static [&'static str]),
    Begins(&'static [&'static str]),
    Ends(&'static [&'static str]),
    Has(&'static [&'static str]),
    /// Ends with these words: `heat_exchanger` and `plate_heat_exchanger`, but not `preheat_exchanger`.
    Last(&'static [&'static str]),
    /// Like `Last`, before `_valve`.
    Valve(&'static [&'static str]),
    /// Like `Last`, before `_valve`, `_operated_valve`, `_actuated_valve`.
    Driven(&'static [&'static str]),
    /// Like `Last`, for the class of a piping component.
    InPiping(&'static [&'static str]),
}
use Words::{Begins, Driven, Ends, Has, InPiping, Is, Last, Valve};

impl Words {
    /// Returns whether a class in snake_case matches.
    fn matches(self, class: &str) -> bool {
        match self {
            Is(words) => words.contains(&class),
            Begins(words) => words.iter().any(|word| class.starts_with(word)),
            Ends(words) => words.iter().any(|word| class.ends_with(word)),
            Has(words) => words.iter().any(|word| class.contains(word)),
            Last(words) => are_last(words, class),
            Valve(words) => class.strip_suffix("_valve").is_some_and(|kind| are_last(words, kind)),
            Driven(words) => class.strip_suffix("_valve").is_some_and(|kind| {
                let driven = kind.strip_suffix("_operated").or_else(|| kind.strip_suffix("_actuated"));
                are_last(words, kind) || driven.is_some_and(|drive| are_last(words, drive))
            }),
            InPiping(words) => class.strip_prefix("piping_component.").is_some_and(|class| are_last(words, class)),
        }
    }

    /// Returns the equivalent pattern.
    fn pattern(self) -> String {
        let (before, words, after) = match self {
            Is(words) => ("^", words, "$"),
            Begins(words) => ("^", words, ""),
            Ends(words) => ("", words, "$"),
            Has(words) => ("", words, ""),
            Last(words) => ("(^|_)", words, "$"),
            Valve(words) => ("(^|_)", words, "_valve$"),
            Driven(words) => ("(^|_)", words, "(_operated|_actuated)?_valve$"),
            InPiping(words) => (r"^piping_component\.(.*_)?", words, "$"),
        };
        format!("{before}({}){after}", words.join("|").replace('.', r"\."))
    }
}

fn are_last(words: &[&str], class: &str) -> bool {
    let is_word = |before: &str| before.is_empty() || before.ends_with('_');
    words.iter().any(|word| class.strip_suffix(word).is_some_and(is_word))
}

/// Returns the role of a built-in class in snake_case, by the entire class or its last part.
pub(super) fn built_in_role(full_class: &str, last: &str) -> Option<Role> {
    let matches = |words: &Words| words.matches(full_class) || words.matches(last);
    BUILT_IN.iter().find(|(_, any)| any.iter().any(matches)).map(|(role, _)| *role)
}

/// Returns the built-in classes as patterns, in the order in which they are tried.
pub(super) fn patterns() -> impl Iterator<Item = (Role, String)> {
    let pattern = |words: &&[Words]| words.iter().map(|words| words.pattern()).collect::<Vec<_>>().join("|");
    BUILT_IN.iter().map(move |(role, words)| (*role, pattern(words)))
}

/// Built-in classes. The first matching row applies.
const BUILT_IN: &[(Role, &[Words])] = &[
    // Measuring and spray nozzles in a pipe are not nozzles of equipment.
    (Role::None, &[InPiping(&["nozzle"]), Last(&["flow_nozzle", "spray_nozzle"])]),
    (Role::Port, &[Last(&["nozzle"])]),
    (Role::OffPage, &[Has(&["off_page", "connector_symbol"]), Last(&["opc", "outlet", "inlet"])]),
    (Role::OpenEnd, &[Has(&["open_end"])]),
    (Role::None, &[Is(&["reference.signal_end"])]),
    // References to another sheet, whatever the rest of their class.
    (Role::OffPage, &[Begins(&["reference."])]),
    (
        Role::Instrument,
        &[
            Is(&["instrument", "instruments", "process_instrumentation_function"]),
            Begins(&["instrument.", "instrument_", "instruments.", "instruments_"]),
            Last(&[
                "instrument",
                "transmitter",
                "controller",
                "indicator",
                "sensor",
                "transducer",
                "recorder",
                "gauge",
            ]),
        ],
    ),
    (Role::PositiveBarrier, &[Has(&["blind_flange", "line_blind", "spade", "spectacle", "spool"]), Is(&["blind"])]),
    (
        Role::Relief,
        &[
            Ends(&["safety", "safety_valve", "safety_head"]),
            Ends(&["safety_or_fitting", "safety_valve_or_fitting", "safety_head_or_fitting"]),
            Has(&["rupture_disc", "bursting_disc", "relief", "breather", "vacuum_breaker"]),
        ],
    ),
    (Role::OneWay, &[Last(&["check"]), Valve(&["check", "foot"]), Has(&["non_return"])]),
    (
        Role::Control,
        &[
            Last(&["control", "regulating", "regulator"]),
            Valve(&["control", "regulating"]),
            Has(&["controlvalve", "control_valves"]),
            Driven(&[
                "motor",
                "motorised",
                "motorized",
                "solenoid",
                "pneumatic",
                "hydraulic",
                "actuated",
                "shutdown",
                "shut_down",
                "blowdown",
                "blow_down",
                "onoff",
                "on_off",
            ]),
            Ends(&["pressure_reducing_valve"]),
        ],
    ),
    (
        Role::Barrier,
        &[
            Valve(&[
                "ball",
                "gate",
                "globe",
                "plug",
                "butterfly",
                "needle",
                "straightway",
                "angle",
                "shut_off",
                "diaphragm",
                "pinch",
                "slide",
                "block",
                "isolation",
                "stop",
                "hand",
                "manual",
                "operated",
                "drain",
                "vent",
                "bleed",
                "sampling",
            ]),
            Is(&["ball", "gate", "globe", "plug", "butterfly", "needle"]),
            Is(&["valve_ball", "valve_gate", "valve_globe", "valve_plug", "valve_butterfly", "valve_needle"]),
        ],
    ),
    (Role::Junction, &[Last(&["tee", "branch"]), Is(&["cross"]), Has(&["pipe_cross", "pipe_tee"])]),
    (Role::SizeBreak, &[Has(&["reducer", "diameter_change"])]),
    // Items in a pipe are not its end.
    (
        Role::None,
        &[
            Last(&["in_line_mixer", "inline_mixer"]),
            InPiping(&["filter", "mixer", "heater", "cooler", "separator", "scrubber", "ejector", "cyclone"]),
        ],
    ),
    (
        Role::Equipment,
        &[
            Begins(&["equipment."]),
            Is(&["equipment"]),
            Last(&[
                "tank",
                "vessel",
                "pump",
                "heat_exchanger",
                "compressor",
                "column",
                "filter",
                "reactor",
                "blower",
                "boiler",
                "turbine",
                "exchanger",
                "cooler",
                "heater",
                "condenser",
                "evaporator",
                "reboiler",
                "chiller",
                "drum",
                "silo",
                "fan",
                "dryer",
                "furnace",
                "agitator",
                "mixer",
                "separator",
                "scrubber",
                "absorber",
                "stripper",
                "ejector",
                "cyclone",
                "centrifuge",
                "cooling_tower",
            ]),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of the table, alone and combined with others.
    fn classes() -> impl Iterator<Item = String> {
        let words: Vec<&str> = BUILT_IN
            .iter()
            .flat_map(|(_, words)| *words)
            .flat_map(|words| match words {
                Is(words) | Begins(words) | Ends(words) | Has(words) => *words,
                Last(words) | Valve(words) | Driven(words) | InPiping(words) => *words,
            })
            .copied()
            .collect();
        let in_context = |word: &str| {
            let before = ["", "x", "x_", "motor_", "piping_component.", "piping_component.x_", "piping_component.x"];
            let after = ["", "x", "_valve", "_operated_valve", "_actuated_valve", "valve", "_or_fitting", ".", "_"];
            before.iter().flat_map(|before| after.map(|after| format!("{before}{word}{after}"))).collect::<Vec<_>>()
        };
        words.into_iter().flat_map(in_context).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn words_match_the_same_classes_as_their_pattern() {
        let patterns: Vec<Regex> =
            patterns().map(|(_, pattern)| Regex::new(&pattern).expect("valid pattern")).collect();
        for class in classes() {
            let of_patterns = patterns.iter().position(|pattern| pattern.is_match(&class));
            let of_words = BUILT_IN.iter().position(|(_, any)| any.iter().any(|words| words.matches(&class)));
            assert_eq!(of_words, of_patterns, "{class}");
        }
    }

    #[test]
    fn custom_rules_record_their_compiled_size() {
        let size = |pattern: &str| Rule::new(Role::Barrier, pattern).map(|rule| rule.size);
        assert_eq!(size("^valve$"), Some(SIZES[0]));
        assert!(size(r"\w{200}").is_none_or(|size| size > SIZES[0]));
        assert_eq!(size("(valve"), None);
    }
}
