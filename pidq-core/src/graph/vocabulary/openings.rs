//! Words for openings of equipment to the atmosphere.

/// Words of an opening of equipment, in snake_case and without articles.
pub const OPEN_TO_AIR_PHRASES: &[&str] = &[
    "atmospheric_vent",
    "bac_ouvert",
    "cuve_ouverte",
    "event_libre",
    "free_vent",
    "free_vented",
    "free_venting",
    "gooseneck",
    "gooseneck_vent",
    "goose_neck",
    "freely_vented",
    "freie_entlüftung",
    "freier_entlüftung",
    "no_cover",
    "no_lid",
    "no_roof",
    "oben_offen",
    "offener_behälter",
    "offener_tank",
    "offenes_becken",
    "open_at_top",
    "open_basin",
    "open_channel",
    "open_container",
    "open_drum",
    "open_pit",
    "open_roof",
    "open_sump",
    "open_tank",
    "open_to_air",
    "open_to_atm",
    "open_to_atmosphere",
    "open_top",
    "open_topped",
    "open_vent",
    "open_vented",
    "open_vents",
    "open_vessel",
    "opentop",
    "ouvert_à_l_atmosphère",
    "roof_open",
    "overflow_pit",
    "overflow_to_drain",
    "overflow_to_floor",
    "overflow_to_grade",
    "overflow_to_pit",
    "overflow_to_sewer",
    "toit_ouvert",
    "top_open",
    "uncovered",
    "vent_through_roof",
    "vent_to_air",
    "vent_to_atm",
    "vent_to_atmosphere",
    "vented_through_roof",
    "vented_to_air",
    "vented_to_atm",
    "vented_to_atmosphere",
    "venting_to_atmosphere",
    "vents_to_atm",
    "vents_to_atmosphere",
    "without_cover",
    "without_lid",
    "without_roof",
    "zur_atmosphäre_offen",
    "à_ciel_ouvert",
    "évent_libre",
];

/// Last words in the classes of equipment for one pipe whose other side is in the open air, or in a furnace.
pub const OUTLET_EQUIPMENT: &[&str] = &[
    "bird_screen",
    "burner",
    "cowl",
    "detonation_arrester",
    "detonation_arrestor",
    "diffuser",
    "exhaust_head",
    "flame_arrester",
    "flame_arrestor",
    "goose_neck",
    "gooseneck",
    "muffler",
    "rain_cap",
    "rain_hat",
    "silencer",
    "vent_head",
    "vent_tip",
    "weather_cap",
];

/// The same, for such equipment that a valve of its own may close.
pub const CLOSABLE_OUTLETS: &[&str] =
    &["eye_wash", "eyewash", "fire_monitor", "hydrant", "monitor", "safety_shower", "shower"];

/// Last words in the classes of equipment that is open at the top on most plants.
pub const OFTEN_OPEN: &[&str] =
    &["api_separator", "clarifier", "flocculator", "gravity_thickener", "oil_water_separator", "skimmer", "weir_box"];

/// Words that such phrases may contain beside their own.
pub const ARTICLES: &[&str] = &["a", "an", "the", "der", "die", "das", "la", "le"];

/// Words of relief devices, whose outlet a text may describe.
pub const RELIEF_WORDS_IN_TEXTS: &[&str] = &[
    "breather",
    "bursting",
    "conservation",
    "prv",
    "psv",
    "psvs",
    "pvrv",
    "pvv",
    "relief",
    "rupture",
    "rv",
    "safety",
    "trv",
    "tsv",
    "valve",
    "valves",
];

/// Words in the texts of a basin, a pit or a sump that is closed.
pub const CLOSED_TOP_WORDS: &[&str] = &[
    "abgedeckt",
    "blanketed",
    "closed",
    "couvert",
    "couverte",
    "covered",
    "enclosed",
    "gasdicht",
    "geschlossen",
    "sealed",
];

/// Words of fields for a cover or a roof.
pub const COVER_FIELD_WORDS: &[&str] = &["roof", "top", "cover", "lid", "dach", "deckel", "toit", "couvercle"];

/// Words of fields for a vent.
pub const VENT_FIELD_WORDS: &[&str] = &["vent", "venting", "ventilation", "entlüftung", "évent"];

/// Words of fields for the type of equipment.
pub const TYPE_FIELD_WORDS: &[&str] = &["type", "typ", "construction", "design", "bauart"];

/// Words that the name of a field of equipment may have beside these.
pub const EQUIPMENT_FIELD_WORDS: &[&str] =
    &["design", "equipment", "has", "is", "state", "status", "tank", "type", "typ", "vessel"];

/// First words of a value for what is open.
pub const OPEN_WORDS: &[&str] = &["open", "offen", "opentop", "ouvert", "uncovered"];
