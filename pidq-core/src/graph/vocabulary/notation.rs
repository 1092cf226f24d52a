//! Fields, kinds and values of the notation of drawings: ids, ends of edges, directions, groups, attributes.

/// Fields with the id of a node.
pub const NODE_IDS: &[&str] = &["id", "node_id", "uuid", "externalId"];

/// Fields with the id of an edge.
pub const EDGE_IDS: &[&str] = &["id", "edge_id", "uuid", "externalId"];

/// Fields with the tag of a node.
pub const TAGS: &[&str] = &["tag", "tag_name", "tag_number", "tagName", "name", "text_associated"];

/// Fields of a nozzle or a part of equipment with the equipment, by its id or its tag.
pub const OWNERS: &[&str] = &[
    "equipment",
    "equipment_id",
    "equipmentId",
    "equipment_tag",
    "equipmentTag",
    "part_of",
    "partOf",
    "belongs_to",
    "belongsTo",
    "parent_equipment",
    "parentEquipment",
    "parent_tag",
    "parentTag",
    "owner",
    "owner_tag",
    "ownerTag",
    "mounted_on",
    "mountedOn",
    "attached_to",
    "attachedTo",
];

/// Fields of a pipe or an item with what is at its end, in snake_case.
pub const PIPE_ENDS: &[&str] = &[
    "connected_to",
    "connects_to",
    "destination",
    "end",
    "from",
    "from_equipment",
    "from_id",
    "from_item",
    "from_line",
    "from_node",
    "from_nozzle",
    "from_tag",
    "origin",
    "source",
    "start",
    "target",
    "to",
    "to_equipment",
    "to_id",
    "to_item",
    "to_line",
    "to_node",
    "to_nozzle",
    "to_tag",
];

/// Last words in the classes of the ports of items in pipes.
pub const PORT_WORDS: &[&str] = &["connection", "connector", "end", "node", "point", "port", "terminal"];

/// Fields with the type of a node.
pub const NODE_TYPES: &[&str] = &["node_type", "type"];

/// Fields with the class of a node, the most specific first.
pub const CLASSES: &[&str] = &[
    "node_classification",
    "component_class",
    "dexpi_class",
    "sub_class",
    "class",
    "label",
    "type",
    "category",
    "node_type",
];

/// Class prefixes of piping items, before the dot.
pub const PIPING: &[&str] = &["piping_component"];

/// Prefix of the classes of the steps of a process model, which are no items of a plant.
pub const PROCESS_STEP_PREFIX: &str = "process_step.";

/// Pairs of fields with the ends of an edge. The first pair that an edge has completely applies.
pub const ENDPOINTS: &[[&str; 2]] = &[
    ["from", "to"],
    ["source", "target"],
    ["source_id", "target_id"],
    ["from_id", "to_id"],
    ["startNodeId", "endNodeId"],
    ["start", "end"],
    ["u", "v"],
];

/// Fields with the kind of an edge.
pub const EDGE_KINDS: &[&str] = &["edge_type", "type", "label", "dexpi_class"];

/// Fields that refine the kind of an edge.
pub const EDGE_CLASSES: &[&str] = &["edge_classification"];

/// Kinds of edges that carry flow.
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
    "rohrleitung",
    // Small pipes from the process to an instrument, which end there.
    "impulse_line",
    "measuring_line",
    "process_tap",
    "messleitung",
    "wirkdruckleitung",
];

/// Kinds of edges that are small pipes from the process to an instrument, which end there.
pub const IMPULSE_LINES: &[&str] =
    &["impulse_line", "measuring_line", "messleitung", "process_tap", "wirkdruckleitung"];

/// Kinds of edges of any sort, which carry flow unless their class is that of a signal.
pub const GENERAL_KINDS: &[&str] = &["connected_to", "connection", "connected"];

/// Kinds of edges from equipment to its nozzles and other parts.
pub const PARTS: &[&str] = &["physically_has_a", "has_nozzle", "has_terminal", "hat_stutzen"];

/// Kinds of edges from a group to its members.
pub const MEMBERS: &[&str] = &["has_a", "contains", "composition"];

/// Kinds of edges from members to their group.
pub const MEMBERS_REVERSED: &[&str] = &["part_of", "is_part_of", "member_of", "belongs", "belongs_to", "member"];

/// Kinds of signal edges.
pub const SIGNALS: &[&str] = &[
    "associated_with",
    "signal",
    "measures",
    "controls",
    "manipulates",
    "labeled",
    "signal_line",
    // Classes of DEXPI.
    "measuring_line_function",
    "signal_conveying_function",
    "signal_line_function",
    // Kinds of lines of ISA-5.1.
    "capillary",
    "data_link",
    "electric",
    "electric_signal",
    "electrical",
    "electrical_signal",
    "hydraulic",
    "hydraulic_signal",
    "instrument_signal",
    "pneumatic",
    "pneumatic_signal",
    "software_link",
    "wireless",
];

/// Kinds of signal edges from an instrument to the item at which it measures.
pub const MEASURING_SIGNALS: &[&str] = &["measures", "measuring_line", "measuring_line_function"];

/// Words in the classes of edges that are pipes, whatever their kind.
pub const PIPE_WORDS: &[&str] = &["pipe", "piping", "pipeline", "hose", "line", "tubing"];

/// Words in the classes of edges that are signals, beside which a word for a pipe says nothing.
pub const SIGNAL_WORDS: &[&str] = &[
    "capillary",
    "communication",
    "conveying",
    "data",
    "electric",
    "electrical",
    "guided",
    "hydraulic",
    "information",
    "instrument",
    "measuring",
    "mechanical",
    "pneumatic",
    "radio",
    "signal",
    "software",
    "sonic",
    "undefined",
];

/// Kinds of edges from a segment to the items at its ends.
pub const SEGMENT_ENDS: &[&str] = &["starts_at", "ends_at", "source_item", "target_item"];

/// Types of pipe line nodes.
pub const LINE_TYPES: &[&str] = &["piping_network_system", "pipe_system", "line"];

/// Types of pipe segment nodes.
pub const SEGMENT_TYPES: &[&str] = &["piping_network_segment", "segment"];

/// Types of loop nodes.
pub const LOOP_TYPES: &[&str] = &[
    "instrumentation_loop",
    "instrumentation_loop_function",
    "loop",
    "control_loop",
    "trip_loop",
    "safety_loop",
    "interlock_loop",
];

/// Field of a node that had the same id in the file as another item, with this id: an import gives one of them another id.
pub const SHARED_ID: &str = "shared_id";

/// Class of the edges between the connectors of joined sheets.
pub const JOINT_CLASS: &str = "off_page_connection";

/// Texts of such fields that state the opposite, in snake_case.
pub const NEGATIVES: &[&str] =
    &["", "-", "_", "0", "false", "n", "n/a", "na", "no", "none", "not_applicable", "sil_0", "sil0"];

/// Texts of cells of a table that state nothing, in snake_case.
pub const EMPTY_TEXTS: &[&str] = &[
    "-",
    "--",
    "aucun",
    "aucune",
    "kein",
    "keine",
    "n/a",
    "na",
    "nan",
    "none",
    "not_available",
    "null",
    "néant",
    "unset",
];

/// Texts in place of a label that is not known yet, in snake_case.
pub const PLACEHOLDERS: &[&str] = &[
    "by_others",
    "hold",
    "later",
    "na",
    "not_available",
    "not_known",
    "null",
    "tba",
    "tbc",
    "tbd",
    "to_be_advised",
    "to_be_confirmed",
    "to_be_defined",
    "to_be_determined",
    "unknown",
    "à_définir",
    "offen",
    "spaeter",
    "später",
];

/// Directions of an edge that agree with its ends.
pub const FORWARD: &[&str] = &[
    "forward",
    "forwards",
    "downstream",
    "down",
    "normal",
    "positive",
    "out",
    "unidirectional",
    "one_way",
    "single",
    "directed",
    "along",
    "from_to",
    "source_to_target",
    "start_to_end",
    "default",
    "same",
    "true",
    "yes",
    "->",
    "=>",
    "→",
    "1",
    "+1",
];

/// Words in texts about the direction of a pipe that do not say that it is the one of its ends.
pub const DIRECTION_WORDS: &[&str] = &[
    "alternating",
    "against",
    "any",
    "back",
    "backward",
    "backwards",
    "beide",
    "beides",
    "beidseitig",
    "bidi",
    "bidirectional",
    "both",
    "change",
    "changing",
    "counter",
    "direction",
    "directions",
    "either",
    "entgegen",
    "gegen",
    "hold",
    "inverse",
    "inverted",
    "left",
    "n",
    "na",
    "negative",
    "nil",
    "no",
    "none",
    "not",
    "null",
    "opposite",
    "open",
    "reverse",
    "reversed",
    "reversible",
    "reversing",
    "right",
    "rückwärts",
    "rueckwaerts",
    "tba",
    "tbc",
    "tbd",
    "to_from",
    "two",
    "twoway",
    "unbekannt",
    "unclear",
    "undefined",
    "undetermined",
    "unknown",
    "unspecified",
    "up",
    "upstream",
    "variable",
    "varies",
    "vice",
    "way",
    "ways",
    "wechselnd",
    "zurück",
    "inconnu",
    "inverso",
    "sens",
    "richtung",
    "false",
    "unstated",
];

/// Names of fields with the part of a plant in which the tags of equipment are unique.
pub const PARTS_OF_PLANT: &[&str] =
    &["area", "plant_area", "unit", "plant_unit", "process_unit", "unit_number", "area_number", "plant", "project_id"];

/// Fields with the attributes of an item, in snake_case.
pub const ATTRIBUTE_FIELDS: &[&str] =
    &["attributes", "generic_attributes", "custom_attributes", "properties", "data", "lifecycle", "life_cycle"];

/// Types of other group nodes.
pub const GROUP_TYPES: &[&str] = &["plant_structure_item", "drawing", "group"];

/// Endings of attribute names that say how a source stores a value, not what it is.
pub const ATTRIBUTE_ENDINGS: &[&str] = &["_assignment_class", "_specialization", "_representation"];
