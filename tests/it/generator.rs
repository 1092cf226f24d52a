//! Generated plants of the benches and comparisons: the same bytes on every machine.

#[path = "../../benches/plant.rs"]
pub mod plant;

pub use plant::plant;

#[test]
fn the_same_size_and_seed_give_the_same_bytes() {
    assert_eq!(plant(1000, 1), plant(1000, 1));
    assert_ne!(plant(1000, 1), plant(1000, 2));
}

#[test]
fn a_node_and_its_edges_take_about_562_bytes() {
    let bytes = plant(10_000, 1).len();
    assert!((5_450_000..5_800_000).contains(&bytes), "{bytes} bytes");
}

#[test]
fn the_smallest_drawings_are_complete() {
    for nodes in 0..5 {
        let text = String::from_utf8(plant(nodes, 1)).expect("text");
        assert_eq!(text.matches(r#""node_type""#).count(), nodes);
        assert!(text.ends_with("]}}\n"));
    }
}
