//! Baseline: the time of a plain loop over prepared columns.
//!
//! Columns are built from parsed JSON beforehand; only the loops are timed.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use serde_json::value::RawValue;

use crate::Result;
use crate::measure::{Contestant, in_process};
use crate::queries::{Drawing, Task};

/// Columns that the queries read, with one entry per node.
pub struct Columns<'a> {
    text: &'a [u8],
    /// Byte range of each node in the text.
    spans: Vec<Range<usize>>,
    kind: Codes,
    class: Codes,
    design_pressure: Vec<f64>,
    /// Position of each node in the order by tag.
    tag_rank: Vec<u32>,
    /// Byte ranges of `id`, `tag` and `class` of each node in the text, including quotes.
    picked: Vec<[Range<usize>; 3]>,
}

/// Column of strings as codes, in order of first appearance.
#[derive(Default)]
struct Codes {
    codes: Vec<u32>,
    names: Vec<String>,
}

impl Codes {
    fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut column = Self::default();
        let mut known = HashMap::new();
        for text in texts {
            let next = known.len() as u32;
            let code = *known.entry(text).or_insert(next);
            if code == next {
                column.names.push(text.to_string());
            }
            column.codes.push(code);
        }
        column
    }

    fn code(&self, name: &str) -> u32 {
        self.names.iter().position(|known| known == name).map_or(u32::MAX, |code| code as u32)
    }
}

#[derive(serde::Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    pid_graph: Nodes<'a>,
}

#[derive(serde::Deserialize)]
struct Nodes<'a> {
    #[serde(borrow)]
    nodes: Vec<&'a RawValue>,
}

#[derive(serde::Deserialize)]
struct Node<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    tag: &'a RawValue,
    #[serde(borrow)]
    class: &'a RawValue,
    node_type: &'a str,
    attributes: Attributes,
}

#[derive(serde::Deserialize)]
struct Attributes {
    #[serde(default = "missing")]
    design_pressure: f64,
}

fn missing() -> f64 {
    f64::NAN
}

impl<'a> Columns<'a> {
    pub fn new(drawing: &'a Drawing) -> Result<Self> {
        let text = drawing.text.as_slice();
        let raw = serde_json::from_slice::<Document>(text)?.pid_graph.nodes;
        let nodes: Vec<Node> = raw.iter().map(|node| serde_json::from_str(node.get())).collect::<Result<_, _>>()?;
        let span = |part: &RawValue| {
            let start = part.get().as_ptr() as usize - text.as_ptr() as usize;
            start..start + part.get().len()
        };
        Ok(Self {
            text,
            spans: raw.iter().map(|node| span(node)).collect(),
            kind: Codes::new(nodes.iter().map(|node| node.node_type)),
            class: Codes::new(nodes.iter().map(|node| node.class.get().trim_matches('"'))),
            design_pressure: nodes.iter().map(|node| node.attributes.design_pressure).collect(),
            tag_rank: ranks(&nodes),
            picked: nodes.iter().map(|node| [span(node.id), span(node.tag), span(node.class)]).collect(),
        })
    }

    /// Returns a contestant for the task.
    pub fn contestant(&self, task: &'static Task) -> Box<dyn Contestant + '_> {
        let (mut rows, mut counts) = (Vec::new(), Vec::new());
        in_process("baseline", move |out| {
            match task.key {
                "q1 ids" => self.components(&mut rows),
                "q1" => {
                    self.components(&mut rows);
                    self.write_nodes(&rows, out);
                }
                "q2" => {
                    self.components(&mut rows);
                    rows.sort_unstable_by_key(|&row| self.tag_rank[row as usize]);
                    self.write_picked(&rows, out);
                }
                "q3" => self.count_classes(&mut counts, &mut rows, out)?,
                "q4" => write!(out, "{}", self.high_pressure_gate_valves())?,
                other => return Err(format!("no baseline for {other}").into()),
            }
            Ok(rows.len())
        })
    }

    fn components(&self, rows: &mut Vec<u32>) {
        let component = self.kind.code("pid_component");
        let codes = &self.kind.codes;
        rows.resize(codes.len(), 0);
        let mut count = 0;
        for (row, &code) in codes.iter().enumerate() {
            rows[count] = row as u32;
            count += usize::from(code == component);
        }
        rows.truncate(count);
    }

    /// Copies nodes unchanged, with one copy per sequence of adjacent nodes.
    fn write_nodes(&self, rows: &[u32], out: &mut Vec<u8>) {
        out.push(b'[');
        let mut rows = rows;
        while let Some(&first) = rows.first() {
            let mut length = 1;
            while rows.get(length) == Some(&(first + length as u32)) {
                length += 1;
            }
            let last = first as usize + length - 1;
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(&self.text[self.spans[first as usize].start..self.spans[last].end]);
            rows = &rows[length..];
        }
        out.push(b']');
    }

    fn write_picked(&self, rows: &[u32], out: &mut Vec<u8>) {
        out.push(b'[');
        for &row in rows {
            let [id, tag, class] = &self.picked[row as usize];
            out.extend_from_slice(if out.len() > 1 { br#",{"id":"# } else { br#"{"id":"# });
            out.extend_from_slice(&self.text[id.clone()]);
            out.extend_from_slice(br#","tag":"#);
            out.extend_from_slice(&self.text[tag.clone()]);
            out.extend_from_slice(br#","class":"#);
            out.extend_from_slice(&self.text[class.clone()]);
            out.push(b'}');
        }
        out.push(b']');
    }

    /// Groups are in order of first appearance.
    fn count_classes(&self, counts: &mut Vec<u32>, order: &mut Vec<u32>, out: &mut Vec<u8>) -> Result<()> {
        counts.clear();
        counts.resize(self.class.names.len(), 0);
        order.clear();
        for &code in &self.class.codes {
            let count = &mut counts[code as usize];
            if *count == 0 {
                order.push(code);
            }
            *count += 1;
        }
        for (number, &code) in order.iter().enumerate() {
            let separator = if number > 0 { ',' } else { '{' };
            write!(out, "{separator}\"{}\":{}", self.class.names[code as usize], counts[code as usize])?;
        }
        out.push(b'}');
        Ok(())
    }

    fn high_pressure_gate_valves(&self) -> usize {
        let gate_valve = self.class.code("GateValve");
        let columns = self.class.codes.iter().zip(&self.design_pressure);
        columns.map(|(&class, &pressure)| usize::from(class == gate_valve && pressure > 40.0)).sum()
    }
}

fn ranks(nodes: &[Node]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&row| nodes[row].tag.get());
    let mut ranks = vec![0; nodes.len()];
    for (rank, row) in order.into_iter().enumerate() {
        ranks[row] = rank as u32;
    }
    ranks
}
