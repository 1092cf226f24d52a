//! Isolation on small drawings whose answer a process engineer knows in advance: one row per drawing.
//!
//! The barriers are those to close, in any order; open ends are `kind:id`. What is certain rests on what the drawing
//! states.

use pidq::Graph;
use serde_json::{Value, json};

use crate::drawing_notation::drawing;
use crate::graph::evaluate;

/// A drawing, the arguments of `isolate`, and the expected answer.
struct Row {
    name: &'static str,
    plant: &'static str,
    target: &'static str,
    barriers: &'static [&'static str],
    open: &'static [&'static str],
    complete: bool,
    certain: bool,
}

const fn row(
    name: &'static str,
    plant: &'static str,
    target: &'static str,
    barriers: &'static [&'static str],
    open: &'static [&'static str],
    complete: bool,
    certain: bool,
) -> Row {
    Row { name, plant, target, barriers, open, complete, certain }
}

const YES: bool = true;
const NO: bool = false;

const ROWS: &[Row] = &[
    // Valves and what is not one.
    row("block valves on both sides", "T-1 → V-1 → P-1 → V-2 → T-2", r#""P-1""#, &["V-1", "V-2"], &[], YES, YES),
    row("an ordinary spool is pipe", "T-1 → V-1 → P-1 → SP-1 → V-2 → T-2", r#""P-1""#, &["V-1", "V-2"], &[], YES, YES),
    row("a spool is no barrier", "T-1 → V-1 → P-1 → SP-1 → T-2", r#""P-1""#, &["V-1"], &["equipment:T-2"], NO, YES),
    row("a removed spool is", "T-1 → V-1 → P-1 → SP-1(removed) → T-2", r#""P-1""#, &["V-1", "SP-1"], &[], YES, YES),
    row(
        "a removable spool must be removed first",
        "T-1 → V-1 → P-1 → SP-1(removable=true) → T-2",
        r#""P-1""#,
        &["V-1"],
        &["equipment:T-2"],
        NO,
        YES,
    ),
    row("a strainer is passed", "T-1 → S-1 → P-1 → V-2 → T-2", r#""P-1""#, &["V-2"], &["equipment:T-1"], NO, YES),
    row(
        "an unknown class is passed and said so",
        "T-1 → V-1 → Z-1 → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        NO,
    ),
    row(
        "a valve of unknown type is no barrier",
        "T-1 → V-1(node_classification=piping_component.valve) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-2"],
        &["equipment:T-1"],
        NO,
        NO,
    ),
    row(
        "an operated valve of unstated type is an uncertain barrier",
        "T-1 → V-1(node_classification=CustomOperatedValve) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        NO,
    ),
    row(
        "classes that contradict each other",
        "T-1 → V-1(sub_class=check_valve) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        NO,
    ),
    row(
        "a sampling valve in the line is no barrier",
        "T-1 → V-1(node_classification=sampling_valve) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-2"],
        &["equipment:T-1"],
        NO,
        NO,
    ),
    row(
        "a globe check valve is a check valve",
        "T-1 → V-1 → P-1 → V-2(node_classification=GlobeCheckValve) → T-2",
        r#""P-1""#,
        &["V-1"],
        &["equipment:T-2"],
        NO,
        YES,
    ),
    row(
        "a branch with only a check valve",
        "T-1 → V-1 → P-1 → CK-1 → T-2",
        r#""P-1""#,
        &["V-1"],
        &["equipment:T-2"],
        NO,
        YES,
    ),
    row(
        "a check valve that is accepted is uncertain",
        "T-1 → V-1 → P-1 → CK-1 → T-2",
        r#""P-1", {acceptOneWay: true}"#,
        &["V-1", "CK-1"],
        &[],
        YES,
        NO,
    ),
    // Actuators.
    row(
        "a control valve is passed to the block valve behind it",
        "T-1 → V-1 → CV-1 → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "an emergency shutdown valve alone",
        "T-1 → SDV-1 → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-2"],
        &["equipment:T-1"],
        NO,
        YES,
    ),
    row(
        "an emergency shutdown valve that is accepted",
        "T-1 → SDV-1 → P-1 → V-2 → T-2",
        r#""P-1", {acceptConditional: true}"#,
        &["SDV-1", "V-2"],
        &[],
        YES,
        NO,
    ),
    row(
        "a motor-operated ball valve is not a hand valve",
        "T-1 → V-1(node_classification=motor_operated_ball_valve) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-2"],
        &["equipment:T-1"],
        NO,
        YES,
    ),
    // Valves with several ways.
    row(
        "a three-way valve closes no way for certain",
        "T-1 → V-1 → TW-1 → P-1 → V-2 → T-2; TW-1 → V-3 → T-3",
        r#""P-1""#,
        &["V-1", "V-2", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "a three-way valve is no barrier even if it is accepted",
        "T-1 → TW-1 → P-1 → V-2 → T-2; TW-1 → T-3",
        r#""P-1", {acceptConditional: true}"#,
        &["V-2"],
        &["equipment:T-1", "equipment:T-3"],
        NO,
        YES,
    ),
    row(
        "a plug valve drawn with three pipes",
        "T-1 → V-1 → P-1 → V-2 → T-2; V-1 → T-3",
        r#""P-1""#,
        &["V-2"],
        &["equipment:T-1", "equipment:T-3"],
        NO,
        NO,
    ),
    // Blinds.
    row("a blind flange ends a branch", "T-1 → V-1 → P-1 → B-1", r#""P-1""#, &["V-1", "B-1"], &[], YES, YES),
    row(
        "a spectacle blind drawn closed",
        "T-1 → SB-1(closed) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["SB-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "a spectacle blind drawn open",
        "T-1 → V-1 → SB-1(open) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "an open spectacle blind alone",
        "T-1 → SB-1(open) → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-2"],
        &["equipment:T-1"],
        NO,
        YES,
    ),
    row(
        "a spectacle blind without a position",
        "T-1 → V-1 → SB-1 → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        NO,
    ),
    row(
        "a closed slip blind by its attribute",
        r#"T-1 → SB-1(node_classification=slip_blind,attributes={"Blind position": "closed"}) → P-1 → V-2 → T-2"#,
        r#""P-1""#,
        &["SB-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "a bypass around a closed blind",
        "T-1 → J-1 → SB-1(closed) → J-2 → P-1 → V-2 → T-2; J-1 → V-3 → J-2",
        r#""P-1""#,
        &["SB-1", "V-3", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "an open bypass around a closed blind",
        "T-1 → J-1 → SB-1(closed) → J-2 → P-1 → V-2 → T-2; J-1 → S-1 → J-2",
        r#""P-1""#,
        &["V-2"],
        &["equipment:T-1"],
        NO,
        YES,
    ),
    // Bypasses, bleeds and dead ends.
    row(
        "a control valve set with bypass, to isolate the control valve",
        "T-1 → J-1 → V-1 → CV-1 → V-2 → J-2 → T-2; J-1 → V-3 → J-2",
        r#""CV-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "a control valve set with bypass, from the pump behind it",
        "T-1 → J-1 → V-1 → CV-1 → V-2 → J-2 → P-1 → V-4 → T-2; J-1 → V-3 → J-2",
        r#""P-1""#,
        &["V-2", "V-3", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "a bypass of a control valve without block valves separates nothing",
        "T-1 → V-1 → J-1 → CV-1 → J-2 → P-1 → V-4 → T-2; J-1 → V-3 → J-2",
        r#""P-1""#,
        &["V-1", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "double block and bleed",
        "T-1 → V-1 → J-1 → V-2 → P-1 → V-4 → T-2; J-1 → V-3 → O-1",
        r#""P-1""#,
        &["V-2", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "a drain of the volume is a barrier too",
        "T-1 → V-1 → J-1 → P-1 → V-2 → T-2; J-1 → V-3 → O-1",
        r#""P-1""#,
        &["V-1", "V-3", "V-2"],
        &[],
        YES,
        YES,
    ),
    row("a capped stub", "T-1 → V-1 → J-1 → P-1 → V-2 → T-2; J-1 → C-1", r#""P-1""#, &["V-1", "V-2"], &[], YES, YES),
    row(
        "a tee without its branch",
        "T-1 → V-1 → J-1 → P-1 → V-2 → T-2; J-1 → S-1",
        r#""P-1""#,
        &["V-1", "V-2"],
        &["free_port:S-1"],
        NO,
        NO,
    ),
    // Pumps, headers, recycles.
    row(
        "one of two parallel pumps",
        "T-1 → J-1 → V-1 → P-1 → CK-1 → V-2 → J-2 → T-2; J-1 → V-3 → P-2 → CK-2 → V-4 → J-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "both parallel pumps",
        "T-1 → J-1 → V-1 → P-1 → CK-1 → V-2 → J-2 → T-2; J-1 → V-3 → P-2 → CK-2 → V-4 → J-2",
        r#"["P-1", "P-2"]"#,
        &["V-1", "V-2", "V-3", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "a parallel pump without a discharge valve",
        "T-1 → J-1 → V-1 → P-1 → CK-1 → J-2 → V-5 → T-2; J-1 → V-3 → P-2 → V-4 → J-2",
        r#""P-1""#,
        &["V-1", "V-5", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "a minimum flow line back to the tank",
        "T-1 → V-1 → P-1 → J-1 → V-2 → T-2; J-1 → CV-1 → T-1",
        r#""P-1""#,
        &["V-1", "V-2"],
        &["equipment:T-1"],
        NO,
        YES,
    ),
    row(
        "a recycle with a block valve",
        "T-1 → V-1 → P-1 → J-1 → V-2 → T-2; J-1 → CV-1 → V-3 → T-1",
        r#""P-1""#,
        &["V-1", "V-2", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "a tank with several outlets",
        "X-1 → V-1 → T-1.N1; T-1.N2 → V-2 → P-1; T-1.N3 → V-3 → P-2; T-1.N4 → P-3; T-1.N5 → V-5 → O-1",
        r#""T-1""#,
        &["V-1", "V-2", "V-3", "V-5"],
        &["equipment:P-3"],
        NO,
        YES,
    ),
    // Exchangers and nozzles.
    row(
        "the tube side of an exchanger, from its pump",
        "T-1 → V-1 → P-1 → E-1.N1@tubes; E-1.N2@tubes → V-2 → T-2; X-1 → V-3 → E-1.N3@shell; E-1.N4@shell → V-4 → X-2",
        r#""P-1", {pass: "zone"}"#,
        &["V-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "both sides of an exchanger",
        "T-1 → V-1 → E-1.N1@tubes; E-1.N2@tubes → V-2 → T-2; X-1 → V-3 → E-1.N3@shell; E-1.N4@shell → V-4 → X-2",
        r#""E-1""#,
        &["V-1", "V-2", "V-3", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "a nozzle without a pipe",
        "T-1 → V-1 → D-1.N1; D-1.N2 → V-2 → T-2; D-1.N3",
        r#""D-1""#,
        &["V-1", "V-2"],
        &[],
        NO,
        NO,
    ),
    row(
        "a nozzle closed by a blind flange",
        "T-1 → V-1 → D-1.N1; D-1.N2 → V-2 → T-2; D-1.N3 → B-1",
        r#""D-1""#,
        &["V-1", "V-2", "B-1"],
        &[],
        YES,
        YES,
    ),
    row(
        "a thermowell in the volume",
        "T-1 → V-1 → J-1 → P-1 → V-2 → T-2; J-1 → W-1",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    // Sheets and utilities.
    row(
        "a branch to another sheet",
        "X-1 → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-2"],
        &["off_page_connector:X-1"],
        NO,
        YES,
    ),
    row("a valve before another sheet", "X-1 → V-1 → P-1 → V-2 → T-2", r#""P-1""#, &["V-1", "V-2"], &[], YES, YES),
    row(
        "connectors joined in one drawing",
        "T-1 → V-1 → X-1 → X-2 → P-1 → V-2 → T-2",
        r#""P-1""#,
        &["V-1", "V-2"],
        &[],
        YES,
        YES,
    ),
    row(
        "a utility by a hose behind a valve",
        "T-1 → V-1 → P-1 → V-2 → T-2; P-1 → V-3 → H-1 → X-1",
        r#""P-1""#,
        &["V-1", "V-2", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "a hose that leads somewhere",
        "T-1 → V-1 → P-1 → V-2 → T-2; P-1 → H-1",
        r#""P-1""#,
        &["V-1", "V-2"],
        &["free_port:H-1"],
        NO,
        NO,
    ),
    row("a hose to equipment", "T-1 → V-1 → P-1 → H-1 → T-2", r#""P-1""#, &["V-1"], &["equipment:T-2"], NO, YES),
    // Relief.
    row(
        "a relief device without valves stays open",
        "T-1 → V-1 → D-1 → V-2 → T-2; D-1 → RV-1 → X-1",
        r#""D-1""#,
        &["V-1", "V-2"],
        &["off_page_connector:X-1"],
        NO,
        YES,
    ),
    row(
        "a relief device with an inlet valve sealed open: closed for want of another",
        "T-1 → V-1 → D-1 → V-2 → T-2; D-1 → V-3(car_sealed_open) → RV-1 → X-1",
        r#""D-1""#,
        &["V-1", "V-2", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "a relief device with a valve on each side",
        "T-1 → V-1 → D-1 → V-2 → T-2; D-1 → V-3(lo) → RV-1 → V-4(lo) → X-1",
        r#""D-1""#,
        &["V-1", "V-2", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "relief within the volume, to equipment that is isolated too",
        "T-1 → V-1 → D-1 → V-2 → T-2; D-1 → V-3 → RV-1 → D-2; D-2 → V-5 → T-3",
        r#"["D-1", "D-2"]"#,
        &["V-1", "V-2", "V-5"],
        &[],
        YES,
        YES,
    ),
    row(
        "a locked-open valve is passed if a valve follows",
        "T-1 → V-1 → V-2(locked_open) → P-1 → V-3 → T-2",
        r#""P-1""#,
        &["V-1", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "a locked-open valve is used if nothing else follows",
        "T-1 → V-2(locked_open) → P-1 → V-3 → T-2",
        r#""P-1""#,
        &["V-2", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "a locked-open valve closes nothing if another way stays open",
        "T-1 → V-2(locked_open) → P-1 → V-3 → T-2; T-1 → S-1 → P-1",
        r#""P-1""#,
        &["V-3"],
        &["equipment:T-1"],
        NO,
        YES,
    ),
    row(
        "spared relief valves, one closed",
        "T-1 → V-1 → D-1; D-1 → J-1 → V-3(lo) → RV-1 → J-2 → X-1; J-1 → V-4(lc) → RV-2 → J-2",
        r#""D-1""#,
        &["V-1", "V-3", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "spared relief valves behind an interlocked selector valve",
        "T-1 → V-1 → D-1; D-1 → TW-1 → RV-1 → J-2 → X-1; TW-1 → RV-2 → J-2",
        r#""D-1""#,
        &["V-1"],
        &["off_page_connector:X-1"],
        NO,
        YES,
    ),
    row(
        "a rupture disc before a relief valve",
        "T-1 → V-1 → D-1; D-1 → V-3(cso) → RD-1 → RV-1 → X-1; D-1 → V-4 → D-2",
        r#""D-1""#,
        &["V-1", "V-3", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "a relief valve, to work on it",
        "D-1 → V-3(cso) → RV-1 → V-4(lo) → X-1",
        r#""RV-1""#,
        &["V-3", "V-4"],
        &[],
        YES,
        YES,
    ),
    row(
        "an unknown item at the end of a pipe is open",
        "T-1 → V-1 → P-1 → V-2 → T-2; P-1 → Z-1",
        r#""P-1""#,
        &["V-1", "V-2"],
        &["free_port:Z-1"],
        NO,
        NO,
    ),
    row("a blind flange between two pipes", "T-1 → V-1 → P-1 → B-1 → T-2", r#""P-1""#, &["V-1", "B-1"], &[], YES, NO),
    row(
        "a hand bypass around a relief valve",
        "T-1 → V-1 → D-1; D-1 → V-3(cso) → J-1 → RV-1 → J-2 → V-6(lo) → X-1; J-1 → V-5(closed) → J-2",
        r#""D-1""#,
        &["V-1", "V-3"],
        &[],
        YES,
        YES,
    ),
    row(
        "a bleed between relief valve and its inlet valve",
        "T-1 → V-1 → D-1; D-1 → V-3(cso) → J-1 → RV-1 → X-1; J-1 → V-5 → O-1",
        r#""D-1""#,
        &["V-1", "V-3"],
        &[],
        YES,
        YES,
    ),
];

#[test]
fn every_drawing_has_its_known_answer() {
    let mut wrong = Vec::new();
    for row in ROWS {
        let graph = Graph::from_json(drawing(row.plant)).expect("a drawing is JSON");
        let query = format!(
            "isolate({}) | [.barriers | map(.node.id) | sort(), .unresolved | map(.kind + \":\" + .at.id) | sort(), .complete, .certain]",
            row.target
        );
        let [mut barriers, mut open] = [row.barriers, row.open].map(|ids| ids.to_vec());
        barriers.sort_unstable();
        open.sort_unstable();
        let expected = json!([barriers, open, row.complete, row.certain]);
        let found = evaluate(&graph, &query, "{}");
        if found.as_ref() != Ok(&expected) {
            wrong.push(format!("{}: {}\n  expected {expected}\n  found    {}", row.name, row.plant, shown(found)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
    assert!(ROWS.len() >= 40);
}

fn shown(found: Result<Value, String>) -> String {
    found.map_or_else(|error| error, |value| value.to_string())
}

/// Without a reason in one of these fields, an answer that is not complete or not certain would be mute.
#[test]
fn an_answer_that_is_incomplete_or_uncertain_has_a_reason() {
    for row in ROWS {
        let graph = Graph::from_json(drawing(row.plant)).expect("a drawing is JSON");
        let counts = ".unresolved | size(), .data_gaps | size(), .uncertain | size()";
        let query = format!("isolate({}) | [.complete, .certain, {counts}]", row.target);
        let found = evaluate(&graph, &query, "{}").unwrap_or_else(|error| panic!("{}: {error}", row.name));
        let count = |at: usize| found[at].as_u64().expect("a count");
        assert_eq!(found[0] == true, count(2) + count(3) == 0, "{}: {found}", row.name);
        assert_eq!(found[1] == true, count(3) + count(4) == 0, "{}: {found}", row.name);
    }
}
