//! Letters of the tags of valves, and what they say beside a class.

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
const ACTUATED_LETTERS: &[&str] = &[
    "ESD", "SIS", "HIPPS", "MOV", "HOV", "HCV", "HIC", "HY", "HZ", "HZV", "HSV", "BDV", "BSDV", "DPCV", "EBV", "TSO",
    "SOL",
];

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
fn tag_letters(letters: &str) -> TagLetters {
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
