//! Element table of Proteus: the mapping of each element to the graph.

/// Mapping of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mapping {
    /// A node: `node_type`, entity type, and ownership by its parent.
    Node(&'static str, &'static str, Ownership),
    /// An edge between two items.
    Signal,
    /// A part of its parent's node; references to it refer to the parent.
    PartOfParent,
    /// Drawn only, as a whole; references to it refer to the parent.
    Annotation,
    /// A line, a curve or another part of a drawn element.
    Graphic,
}

/// Ownership of a child by its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ownership {
    /// As a physical part: `physically_has_a`.
    Part,
    /// As a member: `has_a`.
    Member,
}

/// Element and its mapping.
pub struct ElementMapping {
    pub element: &'static str,
    pub mapping: Mapping,
}

use Mapping::{Annotation, Graphic, Node, PartOfParent, Signal};
use Ownership::{Member, Part};

const COMPONENT: &str = "pid_component";
const LOOP: &str = "instrumentation_loop";
const STRUCTURE: &str = "plant_structure_item";

const fn row(element: &'static str, mapping: Mapping) -> ElementMapping {
    ElementMapping { element, mapping }
}

/// All mapped elements of versions 3.3 to 4.1.
pub const ELEMENTS: &[ElementMapping] = &[
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
    row("PipeOffPageConnectorReference", PartOfParent),
    row("PipeOffPageConnectorReferenceByNumber", PartOfParent),
    row("PipeOffPageConnectorObjectReference", PartOfParent),
    row("SignalOffPageConnectorReference", PartOfParent),
    row("SignalOffPageConnectorReferenceByNumber", PartOfParent),
    row("SignalOffPageConnectorObjectReference", PartOfParent),
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
    row("Note", Node(COMPONENT, "other", Member)),
    row("InformationFlow", Signal),
    row("SignalLine", Signal),
    row("CenterLine", Graphic),
    row("Node", Annotation),
    row("Label", Annotation),
    row("Text", Graphic),
    row("PipeFlowArrow", Annotation),
    row("PipeSlopeSymbol", Annotation),
    row("InsulationSymbol", Annotation),
    row("ScopeBubble", Annotation),
    row("DrawingBorder", Annotation),
    row("ShapeCatalogue", Graphic),
    row("Presentation", Graphic),
    row("Line", Graphic),
    row("PolyLine", Graphic),
    row("Circle", Graphic),
    row("Ellipse", Graphic),
    row("TrimmedCurve", Graphic),
    row("CompositeCurve", Graphic),
    row("BsplineCurve", Graphic),
    row("Curve", Graphic),
    row("Shape", Graphic),
    row("Surface", Graphic),
    row("Hatch", Graphic),
    row("CrossHatch", Graphic),
    row("TextStringFormatSpecification", Graphic),
    row("ObjectAttributesReference", Graphic),
];

/// Mapping of an unknown element with an id.
pub const UNKNOWN: Mapping = Node(COMPONENT, "other", Member);

/// Elements that hold data of their parent element and have no mapping of their own.
pub const ATTRIBUTE_ELEMENTS: &[&str] = &[
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

/// Returns the mapping of an element.
pub fn find(element: &str) -> Option<Mapping> {
    ELEMENTS.iter().find(|row| row.element == element).map(|row| row.mapping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_one_row() {
        for (index, row) in ELEMENTS.iter().enumerate() {
            assert!(ELEMENTS[..index].iter().all(|other| other.element != row.element), "{}", row.element);
            assert!(!ATTRIBUTE_ELEMENTS.contains(&row.element), "{}", row.element);
        }
    }
}
