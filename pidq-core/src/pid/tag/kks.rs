//! Tags of power plants in the identification system KKS (VGB-B 105): `10LAB10CP001`.
//!
//! A code of the system with its number, two letters of the component, and three digits. The second letter of a circuit is its
//! variable: the control circuit `DP` belongs to the loop of the measuring circuit `CP`.

use super::{Tag, is_separator};

/// Letters of components, and their meaning.
const COMPONENTS: &[(&str, &str)] = &[
    ("AA", "valve"),
    ("AB", "isolating element"),
    ("AC", "heat exchanger"),
    ("AE", "driving or lifting gear"),
    ("AF", "conveyor"),
    ("AH", "heating or cooling unit"),
    ("AJ", "size reduction"),
    ("AM", "mixer, agitator"),
    ("AN", "compressor, fan"),
    ("AP", "pump"),
    ("AS", "adjusting equipment"),
    ("AT", "cleaning, filter"),
    ("AV", "combustion equipment"),
    ("BB", "vessel, tank"),
    ("BN", "ejector"),
    ("BP", "orifice, flow restrictor"),
    ("BQ", "support"),
    ("BR", "piping"),
    ("BS", "silencer"),
];

/// Measured variables by the second letter of a measuring circuit, and the meaning of the circuit.
const VARIABLES: &[(&str, &str, &str)] = &[
    ("CD", "density", "measuring circuit of density"),
    ("CE", "electrical variable", "measuring circuit of an electrical variable"),
    ("CF", "flow", "measuring circuit of flow"),
    ("CG", "position", "measuring circuit of a position"),
    ("CH", "hand", "manual input"),
    ("CK", "time", "measuring circuit of time"),
    ("CL", "level", "measuring circuit of level"),
    ("CM", "moisture", "measuring circuit of moisture"),
    ("CP", "pressure", "measuring circuit of pressure"),
    ("CQ", "analysis", "measuring circuit of an analysis"),
    ("CR", "radiation", "measuring circuit of radiation"),
    ("CS", "speed", "measuring circuit of speed"),
    ("CT", "temperature", "measuring circuit of temperature"),
    ("CV", "viscosity", "measuring circuit of viscosity"),
    ("CW", "weight", "measuring circuit of weight"),
    ("CY", "vibration", "measuring circuit of vibration"),
];

/// Circuits with a measured variable as the second letter besides measuring circuits, and their meaning.
const CIRCUITS: &[(char, &str)] = &[('D', "closed-loop control circuit"), ('F', "indirect measuring circuit")];

/// First letter of the components that condition signals, and those of them with a meaning of their own.
const SIGNALS: char = 'E';
const SIGNAL_COMPONENTS: &[(&str, &str)] = &[("EG", "alarm"), ("EZ", "protection")];

/// Returns the tag that a text is in KKS; `None` if it is another one.
pub(super) fn parse(text: &str) -> Option<Tag> {
    let text = text.trim_start_matches(['=', '-']);
    let (is_digit, is_letter) = (|c: &u8| c.is_ascii_digit(), |c: &u8| c.is_ascii_uppercase());
    let (_, rest) = split(text, 0..=2, is_digit)?;
    let (_, rest) = split(rest, 3..=3, is_letter)?;
    let (_, rest) = split(rest, 2..=2, is_digit)?;
    let prefix = &text[..text.len() - rest.len()];
    let (letters, rest) = split(rest, 2..=2, is_letter)?;
    let (number, suffix) = split(rest, 3..=3, is_digit)?;
    component(letters)?;
    Some(Tag {
        prefix: prefix.into(),
        letters: letters.into(),
        number: number.into(),
        suffix: suffix.trim_start_matches(is_separator).into(),
        is_kks: true,
        ..Tag::default()
    })
}

/// Splits a text behind the characters of a kind at its start, if their number is one of a range.
fn split(text: &str, count: std::ops::RangeInclusive<usize>, is_of_kind: impl Fn(&u8) -> bool) -> Option<(&str, &str)> {
    let text = text.trim_start_matches([' ', '-']);
    let found = text.bytes().take_while(is_of_kind).count();
    count.contains(&found).then(|| text.split_at(found))
}

/// Returns the letters of the loop of a component, and its meaning.
pub(super) fn component(letters: &str) -> Option<(&'static str, &'static str)> {
    let measuring = VARIABLES.iter().map(|(letters, _, meaning)| (*letters, *meaning));
    let known = COMPONENTS.iter().chain(SIGNAL_COMPONENTS).copied().chain(measuring);
    let (first, second) = (letters.chars().next()?, letters.chars().nth(1)?);
    let circuit = || {
        let (_, meaning) = CIRCUITS.iter().find(|(kind, _)| *kind == first)?;
        let (measuring, ..) = VARIABLES.iter().find(|(known, ..)| known.ends_with(second))?;
        Some((*measuring, *meaning))
    };
    let signals = || (first == SIGNALS).then_some(("E", "signal conditioning"));
    known.into_iter().find(|(known, _)| *known == letters).or_else(circuit).or_else(signals)
}

/// Returns the measured variable of a circuit.
pub(super) fn variable(letters: &str) -> Option<&'static str> {
    let (circuit, _) = component(letters)?;
    VARIABLES.iter().find(|(known, ..)| *known == circuit).map(|(_, variable, _)| *variable)
}

/// Returns whether the letters of a component are those of a control circuit.
pub(super) fn controls(letters: &str) -> bool {
    letters.starts_with('D')
}

/// Returns whether the letters of a component are those of the protection of a machine or a plant.
pub(super) fn protects(letters: &str) -> bool {
    letters == "EZ"
}
