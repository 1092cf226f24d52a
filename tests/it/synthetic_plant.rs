//! Synthetic plants of the benchmarks: the same bytes on every machine.

#[path = "../../benches/synthetic_plant.rs"]
mod generator;

pub use generator::generate_plant;

#[test]
fn the_same_size_and_seed_give_the_same_bytes() {
    assert_eq!(generate_plant(1000, 1), generate_plant(1000, 1));
    assert_ne!(generate_plant(1000, 1), generate_plant(1000, 2));
}

#[test]
fn a_node_and_its_edges_take_about_562_bytes() {
    let bytes = generate_plant(10_000, 1).len();
    assert!((5_450_000..5_800_000).contains(&bytes), "{bytes} bytes");
}

#[test]
fn the_smallest_drawings_are_complete() {
    for nodes in 0..5 {
        let text = String::from_utf8(generate_plant(nodes, 1)).expect("text");
        assert_eq!(text.matches(r#""node_type""#).count(), nodes);
        assert!(text.ends_with("]}}\n"));
    }
}
