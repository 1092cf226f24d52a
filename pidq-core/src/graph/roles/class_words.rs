//! Matching of classes by their words.

/// Word-based class matchers. Equivalent patterns exist, but compiling them would take a millisecond per process.
#[derive(Clone, Copy)]
pub(super) enum Words {
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
    /// Is one of these, in the namespace of instruments; also without separators and in the plural, as some catalogs write
    /// their classes: `Reliefdevices`.
    InInstruments(&'static [&'static str]),
    /// Like `Has`, for a class that also has the word `valve`: a hydraulic pump is no valve.
    InValve(&'static [&'static str]),
    /// One of these before `_valve` or `_vlv`, after nothing but words of `HAND_VALVE_WORDS`: `wedge_gate_valve`, but not
    /// `control_gate_valve` or any other word that may say that it is no hand valve. `HAND_VALVE_DETAILS` may follow:
    /// `ball_valve,_full_bore`.
    HandValve(&'static [&'static str]),
}
pub(super) use Words::{Begins, Driven, Ends, HandValve, Has, InInstruments, InPiping, InValve, Is, Last, Valve};

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

/// Words behind the name of a hand valve that leave it one: its bore, its ends, its material. A part, such as `gate_valve_stem`,
/// is no valve.
const HAND_VALVE_DETAILS: &[&str] = &[
    "ball",
    "bore",
    "butt",
    "butterfly",
    "carbon",
    "cast",
    "closed",
    "double",
    "eccentric",
    "end",
    "ends",
    "entry",
    "flanged",
    "floating",
    "forged",
    "full",
    "gate",
    "gear",
    "globe",
    "hand",
    "high",
    "lc",
    "lever",
    "lined",
    "locked",
    "lug",
    "lugged",
    "manual",
    "metal",
    "nc",
    "needle",
    "normally",
    "one",
    "operated",
    "pattern",
    "performance",
    "piece",
    "port",
    "ptfe",
    "pvc",
    "reduced",
    "rising",
    "screwed",
    "seated",
    "single",
    "socket",
    "soft",
    "split",
    "stainless",
    "steel",
    "straight",
    "threaded",
    "three",
    "top",
    "triple",
    "trunnion",
    "two",
    "type",
    "wafer",
    "wedge",
    "weld",
    "welded",
    "y",
];

impl Words {
    /// Returns whether a class in snake_case matches.
    pub fn matches(self, class: &str) -> bool {
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
                kind.is_some_and(|kind| words.iter().any(|word| is_spelling_of(kind, word)))
            }
            HandValve(words) => ["_valve", "_vlv"].iter().any(|noun| {
                let splits = class.match_indices(noun).map(|(at, _)| (&class[..at], &class[at + noun.len()..]));
                splits.into_iter().any(|(kind, details)| is_hand_valve(words, kind) && are_details(details))
            }),
        }
    }

    /// Returns the equivalent pattern.
    pub fn pattern(self) -> String {
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
            InInstruments(words) => {
                return format!(r"^instruments?\.({})s?$", words.join("|").replace('_', "_?"));
            }
            InPiping(words) => (r"^piping_component\.(.*_)?", words, "$"),
            HandValve(words) => {
                let [any, hand, details] =
                    [HAND_VALVE_WORDS, HAND_WORDS, HAND_VALVE_DETAILS].map(|words| words.join("|"));
                let kinds = words.join("|");
                return format!(
                    r"^(({any})_|({hand})_operated_)*({kinds})_(valve|vlv)([^\pL\pN]+({details}))*[^\pL\pN]*$"
                );
            }
        };
        format!("{before}({}){after}", words.join("|").replace('.', r"\."))
    }
}

fn are_last(words: &[&str], class: &str) -> bool {
    let is_word = |before: &str| before.is_empty() || before.ends_with('_');
    words.iter().any(|word| class.strip_suffix(word).is_some_and(is_word))
}

/// Returns whether a class is a word, with or without its separators, in the singular or the plural.
fn is_spelling_of(class: &str, word: &str) -> bool {
    let rest = word.split('_').enumerate().try_fold(class, |rest, (at, part)| {
        let rest = if at == 0 { rest } else { rest.strip_prefix('_').unwrap_or(rest) };
        rest.strip_prefix(part)
    });
    matches!(rest, Some("" | "s"))
}

/// Returns whether what follows the name of a hand valve leaves it one.
fn are_details(text: &str) -> bool {
    !text.starts_with(char::is_alphanumeric)
        && text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .all(|word| HAND_VALVE_DETAILS.contains(&word))
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
