//! Symbol table: one row per symbol, in the style of ISO 10628.
//!
//! Rows are selected by words of the class. Bodies are SVG, centered at (0, 0); the pipe enters on the left and leaves
//! on the right. `s` is a filled outline, `f` is filled with the line color, `n` has no fill.

/// A symbol.
#[derive(Debug)]
pub struct Symbol {
    pub name: &'static str,
    /// The class matches one of these; all words of an entry must occur.
    pub words: &'static [&'static str],
    pub placement: Placement,
    /// Half of its width and height.
    pub half: (f64, f64),
    pub body: Body,
    /// The shape in Graphviz and Mermaid.
    pub shape: Shape,
}

/// Drawing of a symbol.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A fixed drawing, scaled to size.
    Fixed(&'static str),
    /// A function of half the width and half the height: vessels have any proportions.
    Stretched(fn(f64, f64) -> String),
}

/// Placement of a symbol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Placement {
    /// In the pipe; rotates with it.
    Inline,
    /// On its own; always upright.
    Upright,
    /// On its own, with its tag inside.
    Bubble,
    /// At the edge of the sheet; points along the flow, with its text next to it.
    Connector,
}

/// Shapes of other tools.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    Box,
    Circle,
    Cylinder,
    Bowtie,
    Arrow,
    Dot,
    Hexagon,
}

impl Shape {
    /// Returns the name in Graphviz.
    pub fn dot(self) -> &'static str {
        match self {
            Shape::Box => "box",
            Shape::Circle => "ellipse",
            Shape::Cylinder => "cylinder",
            Shape::Bowtie => "invtrapezium",
            Shape::Arrow => "cds",
            Shape::Dot => "point",
            Shape::Hexagon => "hexagon",
        }
    }

    /// Returns the brackets in Mermaid.
    pub fn mermaid(self) -> (&'static str, &'static str) {
        match self {
            Shape::Box => ("[", "]"),
            Shape::Circle => ("((", "))"),
            Shape::Cylinder => ("[(", ")]"),
            Shape::Bowtie => ("[/", "\\]"),
            Shape::Arrow => (">", "]"),
            Shape::Dot => ("(", ")"),
            Shape::Hexagon => ("{{", "}}"),
        }
    }
}

const fn inline(name: &'static str, words: &'static [&'static str], half: (f64, f64), body: &'static str) -> Symbol {
    Symbol { name, words, placement: Placement::Inline, half, body: Body::Fixed(body), shape: Shape::Bowtie }
}

const fn upright(
    name: &'static str,
    words: &'static [&'static str],
    half: (f64, f64),
    body: &'static str,
    shape: Shape,
) -> Symbol {
    Symbol { name, words, placement: Placement::Upright, half, body: Body::Fixed(body), shape }
}

const fn stretched(
    name: &'static str,
    words: &'static [&'static str],
    half: (f64, f64),
    body: fn(f64, f64) -> String,
    shape: Shape,
) -> Symbol {
    Symbol { name, words, placement: Placement::Upright, half, body: Body::Stretched(body), shape }
}

const fn connector(
    name: &'static str,
    words: &'static [&'static str],
    half: (f64, f64),
    body: fn(f64, f64) -> String,
) -> Symbol {
    Symbol { name, words, placement: Placement::Connector, half, body: Body::Stretched(body), shape: Shape::Arrow }
}

const fn small(
    name: &'static str,
    words: &'static [&'static str],
    half: (f64, f64),
    body: &'static str,
    shape: Shape,
) -> Symbol {
    Symbol { name, words, placement: Placement::Inline, half, body: Body::Fixed(body), shape }
}

const BUBBLE: &str = "<circle class=\"s\" r=\"16\"/>";

/// All symbols, specific ones before general ones: the first match wins.
pub const SYMBOLS: &[Symbol] = &[
    // Ends and parts.
    connector("off_page", &["off_page", "connector_symbol", "opc", "outlet", "signal_connector"], (22.0, 8.0), pennant),
    small(
        "open_end",
        &["open_end", "signal_end"],
        (4.0, 5.0),
        "<path class=\"n\" d=\"M-4 -5L4 0L-4 5M-4 0H4\"/>",
        Shape::Dot,
    ),
    small("nozzle", &["nozzle"], (3.0, 5.0), "<path class=\"n\" d=\"M-2 -5V5M2 -5V5M-2 0H2\"/>", Shape::Dot),
    small(
        "part",
        &["chamber", "impeller", "displacer", "tube_bundle", "equipment_component"],
        (5.0, 5.0),
        "<rect class=\"s\" x=\"-5\" y=\"-5\" width=\"10\" height=\"10\" rx=\"2\"/>",
        Shape::Box,
    ),
    // Instruments in the pipe.
    inline(
        "venturi",
        &["venturi", "flow_nozzle"],
        (11.0, 6.0),
        "<path class=\"s\" d=\"M-11 -6L-3 -2L11 -6V6L-3 2L-11 6Z\"/>",
    ),
    // The plate is between flanges, and open in the middle.
    inline(
        "orifice",
        &["orifice", "flow_element"],
        (5.0, 9.0),
        "<path class=\"n\" d=\"M-3.5 -7V7M3.5 -7V7M0 -10V-2.5M0 2.5V10M-5 0H5\"/>",
    ),
    inline(
        "coriolis_meter",
        &["coriolis"],
        (9.0, 9.0),
        "<rect class=\"s\" x=\"-9\" y=\"-9\" width=\"18\" height=\"18\"/><path class=\"n\" d=\"M-9 0L-5 5L0 -5L5 5L9 0\"/>",
    ),
    inline(
        "rotameter",
        &["rotameter", "flow_meter", "flowmeter"],
        (9.0, 9.0),
        "<circle class=\"s\" r=\"9\"/><path class=\"n\" d=\"M-4 5L0 -6L4 5\"/>",
    ),
    inline(
        "thermowell",
        &["thermowell"],
        (4.0, 4.0),
        "<path class=\"n\" d=\"M-4 0H4M0 0V-8M-3 -8H3\"/><circle class=\"f\" r=\"2\"/>",
    ),
    // Valves.
    inline(
        "safety_valve",
        &["safety", "relief", "spring_loaded"],
        (10.0, 8.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"n\" d=\"M0 0V-6L4 -8L-4 -11L4 -14L-4 -17L0 -19\"/>",
    ),
    // Chosen by the pipes of a safety valve: the outlet is below the inlet's axis, or above it. The spring is opposite the
    // inlet.
    inline(
        "angle_safety_valve",
        &[],
        (10.0, 10.0),
        "<path class=\"s\" d=\"M-10 -7V7L0 0Z\"/><path class=\"s\" d=\"M-7 10H7L0 0Z\"/>\
         <path class=\"n\" d=\"M0 0H4L6 4L9 -4L12 4L15 -4L17 0\"/>",
    ),
    inline(
        "angle_safety_valve_left",
        &[],
        (10.0, 10.0),
        "<path class=\"s\" d=\"M-10 -7V7L0 0Z\"/><path class=\"s\" d=\"M-7 -10H7L0 0Z\"/>\
         <path class=\"n\" d=\"M0 0H4L6 -4L9 4L12 -4L15 4L17 0\"/>",
    ),
    inline(
        "rupture_disc",
        &["rupture", "bursting"],
        (6.0, 8.0),
        "<rect class=\"s\" x=\"-6\" y=\"-8\" width=\"12\" height=\"16\"/><path class=\"n\" d=\"M-3 -8Q5 0 -3 8\"/>",
    ),
    inline(
        "breather",
        &["breather", "vacuum_valve"],
        (10.0, 8.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"n\" d=\"M0 0V-9M-5 -9H5M-3 -12H3\"/>",
    ),
    inline(
        "check_valve",
        &["check", "non_return", "swing"],
        (10.0, 7.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"f\" d=\"M-10 -7V7L0 0Z\"/>",
    ),
    inline(
        "diaphragm_valve",
        &["diaphragm_valve", "valve diaphragm"],
        (10.0, 7.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"n\" d=\"M-7 -5Q0 -13 7 -5\"/>",
    ),
    inline(
        "control_valve",
        &["control valve", "controlvalve", "control_valve", "valve control", "regulator", "regulating"],
        (10.0, 8.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"n\" d=\"M0 0V-12\"/><path class=\"s\" d=\"M-8 -12A8 8 0 0 1 8 -12Z\"/>",
    ),
    inline(
        "three_way_valve",
        &["three_way", "3_way"],
        (10.0, 10.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"s\" d=\"M0 0L-6 11H6Z\"/>",
    ),
    inline(
        "four_way_valve",
        &["four_way", "4_way"],
        (10.0, 10.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"s\" d=\"M-6 11H6L-6 -11H6Z\"/>",
    ),
    // One whose pipes are in line and too short for a turn.
    inline("angle_valve", &["angle valve"], (10.0, 7.0), "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/>"),
    // Chosen by the pipes of an angle valve, as for safety valves.
    inline(
        "angle_valve_right",
        &[],
        (10.0, 10.0),
        "<path class=\"s\" d=\"M-10 -7V7L0 0Z\"/><path class=\"s\" d=\"M-7 10H7L0 0Z\"/>",
    ),
    inline(
        "angle_valve_left",
        &[],
        (10.0, 10.0),
        "<path class=\"s\" d=\"M-10 -7V7L0 0Z\"/><path class=\"s\" d=\"M-7 -10H7L0 0Z\"/>",
    ),
    inline(
        "ball_valve",
        &["ball valve", "ball_valve", "valve ball"],
        (10.0, 7.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><circle class=\"s\" r=\"4\"/>",
    ),
    inline(
        "globe_valve",
        &["globe"],
        (10.0, 7.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><circle class=\"f\" r=\"3.5\"/>",
    ),
    inline(
        "butterfly_valve",
        &["butterfly"],
        (10.0, 7.0),
        "<path class=\"n\" d=\"M-10 -7V7M10 -7V7M-7 6L7 -6\"/><circle class=\"f\" r=\"2.5\"/>",
    ),
    inline(
        "plug_valve",
        &["plug_valve", "valve plug"],
        (10.0, 7.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"s\" d=\"M0 -5L5 0L0 5L-5 0Z\"/>",
    ),
    inline(
        "needle_valve",
        &["needle"],
        (10.0, 7.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"f\" d=\"M-2 -8H2L0 2Z\"/>",
    ),
    inline(
        "gate_valve",
        &["gate"],
        (10.0, 7.0),
        "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/><path class=\"n\" d=\"M0 -7V7\"/>",
    ),
    inline("valve", &["valve"], (10.0, 7.0), "<path class=\"s\" d=\"M-10 -7V7L10 -7V7Z\"/>"),
    // Other items in the pipe.
    small(
        "reducer",
        &["reducer", "diameter_change"],
        (8.0, 7.0),
        "<path class=\"s\" d=\"M-8 -7V7L8 4V-4Z\"/>",
        Shape::Box,
    ),
    small("tee", &["tee", "cross", "branch", "junction"], (2.0, 2.0), "<circle class=\"f\" r=\"2.2\"/>", Shape::Dot),
    // A ring in the pipe and the plate next to it; a closed one has the plate in the pipe.
    small(
        "spectacle_blind",
        &["spectacle", "figure_eight", "figure_8"],
        (4.0, 7.0),
        "<path class=\"n\" d=\"M0 0V-11\"/><circle class=\"s\" r=\"4\"/><circle class=\"f\" cy=\"-11\" r=\"4\"/>",
        Shape::Box,
    ),
    small(
        "blind",
        &["blind", "spade", "spectacle", "cap"],
        (3.0, 7.0),
        "<path class=\"n\" d=\"M-2 -7V7\"/><path class=\"w\" d=\"M2 -7V7\"/>",
        Shape::Box,
    ),
    small("flange", &["flange", "spool"], (3.0, 7.0), "<path class=\"n\" d=\"M-2 -7V7M2 -7V7\"/>", Shape::Box),
    small(
        "property_break",
        &["property_break", "spec_break"],
        (4.0, 8.0),
        "<path class=\"n\" d=\"M-4 0H4M0 -9V9M0 -9H5M0 9H-5\"/>",
        Shape::Box,
    ),
    small(
        "steam_trap",
        &["trap"],
        (8.0, 8.0),
        "<circle class=\"s\" r=\"8\"/><path class=\"f\" d=\"M-5.7 5.7A8 8 0 0 1 5.7 -5.7Z\"/>",
        Shape::Circle,
    ),
    // The leg of the Y with the basket is below the pipe.
    small(
        "y_strainer",
        &["y_strainer", "y_type_strainer", "strainer_y", "wye_strainer"],
        (9.0, 9.0),
        "<path class=\"n\" d=\"M-9 0H9\"/><path class=\"s\" d=\"M-3.5 0L5.7 9.2L9.2 5.7L3.5 0\"/><path class=\"d\" d=\"M0 0L7.5 7.5\"/>",
        Shape::Box,
    ),
    small(
        "strainer",
        &["strainer"],
        (8.0, 7.0),
        "<rect class=\"s\" x=\"-8\" y=\"-7\" width=\"16\" height=\"14\"/><path class=\"d\" d=\"M-6 6L6 -6\"/>",
        Shape::Box,
    ),
    small(
        "flame_arrester",
        &["flame_arrest", "detonation_arrest", "flame arrest", "detonation arrest"],
        (8.0, 7.0),
        "<rect class=\"s\" x=\"-8\" y=\"-7\" width=\"16\" height=\"14\"/><path class=\"n\" d=\"M-4 -7V7M0 -7V7M4 -7V7\"/>",
        Shape::Box,
    ),
    small(
        "static_mixer",
        &["static_mixer", "static mixer", "inline_mixer"],
        (14.0, 6.0),
        "<rect class=\"s\" x=\"-14\" y=\"-6\" width=\"28\" height=\"12\"/><path class=\"n\" d=\"M-14 6L-4.7 -6L4.7 6L14 -6\"/>",
        Shape::Box,
    ),
    small(
        "sight_glass",
        &["sight_glass", "sight glass"],
        (8.0, 6.0),
        "<rect class=\"s\" x=\"-8\" y=\"-6\" width=\"16\" height=\"12\"/><circle class=\"n\" r=\"4.5\"/>",
        Shape::Box,
    ),
    small("hose", &["hose"], (12.0, 5.0), "<path class=\"n\" d=\"M-12 0Q-9 -8 -6 0T0 0T6 0T12 0\"/>", Shape::Box),
    small(
        "expansion_joint",
        &["expansion_joint", "bellow", "compensator"],
        (9.0, 7.0),
        "<path class=\"s\" d=\"M-9 -4L-6 -7L-3 -4L0 -7L3 -4L6 -7L9 -4V4L6 7L3 4L0 7L-3 4L-6 7L-9 4Z\"/>",
        Shape::Box,
    ),
    small(
        "drain_funnel",
        &["open_drain", "funnel", "tundish"],
        (8.0, 6.0),
        "<path class=\"n\" d=\"M-8 0H-4M0 -6L5 0L0 6M5 0H8\"/><path class=\"f\" d=\"M-4 -2.5L1 0L-4 2.5Z\"/>",
        Shape::Box,
    ),
    // Equipment.
    upright(
        "rotary_pump",
        &["rotary pump", "gear pump", "screw pump", "lobe pump", "rotary_piston"],
        (18.0, 18.0),
        "<circle class=\"s\" r=\"18\"/><circle class=\"n\" cy=\"-6.5\" r=\"6.5\"/><circle class=\"n\" cy=\"6.5\" r=\"6.5\"/>",
        Shape::Circle,
    ),
    upright(
        "diaphragm_pump",
        &["diaphragm_pump", "diaphragm pump", "membrane pump"],
        (18.0, 18.0),
        "<circle class=\"s\" r=\"18\"/><path class=\"n\" d=\"M-5 -17.3Q11 0 -5 17.3M-17.5 0H3\"/>",
        Shape::Circle,
    ),
    // A cylinder with its piston and rod.
    upright(
        "piston_pump",
        &["reciprocating pump", "piston pump", "plunger pump", "displacement pump"],
        (18.0, 18.0),
        "<circle class=\"s\" r=\"18\"/><path class=\"n\" d=\"M-9 -7H10V7H-9ZM2 -7V7M2 0H-16.5\"/>",
        Shape::Circle,
    ),
    upright(
        "pump",
        &["pump"],
        (18.0, 18.0),
        "<circle class=\"s\" r=\"18\"/><path class=\"n\" d=\"M0 -18L18 0L0 18\"/>",
        Shape::Circle,
    ),
    upright(
        "ejector",
        &["ejector", "eductor"],
        (20.0, 9.0),
        "<path class=\"s\" d=\"M-20 -9L2 -3L20 -9V9L2 3L-20 9Z\"/><path class=\"n\" d=\"M-20 -4L-7 0L-20 4\"/>",
        Shape::Box,
    ),
    upright(
        "turbine",
        &["turbine", "expander"],
        (16.0, 18.0),
        "<path class=\"s\" d=\"M-16 -8L16 -18V18L-16 8Z\"/>",
        Shape::Box,
    ),
    upright(
        "compressor",
        &["compressor"],
        (18.0, 18.0),
        "<circle class=\"s\" r=\"18\"/><path class=\"n\" d=\"M-12 -13.4L16.5 -7M-12 13.4L16.5 7\"/>",
        Shape::Circle,
    ),
    // An impeller with two blades.
    upright(
        "fan",
        &["blower", "fan", "ventilator"],
        (18.0, 18.0),
        "<circle class=\"s\" r=\"18\"/><path class=\"n\" d=\"M0 0C-8 -5 -7 -15 0 -15S8 -5 0 0C-8 5 -7 15 0 15S8 5 0 0\"/>",
        Shape::Circle,
    ),
    stretched("plate_exchanger", &["plate"], (18.0, 22.0), plates, Shape::Box),
    stretched("electric_heater", &["electric heater"], (20.0, 9.0), electric_heater, Shape::Box),
    stretched("furnace", &["furnace", "fired heater"], (22.0, 30.0), furnace, Shape::Box),
    stretched(
        "air_cooler",
        &["air_cool", "air cooler", "air_fin", "fin_fan", "finned_fan", "air_condenser"],
        (26.0, 16.0),
        air_cooler,
        Shape::Box,
    ),
    stretched(
        "exchanger",
        &["exchanger", "cooler", "condenser", "reboiler", "heater"],
        (20.0, 20.0),
        exchanger,
        Shape::Circle,
    ),
    stretched("column", &["column", "tower", "distillation", "scrubber"], (16.0, 52.0), column, Shape::Cylinder),
    stretched("standing_drum", &["vertical drum"], (20.0, 34.0), vessel, Shape::Cylinder),
    stretched("drum", &["drum", "accumulator"], (34.0, 16.0), drum, Shape::Cylinder),
    stretched(
        "reactor",
        &["reactor", "agitated", "vessel agitat", "tank agitat", "drum agitat", "mixer"],
        (20.0, 32.0),
        reactor,
        Shape::Cylinder,
    ),
    // The agitator of a vessel is drawn without the vessel.
    upright(
        "agitator",
        &["agitator", "stirrer"],
        (10.0, 20.0),
        "<path class=\"n\" d=\"M0 -20V15M-10 11L10 19V11L-10 19Z\"/>",
        Shape::Box,
    ),
    stretched("cyclone", &["cyclone"], (14.0, 28.0), cyclone, Shape::Cylinder),
    stretched("filter", &["filter"], (16.0, 18.0), filter, Shape::Box),
    stretched("vessel", &["vessel", "separator", "receiver", "knock_out"], (20.0, 34.0), vessel, Shape::Cylinder),
    stretched("tank", &["tank", "silo", "bin"], (28.0, 32.0), tank, Shape::Cylinder),
    // Instruments.
    upright(
        "actuator",
        &["actuator", "diaphragm", "operated_valve_reference", "valvereference", "valve_reference"],
        (8.0, 6.0),
        "<path class=\"n\" d=\"M0 2V12\"/><path class=\"s\" d=\"M-8 2A8 8 0 0 1 8 2Z\"/>",
        Shape::Hexagon,
    ),
    upright(
        "motor",
        &["motor"],
        (12.0, 12.0),
        "<circle class=\"s\" r=\"12\"/><path class=\"n\" d=\"M-5 6V-6L0 2L5 -6V6\"/>",
        Shape::Circle,
    ),
    Symbol {
        name: "instrument",
        words: &["instrument", "transmitter", "controller", "indicator", "gauge", "actuating", "signal_generating"],
        placement: Placement::Bubble,
        half: (16.0, 16.0),
        body: Body::Fixed(BUBBLE),
        shape: Shape::Circle,
    },
    stretched("equipment", &["equipment"], (22.0, 18.0), block, Shape::Box),
    small(
        "other",
        &[""],
        (7.0, 7.0),
        "<rect class=\"s\" x=\"-7\" y=\"-7\" width=\"14\" height=\"14\" rx=\"2\"/>",
        Shape::Box,
    ),
];

/// Draws an off-page connector: a box that ends in an arrow of 90°.
fn pennant(w: f64, h: f64) -> String {
    let shoulder = w - h;
    format!("<path class=\"s\" d=\"M{:.1} {:.1}H{shoulder:.1}L{w:.1} 0L{shoulder:.1} {h:.1}H{:.1}Z\"/>", -w, -h, -w)
}

/// Draws a vessel: straight walls between two dished heads.
fn vessel(w: f64, h: f64) -> String {
    let head = (w / 2.0).min(h / 2.0);
    let wall = h - head;
    format!(
        "<path class=\"s\" d=\"M{:.1} {:.1}A{w:.1} {head:.1} 0 0 1 {w:.1} {:.1}V{wall:.1}A{w:.1} {head:.1} 0 0 1 {:.1} {wall:.1}Z\"/>",
        -w, -wall, -wall, -w
    )
}

/// Draws a horizontal vessel.
fn drum(w: f64, h: f64) -> String {
    let head = (h / 2.0).min(w / 2.0);
    let wall = w - head;
    format!(
        "<path class=\"s\" d=\"M{:.1} {:.1}H{wall:.1}A{head:.1} {h:.1} 0 0 1 {wall:.1} {h:.1}H{:.1}A{head:.1} {h:.1} 0 0 1 {:.1} {:.1}Z\"/>",
        -wall, -h, -wall, -wall, -h
    )
}

/// Draws a plate heat exchanger: crossed plates between the two plates of the frame.
fn plates(w: f64, h: f64) -> String {
    let inner = w - (w * 0.12).min(h * 0.2);
    format!(
        "<rect class=\"s\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
         <path class=\"n\" d=\"M{:.1} {:.1}V{h:.1}M{inner:.1} {:.1}V{h:.1}M{:.1} {:.1}L{inner:.1} {h:.1}M{:.1} {h:.1}L{inner:.1} {:.1}\"/>",
        -w,
        -h,
        2.0 * w,
        2.0 * h,
        -inner,
        -h,
        -h,
        -inner,
        -h,
        -inner,
        -h
    )
}

/// Draws an electric heater: a shell with a resistor that enters from the left.
fn electric_heater(w: f64, h: f64) -> String {
    let (step, y) = (w * 0.2, h * 0.45);
    let waves: String =
        (0..6).map(|n| format!("l{step:.1} {:.1}", if n % 2 == 0 { 2.0 * y } else { -2.0 * y })).collect();
    format!("{}<path class=\"n\" d=\"M{:.1} 0H{:.1}V{:.1}{waves}\"/>", block(w, h), -w, -w * 0.7, -y)
}

/// Draws a furnace: a firebox with its stack and its coil.
fn furnace(w: f64, h: f64) -> String {
    let (stack, shoulder, box_top) = (w * 0.3, -h * 0.6, -h * 0.35);
    let (x, y) = (w * 0.7, h * 0.25);
    format!(
        "<path class=\"s\" d=\"M{:.1} {h:.1}V{box_top:.1}L{:.1} {shoulder:.1}V{:.1}H{stack:.1}V{shoulder:.1}L{w:.1} {box_top:.1}V{h:.1}Z\"/>\
         <path class=\"n\" d=\"M{:.1} 0H{x:.1}L{:.1} {y:.1}H{w:.1}\"/>",
        -w, -stack, -h, -w, -x
    )
}

/// Draws a cyclone: a cylinder above a cone.
fn cyclone(w: f64, h: f64) -> String {
    let (cone, outlet) = (-h * 0.2, w * 0.2);
    format!(
        "<path class=\"s\" d=\"M{:.1} {:.1}H{w:.1}V{cone:.1}L{outlet:.1} {h:.1}H{:.1}L{:.1} {cone:.1}Z\"/><path class=\"n\" d=\"M{:.1} {cone:.1}H{w:.1}\"/>",
        -w, -h, -outlet, -w, -w
    )
}

/// Draws a round exchanger, or a shell with its tube sheets and tubes if it is long.
fn exchanger(w: f64, h: f64) -> String {
    if w.max(h) < w.min(h) * 1.5 {
        let r = w.min(h);
        let (x, y) = (r * 0.25, r * 0.5);
        return format!(
            "<ellipse class=\"s\" rx=\"{w:.1}\" ry=\"{h:.1}\"/>\
             <path class=\"n\" d=\"M{:.1} 0H{:.1}L{:.1} {:.1}L{x:.1} {y:.1}L{:.1} 0H{w:.1}\"/>",
            -w,
            -2.0 * x,
            -x,
            -y,
            2.0 * x
        );
    }
    let lines: String = match w > h {
        true => {
            let tube = |side: f64| format!("M{:.1} {:.1}H{:.1}", -w * 0.75, side * h * 0.2, w * 0.75);
            let sheets = format!("M{:.1} {:.1}V{h:.1}M{:.1} {:.1}V{h:.1}", -w * 0.75, -h, w * 0.75, -h);
            sheets + &tube(-1.0) + &tube(1.0)
        }
        false => {
            let tube = |side: f64| format!("M{:.1} {:.1}V{:.1}", side * w * 0.2, -h * 0.75, h * 0.75);
            let sheets = format!("M{:.1} {:.1}H{w:.1}M{:.1} {:.1}H{w:.1}", -w, -h * 0.75, -w, h * 0.75);
            sheets + &tube(-1.0) + &tube(1.0)
        }
    };
    format!("{}<path class=\"n\" d=\"{lines}\"/>", block(w, h))
}

/// Draws an air cooler: a bundle of tubes above a fan.
fn air_cooler(w: f64, h: f64) -> String {
    let (bottom, fan, hub) = (h * 0.25, w * 0.5, h * 0.7);
    let (left, right, blade) = (-w * 0.8, w * 0.8, h * 0.3);
    format!(
        "<rect class=\"s\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
         <path class=\"n\" d=\"M{:.1} {:.1}H{right:.1}L{left:.1} {:.1}H{w:.1}\"/>\
         <path class=\"s\" d=\"M0 {hub:.1}Q{:.1} {:.1} {fan:.1} {hub:.1}Q{:.1} {:.1} 0 {hub:.1}\
         Q{:.1} {:.1} {:.1} {hub:.1}Q{:.1} {:.1} 0 {hub:.1}Z\"/>",
        -w,
        -h,
        2.0 * w,
        h + bottom,
        -w,
        -h * 0.7,
        -h * 0.1,
        fan / 2.0,
        hub - blade,
        fan / 2.0,
        hub + blade,
        -fan / 2.0,
        hub - blade,
        -fan,
        -fan / 2.0,
        hub + blade,
    )
}

/// Draws a vessel with trays.
fn column(w: f64, h: f64) -> String {
    let trays: String = (-2..=2).map(|n| format!("M{:.1} {:.1}H{w:.1}", -w, f64::from(n) * h * 0.28)).collect();
    format!("{}<path class=\"d\" d=\"{trays}\"/>", vessel(w, h))
}

/// Draws a vessel with a stirrer.
fn reactor(w: f64, h: f64) -> String {
    let (blade, low, high) = (w * 0.5, h * 0.5, h * 0.3);
    format!(
        "{}<path class=\"n\" d=\"M0 {:.1}V{:.1}M{:.1} {high:.1}L{blade:.1} {low:.1}M{:.1} {low:.1}L{blade:.1} {high:.1}\"/>",
        vessel(w, h),
        -h - 6.0,
        (low + high) / 2.0,
        -blade,
        -blade
    )
}

/// Draws a tank with a conical roof.
fn tank(w: f64, h: f64) -> String {
    let eaves = -h + (h * 0.3).min(w * 0.35);
    format!(
        "<path class=\"s\" d=\"M{:.1} {h:.1}V{eaves:.1}L0 {:.1}L{w:.1} {eaves:.1}V{h:.1}Z\"/><path class=\"n\" d=\"M{:.1} {eaves:.1}H{w:.1}\"/>",
        -w, -h, -w
    )
}

fn filter(w: f64, h: f64) -> String {
    format!("{}<path class=\"d\" d=\"M0 {:.1}V{h:.1}\"/>", block(w, h), -h)
}

/// Draws equipment of any other kind.
fn block(w: f64, h: f64) -> String {
    format!(
        "<rect class=\"s\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\"/>",
        -w,
        -h,
        2.0 * w,
        2.0 * h
    )
}

/// Returns the symbol of a class. References to valves are not valves, and neither are functions that control one.
pub fn find(class: &str) -> &'static Symbol {
    let named = |name| SYMBOLS.iter().find(|symbol| symbol.name == name);
    let by_class_group = match class {
        _ if class.contains("valve_reference") || class.contains("valvereference") => named("actuator"),
        // A cooler is named after its fans.
        _ if ["fin_fan", "finned_fan"].iter().any(|words| class.contains(words)) => named("air_cooler"),
        _ if class.contains("instrument.") && !class.contains("valve") && !is_inline(class) => named("instrument"),
        _ => None,
    };
    let matches = |symbol: &&Symbol| symbol.words.iter().any(|words| words.split(' ').all(|word| class.contains(word)));
    by_class_group.or_else(|| SYMBOLS.iter().find(matches)).unwrap_or(&SYMBOLS[SYMBOLS.len() - 1])
}

/// Returns the symbol of a valve whose outlet turns clockwise from its inlet, by right angles.
pub fn with_outlet(symbol: &'static Symbol, right_angles: i32) -> &'static Symbol {
    let turn = right_angles.rem_euclid(4);
    let is_turned = |row: &&(&str, i32, &str)| row.0 == symbol.name && row.1 == turn;
    let name = TURNED_OUTLETS.iter().find(is_turned).map(|(_, _, name)| *name);
    SYMBOLS.iter().find(|other| name == Some(other.name)).unwrap_or(symbol)
}

/// Returns the right angles by which the outlet of a symbol turns clockwise from its inlet.
pub fn outlet_turn(symbol: &Symbol) -> i32 {
    TURNED_OUTLETS.iter().find(|(_, _, name)| *name == symbol.name).map_or(0, |(_, turn, _)| *turn)
}

/// Symbols of our own, in no standard.
const OWN: &[&str] = &["open_end", "part", "property_break", "equipment", "other"];
/// Symbols of instrumentation.
const INSTRUMENTATION: &[&str] = &[
    "off_page",
    "venturi",
    "orifice",
    "coriolis_meter",
    "rotameter",
    "thermowell",
    "control_valve",
    "actuator",
    "motor",
    "instrument",
];

/// Returns the standard whose style a symbol follows; empty for a symbol of our own.
pub fn standard(symbol: &Symbol) -> &'static str {
    match symbol.name {
        name if OWN.contains(&name) => "",
        name if INSTRUMENTATION.contains(&name) => "ISA-5.1",
        _ => "ISO 10628-2",
    }
}

/// Valves, the right angles by which their outlet turns clockwise, and their symbols.
const TURNED_OUTLETS: &[(&str, i32, &str)] = &[
    ("safety_valve", 1, "angle_safety_valve"),
    ("safety_valve", 3, "angle_safety_valve_left"),
    ("angle_valve", 1, "angle_valve_right"),
    ("angle_valve", 3, "angle_valve_left"),
];

/// Heights above the axis and lengths to the right of springs, stems and the like that extend beyond the size of a symbol.
const STEMS: &[(&str, (f64, f64))] = &[
    ("safety_valve", (20.0, 0.0)),
    ("angle_safety_valve", (0.0, 18.0)),
    ("angle_safety_valve_left", (0.0, 18.0)),
    ("breather", (13.0, 0.0)),
    ("control_valve", (21.0, 0.0)),
    ("diaphragm_valve", (10.0, 0.0)),
    ("spectacle_blind", (16.0, 0.0)),
    ("thermowell", (9.0, 0.0)),
];

/// Returns the height above the axis and the length to the right up to which a symbol extends; 0 if that is its size.
pub fn stem(symbol: &Symbol) -> (f64, f64) {
    STEMS.iter().find(|(name, _)| *name == symbol.name).map_or((0.0, 0.0), |(_, size)| *size)
}

/// Returns the symbol without an actuator, for a valve whose actuator is drawn separately.
pub fn without_actuator(symbol: &'static Symbol) -> &'static Symbol {
    let valve = || SYMBOLS.iter().find(|other| other.name == "valve");
    if symbol.name == "control_valve" { valve().unwrap_or(symbol) } else { symbol }
}

/// Instruments in the pipe.
fn is_inline(class: &str) -> bool {
    [
        "orifice",
        "flow_element",
        "flow_nozzle",
        "venturi",
        "rotameter",
        "flow_meter",
        "thermowell",
        "actuator",
        "diaphragm",
    ]
    .iter()
    .any(|word| class.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_several_vocabularies_have_symbols() {
        for (class, symbol) in [
            ("equipment.centrifugal_pump", "pump"),
            ("equipment.reciprocating_pump", "piston_pump"),
            ("equipment.reciprocating_compressor", "compressor"),
            ("equipment.diaphragm_pump", "diaphragm_pump"),
            ("piping_component.venturi_tube", "venturi"),
            ("piping_component.four_way_valve", "four_way_valve"),
            ("piping_component.restriction_orifice", "orifice"),
            ("equipment.plate_and_shell_heat_exchanger", "plate_exchanger"),
            ("equipment.shell_and_tube_heat_exchanger", "exchanger"),
            ("piping_component.swing_check_valve", "check_valve"),
            ("piping_component.spring_loaded_globe_safety_valve", "safety_valve"),
            ("piping_component.controlvalvesandregulators", "control_valve"),
            ("valve gate", "gate_valve"),
            ("valve control", "control_valve"),
            ("piping_component.pipe_tee", "tee"),
            ("piping_component.blind_flange", "blind"),
            ("piping_component.spectacle_blind", "spectacle_blind"),
            ("piping_component.angle_globe_valve", "angle_valve"),
            ("piping_component.diaphragm_valve", "diaphragm_valve"),
            ("piping_component.flame_arrestor", "flame_arrester"),
            ("equipment.rotary_pump", "rotary_pump"),
            ("equipment.rotary_compressor", "compressor"),
            ("equipment.radial_fan", "fan"),
            ("equipment.axial_blower", "fan"),
            ("equipment.fin_fan_cooler", "air_cooler"),
            ("equipment.ejector", "ejector"),
            ("equipment.gas_turbine", "turbine"),
            ("equipment.electric_heater", "electric_heater"),
            ("equipment.fired_heater", "furnace"),
            ("equipment.air_cooler", "air_cooler"),
            ("equipment.air_cooled_heat_exchanger", "air_cooler"),
            ("equipment.electric_motor", "motor"),
            ("equipment.motor_driven_pump", "pump"),
            ("equipment.agitator", "agitator"),
            ("equipment.vessel_with_agitator", "reactor"),
            ("equipment.agitated_vessel", "reactor"),
            ("equipment.tank_agitator", "reactor"),
            ("equipment.mixer", "reactor"),
            ("instrument.motor_actuator", "actuator"),
            ("instrument.motor_starter", "instrument"),
            ("piping_component.motor_operated_valve", "valve"),
            ("piping_component.y_strainer", "y_strainer"),
            ("piping_component.strainer", "strainer"),
            ("equipment.static_mixer", "static_mixer"),
            ("reference.flow_in_pipe_connector_symbol", "off_page"),
            ("reference.open_end", "open_end"),
            ("equipment_component.nozzle", "nozzle"),
            ("instrument.process_instrumentation_function", "instrument"),
            ("instrument.operated_valve_reference", "actuator"),
            ("instrument.flow_controller", "instrument"),
            ("equipment.agitator_thing", "agitator"),
            ("tank atmospheric", "tank"),
            ("", "other"),
        ] {
            assert_eq!(find(class).name, symbol, "{class}");
        }
    }

    #[test]
    fn symbols_have_unique_names_and_bodies() {
        for (index, symbol) in SYMBOLS.iter().enumerate() {
            assert!(SYMBOLS[..index].iter().all(|other| other.name != symbol.name), "{}", symbol.name);
            let body = match symbol.body {
                Body::Fixed(body) => body.to_owned(),
                Body::Stretched(draw) => draw(symbol.half.0, symbol.half.1),
            };
            assert!(body.starts_with('<') && symbol.half.0 > 0.0 && symbol.half.1 > 0.0, "{}", symbol.name);
        }
    }
}
