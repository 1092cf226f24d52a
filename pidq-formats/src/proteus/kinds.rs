//! Which element of Proteus becomes what: one row an element.

/// What an element of the source becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Use {
    /// A node: its `node_type`, its entity type, and how its parent has it.
    Node(&'static str, &'static str, Owner),
    /// An edge between two items.
    Signal,
    /// A part of its parent's node; references to it mean the parent.
    Folded,
    /// Drawn only; references to it mean the parent.
    Annotation,
}

/// How a parent has a child.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Owner {
    /// As a physical part: `physically_has_a`.
    Part,
    /// As a member: `has_a`.
    Member,
}

/// An element and what it becomes.
pub struct Kind {
    pub element: &'static str,
    pub becomes: Use,
}

use Owner::{Member, Part};
use Use::{Annotation, Folded, Node, Signal};

const COMPONENT: &str = "pid_component";
const LOOP: &str = "instrumentation_loop";
const STRUCTURE: &str = "plant_structure_item";

const fn row(element: &'static str, becomes: Use) -> Kind {
    Kind { element, becomes }
}

/// Every element that is something. Elements of versions 3.3 to 4.1 stand beside each other.
pub const KINDS: &[Kind] = &[
    row("Equipment", Node(COMPONENT, "equipment", Part)),
    row("Nozzle", Node(COMPONENT, "equipment_component", Part)),
    row("Component", Node(COMPONENT, "equipment_component", Part)),
    row("PipingNetworkSystem", Node("piping_network_system", "piping_network_system", Member)),
    row("PipingNetworkSegment", Node("piping_network_segment", "piping_network_segment", Member)),
    row("PipingComponent", Node(COMPONENT, "piping_component", Member)),
    row("PropertyBreak", Node(COMPONENT, "piping_component", Member)),
    row("PipeConnectorSymbol", Node(COMPONENT, "reference", Member)),
    row("PipeOffPageConnector", Node(COMPONENT, "reference", Member)),
    row("SignalConnectorSymbol", Node(COMPONENT, "reference", Member)),
    row("SignalOffPageConnector", Node(COMPONENT, "reference", Member)),
    row("PipeOffPageConnectorReference", Folded),
    row("PipeOffPageConnectorReferenceByNumber", Folded),
    row("PipeOffPageConnectorObjectReference", Folded),
    row("SignalOffPageConnectorReference", Folded),
    row("SignalOffPageConnectorReferenceByNumber", Folded),
    row("SignalOffPageConnectorObjectReference", Folded),
    row("ProcessInstrument", Node(COMPONENT, "instrument", Member)),
    row("InstrumentComponent", Node(COMPONENT, "instrument", Member)),
    row("ProcessInstrumentationFunction", Node(COMPONENT, "instrument", Member)),
    row("ProcessSignalGeneratingFunction", Node(COMPONENT, "instrument", Member)),
    row("ActuatingFunction", Node(COMPONENT, "instrument", Member)),
    row("ActuatingElectricalFunction", Node(COMPONENT, "instrument", Member)),
    row("ActuatingSystem", Node(COMPONENT, "instrument", Member)),
    row("ActuatingElectricalSystem", Node(COMPONENT, "instrument", Member)),
    row("ActuatingSystemComponent", Node(COMPONENT, "instrument", Member)),
    row("ActuatingElectricalSystemComponent", Node(COMPONENT, "instrument", Member)),
    row("ProcessSignalGeneratingSystem", Node(COMPONENT, "instrument", Member)),
    row("ProcessSignalGeneratingSystemComponent", Node(COMPONENT, "instrument", Member)),
    row("InstrumentLoop", Node(LOOP, LOOP, Member)),
    row("InstrumentationLoopFunction", Node(LOOP, LOOP, Member)),
    row("PlantStructureItem", Node(STRUCTURE, "plant_structure", Member)),
    row("PlantArea", Node(STRUCTURE, "plant_structure", Member)),
    row("InformationFlow", Signal),
    row("SignalLine", Signal),
    row("CenterLine", Annotation),
    row("Node", Annotation),
    row("Label", Annotation),
    row("Text", Annotation),
    row("PipeFlowArrow", Annotation),
    row("PipeSlopeSymbol", Annotation),
    row("InsulationSymbol", Annotation),
    row("ScopeBubble", Annotation),
];

/// What an element with an id becomes that no row knows.
pub const UNKNOWN: Use = Node(COMPONENT, "other", Member);

/// Elements that carry facts of the element they stand in, and are nothing themselves.
pub const FACTS: &[&str] = &[
    "PlantModel",
    "PlantInformation",
    "UnitsOfMeasure",
    "MetaData",
    "Drawing",
    "GenericAttributes",
    "GenericAttribute",
    "ConnectionPoints",
    "Connection",
    "Coordinate",
    "Extent",
    "Min",
    "Max",
    "Position",
    "Location",
    "Axis",
    "Reference",
    "Scale",
    "PersistentID",
    "CrossPageConnection",
    "LinkedPersistentID",
    "Association",
    "Description",
    "String",
    "History",
];

/// Graphics: not stored.
const GRAPHICS: &[&str] = &[
    "Presentation",
    "Line",
    "PolyLine",
    "Circle",
    "Ellipse",
    "TrimmedCurve",
    "CompositeCurve",
    "BsplineCurve",
    "Shape",
    "Surface",
    "DrawingBorder",
    "ShapeCatalogue",
    "Curve",
    "Hatch",
];

/// Whether an element is stored.
pub fn is_wanted(name: &str) -> bool {
    !GRAPHICS.contains(&name)
}

/// What an element becomes.
pub fn find(element: &str) -> Option<Use> {
    KINDS.iter().find(|kind| kind.element == element).map(|kind| kind.becomes)
}

/// `CentrifugalPump` → `centrifugal_pump`, `PLS401_DIN2429` → `pls401_din2429`.
pub fn snake_case(class: &str) -> String {
    let mut out = String::with_capacity(class.len() + 4);
    let mut previous = ' ';
    for c in class.trim().chars() {
        let starts_word = c.is_uppercase() && (previous.is_lowercase() || previous.is_ascii_digit());
        // `PLS401_DIN2429` has no words: digits end one only before a capital that begins a word.
        if starts_word && !out.ends_with('_') {
            out.push('_');
        }
        match c {
            c if c.is_alphanumeric() => out.extend(c.to_lowercase()),
            _ if !out.is_empty() && !out.ends_with('_') => out.push('_'),
            _ => {}
        }
        previous = c;
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_one_row() {
        for (index, kind) in KINDS.iter().enumerate() {
            assert!(KINDS[..index].iter().all(|other| other.element != kind.element), "{}", kind.element);
            assert!(is_wanted(kind.element) && !FACTS.contains(&kind.element), "{}", kind.element);
        }
    }

    #[test]
    fn classes_are_written_in_snake_case() {
        for (class, snake) in [
            ("CentrifugalPump", "centrifugal_pump"),
            ("PlugValve", "plug_valve"),
            ("PLS401_DIN2429", "pls401_din2429"),
            ("Off-lineinstruments", "off_lineinstruments"),
            ("PlantSectionIso10209-2012", "plant_section_iso10209_2012"),
            (" Pump, (spare) ", "pump_spare"),
            ("", ""),
        ] {
            assert_eq!(snake_case(class), snake);
        }
    }
}
