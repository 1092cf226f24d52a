//! Phrases that speak against the state of an item: a valve that does not close, a blind that does not hold, a relief device
//! or a check valve that does not act, an open end that is not open, equipment and pipes with connections that are not drawn.
//!
//! Only phrases whose words have no meaning of their own in other rules: negations, conditions and participles are read apart.

use self::StatedOf::{Blind, CheckValve, Equipment, Exit, Instrument, Pipe, Relief, Valve};

/// Kind of item that a phrase speaks against.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StatedOf {
    /// A valve that closes a pipe.
    Valve,
    /// A blind, a blind flange, a cap or a plug.
    Blind,
    /// A relief device.
    Relief,
    /// A check valve.
    CheckValve,
    /// An end of a pipe at which a flow leaves it.
    Exit,
    /// Equipment that the drawing shows with all its connections.
    Equipment,
    /// A pipe without branches.
    Pipe,
    /// An instrument that closes the pipe at whose end it is.
    Instrument,
}

/// Phrases in lower case, without punctuation, with the kinds of items that they speak against.
pub const STATE_PHRASES: &[(&[StatedOf], &[&str])] = &[
    // The seat lets through.
    (
        &[Valve, Blind, Relief, CheckValve],
        &["let by", "lets by", "letting by", "letting through", "lets through", "lässt durch", "fuite interne"],
    ),
    (&[Valve, Relief, CheckValve], &["passes", "weeps", "weeping", "dribbles", "dribbling", "dripping", "drips"]),
    (&[Valve, Relief, CheckValve], &["simmering", "simmers", "leckt", "leck", "leckage", "fuite", "fuit"]),
    (&[Valve, CheckValve], &["leak by", "leaks by", "bubbling", "pierde", "fuga", "lekt", "lekkage", "perde"]),
    (&[Blind], &["weeps", "weeping", "drips", "leckt", "leckage", "fuite", "fuga", "lekt"]),
    // Parts are worn, loose or missing.
    (&[Valve, Relief, CheckValve], &["worn", "seat gone", "seat missing", "trim missing", "internals missing"]),
    (&[Valve, Relief, CheckValve], &["disc missing", "disk missing", "disc off", "disc loose", "no disc", "no trim"]),
    (&[Valve], &["gate missing", "gate off", "gate loose", "wedge off", "wedge missing", "ball missing", "no gate"]),
    (&[Valve], &["gate fell off", "disc fell off", "gate has come off", "disc has come off", "plug off stem"]),
    (&[Valve], &["gate off stem", "disc off stem", "stem bent", "bent stem", "spindle bent", "bent spindle"]),
    (&[Valve], &["sitz beschädigt", "sitz verschlissen", "spindel verbogen", "spindel gebrochen", "siège usé"]),
    (&[Valve], &["siège endommagé", "tige tordue", "tige cassée", "cassé", "cassée", "asiento dañado"]),
    (&[CheckValve], &["flap missing", "flapper missing", "clapper missing", "no flap", "no flapper", "no clapper"]),
    (&[CheckValve], &["flap off", "flapper off", "clapper off", "hinge broken", "klappe fehlt", "clapet absent"]),
    (&[Relief], &["spring missing", "no spring", "feder fehlt", "ressort absent", "disc torn", "already burst"]),
    (&[Blind], &["bolts missing", "bolts loose", "gasket missing", "no gasket", "no bolts", "loose bolts"]),
    (&[Valve, Blind], &["cracked", "crack", "gerissen", "fissuré", "fissurée"]),
    (&[Blind], &["two bolts", "2 bolts", "one bolt", "dichtung fehlt", "schrauben fehlen", "joint absent"]),
    // It cannot be moved.
    (&[Valve], &["stiff", "sticks", "sticking", "frozen", "rusted", "rusty", "hard to close", "hard to turn"]),
    (&[Valve], &["difficult to close", "difficult to turn", "difficult to operate", "hard to operate", "turns freely"]),
    (&[Valve], &["spins freely", "spins free", "handwheel missing", "hand wheel missing", "handwheel lost"]),
    (
        &[Valve],
        &[
            "handwheel removed",
            "no handwheel",
            "no hand wheel",
            "lever removed",
            "handle removed",
            "no handle",
            "no lever",
            "handle missing",
            "lever missing",
        ],
    ),
    (&[Valve], &["key missing", "wheel missing", "inaccessible", "no access", "out of reach", "under water"]),
    (&[Valve], &["klemmt", "schwergängig", "festgefressen", "festgerostet", "eingerostet", "fest gefressen"]),
    (&[Valve], &["handrad fehlt", "hebel fehlt", "unzugänglich", "grippé", "grippée", "bloqué", "bloquée"]),
    (&[Valve], &["volant absent", "volant manquant", "levier absent", "agarrotada", "agarrotado", "atascada"]),
    (&[Relief], &["frozen", "sticking", "sticks", "rusted", "klemmt", "festgefressen", "grippé", "grippée", "bloqué"]),
    (&[CheckValve], &["sticks", "sticking", "frozen", "klemmt", "festgefressen", "grippé", "grippée", "bloqué"]),
    // It is not to be closed.
    (&[Valve], &["must remain open", "must stay open", "to remain open", "to stay open", "shall remain open"]),
    (&[Valve], &["shall stay open", "muss offen bleiben"]),
    (&[Valve], &["immer offen", "doit rester ouvert", "doit rester ouverte"]),
    // It is not trusted.
    (&[Valve, Blind, Relief, CheckValve], &["suspect", "unreliable", "untested", "needs repair", "need repair"]),
    (&[Valve, Blind, Relief, CheckValve], &["needs replacement", "needs overhaul", "needs replacing"]),
    (&[Valve, Blind, Relief, CheckValve], &["to be repaired", "to be replaced", "to be overhauled"]),
    (&[Valve, Blind, Relief, CheckValve], &["awaiting repair", "awaiting replacement"]),
    (&[Valve, Blind, Relief, CheckValve], &["awaiting spares", "awaiting parts", "waiting for parts", "dud"]),
    (&[Valve, Blind, Relief, CheckValve], &["test failed", "test fail", "failed test", "leak test failed"]),
    (&[Valve, Blind, Relief, CheckValve], &["kaputt", "beschädigt", "endommagé", "endommagée", "muss repariert"]),
    (&[Valve, Blind, Relief, CheckValve], &["muss ersetzt", "à réparer", "à remplacer", "a reparar", "averiada"]),
    (&[Relief], &["overdue", "expired", "past due", "out of date", "out of test", "out of certification"]),
    (&[Relief], &["abgelaufen", "überfällig", "périmé", "périmée"]),
    (&[Relief], &["wrong spring", "wrong set pressure", "wrong setting", "set too high", "chattering"]),
    (&[Relief], &["chatters", "tied down", "clamped"]),
    (&[CheckValve], &["backwards", "reversed", "wrong way round", "wrong direction", "falsch herum", "à l envers"]),
    // A cover that holds no pressure.
    (&[Blind], &["loose", "hand tight", "finger tight", "plywood", "wooden", "cardboard"]),
    (&[Blind], &["dust cover", "dust cap", "rain cap", "rain cover", "weather cap", "protective cap"]),
    (&[Blind], &["protective cover", "transport cover", "transport cap", "shipping cover", "shipping cap"]),
    (&[Blind], &["schutzkappe", "transportdeckel", "transportverschluss", "lose", "undersized", "underrated"]),
    (&[Blind], &["under rated", "low rating", "wrong rating", "swung open", "partly inserted"]),
    (&[Blind], &["half inserted", "partially inserted", "not rated", "duct tape", "taped"]),
    (&[Relief], &["locked out", "tagged out", "danger tag", "danger tagged", "lock out tag out"]),
    // Connections that are not drawn. The end of a clause is `$`.
    (&[Equipment, Pipe], &["not shown", "not drawn", "not indicated", "not depicted", "omitted for clarity"]),
    (&[Equipment, Pipe], &["continued on", "cont on", "continues on", "see sheet", "see also sheet", "shown on sheet"]),
    (&[Equipment, Pipe], &["see detail", "shown elsewhere", "shown on other", "shown on another", "see other sheet"]),
    (&[Equipment, Pipe], &["nicht dargestellt", "nicht gezeichnet", "nicht gezeigt", "siehe blatt", "siehe detail"]),
    (&[Equipment, Pipe], &["non représenté", "non représentée", "non représentés", "voir feuille", "voir détail"]),
    (&[Equipment, Pipe], &["no mostrado", "no mostrada", "no mostrados", "ver hoja", "niet getekend", "zie blad"]),
    (&[Equipment], &["typ drain", "typical drain", "typ vent", "drain on each", "vent on each", "nozzle to be added"]),
    (&[Equipment], &["vented $", "vented manway", "vented cover", "drucklos", "belüftet", "unpressurized"]),
    (&[Equipment], &["unpressurised", "drukloos", "sans pression", "sin presión"]),
    (&[Pipe], &["with drain", "with drain valve", "with vent", "with vent valve", "with bypass", "with branch"]),
    (&[Pipe], &["drain valve $", "vent valve $", "mit entleerung", "mit entlüftung", "avec purge", "avec vidange"]),
    (&[Instrument], &["out for calibration", "out for repair", "taken out", "tubing open", "tubing disconnected"]),
    (
        &[Instrument],
        &["plug removed", "plug missing", "drain open", "drain valve open", "vent open", "vent valve open"],
    ),
    (&[Instrument], &["disconnected", "abgebaut", "déposé", "déposée", "desmontado"]),
    // An end that something closes.
    (&[Exit], &["blanked", "blinded", "plugged", "capped", "taped", "frozen", "iced", "silted", "clogged", "choked"]),
    (&[Exit], &["bird nest", "birds nest", "bird s nest", "nest", "covered", "obstructed", "obstruction"]),
    (&[Exit], &["cap fitted", "plug fitted", "plug in", "blank fitted", "blind fitted", "cover fitted", "sealed"]),
    (&[Exit], &["blockage", "blocked", "screwed plug", "welded shut", "seized", "stuck", "verstopft", "vereist"]),
    (&[Exit], &["verschlossen", "bouché", "bouchée", "obturé", "obturée", "gelé", "obstruida", "verstopt"]),
];

/// Words that deny a phrase behind them, of this table and of [`INACTIVE_PHRASES`](super::INACTIVE_PHRASES).
pub const PHRASE_DENIALS: &[&str] = &[
    "avoid", "geen", "if", "jamais", "kein", "keine", "keinen", "never", "nicht", "nie", "niet", "no", "non", "not",
    "nunca", "ohne", "pas", "prevent", "sans", "senza", "sin", "without", "zero", "zonder",
];

/// Words beside which a text about what is not drawn is about no connection.
pub const NO_CONNECTION_WORDS: &[&str] = &[
    "demister",
    "earthing",
    "fireproofing",
    "foundation",
    "grounding",
    "insulation",
    "internals",
    "isolierung",
    "ladder",
    "ladders",
    "lagging",
    "platform",
    "platforms",
    "skirt",
    "support",
    "supports",
    "tracing",
    "trays",
];

/// Words of a leakage class, and the classes that are not tight: ANSI/FCI 70-2 (IEC 60534-4) classes I to III, rates D to G of
/// EN 12266-1.
pub const LEAKAGE_WORDS: &[&str] = &["fci", "leak", "leakage", "leckklasse", "leckrate", "leckage", "fuite", "shutoff"];
/// Levels of such a class beside one of [`LEAKAGE_WORDS`] with which a valve is not tight.
pub const LEAKING_LEVELS: &[&str] = &["1", "2", "3", "i", "ii", "iii", "d", "e", "f", "g"];
