//! Statements that a safeguard does not act: `bypassed`, `außer Betrieb`, `flap pinned open`, `disabled: true`.
//!
//! A clause counts if it consists of such a phrase and of words that add nothing, so that `bypassed during startup`, which is
//! about another time, and `alarm disabled by HS-1`, which is about another item, do not.

use super::inactive_parts::{has_inactive_field, says_inactive};
use super::phrases::{clauses, says_not_tight};
use super::pipes::{PipeState, pipe_state};
use super::trip_effects::names_permissive;
use super::unread_fields::{has_unlisted_text, has_unread_field};
use super::unread_texts::{has_doubtful_text, is_doubtful_text, note_texts};
use super::{all_texts, is_in, position, texts, truth};
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::node_memo::Property;
use crate::graph::roles::Role;
use crate::graph::vocabulary::{self, has_any};
use crate::pid::stated_values::{plain_name, stated_fields, values_of};
use crate::value::Value;

/// Phrases of items that do not act, in lower case.
const OUT_OF_ACTION: &[&str] = &[
    "alarm only",
    "außer betrieb",
    "ausser betrieb",
    "bloquée",
    "bloqué",
    "blocked",
    "blockiert",
    "blockiert offen",
    "blockierschraube eingesetzt",
    "commande manuelle",
    "condamné",
    "condamnée",
    "blocked closed",
    "blocked open",
    "broken",
    "bypass active",
    "bypassed",
    "deactivated",
    "deaktiviert",
    "défaut",
    "defeated",
    "defective",
    "defekt",
    "disabled",
    "disarmed",
    "do not use",
    "does not act",
    "does not close",
    "does not open",
    "does not trip",
    "dummy",
    "failed",
    "faulty",
    "forced",
    "gebrückt",
    "gesperrt",
    "handbetrieb",
    "handbetätigt",
    "handwheel engaged",
    "hors service",
    "in bypass",
    "in override",
    "in repair",
    "in stock",
    "in store",
    "in workshop",
    "indication only",
    "inhibé",
    "inhibited",
    "inoperable",
    "inoperative",
    "isolated",
    "jacked open",
    "jammed",
    "jammed closed",
    "jammed open",
    "jumpered",
    "klemmt",
    "no trip",
    "non operational",
    "not commissioned",
    "not functional",
    "not functioning",
    "not operable",
    "not operational",
    "not operative",
    "not working",
    "out for",
    "out of action",
    "out of commission",
    "out of operation",
    "out of order",
    "out of service",
    "overridden",
    "overriden",
    "plugged",
    "propped open",
    "seized",
    "seized closed",
    "seized open",
    "sent to workshop",
    "sent for",
    "set too high",
    "shunté",
    "shuntée",
    "spare",
    "spindle blocked",
    "spindle locked",
    "stem locked",
    "stuck",
    "stuck closed",
    "stuck open",
    "suppressed",
    "taken out",
    "unavailable",
    "von hand geöffnet",
    "von hand offen",
    "under repair",
    "überbrückt",
    "wedged open",
    "wired open",
    "welded shut",
    "wired shut",
    "with gag",
    "with test gag",
];

/// Phrases of the closing part of a check valve that stays open or lets through, in lower case.
const HELD_OPEN: &[&str] = &[
    "blocked open",
    "fixed open",
    "forced open",
    "held open",
    "jacked open",
    "jammed open",
    "kept open",
    "latched open",
    "locked open",
    "pinned open",
    "propped open",
    "stuck open",
    "tied open",
    "wedged open",
    "wired open",
    "bored through",
    "disc removed",
    "flap removed",
    "flapper removed",
    "clapper removed",
    "internals removed",
];

/// Phrases of an item or an end of a pipe that something closes, in lower case.
const CLOSED_OFF: &[&str] = &[
    "blank fitted",
    "blank inserted",
    "blanked",
    "blanked off",
    "blind fitted",
    "blind flange fitted",
    "blind inserted",
    "blinded",
    "blinded off",
    "blocked",
    "blocked off",
    "cap",
    "cap fitted",
    "cap installed",
    "capped",
    "capped off",
    "closed",
    "closed off",
    "isolated",
    "plug",
    "plug fitted",
    "plug installed",
    "plugged",
    "plugged off",
    "sealed",
    "sealed off",
    "spade fitted",
    "spade in",
    "spade inserted",
    "spaded",
    "verschlossen",
    "bouché",
    "obturé",
    "verblindet",
];

/// Letters with which a word of such a phrase begins.
const CLOSED_OFF_LETTERS: &[&str] =
    &["blan", "blin", "bloc", "bouc", "cap", "clos", "isol", "obtu", "plug", "seal", "spad", "verb", "vers"];

/// Words that add nothing to such a phrase: the item, the time, the cause.
const FILLERS: &[&str] = &[
    "and",
    "at",
    "ball",
    "by",
    "cage",
    "calibration",
    "check",
    "clapper",
    "currently",
    "cv",
    "device",
    "diaphragm",
    "disc",
    "disk",
    "du",
    "est",
    "fitted",
    "flap",
    "flapper",
    "for",
    "function",
    "hole",
    "in",
    "initiator",
    "inspection",
    "instrument",
    "interlock",
    "is",
    "ist",
    "item",
    "line",
    "link",
    "klappe",
    "logic",
    "long",
    "maintenance",
    "mm",
    "moment",
    "normally",
    "nrv",
    "now",
    "overhaul",
    "pallet",
    "permanently",
    "piston",
    "plate",
    "plug",
    "present",
    "presently",
    "psv",
    "repair",
    "safety",
    "seat",
    "sensor",
    "signal",
    "since",
    "software",
    "spindle",
    "spring",
    "stem",
    "still",
    "switch",
    "temporarily",
    "term",
    "test",
    "the",
    "this",
    "transmitter",
    "trip",
    "trim",
    "until",
    "valve",
    "vent",
    "ventil",
    "warehouse",
    "was",
    "with",
    "zur",
    "zeit",
    "are",
    "been",
    "has",
    "further",
    "notice",
    "action",
];

/// Marks of what does not act, and of what does, in snake_case.
const OUT_OF_ACTION_MARKS: &[&str] = &[
    "blocked",
    "gagged",
    "is_gagged",
    "out_of_order",
    "plugged",
    "bypassed",
    "is_bypassed",
    "defeated",
    "is_defeated",
    "disabled",
    "is_disabled",
    "inhibited",
    "is_inhibited",
    "overridden",
    "is_overridden",
    "in_bypass",
    "in_override",
    "maintenance_override",
    "override_active",
    "bypass_active",
    "forced",
];
const IN_ACTION_MARKS: &[&str] = &["enabled", "is_enabled", "operational", "is_operational"];

/// Fields with the number of items, of which 0 means none.
const QUANTITY_FIELDS: &[&str] = &["anzahl", "qty", "quantity", "quantité"];

/// Nouns of what keeps a relief device from opening, in lower case.
const HINDRANCES: &[&str] = &[
    "blockierschraube",
    "bouchon",
    "gag",
    "gags",
    "goupille",
    "pin",
    "plug",
    "plugs",
    "steckscheibe",
    "stopfen",
    "transportsicherung",
    "workshop",
    "werkstatt",
];

/// Words beside which such a noun is about a part of the device, or about what is not there.
const HARMLESS: &[&str] = &[
    "after", "body", "bonnet", "breaking", "buckling", "drain", "entfernt", "no", "not", "npt", "ohne", "remove",
    "removed", "retiré", "retirée", "rupture", "sans", "spare", "supplied", "tapped", "threaded", "vent", "without",
];

/// Words in the names of fields for a side of a relief device.
const SIDES: &[&str] = &["austritt", "discharge", "eintritt", "entrée", "inlet", "outlet", "sortie"];

/// Returns whether a text or a mark of a relief device or of a part of a trip says that it does not act.
pub(crate) fn is_out_of_action(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.memos.is_or_compute(Property::IsOutOfAction, node, || reads_out_of_action(drawing, node))
}

fn reads_out_of_action(drawing: &Drawing<'_>, node: NodeId) -> bool {
    // The spare pump of a pair is installed, and runs in turn.
    let is_equipment = drawing.topology.is_equipment(node) || drawing.has_drive(node);
    let is_part_of_trip = is_part_of_trip(drawing, node);
    let says_so = |text: &str| match is_equipment {
        true => consists_of(&without_word(text, "spare"), OUT_OF_ACTION),
        false => consists_of(text, OUT_OF_ACTION) || is_part_of_trip && says_inactive(text, is_filler),
    };
    const NAMES: [Names; 7] = [
        Names::Remarks,
        Names::Description,
        Names::Service,
        Names::Status,
        Names::NormalPosition,
        Names::BlindPosition,
        Names::Class,
    ];
    // `PSV-1 (SPARE)`
    let mut titles = texts(drawing, node, Names::Tag).filter(|tag| tag.contains(' '));
    NAMES.iter().any(|names| texts(drawing, node, *names).any(says_so))
        || titles.any(says_so)
        || has_mark(drawing.node(node))
        || is_part_of_trip && has_inactive_field(drawing.node(node))
        || has_unlisted_text(drawing, node, says_so)
        || note_texts(drawing, node).any(says_so)
}

/// Returns whether an item may be a part of a trip: an instrument, a valve, or what a signal passes.
fn is_part_of_trip(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let role = drawing.topology.roles[node as usize];
    matches!(role, Role::Instrument | Role::None) || role.closes()
}

/// Returns whether a text of a relief device says that something is in it or its pipes that keeps it from opening: a gag, a
/// plug.
pub(crate) fn is_hindered(drawing: &Drawing<'_>, device: NodeId) -> bool {
    let has_hindrance =
        |text: &str| clauses(text).iter().any(|clause| has_any(clause, HINDRANCES) && !has_any(clause, HARMLESS));
    let mut fields = drawing.node(device).as_object().into_iter().flat_map(stated_fields);
    let is_of_side = |name: &str| plain_name(name).split('_').any(|word| SIDES.contains(&word));
    texts(drawing, device, Names::Remarks).any(has_hindrance)
        || texts(drawing, device, Names::Description).any(has_hindrance)
        || fields.any(|(name, stated)| {
            let text = stated.value.as_str().filter(|text| text.len() <= MAX_CLASS && name.len() <= MAX_CLASS);
            text.is_some_and(|text| is_of_side(name) && consists_of(text, CLOSED_OFF))
        })
}

/// Returns whether a text or a mark of a safeguard says that it does not act, or may say so in words that no rule understands.
pub(crate) fn may_not_act(drawing: &Drawing<'_>, node: NodeId) -> bool {
    is_out_of_action(drawing, node) || has_doubtful_text(drawing, node)
}

/// Returns whether the status, a text or a mark of a signal says that it does not act, or may say so in words that no rule
/// understands.
pub(crate) fn signal_may_not_act(drawing: &Drawing<'_>, signal: EdgeId) -> bool {
    let edge = drawing.edge(signal);
    let texts = |names: Names| values_of(drawing, edge, names).filter_map(Value::as_str);
    let says_so = |text: &str| consists_of(text, OUT_OF_ACTION) || says_inactive(text, is_filler);
    let may_say_so = |text: &str| says_so(text) || is_doubtful_text(text) || names_permissive(text);
    let mut fields = edge.as_object().into_iter().flat_map(stated_fields);
    let is_status = |value: Value<'_>| value.as_str().is_some_and(|text| text.len() <= MAX_CLASS && says_so(text));
    pipe_state(drawing, signal) != PipeState::Open
        || [Names::Remarks, Names::Description].into_iter().any(|names| texts(names).any(may_say_so))
        || has_mark(edge)
        || has_inactive_field(edge)
        || fields.any(|(_, stated)| is_status(stated.value))
}

/// Returns whether a text of a connector of a signal says that the signal does not act or does not trip, or may say so in
/// words that no rule understands.
pub(crate) fn connector_may_not_act(drawing: &Drawing<'_>, connector: NodeId) -> bool {
    let names = [Names::Description, Names::Remarks];
    may_not_act(drawing, connector)
        || names.into_iter().any(|names| texts(drawing, connector, names).any(names_permissive))
}

/// Returns whether a label or a remark of an item says that it is plugged or blanked, or its normal position is closed.
pub(crate) fn is_said_closed_off(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let may_say_so = |text: &str| {
        let begins = |at: usize, letters: &&str| {
            text.as_bytes()
                .get(at..at + letters.len())
                .is_some_and(|part| part.eq_ignore_ascii_case(letters.as_bytes()))
        };
        (0..text.len()).any(|at| CLOSED_OFF_LETTERS.iter().any(|letters| begins(at, letters)))
    };
    let says_so = |text: &str| may_say_so(text) && consists_of(text, CLOSED_OFF);
    let names = [Names::Remarks, Names::Description];
    names.iter().any(|names| texts(drawing, node, *names).any(says_so))
        || is_in(drawing, position(drawing, node), Names::Closed)
}

/// Returns whether the drawing says that a check valve lets a flow back: its flap is held open or drilled, its internals
/// are removed, it leaks, or a lock or its position holds it open.
pub(crate) fn may_pass_back(drawing: &Drawing<'_>, valve: NodeId) -> bool {
    let is_drilled = |text: &str| {
        let is_of_flange = |word: &String| matches!(word.as_str(), "flange" | "flanges" | "flanged" | "pn" | "ends");
        let has_hole =
            |clause: &Vec<String>| clause.iter().any(|word| word == "drilled") && !clause.iter().any(is_of_flange);
        clauses(text).iter().any(has_hole)
    };
    let says_so = |text: &str| consists_of(text, HELD_OPEN) || is_drilled(text) || says_not_tight(text);
    let has_field = || has_unread_field(drawing, valve);
    let holds_open = |names: Names| texts(drawing, valve, names).any(|text| is_open_lock(drawing, text));
    all_texts(drawing, valve).any(|(text, _)| says_so(text))
        || texts(drawing, valve, Names::Description).any(says_so)
        || is_in(drawing, position(drawing, valve), Names::LockedOpen)
        || holds_open(Names::Lock)
        || has_field()
        || may_not_act(drawing, valve)
}

fn is_open_lock(drawing: &Drawing<'_>, text: &str) -> bool {
    [Names::Open, Names::LockedOpen].iter().any(|names| drawing.topology.config.contains(*names, text.trim()))
}

/// Returns whether a clause of a text consists of one of some phrases and of words that add nothing.
fn consists_of(text: &str, phrases: &[&str]) -> bool {
    clauses(text).iter().any(|clause| {
        phrases.iter().any(|phrase| {
            let words: Vec<&str> = phrase.split(' ').collect();
            let mut windows = clause.windows(words.len()).enumerate();
            let found = windows.find(|(_, window)| window.iter().zip(&words).all(|(word, known)| word == known));
            found.is_some_and(|(at, _)| {
                clause[..at].iter().chain(&clause[at + words.len()..]).all(|word| is_filler(word))
            })
        })
    })
}

/// Returns whether a word adds nothing to a phrase, as the item, the time or the cause.
fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word) || word.chars().all(char::is_numeric)
}

/// Returns a text without a word.
fn without_word(text: &str, word: &str) -> String {
    let clauses = clauses(text).into_iter();
    let rest = clauses.map(|clause| clause.into_iter().filter(|known| known != word).collect::<Vec<_>>().join(" "));
    rest.collect::<Vec<_>>().join("; ")
}

/// Returns whether a mark such as `bypassed: true` or `enabled: false` says that an item or a signal does not act.
fn has_mark(holder: Value<'_>) -> bool {
    let mut fields = holder.as_object().into_iter().flat_map(stated_fields);
    fields.any(|(name, stated)| {
        name.len() <= MAX_CLASS
            && match truth(stated.value) {
                Some(true) => vocabulary::contains_plain(OUT_OF_ACTION_MARKS, name.trim()),
                Some(false) => [IN_ACTION_MARKS, QUANTITY_FIELDS]
                    .iter()
                    .any(|names| vocabulary::contains_plain(names, name.trim())),
                None => false,
            }
    })
}
