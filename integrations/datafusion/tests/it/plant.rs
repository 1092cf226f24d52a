//! Generated drawings of a plant with many sheets, and what plain pidq answers about them in one process.

use std::collections::BTreeSet;
use std::fmt::Write;

use pidq_core::{Graph, JoinBy, Limits, Query, join_sheets};

/// Sheets in a row of which each continues on the next.
const ROW: usize = 20;

/// Limits for all sheets joined.
pub const LIMITS: Limits<'static> = Limits {
    fuel: 1_000_000_000_000,
    memory: 4 << 30,
    output: 1 << 30,
    string: 16 << 20,
    backtracks: 1_000_000,
    rows: 100_000_000,
    paths: 1_000,
    depth: 1_000_000,
    cancel: None,
};

/// Returns the name of a sheet.
pub fn name(sheet: usize) -> String {
    format!("PID-{sheet:04}")
}

/// Returns the sheets of a plant by name.
///
/// A line enters at connector A, passes valves and a pump to a tee, and leaves at C to the next sheet, and at D to the
/// third sheet after it. A line from B joins it on even sheets, and ends at a vent on odd ones. Every twentieth sheet
/// continues on a drawing of another plant; some connectors have flow in both directions; every seventh sheet numbers
/// its items.
pub fn drawings(count: usize) -> Vec<(String, String)> {
    (0..count).map(|sheet| (name(sheet), Sheet::new(sheet, count).json())).collect()
}

struct Sheet {
    sheet: usize,
    count: usize,
    nodes: Vec<String>,
    edges: Vec<String>,
}

impl Sheet {
    fn new(sheet: usize, count: usize) -> Sheet {
        Sheet { sheet, count, nodes: Vec::new(), edges: Vec::new() }
    }

    fn json(mut self) -> String {
        let (sheet, count) = (self.sheet, self.count);
        let next = (sheet + 1 < count && (sheet + 1) % ROW != 0).then_some(sheet + 1);
        let previous = (sheet % ROW != 0).then(|| sheet - 1);
        let third = (sheet % 3 == 0 && sheet + 3 < count).then_some(sheet + 3);
        let before = (sheet >= 3 && sheet % 3 == 0).then(|| sheet - 3);
        self.connector("A", previous, &format!("C-{}", previous.unwrap_or(9999)));
        self.connector("B", before, &format!("D-{}", before.unwrap_or(9999)));
        self.connector("C", next, &format!("C-{sheet}"));
        self.connector("D", third, &format!("D-{sheet}"));
        for item in ["V1", "V2", "V3", "V4", "V5", "V6", "V7", "V8"] {
            self.item(item, "piping_component.gate_valve");
        }
        self.item("P", "equipment.centrifugal_pump");
        self.item("T", "piping_component.tee");
        self.item("VENT", "reference.open_end");
        let joins = if sheet % 2 == 0 { "T" } else { "VENT" };
        for pipe in [
            ["A", "V1"],
            ["V1", "V2"],
            ["V2", "P"],
            ["P", "V3"],
            ["V3", "T"],
            ["T", "V4"],
            ["V4", "C"],
            ["T", "V5"],
            ["V5", "D"],
            ["B", "V6"],
            ["V6", joins],
        ] {
            self.pipe(pipe);
        }
        // Both ends of this pair have flow in both directions.
        if sheet % ROW == 10 && sheet + 1 < count {
            self.connector("U", Some(sheet + 1), &format!("U-{sheet}"));
            self.pipe(["T", "V7"]);
            self.pipe(["V7", "U"]);
            self.pipe(["U", "V8"]);
        } else if sheet % ROW == 11 {
            self.connector("U", Some(sheet - 1), &format!("U-{}", sheet - 1));
            self.pipe(["V7", "U"]);
            self.pipe(["U", "V8"]);
        }
        format!(
            r#"{{"pid_graph":{{"nodes":[{}],"edges":[{}],"metadata":{{"drawing_number":"{}"}}}}}}"#,
            self.nodes.join(","),
            self.edges.join(","),
            name(sheet)
        )
    }

    /// Returns an id as JSON.
    fn id(&self, item: &str) -> String {
        const ITEMS: &[&str] =
            &["A", "B", "C", "D", "U", "P", "T", "VENT", "V1", "V2", "V3", "V4", "V5", "V6", "V7", "V8"];
        match self.sheet % 7 {
            3 => ITEMS.iter().position(|name| *name == item).unwrap_or(ITEMS.len()).to_string(),
            _ => format!("\"{item}\""),
        }
    }

    fn item(&mut self, item: &str, class: &str) {
        self.node(item, class, "");
    }

    fn connector(&mut self, item: &str, sheet: Option<usize>, label: &str) {
        let drawing = sheet.map_or_else(|| "OTHER-0001".to_owned(), name);
        let more = format!(r#","cross_page":{{"drawing_name":"{drawing}","link_label":"{label}"}}"#);
        self.node(item, "reference.off_page_connector", &more);
    }

    fn node(&mut self, item: &str, class: &str, more: &str) {
        let mut node = String::new();
        let size = [25, 50, 80, 150][(self.sheet + self.nodes.len()) % 4];
        let written = write!(
            node,
            r#"{{"id":{},"tag":"{}-{item}","node_type":"pid_component","node_classification":"{class}","nominal_diameter":{size}{more}}}"#,
            self.id(item),
            self.sheet
        );
        assert!(written.is_ok());
        self.nodes.push(node);
    }

    fn pipe(&mut self, [from, to]: [&str; 2]) {
        let edge = format!(
            r#"{{"id":"e{}","edge_type":"physically_connected_to","source":{},"target":{},"direction":"forward"}}"#,
            self.edges.len() + 1,
            self.id(from),
            self.id(to)
        );
        self.edges.push(edge);
    }
}

/// Returns the sum of the numbers that a query returns for each drawing.
pub fn sum(drawings: &[(String, String)], query: &str) -> pidq_core::Result<u64> {
    let query = Query::parse(query)?;
    let number = |json: &str| query.to_json(&Graph::from_json(json)?, LIMITS);
    let numbers = drawings.iter().map(|(_, json)| number(json)).collect::<pidq_core::Result<Vec<_>>>()?;
    Ok(numbers.iter().filter_map(|number| number.parse::<u64>().ok()).sum())
}

/// Returns the items downstream of one with a tag on all drawings joined, as `drawing#id`.
pub fn downstream(drawings: &[(String, String)], tag: &str) -> pidq_core::Result<BTreeSet<String>> {
    let graphs =
        drawings.iter().map(|(_, json)| Graph::from_json(json.as_str())).collect::<pidq_core::Result<Vec<_>>>()?;
    let joined = Graph::from_json(join_sheets(&graphs.iter().collect::<Vec<_>>(), JoinBy::Any, LIMITS)?)?;
    let query = Query::with_params(r#"downstream($tag, {pass: "zone"}) | map(.id)"#, &format!(r#"{{"tag":"{tag}"}}"#))?;
    let ids: Vec<String> = serde_json::from_str(&query.to_json(&joined, LIMITS)?).unwrap_or_default();
    Ok(ids.into_iter().collect())
}
