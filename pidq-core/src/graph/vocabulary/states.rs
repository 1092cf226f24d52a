//! Words of states: whether an item is there, positions, locks, what a valve does on failure.

/// Statuses of items that are there, as written in drawings, in snake_case. A drawing of a project shows the plant after
/// it: what is new, modified or relocated is there. A status may combine several of them.
pub const INSTALLED: &[&str] = &[
    "active",
    "afc",
    "approved",
    "approved_for_construction",
    "as_built",
    "as_is",
    "asbuilt",
    "bestand",
    "built",
    "changed",
    "checked",
    "commissioned",
    "constructed",
    "current",
    "exist",
    "existing",
    "existing_to_be_modified",
    "existing_to_remain",
    "final",
    "ifc",
    "in_betrieb",
    "in_operation",
    "in_place",
    "in_service",
    "in_use",
    "installed",
    "issued",
    "issued_for_construction",
    "modified",
    "neu",
    "new",
    "newly_installed",
    "no_change",
    "normal",
    "not_modified",
    "operating",
    "operational",
    "refurbished",
    "released",
    "relocated",
    "remaining",
    "retained",
    "reused",
    "revised",
    "running",
    "standby",
    "stand_by",
    "to_be_modified",
    "to_be_retained",
    "to_remain",
    "unchanged",
    "unmodified",
    "bestehend",
    "en_service",
    "existant",
    "existante",
    "neuf",
    "neuve",
    "vorhanden",
];

/// Words in the statuses of items that are not there now.
pub const NOT_INSTALLED: &[&str] = &[
    "absent",
    "canceled",
    "cancelled",
    "deleted",
    "demolished",
    "dismantled",
    "future",
    "planned",
    "proposed",
    "removed",
    "scrapped",
    "uninstalled",
    "void",
    "voided",
];

/// Statuses of pipes that are closed by a blind or a plug, in snake_case.
pub const BLANKED: &[&str] =
    &["blanked", "blanked_off", "blind", "blinded", "blinded_off", "capped", "plugged", "spaded", "isolated"];

/// Fields and attributes that mark a pipe as closed, in snake_case.
pub const CLOSED_MARKS: &[&str] =
    &["blanked", "is_blanked", "blinded", "is_blinded", "closed", "is_closed", "isolated", "is_isolated", "spaded"];

/// Fields and attributes that mark a valve as closed, in snake_case.
pub const VALVE_CLOSED_MARKS: &[&str] = &[
    "closed",
    "is_closed",
    "normally_closed",
    "is_normally_closed",
    "locked_closed",
    "is_locked_closed",
    "sealed_closed",
    "car_sealed_closed",
];

/// Further fields and attributes with a position of a valve, which counts only if it is closed, in snake_case.
pub const VALVE_POSITION_FIELDS: &[&str] = &[
    "valve_status",
    "zustand",
    "état",
    "etat",
    "operating_position",
    "operating_state",
    "valve_operating_position",
    "current_position",
    "actual_position",
    "valve_normal_position",
    "lock_type",
];

/// Texts that say that a valve is closed, beside the words for a closed position, in snake_case.
pub const CLOSED_PHRASES: &[&str] = &[
    "always_closed",
    "closed_valve",
    "keep_closed",
    "keep_this_valve_closed",
    "kept_closed",
    "must_be_closed",
    "normally_close",
    "shut",
    "to_be_closed",
    "to_be_kept_closed",
    "to_be_locked_closed",
    "valve_closed",
];

/// Words in the statuses of items that something is to be done to.
pub const INTENTIONS: &[&str] = &["to", "for"];

/// Names of the first phase of a project, in snake_case.
pub const FIRST_PHASES: &[&str] = &["phase_1", "phase1", "phase_i", "phase_one", "first_phase", "1st_phase"];

/// Fields for the phase of a project, in snake_case.
pub const PHASE_FIELDS: &[&str] = &["phase", "project_phase", "construction_phase", "installation_phase"];

/// Texts of a phase that is a state of matter or a number of conductors, in snake_case: they say nothing about a project.
pub const PHASES_OF_MATTER: &[&str] = &[
    "1_phase",
    "2_phase",
    "3_phase",
    "aqueous",
    "condensate",
    "g",
    "gas",
    "gaseous",
    "l",
    "liquid",
    "mixed",
    "mixed_phase",
    "multi_phase",
    "multiphase",
    "single_phase",
    "oil",
    "organic",
    "slurry",
    "solid",
    "steam",
    "three_phase",
    "two_phase",
    "v",
    "vapor",
    "vapour",
    "vl",
    "water",
];

/// Words for what is to be done to an item that is not there yet.
pub const INSTALLATIONS: &[&str] =
    &["add", "added", "built", "erected", "fitted", "future", "install", "installation", "installed"];

/// Texts of the fail position of a valve that opens, in snake_case.
pub const FAIL_OPEN: &[&str] = &[
    "afo",
    "air_fail_open",
    "air_failure_open",
    "air_to_close",
    "atc",
    "fao",
    "drift_open",
    "fail_open",
    "failopen",
    "fo",
    "open",
    "opened",
    "opening",
    "opens",
    "spring_to_open",
    "auf",
    "feder_auf",
    "feder_öffnet",
    "feder_oeffnet",
    "federöffnend",
    "federoeffnend",
    "offen",
    "öffnend",
    "oeffnend",
    "öffnet",
    "oeffnet",
    "stromlos_offen",
    "ouvert",
    "ouverte",
    "ouvre",
];

/// Texts of the fail position of a valve that closes, in snake_case.
pub const FAIL_CLOSED: &[&str] = &[
    "afc",
    "air_fail_close",
    "air_fail_closed",
    "air_failure_close",
    "air_failure_closed",
    "air_to_open",
    "ato",
    "close",
    "closed",
    "closes",
    "closing",
    "fail_close",
    "fail_closed",
    "failclose",
    "failclosed",
    "fc",
    "shut",
    "shuts",
    "spring_to_close",
    "feder_schließt",
    "feder_schliesst",
    "feder_zu",
    "federschließend",
    "federschliessend",
    "geschlossen",
    "schließend",
    "schliessend",
    "schließt",
    "schliesst",
    "stromlos_geschlossen",
    "zu",
    "fermé",
    "ferme",
    "fermée",
    "fermee",
];

/// Texts of a fail position that the drawing calls indeterminate, in snake_case.
pub const FAIL_INDETERMINATE: &[&str] =
    &["fail_indeterminate", "indeterminate", "undefined", "unbestimmt", "indéterminé"];

/// Labels of the fail position of a valve, in lower case.
pub const FAIL_LABELS: &[&str] = &["afc", "afo", "fai", "fao", "fc", "fip", "fo", "federöffnend", "federschließend"];

/// Words of clauses that are about the failure of an actuator.
pub const FAILURES: &[&str] = &[
    "ausfall",
    "défaut",
    "energieausfall",
    "fail",
    "failed",
    "fails",
    "failure",
    "feder",
    "loss",
    "luftausfall",
    "manque",
    "spring",
    "sicherheitsstellung",
    "stromlos",
];

/// Words beside which air is what fails, in texts of the fail position of a valve.
pub const AIR_FAILURES: &[&str] =
    &["loss", "failure", "fail", "manque", "défaut", "defaut", "perte", "absence", "coupure"];

/// Words in texts of the fail position of a valve that are about the failure.
pub const FAIL_WORDS: &[&str] = &[
    "actuator",
    "air",
    "at",
    "by",
    "electric",
    "fail",
    "failed",
    "fails",
    "failure",
    "in",
    "instrument",
    "loss",
    "of",
    "on",
    "position",
    "power",
    "return",
    "returns",
    "safe",
    "signal",
    "spring",
    "supply",
    "the",
    "to",
    "upon",
    "valve",
    "ausfall",
    "bei",
    "drucklos",
    "durch",
    "energieausfall",
    "energielos",
    "feder",
    "federkraft",
    "luftausfall",
    "luftmangel",
    "sicherheitsstellung",
    "spannungslos",
    "stellung",
    "stromausfall",
    "stromlos",
    "ventil",
    "absence",
    "alimentation",
    "au",
    "cas",
    "coupure",
    "courant",
    "d",
    "de",
    "défaut",
    "defaut",
    "en",
    "la",
    "le",
    "manque",
    "par",
    "perte",
    "repli",
    "ressort",
    "sécurité",
    "securite",
    "sur",
    "vanne",
    "à",
    "a",
];

/// Texts of the fail position of a valve that keeps its position, in snake_case.
pub const FAIL_IN_PLACE: &[&str] = &[
    "as_is",
    "fail_as_is",
    "fail_in_place",
    "fail_last",
    "fail_lock",
    "fail_locked",
    "fai",
    "fi",
    "fl",
    "fip",
    "freeze",
    "hold",
    "holds",
    "in_place",
    "last",
    "lock",
    "locked",
    "locks",
    "retain",
    "retains",
    "fail_retain_position",
    "stay",
    "stay_put",
    "stays",
    "place",
    "bleibt",
    "bleibt_stehen",
    "hält",
    "haelt",
    "stehen",
    "verharrt",
    "bloqué",
    "bloque",
    "bloquée",
    "bloquee",
    "figé",
    "fige",
    "figée",
    "figee",
    "maintenu",
    "maintenue",
    "maintien",
    "reste",
];

/// Texts of the lock of a valve that has none, in snake_case.
pub const NO_LOCK: &[&str] = &[
    "no",
    "none",
    "n",
    "false",
    "0",
    "unlocked",
    "not_locked",
    "no_lock",
    "not_sealed",
    "n_a",
    "na",
    "-",
    "mechanical_seal",
];

/// Words of the position of a valve that a car seal holds, in snake_case.
pub const CAR_SEALS: &[&str] =
    &["cso", "csc", "car_seal_open", "car_seal_closed", "car_sealed_open", "car_sealed_closed"];

/// Words in texts of a lock that say that there is one: positions, and words for yes.
pub const LOCK_CODES: &[&str] =
    &["cso", "csc", "cs", "lo", "lc", "so", "sc", "ilo", "ilc", "yes", "y", "true", "1", "x", "closed", "open", "nc"];

/// Words for the lock or the seal itself.
pub const LOCK_WORDS: &[&str] = &[
    "chain",
    "chained",
    "carsealed",
    "carseal",
    "interlock",
    "interlocked",
    "key",
    "keyed",
    "kirk",
    "lock",
    "locked",
    "locking",
    "locks",
    "padlock",
    "padlocked",
    "plombe",
    "plombiert",
    "schloss",
    "sealed",
    "seal",
    "verplombt",
    "verriegelt",
    "verriegelung",
    "abgeschlossen",
    "abgesperrt",
    "plombé",
    "plombée",
    "cadenassé",
    "verrouillé",
    "wire",
    "wired",
];

/// Words for a lock or a seal beside a position in German, French and English, in lower case.
pub const OTHER_LOCK_WORDS: &[&str] = &[
    "cadenassé",
    "cadenassée",
    "car",
    "plombiert",
    "plombé",
    "plombée",
    "verplombt",
    "verriegelt",
    "verrouillé",
    "verrouillée",
];

/// Words in texts of a lock that say that there is none.
pub const NO_LOCK_WORDS: &[&str] = &[
    "absent", "broken", "cut", "deleted", "face", "future", "gasket", "hold", "lost", "missing", "none", "not", "oil",
    "ohne", "pending", "planned", "proposed", "optional", "required", "removed", "soft", "tbc", "tbd", "unlocked",
    "unsealed", "without", "nicht", "sans", "stem",
];
