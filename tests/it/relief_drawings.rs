//! Relief paths on small drawings whose answer a process engineer knows in advance: one row per drawing.
//!
//! A row has the relief list, as `device state: reasons`, and the findings of `validate` about relief, as
//! `severity item`, with `?` if the drawing does not prove it.

use pidq::{Graph, Limits, Query, Scratch};
use serde_json::{Value, json};

use crate::answers::{answer, answer_of};
use crate::drawing_notation::drawing;
use crate::graph::evaluate;

struct Row {
    name: &'static str,
    plant: &'static str,
    devices: &'static [&'static str],
    findings: &'static [&'static str],
}

const fn row(
    name: &'static str,
    plant: &'static str,
    devices: &'static [&'static str],
    findings: &'static [&'static str],
) -> Row {
    Row { name, plant, devices, findings }
}

const ROWS: &[Row] = &[
    row("a free path to the atmosphere", "D-1 → RV-1 → O-1", &["RV-1 open:"], &[]),
    row(
        "a free path to a connector, which the drawing does not follow",
        "D-1 → RV-1 → X-1",
        &["RV-1 unknown: continues_off_sheet X-1"],
        &["info X-1?"],
    ),
    row(
        "a valve locked open before a connector, beyond which another valve may follow",
        "D-1 → RV-1 → V-1(lo) → X-1",
        &["RV-1 unknown: locked_open V-1, continues_off_sheet X-1"],
        &["info V-1", "info X-1?"],
    ),
    row(
        "a valve before a connector: one warning suffices",
        "D-1 → RV-1 → V-1 → X-1",
        &["RV-1 unknown: not_locked_open V-1, continues_off_sheet X-1"],
        &["warning V-1"],
    ),
    row(
        "a device into which the pipes of both sides lead, whose outlet is not stated",
        "D-1 → RV-1; D-2 → RV-1; D-2 → RV-2 → O-1",
        &["RV-1 unknown: flow_direction D-1, flow_direction D-2", "RV-2 open:"],
        &["warning D-1?", "warning D-2?"],
    ),
    // Valves and blinds.
    row(
        "a closed valve in the inlet",
        "D-1 → V-1(closed) → RV-1 → O-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a closed valve in the outlet",
        "D-1 → RV-1 → V-1(nc) → O-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a locked-closed valve without another device",
        "D-1 → V-1(lc) → RV-1 → O-1",
        &["RV-1 blocked: locked_closed V-1"],
        &["error V-1"],
    ),
    row(
        "an open valve that is not locked",
        "D-1 → V-1(open) → RV-1 → O-1",
        &["RV-1 open: not_locked_open V-1"],
        &["warning V-1"],
    ),
    row(
        "a valve whose position is not drawn may be closed",
        "D-1 → RV-1 → V-1 → O-1",
        &["RV-1 unknown: not_locked_open V-1"],
        &["warning V-1"],
    ),
    row(
        "valves locked and sealed open",
        "D-1 → V-1(lo) → RV-1 → V-2(car_sealed_open) → O-1",
        &["RV-1 open: locked_open V-1, locked_open V-2"],
        &["info V-1", "info V-2"],
    ),
    row(
        "a lock in a field of its own, and an interlock with a key",
        "D-1 → V-1(normally=open, lock_mechanism=locked_open) → RV-1 → V-2(normally=open, lock=castell_key) → O-1",
        &["RV-1 open: locked_open V-1, locked_open V-2"],
        &["info V-1", "info V-2"],
    ),
    row(
        "valves interlocked in a position",
        "D-1 → J-1 → V-1(interlocked_open) → RV-1 → O-1; J-1 → V-2(interlocked_closed) → RV-2 → O-2",
        &["RV-1 open: locked_open V-1", "RV-2 blocked: locked_closed V-2"],
        &["info V-1", "info V-2"],
    ),
    row(
        "a lock without a position",
        "D-1 → V-1(lock=castell_key) → RV-1 → O-1",
        &["RV-1 unknown: unknown_position V-1"],
        &["warning V-1?"],
    ),
    row(
        "a position that is in no list",
        "D-1 → V-1(throttled) → RV-1 → O-1",
        &["RV-1 unknown: unknown_position V-1"],
        &["warning V-1?"],
    ),
    row(
        "a valve with an actuator",
        "D-1 → SDV-1(open) → RV-1 → O-1",
        &["RV-1 unknown: actuated_valve SDV-1"],
        &["warning SDV-1"],
    ),
    row(
        "a valve with an actuator that opens or stays when it fails",
        "D-1 → SDV-1(open, fail_action=FO) → RV-1 → V-1(open, actuator=motor, fail_action=FL) → O-1",
        &["RV-1 open: actuated_valve SDV-1, actuated_valve V-1"],
        &["warning SDV-1", "warning V-1"],
    ),
    row(
        "a valve that is locked open and closes when its actuator fails",
        "D-1 → V-1(lo, fail_action=FC) → RV-1 → O-1",
        &["RV-1 unknown: actuated_valve V-1"],
        &["warning V-1"],
    ),
    row(
        "a valve that is locked open and has the tag of one with an actuator",
        "D-1 → V-1(car_sealed_open, tag=XV-7) → RV-1 → O-1",
        &["RV-1 unknown: actuated_valve XV-7"],
        &["warning V-1"],
    ),
    row(
        "a valve that is locked open by one field and closed by another",
        "D-1 → V-1(lo, state=closed) → RV-1 → V-2(lo, status=closed) → O-1",
        &["RV-1 unknown: unknown_position V-1, unknown_position V-2"],
        &["warning V-1?", "warning V-2?"],
    ),
    row(
        "a valve that is not locked, whose position is not stated",
        "D-1 → V-1(lock=no) → RV-1 → V-2(car_seal=none) → O-1",
        &["RV-1 unknown: not_locked_open V-1, not_locked_open V-2"],
        &["warning V-1", "warning V-2"],
    ),
    row("a closed blind", "D-1 → SB-1(closed) → RV-1 → O-1", &["RV-1 blocked: closed_blind SB-1"], &["error SB-1"]),
    row("an open blind", "D-1 → RV-1 → SB-1(open) → O-1", &["RV-1 open: open_blind SB-1"], &["warning SB-1"]),
    row(
        "a blind without a position",
        "D-1 → SB-1 → RV-1 → O-1",
        &["RV-1 unknown: blind_without_position SB-1"],
        &["warning SB-1?"],
    ),
    row("a blind flange instead of an outlet", "D-1 → RV-1 → B-1", &["RV-1 blocked: blind_flange B-1"], &["error B-1"]),
    row(
        "a valve of unknown kind",
        "D-1 → Q-1(node_classification=piping_component.quux_valve) → RV-1 → O-1",
        &["RV-1 unknown: unknown_class Q-1"],
        &["warning Q-1?"],
    ),
    // Items that are not there, or may not be.
    row(
        "a removed reducer in the inlet",
        "D-1 → R-1(status=Demolished) → RV-1 → O-1",
        &["RV-1 unknown: not_installed R-1"],
        &["warning R-1?"],
    ),
    row(
        "a removable spool whose position is not drawn may be out",
        "D-1 → RV-1 → SP-1(node_classification=removable_spool) → O-1",
        &["RV-1 unknown: removable_spool SP-1"],
        &["warning SP-1"],
    ),
    row(
        "a removable spool that is in",
        "D-1 → RV-1 → SP-1(node_classification=removable_spool, normally=installed) → O-1",
        &["RV-1 open: removable_spool SP-1"],
        &["warning SP-1"],
    ),
    row(
        "a removable spool that is out",
        "D-1 → RV-1 → SP-1(node_classification=removable_spool, normally=removed) → O-1",
        &["RV-1 blocked: removed_spool SP-1"],
        &["error SP-1"],
    ),
    row(
        "a removed check valve in the outlet",
        "D-1 → RV-1 → CK-1(Status=removed) → O-1",
        &["RV-1 unknown: not_installed CK-1"],
        &["warning CK-1?"],
    ),
    row(
        "a rupture disc in series that is not installed",
        "D-1 → RD-1(status=future) → RV-1 → O-1",
        &["RD-1 blocked: device_not_installed, relief_device RV-1", "RV-1 unknown: not_installed RD-1"],
        &["error RD-1", "warning RD-1?"],
    ),
    row(
        "a valve that is to be removed, and may be there",
        "D-1 → V-1(lo, status=to be removed) → RV-1 → O-1",
        &["RV-1 unknown: unknown_status V-1"],
        &["warning V-1?"],
    ),
    row(
        "a closed valve that is to be removed is closed",
        "D-1 → V-1(closed, status=to be removed) → RV-1 → O-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a blind that is removed, whatever its position",
        "D-1 → RV-1 → SB-1(open, status=removed) → O-1",
        &["RV-1 unknown: not_installed SB-1"],
        &["warning SB-1?"],
    ),
    row(
        "a device that is to be removed",
        "D-1 → RV-1(status=to be removed) → O-1",
        &["RV-1 unknown: unknown_device_status"],
        &["warning RV-1?"],
    ),
    row(
        "a spare that is locked off beside a device that is not open itself",
        "D-1 → J-1 → V-1(lo) → SB-1 → RV-1 → O-1; J-1 → V-2(lc) → RV-2 → O-2",
        &["RV-1 unknown: locked_open V-1, blind_without_position SB-1", "RV-2 blocked: locked_closed V-2"],
        &["info V-1", "warning SB-1?", "error V-2"],
    ),
    row(
        "a spare that is locked off beside a device whose path leaves the sheet",
        "D-1 → J-1 → V-1(lo) → RV-1 → X-1; J-1 → V-2(lc) → RV-2 → X-2",
        &[
            "RV-1 unknown: locked_open V-1, continues_off_sheet X-1",
            "RV-2 blocked: locked_closed V-2, continues_off_sheet X-2",
        ],
        &["info V-1", "info X-1?", "info V-2", "info X-2?"],
    ),
    // Check valves.
    row(
        "a check valve that opens to the device",
        "D-1 → CK-1 → RV-1 → O-1",
        &["RV-1 open: check_valve CK-1"],
        &["info CK-1"],
    ),
    row(
        "a check valve the wrong way round in the inlet",
        "D-1 ← CK-1 ← RV-1; RV-1 → O-1",
        &["RV-1 blocked: check_valve_against_flow CK-1, flow_direction CK-1"],
        &["error CK-1", "warning CK-1?"],
    ),
    row(
        "a check valve the wrong way round in the outlet",
        "D-1 → RV-1 — CK-1 ← O-1",
        &["RV-1 blocked: check_valve_against_flow CK-1, flow_direction CK-1"],
        &["error CK-1", "warning CK-1?"],
    ),
    row(
        "a check valve without a direction",
        "D-1 — CK-1 — RV-1 → O-1",
        &["RV-1 unknown: check_valve_direction CK-1"],
        &["warning CK-1?"],
    ),
    // Lost sides.
    row("no outlet", "D-1 → RV-1", &["RV-1 unknown: no_outlet"], &["warning RV-1?"]),
    row("no inlet", "D-1 → V-1 → D-2; RV-1 → O-1", &["RV-1 unknown: no_inlet"], &["warning RV-1?"]),
    row("an inlet from nothing", "S-1 → RV-1 → O-1", &["RV-1 unknown: no_inlet"], &["warning RV-1?"]),
    row("an outlet to nothing", "D-1 → RV-1 → S-1", &["RV-1 unknown: no_outlet"], &["warning RV-1?"]),
    row("two outlets", "O-1 ← RV-1 → O-2", &["RV-1 unknown: no_inlet"], &["warning RV-1?"]),
    row(
        "between two sheets",
        "X-1 — RV-1 — X-2",
        &["RV-1 unknown: continues_off_sheet X-1, continues_off_sheet X-2"],
        &["info X-1?", "info X-2?"],
    ),
    row(
        "an inlet only through an open end that is drawn within the pipe",
        "D-1 → O-2 → RV-1 → O-1",
        &["RV-1 unknown: no_inlet"],
        &["warning RV-1?"],
    ),
    row("without any pipe, which another rule reports", "D-1; RV-1", &["RV-1 unknown: no_inlet, no_outlet"], &[]),
    row(
        "one pipe without a direction is the inlet",
        "D-1 — V-1(closed) — RV-1",
        &["RV-1 blocked: no_outlet, closed_valve V-1"],
        &["warning RV-1?", "error V-1"],
    ),
    row("pipes without a direction", "D-1 — RV-1 — O-1", &["RV-1 open:"], &[]),
    row(
        "pipes without a direction, and a closed valve",
        "D-1 — RV-1 — V-1(closed) — O-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a device that is removed",
        "D-1 → RV-1(status=removed) → O-1",
        &["RV-1 blocked: device_not_installed"],
        &["error RV-1"],
    ),
    // Branches.
    row(
        "a closed drain and a closed bypass block nothing",
        "D-1 → J-1 → RV-1 → J-2 → J-3 → O-1; J-1 → V-1(closed) → J-2; J-3 → V-2(closed) → O-2",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "an outlet with a valve beside a drain that looks like it",
        "D-1 → RV-1 → J-1 → V-1(closed) → O-1; J-1 → V-2(closed) → O-2",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "two inlets in parallel: neither valve blocks alone",
        "D-1 → J-1 → V-1(open) → J-2 → RV-1 → O-1; J-1 → V-2(open) → J-2",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "two inlets in parallel, one without a position",
        "D-1 → J-1 → V-1 → J-2 → RV-1 → O-1; J-1 → V-2(open) → J-2",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "two inlets in parallel, both without a position",
        "D-1 → J-1 → V-1 → J-2 → RV-1 → O-1; J-1 → V-2 → J-2",
        &["RV-1 unknown: not_locked_open V-1"],
        &["warning V-1?"],
    ),
    row(
        "two inlets in parallel, both closed",
        "D-1 → J-1 → V-1(closed) → J-2 → RV-1 → O-1; J-1 → V-2(closed) → J-2",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "two inlets in parallel, one closed",
        "D-1 → J-1 → V-1(closed) → J-2 → RV-1 → O-1; J-1 → V-2(open) → J-2",
        &["RV-1 open: not_locked_open V-2"],
        &["warning V-2"],
    ),
    row(
        "two inlets in parallel, one closed and one without a position",
        "D-1 → J-1 → V-1(closed) → J-2 → RV-1 → O-1; J-1 → V-2 → J-2",
        &["RV-1 unknown: not_locked_open V-2"],
        &["warning V-2"],
    ),
    row(
        "two outlets in parallel, both without a position",
        "D-1 → RV-1 → J-1 → V-1 → J-2 → O-1; J-1 → V-2 → J-2",
        &["RV-1 unknown: not_locked_open V-1"],
        &["warning V-1?"],
    ),
    row(
        "on a line between closed valves: it may protect the pipe alone",
        "D-1 → V-1(closed) → J-1 → V-2(closed) → D-2; J-1 → RV-1 → O-1",
        &["RV-1 unknown: closed_valve V-1"],
        &["warning V-1?", "info V-2?"],
    ),
    row(
        "on a line between open valves: equipment depends on them if it has no relief or vent of its own",
        "D-1 → V-1 → J-1 → V-2 → D-2; J-1 → RV-1 → O-1; D-2 → RV-2 → O-2",
        &["RV-1 open:", "RV-2 open:"],
        &["info V-1?"],
    ),
    row(
        "on the discharge line of a pump, between tanks with vents",
        "T-1 → V-1 → P-1 → CK-1 → J-1 → V-2 → T-2; J-1 → RV-1 → O-1; T-1 → O-2; T-2 → S-1 → O-3",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "on a line that is open to its equipment on one side",
        "D-1 → J-1 → V-2 → D-2; J-1 → RV-1 → O-1",
        &["RV-1 open:"],
        &["info V-2?"],
    ),
    row(
        "a common header does not end at another device",
        "D-1 → RV-1 → J-1 → V-1(lo) → O-1; D-2 → RV-2 → J-1",
        &["RV-1 open: locked_open V-1", "RV-2 open: locked_open V-1"],
        &["info V-1", "info V-1"],
    ),
    row(
        "a header is followed in the direction of its flow",
        "X-1 → J-1 → V-1(closed) → O-1; D-1 → RV-1 → J-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a knock-out drum from which only closed valves lead out",
        "D-1 → RV-1 → D-9(node_classification=equipment.knock_out_drum); D-9 → V-1(closed) → O-1; D-9 → V-2(closed) → O-2",
        &["RV-1 blocked: closed_valve V-1 behind D-9"],
        &["error V-1"],
    ),
    row(
        "a knock-out drum that vents to the atmosphere, past a drain",
        "D-1 → RV-1 → D-9(node_classification=equipment.knock_out_drum); D-9 → V-1(closed) → O-1; D-9 → O-2",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a valve to the atmosphere that is the only way out of a flare drum",
        "D-1 → RV-1 → D-9(node_classification=equipment.flare_knock_out_drum); D-9 → V-1(open) → O-1",
        &["RV-1 open: not_locked_open V-1 behind D-9"],
        &["warning V-1"],
    ),
    row(
        "a closed valve to the atmosphere that is the only way out of a vessel",
        "D-1 → RV-1 → D-9; D-9 → V-1(closed) → O-1",
        &["RV-1 unknown: closed_valve V-1 behind D-9"],
        &["warning V-1?"],
    ),
    row(
        "a flare drum whose outlet is not drawn",
        "D-1 → RV-1 → D-9(node_classification=equipment.flare_knock_out_drum)",
        &["RV-1 unknown: no_way_out D-9"],
        &["warning D-9?"],
    ),
    row(
        "a flare drum whose outlet is capped",
        "D-1 → RV-1 → D-9(node_classification=equipment.seal_drum); D-9 → S-1 → C-1",
        &["RV-1 unknown: no_way_out D-9"],
        &["warning D-9?"],
    ),
    row(
        "a flare that ends the path",
        "D-1 → RV-1 → D-9(node_classification=equipment.seal_drum) → F-1(node_classification=equipment.flare)",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a closed valve to the flare behind a knock-out drum",
        "D-1 → RV-1 → D-9(node_classification=equipment.knock_out_drum); D-9 → V-1(closed) → X-1",
        &["RV-1 blocked: closed_valve V-1 behind D-9"],
        &["error V-1"],
    ),
    row(
        "a valve to the flare behind a knock-out drum",
        "D-1 → RV-1 → D-9(node_classification=equipment.flare_knockout_drum); D-9 → V-1 → X-1",
        &["RV-1 unknown: not_locked_open V-1 behind D-9, continues_off_sheet X-1 behind D-9"],
        &["warning V-1"],
    ),
    row(
        "an open valve to the flare behind a knock-out drum",
        "D-1 → RV-1 → D-9(node_classification=equipment.flare_knockout_drum); D-9 → V-1(open) → X-1",
        &["RV-1 unknown: not_locked_open V-1 behind D-9, continues_off_sheet X-1 behind D-9"],
        &["warning V-1"],
    ),
    row(
        "an open valve to a flare on the sheet behind a knock-out drum",
        "D-1 → RV-1 → D-9(node_classification=equipment.flare_knockout_drum); \
         D-9 → V-1(open) → E-9(node_classification=equipment.flare_stack)",
        &["RV-1 open: not_locked_open V-1 behind D-9"],
        &["warning V-1"],
    ),
    row(
        "a knock-out drum whose gas leaves the sheet",
        "D-1 → RV-1 → D-9(node_classification=equipment.knock_out_drum) → X-1",
        &["RV-1 unknown: continues_off_sheet X-1 behind D-9"],
        &["info X-1?"],
    ),
    row(
        "a header of two devices with a valve whose position is not drawn",
        "D-1 → RV-1 → J-1 → V-9 → D-9(node_classification=equipment.flare_knockout_drum) → O-9; D-2 → RV-2 → J-1",
        &["RV-1 unknown: not_locked_open V-9", "RV-2 unknown: not_locked_open V-9"],
        &["warning V-9", "warning V-9"],
    ),
    row(
        "a closed valve behind equipment that may take in what is relieved",
        "D-1 → RV-1 → D-9; D-9 → V-1(closed) → X-1",
        &["RV-1 unknown: closed_valve V-1 behind D-9"],
        &["warning V-1?"],
    ),
    row(
        "a pump whose relief returns to its tank, which has a breather valve",
        "T-1 → V-1 → P-1 → J-1 → V-2 → X-1; J-1 → RV-1 → T-1; T-1 → RV-2(node_classification=breather_valve)",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    // Equipment that takes in what is relieved, and has no way out.
    row(
        "two vessels that relieve into each other",
        "D-1 → RV-1 → D-2 → RV-2 → D-1; D-1 → V-1 → X-1; D-2 → V-2 → X-2",
        &["RV-1 unknown: receiver_not_relieved D-2", "RV-2 unknown: receiver_not_relieved D-1"],
        &["warning D-2?", "warning D-1?"],
    ),
    row(
        "two vessels that relieve into each other, one of them also to the atmosphere",
        "D-1 → RV-1 → D-2 → RV-2 → D-1; D-2 → RV-3 → O-1",
        &["RV-1 open:", "RV-2 open:", "RV-3 open:"],
        &[],
    ),
    row(
        "two vessels that relieve into each other, one of them with a vent that is locked open",
        "D-1 → RV-1 → D-2 → RV-2 → D-1; D-1 → V-1(lo) → O-1",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "two vessels that relieve into each other, one of them open to another sheet",
        "D-1 → RV-1 → D-2 → RV-2 → D-1; D-1 → V-1(lo) → X-1",
        &["RV-1 unknown: continues_off_sheet X-1 behind D-2", "RV-2 unknown: continues_off_sheet X-1 behind D-1"],
        &["info X-1?", "info X-1?"],
    ),
    row(
        "a vessel that relieves into two that relieve into each other",
        "D-1 → RV-1 → D-2 → RV-2 → D-3 → RV-3 → D-2",
        &[
            "RV-1 unknown: receiver_not_relieved D-2",
            "RV-2 unknown: receiver_not_relieved D-3",
            "RV-3 unknown: receiver_not_relieved D-2",
        ],
        &["warning D-2?", "warning D-3?", "warning D-2?"],
    ),
    row(
        "a vessel whose own device is blocked",
        "D-1 → RV-1 → D-2 → RV-2 → V-1(closed) → O-1",
        &["RV-1 unknown: receiver_not_relieved D-2", "RV-2 blocked: closed_valve V-1"],
        &["warning D-2?", "error V-1"],
    ),
    // Equipment whose way out is only a possible one.
    row(
        "a vessel that nothing leaves",
        "D-1 → RV-1 → D-2",
        &["RV-1 unknown: receiver_not_relieved D-2"],
        &["warning D-2?"],
    ),
    row(
        "a tank without a vent, with a level gauge and a feed line",
        "D-1 → RV-1 → T-2; T-2 → W-1; X-1 → CK-1 → T-2",
        &["RV-1 unknown: receiver_not_relieved T-2"],
        &["warning T-2?"],
    ),
    row("a tank with a vent", "D-1 → RV-1 → T-2 → O-2", &["RV-1 open:"], &[]),
    row(
        "a flare stack ends a path, whatever its drain",
        "D-1 → RV-1 → E-9(node_classification=equipment.flare_stack); E-9 → V-1(closed) → O-1",
        &["RV-1 open:"],
        &[],
    ),
    // Ends that are not there.
    row(
        "a flare stack that is not built yet",
        "D-1 → RV-1 → E-9.A; E-9(node_classification=equipment.flare_stack, status=future)",
        &["RV-1 unknown: not_installed E-9"],
        &["warning E-9?"],
    ),
    row(
        "an open end that is not there",
        "D-1 → RV-1 → O-1(status=future)",
        &["RV-1 unknown: not_installed O-1"],
        &["warning O-1?"],
    ),
    row(
        "a vessel that may not be there, with a vent",
        "D-1 → RV-1 → D-2(status=phase 2) → O-2",
        &["RV-1 unknown: unknown_status D-2"],
        &["warning D-2?"],
    ),
    row(
        "a receiver behind another one that is removed",
        "D-1 → RV-1 → D-2 → RV-2 → D-3(status=removed) → O-3",
        &["RV-1 unknown: not_installed D-3 behind D-2", "RV-2 unknown: not_installed D-3"],
        &["warning D-3?", "warning D-3?"],
    ),
    row(
        "a vessel between the device and what it protects that is not there",
        "D-1 → D-2(status=removed) → RV-1 → O-1",
        &["RV-1 unknown: not_installed D-2"],
        &["warning D-2?"],
    ),
    row(
        "a header to a flare that is not built yet and to another one",
        "D-1 → RV-1 → J-1; J-1 → E-8(node_classification=equipment.flare_stack, status=future); \
         J-1 → E-9(node_classification=equipment.flare_stack)",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a vacuum breaker behind a relief device",
        "D-1 → RV-1 → Q-1(node_classification=piping_component.vacuum_breaker) → O-1",
        &["RV-1 unknown: opens_inwards Q-1", "Q-1 unknown: opens_inwards Q-1, no_inlet, opens_inwards Q-1 behind D-1"],
        &["warning Q-1?", "warning Q-1?", "warning Q-1?"],
    ),
    row(
        "a relief device behind another one",
        "D-1 → RV-1 → RV-2 → O-1",
        &["RV-1 unknown: relief_device RV-2", "RV-2 unknown: relief_device RV-1"],
        &["warning RV-2?", "warning RV-1?"],
    ),
    row(
        "a rupture disc behind a relief valve",
        "D-1 → RV-1 → RD-2 → O-1",
        &["RV-1 open: relief_device RD-2", "RD-2 open: relief_device RV-1"],
        &["info RD-2"],
    ),
    row(
        "a vessel whose own device discharges to another sheet",
        "D-1 → RV-1 → D-2 → RV-2 → X-2",
        &["RV-1 unknown: continues_off_sheet X-2 behind D-2", "RV-2 unknown: continues_off_sheet X-2"],
        &["info X-2?", "info X-2?"],
    ),
    row(
        "a vessel whose own device has an inlet valve without a position",
        "D-1 → RV-1 → D-2; D-2 → V-2 → RV-2 → O-2",
        &["RV-1 unknown: not_locked_open V-2 behind D-2", "RV-2 unknown: not_locked_open V-2"],
        &["warning V-2", "warning V-2"],
    ),
    row(
        "a vessel whose own device has an open inlet valve",
        "D-1 → RV-1 → D-2; D-2 → V-2(open) → RV-2 → O-2",
        &["RV-1 open: not_locked_open V-2 behind D-2", "RV-2 open: not_locked_open V-2"],
        &["info V-2?", "warning V-2"],
    ),
    row(
        "a vessel with an own device whose path is unknown, and with one whose path is open",
        "D-1 → RV-1 → D-2; D-2 → RV-2 → X-2; D-2 → RV-3 → O-3",
        &["RV-1 open:", "RV-2 unknown: continues_off_sheet X-2", "RV-3 open:"],
        &["info X-2?"],
    ),
    row(
        "a chain of vessels of which only the last one is relieved to an unknown place",
        "D-1 → RV-1 → D-2 → RV-2 → D-3 → RV-3 → Q-1(node_classification=piping_component.gadget) → O-1",
        &[
            "RV-1 unknown: unknown_class Q-1 behind D-2",
            "RV-2 unknown: unknown_class Q-1 behind D-3",
            "RV-3 unknown: unknown_class Q-1",
        ],
        &["warning Q-1?", "warning Q-1?", "warning Q-1?"],
    ),
    row(
        "a chain of vessels of which the last one is relieved",
        "D-1 → RV-1 → D-2 → RV-2 → D-3 → RV-3 → O-1",
        &["RV-1 open:", "RV-2 open:", "RV-3 open:"],
        &[],
    ),
    row(
        "a chain of vessels of which the last one is closed",
        "D-1 → RV-1 → D-2 → RV-2 → D-3; D-3 → V-1(closed) → X-1",
        &["RV-1 unknown: receiver_not_relieved D-2", "RV-2 unknown: closed_valve V-1 behind D-3"],
        &["warning D-2?", "warning V-1?"],
    ),
    row(
        "a ring of vessels, one of them with a possible way out",
        "D-1 → RV-1 → D-2 → RV-2 → D-3 → RV-3 → D-1; D-3 → RV-4 → X-4",
        &[
            "RV-1 unknown: continues_off_sheet X-4 behind D-2",
            "RV-2 unknown: continues_off_sheet X-4 behind D-3",
            "RV-3 unknown: continues_off_sheet X-4 behind D-1",
            "RV-4 unknown: continues_off_sheet X-4",
        ],
        &["info X-4?", "info X-4?", "info X-4?", "info X-4?"],
    ),
    row(
        "a ring of vessels, one of them with an open way out",
        "D-1 → RV-1 → D-2 → RV-2 → D-3 → RV-3 → D-1; D-3 → RV-4 → O-4",
        &["RV-1 open:", "RV-2 open:", "RV-3 open:", "RV-4 open:"],
        &[],
    ),
    row(
        "a vessel whose own device may not be there",
        "D-1 → RV-1 → D-2; D-2 → RV-2(status=to be removed) → O-2",
        &["RV-1 unknown: unknown_device_status RV-2 behind D-2", "RV-2 unknown: unknown_device_status"],
        &["warning RV-2?", "warning RV-2?"],
    ),
    row(
        "a vessel whose own device is one by its tag alone",
        "D-1 → RV-1 → D-2; D-2 → Q-2(tag=PSV-2, node_classification=piping_component.gadget_valve) → O-2",
        &["RV-1 unknown: unknown_class PSV-2 behind D-2", "PSV-2 unknown: class_not_stated PSV-2"],
        &["warning Q-2?", "warning Q-2?"],
    ),
    row(
        "a vessel with a vacuum breaker, which lets nothing out",
        "D-1 → RV-1 → D-2; D-2 → RV-2(node_classification=vacuum_breaker) → O-2",
        &["RV-1 unknown: receiver_not_relieved D-2", "RV-2 open: opens_inwards RV-2"],
        &["warning D-2?"],
    ),
    row(
        "a vessel from which only a pump leads on",
        "D-1 → RV-1 → D-2; D-2 → P-1 → O-1",
        &["RV-1 unknown: machine P-1 behind D-2"],
        &["warning P-1?"],
    ),
    row(
        "a vessel from which only a trap leads on",
        "D-1 → RV-1 → D-2; D-2 → Q-1(node_classification=piping_component.steam_trap) → O-1",
        &["RV-1 unknown: trap Q-1 behind D-2"],
        &["warning Q-1?"],
    ),
    row(
        "a vessel whose outlet has a valve that closes when it fails",
        "D-1 → RV-1 → D-2; D-2 → SDV-1(open, fail_action=FC) → O-1",
        &["RV-1 unknown: actuated_valve SDV-1 behind D-2"],
        &["warning SDV-1"],
    ),
    row(
        "a shell without an outlet beside tubes with one",
        "D-1 → RV-1 → E-2.A@shell; E-2.B@tube → O-1; E-2.C@tube → O-2",
        &["RV-1 unknown: receiver_not_relieved E-2"],
        &["warning E-2?"],
    ),
    row(
        "an exchanger whose sides are not stated",
        "D-1 → RV-1 → E-2.A; E-2.B → O-1; E-2.C → O-2",
        &["RV-1 unknown: unstated_side E-2-B behind E-2"],
        &["warning E-2.B?"],
    ),
    row(
        "a package unit, which may have several sides or a machine",
        "D-1 → RV-1 → E-2.A; E-2.B → O-1; E-2(node_classification=equipment.package_unit)",
        &["RV-1 unknown: unstated_side E-2-B behind E-2"],
        &["warning E-2.B?"],
    ),
    row(
        "equipment without a kind",
        "D-1 → RV-1 → E-2.A; E-2.B → O-1; E-2(node_classification=equipment.)",
        &["RV-1 unknown: unstated_side E-2-B behind E-2"],
        &["warning E-2.B?"],
    ),
    row(
        "equipment whose class is no known word",
        "D-1 → RV-1 → E-2.A; E-2.B → O-1; E-2(node_classification=equipment.quux)",
        &["RV-1 unknown: unstated_side E-2-B behind E-2"],
        &["warning E-2.B?"],
    ),
    row(
        "equipment of a known kind in German",
        "D-1 → RV-1 → E-2.A; E-2.B → O-1; E-2(node_classification=equipment.reaktor)",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a flare package without an outlet, which may be more than a flare",
        "D-1 → RV-1 → E-2.A; E-2(node_classification=equipment.flare_package)",
        &["RV-1 unknown: unknown_class E-2"],
        &["warning E-2?"],
    ),
    row(
        "an oxidizer without an outlet, which lets nothing through without its fan",
        "D-1 → RV-1 → E-2.A; E-2(node_classification=equipment.thermal_oxidizer)",
        &["RV-1 unknown: receiver_not_relieved E-2"],
        &["warning E-2?"],
    ),
    row(
        "a sump and a tank that are open to the air, and a sump that is closed",
        "D-1 → RV-1 → D-2(node_classification=equipment.sump); D-1 → RV-2 → D-3(node_classification=equipment.open_tank); \
         D-1 → RV-4 → D-4(node_classification=equipment.closed_drain_sump)",
        &["RV-1 open:", "RV-2 open:", "RV-4 unknown: receiver_not_relieved D-4"],
        &["warning D-4?"],
    ),
    row(
        "equipment of unknown class between a vessel and its device",
        "D-1 → E-2.A; E-2.B → RV-1 → O-1; E-2(node_classification=equipment.quux)",
        &["RV-1 open: unstated_side E-2-A"],
        &[],
    ),
    row(
        "change-over valves on both sides that are linked",
        "D-1 → TW-1(node_classification=change_over_valve, remarks=interlocked_with_TW-2) → RV-1 \
         → TW-2(node_classification=change_over_valve) → O-1; TW-1 → RV-2 → TW-2",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "remarks that a device is isolated",
        "D-1 → RV-1(remarks=isolated) → O-1; D-1 → RV-2(label=LOCKED CLOSED) → O-2; D-1 → RV-3(remarks=bypassed) → O-3",
        &["RV-1 unknown: device_isolated", "RV-2 unknown: device_isolated", "RV-3 unknown: device_isolated"],
        &["warning RV-1?", "warning RV-2?", "warning RV-3?"],
    ),
    row(
        "remarks about something else, and the position of a device that has not opened",
        "D-1 → RV-1(remarks=isolation_valve_locked_open) → O-1; D-1 → RV-2(normally=closed) → O-2",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "a pipe without a direction, and one against the flow, farther from the device",
        "D-1 → R-1 → RV-1 → R-2 — R-3 → O-1; D-1 ← R-4 → RV-2 → O-2",
        &["RV-1 open: pipe_direction R-3", "RV-2 open: pipe_direction D-1"],
        &[],
    ),
    row(
        "a coupling in the path, and one at the end of it beside a cap",
        "D-1 → RV-1 → S-1(node_classification=piping_component.quick_coupling) → O-1; \
         D-1 → RV-2 → J-1 → C-1; J-1 → H-1(node_classification=piping_component.quick_coupling)",
        &["RV-1 unknown: coupling S-1", "RV-2 unknown: no_outlet"],
        &["warning S-1?", "warning RV-2?"],
    ),
    row(
        "a hose at the end of the path beside a cap",
        "D-1 → RV-1 → J-1 → C-1; J-1 → R-1 → H-1",
        &["RV-1 unknown: no_outlet"],
        &["warning RV-1?"],
    ),
    row(
        "an open valve with another word for its position in a label, a remark or a field",
        "D-1 → V-1(open, label=LC) → RV-1 → O-1; D-2 → V-2(lo, remarks=NORMALLY CLOSED) → RV-2 → O-2; \
         D-3 → V-3(open, valve_status=closed) → RV-3 → O-3; D-4 → V-4(open, locked_closed=yes) → RV-4 → O-4",
        &[
            "RV-1 unknown: unknown_position V-1",
            "RV-2 unknown: unknown_position V-2",
            "RV-3 unknown: unknown_position V-3",
            "RV-4 unknown: unknown_position V-4",
        ],
        &["warning V-1?", "warning V-2?", "warning V-3?", "warning V-4?"],
    ),
    row(
        "an open valve with texts that do not say that it is closed",
        "D-1 → V-1(open, label=LO) → RV-1 → O-1; D-2 → V-2(lo, remarks=not to be closed in operation) → RV-2 → O-2; \
         D-3 → V-3(open, normally_closed=no) → RV-3 → O-3",
        &["RV-1 open: locked_open V-1", "RV-2 open: locked_open V-2", "RV-3 open: not_locked_open V-3"],
        &["info V-1", "info V-2", "warning V-3"],
    ),
    row(
        "ends in the open air by their class, one that often is in a pipe, and one in a pipe that goes on",
        "D-1 → RV-1 → H-1(node_classification=piping_component.vent_line); \
         D-2 → RV-2 → H-2(node_classification=piping_component.drain_funnel); \
         D-3 → RV-3 → H-3(node_classification=piping_component.silencer); \
         D-4 → RV-4 → H-4(node_classification=piping_component.vent_silencer) → X-4; \
         D-5 → RV-5 → H-5(node_classification=piping_component.vent_line, status=future)",
        &[
            "RV-1 open: open_end H-1",
            "RV-2 open: open_end H-2",
            "RV-3 open: likely_open_end H-3",
            "RV-4 unknown: continues_off_sheet X-4",
            "RV-5 unknown: not_installed H-5",
        ],
        &["info X-4?", "warning H-5?"],
    ),
    row(
        "items without a position that are stated to be closed",
        "D-1 → RV-1 → R-1(status=blinded) → O-1; D-3 → RV-3(status=blinded) → O-3; D-4 → RV-4(lock=LC) → O-4; \
         D-5 → RV-5 → O-5(status=closed)",
        &[
            "RV-1 unknown: unknown_status R-1",
            "RV-3 unknown: unknown_device_status",
            "RV-4 unknown: unknown_device_status",
            "RV-5 unknown: unknown_status O-5",
        ],
        &["warning R-1?", "warning RV-3?", "warning RV-4?", "warning O-5?"],
    ),
    row(
        "an exchanger without nozzles between a vessel and its device",
        "D-1 → E-2 → RV-1 → O-1; X-3 → E-2 → X-4",
        &["RV-1 open: unstated_side E-2"],
        &[],
    ),
    row(
        "an inlet that leads to an open end by its class protects nothing",
        "H-1(node_classification=piping_component.vent_line) → RV-1 → O-1",
        &["RV-1 unknown: no_inlet"],
        &["warning RV-1?"],
    ),
    row(
        "a hand valve at a relief device by its tag",
        "D-1 → V-1(lo, tag=V1-PSV-101) → RV-1 → O-1",
        &["RV-1 open: locked_open V1-PSV-101"],
        &["info V-1"],
    ),
    row(
        "an exchanger with a spare nozzle between a vessel and its device",
        "D-1 → E-2.A; E-2.B → RV-1 → O-1; E-2.C ⇢ I-1",
        &["RV-1 open: unstated_side E-2-A"],
        &[],
    ),
    row(
        "a vessel that discharges into a rotary feeder",
        "D-1 → RV-1 → E-2 → O-1; E-2(node_classification=equipment.rotary_feeder)",
        &["RV-1 unknown: machine E-2"],
        &["warning E-2?"],
    ),
    row(
        "a vessel that discharges into the suction line of another pump",
        "D-1 → RV-1 → J-1; T-2 → J-1 → P-2 → O-1",
        &["RV-1 unknown: machine P-2"],
        &["warning P-2?"],
    ),
    row(
        "a header to a closed vessel and to the atmosphere",
        "D-1 → RV-1 → J-1; J-1 → D-9; J-1 → S-1 → O-1",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a spare device on a line that is closed towards the equipment protects nothing",
        "D-1 → V-1(lc) → RV-1 → O-1; D-1 → V-2(closed) → J-1 → D-2; J-1 → RV-2 → O-2",
        &["RV-1 blocked: locked_closed V-1", "RV-2 open:"],
        &["error V-1", "info V-2?"],
    ),
    row(
        "a heater that relieves into an expansion tank that is open to the loop alone",
        "P-1 → V-1 → E-1(node_classification=equipment.fired_heater) → V-2 → J-1 → P-1; T-1 → V-3(lo) → J-1; \
         E-1 → RV-1 → T-1",
        &["RV-1 unknown: receiver_not_relieved T-1"],
        &["warning T-1?"],
    ),
    row(
        "a heater that relieves into an expansion tank with a relief device",
        "P-1 → V-1 → E-1(node_classification=equipment.fired_heater) → V-2 → J-1 → P-1; T-1 → V-3(lo) → J-1; \
         E-1 → RV-1 → T-1 → RV-2 → O-1",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "a second stage that relieves into the suction drum of the first one",
        "X-1 → V-1 → D-1 → P-1(node_classification=equipment.compressor) → D-2 → \
         P-2(node_classification=equipment.compressor) → J-1 → V-2 → X-2; J-1 → RV-1 → D-1",
        &["RV-1 unknown: receiver_not_relieved D-1"],
        &["warning D-1?"],
    ),
    row(
        "a second stage that relieves into the suction drum of the first one, which is relieved",
        "X-1 → V-1 → D-1 → P-1(node_classification=equipment.compressor) → D-2 → \
         P-2(node_classification=equipment.compressor) → J-1 → V-2 → X-2; J-1 → RV-1 → D-1 → RV-2 → O-1",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "a closed drain of the device itself",
        "D-1 → RV-1 → J-1 → O-1; RV-1 → V-1(closed) → O-2",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a sensing line of a pilot, without which the device does not open",
        "D-1 → RV-1 → O-1; D-1 → V-1(closed) → RV-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a valve that joins three pipes",
        "D-1 → V-1(closed) → RV-1 → O-1; V-1 → D-2",
        &["RV-1 unknown: several_ways V-1"],
        &["warning V-1?"],
    ),
    row(
        "a closed valve that joins three pipes in the outlet is no change-over valve",
        "D-1 → RV-1 → V-1(closed) → D-2; V-1 → O-1",
        &["RV-1 unknown: several_ways V-1"],
        &["warning V-1?"],
    ),
    row(
        "an open valve that joins three pipes in the outlet may close all of them",
        "D-1 → RV-1 → V-1 → D-2; V-1 → O-1",
        &["RV-1 unknown: several_ways V-1"],
        &["warning V-1?"],
    ),
    // Several devices.
    row(
        "a rupture disc in series",
        "D-1 → RD-1 → RV-1 → O-1",
        &["RD-1 open: relief_device RV-1", "RV-1 open: relief_device RD-1"],
        &["info RD-1"],
    ),
    row(
        "two rupture discs in series before a valve",
        "D-1 → RD-1 → RD-2 → RV-1 → O-1",
        &[
            "RD-1 open: relief_device RV-1",
            "RD-2 open: relief_device RD-1, relief_device RV-1",
            "RV-1 open: relief_device RD-2, relief_device RD-1",
        ],
        &["info RD-1", "info RD-2", "info RD-1"],
    ),
    row(
        "a closed vent between a rupture disc and a relief valve",
        "D-1 → RD-1 → J-1 → RV-1 → O-1; J-1 → V-1(closed) → O-2",
        &["RD-1 open: relief_device RV-1", "RV-1 open: relief_device RD-1"],
        &["info RD-1"],
    ),
    row(
        "a closed outlet beside another relief valve",
        "D-1 → RV-1 → J-1 → V-1(closed) → O-1; J-1 → RV-2 → O-2",
        &["RV-1 blocked: closed_valve V-1", "RV-2 unknown: relief_device RV-1"],
        &["error V-1", "warning RV-1?"],
    ),
    row(
        "a closed valve between a rupture disc and a relief valve",
        "D-1 → RD-1 → V-1(closed) → RV-1 → O-1",
        &["RD-1 blocked: relief_device RV-1, closed_valve V-1", "RV-1 blocked: relief_device RD-1, closed_valve V-1"],
        &["error V-1", "info RD-1", "error V-1"],
    ),
    row(
        "a spare device, locked closed with a key interlock",
        "D-1 → J-1 → V-1(lo) → RV-1 → O-1; J-1 → V-2(normally=closed, lock=interlocked) → RV-2 → O-2",
        &["RV-1 open: locked_open V-1", "RV-2 blocked: locked_closed V-2"],
        &["info V-1", "info V-2"],
    ),
    row(
        "a spare device behind a closed valve without a lock",
        "D-1 → J-1 → V-1(lo) → RV-1 → O-1; J-1 → V-2(closed) → RV-2 → O-2",
        &["RV-1 open: locked_open V-1", "RV-2 blocked: closed_valve V-2"],
        &["info V-1", "warning V-2"],
    ),
    row(
        "two devices, both closed",
        "D-1 → J-1 → V-1(lc) → RV-1 → O-1; J-1 → V-2(lc) → RV-2 → O-2",
        &["RV-1 blocked: locked_closed V-1", "RV-2 blocked: locked_closed V-2"],
        &["error V-1", "error V-2"],
    ),
    row(
        "an open device on another vessel is no spare",
        "D-1 → V-1(closed) → RV-1 → O-1; D-2 → RV-2 → O-2",
        &["RV-1 blocked: closed_valve V-1", "RV-2 open:"],
        &["error V-1"],
    ),
    row(
        "a change-over valve: one of two devices is always open",
        "D-1 → TW-1(node_classification=piping_component.changeover_valve) → RV-1 → O-1; TW-1 → RV-2 → O-2",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "a three-way valve that a remark calls a change-over valve, and one of which it says more",
        "D-1 → TW-1(node_classification=piping_component.three_way_valve, remarks=change-over valve) → RV-1 → O-1; TW-1 → RV-2 → O-2; \
         D-3 → TW-3(node_classification=piping_component.three_way_valve, remarks=see change-over valve TW-1) → RV-3 → O-3; TW-3 → RV-4 → O-4",
        &["RV-1 open:", "RV-2 open:", "RV-3 unknown: several_ways TW-3", "RV-4 unknown: several_ways TW-3"],
        &["warning TW-3", "warning TW-3"],
    ),
    row(
        "change-over valves on both sides that are not linked",
        "D-1 → TW-1(node_classification=piping_component.changeover_valve) → RV-1 → TW-2(node_classification=piping_component.changeover_valve) → O-1; TW-1 → RV-2 → TW-2",
        &["RV-1 unknown: several_ways TW-2", "RV-2 unknown: several_ways TW-2"],
        &["warning TW-2?", "warning TW-2?"],
    ),
    row(
        "a change-over valve to a device behind a closed valve",
        "D-1 → TW-1 → RV-1 → O-1; TW-1 → V-1(closed) → RV-2 → O-2",
        &["RV-1 unknown: several_ways TW-1", "RV-2 blocked: several_ways TW-1, closed_valve V-1"],
        &["warning TW-1?", "warning TW-1", "error V-1"],
    ),
    row(
        "a change-over valve to a device that is not installed",
        "D-1 → TW-1(node_classification=piping_component.changeover_valve) → RV-1 → O-1; TW-1 → RV-2(status=removed) → O-2",
        &["RV-1 unknown: several_ways TW-1", "RV-2 blocked: device_not_installed"],
        &["warning TW-1?", "error RV-2"],
    ),
    row(
        "a change-over valve to a device whose outlet is closed",
        "D-1 → TW-1(node_classification=piping_component.changeover_valve) → RV-1 → O-1; TW-1 → RV-2 → V-2(closed) → O-2",
        &["RV-1 unknown: several_ways TW-1", "RV-2 blocked: closed_valve V-2"],
        &["warning TW-1?", "error V-2"],
    ),
    row(
        "a change-over valve to a device whose outlet leaves the sheet",
        "D-1 → TW-1(node_classification=piping_component.changeover_valve) → RV-1 → O-1; TW-1 → RV-2 → X-2",
        &["RV-1 unknown: several_ways TW-1", "RV-2 unknown: continues_off_sheet X-2"],
        &["warning TW-1?", "info X-2?"],
    ),
    row(
        "a change-over valve to a device that discharges into a closed vessel",
        "D-1 → TW-1(node_classification=piping_component.changeover_valve) → RV-1 → O-1; TW-1 → RV-2 → D-2",
        &["RV-1 unknown: several_ways TW-1", "RV-2 unknown: receiver_not_relieved D-2"],
        &["warning TW-1?", "warning D-2?"],
    ),
    row(
        "a change-over valve to a device behind a reducer",
        "D-1 → TW-1(node_classification=piping_component.changeover_valve) → RV-1 → O-1; TW-1 → R-1 → RV-2 → O-2",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "an outlet that ends at a well of an instrument",
        "D-1 → RV-1 → W-1",
        &["RV-1 blocked: capped W-1"],
        &["error W-1"],
    ),
    row(
        "a change-over valve that is drawn closed",
        "D-1 → TW-1(closed) → RV-1 → O-1; TW-1 → RV-2 → O-2",
        &["RV-1 unknown: several_ways TW-1", "RV-2 unknown: several_ways TW-1"],
        &["warning TW-1?", "warning TW-1?"],
    ),
    row(
        "a ball valve with three ports may close both of its devices",
        "D-1 → V-1(number_of_ports=3) → RV-1 → O-1; V-1 → RV-2 → O-2",
        &["RV-1 unknown: several_ways V-1", "RV-2 unknown: several_ways V-1"],
        &["warning V-1", "warning V-1"],
    ),
    row(
        "a three-way valve without a second device",
        "D-1 → TW-1 → RV-1 → O-1; TW-1 → V-1 → D-2",
        &["RV-1 unknown: several_ways TW-1"],
        &["warning TW-1?"],
    ),
    // Vents and vacuum.
    row(
        "a breather valve without a pipe to the outside",
        "T-1 → RV-1(node_classification=breather_valve)",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a vacuum breaker lets air in: its inlet is the equipment",
        "O-1 → RV-1(node_classification=vacuum_breaker) → T-1",
        &["RV-1 open: opens_inwards RV-1"],
        &[],
    ),
    row(
        "a closed valve under a vacuum breaker",
        "RV-1(node_classification=vacuum_breaker) → V-1(closed) → T-1",
        &["RV-1 blocked: opens_inwards RV-1, closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a check valve at a pressure and vacuum valve closes one direction",
        "T-1 → RV-1(node_classification=pressure_vacuum_valve) → CK-1 → O-1",
        &["RV-1 unknown: check_valve_direction CK-1"],
        &["warning CK-1?"],
    ),
    row(
        "a pin-actuated device",
        "D-1 → V-1(closed) → RV-1(node_classification=buckling_pin_valve) → O-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    row(
        "a safety valve of a well closes, and relieves nothing",
        "D-1 → V-1(node_classification=subsurface_safety_valve) → V-2(node_classification=surface_safety_valve) → O-1",
        &[],
        &[],
    ),
    row(
        "on joined sheets, beyond a connector",
        "D-1 → RV-1 → X-1 → X-2 → V-1(closed) → O-1",
        &["RV-1 blocked: closed_valve V-1"],
        &["error V-1"],
    ),
    // Items that restrict the relief flow, or may stop it.
    row(
        "an excess flow valve in the inlet",
        "D-1 → Q-1(node_classification=piping_component.excess_flow_valve) → RV-1 → O-1",
        &["RV-1 unknown: excess_flow_valve Q-1"],
        &["warning Q-1?"],
    ),
    row(
        "a steam trap in the inlet",
        "D-1 → Q-1(node_classification=piping_component.steam_trap) → RV-1 → O-1",
        &["RV-1 unknown: trap Q-1"],
        &["warning Q-1?"],
    ),
    row(
        "a restriction orifice in the inlet",
        "D-1 → Q-1(node_classification=piping_component.restriction_orifice) → RV-1 → O-1",
        &["RV-1 open: restriction Q-1"],
        &["info Q-1"],
    ),
    row(
        "a flame arrester in the outlet",
        "T-1 → RV-1 → Q-1(node_classification=piping_component.flame_arrester) → O-1",
        &["RV-1 open: restriction Q-1"],
        &["info Q-1"],
    ),
    row(
        "a drain of the outlet that opens by itself",
        "D-1 → RV-1 → J-1 → O-1; J-1 → Q-1(node_classification=piping_component.automatic_drain) → O-2",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a three-way valve may close both of its devices",
        "D-1 → TW-1 → RV-1 → O-1; TW-1 → RV-2 → O-2",
        &["RV-1 unknown: several_ways TW-1", "RV-2 unknown: several_ways TW-1"],
        &["warning TW-1", "warning TW-1"],
    ),
    row(
        "a three-way valve that is described as a change-over valve",
        "D-1 → TW-1(description=Changeover valve) → RV-1 → O-1; TW-1 → RV-2 → O-2",
        &["RV-1 open:", "RV-2 open:"],
        &[],
    ),
    row(
        "a valve with a pneumatic operator",
        "D-1 → V-1(operator=pneumatic) → RV-1 → O-1",
        &["RV-1 unknown: actuated_valve V-1"],
        &["warning V-1"],
    ),
    row(
        "a hand valve to which a controller sends a signal",
        "D-1 → V-1 → RV-1 → O-1; I-1(tag=PIC-1) ⇢ V-1",
        &["RV-1 unknown: actuated_valve V-1"],
        &["warning V-1"],
    ),
    row(
        "a blind that is swung closed in the outlet",
        "D-1 → RV-1 → SB-1(position=SC) → O-1",
        &["RV-1 blocked: closed_blind SB-1"],
        &["error SB-1"],
    ),
    row(
        "a check valve in the outlet to a header",
        "D-1 → RV-1 → CK-1 → J-1 → O-1; D-2 → RV-2 → J-1",
        &["RV-1 open: check_valve CK-1", "RV-2 open:"],
        &["info CK-1"],
    ),
    row(
        "a rupture disk before a relief valve, between locked valves",
        "D-1 → V-1(cso) → RD-1 → RV-1 → V-2(cso) → O-1",
        &[
            "RD-1 open: locked_open V-1, relief_device RV-1, locked_open V-2",
            "RV-1 open: relief_device RD-1, locked_open V-1, locked_open V-2",
        ],
        &["info V-1", "info V-2", "info RD-1", "info V-1", "info V-2"],
    ),
    row(
        "a thermal relief of an exchanger over a valve that is not locked",
        "T-1 → V-1 → E-1.A@c; E-1.B@c → J-2 → V-2 → T-2; J-2 → V-3 → RV-1 → T-2 → O-2",
        &["RV-1 unknown: not_locked_open V-3"],
        &["warning V-3"],
    ),
    row(
        "a remark that the device is for the future",
        "D-1 → RV-1(remarks=future) → O-1",
        &["RV-1 blocked: device_not_installed"],
        &["error RV-1"],
    ),
    // Machines in the path.
    row(
        "a device that is the only outlet of a pump",
        "D-1 → P-1.N1; P-1.N2 → RV-1 → O-1",
        &["RV-1 unknown: machine P-1"],
        &["warning P-1?"],
    ),
    row(
        "a device behind a pump without nozzles",
        "D-1 → P-1 → RV-1 → O-1",
        &["RV-1 unknown: machine P-1"],
        &["warning P-1?"],
    ),
    row(
        "a compressor and a check valve before the device",
        "D-1 → P-1(node_classification=equipment.reciprocating_compressor) → CK-1 → S-1 → RV-1 → O-1",
        &["RV-1 unknown: check_valve CK-1, machine P-1"],
        &["info CK-1", "warning P-1?"],
    ),
    row(
        "two pumps with one device and no other outlet",
        "D-1 → P-1.N1; D-1 → P-2.N1; P-1.N2 → J-1 → RV-1 → O-1; P-2.N2 → J-1",
        &["RV-1 unknown: machine P-1"],
        &["warning P-1?"],
    ),
    row(
        "a pump without directions",
        "D-1 — P-1.N1; P-1.N2 — RV-1 — O-1",
        &["RV-1 unknown: machine P-1"],
        &["warning P-1?"],
    ),
    row(
        "a device on the discharge line of a pump",
        "D-1 → P-1.N1; P-1.N2 → J-1 → V-1 → X-1; J-1 → RV-1 → O-1",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a device on the casing of a pump with an outlet of its own",
        "D-1 → P-1.N1; P-1.N2 → V-1 → X-1; P-1.N3 → RV-1 → O-1",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "two devices on a compressor, each on its nozzle",
        "D-1 → P-1.N1; P-1.N2 → RV-1 → O-1; P-1.N3 → RV-2 → O-2",
        &["RV-1 unknown: machine P-1", "RV-2 unknown: machine P-1"],
        &["warning P-1?", "warning P-1?"],
    ),
    row("a pump that nothing feeds", "P-1 → RV-1 → O-1", &["RV-1 open:"], &[]),
    row(
        "an air cooler with a fan is no machine for the fluid",
        "E-1(node_classification=equipment.fin_fan_air_cooler); D-1 → E-1.A; E-1.B → RV-1 → O-1",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "the drum before a compressor is no machine",
        "E-1(node_classification=equipment.compressor_suction_drum); D-1 → E-1.A; E-1.B → RV-1 → O-1",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "an ejector is a machine",
        "E-1(node_classification=equipment.steam_ejector); D-1 → E-1.A; E-1.B → RV-1 → O-1",
        &["RV-1 unknown: machine E-1"],
        &["warning E-1?"],
    ),
    row(
        "an outlet into a compressor alone",
        "D-1 → RV-1 → P-1(node_classification=equipment.compressor) → D-2",
        &["RV-1 unknown: machine P-1"],
        &["warning P-1?"],
    ),
    row(
        "a gate valve with the tag of a relief device",
        "D-1 → V-1(tag=PSV-1, open) → V-2(closed) → O-1",
        &["PSV-1 blocked: class_not_stated PSV-1, closed_valve V-2"],
        &["warning V-2?"],
    ),
    row(
        "a closed gate valve with the tag of a relief device",
        "D-1 → V-1(tag=PSV-1, closed) → O-1",
        &["PSV-1 blocked: class_not_stated PSV-1, closed_valve PSV-1"],
        &["error V-1?"],
    ),
    // Ways beside each other.
    row(
        "a flare with an open valve and another one with a closed valve",
        "D-1 → RV-1 → J-1; J-1 → V-1(open) → D-8(node_classification=equipment.flare); J-1 → V-2(closed) → D-9",
        &["RV-1 open: not_locked_open V-1"],
        &["warning V-1"],
    ),
    row(
        "a flare behind a valve locked open and another one behind one locked closed",
        "D-1 → RV-1 → J-1; J-1 → V-1(lo) → E-1(node_classification=equipment.flare); \
         J-1 → V-2(lc) → E-2(node_classification=equipment.flare)",
        &["RV-1 open: locked_open V-1"],
        &["info V-1"],
    ),
    row(
        "two flares behind open valves: none alone blocks the device",
        "D-1 → RV-1 → J-1; J-1 → V-1(open) → D-8(node_classification=equipment.flare); \
         J-1 → V-2(open) → D-9(node_classification=equipment.flare)",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "two inlets from one vessel, one of them closed",
        "D-1.A → V-1(open) → J-1; D-1.B → V-2(closed) → J-1; J-1 → RV-1 → O-1",
        &["RV-1 open: not_locked_open V-1"],
        &["warning V-1"],
    ),
    row(
        "thermal relief around a closed valve, against the direction of the line",
        "T-1 → J-1 → V-1(closed) → J-2 → V-2(closed) → X-1; J-2 → RV-1 → J-1; T-1 → O-1",
        &["RV-1 unknown: closed_valve V-2, flow_direction J-1"],
        &["warning V-2?", "warning J-1?"],
    ),
    // Inlets that two vessels share, each by a branch of its own.
    row(
        "a shared inlet with a valve without a position in each branch",
        "D-1 → V-1 → J-1 → RV-1 → O-1; D-2 → V-2 → J-1",
        &["RV-1 unknown: not_locked_open V-1"],
        &["warning V-1?", "info V-2?"],
    ),
    row(
        "a shared inlet with a control valve in each branch",
        "D-1 → CV-1 → J-1 → RV-1 → O-1; D-2 → CV-2 → J-1",
        &["RV-1 unknown: actuated_valve CV-1"],
        &["warning CV-1?", "info CV-2?"],
    ),
    row(
        "a shared inlet with a removable spool in each branch",
        "D-1 → SP-1(removable=true) → J-1 → RV-1 → O-1; D-2 → SP-2(removable=true) → J-1",
        &["RV-1 unknown: removable_spool SP-1"],
        &["warning SP-1?"],
    ),
    row(
        "a shared inlet with two valves that are locked open",
        "D-1 → V-1(lo) → J-1 → RV-1 → O-1; D-2 → V-2(lo) → J-1",
        &["RV-1 open: locked_open V-1, locked_open V-2"],
        &["info V-1", "info V-2"],
    ),
    row(
        "a shared inlet with one branch that is locked open",
        "D-1 → V-1(lo) → J-1 → RV-1 → O-1; D-2 → V-2 → J-1",
        &["RV-1 open: locked_open V-1"],
        &["info V-1", "info V-2?"],
    ),
    row(
        "a shared inlet with a valve for the future, and one that is locked open",
        "D-1 → V-1(status=future) → J-1 → RV-1 → O-1; D-2 → V-2(lo) → J-1",
        &["RV-1 open: locked_open V-2"],
        &["info V-2", "info V-1?"],
    ),
    row(
        "a shared inlet with two valves that are locked closed",
        "D-1 → V-1(lc) → J-1 → RV-1 → O-1; D-2 → V-2(lc) → J-1",
        &["RV-1 blocked: locked_closed V-1"],
        &["error V-1"],
    ),
    row(
        "a shared inlet with a check valve in one branch",
        "D-1 → J-1 → RV-1 → O-1; D-2 → CK-1 → J-1",
        &["RV-1 open: check_valve CK-1"],
        &["info CK-1"],
    ),
    row(
        "a shared inlet that is blown down to a flare",
        "D-1 → V-1 → J-1 → J-2 → RV-1 → O-1; D-2 → V-2 → J-1; J-2 → BDV-1 → D-9(node_classification=equipment.flare)",
        &["RV-1 unknown: actuated_valve BDV-1"],
        &["warning BDV-1?", "info V-1?", "info V-2?"],
    ),
    row(
        "a line to two vessels without directions, which may be a shared inlet",
        "D-1 — V-1 — J-1 → RV-1 → O-1; D-2 — V-2 — J-1",
        &["RV-1 unknown: not_locked_open V-1"],
        &["warning V-1?", "info V-2?"],
    ),
    row(
        "a closed line to two vessels without directions, which may be a shared inlet",
        "D-1 — V-1(closed) — J-1 → RV-1 → O-1; D-2 — V-2(closed) — J-1",
        &["RV-1 unknown: closed_valve V-1"],
        &["warning V-1?", "info V-2?"],
    ),
    // Marks that something is closed or not in service.
    row(
        "a flange behind the outlet with the mark that it is blinded",
        "D-1 → RV-1 → H-1(node_classification=piping_component.flange, blinded=true) → O-1",
        &["RV-1 unknown: unknown_status H-1"],
        &["warning H-1?"],
    ),
    row(
        "a flange in the inlet with the mark that it is closed",
        "D-1 → H-1(node_classification=piping_component.flange, is_closed=true) → RV-1 → O-1",
        &["RV-1 unknown: unknown_status H-1"],
        &["warning H-1?"],
    ),
    row(
        "a flange with the mark that it is not blanked",
        "D-1 → RV-1 → H-1(node_classification=piping_component.flange, blanked=false) → O-1",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a device with the mark that it is isolated",
        "D-1 → RV-1(isolated=true) → O-1",
        &["RV-1 unknown: unknown_device_status"],
        &["warning RV-1?"],
    ),
    row(
        "a device with the mark that it is blanked",
        "D-1 → RV-1(blanked=true) → O-1",
        &["RV-1 unknown: unknown_device_status"],
        &["warning RV-1?"],
    ),
    row(
        "a device that is not in service",
        "D-1 → RV-1(in_service=false) → O-1",
        &["RV-1 blocked: device_not_installed"],
        &["error RV-1"],
    ),
    row(
        "a device with the mark that it is out of service",
        "D-1 → RV-1(out_of_service=true) → O-1",
        &["RV-1 blocked: device_not_installed"],
        &["error RV-1"],
    ),
    row(
        "a spool that its description calls removable",
        "D-1 → RV-1 → SP-1(description=removable spool) → O-1",
        &["RV-1 unknown: removable_spool SP-1"],
        &["warning SP-1"],
    ),
    row(
        "a spool that its description calls not removable",
        "D-1 → RV-1 → SP-1(description=non-removable spool) → O-1",
        &["RV-1 open:"],
        &[],
    ),
    row(
        "a stop check valve that is locked closed",
        "D-1 → RV-1 → CK-1(node_classification=piping_component.stop_check_valve, lc) → O-1",
        &["RV-1 blocked: locked_closed CK-1"],
        &["error CK-1"],
    ),
    // Caps and plugs.
    row("a capped outlet", "D-1 → RV-1 → C-1", &["RV-1 blocked: capped C-1"], &["error C-1"]),
    row(
        "a plugged outlet",
        "D-1 → RV-1 → Q-1(node_classification=piping_component.pipe_plug)",
        &["RV-1 blocked: capped Q-1"],
        &["error Q-1"],
    ),
    row(
        "an outlet whose branches are all closed",
        "D-1 → RV-1 → J-1 → V-1 → C-1; J-1 → S-1 → B-1",
        &["RV-1 blocked: capped C-1"],
        &["error C-1"],
    ),
    row(
        "an outlet with a branch that the drawing does not end",
        "D-1 → RV-1 → J-1 → S-1 → C-1; J-1 → S-2",
        &["RV-1 unknown: no_outlet"],
        &["warning RV-1?"],
    ),
    row("a cap beside a free outlet", "D-1 → RV-1 → J-1 → C-1; J-1 → O-1", &["RV-1 open:"], &[]),
    row("a cap that is drawn in the pipe", "D-1 → RV-1 → C-1 → O-1", &["RV-1 blocked: capped C-1"], &["error C-1"]),
    row("a capped inlet", "C-1 → V-1 → RV-1 → O-1", &["RV-1 blocked: capped C-1"], &["error C-1"]),
    row("a pocket for a sensor in the outlet", "D-1 → RV-1 → W-1 → O-1", &["RV-1 open:"], &[]),
    // Relief from the outlet of a pump to its own suction.
    row(
        "a device around a pump",
        "D-1 → V-1 → J-1 → P-1.A; P-1.B → J-2 → V-2 → D-2; J-2 → RV-1 → J-1",
        &["RV-1 open: own_suction P-1"],
        &["info P-1", "info V-2?"],
    ),
    row(
        "a device in the casing of a pump",
        "D-1 → V-1 → P-1.A; P-1.B → V-2 → X-2; P-1.C → RV-1 → P-1.D",
        &["RV-1 open: own_suction P-1"],
        &["info P-1"],
    ),
    row(
        "a device around a pump without ports, past a valve",
        "X-1 → V-1 → J-1 → P-1 → J-2 → V-2 → X-2; J-2 → RV-1 → V-3(closed) → J-1",
        &["RV-1 blocked: closed_valve V-3"],
        &["error V-3"],
    ),
    row(
        "a device around a pump that also protects an exchanger, which the suction does not relieve",
        "D-1 → V-1 → J-1 → P-1.A; P-1.B → J-2 → E-1.A; E-1.B → V-2 → X-2; J-2 → RV-1 → J-1",
        &["RV-1 unknown: own_suction P-1, machine P-1"],
        &["info P-1", "warning P-1?"],
    ),
    row(
        "a device of two pumps that returns to the suction of both",
        "X-1 → J-1 → P-1.A; J-1 → P-2.A; P-1.B → J-2; P-2.B → J-2; J-2 → V-1 → X-2; J-2 → RV-1 → J-1",
        &["RV-1 open: own_suction P-1, own_suction P-2"],
        &["info P-1", "info P-2"],
    ),
    row(
        "ends that a bare class names",
        "D-1 → RV-1 → K-1(node_classification=flare); D-2 → RV-2 → K-2(node_classification=vent_stack); \
         D-3 → RV-3 → K-3(node_classification=sump)",
        &["RV-1 open:", "RV-2 open:", "RV-3 open:"],
        &[],
    ),
    row(
        "a stop check valve, whose spindle may hold it shut",
        "D-1 → K-1(node_classification=stop_check_valve, closed) → RV-1 → O-1; \
         D-2 → K-2(node_classification=screw-down non-return valve) → RV-2 → O-2; \
         D-3 → K-3(node_classification=stop_check_valve, lo) → RV-3 → O-3; \
         D-4 → CK-4(closed) → RV-4 → O-4",
        &[
            "RV-1 blocked: closed_valve K-1",
            "RV-2 unknown: not_locked_open K-2",
            "RV-3 open: check_valve K-3",
            "RV-4 open: check_valve CK-4",
        ],
        &["error K-1", "warning K-2", "info K-3", "info CK-4"],
    ),
    row(
        "texts and marks that a device does not act",
        "D-1 → RV-1(remarks=out for overhaul) → O-1; D-2 → RV-2(label=SPARE) → O-2; \
         D-3 → RV-3(disabled=true) → O-3; D-4 → RV-4(description=außer Betrieb) → O-4; \
         D-5 → RV-5(remarks=dummy: spool fitted) → O-5; D-6 → RV-6(gagged=yes) → O-6",
        &[
            "RV-1 unknown: device_out_of_action",
            "RV-2 unknown: device_out_of_action",
            "RV-3 unknown: device_out_of_action",
            "RV-4 unknown: device_out_of_action",
            "RV-5 unknown: unknown_device_status",
            "RV-6 unknown: device_out_of_action",
        ],
        &["warning RV-1?", "warning RV-2?", "warning RV-3?", "warning RV-4?", "warning RV-5?", "warning RV-6?"],
    ),
    row(
        "texts about something else that does not act",
        "D-1 → RV-1(remarks=bypassed during startup) → O-1; D-2 → RV-2(remarks=alarm disabled by HS-1) → O-2; \
         D-3 → RV-3(remarks=spare installed in store) → O-3; D-4 → RV-4(disabled=false) → O-4",
        &["RV-1 open:", "RV-2 open:", "RV-3 open:", "RV-4 open:"],
        &[],
    ),
    row(
        "an excess flow check valve passes a flow back and closes when a device opens",
        "D-1 → X-1(node_classification=piping_component.excess_flow_check_valve) → RV-1 → O-1",
        &["RV-1 unknown: excess_flow_valve X-1"],
        &["warning X-1?"],
    ),
    row(
        "a cover that opens to the air where it is needs no outlet",
        "D-1 → RV-1(node_classification=equipment.emergency_relief_hatch); D-2 → RV-2(node_classification=weighted_hatch); \
         D-3 → RV-3(node_classification=pressure_relief_manhole); D-4 → RV-4(node_classification=bursting_panel)",
        &["RV-1 open:", "RV-2 open:", "RV-3 open:", "RV-4 open:"],
        &[],
    ),
    row(
        "the letters beside a valve are its position and its lock",
        "D-1 → V-1(label=LC) → RV-1 → O-1; D-2 → V-2(remarks=N.C.) → RV-2 → O-2; D-3 → V-3(label=LO) → RV-3 → O-3; \
         D-4 → V-4(description=normally closed) → RV-4 → O-4; D-5 → V-5(open, label=NC) → RV-5 → O-5",
        &[
            "RV-1 blocked: locked_closed V-1",
            "RV-2 blocked: closed_valve V-2",
            "RV-3 open: locked_open V-3",
            "RV-4 blocked: closed_valve V-4",
            "RV-5 unknown: unknown_position V-5",
        ],
        &["error V-1", "error V-2", "info V-3", "error V-4", "warning V-5?"],
    ),
    row(
        "a lock that is not there yet",
        "D-1 → V-1(open, lock=padlock to be fitted) → RV-1 → O-1; D-2 → V-2(open, lock=planned CSO) → RV-2 → O-2; \
         D-3 → V-3(open, lock=key lost) → RV-3 → O-3; D-4 → V-4(open, lock=to be locked open) → RV-4 → O-4",
        &[
            "RV-1 open: not_locked_open V-1",
            "RV-2 open: not_locked_open V-2",
            "RV-3 open: not_locked_open V-3",
            "RV-4 open: locked_open V-4",
        ],
        &["warning V-1", "warning V-2", "warning V-3", "info V-4"],
    ),
    row(
        "how a valve is to be installed says that it is there, and when that it may not be",
        "D-1 → V-1(lock=LO, remarks=to be installed with stem horizontal) → RV-1 → O-1; \
         D-2 → V-2(lock=LO, remarks=to be installed in horizontal line at grade) → RV-2 → O-2; \
         D-3 → V-3(lock=LO, remarks=to be installed at next turnaround) → RV-3 → O-3; \
         D-4 → V-4(lock=LO, remarks=to be installed in phase 2) → RV-4 → O-4",
        &[
            "RV-1 open: locked_open V-1",
            "RV-2 open: locked_open V-2",
            "RV-3 unknown: unknown_status V-3",
            "RV-4 unknown: unknown_status V-4",
        ],
        &["info V-1", "info V-2", "warning V-3?", "warning V-4?"],
    ),
    row(
        "a text of a device that may say that it does not act, in words that no rule reads",
        "D-1 → RV-1(remarks=spindle not free) → O-1; D-2 → RV-2(description=relief valve until 2024) → O-2; \
         D-3 → RV-3(description=Sized for fire case, blocked outlet and tube rupture) → O-3; \
         D-4 → RV-4(remarks=Set pressure to vendor data) → O-4",
        &["RV-1 unknown: unread_text", "RV-2 unknown: unread_text", "RV-3 open:", "RV-4 open:"],
        &["warning RV-1?", "warning RV-2?"],
    ),
    row(
        "what is no lock in a field for locks",
        "D-1 → V-1(open, seal=PTFE) → RV-1 → O-1; D-2 → V-2(open, lock=not required) → RV-2 → O-2; \
         D-3 → V-3(open, lock=TBD) → RV-3 → O-3; D-4 → V-4(open, car_seal=broken) → RV-4 → O-4; \
         D-5 → V-5(open, lock=padlock) → RV-5 → O-5; D-6 → V-6(open, seal=lead seal) → RV-6 → O-6",
        &[
            "RV-1 open: not_locked_open V-1",
            "RV-2 open: not_locked_open V-2",
            "RV-3 open: not_locked_open V-3",
            "RV-4 open: not_locked_open V-4",
            "RV-5 open: locked_open V-5",
            "RV-6 open: locked_open V-6",
        ],
        &["warning V-1", "warning V-2", "warning V-3", "warning V-4", "info V-5", "info V-6"],
    ),
    row(
        "remarks that a valve is closed at present, or only at another time",
        "D-1 → V-1(lo, remarks=currently closed) → RV-1 → O-1; D-2 → V-2(lo, remarks=closed since 2024) → RV-2 → O-2; \
         D-3 → V-3(lo, remarks=closed only for maintenance) → RV-3 → O-3",
        &["RV-1 unknown: unknown_position V-1", "RV-2 unknown: unknown_position V-2", "RV-3 open: locked_open V-3"],
        &["warning V-1?", "warning V-2?", "info V-3"],
    ),
    row(
        "items and ends that a text calls closed",
        "D-1 → RV-1 → O-1(remarks=plugged); D-2 → J-2(remarks=spade inserted) → RV-2 → O-2; \
         D-3 → RV-3 → O-3(closed); D-4 → J-4(remarks=closed drain nearby) → RV-4 → O-4",
        &[
            "RV-1 unknown: unknown_status O-1",
            "RV-2 unknown: unknown_status J-2",
            "RV-3 unknown: unknown_status O-3",
            "RV-4 open:",
        ],
        &["warning O-1?", "warning J-2?", "warning O-3?"],
    ),
    row(
        "hand valves whose class names an instrument or the relief valve",
        "D-1 → K-1(node_classification=instrument_root_valve, closed) → RV-1 → O-1; \
         D-2 → K-2(node_classification=relief_isolation_block_valve, closed) → RV-2 → O-2; \
         D-3 → K-3(node_classification=inlet valve of safety valve, closed) → RV-3 → O-3",
        &["RV-1 blocked: closed_valve K-1", "RV-2 blocked: closed_valve K-2", "RV-3 blocked: closed_valve K-3"],
        &["error K-1", "error K-2", "error K-3"],
    ),
    row(
        "a device that returns to the suction of another pump alone",
        "X-1 → P-1.A; P-1.B → J-2 → V-1 → X-2; X-3 → P-2.A; P-2.B → X-4; J-2 → RV-1 → P-2.C",
        &["RV-1 unknown: machine P-2"],
        &["warning P-2?"],
    ),
];

/// Returns a drawing with fields of one of its pipes.
fn with_pipe(plant: &str, pipe: &str, fields: &Value) -> String {
    let mut document: Value = serde_json::from_str(&drawing(plant)).expect("a drawing is JSON");
    let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
    let edge = edges.iter_mut().find(|edge| edge["id"] == pipe).and_then(Value::as_object_mut).expect("the pipe");
    edge.extend(fields.as_object().cloned().expect("an object"));
    document.to_string()
}

#[test]
fn a_pipe_that_is_not_there_or_closed_makes_a_relief_path_unknown_or_blocked() {
    let plant = "D-1 → V-1(lo) → RV-1 → S-1 → O-1";
    let fields = [
        (json!({"status": "removed"}), "unknown", "pipe_not_installed"),
        (json!({"status": "future"}), "unknown", "pipe_not_installed"),
        (json!({"attributes": [{"name": "Status", "value": "demolished"}]}), "unknown", "pipe_not_installed"),
        (json!({"installed": false}), "unknown", "pipe_not_installed"),
        (json!({"status": "to be removed"}), "unknown", "unknown_pipe_status"),
        (json!({"remarks": "future tie-in"}), "unknown", "unknown_pipe_status"),
        (json!({"status": "Blanked"}), "blocked", "closed_pipe"),
        (json!({"normal_position": "closed"}), "blocked", "closed_pipe"),
        (json!({"closed": true}), "blocked", "closed_pipe"),
    ];
    for (pipe, item) in [("e1", "D-1"), ("e2", "V-1"), ("e3", "S-1"), ("e4", "O-1")] {
        for (fields, state, reason) in &fields {
            let query = "reliefList().0 | [.relief_path, .certain, .reasons]";
            let found = answer_of(&with_pipe(plant, pipe, fields), query);
            assert_eq!([&found[0], &found[1]], [&json!(state), &json!(false)], "{pipe} {fields}");
            let reasons = found[2].as_str().unwrap_or_default();
            assert!(reasons.contains(&format!("{reason} {item}")), "{pipe} {fields}: {reasons}");
        }
    }
    for fields in [json!({"status": "existing"}), json!({"status": "in service"}), json!({"closed": false}), json!({})]
    {
        let found = answer_of(&with_pipe(plant, "e3", &fields), "reliefList().0 | [.relief_path, .certain]");
        assert_eq!(found, json!(["open", true]), "{fields}");
    }
}

/// Values of the field `flow` of a pipe, and whether the answer is certain: a direction, a quantity or a medium.
#[test]
fn a_flow_that_is_about_an_unknown_direction_is_none() {
    for (flow, is_certain) in [
        (json!("forward"), true),
        (json!("120 m3/h"), true),
        (json!("steam"), true),
        (json!(12.5), true),
        (json!("?"), false),
        (json!("tbd"), false),
        (json!("<->"), false),
        (json!("<--"), false),
        (json!("both ways"), false),
        (json!("rückwärts"), false),
        (json!(-1), false),
        (json!(false), false),
    ] {
        let document = with_pipe("D-1 → S-1 → RV-1 → O-1", "e2", &json!({ "flow": flow }));
        assert_eq!(answer_of(&document, "reliefList().0.certain"), json!(is_certain), "{flow}");
    }
}

#[test]
fn a_breather_valve_protects_the_tank_that_breathes_into_equipment() {
    let row = |plant: &str| answer(plant, "reliefList() | map([.protects, .discharges_to])");
    let breather = "T-1 → K-1(node_classification=breather_valve)";
    let scrubber = format!("{breather} → K-2(node_classification=equipment.scrubber) → O-1");
    assert_eq!(row(&scrubber), json!([["T-1", "K-2"]]));
    assert_eq!(row(&format!("{breather} → K-2(node_classification=equipment.flare)")), json!([["T-1", "K-2"]]));
}

#[test]
fn what_a_device_protects_behind_something_narrow_or_by_a_nozzle_of_two_owners_is_not_certain() {
    let row = |plant: &str| answer(plant, "reliefList() | map([.protects, .reasons, .certain])");
    let narrow = "D-1 → K-1(node_classification=restriction_orifice) → D-2; D-2 → RV-1 → O-1";
    assert_eq!(row(narrow), json!([["D-2, D-1", "restriction K-1", false]]));
    let shared = r#"{"nodes": [{"id": "A", "class": "vessel"}, {"id": "B", "class": "vessel"}, {"id": "N", "class": "nozzle"},
        {"id": "R", "class": "safety_valve"}, {"id": "O", "class": "open_end"}],
        "edges": [{"from": "A", "to": "N", "type": "physically_has_a"}, {"from": "B", "to": "N", "type": "physically_has_a"},
        {"from": "N", "to": "R"}, {"from": "R", "to": "O"}]}"#;
    assert_eq!(answer_of(shared, "reliefList().0 | [.reasons, .certain]"), json!(["unstated_side N", false]));
}

#[test]
fn a_valve_with_the_id_of_another_one_makes_a_path_unknown() {
    let plant = r#"{"nodes": [{"id": "D", "class": "vessel"}, {"id": "V", "class": "gate_valve", "normal_position": "LO"},
        {"id": "R", "class": "safety_valve"}, {"id": "O", "class": "open_end"},
        {"id": "V", "class": "gate_valve", "normal_position": "closed"}],
        "edges": [{"from": "D", "to": "V"}, {"from": "V", "to": "R"}, {"from": "R", "to": "O"}]}"#;
    assert_eq!(answer_of(plant, "reliefList().0 | [.relief_path, .reasons]"), json!(["unknown", "shared_id V"]));
}

#[test]
fn a_relief_path_goes_around_a_pipe_that_is_not_there() {
    let around = |pipe: &str| {
        let plant = "D-1 → RV-1 → J-1 → S-1 → J-2 → O-1; J-1 → J-2";
        answer_of(&with_pipe(plant, pipe, &json!({"status": "removed"})), "reliefList().0.relief_path")
    };
    assert_eq!(around("e3"), json!("open"));
    assert_eq!(around("e6"), json!("open"));
    assert_eq!(around("e2"), json!("unknown"));
}

#[test]
fn a_device_protects_nothing_for_certain_behind_a_pipe_that_is_not_there() {
    let plant = "D-1 → J-1 → RV-1 → O-1; D-2 → J-1; D-1 → V-1 → X-1; D-2 → V-2 → X-2";
    let protects = |fields: &Value| answer_of(&with_pipe(plant, "e4", fields), "reliefList().0.protects");
    assert_eq!(protects(&json!({})), json!("D-1, D-2"));
    assert_eq!(protects(&json!({"status": "future"})), json!("D-1"));
}

#[test]
fn a_device_protects_nothing_for_certain_behind_an_item_that_may_be_closed() {
    let listed = |item: &str| {
        let plant = format!("D-1 → RV-1 → O-1; D-1 → {item} → D-2; D-2 → V-2 → X-2");
        let protects = answer(&plant, "reliefList().0 | [.protects, .certain, .reasons]");
        let of_second = r#"hazopNodes() | map(.safeguards | filter(.acts == "boundary") | map(.certain)) | last()"#;
        (protects, answer(&plant, of_second))
    };
    let (protects, safeguard) = listed("S-1");
    assert_eq!(protects, json!(["D-1, D-2", true, ""]));
    assert_eq!(safeguard, json!([true]));
    for (item, reason) in [
        ("Q-1(node_classification=piping_component.gadget)", "unknown_class Q-1"),
        ("Q-1(node_classification=piping_component.steam_trap)", "trap Q-1"),
        ("R-1(status=removed)", "not_installed R-1"),
        ("S-1(status=to be removed)", "unknown_status S-1"),
    ] {
        let (protects, safeguard) = listed(item);
        assert_eq!(protects, json!(["D-1, D-2", false, reason]), "{item}");
        assert_eq!(safeguard, json!([false]), "{item}");
    }
}

#[test]
fn a_closed_pipe_at_the_outlet_of_a_knock_out_drum_blocks_the_path() {
    let plant = "D-9(node_classification=equipment.knock_out_drum); D-1 → RV-1 → D-9.N1; D-9.N2 → O-1";
    let path = |fields: Value| answer_of(&with_pipe(plant, "e5", &fields), "reliefList().0 | [.relief_path, .reasons]");
    assert_eq!(path(json!({})), json!(["open", ""]));
    assert_eq!(path(json!({"closed": true})), json!(["blocked", "closed_pipe O-1 behind D-9"]));
    assert_eq!(path(json!({"status": "future"})), json!(["unknown", "pipe_not_installed O-1 behind D-9"]));
}

#[test]
fn an_open_end_that_an_import_has_added_is_no_place_to_discharge_to() {
    let path = |plant: &str| answer(plant, "reliefList().0 | [.relief_path, .reasons]");
    assert_eq!(path("D-1 → RV-1 → O-1(synthetic=true)"), json!(["unknown", "end_not_drawn O-1"]));
    assert_eq!(path("D-1 → RV-1 → J-1 → O-1(synthetic=true); J-1 → O-2"), json!(["open", ""]));
    let behind = "D-1 → RV-1 → D-2 → O-1(synthetic=true)";
    assert_eq!(path(behind), json!(["unknown", "end_not_drawn O-1 behind D-2"]));
}

#[test]
fn items_named_after_a_relief_device_are_none() {
    let devices =
        |class: &str| answer(&format!("D-1 → Q-1(node_classification={class}) → O-1"), "reliefList() | size()");
    for class in [
        "relief_isolation_valve",
        "relief_valve_isolation_valve",
        "relief_valve_inlet_valve",
        "relief_valve_test_valve",
        "relief_bypass_valve",
        "pressure_relief_control_valve",
        "stress_relief_joint",
        "breather_filter",
    ] {
        assert_eq!(devices(&format!("piping_component.{class}")), json!(0), "{class}");
    }
    assert_eq!(devices("equipment.relief_knock_out_pot"), json!(0));
}

#[test]
fn a_device_into_which_all_pipes_lead_has_no_open_path() {
    let path = |plant: &str| answer(plant, "reliefList().0 | [.relief_path, .reasons]");
    assert_eq!(path("D-1 → RV-1 ← O-1"), json!(["unknown", "flow_direction O-1"]));
    assert_eq!(path("D-1 ← RV-1 → O-1"), json!(["unknown", "flow_direction D-1"]));
    assert_eq!(path("D-1 — RV-1 — O-1"), json!(["open", ""]));
}

#[test]
fn the_status_of_a_segment_is_that_of_its_pipes() {
    let document = |status: &str| {
        let segment = json!({"id": "S-9", "node_type": "piping_network_segment", "status": status});
        let mut document: Value = serde_json::from_str(&drawing("D-1 → RV-1 → O-1")).expect("JSON");
        document["pid_graph"]["nodes"].as_array_mut().expect("nodes").push(segment);
        document["pid_graph"]["edges"][1]["segment_id"] = json!("S-9");
        document.to_string()
    };
    assert_eq!(answer_of(&document("demolished"), "reliefList().0.relief_path"), json!("unknown"));
    assert_eq!(answer_of(&document("existing"), "reliefList().0.relief_path"), json!("open"));
}

#[test]
fn the_status_of_a_segment_or_line_is_that_of_its_members() {
    let document = |kind: &str, status: &str, by_edge: bool| {
        let mut document: Value = serde_json::from_str(&drawing("D-1 → RV-1 → O-1; D-1 → V-1 → X-1")).expect("JSON");
        let nodes = document["pid_graph"]["nodes"].as_array_mut().expect("nodes");
        for node in nodes.iter_mut().filter(|_| !by_edge).filter(|node| node["id"] == "RV-1" || node["id"] == "V-1") {
            node["parent_id"] = json!("S-9");
        }
        nodes.push(json!({"id": "S-9", "node_type": kind, "status": status}));
        let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
        for member in ["RV-1", "V-1"].iter().filter(|_| by_edge) {
            edges.push(json!({"id": member, "edge_type": "has_a", "from": "S-9", "to": member}));
        }
        document.to_string()
    };
    let query = r#"[reliefList().0.reasons, isolate("D-1") | .uncertain | map(.reason)]"#;
    for (kind, by_edge) in [("piping_network_segment", true), ("piping_network_segment", false), ("line", true)] {
        let found = answer_of(&document(kind, "demolished", by_edge), query);
        assert_eq!(found, json!(["unknown_device_status", ["unknown_status", "unknown_status"]]), "{kind} {by_edge}");
        assert_eq!(answer_of(&document(kind, "existing", by_edge), query), json!(["", []]), "{kind} {by_edge}");
    }
    let group = answer_of(&document("plant_structure_item", "demolished", true), query);
    assert_eq!(group, json!(["", []]));
}

#[test]
fn a_device_protects_the_vessel_through_its_boot_and_the_boot_through_its_vessel() {
    let protects = |plant: &str| {
        let mut document: Value = serde_json::from_str(&drawing(plant)).expect("JSON");
        let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
        edges.push(json!({"id": "boot", "edge_type": "has_a", "from": "D-1", "to": "D-2"}));
        let query = "reliefList().0 | [.protects, .certain]";
        answer_of(&document.to_string(), query)
    };
    assert_eq!(protects("D-1.N1 → X-1; D-2.N1 → RV-1 → O-1"), json!(["D-2, D-1", true]));
    assert_eq!(protects("D-1.N1 → RV-1 → O-1; D-2.N1 → V-1 → O-2"), json!(["D-1, D-2", true]));
    // The machine in a tank, and the tank around it, are not protected with each other.
    let pump = "D-1.N1 → RV-1 → O-1; D-2.N1 → X-1; D-2(node_classification=equipment.pump)";
    assert_eq!(protects(pump), json!(["D-1", true]));
}

#[test]
fn a_breather_valve_with_a_pipe_to_nowhere_has_no_outlet() {
    let plant = "T-1 → RV-1(node_classification=piping_component.breather_valve)";
    let mut document: Value = serde_json::from_str(&drawing(plant)).expect("JSON");
    let query = "reliefList().0 | [.relief_path, .reasons]";
    assert_eq!(answer_of(&document.to_string(), query), json!(["open", ""]));
    let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
    edges.push(json!({"id": "lost", "edge_type": "physically_connected_to", "from": "RV-1", "to": "GONE"}));
    assert_eq!(answer_of(&document.to_string(), query), json!(["unknown", "no_outlet"]));
}

#[test]
fn a_nozzle_with_the_mark_that_it_is_blinded_makes_a_path_unknown() {
    let of = |mark: &str, value: bool| {
        let mut document: Value = serde_json::from_str(&drawing("D-1.N1 → RV-1 → O-1")).expect("JSON");
        let nodes = document["pid_graph"]["nodes"].as_array_mut().expect("nodes");
        let is_nozzle =
            |node: &&mut Value| node["node_classification"].as_str().is_some_and(|class| class.ends_with("nozzle"));
        let nozzle = nodes.iter_mut().find(is_nozzle).expect("a nozzle");
        nozzle[mark] = json!(value);
        answer_of(&document.to_string(), "reliefList().0.relief_path")
    };
    for mark in ["blinded", "blanked", "is_closed", "isolated"] {
        assert_eq!(of(mark, true), json!("unknown"), "{mark}");
        assert_eq!(of(mark, false), json!("open"), "{mark}");
    }
}

#[test]
fn an_edge_of_unknown_kind_at_a_device_makes_its_path_uncertain() {
    let mut document: Value = serde_json::from_str(&drawing("D-1 → RV-1 → O-1; D-1 → V-1 → X-1")).expect("JSON");
    let query = "reliefList().0 | [.relief_path, .reasons, .certain]";
    assert_eq!(answer_of(&document.to_string(), query), json!(["open", "", true]));
    let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
    edges.push(json!({"id": "hose", "edge_type": "hose_line", "from": "RV-1", "to": "X-1"}));
    assert_eq!(answer_of(&document.to_string(), query), json!(["open", "unknown_connection RV-1", false]));
}

#[test]
fn an_edge_of_unknown_kind_from_a_device_to_an_item_without_a_pipe_makes_its_path_uncertain() {
    let query = "reliefList().0 | [.relief_path, .reasons, .certain]";
    let of = |device: &str, class: Option<&str>| {
        let plant = format!("X-1 → V-1 → T-1 → RV-1(node_classification=piping_component.{device})");
        let mut document: Value = serde_json::from_str(&drawing(&plant)).expect("JSON");
        if let Some(class) = class {
            let nodes = document["pid_graph"]["nodes"].as_array_mut().expect("nodes");
            nodes.push(json!({"id": "Q-1", "tag": "Q-1", "node_classification": class}));
            let edges = document["pid_graph"]["edges"].as_array_mut().expect("edges");
            edges.push(json!({"id": "tubing", "edge_type": "tubing", "from": "RV-1", "to": "Q-1"}));
        }
        answer_of(&document.to_string(), query)
    };
    for device in ["breather_valve", "conservation_vent", "emergency_vent"] {
        assert_eq!(of(device, None), json!(["open", "", true]), "{device}");
        for item in ["piping_component.pipe_spool", "piping_component.flame_arrester", "equipment.vessel"] {
            let expected = json!(["open", "unknown_connection RV-1", false]);
            assert_eq!(of(device, Some(item)), expected, "{device} {item}");
        }
        assert_eq!(of(device, Some("annotation.note")), json!(["open", "", true]), "{device}");
    }
}

#[test]
fn a_device_by_its_tag_alone_is_listed_everywhere_and_nowhere_certain() {
    for class in ["piping_component.gate_valve", "piping_component.quux_valve"] {
        let plant = format!("D-1 → V-1(tag=PSV-101, node_classification={class}) → O-1");
        assert_eq!(answer(&plant, "reliefList() | map([.tag, .certain])"), json!([["PSV-101", false]]));
        assert_eq!(safeguards(&plant), json!([["V-1 relief inside?"]]));
        let sections = answer(&plant, "inventorySections() | map([.certain, .uncertain | map(.reason)])");
        assert!(sections[0][1].as_array().is_some_and(|reasons| reasons.contains(&json!("possible_relief_device"))));
        assert_eq!(answer(&plant, r#"isolate("D-1") | [.certain, .barriers | size()]"#), json!([false, 0]));
    }
    // It is no spare that makes a closed valve at another device acceptable.
    let beside = "D-1 → J-1 → V-1(tag=PSV-1) → O-1; J-1 → V-2(lc) → RV-2 → O-2";
    assert_eq!(lines(beside, r#"validate({rules: "P113"}) | map(.severity)"#), ["error", "warning"]);
}

#[test]
fn relief_paths_are_judged_as_an_engineer_does() {
    let wrong: Vec<String> = ROWS.iter().filter_map(mismatch).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

fn mismatch(row: &Row) -> Option<String> {
    let devices = lines(row.plant, r#"reliefList() | map(.tag + " " + .relief_path + ": " + .reasons)"#);
    let findings = lines(
        row.plant,
        r#"validate({rules: "P113"}) | map(.severity + " " + (.ids | last()) + if(.certain, "", "?"))"#,
    );
    let shown = || format!("{}: {}\n  {devices:?}\n  {findings:?}", row.name, row.plant);
    (devices != row.devices || findings != row.findings).then(shown)
}

#[test]
fn the_outlet_is_followed_over_joined_sheets() {
    let ends = |plant: &str| answer(plant, "reliefList() | map([.protects, .discharges_to])");
    assert_eq!(ends("D-1 → RV-1 → X-1 → X-2 → D-2"), json!([["D-1", "D-2"]]));
    assert_eq!(ends("D-1 → RV-1 → X-1"), json!([["D-1", "X-1"]]));
}

#[test]
fn an_open_path_is_certain_only_if_the_position_of_its_valves_is_stated() {
    let certain = |plant: &str| answer(plant, "reliefList() | map(.certain)");
    for plant in ["D-1 → RV-1 → O-1", "D-1 → V-1(lo) → RV-1 → O-1", "D-1 → RV-1 → V-1(open) → O-1"] {
        assert_eq!(certain(plant), json!([true]), "{plant}");
    }
    let header = "D-1 → RV-1 → J-1 → V-1 → D-9(node_classification=equipment.flare_knock_out_drum)";
    for plant in ["D-1 → V-1 → RV-1 → O-1", "D-1 → RV-1 → SDV-1 → O-1", header] {
        assert_eq!(certain(plant), json!([false]), "{plant}");
    }
    assert_eq!(certain("D-1 → TW-1 → RV-1 → O-1; TW-1 → RV-2 → O-2"), json!([false, false]));
}

#[test]
fn a_hand_valve_with_an_actuator_needs_a_fail_action() {
    let missing = |plant: &str| answer(plant, r#"validate({rules: "P112"}) | map(.ids | first())"#);
    assert_eq!(missing("T-1 → V-1(operator=pneumatic) → T-2"), json!(["V-1"]));
    assert_eq!(missing("T-1 → V-1(operator=pneumatic, fail_action=FC) → T-2"), json!([]));
    assert_eq!(missing("T-1 → V-1(operation=manual) → T-2"), json!([]));
}

/// Returns the texts of a query, without trailing blanks.
fn lines(plant: &str, query: &str) -> Vec<String> {
    let found = answer(plant, query);
    let texts = found.as_array().unwrap_or_else(|| panic!("{query} on {plant} gives {found}"));
    texts.iter().map(|text| text.as_str().unwrap_or_default().trim_end().to_owned()).collect()
}

/// Returns the safeguards of each section: the item, the kind, where it acts, and `?` if it is not certain.
fn safeguards(plant: &str) -> Value {
    let row = r#".item.id + " " + .kind + " " + .acts + if(.certain, "", "?")"#;
    answer(plant, &format!("hazopNodes() | map(.safeguards | map({row}))"))
}

#[test]
fn a_relief_device_whose_path_is_not_secured_is_no_certain_safeguard() {
    let of_first = |plant: &str| safeguards(plant)[0][0].as_str().unwrap_or_default().to_owned();
    assert_eq!(of_first("D-1 → RV-1 → O-1"), "RV-1 relief inside");
    assert_eq!(of_first("D-1 → V-1(lo) → RV-1 → O-1"), "RV-1 relief inside");
    assert_eq!(of_first("D-1 → V-1(closed) → RV-1 → O-1"), "RV-1 relief inside?");
    assert_eq!(of_first("D-1 → V-1(open) → RV-1 → O-1"), "RV-1 relief inside?");
    assert_eq!(of_first("D-1 → RV-1 → D-2; D-2 → V-1 → D-3"), "RV-1 relief inside?");
    assert_eq!(of_first("D-1 → RV-1 → D-2 → RV-2 → O-2"), "RV-1 relief inside");
    assert_eq!(of_first("D-1 → RV-1 → D-2 → RV-2 → X-2"), "RV-1 relief inside?");
    assert_eq!(of_first("D-1 → SB-1(closed) → RD-1 → O-1"), "RD-1 relief inside?");
    assert_eq!(of_first("D-1 → RV-1 → X-1"), "RV-1 relief inside?");
    assert_eq!(of_first("RV-1 → O-1"), "RV-1 relief inside?");
}

#[test]
fn a_relief_device_is_a_safeguard_of_every_section_at_the_equipment_it_protects() {
    let plant = "T-1.N1 → V-1 → D-1.N1; D-1.N2 → V-2 → D-2.N1; D-1.N3 → V-3(lo) → RV-1 → O-1; D-2.N2 → V-4 → D-3.N1";
    let expected = json!([["RV-1 relief boundary"], ["RV-1 relief boundary"], ["RV-1 relief inside"], []]);
    assert_eq!(safeguards(plant), expected);
    let sides =
        "T-1.N1 → V-1 → E-1.A@hot; E-1.B@hot → V-2 → T-2.N1; T-3.N1 → V-3 → E-1.C@cold; E-1.D@cold → RV-1 → O-1";
    let expected = json!([[], [], ["RV-1 relief boundary"], ["RV-1 relief inside"]]);
    assert_eq!(safeguards(sides), expected);
}

#[test]
fn a_device_around_a_pump_separates_its_suction_from_its_discharge() {
    let plant = "D-1.A → V-1 → J-1 → P-1.A; P-1.B → J-2 → CK-1 → V-2 → D-2.A; J-2 → RV-1 → J-1; D-1.B → RV-9 → O-9";
    let expected =
        json!([["RV-9 relief boundary"], ["CK-1 check_valve inside", "RV-1 relief boundary"], ["RV-9 relief inside"]]);
    assert_eq!(safeguards(plant), expected);
    let ends = answer(plant, "hazopNodes() | map([.from | map(.id), .to | map(.id)])");
    assert_eq!(ends, json!([[["D-1.A", "RV-1"], ["P-1.A"]], [["P-1.B"], ["D-2.A", "RV-1"]], [["D-1.B"], ["O-9"]]]));
    // With the pump in the section, both sides are one.
    let merged = answer(plant, "hazopNodes({merge: true}) | map(.safeguards | map([.item.id, .acts]))");
    assert_eq!(merged[0], json!([["CK-1", "inside"], ["RV-1", "inside"], ["RV-9", "boundary"]]));
    // A device to elsewhere does not protect the suction either.
    let external = "D-1.A → V-1 → P-1.A; P-1.B → J-2 → V-2 → D-2.A; J-2 → RV-1 → O-1";
    assert_eq!(safeguards(external), json!([[], ["RV-1 relief boundary"], []]));
    // Without directions, the drawing does not tell the two sides apart.
    let unknown = "D-1.A — V-1 — P-1.A; P-1.B → J-2 → V-2 → D-2.A; J-2 → RV-1 → O-1";
    assert_eq!(safeguards(unknown)[0], json!(["RV-1 relief boundary"]));
    // The pump is isolated with its device inside; the vessel before it keeps its own.
    let isolated = |target: &str| {
        let query = "[.isolated, .barriers | map([.node.id, .cuts_off | map(.id)]), .relief | map(.node.id)]";
        answer(plant, &format!("isolate(\"{target}\") | {query}"))
    };
    assert_eq!(isolated("P-1"), json!(["yes", [["V-1", []], ["V-2", []]], ["RV-1"]]));
    assert_eq!(isolated("D-1"), json!(["no", [["V-1", []]], ["RV-9"]]));
    let low_and_high = "D-1(design_pressure=3); P-1(design_pressure=16); D-1.A → V-1 → J-1 → P-1.A; \
                        P-1.B → J-2 → V-2 → D-2.A; J-2 → RV-1(set_pressure=15) → J-1; D-2(design_pressure=16)";
    let query = r#"pressureInterfaces({unit: "barg"}).interfaces | map([.at.id, .protection | map(.item.id)])"#;
    let interfaces = answer(low_and_high, query);
    let at_suction = interfaces.as_array().into_iter().flatten().filter(|row| row[0] == "D-1.A" || row[0] == "J-1");
    assert!(at_suction.into_iter().all(|row| row[1] == json!([])), "{interfaces}");
}

#[test]
fn items_that_stop_a_flame_a_leak_or_a_reverse_flow_are_safeguards() {
    let kind = |class: &str| safeguards(&format!("T-1 → Q-1(node_classification=piping_component.{class}) → O-1"));
    for (class, kind_of_item) in [
        ("flame_arrester", "flame_arrester"),
        ("detonation_arrestor", "flame_arrester"),
        ("excess_flow_valve", "excess_flow_valve"),
        ("backflow_preventer", "backflow_preventer"),
        ("swing_check_valve", "check_valve"),
    ] {
        assert_eq!(kind(class), json!([[format!("Q-1 {kind_of_item} inside")]]), "{class}");
    }
    assert_eq!(kind("restriction_orifice"), json!([[]]));
}

#[test]
fn an_orifice_in_the_inlet_makes_a_device_uncertain() {
    let certain = |class: &str, side: &str| {
        let item = format!("Q-1(node_classification=piping_component.{class})");
        let path = if side == "inlet" { "D-1 → Q-1 → RV-1 → O-1" } else { "D-1 → RV-1 → Q-1 → O-1" };
        answer(&format!("{item}; {path}"), "reliefList() | map([.relief_path, .certain]) | .0")
    };
    assert_eq!(certain("restriction_orifice", "inlet"), json!(["open", false]));
    assert_eq!(certain("orifice_plate", "inlet"), json!(["open", false]));
    assert_eq!(certain("restriction_orifice", "outlet"), json!(["open", true]));
    assert_eq!(certain("flame_arrester", "inlet"), json!(["open", true]));
}

#[test]
fn a_device_is_secured_only_if_nothing_closes_the_way_out_of_its_receiver() {
    let certain = |valve: &str| {
        let plant = format!("D-1.A → RV-1 → D-2.A; D-2.B → V-2({valve}) → O-1");
        let query =
            r#"hazopNodes() | map(.safeguards) | flatten() | filter(.item.id == "RV-1") | map(.certain) | uniq()"#;
        answer(&plant, query)
    };
    assert_eq!(certain("lo"), json!([true]));
    assert_eq!(certain("normally=open"), json!([false]));
}

#[test]
fn a_device_that_is_closed_at_times_is_isolated() {
    let path = |text: &str| {
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "equipment.vessel"}, {"id": "PSV-1", "class": "safety_valve", "remarks": text},
                {"id": "O-1", "class": "open_end"}
            ],
            "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "O-1"}]
        });
        answer_of(&plant.to_string(), "reliefList() | map([.relief_path, .reasons]) | .0")
    };
    for text in ["locked closed during start-up", "isolated while testing", "isolated"] {
        assert_eq!(path(text), json!(["unknown", "device_isolated"]), "{text}");
    }
    for text in ["tested at 10 bar", "closed", "closed during operation", "closed at set pressure"] {
        assert_eq!(path(text), json!(["open", ""]), "{text}");
    }
}

#[test]
fn a_safety_valve_that_shuts_something_off_is_no_relief_device() {
    let devices =
        |class: &str| answer(&format!("D-1 → Q-1(node_classification={class}) → O-1"), "reliefList() | size()");
    for class in ["burner_safety_valve", "internal_safety_valve", "flame_safety_valve", "excess_flow_safety_valve"] {
        assert_eq!(devices(&format!("piping_component.{class}")), json!(0), "{class}");
    }
    for class in ["safety_valve", "thermal_safety_valve", "prv", "overflow_valve", "unloading_valve"] {
        assert_eq!(devices(&format!("piping_component.{class}")), json!(1), "{class}");
    }
    assert_eq!(devices("piping_component.truck_unloading_valve"), json!(0));
}

#[test]
fn an_isolation_says_whether_the_relief_of_its_volume_is_open_as_drawn() {
    let states = |plant: &str| answer(plant, r#"isolate("D-1") | .relief | map([.node.id, .relief_path])"#);
    assert_eq!(states("T-1 → V-1 → D-1 → RV-1 → O-1"), json!([["RV-1", "open"]]));
    assert_eq!(states("T-1 → V-1 → D-1 → RV-1 → V-2(closed) → O-1"), json!([["RV-1", "blocked"]]));
    assert_eq!(states("T-1 → V-1 → D-1 → RV-1 → X-1"), json!([["RV-1", "unknown"]]));
}

#[test]
fn a_barrier_that_is_locked_open_names_the_only_relief_of_its_other_side() {
    let cuts = |plant: &str, target: &str| {
        let query = format!("isolate(\"{target}\") | .barriers | map([.node.id, .cuts_off | map(.id)])");
        answer(plant, &query)
    };
    // Both vessels depend on the device of the second one.
    let shared = "X-0 → V-1 → D-1; D-1 → V-2(lo) → D-2; D-2 → RV-2 → X-2; D-2 → V-3 → X-3";
    assert_eq!(cuts(shared, "D-1"), json!([["V-1", []], ["V-2", ["RV-2"]]]));
    assert_eq!(cuts(shared, "D-2"), json!([["V-2", ["RV-2"]], ["V-3", []]]));
    let path =
        answer(shared, r#"isolate("D-1") | .relief | map([.node.id, .path | map(.id), .cut_off_by | map(.id)])"#);
    assert_eq!(path, json!([["RV-2", ["D-1", "V-2", "D-2", "RV-2"], ["V-2"]]]));
    // Each has its own.
    let own = "X-0 → V-1 → D-1; D-1 → V-2(lo) → D-2; D-2 → RV-2 → X-2; D-2 → V-3 → X-3; D-1 → RV-1 → X-1";
    assert_eq!(cuts(own, "D-1"), json!([["V-1", []], ["V-2", []]]));
    // The own device is blocked.
    let blocked = "X-0 → V-1 → D-1; D-1 → V-2(lo) → D-2; D-2 → RV-2 → X-2; D-1 → V-3(closed) → RV-1 → X-1";
    assert_eq!(cuts(blocked, "D-1"), json!([["V-1", []], ["V-2", ["RV-2"]], ["V-3", ["RV-1"]]]));
    // A valve that is not locked is closed at any time, and no relief can rest on it.
    let unlocked = "X-0 → V-1 → D-1; D-1 → V-2 → D-2; D-2 → RV-2 → X-2";
    assert_eq!(cuts(unlocked, "D-1"), json!([["V-1", []], ["V-2", []]]));
    // A tank does not protect its pump by a breather valve.
    let pump = "T-1 → RV-1(node_classification=breather_valve) → O-1; T-1 → V-1(lo) → P-1 → V-2 → T-2";
    assert_eq!(cuts(pump, "P-1"), json!([["V-1", []], ["V-2", []]]));
    // Another way, which stays open, is within the same part.
    let bypassed = "X-0 → V-1 → D-1; D-1 → V-2(lo) → D-2; D-1 → S-1 → D-2; D-2 → RV-2 → X-2";
    let of_valve = answer(bypassed, r#"isolate("D-1") | .barriers | map(.cuts_off) | flatten()"#);
    assert_eq!(of_valve, json!([]));
}

/// Equipment that is named after a machine is a part of the space that a device protects; a machine ends it.
#[test]
fn equipment_named_after_a_machine_is_protected_like_any_other() {
    let protects = |class: &str| {
        let plant = format!("E-1(node_classification=equipment.{class}); D-1 → E-1.A; E-1.B → D-2; D-2 → RV-1 → O-1");
        answer(&plant, "reliefList().0.protects")
    };
    for class in
        ["fin_fan_cooler", "compressor_aftercooler", "compressor_suction_drum", "pump_suction_strainer", "static_mixer"]
    {
        assert_eq!(protects(class), json!("D-2, E-1, D-1"), "{class}");
    }
    // What is before a compressor is not at the pressure behind it, where the device is.
    for class in ["reciprocating_compressor", "compressor_train", "steam_ejector", "turbo_expander"] {
        assert_eq!(protects(class), json!("D-2, E-1"), "{class}");
    }
    // The suction drum of a compressor, with a device of its own.
    let suction = |class: &str| {
        let plant = format!(
            "D-1(node_classification=equipment.compressor_suction_drum); E-2(node_classification=equipment.{class}); \
             X-1 → D-1.A; D-1.B → E-2.A; E-2.B → X-2; D-1.C → RV-1 → O-1"
        );
        answer(&plant, "reliefList().0.protects")
    };
    assert_eq!(suction("compressor"), json!("D-1"));
    assert_eq!(suction("turbocompressor"), json!("D-1"));
    assert_eq!(suction("compressor_aftercooler"), json!("D-1, E-2"));
}

#[test]
fn a_device_with_a_shared_inlet_protects_the_vessels_whose_branches_are_open() {
    let query = "reliefList().0 | [.protects, .inlet_valves, .relief_path, .certain]";
    let of = |branches: [&str; 2]| {
        let [first, second] = branches;
        answer(&format!("D-1 → {first} → J-1 → RV-1 → O-1; D-2 → {second} → J-1"), query)
    };
    assert_eq!(of(["V-1(lo)", "V-2(lo)"]), json!(["D-1, D-2", "V-1, V-2", "open", true]));
    assert_eq!(of(["V-1(open)", "V-2(lo)"]), json!(["D-1, D-2", "V-2, V-1", "open", true]));
    assert_eq!(of(["V-1(lo)", "V-2"]), json!(["D-1", "V-1", "open", true]));
    assert_eq!(of(["V-1(lo)", "V-2(lc)"]), json!(["D-1", "V-1", "open", true]));
    assert_eq!(of(["V-1(status=future)", "V-2(lo)"]), json!(["D-2", "V-2", "open", true]));
    assert_eq!(of(["V-1", "V-2"]), json!(["", "", "unknown", false]));
    assert_eq!(of(["CV-1", "CV-2"]), json!(["", "", "unknown", false]));
    assert_eq!(of(["S-1", "CK-2"]), json!(["D-1, D-2", "CK-2", "open", true]));
    let line = answer("D-1 → V-1 → J-1 → RV-1 → O-1; J-1 → V-2 → D-2", query);
    assert_eq!(line, json!(["", "", "open", true]));
}

#[test]
fn a_device_protects_a_pump_from_its_outlet_only() {
    let protects = |plant: &str| {
        let graph = Graph::from_json(drawing(plant)).expect("JSON");
        evaluate(&graph, "reliefList() | map([.tag, .protects])", "{}").expect("a list")
    };
    // At the suction, the pressure that the pump makes is behind a device.
    assert_eq!(protects("D-1 → P-1 → T-1; D-1 → RV-1 → O-1"), json!([["RV-1", "D-1"]]));
    assert_eq!(protects("D-1 → J-1 → P-1.N1; P-1.N2 → T-1; J-1 → RV-1 → O-1"), json!([["RV-1", "D-1"]]));
    // At the outlet, from which the pump is not left.
    assert_eq!(protects("D-1 → P-1.N1; P-1.N2 → J-1 → V-1 → T-1; J-1 → RV-1 → O-1"), json!([["RV-1", "P-1"]]));
    // Without directions, the drawing does not tell the two apart.
    assert_eq!(protects("D-1 — J-1 — P-1.N1; P-1.N2 → T-1; J-1 → RV-1 → O-1"), json!([["RV-1", "D-1, P-1"]]));
}

#[test]
fn an_isolation_names_the_valves_of_the_same_relief_paths_as_the_relief_list() {
    let cuts = |plant: &str| {
        let query = r#"isolate("T-1") | .barriers | map([.node.id, .cuts_off | map(.id)])"#;
        answer(plant, query)
    };
    // An open end before the device is no source that it protects.
    let vented = "D-1 → V-1 → J-1 → RV-1 → O-1; J-1 → O-2; D-1 → V-2 → T-1; J-1 → V-3 → T-1";
    assert_eq!(
        answer(vented, r#"isolate("D-1") | .barriers | map([.node.id, .cuts_off | map(.id)])"#)[0],
        json!(["V-1", ["RV-1"]])
    );
    // What flows into the header is no place that the device discharges to.
    let header = "D-1 → RV-1 → J-1 → V-1 → T-1; D-2 → J-1; T-1 → V-2 → D-3";
    assert_eq!(cuts(header), json!([["V-1", ["RV-1"]], ["V-2", []]]));
}

#[test]
fn an_isolation_names_the_valve_of_the_only_way_that_is_not_closed() {
    let plant = "T-1 → V-9 → D-1 → RV-1 → J-1; J-1 → V-1(open) → D-8; J-1 → V-2(closed) → D-9";
    let cuts = |target: &str| {
        let query = format!("isolate(\"{target}\") | .barriers | map([.node.id, .cuts_off | map(.id)])");
        answer(plant, &query)
    };
    assert_eq!(cuts("D-8"), json!([["V-1", ["RV-1"]]]));
    assert_eq!(cuts("D-1"), json!([["V-9", []], ["V-1", ["RV-1"]], ["V-2", []]]));
}

#[test]
fn the_cost_of_the_relief_list_grows_with_the_number_of_devices_on_a_header() {
    /// Devices on vessels of their own that discharge into a header: a tee for each of them, or one item for all.
    fn plant(count: usize, has_tees: bool) -> String {
        let node = |id: String, class: &str| json!({"id": id, "class": class});
        let pipe = |from: String, to: String| json!({"from": from, "to": to});
        let tee = |at: usize| format!("J-{}", if has_tees { at } else { count });
        let (mut nodes, mut pipes) = (vec![node("O-1".into(), "open_end")], vec![pipe(tee(count), "O-1".into())]);
        nodes.push(node(tee(count), "pipe_tee"));
        for at in 0..count {
            let [vessel, device] = [format!("D-{at}"), format!("RV-{at}")];
            nodes.extend([node(vessel.clone(), "vessel"), node(device.clone(), "safety_valve")]);
            pipes.extend([pipe(vessel, device.clone()), pipe(device, tee(at))]);
            if has_tees {
                nodes.push(node(tee(at), "pipe_tee"));
                pipes.push(pipe(tee(at), tee(at + 1)));
            }
        }
        json!({"nodes": nodes, "edges": pipes}).to_string()
    }
    let fuel = |plant: String| {
        let graph = Graph::from_json(plant).expect("JSON");
        let (query, scratch) = (Query::parse("reliefList() | size()").expect("a query"), Scratch::default());
        query.run(&graph, &scratch, Limits::default()).expect("a result").fuel
    };
    for has_tees in [true, false] {
        let [few, many] = [50, 400].map(|count| fuel(plant(count, has_tees)));
        assert!(many < 10 * few, "{few} for 50, {many} for 400");
    }
}

#[test]
fn fail_positions_and_positions_in_german_and_french_are_read() {
    let path = |valve: &str| {
        let plant = serde_json::json!({
            "nodes": [
                {"id": "D", "class": "equipment.vessel"},
                serde_json::from_str::<Value>(valve).expect("JSON"),
                {"id": "R", "class": "safety_valve"},
                {"id": "O", "class": "open_end"}
            ],
            "edges": [{"from": "D", "to": "V"}, {"from": "V", "to": "R"}, {"from": "R", "to": "O"}]
        });
        let graph = Graph::from_json(plant.to_string()).expect("a drawing is JSON");
        evaluate(&graph, "reliefList() | map(.relief_path) | .0", "{}").expect("the query runs")
    };
    for (action, expected) in [
        ("Federöffnend", "open"),
        ("federschließend", "unknown"),
        ("Feder schließt", "unknown"),
        ("Feder öffnet", "open"),
        ("stromlos offen", "open"),
        ("fermé par manque d'air", "unknown"),
        ("ouvert par manque d'air", "open"),
        ("ouvre sur défaut", "open"),
        ("bleibt stehen", "open"),
        ("maintien en position", "open"),
        ("Luft öffnet", "unknown"),
        ("Luft schließt", "unknown"),
        ("FSZ", "unknown"),
    ] {
        let valve =
            format!(r#"{{"id": "V", "class": "on_off_valve", "normal_position": "open", "fail_action": "{action}"}}"#);
        assert_eq!(path(&valve), expected, "{action}");
    }
    for (position, expected) in [
        ("verriegelt offen", "open"),
        ("verrouillée ouverte", "open"),
        ("offen", "open"),
        ("normalement ouvert", "open"),
        ("geschlossen", "blocked"),
        ("normalement fermé", "blocked"),
        ("cadenassé fermé", "blocked"),
        ("halb offen", "unknown"),
    ] {
        let valve = format!(r#"{{"id": "V", "class": "gate_valve", "normal_position": "{position}"}}"#);
        assert_eq!(path(&valve), expected, "{position}");
    }
}

#[test]
fn an_isolation_says_whether_the_branch_of_its_own_vessel_to_a_shared_device_is_open() {
    let state = |valve: &str, target: &str| {
        let plant = format!("D-1 → V-1(lo) → J-1; D-2 → V-2({valve}) → J-1; J-1 → RV-1 → O-1");
        answer(&plant, &format!(r#"isolate("{target}").relief | map([.node.id, .relief_path])"#))
    };
    for (valve, expected) in [("lo", "open"), ("", "unknown"), ("closed", "unknown"), ("throttled", "unknown")] {
        assert_eq!(state(valve, "D-2"), json!([["RV-1", expected]]), "{valve}");
        assert_eq!(state(valve, "D-1"), json!([["RV-1", "open"]]), "{valve}");
    }
}

/// Returns the path, its reasons, and the valves in the inlet of the only device of a vessel with a sensing line.
fn pilot_operated(nodes: &Value, edges: &Value) -> Value {
    let mut plant = json!({
        "nodes": [
            {"id": "D-1", "class": "equipment.vessel"},
            {"id": "PSV-1", "class": "pilot_operated_safety_valve"},
            {"id": "O-1", "class": "open_end"}
        ],
        "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "O-1"}]
    });
    for (list, more) in [("nodes", nodes), ("edges", edges)] {
        let more = more.as_array().expect("a list").iter().cloned();
        plant[list].as_array_mut().expect("a list").extend(more);
    }
    answer_of(&plant.to_string(), "reliefList() | map([.relief_path, .reasons, .inlet_valves]) | .0")
}

#[test]
fn a_pilot_that_does_not_sense_the_pressure_blocks_the_path() {
    let pilot = |parent: Value| json!({"id": "P-1", "class": "pilot_valve", "parent_id": parent});
    let valve = |position: &str| json!({"id": "HV-9", "class": "needle_valve", "normal_position": position});
    let line = [json!({"from": "D-1", "to": "HV-9"}), json!({"from": "HV-9", "to": "P-1"})];
    let has = json!({"from": "PSV-1", "to": "P-1", "type": "physically_has_a"});
    let member = json!({"from": "P-1", "to": "PSV-1", "type": "part_of"});
    let signal = json!({"from": "P-1", "to": "PSV-1", "type": "signal"});
    for (position, expected) in [
        ("closed", json!(["blocked", "closed_valve HV-9", "HV-9"])),
        ("open", json!(["open", "not_locked_open HV-9", "HV-9"])),
        ("locked open", json!(["open", "locked_open HV-9", "HV-9"])),
        ("", json!(["unknown", "not_locked_open HV-9", "HV-9"])),
    ] {
        let [first, second] = line.clone();
        for tie in [&has, &member, &signal] {
            let nodes = json!([pilot(Value::Null), valve(position)]);
            let found = pilot_operated(&nodes, &json!([first, second, tie]));
            assert_eq!(found, expected, "{position} {tie}");
        }
        let found = pilot_operated(&json!([pilot(json!("PSV-1")), valve(position)]), &json!([first, second]));
        assert_eq!(found, expected, "{position} by a field");
        // The pilot is not drawn, only the signal from the root valve.
        let signal = json!({"from": "HV-9", "to": "PSV-1", "type": "signal"});
        assert_eq!(pilot_operated(&json!([valve(position)]), &json!([first, signal])), expected, "{position} signal");
    }
    // A pilot without pipes senses the pressure in the device, and the pipe out of a pilot is its exhaust.
    let open = json!(["open", "", ""]);
    assert_eq!(pilot_operated(&json!([pilot(Value::Null)]), &json!([has])), open);
    let exhaust = json!([
        {"from": "D-1", "to": "P-1"}, {"from": "P-1", "to": "V-8"}, {"from": "V-8", "to": "O-8"}, has
    ]);
    let nodes = json!([pilot(Value::Null), {"id": "V-8", "class": "gate_valve", "normal_position": "closed"}, {"id": "O-8", "class": "open_end"}]);
    assert_eq!(pilot_operated(&nodes, &exhaust), open);
    let lost = pilot_operated(&json!([pilot(Value::Null), valve("open")]), &json!([line[1], has]));
    assert_eq!(lost[0], json!("unknown"), "{lost}");
}

#[test]
fn a_pipe_ends_in_the_open_air_at_what_is_drawn_for_it() {
    let path = |class: &str| {
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "equipment.vessel"},
                {"id": "PSV-1", "class": "safety_valve"},
                {"id": "X-1", "class": class}
            ],
            "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "X-1"}]
        });
        answer_of(&plant.to_string(), "reliefList() | map([.relief_path, .reasons, .certain]) | .0")
    };
    for class in ["vent_cowl", "floor_drain", "hub_drain", "gully", "burn_pit", "overboard", "outlet_to_atmosphere"] {
        assert_eq!(path(class), json!(["open", "open_end X-1", true]), "{class}");
    }
    for class in ["vent_pipe", "exhaust_pipe", "oily_water_sewer"] {
        assert_eq!(path(class), json!(["open", "likely_open_end X-1", false]), "{class}");
    }
    assert_eq!(path("pipe"), json!(["unknown", "no_outlet", false]));
}

#[test]
fn a_status_of_a_device_under_another_name_makes_its_path_unknown() {
    let path = |fields: &Value| {
        let mut device = json!({"id": "PSV-1", "class": "safety_valve"});
        device.as_object_mut().expect("an item").extend(fields.as_object().expect("fields").clone());
        let plant = json!({
            "nodes": [{"id": "D-1", "class": "equipment.vessel"}, device, {"id": "O-1", "class": "open_end"}],
            "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "O-1"}]
        });
        answer_of(&plant.to_string(), "reliefList() | map(.relief_path) | .0")
    };
    for fields in [
        json!({"psv_status": "removed"}),
        json!({"condition": "future"}),
        json!({"attributes": {"Einbau": "ausgebaut"}}),
    ] {
        assert_eq!(path(&fields), json!("unknown"), "{fields}");
    }
    for fields in
        [json!({"sizing_case": "blocked outlet"}), json!({"condition": "good"}), json!({"action": "closes on reset"})]
    {
        assert_eq!(path(&fields), json!("open"), "{fields}");
    }
}

#[test]
fn a_locked_valve_that_another_text_calls_closed_has_an_unknown_position() {
    let path = |fields: &Value| {
        let mut valve = json!({"id": "HV-1", "class": "gate_valve", "normal_position": "open", "lock": "locked_open"});
        valve.as_object_mut().expect("an item").extend(fields.as_object().expect("fields").clone());
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "equipment.vessel"},
                valve,
                {"id": "PSV-1", "class": "safety_valve"},
                {"id": "O-1", "class": "open_end"}
            ],
            "edges": [{"from": "D-1", "to": "HV-1"}, {"from": "HV-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "O-1"}]
        });
        answer_of(&plant.to_string(), "reliefList() | map(.relief_path) | .0")
    };
    assert_eq!(path(&json!({})), json!("open"));
    for fields in [
        json!({"remarks": "fermée cadenassée"}),
        json!({"remarks": "geschlossen verplombt"}),
        json!({"position": "0%"}),
        json!({"Stellung": "geschlossen"}),
        json!({"position_normale": "fermée"}),
        json!({"open": false}),
        json!({"remarks": "closed in winter"}),
        json!({"remarks": "close after start-up"}),
        json!({"remarks": "closed when unit 2 runs"}),
        json!({"remarks": "close if the pump is stopped"}),
        json!({"remarks": "may be closed"}),
        json!({"remarks": "im Winter geschlossen"}),
        json!({"remarks": "fermée en hiver"}),
        json!({"remarks": "throttled to 1/4"}),
        json!({"remarks": "open 5 %"}),
        json!({"remarks": "25 % open"}),
        json!({"remarks": "minimum opening 10 %"}),
        json!({"remarks": "never fully open"}),
        json!({"description": "gate valve, crack open"}),
        json!({"remarks": "gedrosselt"}),
        json!({"remarks": "stem broken"}),
        json!({"remarks": "do not open"}),
        json!({"remarks": "nicht öffnen"}),
    ] {
        assert_eq!(path(&fields), json!("unknown"), "{fields}");
    }
    for fields in [
        json!({"remarks": "ouverte cadenassée"}),
        json!({"open": true}),
        json!({"Stellung": "offen"}),
        json!({"remarks": "not to be closed in operation"}),
        json!({"remarks": "do not close"}),
        json!({"remarks": "nicht schließen"}),
        json!({"remarks": "close only with permit"}),
        json!({"remarks": "to closed drain"}),
        json!({"remarks": "install close to nozzle"}),
        json!({"remarks": "bypass HV-2 closed"}),
        json!({"remarks": "open 100 %"}),
        json!({"remarks": "fully open"}),
        json!({"remarks": "do not throttle"}),
    ] {
        assert_eq!(path(&fields), json!("open"), "{fields}");
    }
}

#[test]
fn a_pressure_reducer_is_a_regulator_and_no_fitting() {
    for class in ["pressure_reducer", "PressureReducer", "gas_pressure_reducer"] {
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "equipment.vessel"},
                {"id": "PSV-1", "class": "safety_valve"},
                {"id": "X-1", "class": class},
                {"id": "O-1", "class": "open_end"}
            ],
            "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "X-1"}, {"from": "X-1", "to": "O-1"}]
        });
        let found = answer_of(&plant.to_string(), "reliefList() | map(.reasons) | .0");
        assert_eq!(found, json!("actuated_valve X-1"), "{class}");
    }
}

#[test]
fn notes_and_texts_that_say_that_a_device_does_not_act_make_its_path_unknown() {
    let path_with = |device: &Value, tied_to: &str, field: &str, note: &str| {
        let mut psv = json!({"id": "PSV-1", "class": "safety_valve"});
        psv.as_object_mut().expect("an item").extend(device.as_object().expect("fields").clone());
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "equipment.vessel"},
                {"id": "HV-1", "class": "gate_valve", "normal_position": "open", "lock": "locked_open"},
                psv,
                {"id": "O-1", "class": "open_end"},
                {"id": "NT-1", "class": "annotation.note", field: note}
            ],
            "edges": [
                {"from": "D-1", "to": "HV-1"}, {"from": "HV-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "O-1"},
                {"from": "NT-1", "to": tied_to, "type": "has_note"}
            ]
        });
        answer_of(&plant.to_string(), "reliefList() | map(.relief_path) | .0")
    };
    let path = |device: &Value, tied_to: &str, note: &str| path_with(device, tied_to, "description", note);
    for field in ["label", "text", "note_text", "NoteText", "NoteTextAssignmentClass", "content"] {
        assert_eq!(path_with(&json!({}), "PSV-1", field, "NOT INSTALLED"), json!("unknown"), "{field}");
        assert_eq!(path_with(&json!({}), "HV-1", field, "removed"), json!("unknown"), "{field}");
        assert_eq!(path_with(&json!({}), "PSV-1", field, "line to be sloped"), json!("open"), "{field}");
    }
    for note in ["removed", "not in service", "bypassed", "future"] {
        assert_eq!(path(&json!({}), "PSV-1", note), json!("unknown"), "{note}");
        assert_eq!(path(&json!({}), "HV-1", note), json!("unknown"), "{note}");
    }
    for note in ["line to be sloped", "", "DN 50"] {
        assert_eq!(path(&json!({}), "PSV-1", note), json!("open"), "{note}");
    }
    for text in [
        "welded shut",
        "with test gag",
        "bloquée",
        "klemmt",
        "plug in outlet",
        "ice plug",
        "locked by travel pin",
        "seat leaking, set too high",
        "warehouse spare",
        "in Werkstatt",
    ] {
        assert_eq!(path(&json!({"remarks": text}), "", ""), json!("unknown"), "{text}");
    }
    for fields in [
        json!({"tag": "PSV-1 (SPARE)"}),
        json!({"type": "spare"}),
        json!({"quantity": 0}),
        json!({"qty": "0"}),
        json!({"outlet": "blinded"}),
        json!({"discharge": "plugged"}),
    ] {
        assert_ne!(path(&fields, "", ""), json!("open"), "{fields}");
    }
    for fields in [
        json!({"remarks": "gag removed"}),
        json!({"remarks": "body drain with plug"}),
        json!({"description": "buckling pin relief valve"}),
        json!({"quantity": 1}),
        json!({"outlet": "3 in"}),
        json!({"tag": "PSV-1 A/B"}),
    ] {
        assert_eq!(path(&fields, "", ""), json!("open"), "{fields}");
    }
}

#[test]
fn a_device_behind_a_pressure_reducing_valve_between_two_sheets_protects_the_line() {
    let path = |plant: &str| answer(plant, "reliefList() | map([.relief_path, .reasons]) | .0");
    assert_eq!(path("X-1 → CV-1 → J-1 → X-2; J-1 → RV-1 → O-1"), json!(["open", ""]));
    assert_eq!(path("X-1 → CV-1 → J-1 → V-2 → X-2; J-1 → RV-1 → O-1"), json!(["open", ""]));
    assert_eq!(path("X-1 → CV-1 → S-1 → J-1 → X-2; J-1 → V-3(closed) → RV-1 → O-1").get(0), Some(&json!("blocked")));
    // A bypass of the reducing valve.
    assert_eq!(path("X-1 → J-3 → CV-1 → J-2 → J-1 → X-2; J-3 → V-1 → J-2; J-1 → RV-1 → O-1"), json!(["open", ""]));
    // A check valve lets the flow go on, whatever is closed at the time.
    let of_line = |plant: &str| answer(plant, "reliefList() | map([.protects, .relief_path, .certain]) | .0");
    for valve in ["V-1", "V-1(open)", "V-1(closed)"] {
        let plant = format!("D-1 → {valve} → CV-1 → J-1 → CK-1 → D-2; J-1 → RV-1 → O-1");
        assert_eq!(of_line(&plant), json!(["", "open", true]), "{plant}");
    }
    assert_eq!(of_line("D-1 → V-1(closed) → J-1 → CK-1 → D-2; J-1 → RV-1 → O-1").get(1), Some(&json!("blocked")));
    assert_eq!(
        of_line("D-1 → CV-1 → J-1 → V-3(closed) → RV-1 → O-1; J-1 → CK-1 → D-2").get(1),
        Some(&json!("blocked"))
    );
    // Nothing reduces the pressure of what comes from the other sheet, or the line does not go on.
    assert_eq!(path("X-1 → V-1 → J-1 → X-2; J-1 → RV-1 → O-1").get(0), Some(&json!("unknown")));
    assert_eq!(path("X-1 → CV-1 → RV-1 → O-1").get(0), Some(&json!("unknown")));
    let switched = "X-1 → Q-1(node_classification=piping_component.shutdown_valve) → J-1 → X-2; J-1 → RV-1 → O-1";
    assert_eq!(path(switched).get(0), Some(&json!("unknown")));
}

#[test]
fn a_thermal_relief_device_protects_the_line_that_flows_on_past_it() {
    let path = |plant: &str| answer(plant, "reliefList() | map([.relief_path, .certain]) | .0");
    let thermal = "RV-1(node_classification=piping_component.thermal_relief_valve)";
    for device in
        [thermal, "RV-1(description=thermal relief)", "TSV-1(node_classification=piping_component.safety_valve)"]
    {
        for line in [
            "X-1 → V-1(open) → J-1 → X-2",
            "X-1 → V-1(open) → J-1 → V-2(open) → SDV-1 → T-2",
            "X-1 → V-1 → J-1 → V-2 → X-2",
            "X-1 → V-1(closed) → J-1 → V-2(closed) → X-2",
            "X-1 → SDV-1 → J-1 → SDV-2 → X-2",
        ] {
            let plant = format!("{line}; J-1 → {device} → O-1");
            assert_eq!(path(&plant), json!(["open", true]), "{plant}");
        }
        // What closes the device off from the line.
        for valve in ["V-3(closed)", "V-3", "SDV-3"] {
            let plant = format!("X-1 → V-1 → J-1 → V-2 → X-2; J-1 → {valve} → {device} → O-1");
            assert_ne!(path(&plant)[0], json!("open"), "{plant}");
        }
        // No line flows on, or it is on the other sheet.
        assert_eq!(path(&format!("X-1 → {device} → O-1"))[0], json!("unknown"), "{device}");
        assert_eq!(path(&format!("X-1 → V-1 → J-1 → X-2; J-1 → {device} → X-3"))[0], json!("unknown"), "{device}");
    }
    // Any other device may be for what is on the other sheet.
    assert_eq!(path("X-1 → V-1(open) → J-1 → X-2; J-1 → RV-1 → O-1")[0], json!("unknown"));
}

#[test]
fn a_hose_that_is_there_at_times_makes_the_path_unknown() {
    let path = |remark: &str| {
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "equipment.vessel"}, {"id": "PSV-1", "class": "safety_valve"},
                {"id": "X-1", "class": "hose", "remarks": remark}, {"id": "O-1", "class": "open_end"}
            ],
            "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "X-1"}, {"from": "X-1", "to": "O-1"}]
        });
        answer_of(&plant.to_string(), "reliefList() | map(.relief_path) | .0")
    };
    for remark in [
        "connect when required",
        "not permanently installed",
        "temporary",
        "portable",
        "disconnect after use",
        "to be connected for unloading only",
        "zum Anschluss bei Bedarf",
        "raccordement temporaire",
    ] {
        assert_eq!(path(remark), json!("unknown"), "{remark}");
    }
    for remark in ["", "flexible hose DN 50", "stainless steel, permanently connected"] {
        assert_eq!(path(remark), json!("open"), "{remark}");
    }
}

#[test]
fn an_end_of_a_relief_line_that_a_text_closes_or_that_is_not_there_makes_the_path_unknown() {
    let path = |class: &str, fields: &Value| {
        let mut end = json!({"id": "X-1", "class": class});
        end.as_object_mut().expect("an item").extend(fields.as_object().expect("fields").clone());
        let plant = json!({
            "nodes": [{"id": "D-1", "class": "equipment.vessel"}, {"id": "PSV-1", "class": "safety_valve"}, end],
            "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "X-1"}]
        });
        answer_of(&plant.to_string(), "reliefList() | map(.relief_path) | .0")
    };
    for (class, fields) in [
        ("open_end", json!({"remarks": "cap fitted"})),
        ("open_end", json!({"description": "drain, normally plugged"})),
        ("open_end", json!({"remarks": "blinded"})),
        ("flare_stack", json!({"remarks": "isolated"})),
        ("flare_stack", json!({"remarks": "abgebaut"})),
    ] {
        assert_ne!(path(class, &fields), json!("open"), "{class} {fields}");
    }
    for (class, fields) in [
        ("open_end", json!({"remarks": "with rain cap"})),
        ("open_end", json!({"description": "to atmosphere at safe location"})),
        ("flare_stack", json!({"remarks": "isolated from unit 2 by HV-7"})),
    ] {
        assert_eq!(path(class, &fields), json!("open"), "{class} {fields}");
    }
}

#[test]
fn the_enumeration_of_a_pressure_unit_states_its_zero() {
    for (unit_uri, expected) in [
        (json!("Core/PhysicalQuantities.PressureGaugeUnit.Bar"), "Bar(g)"),
        (json!("Core/PhysicalQuantities.PressureAbsoluteUnit.Bar"), "Bar(a)"),
        (json!("Core/PhysicalQuantities.PressureUnit.Bar"), "Bar"),
        (json!(null), "Bar"),
    ] {
        let set_pressure = json!({"name": "SetPressure", "value": 16, "unit": "Bar", "unit_uri": unit_uri});
        let plant = json!({
            "nodes": [
                {"id": "D-1", "class": "equipment.vessel"},
                {"id": "PSV-1", "class": "safety_valve", "attributes": [set_pressure]},
                {"id": "O-1", "class": "open_end"}
            ],
            "edges": [{"from": "D-1", "to": "PSV-1"}, {"from": "PSV-1", "to": "O-1"}]
        });
        let found = answer_of(&plant.to_string(), "reliefList() | map([.set_pressure, .unit]) | .0");
        assert_eq!(found, json!([16, expected]), "{unit_uri}");
    }
}
