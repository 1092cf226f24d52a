//! serde_json: a loop over `Value`.

use serde_json::{Map, Value, json};

use crate::Result;

pub fn run(drawing: &Value, task: &str, out: &mut Vec<u8>) -> Result<usize> {
    let nodes = drawing["pid_graph"]["nodes"].as_array().ok_or("no nodes")?;
    let is_component = |node: &&Value| node["node_type"] == "pid_component";
    match task {
        "q1 ids" => return Ok(nodes.iter().filter(is_component).collect::<Vec<_>>().len()),
        "q1" => serde_json::to_writer(out, &nodes.iter().filter(is_component).collect::<Vec<_>>())?,
        "q2" => {
            let mut components: Vec<&Value> = nodes.iter().filter(is_component).collect();
            components.sort_by_key(|node| node["tag"].as_str());
            let picked =
                components.iter().map(|node| json!({"id": node["id"], "tag": node["tag"], "class": node["class"]}));
            serde_json::to_writer(out, &picked.collect::<Vec<_>>())?;
        }
        "q3" => {
            let mut counts = Map::new();
            for class in nodes.iter().filter_map(|node| node["class"].as_str()) {
                match counts.get_mut(class) {
                    Some(count) => *count = json!(count.as_u64().unwrap_or(0) + 1),
                    None => _ = counts.insert(class.to_string(), json!(1)),
                }
            }
            serde_json::to_writer(out, &counts)?;
        }
        _ => {
            let is_high = |node: &&Value| {
                node["class"] == "GateValve"
                    && node["attributes"]["design_pressure"].as_f64().is_some_and(|pressure| pressure > 40.0)
            };
            serde_json::to_writer(out, &nodes.iter().filter(is_high).count())?;
        }
    }
    Ok(1)
}
