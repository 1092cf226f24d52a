//! Words of remarks and descriptions: those that say nothing about the state of an item, and those that make one doubtful.

use std::sync::LazyLock;

use hashbrown::HashSet;

/// Returns whether a word of a remark, in lower case, says nothing about whether an item is there and closes: places,
/// materials, services, sizes, documents, and what an item is for. Words for positions and locks are read elsewhere.
pub fn is_plain_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| words_in(include_str!("words/plain_words.txt")));
    WORDS.contains(word)
}

/// Returns whether a participle in lower case says nothing about whether an item is there and closes.
pub fn is_plain_participle(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| words_in(include_str!("words/plain_participles.txt")));
    WORDS.contains(word)
}

/// Returns the words of a list; a line that begins with `#` is a comment.
fn words_in(list: &'static str) -> HashSet<&'static str> {
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// Words that make a text about an item doubtful, in lower case: negations, conditions, possibilities, and states that no list has.
pub const UNCERTAIN_WORDS: &[&str] = &[
    // Negations.
    "aucun",
    "aucune",
    "cannot",
    "hardly",
    "jamais",
    "kein",
    "keine",
    "keinen",
    "neither",
    "never",
    "nicht",
    "nie",
    "nor",
    "not",
    "ohne",
    "pas",
    "sans",
    // Conditions and other times.
    "although",
    "außer",
    "ausser",
    "bis",
    "but",
    "except",
    "falls",
    "formerly",
    "former",
    "however",
    "if",
    "instead",
    "occasionally",
    "provisional",
    "provisionally",
    "provisoire",
    "provisorisch",
    "sauf",
    "sometimes",
    "temporarily",
    "temporary",
    "though",
    "unless",
    "until",
    "vorübergehend",
    "was",
    "wenn",
    "were",
    "whether",
    // Possibilities.
    "apparently",
    "can",
    "clarify",
    "confirm",
    "could",
    "doubtful",
    "kann",
    "maybe",
    "may",
    "might",
    "perhaps",
    "possibly",
    "presumably",
    "probably",
    "questionable",
    "suspect",
    "tba",
    "tbc",
    "tbd",
    "uncertain",
    "unclear",
    "unknown",
    "verification",
    "verify",
    "will",
    "would",
    // Participles and states in German and French.
    "abgeklemmt",
    "arretiert",
    "ausgehängt",
    "bloqué",
    "bloquée",
    "blockiert",
    "calée",
    "coincé",
    "coincée",
    "condamné",
    "condamnée",
    "débranché",
    "débranchée",
    "déconnecté",
    "déconnectée",
    "festgesetzt",
    "forcé",
    "forcée",
    "gebrückt",
    "gesperrt",
    "grippé",
    "grippée",
    "inhibé",
    "inhibée",
    "klemmt",
    "pontée",
    "shunté",
    "shuntée",
    "verkeilt",
    "verklemmt",
    "überbrückt",
    // States.
    "bad",
    "bent",
    "dead",
    "faulty",
    "frozen",
    "gone",
    "half",
    "held",
    "hollow",
    "hung",
    "incomplete",
    "kept",
    "loose",
    "lost",
    "missing",
    "obsolete",
    "partial",
    "partially",
    "partly",
    "poor",
    "remove",
    "removal",
    "replace",
    "replacement",
    "stolen",
    "taken",
    "torn",
    "unable",
    "unreliable",
    "unsafe",
    "hole",
    "holes",
    "unserviceable",
    "unusable",
    "withdrawn",
    "worn",
    "wrong",
];

/// Words that say that something other than a hand moves a valve, in lower case.
pub const MOVED_WORDS: &[&str] = &[
    "auma",
    "bettis",
    "biffi",
    "closes",
    "hydr",
    "limitorque",
    "mot",
    "opens",
    "pilot",
    "plc",
    "pneum",
    "regulating",
    "rotork",
    "sdnr",
    "transflow",
];

/// Participles of what trips, sensors and shutdown valves do, and of how pumps are built, in lower case.
pub const TRIP_PARTICIPLES: &[&str] = &[
    "activated",
    "alarmed",
    "canned",
    "configured",
    "controlled",
    "coupled",
    "deenergised",
    "deenergized",
    "delayed",
    "detected",
    "duplicated",
    "energised",
    "energized",
    "exceeded",
    "filled",
    "fireproofed",
    "hardwired",
    "implemented",
    "indicated",
    "initiated",
    "latched",
    "lined",
    "packaged",
    "reached",
    "started",
    "stopped",
    "submerged",
    "timed",
    "transmitted",
    "triggered",
    "triplicated",
    "tripped",
    "unspared",
    "wired",
];

/// Words for notes of a drawing, which are elsewhere, in lower case.
pub const REFERENCES: &[&str] = &["note", "notes", "anmerkung", "hinweis", "remarque"];

/// Words in the names of fields that speak against a hand valve unless their value is a denial: of a drive, of a signal, of a
/// way around it, of a damage.
pub const HINDERING_FIELD_WORDS: &[&str] = &[
    "actuator",
    "actuators",
    "automated",
    "automatic",
    "automation",
    "bypass",
    "bypassed",
    "cause",
    "closes",
    "controlled",
    "controller",
    "damage",
    "damaged",
    "defect",
    "defective",
    "demolish",
    "drilled",
    "failure",
    "hole",
    "interlock",
    "io",
    "jammed",
    "leaking",
    "opening",
    "operated",
    "partial",
    "passing",
    "shutdown",
    "signal",
    "stop",
    "stuck",
    "trip",
    "umgang",
];

/// Words beside them that are about a flange, a bolt or a supplier.
pub const HARMLESS_FIELD_WORDS: &[&str] = &["bolt", "bolts", "flange", "flanges", "pattern", "supplier", "vendor"];

/// Words in the names of fields that speak against a valve if their value is a denial: `tight_shutoff: false`.
pub const CLOSING_FIELD_WORDS: &[&str] = &[
    "fitted",
    "functional",
    "handwheel",
    "holding",
    "integrity",
    "isolating",
    "isolation",
    "mounted",
    "operable",
    "operational",
    "proven",
    "shutoff",
    "suitable",
    "tight",
    "tightness",
    "tso",
];

/// Fields for the state or the condition of a valve, in snake_case.
pub const STATE_FIELDS: &[&str] = &[
    "actual_state",
    "change",
    "condition",
    "current_state",
    "current_status",
    "estado",
    "inspection",
    "inspection_result",
    "inspection_status",
    "item_condition",
    "last_inspection",
    "last_test",
    "leak_test",
    "operating_state",
    "operating_status",
    "operational_state",
    "operational_status",
    "state",
    "test_result",
    "toestand",
    "valve_condition",
    "valve_state",
    "valve_status",
];

/// Fields with the text of a note on the drawing.
pub const NOTE_TEXT_FIELDS: &[&str] =
    &["caption", "content", "contents", "note_text", "string", "text", "text_string", "value"];

/// Fields of the metadata of a sheet with its notes.
pub const SHEET_NOTE_FIELDS: &[&str] = &["general_notes", "notes", "remarks", "sheet_notes"];

/// Last words of the classes of notes on a drawing.
pub const NOTE_CLASSES: &[&str] = &["annotation", "comment", "note", "remark", "text", "textbox", "callout"];

/// Words for an interlock or a linkage between two items, in lower case.
pub const INTERLOCK_WORDS: &[&str] = &[
    "interlock",
    "interlocked",
    "interlocking",
    "linked",
    "coupled",
    "verriegelt",
    "verriegelung",
    "gekoppelt",
    "verrouillé",
    "couplé",
];

/// Words before the other item of an interlock, in lower case.
pub const COMPANION_WORDS: &[&str] = &["with", "to", "against", "mit", "gegen", "avec"];

/// Fields for the type of a valve, in snake_case.
pub const VALVE_TYPE_FIELDS: &[&str] = &[
    "sub_class",
    "valve_type",
    "type_of_valve",
    "valve_function",
    "block_name",
    "cad_block",
    "block",
    // Of SmartPlant P&ID.
    "piping_comp_type",
    "piping_comp_subclass",
];

/// Words before a fitting that a blind or a cap has, in lower case.
pub const FITTED_WORDS: &[&str] = &["with", "w", "c", "complete", "incl", "including", "mit", "avec"];

/// Words for an opening in a blind or a cap, in lower case.
pub const OPENING_WORDS: &[&str] = &[
    "valve",
    "valves",
    "hose",
    "connection",
    "connections",
    "drain",
    "vent",
    "bleed",
    "bleeder",
    "hole",
    "tapping",
    "tapped",
    "nipple",
    "cock",
    "ventil",
    "hahn",
    "robinet",
    "vanne",
];

/// Words of texts of a bleed that say nothing about where it leads, in lower case, besides those for hand valves.
pub const BLEED_NEUTRAL_WORDS: &[&str] = &[
    // Where a drain or a vent ends.
    "basin",
    "bund",
    "catch",
    "containment",
    "ditch",
    "floor",
    "funnel",
    "grade",
    "ground",
    "gully",
    "gutter",
    "hub",
    "kerb",
    "location",
    "ows",
    "pit",
    "pot",
    "safe",
    "sump",
    "trench",
    "tundish",
    "free",
    "blow",
    "point",
    "low",
    "high",
    "lp",
    "hp",
    "normally",
    "connection",
    "blind",
    "flange",
    "cap",
    "capped",
    "plug",
    "plugged",
    "line",
    "pipe",
    "piping",
    "with",
    "and",
    "to",
    "the",
    "at",
    "of",
    "on",
    "open",
    "end",
    "ended",
    "atmosphere",
    "local",
    "lpd",
    "hpv",
    "nc",
    "lc",
    "class",
    "rating",
    "valve",
    "valves",
];

/// Words of what is not there yet, in the texts of closures.
pub const FUTURE_WORDS: &[&str] = &[
    "future",
    "futur",
    "futura",
    "futuro",
    "künftig",
    "künftige",
    "künftigen",
    "künftiger",
    "toekomstig",
    "toekomstige",
    "zukünftig",
    "zukünftige",
    "zukünftigen",
    "zukünftiger",
];

/// Words beside them of what is to be done with a closure itself.
pub const FUTURE_EVENTS: &[&str] = &[
    "demolition",
    "deletion",
    "fitting",
    "install",
    "installation",
    "modification",
    "opening",
    "phase",
    "removal",
    "replacement",
    "scope",
    "supply",
];

/// Prepositions before a purpose.
pub const PURPOSE_PREPOSITIONS: &[&str] = &["for", "für", "par", "para", "pour", "to", "voor"];

/// Nouns of what closes the end of a pipe.
pub const CLOSURE_NOUNS: &[&str] = &[
    "bf",
    "blank",
    "blind",
    "blindflansch",
    "bride",
    "cap",
    "deckel",
    "flange",
    "flansch",
    "item",
    "kappe",
    "plug",
    "spade",
    "stopfen",
    "valve",
];

/// Words of texts of closures that say no more than what they are for.
pub const CLOSURE_PURPOSES: &[&str] = &[
    "blanked",
    "blinded",
    "capped",
    "connection",
    "flange",
    "nozzle",
    "off",
    "plugged",
    "reserve",
    "reserved",
    "spare",
    "stub",
];
