//! The names and words that drawings commonly use: what is known without being told.
//!
//! Plain lists, for programs that read the same drawings. What a graph says of itself and what a query says is in
//! [`TopologyConfig`](crate::TopologyConfig), which begins with these.

/// Fields with the id of a node.
pub const NODE_IDS: &[&str] = &["id", "node_id", "uuid", "externalId"];

/// Fields with the id of an edge.
pub const EDGE_IDS: &[&str] = &["id", "edge_id", "uuid", "externalId"];

/// Fields with the tag of a node.
pub const TAGS: &[&str] = &["tag", "tag_name", "tag_number", "name", "text_associated"];

/// Fields that say what sort of node it is.
pub const NODE_TYPES: &[&str] = &["node_type", "type"];

/// Fields that say of what class a node is, the most telling first.
pub const CLASSES: &[&str] =
    &["node_classification", "component_class", "sub_class", "class", "label", "type", "category", "node_type"];

/// What classes of things of piping begin with, before their dot.
pub const PIPING: &[&str] = &["piping_component"];

/// The fields with the ends of an edge, in pairs. The first pair of which an edge has both counts.
pub const ENDPOINTS: &[[&str; 2]] = &[
    ["from", "to"],
    ["source", "target"],
    ["source_id", "target_id"],
    ["from_id", "to_id"],
    ["startNodeId", "endNodeId"],
    ["start", "end"],
    ["u", "v"],
];

/// Fields that say of what kind an edge is.
pub const EDGE_KINDS: &[&str] = &["edge_type", "type", "label"];

/// Fields that say more of the kind of an edge.
pub const EDGE_CLASSES: &[&str] = &["edge_classification"];

/// Kinds of edges that something flows along.
pub const FLOW: &[&str] = &[
    "physically_connected_to",
    "piping",
    "process",
    "flow",
    "flows_to",
    "connected_to",
    "connection",
    "connected",
    "pipe",
    "process_line",
    "outputs",
    "inputs",
    "refers",
    "recycle",
    "off_page",
];

/// Kinds of edges from equipment to its nozzles and other parts.
pub const PARTS: &[&str] = &["physically_has_a", "has_nozzle", "has_terminal"];

/// Kinds of edges from a group to its members.
pub const MEMBERS: &[&str] = &["has_a", "contains", "composition"];

/// Kinds of edges from members to their group.
pub const MEMBERS_REVERSED: &[&str] = &["part_of", "is_part_of", "member_of", "belongs", "belongs_to", "member"];

/// Kinds of edges that are signals.
pub const SIGNALS: &[&str] =
    &["associated_with", "signal", "measures", "controls", "manipulates", "labeled", "signal_line"];

/// Kinds of edges from a segment to the items at its ends.
pub const SEGMENT_ENDS: &[&str] = &["starts_at", "ends_at", "source_item", "target_item"];

/// Types of nodes that are pipe lines.
pub const LINE_TYPES: &[&str] = &["piping_network_system", "pipe_system", "line"];

/// Types of nodes that are segments of pipe lines.
pub const SEGMENT_TYPES: &[&str] = &["piping_network_segment", "segment"];

/// Types of nodes that are control loops.
pub const LOOP_TYPES: &[&str] = &["instrumentation_loop", "instrumentation_loop_function", "loop", "control_loop"];

/// Types of nodes that are groups of other things.
pub const GROUP_TYPES: &[&str] = &["plant_structure_item", "drawing", "group"];

/// Whether a word is one of some: both in snake_case, so that `hasNozzle` is `has_nozzle`.
pub fn has(words: &[&str], word: &str) -> bool {
    words.contains(&word) || words.contains(&super::config::snake_case(word).as_str())
}
