//! Drawing: draws the part of the example plant that a query selects, with the result highlighted.
//!
//!     cargo run --example 09_draw

use pidq::{Graph, Limits, Query, Scratch};
use pidq_formats::{DrawOptions, Style, ids_in};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");
    let graph = Graph::from_json(std::fs::read(path)?)?;

    // Draws equipment and items on the liquid lines; highlights items that fail open.
    let liquid = r#"filter(.fluid_code == "PL" or startsWith(.node_classification, "equipment."))"#;
    let liquid = ids(&graph, &format!(".pid_graph.nodes | {liquid}"))?;
    let fails_open = ids(&graph, r#".pid_graph.nodes | filter(.fail_action == "open")"#)?;
    let drawing = DrawOptions {
        style: Style::Light,
        only: Some(liquid),
        highlight: fails_open,
        title: Some("valves that fail open".into()),
        ..DrawOptions::default()
    };
    let svg = drawing.draw(graph.root())?;

    let file = std::env::temp_dir().join("pidq-example.svg");
    std::fs::write(&file, &svg)?;
    println!("{} bytes in {}", svg.len(), file.display());
    Ok(())
}

fn ids(graph: &Graph, text: &str) -> Result<std::collections::BTreeSet<String>, pidq::Error> {
    let query = Query::parse(text)?;
    let scratch = Scratch::new();
    Ok(ids_in(query.run(graph, &scratch, Limits::default())?.value))
}
