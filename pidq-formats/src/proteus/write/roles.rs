//! Elements of nodes: the element of the class if there is one, otherwise the one of the role.

use crate::model::Node;
use crate::symbols::{self, Placement};

use super::super::elements::{self, Mapping};
use super::identifiers::camel_case;

/// Elements by the first part of the class of a node.
const ROLES: &[(&str, &str)] = &[
    ("equipment", "Equipment"),
    ("equipment_component", "Component"),
    ("piping_component", "PipingComponent"),
    ("piping", "PipingComponent"),
    ("valve", "PipingComponent"),
    ("reference", "PipeOffPageConnector"),
    ("instrument", "ProcessInstrumentationFunction"),
    ("instrumentation", "ProcessInstrumentationFunction"),
    ("plant_structure", "PlantStructureItem"),
    ("instrumentation_loop", "InstrumentationLoopFunction"),
    ("piping_network_system", "PipingNetworkSystem"),
    ("piping_network_segment", "PipingNetworkSegment"),
    ("other", "Note"),
];

/// Words of a class with an element of its own.
const CLASS_WORDS: &[(&[&str], &str)] = &[
    (&["nozzle"], "Nozzle"),
    (&["signal", "off_page"], "SignalOffPageConnector"),
    (&["signal", "offpage"], "SignalOffPageConnector"),
    (&["connector_symbol"], "PipeConnectorSymbol"),
    (&["property_break"], "PropertyBreak"),
];

/// Returns the class of a node as Proteus writes it.
pub fn class(node: &Node<'_>) -> String {
    let written = node.fields.get("component_class").and_then(|class| class.as_str());
    let last = || camel_case(node.class_name()?.rsplit('.').next()?).into();
    let of_kind = || node.kind().map(camel_case);
    let class = written.map(str::to_owned).filter(|class| !class.trim().is_empty()).or_else(last);
    class.filter(|class: &String| !class.is_empty()).or_else(of_kind).unwrap_or_default()
}

/// Returns the element of a node.
pub fn element(node: &Node<'_>) -> &'static str {
    let class = class(node);
    let of_class =
        elements::ELEMENTS.iter().find(|row| row.element == class && matches!(row.mapping, Mapping::Node(..)));
    of_class.map(|row| row.element).or_else(|| group(node)).or_else(|| of_words(node)).unwrap_or_else(|| of_role(node))
}

/// Returns the element of a group: of a line, a run, a loop or a part of the plant.
fn group(node: &Node<'_>) -> Option<&'static str> {
    const GROUPS: &[(&str, &str)] = &[
        ("line_types", "PipingNetworkSystem"),
        ("segment_types", "PipingNetworkSegment"),
        ("loop_types", "InstrumentationLoopFunction"),
    ];
    let kind = node.kind()?;
    let row = GROUPS.iter().find(|(list, _)| node.is_of_type(list, kind));
    row.map(|(_, element)| *element).or_else(|| node.is_group().then_some("PlantStructureItem"))
}

fn of_words(node: &Node<'_>) -> Option<&'static str> {
    let class = node.class();
    let row = CLASS_WORDS.iter().find(|(words, _)| words.iter().all(|word| class.contains(word)));
    row.map(|(_, element)| *element)
}

fn of_role(node: &Node<'_>) -> &'static str {
    let role = node.class_name().and_then(|class| class.split_once('.')).map(|(role, _)| role);
    let row = ROLES.iter().find(|(name, _)| Some(*name) == role);
    let symbol = || match symbols::find(&node.class()).placement {
        Placement::Inline => "PipingComponent",
        Placement::Bubble => "ProcessInstrumentationFunction",
        Placement::Connector => "PipeOffPageConnector",
        Placement::Upright => "Equipment",
    };
    row.map_or_else(symbol, |(_, element)| *element)
}

/// Parents and the children that they may contain.
const NESTING: &[(&str, &[&str])] = &[
    ("Equipment", &["Equipment", "Nozzle", "Component"]),
    ("PipingNetworkSystem", &["PipingNetworkSegment"]),
    (
        "PipingNetworkSegment",
        &["PipingComponent", "PropertyBreak", "PipeOffPageConnector", "PipeConnectorSymbol", "ProcessInstrument"],
    ),
    ("ActuatingSystem", &["ActuatingSystemComponent"]),
    ("ProcessSignalGeneratingSystem", &["ProcessSignalGeneratingSystemComponent"]),
    (
        "ProcessInstrumentationFunction",
        &["SignalOffPageConnector", "ProcessSignalGeneratingFunction", "ActuatingFunction"],
    ),
];

/// Returns true if an element may contain another one.
pub fn is_nested(parent: &str, child: &str) -> bool {
    NESTING.iter().any(|(name, children)| *name == parent && children.contains(&child))
}

/// Returns true for an element that is only in runs.
pub fn is_in_run(element: &str) -> bool {
    is_nested("PipingNetworkSegment", element) && element != "ProcessInstrument"
}
