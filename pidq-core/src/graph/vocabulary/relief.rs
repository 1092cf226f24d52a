//! Words of relief devices, of the ends of their paths, and of safeguards that act by themselves.

/// Words of devices for the expansion of a liquid.
pub const THERMAL_RELIEF_WORDS: &[&str] =
    &["expansion", "thermal", "thermique", "thermisch", "thermische", "trv", "wärmeausdehnung"];

/// Letters of the tags of such devices.
pub const THERMAL_RELIEF_LETTERS: &[&str] = &["TERV", "TRV", "TSV"];

/// Parts of the classes of discs that burst.
pub const RUPTURE_DISCS: &[&str] = &["rupture", "bursting"];

/// Letters of the tags of relief devices. `PRV` may be a reducing valve too, and `TRV` a temperature regulator.
pub const RELIEF_LETTERS: &[&str] = &["PSV", "TSV", "PSE", "SRV", "PSRV", "PVSV", "PVRV", "VRV", "VSV"];

/// Parts of the classes of relief devices that discharge to the atmosphere where they are, and need no pipe for it.
pub const ATMOSPHERIC_RELIEF: &[&str] = &[
    "breather",
    "vacuum",
    "conservation_vent",
    "emergency_vent",
    "emergency_pressure_vent",
    "emergency_relief_vent",
    "explosion_vent",
    "explosion_panel",
    "bursting_panel",
    "rupture_panel",
    "vent_panel",
    "pressure_relief_manhole",
    "relief_cover",
    "relief_hatch",
    "weighted_hatch",
    "pvsv",
    "pvrv",
];

/// Parts of the classes of relief devices that let air in.
pub const VACUUM_RELIEF: &[&str] = &["breather", "vacuum", "conservation_vent", "pvsv", "pvrv"];

/// Parts of the classes and descriptions of relief devices that let air in and nothing out.
pub const VACUUM_ONLY: &[&str] = &[
    "vacuum_breaker",
    "vacuum_relief",
    "vacuum_safety",
    "vacuum_valve",
    "vacuum_vent",
    "antivacuum",
    "anti_vacuum",
    "vacuum_protection",
    "vacuum_prevent",
    "vacuum_breaking",
    "unterdruckventil",
    "unterdrucksicherung",
    "vakuumbrecher",
    "vakuumventil",
    "casse_vide",
    "soupape_de_vide",
];

/// Parts of the classes of stacks that are open to the air.
pub const VENT_STACKS: &[&str] = &["vent_stack", "vent_mast"];

/// Fields and attributes with the vacuum at which a device lets air in, in snake_case.
pub const VACUUM_SETTINGS: &[&str] = &[
    "set_vacuum",
    "set_vacuum_pressure",
    "vacuum_set",
    "vacuum_set_point",
    "vacuum_set_pressure",
    "vacuum_setting",
    "set_pressure_vacuum",
    "opening_vacuum",
];

/// Words in a set pressure that say that it is below that of the atmosphere.
pub const VACUUM_WORDS: &[&str] = &["fv", "unterdruck", "vac", "vacuum", "vakuum", "vide"];

/// Parts of the classes of relief devices that open in both directions, or outwards.
pub const BREATHING: &[&str] =
    &["breather", "conservation", "pressure_vacuum", "vacuum_pressure", "pressure_and", "and_pressure", "pvsv", "pvrv"];

/// Words in the classes of equipment that burns what is relieved, or is open to the air. What burns only with a fan and
/// fuel, such as an oxidizer, is none.
pub const RELIEF_ENDS: &[&str] = &[
    "basin",
    "bund",
    "chimney",
    "cooling_tower",
    "equipment_vent",
    "flare",
    "lagoon",
    "pit",
    "pond",
    "stack",
    "sump",
    "waste_gas_emitter",
];

/// Last words in the classes of items at which a pipe ends in the open air.
pub const AIR_ENDS: &[&str] = &[
    "atmosphere",
    "atmospheric_vent",
    "bird_cage",
    "bird_screen",
    "birdscreen",
    "burn_pit",
    "cowl",
    "discharge_head",
    "drain_funnel",
    "drain_hub",
    "exhaust_head",
    "exhaust_silencer",
    "flare_pit",
    "flare_tip",
    "floor_drain",
    "funnel",
    "goose_neck",
    "gooseneck",
    "gully",
    "hood",
    "hub_drain",
    "open_drain",
    "overboard",
    "safe_location",
    "trench",
    "tundish",
    "vent_head",
    "vent_line",
    "vent_silencer",
    "vent_tip",
    "vent_to_atmosphere",
];

/// Last words in the classes of items that are open to the air, however many pipes lead to them.
pub const OPEN_FUNNELS: &[&str] =
    &["drain_funnel", "drain_hub", "floor_drain", "funnel", "gully", "hub_drain", "open_drain", "trench", "tundish"];

/// Last words in the classes of items at which something is let out of a pipe.
pub const OUTLETS: &[&str] = &[
    "drain_connection",
    "drain_point",
    "funnel",
    "hose_connection",
    "hose_coupling",
    "hub",
    "sample_connection",
    "sample_cooler",
    "sample_point",
    "sampling_connection",
    "sampling_point",
    "screen",
    "tundish",
    "vent_connection",
    "vent_mast",
    "vent_point",
];

/// Last words in the classes of items behind which a pipe ends in the open air, or which are in a pipe whose end is not drawn.
pub const LIKELY_AIR_ENDS: &[&str] = &["discharge_pipe", "exhaust_pipe", "sewer", "silencer", "tail_pipe", "vent_pipe"];

/// Words in the classes and descriptions of equipment through which relieved fluid flows to a flare.
pub const FLARE_EQUIPMENT: &[&str] = &[
    "knock_out",
    "knockout",
    "ko_drum",
    "k_o_drum",
    "kod",
    "blowdown",
    "blow_down",
    "flare",
    "relief_header",
    "seal_drum",
    "vent_stack",
];

/// Words in the classes of drums of a flare, from which gas flows on.
pub const FLARE_DRUMS: &[&str] =
    &["knock_out", "knockout", "ko_drum", "k_o_drum", "kod", "seal_drum", "blowdown_drum", "blow_down_drum"];

/// Last words in the classes of flares and stacks, which are open to the air.
pub const OPEN_STACKS: &[&str] = &["flare", "flare_stack", "flare_tip", "vent_stack"];

/// Words in the classes of items that stop a flame, a leak or a reverse flow by themselves, with the kind of safeguard.
pub const PASSIVE_SAFEGUARDS: &[(&str, &str)] = &[
    ("flame_arrest", "flame_arrester"),
    ("detonation_arrest", "flame_arrester"),
    ("deflagration_arrest", "flame_arrester"),
    ("excess_flow", "excess_flow_valve"),
    ("backflow_prevent", "backflow_preventer"),
    ("back_flow_prevent", "backflow_preventer"),
];

/// Letters of the tags of such items, with the kind of safeguard.
pub const PASSIVE_LETTERS: &[(&str, &str)] = &[
    ("BFP", "backflow_preventer"),
    ("DA", "flame_arrester"),
    ("EFV", "excess_flow_valve"),
    ("FA", "flame_arrester"),
    ("XFV", "excess_flow_valve"),
];

/// Last words in the classes of fittings of any kind that protect: relief devices, flame arresters, excess flow valves.
pub const GENERAL_FITTINGS: &[&str] = &["safety_or_fitting", "safety_valve_or_fitting", "safety_head_or_fitting"];

/// Parts of the texts of fittings of such a class that call them relief devices, in snake_case.
pub const RELIEF_TEXTS: &[&str] = &[
    "berstscheibe",
    "bursting_dis",
    "breather",
    "psv",
    "relief",
    "rupture_dis",
    "safety_valve",
    "sicherheitsventil",
    "soupape",
    "disque_de_rupture",
    "vacuum",
];

/// Parts of the classes of hoses, which may be there at times only.
pub const HOSES: &[&str] = &["hose", "schlauch", "tuyau_flexible"];

/// Words in the texts of relief devices before their set pressure, in lower case.
pub const SET_PRESSURE_WORDS: &[&str] = &[
    "abgestimmt",
    "afgesteld",
    "afsteldruk",
    "ajustada",
    "ajustado",
    "ajuste",
    "ansprechdruck",
    "ansprechueberdruck",
    "ansprechüberdruck",
    "calibrada",
    "calibrado",
    "disparo",
    "eingestellt",
    "einstelldruck",
    "einstellwert",
    "ingesteld",
    "insteldruk",
    "openingsdruk",
    "pop",
    "popping",
    "pset",
    "readjusted",
    "reset",
    "set",
    "setpoint",
    "setting",
    "sollwert",
    "sp",
    "tarada",
    "tarado",
    "tarage",
    "tarata",
    "tarato",
    "taratura",
    "taré",
    "tarée",
    "umgestellt",
    "verstellt",
    "öffnungsdruck",
];

/// Verbs in such texts that state the set pressure with one of [`OPENING_PREPOSITIONS`] behind them: `opens at 12 barg`.
pub const OPENING_VERBS: &[&str] =
    &["abre", "lifts", "oeffnet", "opens", "opent", "ouvre", "pops", "spricht", "öffnet"];
/// Words behind [`OPENING_VERBS`].
pub const OPENING_PREPOSITIONS: &[&str] = &["a", "at", "bei", "bij", "à"];

/// Words before such a word that make it the setting of a test bench, or that of another part: `cold set pressure`.
pub const OTHER_SETTING_WORDS: &[&str] = &["bench", "cdtp", "cold", "pilot", "spring"];

/// Words that make a set pressure behind them the one before a change.
pub const PAST_WORDS: &[&str] =
    &["antes", "bisher", "formerly", "früher", "old", "originally", "previously", "vorher", "was"];

/// Words between the pressures of a change, before the new one: `10 to 12 barg`.
pub const CHANGE_WORDS: &[&str] =
    &["a", "ahora", "auf", "jetzt", "maintenant", "naar", "neu", "new", "now", "nu", "to", "à"];

/// Words between such a word and the pressure that add nothing.
pub const SETTING_FILLERS: &[&str] = &[
    "a",
    "abgesenkt",
    "ahora",
    "approx",
    "at",
    "auf",
    "aumentado",
    "augmenté",
    "bei",
    "bij",
    "ca",
    "cambiado",
    "changed",
    "de",
    "decreased",
    "di",
    "druck",
    "du",
    "en",
    "erhöht",
    "from",
    "geändert",
    "gesenkt",
    "gewijzigd",
    "has",
    "been",
    "increased",
    "is",
    "ist",
    "jetzt",
    "lowered",
    "maintenant",
    "modified",
    "modifié",
    "naar",
    "neu",
    "new",
    "now",
    "nu",
    "of",
    "op",
    "press",
    "pressure",
    "pression",
    "pressione",
    "presión",
    "psv",
    "raised",
    "reduced",
    "reducido",
    "the",
    "to",
    "valve",
    "van",
    "verhoogd",
    "verlaagd",
    "von",
    "vorher",
    "was",
    "à",
];
