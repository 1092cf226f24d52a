//! Synthetic drawings of any size: the same bytes for the same size and seed, on every machine.
//!
//! A plant is generated sheet by sheet: equipment, connectors to the previous sheet, pipe lines with valves and
//! fittings, and instruments in control loops. A node and its 1.2 edges take about 562 bytes of compact JSON, so 1,000
//! nodes are 0.57 MB. The structure is realistic: classes repeat, tags are unique, and some lines are cycles.
//!
//! Has no dependencies; benches, tests and the comparison include it with `#[path = "…/synthetic_plant.rs"]`.

use std::fmt::{self, Display, Formatter};
use std::io::Write;

const VALVES: &[&str] = &[
    "GateValve",
    "GlobeValve",
    "BallValve",
    "ButterflyValve",
    "CheckValve",
    "PlugValve",
    "NeedleValve",
    "SafetyValve",
    "ControlValve",
    "DiaphragmValve",
];
const EQUIPMENT: &[&str] = &[
    "CentrifugalPump",
    "PositiveDisplacementPump",
    "Compressor",
    "PlateHeatExchanger",
    "ShellTubeHeatExchanger",
    "Vessel",
    "Tank",
    "Column",
    "Filter",
    "Agitator",
    "AirCooler",
    "Reactor",
];
const FITTINGS: &[&str] = &[
    "PipeTee",
    "PipeReducer",
    "FlangedConnection",
    "BlindFlange",
    "PipeCap",
    "Strainer",
    "SpectacleBlind",
    "FlowOrifice",
    "SteamTrap",
    "FlexibleHose",
];
const INSTRUMENTS: &[&str] =
    &["FT", "FIC", "PT", "PI", "PIC", "TT", "TI", "TIC", "LT", "LIC", "LSH", "LSL", "PSH", "AT", "ZSO"];
const LOOPS: &[&str] = &["FlowControlLoop", "PressureControlLoop", "TemperatureControlLoop", "LevelControlLoop"];
const FLUIDS: &[&str] = &["CW", "HW", "ST", "CO", "N2", "IA", "PA", "HC", "FG", "NG", "AM", "GL", "WW", "BD", "PG"];
const SPECS: &[&str] = &["A1A", "B1B", "C3K", "D2S"];
const MATERIALS: &[&str] =
    &["A106-B", "A312-TP304", "A312-TP316L", "A333-6", "PVC-U", "PE-HD", "A53-B", "Hastelloy C-276"];
const RATINGS: &[&str] = &["PN10", "PN16", "PN25", "PN40", "CL150", "CL300", "CL600"];
const DIAMETERS: &[u64] = &[15, 20, 25, 32, 40, 50, 65, 80, 100, 125, 150, 200, 250, 300, 400];
const UNITS: &[&str] = &["m3/h", "bar", "°C", "%"];
const SIGNALS: &[&str] = &["4-20mA", "HART", "FF", "digital"];
const VENDORS: &[&str] =
    &["Northwind Flow", "Acme Valves GmbH", "Süd-Armaturen", "Delta Pumps", "Orion Controls", "Kestrel & Sons"];
/// JSON text, with escapes.
const NOTES: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    "locked open",
    "car seal closed",
    "tight shut-off (TSO)",
    "see note 4",
    r#"fail \"open\" on air loss"#,
    "insulated, electric tracing 65 °C",
    r"by vendor\\contractor",
];

/// Number of nodes per sheet.
const SHEET: usize = 240;

/// Generates a drawing of `nodes` nodes as compact JSON.
pub fn generate_plant(nodes: usize, seed: u64) -> Vec<u8> {
    let mut drawing = Drawing::new(nodes, seed);
    let mut connectors = Vec::new();
    for number in 0..nodes.div_ceil(SHEET) {
        let end = nodes.min((number + 1) * SHEET);
        connectors = Sheet::new(&mut drawing, number, end).draw(&connectors);
    }
    drawing.finish()
}

struct Drawing {
    rng: Rng,
    nodes: JsonArray,
    edges: JsonArray,
}

impl Drawing {
    fn new(nodes: usize, seed: u64) -> Self {
        let head = format!(
            r#"{{"pid_graph":{{"metadata":{{"drawing_name":"Synthetic plant {nodes}/{seed}","job_id":"job-{nodes}-{seed}","schema_version":"1.0","change_version":"c{seed}"}},"nodes":["#
        );
        Self { rng: Rng(seed), nodes: JsonArray::new(head), edges: JsonArray::new(String::from(r#"],"edges":["#)) }
    }

    fn edge(&mut self, source: usize, target: usize, kind: &str, direction: &str, attributes: &str) {
        let id = self.edges.count;
        self.edges.push(format_args!(
            r#"{{"id":"e{id:07}","source":"n{source:07}","target":"n{target:07}","edge_type":"{kind}","direction":"{direction}","attributes":{attributes}}}"#
        ));
    }

    fn finish(mut self) -> Vec<u8> {
        self.nodes.json.append(&mut self.edges.json);
        self.nodes.json.extend_from_slice(b"]}}\n");
        self.nodes.json
    }
}

/// Writer of a JSON array that starts with given text.
struct JsonArray {
    json: Vec<u8>,
    count: usize,
}

impl JsonArray {
    fn new(start: String) -> Self {
        Self { json: start.into_bytes(), count: 0 }
    }

    fn push(&mut self, item: fmt::Arguments<'_>) {
        if self.count > 0 {
            self.json.push(b',');
        }
        self.json.write_fmt(item).expect("writing to a vector succeeds");
        self.count += 1;
    }
}

struct Node<'a> {
    kind: &'a str,
    class: &'a str,
    tag: &'a str,
    attributes: &'a str,
    parent: Option<usize>,
    bounds: Bounds,
}

/// Position and size of a symbol on its sheet.
#[derive(Clone, Copy)]
struct Bounds {
    x: Tenths,
    y: Tenths,
    width: i64,
    height: i64,
}

struct Sheet<'a> {
    drawing: &'a mut Drawing,
    number: usize,
    /// Number of nodes of the drawing at which the sheet is full.
    end: usize,
    first: usize,
    /// Number at the start of its tags.
    area: usize,
    equipment: Vec<usize>,
    connectors: Vec<usize>,
    /// Items to which instruments are attached.
    taps: Vec<usize>,
    control_valves: Vec<usize>,
}

impl<'a> Sheet<'a> {
    fn new(drawing: &'a mut Drawing, number: usize, end: usize) -> Self {
        let first = drawing.nodes.count;
        let (equipment, connectors, taps, control_valves) = Default::default();
        Self { drawing, number, end, first, area: 100 + number % 900, equipment, connectors, taps, control_valves }
    }

    /// Generates the sheet and returns its connectors, for the next one.
    fn draw(mut self, previous: &[usize]) -> Vec<usize> {
        let size = self.end - self.first;
        for number in 0..(size / 30).max(1) {
            self.equipment(number);
        }
        if size > 40 {
            self.connector(0, previous);
            self.connector(1, previous);
        }
        let pipes_end = self.first + size * 77 / 100;
        let mut line = 1;
        while self.drawing.nodes.count < pipes_end {
            self.line(line);
            line += 1;
        }
        self.instruments();
        self.connectors
    }

    fn equipment(&mut self, number: usize) {
        let rng = &mut self.drawing.rng;
        let class = rng.pick(EQUIPMENT);
        let attributes = format!(
            r#"{{"design_pressure":{},"design_temperature":{},"volume_m3":{},"material":"{}","vendor":"{}","weight_kg":{},"insulated":{}}}"#,
            rng.decimal(1, 63),
            rng.decimal(-20, 420),
            Tenths(rng.between(1, 2500)),
            rng.pick(MATERIALS),
            rng.pick(VENDORS),
            rng.between(40, 42_000),
            rng.chance(40),
        );
        let tag = format!("{}-{}{number:02}", &class[..1], self.area);
        let bounds = rng.bounds(60, 40);
        let item =
            self.node(Node { kind: "pid_component", class, tag: &tag, attributes: &attributes, parent: None, bounds });
        self.equipment.push(item);
    }

    /// Adds a connector to the previous sheet, joined to one of its connectors.
    fn connector(&mut self, number: usize, previous: &[usize]) {
        let tag = format!("OPC-{}-{number}", self.name());
        let attributes = format!(r#"{{"reference":"P-{:04}"}}"#, self.number.max(1));
        let bounds = self.drawing.rng.bounds(20, 10);
        let class = "OffPageConnector";
        let node = Node { kind: "off_page_connector", class, tag: &tag, attributes: &attributes, parent: None, bounds };
        let item = self.node(node);
        self.connectors.push(item);
        if !previous.is_empty() {
            let partner = self.drawing.rng.pick(previous);
            let reference = format!(r#"{{"reference":"{}"}}"#, self.name());
            self.drawing.edge(partner, item, "off_page", "forward", &reference);
        }
    }

    /// Adds a pipe line: its own node, its items in sequence, and their connections to the rest of the sheet.
    fn line(&mut self, number: usize) {
        let line = Line::new(self, number);
        let rng = &mut self.drawing.rng;
        let starts = self.equipment.len() + self.connectors.len();
        let start = rng.below(starts as u64) as usize;
        let start = self.equipment.iter().chain(&self.connectors).nth(start).copied().expect("a sheet has equipment");

        let Bounds { mut x, y, .. } = rng.bounds(12, 8);
        let first = self.drawing.nodes.count;
        let mut last = start;
        for position in 0..self.drawing.rng.between(5, 16) {
            if self.is_full() {
                break;
            }
            let item = self.line_item(&line, position, Bounds { x, y, width: 12, height: 8 });
            let direction = self.drawing.rng.direction();
            self.pipe(&line, last, item, "piping", direction);
            x = Tenths((x.0 + 140 + 10 * self.drawing.rng.between(0, 20)) % 11_800);
            last = item;
        }
        if last >= first && last != start {
            self.connect_line(&line, first, last);
        }
    }

    fn line_item(&mut self, line: &Line, position: i64, bounds: Bounds) -> usize {
        let rng = &mut self.drawing.rng;
        let is_valve = rng.chance(42);
        let class = rng.pick(if is_valve { VALVES } else { FITTINGS });
        let (tag, attributes) =
            if is_valve { line.valve(rng, class, position) } else { line.fitting(rng, class, position) };
        let is_tap = class == "FlowOrifice" || rng.chance(20);
        let parent = Some(line.node);
        let node = Node { kind: "pid_component", class, tag: &tag, attributes: &attributes, parent, bounds };
        let item = self.node(node);
        if class == "ControlValve" {
            self.control_valves.push(item);
        }
        if is_tap {
            self.taps.push(item);
        }
        item
    }

    /// Connects the end of a line to equipment, some lines back to their start, and branches to earlier items.
    fn connect_line(&mut self, line: &Line, first: usize, last: usize) {
        if self.drawing.rng.chance(75) {
            let end = self.drawing.rng.pick(&self.equipment);
            self.pipe(line, last, end, "piping", "forward");
        }
        if self.drawing.rng.chance(30) {
            self.pipe(line, last, first, "recycle", "forward");
        }
        for _ in 0..self.drawing.rng.between(0, 2) {
            let from = self.drawing.rng.between(first as i64, last as i64) as usize;
            let to = self.drawing.rng.between(self.first as i64, last as i64) as usize;
            if from != to {
                self.pipe(line, from, to, "piping", "forward");
            }
        }
    }

    fn pipe(&mut self, line: &Line, from: usize, to: usize, kind: &str, direction: &str) {
        let attributes = line.pipe(&mut self.drawing.rng);
        self.drawing.edge(from, to, kind, direction, &attributes);
    }

    /// Fills the sheet with control loops of three to five instruments.
    fn instruments(&mut self) {
        let first = self.drawing.nodes.count;
        while !self.is_full() {
            let control = self.control_loop(self.drawing.nodes.count - first);
            for _ in 0..self.drawing.rng.between(3, 5) {
                if self.is_full() {
                    break;
                }
                self.instrument(control, self.drawing.nodes.count - first);
            }
        }
    }

    fn control_loop(&mut self, number: usize) -> usize {
        let rng = &mut self.drawing.rng;
        let class = rng.pick(LOOPS);
        let attributes = format!(
            r#"{{"setpoint":{},"unit":"{}","kp":{:?},"ti_s":{}}}"#,
            rng.decimal(0, 100),
            rng.pick(UNITS),
            rng.below(4000) as f64 / 1000.0,
            rng.between(5, 300),
        );
        let tag = format!("{}IC-{}{number:02}", &class[..1], self.area);
        let bounds = rng.bounds(14, 14);
        self.node(Node { kind: "loop", class, tag: &tag, attributes: &attributes, parent: None, bounds })
    }

    fn instrument(&mut self, control: usize, number: usize) {
        let rng = &mut self.drawing.rng;
        let function = rng.pick(INSTRUMENTS);
        let attributes = format!(
            r#"{{"function":"{function}","range_min":0,"range_max":{},"signal":"{}","sil":{},"calibrated":"20{:02}-{:02}-{:02}","note":"{}"}}"#,
            rng.pick(&[1, 10, 16, 100, 250, 400]),
            rng.pick(SIGNALS),
            rng.between(0, 3),
            rng.between(15, 25),
            rng.between(1, 12),
            rng.between(1, 28),
            rng.pick(NOTES),
        );
        let tag = format!("{function}-{}{number:02}", self.area);
        let bounds = rng.bounds(14, 14);
        let class = "ProcessInstrumentationFunction";
        let parent = Some(control);
        let item = self.node(Node { kind: "instrument", class, tag: &tag, attributes: &attributes, parent, bounds });
        self.connect_instrument(item, control, function);
    }

    /// Connects an instrument to its loop and to the process, and a controller to the valve it actuates.
    fn connect_instrument(&mut self, item: usize, control: usize, function: &str) {
        let drawing = &mut *self.drawing;
        drawing.edge(item, control, "member", "forward", &format!(r#"{{"role":"{function}"}}"#));
        let tap = drawing.rng.pick(if self.taps.is_empty() { &self.equipment } else { &self.taps });
        drawing.edge(tap, item, "signal", "forward", r#"{"medium":"process"}"#);
        if function.ends_with("IC") && !self.control_valves.is_empty() {
            let valve = drawing.rng.pick(&self.control_valves);
            drawing.edge(item, valve, "signal", "forward", r#"{"medium":"pneumatic"}"#);
        }
    }

    fn node(&mut self, node: Node<'_>) -> usize {
        let id = self.drawing.nodes.count;
        let Node { kind, class, tag, attributes, parent, bounds: Bounds { x, y, width, height } } = node;
        let (right, bottom) = (x.plus(10 * width), y.plus(10 * height));
        let (middle, center) = (x.plus(5 * width), y.plus(5 * height));
        let sheet = self.name();
        let parent = parent.map_or(String::from("null"), |id| format!(r#""n{id:07}""#));
        self.drawing.nodes.push(format_args!(
            r#"{{"id":"n{id:07}","node_type":"{kind}","tag":"{tag}","class":"{class}","attributes":{attributes},"bbox":[{x},{y},{right},{bottom}],"position":{{"x":{middle},"y":{center},"sheet":"{sheet}"}},"parent":{parent}}}"#
        ));
        id
    }

    fn name(&self) -> String {
        format!("P-{:04}", self.number + 1)
    }

    fn is_full(&self) -> bool {
        self.drawing.nodes.count >= self.end
    }
}

/// Common properties of the items and pipes of one line.
struct Line {
    node: usize,
    name: String,
    diameter: u64,
    fluid: &'static str,
    /// Area and line number, the start of item tags.
    number: String,
}

impl Line {
    fn new(sheet: &mut Sheet<'_>, number: usize) -> Self {
        let rng = &mut sheet.drawing.rng;
        let (diameter, fluid) = (rng.pick(DIAMETERS), rng.pick(FLUIDS));
        let number = format!("{}{number:03}", sheet.area);
        let name = format!("{diameter}-{fluid}-{number}-{}", rng.pick(SPECS));
        let attributes = format!(
            r#"{{"nominal_diameter":{diameter},"fluid_code":"{fluid}","pressure_rating":"{}","design_pressure":{},"operating_temperature":{},"insulated":{},"material":"{}"}}"#,
            rng.pick(RATINGS),
            rng.decimal(1, 63),
            rng.decimal(-20, 380),
            rng.chance(30),
            rng.pick(MATERIALS),
        );
        let bounds = rng.bounds(200, 4);
        let class = "PipingNetworkSystem";
        let node =
            sheet.node(Node { kind: "pipe_system", class, tag: &name, attributes: &attributes, parent: None, bounds });
        Self { node, name, diameter, fluid, number }
    }

    fn valve(&self, rng: &mut Rng, class: &str, position: i64) -> (String, String) {
        let capitals: String = class.chars().filter(char::is_ascii_uppercase).collect();
        let tag = format!("{capitals}-{}{}", self.number, char::from(b'A' + (position % 26) as u8));
        let attributes = format!(
            r#"{{"nominal_diameter":{},"pressure_rating":"{}","design_pressure":{},"material":"{}","vendor":"{}","normally_open":{},"note":"{}"}}"#,
            self.diameter,
            rng.pick(RATINGS),
            rng.decimal(1, 63),
            rng.pick(MATERIALS),
            rng.pick(VENDORS),
            rng.chance(80),
            rng.pick(NOTES),
        );
        (tag, attributes)
    }

    fn fitting(&self, rng: &mut Rng, class: &str, position: i64) -> (String, String) {
        let tag = format!("{}-{}-{position}", class[..2].to_uppercase(), self.number);
        let attributes = format!(
            r#"{{"nominal_diameter":{},"pressure_rating":"{}","material":"{}","note":"{}"}}"#,
            self.diameter,
            rng.pick(RATINGS),
            rng.pick(MATERIALS),
            rng.pick(NOTES),
        );
        (tag, attributes)
    }

    fn pipe(&self, rng: &mut Rng) -> String {
        format!(
            r#"{{"nominal_diameter":{},"fluid_code":"{}","length_mm":{},"line_number":"{}","traced":{}}}"#,
            self.diameter,
            self.fluid,
            rng.decimal(80, 12_000),
            self.name,
            rng.chance(10),
        )
    }
}

/// Decimal with one digit after the point, exact on every machine.
#[derive(Clone, Copy)]
struct Tenths(i64);

impl Tenths {
    fn plus(self, tenths: i64) -> Self {
        Self(self.0 + tenths)
    }
}

impl Display for Tenths {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let tenths = self.0.unsigned_abs();
        write!(f, "{sign}{}.{}", tenths / 10, tenths % 10)
    }
}

/// Random number generator (splitmix64).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Returns a number in an inclusive range.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    fn decimal(&mut self, low: i64, high: i64) -> Tenths {
        Tenths(self.between(10 * low, 10 * high))
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn direction(&mut self) -> &'static str {
        match self.below(100) {
            0..93 => "forward",
            93..97 => "bidirectional",
            _ => "backward",
        }
    }

    fn bounds(&mut self, width: i64, height: i64) -> Bounds {
        Bounds { x: self.decimal(0, 1100), y: self.decimal(0, 780), width, height }
    }
}
