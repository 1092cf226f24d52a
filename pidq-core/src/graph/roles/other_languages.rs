//! Classes of valves and blinds in German and French, for drawings that name them so.
//!
//! Only words of one meaning are listed. A word before or behind the name of a hand valve may state a drive, so hand
//! valves are the entire class. Fields in these languages, such as that of a drive, are not read: the type of such a
//! valve counts as not stated, and no answer that rests on it is certain.

/// Valves that are moved by hand unless something else is stated.
pub(super) const HAND_VALVES: &[&str] = &[
    "absperrarmatur",
    "absperrhahn",
    "absperrklappe",
    "absperrschieber",
    "absperrventil",
    "flachschieber",
    "handabsperrventil",
    "keilschieber",
    "kugelhahn",
    "kükenhahn",
    "kuekenhahn",
    "membranventil",
    "nadelventil",
    "plattenschieber",
    "robinet_à_boisseau",
    "robinet_a_boisseau",
    "robinet_à_boisseau_sphérique",
    "robinet_a_boisseau_spherique",
    "robinet_à_papillon",
    "robinet_a_papillon",
    "robinet_à_pointeau",
    "robinet_a_pointeau",
    "robinet_à_soupape",
    "robinet_a_soupape",
    "robinet_d_arrêt",
    "robinet_d_arret",
    "robinet_d_isolement",
    "robinet_vanne",
    "vanne_à_boisseau_sphérique",
    "vanne_a_boisseau_spherique",
    "vanne_à_opercule",
    "vanne_a_opercule",
    "vanne_d_arrêt",
    "vanne_d_arret",
    "vanne_d_isolement",
    "vanne_guillotine",
    "vanne_papillon",
];

pub(super) const ACTUATED_VALVES: &[&str] = &[
    "electrovanne",
    "électrovanne",
    "magnetventil",
    "motorventil",
    "regelventil",
    "schnellschlussventil",
    "stellventil",
    "vanne_de_régulation",
    "vanne_de_regulation",
    "vanne_motorisée",
    "vanne_motorisee",
];

pub(super) const CHECK_VALVES: &[&str] = &[
    "clapet_anti_retour",
    "clapet_antiretour",
    "clapet_de_non_retour",
    "rückschlagklappe",
    "rueckschlagklappe",
    "rückschlagventil",
    "rueckschlagventil",
    "rückflussverhinderer",
    "rueckflussverhinderer",
];

pub(super) const RELIEF_DEVICES: &[&str] = &[
    "berstscheibe",
    "disque_de_rupture",
    "sicherheitsventil",
    "soupape_de_sécurité",
    "soupape_de_securite",
    "soupape_de_sûreté",
    "soupape_de_surete",
];

pub(super) const VALVES_OF_SEVERAL_WAYS: &[&str] = &[
    "dreiwegehahn",
    "dreiwegekugelhahn",
    "dreiwegeventil",
    "robinet_à_trois_voies",
    "robinet_a_trois_voies",
    "robinet_trois_voies",
    "vanne_à_trois_voies",
    "vanne_a_trois_voies",
    "vanne_trois_voies",
    "vierwegehahn",
    "vierwegeventil",
];

pub(super) const BLINDS: &[&str] = &["brillenscheibe", "brillensteckscheibe", "steckblende", "steckscheibe"];

pub(super) const BLIND_FLANGES: &[&str] = &["blindflansch", "bride_pleine"];
