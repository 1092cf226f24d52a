//! Roles of nodes for the flow through a plant, and the classes that define them.

mod other_languages;

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
    /// Is one of these, in the namespace of instruments.
    InInstruments(&'static [&'static str]),
    /// Like `Has`, for a class that also has the word `valve`: a hydraulic pump is no valve.
    InValve(&'static [&'static str]),
    /// One of these before `_valve`, after nothing but words of `HAND_VALVE_WORDS`: `wedge_gate_valve`, but not
    /// `control_gate_valve` or any other word that may say that it is no hand valve.
    HandValve(&'static [&'static str]),
}
use Words::{Begins, Driven, Ends, HandValve, Has, InInstruments, InPiping, InValve, Is, Last, Valve};

/// Words before `operated` that stand for operation by hand.
const HAND_WORDS: &[&str] = &["chain", "gear", "gearbox", "hand", "handwheel", "lever", "manual", "manually", "wheel"];

/// Words before the type of a valve that leave it a valve for isolation by hand. All other words are unknown.
const HAND_VALVE_WORDS: &[&str] = &[
    "and",
    "angle",
    "annulus",
    "api",
    "ball",
    "bellow",
    "bellows",
    "bleed",
    "block",
    "body",
    "bolted",
    "bonnet",
    "bore",
    "bottom",
    "brass",
    "bronze",
    "butt",
    "butterfly",
    "carbon",
    "casing",
    "cast",
    "chain",
    "class",
    "closed",
    "compact",
    "concentric",
    "conduit",
    "crown",
    "cryogenic",
    "double",
    "drain",
    "eccentric",
    "end",
    "entry",
    "expanding",
    "extended",
    "flanged",
    "flexible",
    "floating",
    "flush",
    "forged",
    "full",
    "gate",
    "gear",
    "gearbox",
    "globe",
    "hand",
    "handwheel",
    "high",
    "in",
    "inline",
    "isolating",
    "isolation",
    "jacketed",
    "kill",
    "knife",
    "lever",
    "line",
    "lined",
    "locked",
    "lower",
    "lubricated",
    "lug",
    "lugged",
    "manual",
    "manually",
    "metal",
    "mounted",
    "needle",
    "non",
    "normally",
    "offset",
    "one",
    "parallel",
    "pattern",
    "performance",
    "piece",
    "pinch",
    "plastic",
    "plug",
    "port",
    "process",
    "ptfe",
    "pvc",
    "reduced",
    "rising",
    "root",
    "screwed",
    "seal",
    "sealed",
    "seat",
    "seated",
    "shut",
    "shutoff",
    "side",
    "single",
    "slab",
    "slide",
    "sluice",
    "socket",
    "soft",
    "solid",
    "split",
    "stainless",
    "standard",
    "steel",
    "stem",
    "stop",
    "straight",
    "straightway",
    "threaded",
    "three",
    "through",
    "top",
    "triple",
    "trunnion",
    "twin",
    "two",
    "type",
    "valve",
    "vent",
    "wafer",
    "wedge",
    "weld",
    "welded",
    "wheel",
    "y",
];

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
            InValve(words) => class.contains("valve") && words.iter().any(|word| class.contains(word)),
            InPiping(words) => class.strip_prefix("piping_component.").is_some_and(|class| are_last(words, class)),
            InInstruments(words) => {
                let kind = class.strip_prefix("instrument.").or_else(|| class.strip_prefix("instruments."));
                kind.is_some_and(|kind| words.contains(&kind))
            }
            HandValve(words) => class.strip_suffix("_valve").is_some_and(|kind| is_hand_valve(words, kind)),
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
            InValve(words) => {
                let words = words.join("|").replace('.', r"\.");
                return format!("({words}).*valve|valve.*({words})");
            }
            InInstruments(words) => (r"^instruments?\.", words, "$"),
            InPiping(words) => (r"^piping_component\.(.*_)?", words, "$"),
            HandValve(words) => {
                let [any, hand] = [HAND_VALVE_WORDS, HAND_WORDS].map(|words| words.join("|"));
                return format!("^(({any})_|({hand})_operated_)*({})_valve$", words.join("|"));
            }
        };
        format!("{before}({}){after}", words.join("|").replace('.', r"\."))
    }
}

fn are_last(words: &[&str], class: &str) -> bool {
    let is_word = |before: &str| before.is_empty() || before.ends_with('_');
    words.iter().any(|word| class.strip_suffix(word).is_some_and(is_word))
}

/// Returns whether a class without `_valve` is one of some types after nothing but words of hand valves.
fn is_hand_valve(types: &[&str], class: &str) -> bool {
    let is_known = |before: &str| {
        let Some(words) = before.strip_suffix('_') else { return before.is_empty() };
        let words: Vec<&str> = words.split('_').collect();
        words.iter().enumerate().all(|(at, word)| match *word {
            "operated" => at > 0 && HAND_WORDS.contains(&words[at - 1]),
            word => HAND_VALVE_WORDS.contains(&word),
        })
    };
    types.iter().filter_map(|kind| class.strip_suffix(kind)).any(is_known)
}

/// Returns whether a word in front of the type of a valve leaves it a valve for isolation by hand.
pub(crate) fn is_hand_valve_word(word: &str) -> bool {
    HAND_VALVE_WORDS.contains(&word)
}

/// Utilities for instruments, in front of the class of what contains them: an instrument air receiver is no instrument.
const INSTRUMENT_UTILITIES: &[&str] =
    &["instrument_air", "instrument_gas", "instrument_nitrogen", "instrument.air_header", "instrument.air_receiver"];

/// Returns the role of a built-in class in snake_case, by the entire class or its last part.
pub(super) fn built_in_role(full_class: &str, last: &str) -> Option<Role> {
    let matches = |words: &Words| words.matches(full_class) || words.matches(last);
    let is_utility =
        [full_class, last].iter().any(|class| INSTRUMENT_UTILITIES.iter().any(|known| class.starts_with(known)));
    let rows = BUILT_IN.iter().filter(|(role, _)| *role != Role::Instrument || !is_utility);
    rows.clone().find(|(_, any)| any.iter().any(matches)).map(|(role, _)| *role)
}

/// Returns the built-in classes as patterns, in the order in which they are tried.
pub(super) fn patterns() -> impl Iterator<Item = (Role, String)> {
    let pattern = |words: &&[Words]| words.iter().map(|words| words.pattern()).collect::<Vec<_>>().join("|");
    BUILT_IN.iter().map(move |(role, words)| (*role, pattern(words)))
}

/// Words of valves that join three pipes or more: in any position, some of their ways are open to each other.
const SEVERAL_WAYS: &[&str] = &[
    "three_way",
    "3_way",
    "3way",
    "four_way",
    "4_way",
    "4way",
    "3/2",
    "4/2",
    "5/2",
    "4/3",
    "5/3",
    "multi_way",
    "multiway",
    "multi_port",
    "multiport",
    "three_port",
    "four_port",
    "divert",
    "changeover",
    "change_over",
];

/// Words of valves with more than two ports: a full port is the bore of a valve.
const SEVERAL_PORTS: &[&str] = &[
    "3_port",
    "4_port",
    "5_port",
    "6_port",
    "five_port",
    "six_port",
    "_l_port",
    "_t_port",
    ".l_port",
    ".t_port",
    "_l_pattern",
    ".l_pattern",
];

/// Returns whether a class of a valve, in snake_case, is one that does not close all its ways.
pub(super) fn has_several_ways(class: &str) -> bool {
    Has(SEVERAL_WAYS).matches(class)
}

/// Relief devices that some tools class as instruments.
const RELIEF_INSTRUMENTS: &[&str] = &[
    "safety_valve",
    "relief_valve",
    "safety_relief_valve",
    "pressure_safety_valve",
    "pressure_relief_valve",
    "pressure_vacuum_relief_valve",
    "vacuum_relief_valve",
    "thermal_relief_valve",
    "rupture_disc",
    "rupture_disk",
    "bursting_disc",
    "psv",
    "prv",
];

/// Valves with an actuator that some tools class as instruments.
const VALVE_INSTRUMENTS: &[&str] = &[
    "control_valve",
    "shutdown_valve",
    "shut_down_valve",
    "blowdown_valve",
    "on_off_valve",
    "solenoid_valve",
    "motor_operated_valve",
    "emergency_shutdown_valve",
    "emergency_isolation_valve",
    "xv",
    "sdv",
    "esdv",
    "bdv",
    "mov",
];

/// Hand valves that some tools class as instruments.
const HAND_VALVES_OF_INSTRUMENTS: &[&str] = &[
    "ball_valve",
    "block_valve",
    "gate_valve",
    "globe_valve",
    "hand_valve",
    "isolating_valve",
    "isolation_valve",
    "needle_valve",
    "plug_valve",
    "root_valve",
    "shut_off_valve",
    "stop_valve",
];
const HAND_VALVES_AT_INSTRUMENTS: &[&str] = &[
    "instrument_air_valve",
    "instrument_ball_valve",
    "instrument_block_valve",
    "instrument_gate_valve",
    "instrument_hand_valve",
    "instrument_isolating_valve",
    "instrument_isolation_valve",
    "instrument_needle_valve",
    "instrument_root_valve",
    "instrument_shut_off_valve",
    "instrument_stop_valve",
];

/// Valves that can be operated, of a type that the class does not state. The upper master valve and the production wing
/// valve of a well have an actuator on most wells (API 6A, API 14C).
const UNSPECIFIED_VALVES: &[&str] = &[
    "operated_valve",
    "custom_operated_valve",
    "upper_master_valve",
    "upper_master_gate_valve",
    "production_wing_valve",
    "production_wing_gate_valve",
    "production_master_valve",
];

/// Classes that state that the class is unknown. Another field may still call the item a valve.
const UNKNOWN_CLASSES: &[&str] = &["unknown", "unclassified", "undefined", "unidentified", "unspecified"];

/// Returns whether a class in snake_case, without its namespace, is that of a valve whose type is not stated.
pub(super) fn is_unspecified_valve(class: &str) -> bool {
    [UNSPECIFIED_VALVES, UNKNOWN_CLASSES, other_languages::HAND_VALVES].iter().any(|words| Is(words).matches(class))
}

/// Chokes of one opening: they never close.
const FIXED_CHOKES: &[&str] =
    &["positive_choke", "positive_choke_valve", "fixed_choke", "fixed_choke_valve", "choke_bean"];

/// Items in a pipe that never close it. They have no role in the flow, but their class is known. Items of other
/// classes without a role are passed too, and make a result uncertain.
const PASSED: &[Words] = &[
    Last(&["pipe", "spool", "spool_piece", "flange", "flanged_connection", "coupling", "union", "elbow", "bend"]),
    Last(&["fitting", "joint", "compensator", "bellows", "hose", "penetration", "property_break", "vent_line"]),
    Last(&["strainer", "in_line_mixer", "inline_mixer", "silencer", "funnel", "steam_trap", "restriction_orifice"]),
    Last(&["orifice", "orifice_plate", "sight_glass", "flame_arrestor", "flame_arrester", "detonation_arrestor"]),
    Last(&[
        "flow_meter",
        "flowmeter",
        "measuring_element",
        "primary_element",
        "flow_element",
        "venturi",
        "venturi_tube",
        "flow_nozzle",
    ]),
    Last(&["rotameter", "pitot_tube", "annubar", "olet", "weldolet", "threadolet", "sockolet", "wye", "y_piece"]),
    Last(&["siphon", "drip_leg", "drip_pot", "drip_ring", "condensate_pot", "desuperheater", "attemperator"]),
    Last(&["header", "detonation_arrester", "spark_arrester", "injection_quill", "muffler", "manifold", "eductor"]),
    Last(&["ystrainer", "tstrainer", "suction_screen", "ubend", "flow_straightener", "flow_conditioner", "diffuser"]),
    Last(&["molecular_seal", "loop_seal"]),
    Has(&["insulation_break", "class_break"]),
    Last(FIXED_CHOKES),
    InPiping(&["filter", "mixer", "heater", "cooler", "separator", "scrubber", "ejector", "cyclone"]),
];

/// Items that close the end of a pipe, or that are put into it from outside: nothing follows them.
const ENDING: &[Words] = &[
    Last(&["cap", "pipe_plug", "plug_fitting", "sensorwell", "thermowell"]),
    Last(&["threaded_plug", "screwed_plug", "hex_plug", "bull_plug"]),
    // Closed vessels and probes with one connection.
    Last(&["pulsation_dampener", "pulsation_damper", "surge_suppressor", "bladder_accumulator", "air_chamber"]),
    Last(&["hydraulic_accumulator", "corrosion_probe", "corrosion_coupon", "coupon_holder"]),
];

/// Passage of items of a class without a role.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Passage {
    /// A pipe enters and leaves it.
    Through,
    /// A pipe ends at it.
    End,
}

/// Returns what is known about a class without a role, by the entire class in snake_case or its last part.
pub(super) fn passage(full_class: &str, last: &str) -> Option<Passage> {
    let matches = |words: &Words| words.matches(full_class) || words.matches(last);
    if ENDING.iter().any(matches) {
        return Some(Passage::End);
    }
    PASSED.iter().any(matches).then_some(Passage::Through)
}

/// Meaning of the letters of a tag for a valve that its class calls a hand valve.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TagLetters {
    /// A hand valve. `HV`, which stands for several valves, is one too.
    HandValve,
    /// A valve with an actuator.
    Actuated,
    /// A valve that opens or closes by itself: a check valve, a relief valve.
    SelfActing,
    /// One of these, or a hand valve, by the custom of the company.
    Ambiguous,
}

/// Letters of the tags of valves that open or close by themselves.
const SELF_ACTING_LETTERS: &[&str] = &[
    "NRV", "CHV", "CHK", "CK", "CKV", "PSV", "PRV", "TRV", "TSV", "PSE", "SRV", "PVRV", "PVSV", "VRV", "BPV", "EFV",
    "XFV", "EXFV", "BRV", "FO", "RO", "ST",
];

/// Letters of the tags of other valves with an actuator. `TSO` is a tight shut-off.
const ACTUATED_LETTERS: &[&str] =
    &["ESD", "SIS", "HIPPS", "MOV", "HOV", "HCV", "HIC", "HY", "HZ", "HZV", "HSV", "BDV", "DPCV", "EBV", "TSO", "SOL"];

/// Letters of the tags of a relief valve or a root valve, a control valve or a check valve, of valves of wells and of some
/// with an actuator. Other companies have hand valves with these letters.
const AMBIGUOUS_LETTERS: &[&str] = &["RV", "CV", "DHSV", "EMV", "GOV", "MCV", "MWV", "RBV", "UMV", "LMV", "DIV"];

/// Words before the `V` of such a tag, where they are written apart: `ESD-V-1`.
const ACTUATED_WORDS: &[&str] = &[
    "ESD", "ESDV", "ES", "EB", "EI", "SD", "SDV", "BD", "BDV", "MO", "MOV", "AO", "HO", "X", "XV", "XZ", "SIS", "HIPPS",
];

/// First letters of the tags of valves in a loop: measured variables and safety functions. `H` is a hand valve. Hand
/// valves often have the letters of their type or purpose: `BV`, `DV`, `GV`, `IV`, `MV`, `NV`, `VV`.
const VARIABLES: &str = "AEFJKLPQRSTUWXYZ";

/// Letters between the first one and `V`, in the tags of such valves. A second letter of a valve type (`B`, `G`, `N`)
/// is none of them: `FBV` is often a ball valve with a full bore.
const FUNCTIONS: &str = "ACDEFIKLOPQRSTUXYZ";

/// Words in tags that name a check valve, also behind other letters: `CV-CHK-1`.
const CHECK_VALVE_WORDS: &[&str] = &["CHK", "CHECK", "NRV"];

/// Letters of relief devices in tags behind a number or a single letter: `D-20PSV0002`.
const RELIEF_WORDS: &[&str] = &["PSV", "PSE", "PRV", "PSRV", "PVSV", "PVRV", "SRV", "TSV"];

/// Returns whether a word of a tag names a check valve, or its only word of several letters a relief device: a tag such as
/// `HV-PSV-1` is that of a valve at one.
pub(crate) fn names_self_acting_valve(tag: &str) -> bool {
    let is_one_of = |word: &str, words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    let words = || tag.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1);
    // The valve 1 at a relief device: `V1-PSV-101`.
    let is_numbered_valve = || {
        let first = tag.split(|c: char| !c.is_ascii_alphanumeric()).find(|part| !part.is_empty()).unwrap_or_default();
        let number = first.strip_prefix(['V', 'v']).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
    };
    words().any(|word| is_one_of(word, CHECK_VALVE_WORDS))
        || words().all(|word| is_one_of(word, RELIEF_WORDS)) && words().next().is_some() && !is_numbered_valve()
}

/// Returns what the letters of the tag of a valve say about it.
pub(crate) fn tag_letters(letters: &str) -> TagLetters {
    let is_automatic = |last: &[char]| {
        let inner = letters.strip_suffix(last).and_then(|rest| rest.strip_prefix(|c| VARIABLES.contains(c)));
        inner.is_some_and(|inner| inner.chars().all(|c| FUNCTIONS.contains(c)))
    };
    match () {
        () if SELF_ACTING_LETTERS.contains(&letters) => TagLetters::SelfActing,
        () if AMBIGUOUS_LETTERS.contains(&letters) => TagLetters::Ambiguous,
        // A valve with the tag of its relay, its solenoid or its drive.
        () if ACTUATED_LETTERS.contains(&letters) || is_automatic(&['V', 'Y', 'Z']) => TagLetters::Actuated,
        () => TagLetters::HandValve,
    }
}

/// Returns the same for letters behind a prefix: in `ESD-V-1`, the word before the last letters is a part of them.
pub(crate) fn tag_letters_behind(prefix: &str, letters: &str) -> TagLetters {
    const VALVE_LETTERS: &[&str] = &["V", "BV", "GV", "HV", "PV"];
    let is_separator = |c: char| !c.is_ascii_alphabetic();
    let word = prefix.trim_end_matches(is_separator).rsplit(is_separator).next().unwrap_or_default();
    // The letters of a controller: `LIC-V-1`.
    let is_controller = || {
        let word = word.to_ascii_uppercase();
        let inner = word.strip_suffix('C').and_then(|rest| rest.strip_prefix(|c| VARIABLES.contains(c)));
        inner.is_some_and(|inner| inner.chars().all(|c| FUNCTIONS.contains(c)))
    };
    let is_of_actuated = VALVE_LETTERS.contains(&letters)
        && (ACTUATED_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)) || is_controller());
    if is_of_actuated { TagLetters::Actuated } else { tag_letters(letters) }
}

/// Built-in classes. The first matching row applies.
const BUILT_IN: &[(Role, &[Words])] = &[
    // Measuring and spray nozzles in a pipe are not nozzles of equipment.
    (Role::None, &[InPiping(&["nozzle"]), Last(&["flow_nozzle", "spray_nozzle"])]),
    (Role::Port, &[Last(&["nozzle"])]),
    (Role::OffPage, &[Has(&["off_page", "connector_symbol"]), Last(&["opc", "outlet", "inlet"])]),
    // Caps against rain and dust are no closures.
    (
        Role::OpenEnd,
        &[
            Has(&["open_end"]),
            Last(&["desiccant_breather", "air_breather", "breather", "breather_cap", "tank_breather"]),
            Last(&["rain_cap", "vent_cap", "vented_cap", "weather_cap", "dust_cap", "open_cap"]),
        ],
    ),
    (Role::None, &[Is(&["reference.signal_end"])]),
    // References to another sheet, whatever the rest of their class.
    (Role::OffPage, &[Begins(&["reference."])]),
    // Some tools class what protects by opening, and the valves in a pipe, as instruments.
    (Role::Relief, &[InInstruments(RELIEF_INSTRUMENTS)]),
    (Role::Control, &[InInstruments(VALVE_INSTRUMENTS)]),
    // Equipment of the instrument air, whatever the rest of its class.
    (
        Role::Equipment,
        &[
            Begins(&["equipment.instrument_"]),
            Last(&[
                "instrument_air_compressor",
                "instrument_air_drier",
                "instrument_air_drum",
                "instrument_air_dryer",
                "instrument_air_receiver",
                "instrument_air_tank",
                "instrument_air_vessel",
                "instrument_gas_drum",
                "instrument_gas_vessel",
            ]),
        ],
    ),
    (Role::None, &[Last(&["instrument_air_header", "instrument_header", "instrument_air_manifold"])]),
    // Hand valves of instruments.
    (Role::Barrier, &[InInstruments(HAND_VALVES_OF_INSTRUMENTS), Last(HAND_VALVES_AT_INSTRUMENTS)]),
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
                "switch",
                "interlock",
                "trip",
                "sis",
                "sif",
                "safety_instrumented_function",
                "logic_solver",
            ]),
        ],
    ),
    // Vents and drains that open by themselves cannot be shut.
    (
        Role::None,
        &[
            Has(&[
                "air_vent",
                "automatic_vent",
                "auto_vent",
                "air_release",
                "air_eliminator",
                "automatic_drain",
                "auto_drain",
            ]),
            Ends(&["excess_flow_valve", "excess_flow_safety_valve", "excess_flow_check_valve", "excess_flow_check"]),
        ],
    ),
    (Role::None, &[Last(FIXED_CHOKES)]),
    // Before blind flanges: a spectacle blind flange swings.
    (
        Role::Blind,
        &[
            Has(&[
                "line_blind",
                "slip_blind",
                "spade",
                "spectacle",
                "figure_8",
                "figure_eight",
                "paddle_b",
                "swing_blind",
            ]),
            Has(&["blanking_plate", "blind_plate", "goggle", "removable_spool", "spool_removable"]),
            Last(&["blind", "spacer", "spacer_ring", "ring_spacer"]),
            Last(other_languages::BLINDS),
        ],
    ),
    (Role::OpenEnd, &[Has(&["drilled_blind", "vented_blind"])]),
    (
        Role::PositiveBarrier,
        &[
            Last(&["blind_flange", "blank_flange", "flange_blind", "flange_blank"]),
            Is(&["capped_end", "plugged_end", "closed_end"]),
            Last(&["removed_spool", "removed_spool_piece"]),
            Is(other_languages::BLIND_FLANGES),
        ],
    ),
    // Equipment and parts that are named after relief, and relieve nothing themselves.
    (
        Role::Equipment,
        &[Last(&[
            "relief_condenser",
            "relief_drum",
            "relief_tank",
            "relief_vessel",
            "relief_scrubber",
            "relief_separator",
            "relief_stack",
            "relief_knock_out_pot",
            "relief_knock_out_drum",
            "relief_knockout_drum",
            "relief_pot",
        ])],
    ),
    (
        Role::None,
        &[
            Last(&[
                "relief_header",
                "relief_line",
                "relief_piping",
                "relief_tee",
                "emergency_vent_line",
                "air_relief_valve",
                "relief_manifold",
                "relief_pipe",
                "relief_system",
                "relief_orifice",
            ]),
            Last(&["relief_nozzle", "relief_silencer", "relief_valve_silencer"]),
            Last(&["disc_holder", "disk_holder", "disc_detector", "disk_detector", "disc_indicator", "disk_indicator"]),
        ],
    ),
    // Safety valves of wells, burners and tanks close in an emergency (API 14A, API 6A, EN 161, EN 13175).
    (
        Role::Control,
        &[
            Has(&["surface_safety", "downhole_safety"]),
            Last(&["burner_safety_valve", "internal_safety_valve", "flame_safety_valve"]),
        ],
    ),
    // Valves and other items at a relief device: the word before `valve` says what they are.
    (
        Role::Barrier,
        &[Ends(&[
            "relief_isolation_valve",
            "relief_isolating_valve",
            "relief_block_valve",
            "relief_stop_valve",
            "relief_inlet_valve",
            "relief_outlet_valve",
            "relief_valve_isolation_valve",
            "relief_valve_isolating_valve",
            "relief_valve_block_valve",
            "relief_valve_stop_valve",
            "relief_valve_inlet_valve",
            "relief_valve_outlet_valve",
            "relief_inlet_block_valve",
            "relief_inlet_isolation_valve",
            "relief_isolation_block_valve",
            "relief_outlet_block_valve",
            "relief_outlet_isolation_valve",
            "relief_valve_inlet_block_valve",
            "relief_valve_inlet_isolation_valve",
            "relief_valve_outlet_block_valve",
            "relief_valve_outlet_isolation_valve",
        ])],
    ),
    (
        Role::Barrier,
        &[Begins(&[
            "block_valve_at_",
            "block_valve_for_",
            "block_valve_of_",
            "inlet_valve_at_",
            "inlet_valve_for_",
            "inlet_valve_of_",
            "isolating_valve_at_",
            "isolating_valve_for_",
            "isolating_valve_of_",
            "isolation_valve_at_",
            "isolation_valve_for_",
            "isolation_valve_of_",
            "outlet_valve_at_",
            "outlet_valve_for_",
            "outlet_valve_of_",
            "stop_valve_at_",
            "stop_valve_for_",
            "stop_valve_of_",
        ])],
    ),
    (Role::Control, &[Ends(&["relief_control_valve"])]),
    (Role::OneWay, &[Ends(&["relief_check_valve", "relief_non_return_valve"])]),
    (
        Role::None,
        &[
            Ends(&["relief_test_valve", "relief_valve_test_valve", "relief_bypass_valve", "relief_valve_bypass_valve"]),
            Has(&["stress_relief"]),
            Last(&["breather_filter", "breather_cap_filter"]),
        ],
    ),
    (
        Role::Relief,
        &[
            Ends(&["safety", "safety_valve", "safety_head"]),
            Ends(&["safety_or_fitting", "safety_valve_or_fitting", "safety_head_or_fitting"]),
            Has(&["rupture_dis", "bursting_dis", "burst_dis", "rupture_pin", "buckling_pin", "breaking_pin"]),
            Last(&["burst_cap", "bursting_cap", "frangible_cap", "blow_off_cap"]),
            Has(&["relief", "breather", "vacuum_breaker"]),
            Has(&["conservation_vent", "emergency_vent", "explosion_vent", "explosion_panel", "pressure_vacuum"]),
            Last(&["emergency_pressure_vent", "bursting_panel", "rupture_panel", "vent_panel", "weighted_hatch"]),
            Last(&["psv", "prv", "tsv", "pvsv", "pvrv", "prd", "overflow_valve"]),
            // Not the valve of a truck that is unloaded.
            Is(&["unloading_valve"]),
            Last(other_languages::RELIEF_DEVICES),
        ],
    ),
    (
        Role::OneWay,
        &[
            Last(&["check", "nrv"]),
            Valve(&["check", "foot", "reflux", "clack", "duckbill"]),
            Has(&["check_valve", "checkvalve", "non_return", "nonreturn", "backflow", "back_flow", "valve.check"]),
            InValve(&["check_", "_check", "one_way", "oneway"]),
            Last(other_languages::CHECK_VALVES),
        ],
    ),
    // By hand, whatever else operates valves.
    (
        Role::Barrier,
        &[
            Last(&["hand_operated_valve", "manually_operated_valve", "manual_operated_valve", "lever_operated_valve"]),
            Last(&["gear_operated_valve", "handwheel_operated_valve", "wheel_operated_valve", "chain_operated_valve"]),
            Is(UNSPECIFIED_VALVES),
        ],
    ),
    (
        Role::Control,
        &[
            Last(&["control", "regulating", "regulator", "choke", "ballcock", "ssv", "sssv", "scssv", "scsv"]),
            // A choke and a throttle valve do not close tightly, a float valve opens and closes by itself.
            Valve(&["control", "regulating", "choke", "float", "throttle", "throttling", "expansion", "reducing"]),
            Valve(&["metering", "dosing", "governor", "line_break"]),
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
                "esd",
                "hipps",
                "hips",
                "dump",
                "trip",
                "deluge",
                "slam_shut",
                "quick_closing",
                "quick_opening",
                "remote",
            ]),
            Ends(&["_operated_valve", "_actuated_valve", "back_pressure_valve", "backpressure_valve"]),
            InValve(&[
                "pressure_reducing",
                "pressure_sustaining",
                "thermostatic",
                "emergency_",
                "safety_shut",
                "automatic_",
            ]),
            // A drive in front of a type: a motor-operated ball valve.
            InValve(&["motor_operated_", "motor_actuated_", "motorized_", "motorised_", "pneumatic_", "hydraulic_"]),
            InValve(&["actuated_", "air_operated_", "solenoid_", "on_off_", "shutdown_", "shut_down_", "remotely_"]),
            InValve(&[
                "actuator_",
                "automated_",
                "electric",
                "pneumatically_",
                "hydraulically_",
                "motor_",
                "servo_",
                "remote_",
            ]),
            InValve(&["control_", "modulating_", "regulating_", "positioner", "self_acting", "self_operated"]),
            // Before the type of a valve: a float-operated or throttling globe valve, types of trim for control.
            InValve(&["choke_", "float_", "throttle_", "throttling_", "dynamic_balancing", "pressure_independent"]),
            InValve(&["characterized_", "characterised_", "v_notch", "segmented_ball", "eccentric_rotary"]),
            InValve(&[
                "spring_",
                "double_acting",
                "single_acting",
                "fail_",
                "quick_closing",
                "trip_",
                "pilot_",
                "power_",
            ]),
            Last(other_languages::ACTUATED_VALVES),
            InValve(&["sdv_", "xv_", "esd_", "esdv_", "rosov_", "onoff_", "gas_over_oil"]),
            // Valves by the letters of their tags. As a tag, HV is often a hand valve; as a class, it is not stated.
            Last(&[
                "sdv", "esdv", "esv", "xv", "mov", "aov", "rov", "bdv", "hv", "eiv", "fcv", "pcv", "lcv", "tcv", "hcv",
            ]),
        ],
    ),
    (
        Role::MultiWay,
        &[
            InValve(SEVERAL_WAYS),
            InValve(&["mixing", "selector", "transfer", "switching"]),
            InValve(SEVERAL_PORTS),
            Begins(&["l_port_", "t_port_", "l_pattern_"]),
            Has(&["way_cock", "way_plug_cock", "way_stopcock", "way_stop_cock", "way_ball_cock", "way_tap"]),
            Last(other_languages::VALVES_OF_SEVERAL_WAYS),
        ],
    ),
    (
        Role::Barrier,
        &[
            HandValve(&[
                "ball",
                "gate",
                "globe",
                "plug",
                "butterfly",
                "needle",
                "straightway",
                "angle",
                "shut_off",
                "shutoff",
                "diaphragm",
                "pinch",
                "piston",
                "slide",
                "sluice",
                "block",
                "isolation",
                "isolating",
                "stop",
                "root",
                "hand",
                "manual",
                "drain",
                "vent",
                "bleed",
                "sample",
                "manifold",
                "balancing",
                "knife",
                "master",
                "wing",
                "swab",
                "crown",
                "kill",
            ]),
            Is(other_languages::HAND_VALVES),
            Last(&["stopcock", "stop_cock", "plug_cock", "flush_bottom_valve", "tank_bottom_valve"]),
            // Valves of fire water rings: outside screw and yoke, and with a post that shows the position.
            Last(&[
                "post_indicator_valve",
                "os_and_y_valve",
                "os_and_y_gate_valve",
                "os_y_gate_valve",
                "osy_gate_valve",
            ]),
            Is(&["drain_cock", "vent_cock", "gauge_cock", "test_cock", "isolating_cock"]),
            // A plug or a needle alone is not a valve.
            Is(&["ball", "gate", "globe", "butterfly"]),
            Is(&["gate_valve_manual", "ball_valve_manual", "globe_valve_manual", "butterfly_valve_manual"]),
            Is(&["plug_valve_manual", "needle_valve_manual", "globe_valve_angle"]),
            Is(&["gate_valve_flanged", "ball_valve_flanged", "globe_valve_flanged", "butterfly_valve_flanged"]),
            Is(&["valve_ball", "valve_gate", "valve_globe", "valve_plug", "valve_butterfly", "valve_needle"]),
        ],
    ),
    (
        Role::Junction,
        &[Last(&["tee", "branch", "tpiece", "t_piece", "tee_piece"]), Is(&["cross"]), Has(&["pipe_cross", "pipe_tee"])],
    ),
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
                "flare",
                "stack",
                "chimney",
                "basin",
                "pond",
                "lagoon",
                "sump",
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
                Last(words) | Valve(words) | Driven(words) | InPiping(words) | InInstruments(words) => *words,
                InValve(words) | HandValve(words) => *words,
            })
            .copied()
            .collect();
        let in_context = |word: &str| {
            let before = [
                "",
                "x",
                "x_",
                "motor_",
                "instrument.",
                "instruments.",
                "piping_component.",
                "piping_component.x_",
                "piping_component.x",
            ];
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
