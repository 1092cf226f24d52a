//! Phrases in texts of items, with what each says against the item's being there and against its being a valve that closes.
//!
//! Statuses of what is not there now are in [`vocabulary::NOT_INSTALLED`](crate::graph::vocabulary::NOT_INSTALLED).

use self::Meaning::{
    Absent, ClosesByDrive, MayBeAbsent, MayNotClose, MovedByDrive, NoValve, Nothing, OpensByDrive, OtherValve,
};

/// Meaning of a phrase for the item that has it in a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Meaning {
    /// None: the phrase covers a word of another row.
    Nothing,
    /// A status of what is not there now.
    Absent,
    /// It may not be there.
    MayBeAbsent,
    /// It does not close tightly for certain.
    MayNotClose,
    /// Something else than a hand moves it.
    MovedByDrive,
    /// Something else than a hand closes it: the drive of a shutdown valve, but no hand valve.
    ClosesByDrive,
    /// Something else than a hand opens it, as a blowdown valve.
    OpensByDrive,
    /// A valve that does not close all its ways, or closes by itself: not the type of a hand valve.
    OtherValve,
    /// An item that lets a flow through.
    NoValve,
}
/// Phrases in lower case, without punctuation; `#` is a number, `*` any word, `$` the end of a clause.
pub(super) const PHRASES: &[(Meaning, &[&str])] = &[
    (Absent, &["not installed", "not inst", "ausgebaut", "demontiert", "entfernt", "entfallen", "entfällt", "geplant"]),
    (Absent, &["abgebaut", "abgerissen", "démantelé", "démantelée"]),
    (Absent, &["zukünftig", "künftig", "zurückgebaut", "rückgebaut", "demonté", "démonté", "démontée", "déposé"]),
    (Absent, &["déposée", "supprimé", "supprimée", "retiré", "retirée", "futur"]),
    (MayBeAbsent, &["abandoned", "decommissioned", "disconnected", "mothballed", "missing", "optional", "on hold"]),
    (MayBeAbsent, &["gagged", "gag fitted", "not in service", "blinded", "blanked", "blanked off"]),
    (MayBeAbsent, &["not in use", "not used", "out of use", "out of service", "disused", "inactive"]),
    (MayBeAbsent, &["by ph #", "in ph #", "for ph #", "by ph ii", "in ph ii", "by ph iii", "in ph iii"]),
    (MayBeAbsent, &["not fitted", "not in place", "not present", "not provided", "not built", "never installed"]),
    (MayBeAbsent, &["provision for valve", "space for valve", "stub for valve", "dummy valve", "temporary valve"]),
    (
        MayBeAbsent,
        &["valve to be confirmed", "valve tbc", "valve if required", "valve if needed", "valve where required"],
    ),
    (
        MayBeAbsent,
        &["to be verified on site", "to be verified in field", "not found", "only on drawing", "not on site"],
    ),
    (MayBeAbsent, &["at later", "at a later", "in next", "next shutdown", "next turnaround", "next outage"]),
    (MayBeAbsent, &["to be deleted", "delete valve", "valve on hold"]),
    (MayBeAbsent, &["not existing", "no longer installed", "no longer exists", "does not exist", "for demolition"]),
    (MayBeAbsent, &["not yet installed", "to be installed", "to be added", "to be built", "to be fitted"]),
    (MayBeAbsent, &["replaced by", "replaced with", "phase #", "phase i", "phase ii", "phase iii", "phase iv"]),
    (MayBeAbsent, &["nicht installiert", "nicht eingebaut", "nicht vorhanden", "stillgelegt", "non installé"]),
    (MayBeAbsent, &["non installée", "non monté", "non montée"]),
    (
        MayBeAbsent,
        &["demolition", "à démonter", "à démolir", "à déposer", "à supprimer", "zu demontieren", "abzubauen"],
    ),
    (MayBeAbsent, &["a desmontar", "a demoler", "para desmontar", "te demonteren", "te verwijderen", "da smontare"]),
    // What is removed, replaced or planned is something else.
    (Nothing, &["not be removed", "not to be removed", "cannot be removed", "never removed", "do not remove"]),
    (Nothing, &["gag removed", "plug removed", "pin removed"]),
    (Nothing, &["insulation removed", "lagging removed", "lock removed", "padlock removed", "tag removed"]),
    (Nothing, &["handwheel removed", "hand wheel removed", "handle removed", "lever removed", "key removed"]),
    (Nothing, &["old tag deleted", "old tag # deleted", "old tag * # deleted", "former tag * # deleted"]),
    (Nothing, &["not be blinded", "not to be blinded", "not be gagged", "not to be gagged", "never blinded"]),
    (Nothing, &["not be blanked", "not to be blanked", "not blinded", "not gagged", "not blanked"]),
    (
        Nothing,
        &["flange drilled", "flanges drilled", "flanged drilled", "drilled to pn", "drilled to asme", "drilled pn"],
    ),
    (Nothing, &["drilled to ansi", "drilled to din", "drilled to en", "replaced gasket", "replaced packing"]),
    // Cases for which relief devices are sized.
    (Nothing, &["blocked outlet", "blocked outlets", "blocked discharge", "blocked in", "blocked flow", "failed open"]),
    (
        Nothing,
        &["burst tube", "ruptured tube", "failed control valve", "uncontrolled reaction", "uncontrolled heating"],
    ),
    (Nothing, &["size to be confirmed", "size tbc", "rating to be confirmed", "tag to be confirmed", "tag tbc"]),
    (Nothing, &["lock if required", "insulate if required", "paint if required", "support if required"]),
    (
        Nothing,
        &["not to be bypassed", "not be bypassed", "never bypassed", "not to be overridden", "not be overridden"],
    ),
    // What cannot be done, or has not been, to a trip.
    (Nothing, &["not bypassed", "not by passed", "never to be bypassed", "cannot be bypassed", "can not be bypassed"]),
    (Nothing, &["must not be bypassed", "shall not be bypassed", "do not bypass", "bypass not permitted"]),
    (Nothing, &["bypass not allowed", "bypass not possible", "bypassing not permitted", "bypassing not allowed"]),
    (Nothing, &["bypass prohibited", "bypass forbidden", "override prohibited", "override forbidden"]),
    (Nothing, &["override not permitted", "override not allowed", "override not possible", "do not override"]),
    (Nothing, &["forcing not permitted", "forcing not allowed", "forcing not possible", "forcing prohibited"]),
    (Nothing, &["inhibiting not permitted", "inhibiting not allowed", "inhibit not permitted", "inhibit not allowed"]),
    (Nothing, &["inhibition not permitted", "inhibition not allowed", "inhibition prohibited", "forcing forbidden"]),
    (Nothing, &["forcen nicht zulässig", "forcen nicht erlaubt", "forcen verboten", "forçage interdit"]),
    (Nothing, &["forçage non autorisé", "inhibition interdite", "forzado no permitido", "forceren niet toegestaan"]),
    (Nothing, &["cannot be overridden", "cannot be inhibited", "cannot be disabled", "cannot be defeated"]),
    (Nothing, &["must not be overridden", "must not be disabled", "not to be inhibited", "not to be defeated"]),
    (Nothing, &["not overridden", "not inhibited", "not forced", "not disabled", "not defeated", "not jumpered"]),
    (Nothing, &["not isolated", "not deactivated", "not suppressed", "do not inhibit", "do not disable"]),
    (Nothing, &["nicht überbrückt", "nicht überbrückbar", "nicht überbrücken", "keine überbrückung"]),
    (Nothing, &["überbrückung nicht zulässig", "überbrückung nicht erlaubt", "überbrückung verboten"]),
    (Nothing, &["ohne überbrückung", "ohne bypass", "nicht gebrückt", "nicht gesperrt", "nicht deaktiviert"]),
    (Nothing, &["non shunté", "non shuntée", "non shuntable", "pas de shunt", "sans shunt", "sans by pass"]),
    (Nothing, &["non inhibé", "non inhibée", "non bypassé", "non bypassée", "non forcé", "non forcée"]),
    (Nothing, &["forced draft", "forced draught", "forced circulation", "forced convection", "forced lubrication"]),
    (Nothing, &["forced ventilation", "forced air", "forced feed", "forced cooling"]),
    (Nothing, &["bypassed during startup", "bypassed during start up", "may be bypassed during start up"]),
    (Nothing, &["may be overridden during start up", "may be overridden during startup"]),
    // The German stop button.
    (Nothing, &["not aus", "not halt", "not stopp", "not abschaltung"]),
    (Nothing, &["do not open", "not be opened", "alarm disabled", "alarm inhibited"]),
    // How the drawing shows valves, whose position does not matter to whether they can be closed.
    (Nothing, &["shown open", "shown closed", "shown open for clarity", "shown closed for clarity", "unless noted"]),
    (Nothing, &["unless otherwise noted", "unless noted otherwise", "unless otherwise stated", "unless stated"]),
    // Where and by whom, not when.
    (Nothing, &["to be installed by contractor $", "to be installed by piping contractor $"]),
    (Nothing, &["to be installed by vendor $", "to be installed by supplier $", "to be installed close to"]),
    (Nothing, &["to be installed near", "to be installed next to", "to be installed adjacent to"]),
    (Nothing, &["to be installed as close as", "to be installed horizontally", "to be installed vertically"]),
    (Nothing, &["to be installed in", "to be installed with", "to be installed at", "to be installed on"]),
    (Nothing, &["to be installed upstream of", "to be installed between", "to be installed inside"]),
    (Nothing, &["to be installed downstream of", "to be installed above", "to be installed below"]),
    // The valve is there for what is not.
    (Nothing, &["for future tie in", "for future tie ins", "for future connection", "for future connections"]),
    (Nothing, &["for future extension", "for future extensions", "for future expansion"]),
    (Nothing, &["missing phase", "phase missing", "missing flame", "flame missing", "missing pulse", "guard missing"]),
    (Nothing, &["not shared", "not resettable", "non resettable", "not adjustable", "not heat traced"]),
    (Nothing, &["tag missing", "label missing", "missing tag", "missing label", "insulation missing"]),
    (Nothing, &["planned maintenance", "planned outage", "planned shutdown", "planned turnaround", "proposed by"]),
    (Nothing, &["replaced by new", "replaced with new", "replaced by same", "replaced with same"]),
    (Nothing, &["gasket replaced by", "gasket replaced with", "packing replaced by", "packing replaced with"]),
    (Nothing, &["bolts replaced with", "handwheel replaced by", "handwheel replaced with", "seals replaced with"]),
    (MayNotClose, &["drilled disc", "drilled disk", "drilled gate", "drilled wedge", "drilled plug", "drilled ball"]),
    (MayNotClose, &["drilled flapper", "drilled blind", "drilled plate", "disc drilled", "disk drilled"]),
    (MayNotClose, &["gate drilled", "wedge drilled", "plug drilled", "ball drilled", "flapper drilled"]),
    (MayNotClose, &["blind drilled", "plate drilled", "trim drilled", "seat drilled", "hole in disc"]),
    (MayNotClose, &["hole in gate", "hole in plate", "hole in blind", "body only", "gutted", "no internals"]),
    (MayNotClose, &["without internals", "without trim", "without disc", "passing", "leaking", "leaks", "leaky"]),
    (MayNotClose, &["not holding", "does not hold", "does not close", "does not seal", "will not close"]),
    (MayNotClose, &["not tight", "cannot be closed", "can not be closed", "stuck", "seized", "jammed", "inoperable"]),
    (
        MayNotClose,
        &["cannot close", "can not close", "cannot be shut", "can not be shut", "does not shut", "will not shut"],
    ),
    (
        MayNotClose,
        &["cannot be fully closed", "does not fully close", "not shut off", "known to leak", "known to pass"],
    ),
    (MayNotClose, &["seat leak", "seat leaks", "seat leakage", "blocked open", "welded open", "wedged open", "broken"]),
    (MayNotClose, &["out of order", "not operable", "not operational", "does not work", "not working", "travel stop"]),
    (
        MayNotClose,
        &["minimum opening", "min opening", "minimum stop", "not for isolation", "not for positive isolation"],
    ),
    (MayNotClose, &["not use for isolation", "not be used for isolation", "not to be used for isolation"]),
    (MayNotClose, &["not to be used as isolation", "not be used as isolation", "not suitable for isolation"]),
    (MayNotClose, &["drilled and tapped", "tapped for", "vent hole", "drain hole", "with hole", "npt connection"]),
    (
        MayNotClose,
        &[
            "opened for",
            "bypass hole",
            "notched seat",
            "notched disc",
            "notched gate",
            "with bypass",
            "integral bypass",
        ],
    ),
    (MayNotClose, &["with # bypass", "with # # bypass", "with # in bypass", "with * bypass", "with by pass"]),
    (MayNotClose, &["with # by pass", "w # bypass", "w bypass", "c w bypass", "c w # bypass", "c w * bypass"]),
    (MayNotClose, &["c w * * bypass", "w * bypass", "equalizing bypass", "equalising bypass", "with equalizing line"]),
    (MayNotClose, &["with equalising line", "warm up bypass", "warming up bypass", "mit bypass", "avec bypass"]),
    (MayNotClose, &["fixed open", "permanently open", "spot welded", "stop pin", "always open", "disc removed"]),
    (MayNotClose, &["disk removed", "gate removed", "ball removed", "bypass cast in", "self venting", "vented ball"]),
    (MayNotClose, &["cavity vented", "mutual exclusion", "dauernd offen", "toujours ouvert", "toujours ouverte"]),
    (MayNotClose, &["used as spool", "used as a spool", "used as pipe", "used as spacer", "limit stop"]),
    (MayNotClose, &["mechanical stop", "flow stop", "stop at", "in place of", "weep hole", "closed by", "opened by"]),
    (
        ClosesByDrive,
        &["closes on", "closes at", "closes by", "closes when", "spring to close", "air to open", "federschließend"],
    ),
    (
        OpensByDrive,
        &["opens on", "opens at", "opens by", "opens when", "spring to open", "air to close", "federöffnend"],
    ),
    (
        MovedByDrive,
        &["spring return", "operated from", "antrieb", "pneumatikantrieb", "elektroantrieb", "fernbetätigt"],
    ),
    (MovedByDrive, &["commande pneumatique", "commande électrique", "commande hydraulique"]),
    (MayNotClose, &["float operated", "pilot operated", "pressure operated", "temperature operated"]),
    (MayNotClose, &["spring to", "self closing", "self acting", "self operated", "excess flow"]),
    (Nothing, &["partial stroke", "partial stroking"]),
    (Nothing, &["supplied loose", "shipped loose", "spring loaded packing"]),
    (MayNotClose, &["non tight", "blocked in open position", "internal leak"]),
    (MayNotClose, &["internal leakage", "flow control", "hand control", "throttling duty", "throttling service"]),
    (MayNotClose, &["used for control", "open in emergency", "keep open"]),
    (MayNotClose, &["schnellschlussventil", "schnellschlussarmatur", "regelarmatur", "umgang", "umführung"]),
    (MayNotClose, &["angebohrt", "entlastungsbohrung", "passstück", "hubbegrenzung", "anschlag"]),
    (MayNotClose, &["tout ou rien"]),
    (MayNotClose, &["vanne régulée", "non étanche", "by pass intégré", "bypass intégré", "butée", "percé", "percée"]),
    (Nothing, &["antrieb hand", "antrieb handrad", "antrieb manuell", "ohne antrieb", "ohne umgang", "sans bypass"]),
    (MayNotClose, &["built in bypass", "schließt nicht", "nicht dicht", "nicht absperrbar", "gebrochen", "fuit"]),
    (Nothing, &["without bypass", "no seat leakage", "zero seat leakage", "not broken", "seat leakage class #"]),
    (Nothing, &["seat leakage class", "seat leakage rate", "seat leak test"]),
    (MayNotClose, &["inoperative", "defective", "faulty", "defekt", "undicht", "ne ferme pas", "fuyard", "fuyarde"]),
    (Nothing, &["no leaks", "not leaking", "not passing", "not stuck", "if leaking", "if passing"]),
    (OtherValve, &["3 way", "4 way", "5 way", "3 ways", "4 ways", "three way", "four way", "five way", "multi way"]),
    (
        OtherValve,
        &["3 2 way", "4 2 way", "5 2 way", "4 3 way", "5 3 way", "3 2 wege", "4 2 wege", "5 2 wege", "4 3 wege"],
    ),
    (OtherValve, &["multiway", "3 port", "4 port", "three port", "four port", "multi port", "multiport", "l port"]),
    (OtherValve, &["t port", "lport", "tport", "l ported", "t ported", "l bore", "t bore", "l pattern", "t pattern"]),
    (OtherValve, &["diverter", "diverting", "divert", "changeover", "change over", "selector valve"]),
    (OtherValve, &["switching valve", "transfer valve", "mixing valve"]),
    (OtherValve, &["arc valve", "automatic recirculation", "auto recirculation", "auto drain", "automatic drain"]),
    (OtherValve, &["auto vent", "automatic vent", "air release", "air eliminator", "air relief", "air admittance"]),
    (OtherValve, &["3 wege", "4 wege", "dreiwege", "vierwege", "dreiwegehahn", "dreiwegeventil", "vierwegehahn"]),
    (OtherValve, &["dreiwegekugelhahn", "l bohrung", "t bohrung", "3 voies", "4 voies", "trois voies"]),
    (OtherValve, &["check valve", "checkvalve", "check valves", "non return", "nonreturn", "nrv", "swing check"]),
    (OtherValve, &["lift check", "ball check", "stop check", "piston check", "disc check", "wafer check"]),
    (OtherValve, &["dual plate check", "one way valve", "foot valve", "backflow", "back flow", "rückschlagklappe"]),
    (OtherValve, &["rückschlagventil", "rückflussverhinderer", "clapet anti retour", "clapet de non retour"]),
    (OtherValve, &["relief valve", "safety valve", "pop valve", "breather valve", "vacuum breaker", "rupture disc"]),
    (OtherValve, &["rupture disk", "bursting disc", "bursting disk", "sicherheitsventil", "berstscheibe"]),
    (OtherValve, &["soupape de sûreté", "soupape de sécurité", "disque de rupture", "excess flow valve"]),
    (NoValve, &["steam trap", "float trap", "condensate trap", "air trap", "trap", "restriction orifice"]),
    (NoValve, &["orifice plate", "orifice", "restrictor", "strainer", "sight glass", "pipe spool", "spool piece"]),
    (NoValve, &["spectacle blind", "spectacle plate", "spectacle flange", "line blind", "paddle blind", "spade"]),
    (NoValve, &["figure # blind", "figure eight blind", "safety relief", "pressure relief", "thermal relief"]),
    (NoValve, &["spool", "flame arrester", "flame arrestor", "expansion joint", "quick coupling", "reducer"]),
    (NoValve, &["air vent", "kondensatableiter", "purgeur", "schmutzfänger", "drossel", "blende"]),
    (
        Nothing,
        &["two way", "2 way", "2 2 way", "2 2 wege", "two port", "2 port", "one piece", "full port", "reduced port"],
    ),
];

/// Clauses that are a statement about the item if they have no other word, as [`PHRASES`].
pub(super) const WHOLE_CLAUSES: &[(Meaning, &[&str])] = &[
    (MayBeAbsent, &["hold", "hold #", "provision", "provision only", "option", "reserved", "placeholder", "dummy"]),
    (MayBeAbsent, &["delete", "to be confirmed", "tbc", "tbd", "if required", "where required", "when required"]),
    (MayBeAbsent, &["u s", "on order", "not ordered", "to be ordered"]),
    (MayBeAbsent, &["if needed", "if necessary", "in store", "in workshop", "sent to workshop", "taken out"]),
    (OtherValve, &["3 2", "4 2", "5 2", "4 3", "5 3"]),
    (MayNotClose, &["drilled", "tapped", "vented", "loose", "with # hole", "with # # hole", "with # mm hole"]),
    (MayNotClose, &["# bypass", "# # bypass", "# in bypass", "bypass no", "bypass lo", "bypass open", "# by pass"]),
    (MayNotClose, &["open only", "throttling only", "not isolating"]),
];

/// Words after which a clause is about another item: `isolation of check valve`.
pub(super) const PREPOSITIONS: &[&str] = &[
    "above",
    "after",
    "at",
    "before",
    "behind",
    "below",
    "between",
    "by",
    "downstream",
    "for",
    "from",
    "near",
    "next",
    "of",
    "on",
    "replaced",
    "to",
    "towards",
    "under",
    "upstream",
    "für",
    "am",
    "an",
    "hinter",
    "nach",
    "vor",
    "von",
    "zu",
    "zum",
    "zur",
    "pour",
    "sur",
    "vers",
];

/// Nouns that make a phrase before them the name of another item: `check valve bypass`.
pub(super) const HEAD_NOUNS: &[&str] = &[
    "bleed",
    "block",
    "blowdown",
    "bypass",
    "connection",
    "downstream",
    "drain",
    "flushing",
    "inlet",
    "isolating",
    "isolation",
    "outlet",
    "purge",
    "root",
    "sample",
    "sampling",
    "tap",
    "tapping",
    "test",
    "upstream",
    "vent",
];

/// Words at the end of a clause that make what is named before them a neighbor: `removable spool downstream`.
pub(super) const PLACES: &[&str] = &["adjacent", "behind", "below", "above", "downstream", "nearby", "upstream"];

/// Words before the name of something that an item has: `gate valve with strainer`.
pub(super) const COMPANIONS: &[&str] = &["with", "w", "incl", "including", "plus", "mit", "avec"];

/// Words for a valve that end the name of one.
pub(super) const VALVE_NOUNS: &[&str] = &["valve", "valves", "cock", "cocks", "ventil", "hahn", "vanne", "robinet"];

/// Words of sizes and ratings, and others that add nothing to the name of an item.
pub(super) const SIZE_WORDS: &[&str] = &[
    "a", "ansi", "bar", "class", "cl", "dn", "in", "inch", "inches", "is", "it", "item", "lb", "lbs", "mm", "new",
    "nb", "nps", "pn", "psi", "rating", "size", "the", "this", "type",
];
