//! Small drawings of loops and trips, each with the answer that an engineer expects.
//!
//! A drawing is a list of chains: `T-1:tank → FV-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FV-1`. `→` is a pipe, `⇢` a signal,
//! `~` a signal without a direction, `⊃` has a member, `⊳` refers to an item, `@` is located at one. An item is a tag with a class after its
//! first mention, `instrument` if there is none; `_a` is the id of an item without a tag. `(sil=2)` is a field.
//!
//! An answer has one line for each loop: name and kind, sensors, functions, final elements, whether it is closed or
//! why that is unknown, and the items that other loops have.

use pidq::{Graph, Limits, Query};
use serde_json::{Map, Value, json};

/// A drawing and its loops.
struct Case {
    name: &'static str,
    plant: &'static str,
    loops: &'static [&'static str],
}

const fn case(name: &'static str, plant: &'static str, loops: &'static [&'static str]) -> Case {
    Case { name, plant, loops }
}

const CASES: &[Case] = &[
    case(
        "a single loop",
        "T-1:tank → FV-1:control_valve → T-2:tank; FT-1 ⇢ FIC-1 ⇢ FV-1",
        &["F-1 control: FT-1 | FIC-1 | FV-1 | closed"],
    ),
    case(
        "switches that report the position of a valve",
        "T-1:tank → XV-5:control_valve; XV-5 ⇢ ZSO-5; XV-5 ⇢ ZSC-5",
        &["Z-5 indication: ZSO-5,ZSC-5 |  |  | open"],
    ),
    case(
        "split range: one controller, two valves",
        "T-1:tank → PV-1A:control_valve; T-1 → PV-1B:control_valve; PT-1 ⇢ PIC-1 ⇢ PV-1A; PIC-1 ⇢ PV-1B",
        &["P-1 control: PT-1 | PIC-1 | PV-1A,PV-1B | closed"],
    ),
    case(
        "split range through two converters, drawn as one loop",
        "T-1:tank → _v:control_valve; T-1 → _w:control_valve; P-1:loop ⊃ PT-1; P-1 ⊃ PIC-1; PT-1 ⇢ PIC-1 ⇢ _a ⇢ _v; PIC-1 ⇢ _b ⇢ _w",
        &["P-1 control: PT-1 | PIC-1 | _v,_w | closed"],
    ),
    case(
        "a drawn trip whose solenoid valve is no member",
        "T-1:tank → XV-8:shutdown_valve(fail_action=closed) → T-2:tank; P-8:loop ⊃ PT-8; P-8 ⊃ PZHH-8; P-8 ⊃ XV-8; \
         PT-8 ⇢ PZHH-8:interlock ⇢ XY-8:solenoid_valve ⇢ XV-8",
        &["P-8 safety: PT-8 | PZHH-8 | XV-8 | closed"],
    ),
    case(
        "cascade: the primary controller acts through the secondary one, whose sensor is its own",
        "T-1:tank → FV-2:control_valve → T-2:tank; LT-1 ⇢ LIC-1 ⇢ FIC-2 ⇢ FV-2; FT-2 ⇢ FIC-2",
        &[
            "L-1 control: LT-1 | LIC-1 | FV-2 | closed | FV-2 of F-2, FIC-2 of F-2",
            "F-2 control: FT-2 | FIC-2 | FV-2 | closed",
        ],
    ),
    case(
        "ratio: the wild flow is a sensor of the ratio loop, whose valve does not close the wild flow's loop",
        "T-1:tank → FV-2:control_valve; FT-1 ⇢ FI-1; FT-1 ⇢ FFIC-2; FT-2 ⇢ FFIC-2 ⇢ FV-2",
        &["F-1 indication: FT-1 | FI-1 |  | open", "F-2 control: FT-1,FT-2 | FFIC-2 | FV-2 | closed | FT-1 of F-1"],
    ),
    case(
        "override: two controllers, a selector, one valve",
        "T-1:tank → FV-2:control_valve; PT-1 ⇢ PIC-1 ⇢ FY-2; FT-2 ⇢ FIC-2 ⇢ FY-2 ⇢ FV-2",
        &[
            "P-1 control: PT-1 | PIC-1 | FV-2 | closed | FV-2 of F-2, FY-2 of F-2",
            "F-2 control: FT-2 | FY-2,FIC-2 | FV-2 | closed",
        ],
    ),
    case(
        "the higher of two transmitters",
        "T-1:tank → TV-1:control_valve; TT-1A ⇢ TY-1; TT-1B ⇢ TY-1; TY-1 ⇢ TIC-1 ⇢ TV-1",
        &["T-1 control: TT-1A,TT-1B | TY-1,TIC-1 | TV-1 | closed"],
    ),
    case(
        "a transmitter shared by two controllers",
        "T-1:tank → PV-1:control_valve; T-1 → PV-2:control_valve; PT-1 ⇢ PIC-1 ⇢ PV-1; PT-1 ⇢ PIC-2 ⇢ PV-2",
        &["P-1 control: PT-1 | PIC-1 | PV-1 | closed", "P-2 control: PT-1 | PIC-2 | PV-2 | closed | PT-1 of P-1"],
    ),
    case(
        "an indicator is not closed by the valve of another controller on its transmitter",
        "T-1:tank → PV-2:control_valve; PT-1 ⇢ PI-1; PT-1 ⇢ PIC-2 ⇢ PV-2",
        &["P-1 indication: PT-1 | PI-1 |  | open", "P-2 control: PT-1 | PIC-2 | PV-2 | closed | PT-1 of P-1"],
    ),
    case(
        "a shared transmitter in drawn loops",
        "T-1:tank → PV-2:control_valve; P-1:loop ⊃ PT-1; P-1 ⊃ PI-1; P-2:loop ⊃ PIC-2; P-2 ⊃ PV-2; PT-1 ⇢ PI-1; PT-1 ⇢ PIC-2 ⇢ PV-2",
        &["P-1 indication: PT-1 | PI-1 |  | open", "P-2 control: PT-1 | PIC-2 | PV-2 | closed | PT-1 of P-1"],
    ),
    case(
        "a shared transmitter, signals without a direction",
        "T-1:tank → PV-2:control_valve; PT-1 ~ PI-1; PT-1 ~ PIC-2; PIC-2 ~ PV-2",
        &["P-1 indication: PT-1 | PI-1 |  | open", "P-2 control: PT-1 | PIC-2 | PV-2 | closed | PT-1 of P-1"],
    ),
    case(
        "an indicator at a controller shows the controller's sensor",
        "T-1:tank → PV-1:control_valve; PT-1 ⇢ PIC-1 ⇢ PV-1; PIC-1 ⇢ PI-2",
        &[
            "P-1 control: PT-1 | PIC-1 | PV-1 | closed",
            "P-2 indication: PT-1 | PI-2 |  | open | PT-1 of P-1, PIC-1 of P-1",
        ],
    ),
    case(
        "three voting transmitters of one number",
        "T-1:tank → PZV-1:control_valve; PZT-1A ⇢ PZY-1; PZT-1B ⇢ PZY-1; PZT-1C ⇢ PZY-1; PZY-1 ⇢ PZV-1",
        &["PZ-1 safety: PZT-1A,PZT-1B,PZT-1C | PZY-1 | PZV-1 | closed"],
    ),
    case(
        "three voting transmitters and their logic of another number are one safety function",
        "T-1:tank → XZV-9:control_valve; PZT-1A ⇢ UZ-9; PZT-1B ⇢ UZ-9; PZT-1C ⇢ UZ-9; UZ-9 ⇢ XZV-9",
        &["PZ-1 safety: PZT-1A,PZT-1B,PZT-1C | UZ-9 | XZV-9 | closed"],
    ),
    case(
        "a trip with its own transmitter beside the control loop of the same number",
        "T-1:tank → LV-1:control_valve → XZV-1:control_valve; LT-1 ⇢ LIC-1 ⇢ LV-1; LZT-1 ⇢ LZSHH-1 ⇢ XZV-1",
        &["L-1 control: LT-1 | LIC-1 | LV-1 | closed", "LZ-1 safety: LZT-1 | LZSHH-1 | XZV-1 | closed"],
    ),
    case(
        "a trip on the transmitter of the control loop shares it",
        "T-1:tank → PV-1:control_valve → XV-1:control_valve; PT-1 ⇢ PIC-1 ⇢ PV-1; PT-1 ⇢ PSHH-1 ⇢ XV-1",
        &["P-1 control: PT-1 | PIC-1 | PV-1 | closed", "P-1 trip: PT-1 | PSHH-1 | XV-1 | closed | PT-1 of P-1"],
    ),
    case(
        "a trip on the transmitter of a drawn loop is not lost",
        "T-1:tank → PV-1:control_valve → XV-1:control_valve; P-1:loop ⊃ PT-1; P-1 ⊃ PIC-1; P-1 ⊃ PV-1; PT-1 ⇢ PIC-1 ⇢ PV-1; PT-1 ⇢ PSHH-7 ⇢ XV-1",
        &["P-1 control: PT-1 | PIC-1 | PV-1 | closed", "P-7 trip: PT-1 | PSHH-7 | XV-1 | closed | PT-1 of P-1"],
    ),
    case(
        "a trip shares the solenoid on the control valve",
        "T-1:tank → FV-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FY-1 ⇢ FV-1; PSLL-5 ⇢ I-5 ⇢ FY-1",
        &[
            "F-1 control: FT-1 | FIC-1,FY-1 | FV-1 | closed",
            "P-5 trip: PSLL-5 | I-5 | FV-1 | closed | FV-1 of F-1, FY-1 of F-1",
        ],
    ),
    case(
        "a trip that reads a controller has the controller's sensor, and the controller does not act on its valve",
        "T-1:tank → PV-1:control_valve → XV-9:control_valve; PT-1 ⇢ PIC-1 ⇢ PV-1; PIC-1 ⇢ I-9 ⇢ XV-9",
        &[
            "P-1 control: PT-1 | PIC-1 | PV-1 | closed",
            "I-9 trip: PT-1 | I-9 | XV-9 | closed | PT-1 of P-1, PIC-1 of P-1",
        ],
    ),
    case(
        "an emergency shutdown valve belongs to the shutdown of its number",
        "T-1:tank → ESDV-1:control_valve; PSHH-3 ⇢ ESD-1 ⇢ ESDV-1",
        &["P-3 trip: PSHH-3 | ESD-1 | ESDV-1 | closed"],
    ),
    case(
        "a trip that stops a pump",
        "T-1:tank → P-1:pump; LSLL-4 ⇢ I-4 ⇢ P-1",
        &["L-4 trip: LSLL-4 | I-4 | P-1 | closed"],
    ),
    case(
        "a trip that stops a motor drawn beside its pump",
        "T-1:tank → P-1:pump; _m:electric_motor; LSLL-4 ⇢ _m",
        &["L-4 trip: LSLL-4 |  | _m | closed"],
    ),
    case(
        "trips by a switch, signals without a direction: what acts on what is not stated",
        "T-1:tank → XV-1:control_valve; LSHH-1 ~ I-1; I-1 ~ XV-1; PT-2 ~ PSHH-2; PSHH-2 ~ XV-1",
        &["L-1 trip?: LSHH-1 | I-1 | XV-1 | closed", "P-2 trip?: PT-2 | PSHH-2 | XV-1 | closed"],
    ),
    case(
        "a trip with two ways to its valve, of which one has a direction",
        "T-1:tank → XV-1:control_valve; LSHH-1 ~ I-1; LSHH-1 ⇢ I-1 ⇢ XV-1",
        &["L-1 trip: LSHH-1 | I-1 | XV-1 | closed"],
    ),
    case(
        "air drawn as a pipe from the solenoid of a trip to the actuator",
        "T-1:tank → XV-1:shutdown_valve; PT-1 ⇢ PSHH-1 ⇢ I-1 ⇢ SOV-1:solenoid_valve; \
         _s:off_page_connector → SOV-1 → ACT-1:instrument.actuator; ACT-1 ⊳ XV-1",
        &["P-1 trip: PT-1 | PSHH-1,I-1,SOV-1,ACT-1 | XV-1 | closed"],
    ),
    case(
        "air drawn as a pipe through a fitting",
        "T-1:tank → XV-1:shutdown_valve; PSHH-1 ⇢ SOV-1:solenoid_valve → _f:tee → _a:instrument.actuator; _a ⊳ XV-1",
        &["P-1 trip: PSHH-1 | SOV-1 | XV-1 | closed"],
    ),
    case(
        "air drawn as a pipe from a converter, which is no sensor",
        "T-1:tank → FV-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FY-1; FY-1 → _a:instrument.actuator; _a ⊳ FV-1",
        &["F-1 control: FT-1 | FIC-1,FY-1 | FV-1 | closed"],
    ),
    case(
        "a pipe from a solenoid valve to a valve with a third pipe may be its air",
        "T-1:tank → XV-1:shutdown_valve → T-2:tank; PSHH-1 ⇢ SOV-1:solenoid_valve → XV-1",
        &["P-1 trip?: PSHH-1 |  | SOV-1 | closed"],
    ),
    case(
        "solenoid valves in the process line, one behind the other, are final elements",
        "T-1:tank → SOV-1A:solenoid_valve → SOV-1B:solenoid_valve → T-2:tank; PSHH-1 ⇢ I-1 ⇢ SOV-1A; I-1 ⇢ SOV-1B",
        &["P-1 trip: PSHH-1 | I-1 | SOV-1A,SOV-1B | closed"],
    ),
    case(
        "a switch at the first limit belongs to the trip that it starts",
        "T-1:tank → XV-1:shutdown_valve; LSL-3 ⇢ I-1 ⇢ XV-1",
        &["I-1 trip: LSL-3 | I-1 | XV-1 | closed"],
    ),
    case(
        "a flame switch and a trip of their own start shared logic",
        "T-1:tank → XV-1:shutdown_valve; FT-2 ⇢ FSLL-2 ⇢ UC-1:logic_solver ⇢ XV-1; BSL-3 ⇢ UC-1",
        &[
            "F-2 trip: FT-2 | FSLL-2 | XV-1 | closed | UC-1 of U-1",
            "U-1 trip: FT-2,BSL-3 | UC-1 | XV-1 | closed | FT-2 of F-2, FSLL-2 of F-2",
        ],
    ),
    case(
        "an alarm between the transmitter of a trip and its logic",
        "T-1:tank → XV-1:shutdown_valve; PT-1 ⇢ PAHH-1:instrument.alarm ⇢ I-1 ⇢ XV-1",
        &["I-1 trip: PT-1 | PAHH-1,I-1 | XV-1 | closed"],
    ),
    case(
        "switches at two limits that start and stop a pump",
        "T-1:tank → P-1:pump; LSH-1 ⇢ LC-1 ⇢ P-1; LSL-1 ⇢ LC-1",
        &["L-1 control: LSH-1,LSL-1 | LC-1 | P-1 | closed"],
    ),
    case(
        "the starter of a motor belongs to the trip that stops it",
        "T-1:tank → P-1:pump; LSLL-4 ⇢ I-4 ⇢ MCC-1:instrument.motor_starter ⇢ P-1",
        &["L-4 trip: LSLL-4 | I-4,MCC-1 | P-1 | closed"],
    ),
    case("a trip without a final element is open", "T-1:tank ⇢ LSHH-1", &["L-1 trip: LSHH-1 |  |  | open"]),
    case("an alarm at the second limit is not a trip", "LT-1 ⇢ LAHH-1", &["L-1 indication: LT-1 | LAHH-1 |  | open"]),
    case("a local indicator", "T-1:tank ⇢ PI-1", &["P-1 indication: PI-1 |  |  | open"]),
    case(
        "a local indicator at a root valve does not close it",
        "T-1:tank → _v:gate_valve; _v ⇢ PI-1; PI-2 ⇢ _v",
        &["P-1 indication:  | PI-1 |  | open", "P-2 indication:  | PI-2 |  | open"],
    ),
    case(
        "a hand switch moves an on-off valve",
        "T-1:tank → XV-1:control_valve; HS-1 ⇢ XV-1",
        &["H-1 control:  | HS-1 | XV-1 | open"],
    ),
    case(
        "position switches of an on-off valve do not move it, in whichever direction they are drawn",
        "T-1:tank → XV-1:control_valve; HS-1 ⇢ XV-1; ZSO-1 ⇢ XV-1; XV-1 ⇢ ZSC-1; ZT-2 ⇢ XV-1",
        &[
            "H-1 control:  | HS-1 | XV-1 | open",
            "Z-1 indication: ZSO-1,ZSC-1 |  |  | open",
            "Z-2 indication: ZT-2 |  |  | open",
        ],
    ),
    case(
        "a hand switch starts a trip",
        "T-1:tank → XZV-5:control_valve; LZT-5 ⇢ LZS-5 ⇢ XZV-5; HS-6 ⇢ LZS-5",
        &["LZ-5 safety: LZT-5 | LZS-5,HS-6 | XZV-5 | closed"],
    ),
    case(
        "a hand switch HZ is a safety switch in IEC 62424 and any drive in ISA-5.1",
        "T-1:tank → XZV-1:control_valve; HZ-1 ⇢ XZV-1",
        &["HZ-1 trip?: HZ-1 |  | XZV-1 | only_by_hand"],
    ),
    case(
        "a drive FZ is the final element of its control loop",
        "T-1:tank → FZ-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FZ-1",
        &["F-1 control: FT-1 | FIC-1 | FZ-1 | closed"],
    ),
    case(
        "a level transmitter on a bridge of two nozzles with root valves",
        "D-1:vessel; _n:nozzle → _v:gate_valve → LT-1; _m:nozzle → _w:gate_valve → LT-1; D-1 → LV-1:control_valve; LT-1 ⇢ LIC-1 ⇢ LV-1",
        &["L-1 control: LT-1 | LIC-1 | LV-1 | closed"],
    ),
    case(
        "a function in the control system, a converter, a positioner and an actuator, of which the loop has the transmitter only",
        "T-1:tank → _v:control_valve; TIC-1:loop ⊃ _a; _a:transmitter ⇢ _b:instrument.function ⇢ _c:instrument.converter ⇢ _d:instrument.positioner ⇢ _e:instrument.actuator ⇢ _v",
        &["TIC-1 control: _a |  | _v | closed"],
    ),
    case(
        "a loop of items without tags",
        "T-1:tank → _v:control_valve; F-1:loop ⊃ _a; F-1 ⊃ _b; F-1 ⊃ _v; _a:transmitter ⇢ _b ⇢ _v",
        &["F-1 control: _a | _b | _v | closed"],
    ),
    case(
        "equal numbers in two areas",
        "T-1:tank → 20-FV-101:control_valve; T-1 → 30-FV-101:control_valve; 20-FT-101 ⇢ 20-FIC-101 ⇢ 20-FV-101; 30-FT-101 ⇢ 30-FIC-101 ⇢ 30-FV-101; 20-FZT-101",
        &[
            "20-F-101 control: 20-FT-101 | 20-FIC-101 | 20-FV-101 | closed",
            "30-F-101 control: 30-FT-101 | 30-FIC-101 | 30-FV-101 | closed",
            "20-FZ-101 safety: 20-FZT-101 |  |  | open",
        ],
    ),
    case(
        "tags without signals",
        "T-1:tank → FV-1:control_valve; FT-1; FIC-1",
        &["F-1 control?: FT-1 | FIC-1 | FV-1 | no_signal"],
    ),
    case(
        "two trains of one number",
        "T-1:tank → PV-1A:control_valve; T-1 → PV-1B:control_valve; PT-1A ⇢ PIC-1A ⇢ PV-1A; PT-1B ⇢ PIC-1B ⇢ PV-1B",
        &["P-1A control: PT-1A | PIC-1A | PV-1A | closed", "P-1B control: PT-1B | PIC-1B | PV-1B | closed"],
    ),
    case(
        "a train without a valve is not closed by that of the other train",
        "T-1:tank → PV-1A:control_valve; PT-1A ⇢ PIC-1A ⇢ PV-1A; PT-1B ⇢ PIC-1B",
        &["P-1A control: PT-1A | PIC-1A | PV-1A | closed", "P-1B control: PT-1B | PIC-1B |  | open"],
    ),
    case(
        "an indication of one train is not closed by the valve of the other",
        "T-1:tank → PV-1A:control_valve; PT-1A ⇢ PIC-1A ⇢ PV-1A; PT-1B ⇢ PI-1B",
        &["P-1A control: PT-1A | PIC-1A | PV-1A | closed", "P-1B indication: PT-1B | PI-1B |  | open"],
    ),
    case(
        "two trains on one transmitter without a suffix",
        "T-1:tank → PV-1A:control_valve; T-1 → PV-1B:control_valve; PT-1 ⇢ PIC-1A ⇢ PV-1A; PT-1 ⇢ PIC-1B ⇢ PV-1B",
        &["P-1A control: PT-1 | PIC-1A | PV-1A | closed", "P-1B control: PT-1 | PIC-1B | PV-1B | closed"],
    ),
    case(
        "two trains without signals",
        "T-1:tank → PV-1A:control_valve; PT-1A; PIC-1A; PT-1B; PIC-1B",
        &["P-1A control?: PT-1A | PIC-1A | PV-1A | no_signal", "P-1B control: PT-1B | PIC-1B |  | open"],
    ),
    case(
        "trains of two areas, the number attached to the area",
        "T-1:tank → 10PV101A:control_valve; 10PT101A ⇢ 10PIC101A ⇢ 10PV101A; 20-PT-101A ⇢ 20-PI-101A",
        &[
            "10-P-101 control: 10PT101A | 10PIC101A | 10PV101A | closed",
            "20-P-101 indication: 20-PT-101A | 20-PI-101A |  | open",
        ],
    ),
    case(
        "the logic of two trips, one of them by hand",
        "P-1A:pump; P-1B:pump; PT-101A ⇢ PSLL-101A ⇢ I-101A:interlock ⇢ P-1A; HS-101B ⇢ I-101B:interlock ⇢ P-1B",
        &[
            "P-101 trip: PT-101A | PSLL-101A,I-101A | P-1A | closed",
            "I-101B trip?: HS-101B | I-101B | P-1B | only_by_hand",
        ],
    ),
    case(
        "push buttons of one number start two trips",
        "P-1A:pump; P-1B:pump; HS-3A ⇢ UZ-3A:interlock ⇢ P-1A; HS-3B ⇢ UZ-3B:interlock ⇢ P-1B",
        &["UZ-3A trip?: HS-3A | UZ-3A | P-1A | only_by_hand", "UZ-3B trip?: HS-3B | UZ-3B | P-1B | only_by_hand"],
    ),
    case(
        "switches and logic of two tanks, which also close a common valve",
        "T-1:tank → XV-1A:control_valve; T-1 → XV-1B:control_valve; T-1 → XV-9:control_valve; \
            LSHH-1A:instrument.switch ⇢ UZ-1A:interlock ⇢ XV-1A; UZ-1A ⇢ XV-9; \
            LSHH-1B:instrument.switch ⇢ UZ-1B:interlock ⇢ XV-1B; UZ-1B ⇢ XV-9",
        &["L-1A trip: LSHH-1A | UZ-1A | XV-1A,XV-9 | closed", "L-1B trip: LSHH-1B | UZ-1B | XV-1B,XV-9 | closed"],
    ),
    case(
        "two channels that act on the same valves are one trip",
        "T-1:tank → XV-1A:control_valve → XV-1B:control_valve; \
            LSHH-1A ⇢ UZ-1A:interlock ⇢ XV-1A; UZ-1A ⇢ XV-1B; LSHH-1B ⇢ UZ-1B:interlock ⇢ XV-1A; UZ-1B ⇢ XV-1B",
        &["L-1 trip: LSHH-1A,LSHH-1B | UZ-1A,UZ-1B | XV-1A,XV-1B | closed"],
    ),
    case(
        "logic with the letter of a position that transmitters feed is not operated by hand",
        "T-1:tank → XV-1:control_valve; PT-1 ⇢ HZ-1:interlock ⇢ XV-1; PT-2 ⇢ HZ-1",
        &["HZ-1 trip: PT-1,PT-2 | HZ-1 | XV-1 | closed"],
    ),
    case(
        "a sequence controller of an on-off valve is no trip",
        "T-1:tank → XV-1:control_valve; KIC-8:controller ⇢ XV-1",
        &["K-8 control:  | KIC-8 | XV-1 | open"],
    ),
    case(
        "a redundant pair of controllers with a selector is one loop",
        "T-1:tank → PV-1:control_valve; PT-1A ⇢ PIC-1A ⇢ PY-1; PT-1B ⇢ PIC-1B ⇢ PY-1; PY-1 ⇢ PV-1",
        &["P-1 control: PT-1A,PT-1B | PIC-1A,PY-1,PIC-1B | PV-1 | closed"],
    ),
    case(
        "converters with suffixes before and behind one controller",
        "T-1:tank → FV-1:control_valve; FT-1 ⇢ FY-1A ⇢ FIC-1 ⇢ FY-1B ⇢ FV-1",
        &["F-1 control: FT-1 | FY-1A,FIC-1,FY-1B | FV-1 | closed"],
    ),
    case(
        "voting switches of one number through one interlock are one trip",
        "T-1:tank → XV-9:control_valve; PT-1A ⇢ PSHH-1A ⇢ I-9; PT-1B ⇢ PSHH-1B ⇢ I-9; PT-1C ⇢ PSHH-1C ⇢ I-9; I-9 ⇢ XV-9",
        &["P-1 trip: PT-1A,PT-1B,PT-1C | PSHH-1A,I-9,PSHH-1B,PSHH-1C | XV-9 | closed"],
    ),
    case(
        "low flow trips of two pumps with one number are two trips",
        "P-1A:pump; P-1B:pump; FT-1A ⇢ FSLL-1A ⇢ P-1A; FT-1B ⇢ FSLL-1B ⇢ P-1B",
        &["F-1A trip: FT-1A | FSLL-1A | P-1A | closed", "F-1B trip: FT-1B | FSLL-1B | P-1B | closed"],
    ),
    case(
        "a difference is a loop of its own, apart from the pressure with its number",
        "T-1:tank → PV-7:control_valve; PDT-7 ⇢ PDI-7; PT-7 ⇢ PIC-7 ⇢ PV-7",
        &["PD-7 indication: PDT-7 | PDI-7 |  | open", "P-7 control: PT-7 | PIC-7 | PV-7 | closed"],
    ),
    case(
        "a difference that is computed from two transmitters of its number",
        "T-1:tank → PDV-7:control_valve; PT-7A ⇢ PDY-7; PT-7B ⇢ PDY-7; PDY-7 ⇢ PDIC-7 ⇢ PDV-7",
        &["PD-7 control: PT-7A,PT-7B | PDY-7,PDIC-7 | PDV-7 | closed"],
    ),
    case(
        "a valve without the letter of the difference that controls it",
        "T-1:tank → PV-7:control_valve; PDT-7 ⇢ PDIC-7 ⇢ PV-7",
        &["PD-7 control: PDT-7 | PDIC-7 | PV-7 | closed"],
    ),
    case(
        "a transmitter and a valve with one number and nothing between",
        "T-1:tank → PV-1:control_valve; T-1 ⇢ PT-1",
        &["P-1 control?: PT-1 |  | PV-1 | no_signal"],
    ),
    case(
        "a controller without a signal from its transmitter, drawn as one loop",
        "T-1:tank → PV-1:control_valve; P-1:loop ⊃ PT-1; P-1 ⊃ PIC-1; P-1 ⊃ PV-1; PIC-1 ⇢ PV-1",
        &["P-1 control?: PT-1 | PIC-1 | PV-1 | no_signal"],
    ),
    case(
        "signals drawn from the valve to the transmitter do not close a loop for certain",
        "T-1:tank → PV-1:control_valve; PV-1 ⇢ PIC-1 ⇢ PT-1",
        &["P-1 control?: PT-1 | PIC-1 | PV-1 | no_signal"],
    ),
    case(
        "limit switches of the final element do not start a trip, wherever they are drawn",
        "T-1:tank → SDV-1:control_valve → SDV-2:control_valve; LT-1 ⇢ UZ-1 ⇢ SDV-1; UZ-1 ⇢ SDV-2; ZSC-1 @ SDV-1; ZSC-1 ⇢ UZ-1; ZSL-2 ⇢ UZ-1; GO-9 @ SDV-2; GO-9 ⇢ UZ-1",
        &[
            "UZ-1 trip?: LT-1 | UZ-1 | SDV-1,SDV-2 | closed",
            "Z-1 indication: ZSC-1 |  |  | open",
            "Z-2 indication: ZSL-2 |  |  | open",
            "G-9 indication: GO-9 |  |  | open",
        ],
    ),
    case(
        "a limit switch of a valve that stops a pump starts a trip, and so does an axial displacement",
        "T-1:tank → HV-5:gate_valve → P-1:pump; K-1:compressor; ZSC-5 @ HV-5; ZSC-5 ⇢ I-1 ⇢ P-1; ZSHH-7 @ K-1; ZSHH-7 ⇢ K-1",
        &[
            "Z-5 indication: ZSC-5 |  |  | open",
            "I-1 trip: ZSC-5 | I-1 | P-1 | closed | ZSC-5 of Z-5",
            "Z-7 trip: ZSHH-7 |  | K-1 | closed",
        ],
    ),
    case(
        "one bubble with several functions at the process, as in IEC 62424",
        "T-1:tank → PV-4712.02:control_valve; PICA-4712.02 @ T-1; PICA-4712.02 ⇢ PV-4712.02; TIRCA+-3 @ T-1; TV-3:control_valve → T-1; TIRCA+-3 ⇢ TV-3; PDIS-4 @ T-1; FQIS-5 @ T-1; FQIS-5 ⇢ XV-5; T-1 → XV-5:control_valve",
        &[
            "P-4712.02 control: PICA-4712.02 | PICA-4712.02 | PV-4712.02 | closed",
            "T-3 control: TIRCA+-3 | TIRCA+-3 | TV-3 | closed",
            "PD-4 control: PDIS-4 |  |  | open",
            "F-5 control: FQIS-5 |  | XV-5 | closed",
        ],
    ),
    case(
        "a controller without a sensor that is not at the process",
        "T-1:tank → FV-1:control_valve; FIC-1 ⇢ FV-1",
        &["F-1 control:  | FIC-1 | FV-1 | open"],
    ),
    case(
        "a manual station in a loop, and one alone",
        "T-1:tank → FV-1:control_valve → HV-2:control_valve; FT-1 ⇢ FIC-1 ⇢ HIC-1 ⇢ FV-1; HIC-2 ⇢ HV-2",
        &[
            "F-1 control: FT-1 | FIC-1 | FV-1 | closed | HIC-1 of H-1",
            "H-1 control:  | HIC-1 | FV-1 | open | FV-1 of F-1",
            "H-2 control:  | HIC-2 | HV-2 | open",
        ],
    ),
    case(
        "logic that several trips share is a trip of its own",
        "T-1:tank → SDV-1:control_valve; PSHH-1 ⇢ UC-9:logic_solver ⇢ SDV-1; LSHH-2 ⇢ UC-9",
        &[
            "P-1 trip: PSHH-1 |  | SDV-1 | closed | UC-9 of U-9",
            "U-9 trip: PSHH-1,LSHH-2 | UC-9 | SDV-1 | closed | PSHH-1 of P-1, LSHH-2 of L-2",
            "L-2 trip: LSHH-2 |  | SDV-1 | closed | UC-9 of U-9",
        ],
    ),
    case(
        "two safety functions share a valve",
        "T-1:tank → SDV-1:control_valve; LT-1 ⇢ UZ-1 ⇢ SDV-1; PT-2 ⇢ UZ-2 ⇢ SDV-1",
        &["UZ-1 trip?: LT-1 | UZ-1 | SDV-1 | closed", "UZ-2 trip?: PT-2 | UZ-2 | SDV-1 | closed"],
    ),
    case(
        "a transmitter, a switch, a logic solver and a solenoid are one trip",
        "T-1:tank → PV-1:control_valve → SDV-1:control_valve; PT-1 ⇢ PIC-1 ⇢ PV-1; PT-2 ⇢ PSHH-2 ⇢ UC-3:logic_solver ⇢ XY-4 ⇢ SDV-1",
        &["P-1 control: PT-1 | PIC-1 | PV-1 | closed", "P-2 trip: PT-2 | PSHH-2,UC-3,XY-4 | SDV-1 | closed"],
    ),
    case(
        "a trip overrides a control valve through its solenoid UY",
        "T-1:tank → FV-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FV-1; LT-2 ⇢ LSHH-2 ⇢ UY-2 ⇢ FV-1",
        &["F-1 control: FT-1 | FIC-1 | FV-1 | closed", "L-2 trip: LT-2 | LSHH-2,UY-2 | FV-1 | closed | FV-1 of F-1"],
    ),
    case(
        "a solenoid valve in the air to an actuator is no final element",
        "T-1:tank → FV-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FY-1:instrument.solenoid_valve ⇢ FV-1; LSHH-2 ⇢ UZ-2 ⇢ FY-1",
        &[
            "F-1 control: FT-1 | FIC-1,FY-1 | FV-1 | closed",
            "L-2 trip: LSHH-2 | UZ-2 | FV-1 | closed | FV-1 of F-1, FY-1 of F-1",
        ],
    ),
    case(
        "a trip that only a push button or a hand switch starts does not act by itself",
        "T-1:tank → SDV-1:control_valve → SDV-2:control_valve; HS-1:emergency_push_button_switch ⇢ UZ-1 ⇢ SDV-1; HS-2 ⇢ UZ-2 ⇢ SDV-2",
        &["UZ-1 trip?: HS-1 | UZ-1 | SDV-1 | only_by_hand", "UZ-2 trip?: HS-2 | UZ-2 | SDV-2 | only_by_hand"],
    ),
    case(
        "an alarm of a trip is not a part of it",
        "T-1:tank → SDV-1:control_valve; LT-1 ⇢ LSHH-1 ⇢ SDV-1; LSHH-1 ⇢ UA-2:alarm_indicator; LT-3 ⇢ LAH-3",
        &[
            "L-1 trip: LT-1 | LSHH-1 | SDV-1 | closed",
            "U-2 indication: LT-1 | UA-2 |  | open | LT-1 of L-1, LSHH-1 of L-1",
            "L-3 indication: LT-3 | LAH-3 |  | open",
        ],
    ),
    case(
        "one loop with tags in several spellings",
        "T-1:tank → PV_101:control_valve; PT_101 ⇢ PIC-101 ⇢ PV_101; 10-PT-101 ⇢ 10-PI-101",
        &["P-101 control: PT_101 | PIC-101 | PV_101 | closed", "10-P-101 indication: 10-PT-101 | 10-PI-101 |  | open"],
    ),
    case(
        "a bubble that controls and trips, as in IEC 62424",
        "T-1:tank → PV-1:control_valve; T-1 ⇢ PICZA-1 ⇢ PV-1",
        &["PZ-1 safety: PICZA-1 | PICZA-1 | PV-1 | closed"],
    ),
    case(
        "a class states a safety instrumented function, and another one an interlock",
        "T-1:tank → _v:control_valve → _w:control_valve; PT-1:instrument.sis_transmitter ⇢ PC-1:instrument.sis_logic ⇢ _v; TE-2:instrument.interlock_sensor ⇢ TC-2:instrument.trip_function ⇢ _w",
        &["P-1 safety: PT-1 | PC-1 | _v | closed", "T-2 trip: TE-2 | TC-2 | _w | closed"],
    ),
    case(
        "an attribute states a safety integrity level, and another one that there is none",
        "T-1:tank → _v:control_valve → _w:control_valve; PT-1(sil=2) ⇢ PC-1(sil=SIL 2) ⇢ _v; TT-2(sil=none) ⇢ TC-2(sis=no) ⇢ _w",
        &["P-1 safety: PT-1 | PC-1 | _v | closed", "T-2 control: TT-2 | TC-2 | _w | closed"],
    ),
    case(
        "classes of switches and interlocks instead of `instrument`",
        "T-1:tank → _v:control_valve; PSHH-1:pressure_switch ⇢ I-2:interlock ⇢ _v; LT-3:transmitter ⇢ LC-3:safety_instrumented_function",
        &["P-1 trip: PSHH-1 | I-2 | _v | closed", "L-3 safety: LT-3 | LC-3 |  | open"],
    ),
    case(
        "the type of a loop states a safety function",
        "T-1:tank → _v:control_valve; A-1:safety_loop ⊃ _a; A-1 ⊃ _b; _a:transmitter ⇢ _b ⇢ _v",
        &["A-1 safety: _a | _b | _v | closed"],
    ),
    case(
        "relief devices act by themselves",
        "T-1:tank → PSV-1:safety_valve; T-1 → PSE-1:rupture_disc; T-1 → TSV-2:safety_valve",
        &[],
    ),
    case(
        "a drawn loop that controls and trips is one loop",
        "T-1:tank → PV-1:control_valve → XV-1:control_valve; P-1:loop ⊃ PT-1; P-1 ⊃ PIC-1; P-1 ⊃ PSHH-1; PT-1 ⇢ PIC-1 ⇢ PV-1; PT-1 ⇢ PSHH-1 ⇢ XV-1",
        &["P-1 trip: PT-1 | PIC-1,PSHH-1 | PV-1,XV-1 | closed"],
    ),
    case(
        "transmitters with the number of a control loop that feed only its trip",
        "T-1:tank → PV-1:control_valve → XV-1:control_valve; PT-1 ⇢ PIC-1 ⇢ PV-1; PT-1A ⇢ PSHH-1A ⇢ UY-1; PT-1B ⇢ PSHH-1B ⇢ UY-1; UY-1 ⇢ XV-1",
        &["P-1 control: PT-1 | PIC-1 | PV-1 | closed", "P-1 trip: PT-1A,PT-1B | PSHH-1A,UY-1,PSHH-1B | XV-1 | closed"],
    ),
    case(
        "relays with the number of the transmitter, and with others, are parts of the trip that feeds them",
        "T-1:tank → XV-3:control_valve; LT-1 ⇢ LSHH-1 ⇢ LY-1 ⇢ UY-2 ⇢ XY-3 ⇢ XV-3",
        &["L-1 trip: LT-1 | LSHH-1,LY-1,UY-2,XY-3 | XV-3 | closed"],
    ),
    case(
        "a solenoid with the number of a control loop that only a trip feeds",
        "T-1:tank → FV-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FY-1A ⇢ FV-1; PSHH-2 ⇢ I-2 ⇢ FY-1B ⇢ FV-1",
        &[
            "F-1 control: FT-1 | FIC-1,FY-1A | FV-1 | closed",
            "P-2 trip: PSHH-2 | I-2,FY-1B | FV-1 | closed | FV-1 of F-1",
        ],
    ),
    case(
        "a solenoid that only two trips feed is no control loop",
        "T-1:tank → XV-3:control_valve; PSHH-1 ⇢ XY-3; LSHH-2 ⇢ XY-3; XY-3 ⇢ XV-3",
        &[
            "P-1 trip: PSHH-1 |  | XV-3 | closed | XV-3 of X-3, XY-3 of X-3",
            "X-3 trip?: PSHH-1,LSHH-2 | XY-3 | XV-3 | closed | PSHH-1 of P-1, LSHH-2 of L-2",
            "L-2 trip: LSHH-2 |  | XV-3 | closed | XV-3 of X-3, XY-3 of X-3",
        ],
    ),
    case(
        "what closes a shutdown valve is no control loop, whatever its tag",
        "T-1:tank → _v:shutdown_valve → _w:emergency_shutdown_valve → _u:shutdown_valve → LV-3:control_valve; PT-1 ⇢ _v; LAHH-2 ⇢ _w; LT-3 ⇢ LIC-3 ⇢ LV-3; LIC-3 ⇢ _u",
        &[
            "P-1 trip?: PT-1 |  | _v | closed",
            "L-2 trip?:  | LAHH-2 | _w | open",
            "L-3 trip?: LT-3 | LIC-3 | _u,LV-3 | closed",
        ],
    ),
    case(
        "a hand switch on a shutdown valve may close it, or reset it only",
        "T-1:tank → _v:shutdown_valve; HS-1 ⇢ _v",
        &["H-1 trip?: HS-1 |  | _v | only_by_hand"],
    ),
    case(
        "a limit switch of a shutdown valve, drawn toward it, does not close it",
        "T-1:tank → _v:shutdown_valve; ZSC-1 ⇢ _v; PI-2 ⇢ _v",
        &["Z-1 indication: ZSC-1 |  |  | open", "P-2 indication:  | PI-2 |  | open"],
    ),
    case(
        "the rest of a loop on another sheet",
        "LT-1 ⇢ LSLL-1 ⇢ X-1:off_page_connector; X-2:off_page_connector ⇢ I-2 ⇢ P-1:pump; PT-3 ⇢ PIC-3 ⇢ PV-3:control_valve; PIC-3 ⇢ X-3:off_page_connector",
        &[
            "L-1 trip?: LT-1 | LSLL-1 |  | off_page",
            "I-2 trip?:  | I-2 | P-1 | off_page",
            "P-3 control: PT-3 | PIC-3 | PV-3 | closed",
        ],
    ),
    case(
        "a selector has the sensors of the controllers that feed it",
        "T-1:tank → PV-3:control_valve; PT-1 ⇢ PIC-1 ⇢ PY-3; LT-2 ⇢ LIC-2 ⇢ PY-3; PY-3 ⇢ PV-3",
        &[
            "P-1 control: PT-1 | PIC-1 | PV-3 | closed | PV-3 of P-3, PY-3 of P-3",
            "P-3 control: PT-1,LT-2 | PY-3 | PV-3 | closed | PT-1 of P-1, PIC-1 of P-1, LT-2 of L-2, LIC-2 of L-2",
            "L-2 control: LT-2 | LIC-2 | PV-3 | closed | PV-3 of P-3, PY-3 of P-3",
        ],
    ),
    case(
        "a bubble for all functions, without a sensor and not at the process, may sense",
        "T-1:tank → FV-1:control_valve; FIC-1:process_instrumentation_function ⇢ FV-1",
        &["F-1 control?:  | FIC-1 | FV-1 | no_sensor"],
    ),
    case(
        "trips at the high and the low limit of one transmitter are two",
        "T-1:tank → XV-1:control_valve; P-1:pump; LT-1 ⇢ LSHH-1 ⇢ XV-1; LT-1 ⇢ LSLL-1 ⇢ I-2 ⇢ P-1",
        &[
            "L-1 indication: LT-1 |  |  | open",
            "L-1 trip: LT-1 | LSHH-1 | XV-1 | closed | LT-1 of L-1",
            "L-1 trip: LT-1 | LSLL-1,I-2 | P-1 | closed | LT-1 of L-1",
        ],
    ),
    case(
        "a sensor or a valve that is not there yet",
        "T-1:tank → XV-1:control_valve(status=future) → XV-2:control_valve; PSHH-1 ⇢ XV-1; PSHH-2(status=demolished) ⇢ XV-2",
        &["P-1 trip?: PSHH-1 |  | XV-1 | closed", "P-2 trip?: PSHH-2 |  | XV-2 | closed"],
    ),
    case(
        "a transmitter of two trips does not take the valve of the controller with its number",
        "T-1:tank → PV-1:control_valve → XV-8:control_valve → XV-9:control_valve; PT-1A ⇢ I-8 ⇢ XV-8; PT-1A ⇢ I-9 ⇢ XV-9; PT-1 ⇢ PIC-1",
        &[
            "P-1 indication: PT-1A |  |  | open",
            "I-8 trip: PT-1A | I-8 | XV-8 | closed | PT-1A of P-1",
            "I-9 trip: PT-1A | I-9 | XV-9 | closed | PT-1A of P-1",
            "P-1 control?: PT-1 | PIC-1 | PV-1 | no_signal",
        ],
    ),
    case(
        "both limits act on one valve through one interlock",
        "T-1:tank → XV-1:control_valve; LT-1 ⇢ LSHH-1 ⇢ I-2 ⇢ XV-1; LT-1 ⇢ LSLL-1 ⇢ I-2",
        &["L-1 trip: LT-1 | LSHH-1,I-2,LSLL-1 | XV-1 | closed"],
    ),
    case(
        "an actuator with a pipe, its air, is no sensor, and its valve is moved by what feeds the air",
        "T-1:tank → _v:control_valve; PT-1 ⇢ PSHH-1 ⇢ SOV-1:solenoid_valve; T-2:tank → SOV-1 → ACT-1:instrument.actuator ⊳ _v",
        &["P-1 trip: PT-1 | PSHH-1,SOV-1,ACT-1 | _v | closed"],
    ),
    case(
        "a loop through an actuating function and an actuating system",
        "T-1:tank → PV-1:shut_off_valve; P-1:loop ⊃ PIC-1; PIC-1 ⊃ _g:instrument.process_signal_generating_function; PIC-1 ⊃ PV_1:instrument.actuating_function; PV_1 ⇢ _s:instrument.actuating_system; _s ⊃ _r:instrument.shut_off_valve_reference; _r ⊳ PV-1",
        &["P-1 control: PIC-1 | PIC-1,PV_1 | PV-1 | closed"],
    ),
];

#[test]
fn loops_of_small_drawings_are_as_an_engineer_reads_them() {
    let wrong: Vec<String> = CASES.iter().filter_map(mismatch).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

fn mismatch(case: &Case) -> Option<String> {
    let loops = loops(case.plant);
    let shown = || format!("{}\n  {}\n  gives {loops:#?}\n  not   {:#?}", case.name, case.plant, case.loops);
    (loops != case.loops).then(shown)
}

#[test]
fn the_order_of_signals_in_the_document_does_not_matter() {
    for case in CASES {
        let mut reversed: Value = serde_json::from_str(&document(case.plant)).expect("JSON");
        let edges = reversed["edges"].as_array_mut().expect("an array");
        edges.reverse();
        assert_eq!(loops_of(&reversed.to_string()), case.loops, "{}", case.name);
    }
}

#[test]
fn an_indication_needs_no_final_element_and_a_hand_switch_no_sensor() {
    let open = r#"validate({rules: "P111"}) | map([.message, .certain])"#;
    check("P-1:loop ⊃ PT-1; P-1 ⊃ PI-1; PT-1 ⇢ PI-1", open, "[]");
    check("T-1:tank → XV-1:control_valve; H-1:loop ⊃ HS-1; HS-1 ⇢ XV-1", open, "[]");
    check("F-1:loop ⊃ FT-1; F-1 ⊃ FIC-1; FT-1 ⇢ FIC-1", open, r#"[["loop F-1 lacks a final element",true]]"#);
    let without_sensor = "F-1:loop ⊃ FIC-1; T-1:tank → FV-1:control_valve; FIC-1 ⇢ FV-1";
    check(without_sensor, open, r#"[["loop F-1 lacks a sensor",true]]"#);
    check("F-1:loop ⊃ FIC-1", open, r#"[["loop F-1 lacks a sensor and a final element",true]]"#);
}

#[test]
fn a_trip_that_does_not_act_is_reported_even_without_a_loop_node() {
    let open = r#"validate({rules: "P111"}) | map([.message, .ids, .certain])"#;
    check("T-1:tank ⇢ LSHH-1", open, r#"[["trip L-1 lacks a final element",["LSHH-1"],false]]"#);
    check("T-1:tank ⇢ LT-1", open, "[]");
    let by_number = "T-1:tank → LZV-1:control_valve; LZT-1; LZS-1 ⇢ LZV-1";
    let message = r#"[["trip LZ-1 has no signal from a sensor to a final element",["LZV-1","LZT-1"],false]]"#;
    check(by_number, open, "[]");
    check("T-1:tank → LZV-1:control_valve; LZT-1", open, message);
    let members = r#"validate({rules: "P110"}) | map(.message)"#;
    check("F-1:loop; FIC-1", members, r#"["loop F-1 has no members"]"#);
}

#[test]
fn an_indicator_or_an_alarm_of_a_trip_trips_nothing() {
    for (class, expected) in [("trip_function", "trip"), ("trip_indicator", "control"), ("interlock_alarm", "control")]
    {
        let document = json!({
            "nodes": [
                {"id": "T-1", "tag": "T-1", "class": "tank"},
                {"id": "LT-1", "tag": "LT-1", "class": "transmitter"},
                {"id": "LL-1", "tag": "LL-1", "class": format!("instrument.{class}")},
                {"id": "LV-1", "tag": "LV-1", "class": "control_valve"}
            ],
            "edges": [
                {"id": "e1", "from": "T-1", "to": "LV-1"},
                {"id": "s1", "from": "T-1", "to": "LT-1", "edge_type": "associated_with"},
                {"id": "s2", "from": "LT-1", "to": "LL-1", "edge_type": "associated_with"},
                {"id": "s3", "from": "LL-1", "to": "LV-1", "edge_type": "associated_with"}
            ]
        });
        let graph = Graph::from_json(document.to_string()).expect("JSON");
        let kinds = crate::graph::evaluate(&graph, "loops() | map(.kind)", "{}").expect("the query runs");
        assert_eq!(kinds, json!([expected]), "{class}");
    }
}

#[test]
fn a_transmitter_with_another_number_feeds_the_function_of_a_drawn_loop() {
    let plant = "T-1:tank → FV-1:control_valve; F-1:loop ⊃ FIC-1; FT-2 ⇢ FIC-1 ⇢ FV-1; FT-2 ⇢ FI-9";
    let expected = ["F-1 control: FT-2 | FIC-1 | FV-1 | closed", "F-9 indication: FT-2 | FI-9 |  | open"];
    assert_eq!(loops(plant), expected);
}

#[test]
fn a_sensing_point_is_found_in_whichever_direction_its_signal_is_drawn() {
    let points = "loops() | map(.sensing_points | map(.id))";
    check("T-1:tank ⇢ LT-1", points, r#"[["T-1"]]"#);
    check("LT-1 ⇢ T-1:tank → _v:gate_valve", points, r#"[["T-1"]]"#);
    check("T-1:tank → _v:gate_valve; _v ⇢ LT-1 ⇢ LIC-1", points, r#"[["_v"]]"#);
}

#[test]
fn a_valve_has_the_loop_that_moves_it() {
    let plant = "T-1:tank → FV-1:control_valve → XZV-1:control_valve; FT-1 ⇢ FIC-1 ⇢ FV-1; FZT-1 ⇢ FZS-1 ⇢ XZV-1";
    let of = |item: &str| format!("loop(\"{item}\") | [.loop, .kind]");
    check(plant, &of("FV-1"), r#"["F-1","control"]"#);
    check(plant, &of("XZV-1"), r#"["FZ-1","safety"]"#);
    check(plant, &of("FZT-1"), r#"["FZ-1","safety"]"#);
    check(plant, "instrumentIndex() | map(.loop)", r#"["F-1","F-1","FZ-1","FZ-1"]"#);
}

/// Query of the safeguards: item, kind, loop, where they sense and act, and if they are certain.
const SAFEGUARDS: &str = "hazopNodes() | map(.safeguards | map([.item.id, .kind, .loop, .senses, .acts, .certain]))";

#[test]
fn safeguards_say_where_they_sense_and_act() {
    let plant = "T-1:tank → ESDV-1:control_valve → CK-1:check_valve → T-2:tank → _s:strainer → T-3:tank; \
        T-3 → PSV-1:safety_valve → T-4:open_end; _s ⇢ PZT-1 ⇢ PZS-1 ⇢ ESDV-1; T-2 → _f:flange → T-5:tank";
    // The tanks are connected without a valve, so the relief valve protects both.
    let tank = r#"["PSV-1","relief",null,null,"boundary",true]"#;
    let valves =
        r#"["ESDV-1","shutdown_valve","PZ-1",null,"inside",true],["CK-1","check_valve",null,null,"inside",true]"#;
    let inlet = format!(r#"{valves},{tank},["PZS-1","safety","PZ-1","outside","inside",true]"#);
    let outlet = format!(r#"{tank},["PZS-1","safety","PZ-1","inside","outside",true]"#);
    let relief = r#"["PSV-1","relief",null,null,"inside",true]"#;
    check(plant, SAFEGUARDS, &format!("[[{inlet}],[{outlet}],[{relief}],[{tank}]]"));
}

#[test]
fn control_loops_and_alarms_are_no_safeguards() {
    let plant = "T-1:tank → _s:strainer → FV-1:control_valve → T-2:tank; _s ⇢ FT-1 ⇢ FIC-1 ⇢ FV-1; FT-1 ⇢ FAHH-1";
    check(plant, SAFEGUARDS, "[[]]");
    check("T-1:tank → XV-1:control_valve → T-2:tank; HS-1 ⇢ XV-1", SAFEGUARDS, "[[]]");
}

#[test]
fn an_incomplete_safeguard_is_not_certain() {
    let shutdown = r#"[[["SDV-1","shutdown_valve",null,null,"inside",false]]]"#;
    check("T-1:tank → SDV-1:control_valve → T-2:tank", SAFEGUARDS, shutdown);
    let by_class = r#"[[["_v","shutdown_valve",null,null,"inside",false]]]"#;
    check("T-1:tank → _v:emergency_shutdown_valve → T-2:tank", SAFEGUARDS, by_class);
    let trip = r#"[[["LSHH-1","trip","L-1","inside","unknown",false]]]"#;
    check("T-1:tank → _s:strainer → T-2:tank; _s ⇢ LSHH-1", SAFEGUARDS, trip);
    // A switch and a valve with the number of a trip and without a signal.
    let wired = "T-1:tank → _s:strainer → XV-1:shutdown_valve → T-2:tank; _s ⇢ PSHH-1A ⇢ UZ-1 ⇢ XV-1";
    let certain = "hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq()";
    check(wired, certain, "[true]");
    check(&format!("{wired}; T-3:tank → _r:strainer → T-4:tank; PSHH-1B @ _r"), certain, "[false]");
    let unclear = r#"[[["UZ-1","trip","UZ-1","unknown","inside",false]]]"#;
    check("T-1:tank → _v:control_valve → T-2:tank; UZ-1 ⇢ _v", SAFEGUARDS, unclear);
}

#[test]
fn logic_that_trips_share_is_a_safeguard_only_for_its_further_sensors() {
    let plant = "T-1:tank → _s:strainer → XV-1:shutdown_valve → T-2:tank; _s ⇢ PT-7 ⇢ PSHH-7 ⇢ UZ-1:interlock ⇢ XV-1";
    let trips = "hazopNodes() | map(.safeguards | filter(.kind == \"trip\") | map([.item.tag, .certain]))";
    check(&format!("{plant}; _s ⇢ LSHH-8 ⇢ UZ-1"), trips, r#"[[["PSHH-7",true],["LSHH-8",true]]]"#);
    // A pressure trip and a flame detector without a switch of its own.
    check(&format!("{plant}; _s ⇢ BSL-9 ⇢ UZ-1"), trips, r#"[[["PSHH-7",true],["BSL-9",true]]]"#);
    // Transmitters of several numbers that only the logic reads are one trip.
    let voted = plant.replace("PT-7 ⇢ PSHH-7", "PT-7") + "; _s ⇢ PT-8 ⇢ UZ-1";
    // Two limits of one transmitter are two safeguards, two voting switches are one.
    check(&format!("{plant}; PT-7 ⇢ PSLL-7 ⇢ UZ-1"), trips, r#"[[["PSHH-7",true],["PSLL-7",true]]]"#);
    let voting = plant.replace("PSHH-7", "PSHH-7A") + "; PT-7 ⇢ PSHH-7B ⇢ UZ-1";
    check(&voting, trips, r#"[[["PSHH-7A",true]]]"#);
    check(&voted, "hazopNodes() | map(.safeguards | filter(.senses != null) | map(.item.tag))", r#"[["UZ-1"]]"#);
}

#[test]
fn a_pump_at_the_end_of_a_section_may_be_stopped() {
    let plant = "T-1:tank → _s:strainer → P-1:pump → T-2:tank; _s ⇢ LSLL-1 ⇢ P-1";
    let inlet = r#"["LSLL-1","trip","L-1","inside","boundary",true]"#;
    let outlet = r#"["LSLL-1","trip","L-1","outside","boundary",true]"#;
    check(plant, SAFEGUARDS, &format!("[[{inlet}],[{outlet}]]"));
    for (word, is_certain) in [("canned", true), ("submerged", true), ("derated", false), ("seized", false)] {
        let described = plant.replace("P-1:pump →", &format!("P-1:pump(description={word}) →"));
        let expected = if is_certain { "[true]" } else { "[false]" };
        check(&described, "hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq()", expected);
    }
    let merged = SAFEGUARDS.replace("hazopNodes()", "hazopNodes({merge: true})");
    check(plant, &merged, r#"[[["LSLL-1","trip","L-1","inside","inside",true]]]"#);
}

#[test]
fn a_pump_is_stopped_by_its_motor() {
    let plant = "T-1:tank → _s:strainer → P-1:pump; P-1 ⊃ _m:electric_motor; _s ⇢ LSLL-1 ⇢ _m";
    check(plant, SAFEGUARDS, r#"[[["LSLL-1","trip","L-1","inside","boundary",true]]]"#);
}

#[test]
fn a_check_valve_with_an_open_bypass_is_not_certain() {
    let plant = |position: &str| {
        format!(
            "P-1:pump → _a:tee → CK-1:check_valve → _b:tee → T-2:tank; _a → _v:gate_valve(normal_position={position}) → _b"
        )
    };
    for (position, is_certain) in [("open", false), ("unknown", false), ("closed", true)] {
        let expected = format!(r#"[[["CK-1","check_valve",null,null,"inside",{is_certain}]]]"#);
        check(&plant(position), SAFEGUARDS, &expected);
    }
    let two_pumps =
        "T-1:tank → P-1:pump → CK-1:check_valve → _a:tee → T-2:tank; T-1 → P-2:pump → CK-2:check_valve → _a";
    let row = |valve: &str| format!(r#"["{valve}","check_valve",null,null,"inside",true]"#);
    check(two_pumps, SAFEGUARDS, &format!("[[],[{},{}],[]]", row("CK-1"), row("CK-2")));
    // The flow that one of them stops passes through the other.
    let query = r#"hazopNodes() | map(.safeguards | map([.item.id, .certain])) | flatten()"#;
    let opposite = "T-1:tank → _a:tee → CK-1:check_valve → _b:tee → T-2:tank; _b → CK-2:check_valve → _a";
    check(opposite, query, r#"[["CK-1",false],["CK-2",false]]"#);
    let parallel = "T-1:tank → _a:tee → CK-1:check_valve → _b:tee → T-2:tank; _a → CK-2:check_valve → _b";
    check(parallel, query, r#"[["CK-1",true],["CK-2",true]]"#);
    for (fields, is_certain) in [
        ("remarks=flapper removed", false),
        ("remarks=flap pinned open", false),
        ("remarks=flap drilled 5 mm", false),
        ("description=with drilled hole", false),
        ("remarks=passing", false),
        ("remarks=disabled", false),
        ("lock=locked_open", false),
        ("normal_position=LO", false),
        ("remarks=flanges drilled to PN 16", true),
        ("normal_position=open", true),
        ("lock=none", true),
    ] {
        let plant = format!("T-1:tank → CK-1:check_valve({fields}) → T-2:tank");
        check(&plant, query, &format!(r#"[["CK-1",{is_certain}]]"#));
    }
}

#[test]
fn a_vacuum_breaker_is_no_safeguard_against_overpressure() {
    let query = r#"hazopNodes() | map(.safeguards | map([.item.id, .kind])) | flatten() | uniq()"#;
    let plant = |device: &str| format!("T-1:tank → P-1:pump; O-1:open_end → _d:{device} → T-1");
    for device in ["vacuum_breaker", "vacuum_relief_valve", "safety_valve(set_pressure=-0.02 barg)"] {
        check(&plant(device), query, r#"[["_d","vacuum_relief"]]"#);
    }
    let both = "T-1:tank → P-1:pump; T-1 → _d:pressure_vacuum_relief_valve";
    check(both, query, r#"[["_d","relief"]]"#);
}

#[test]
fn a_shutdown_valve_that_may_not_close_is_no_certain_safeguard() {
    let certain = |valve: &str, rest: &str| {
        let plant = format!("T-1:tank → _v:shutdown_valve{valve} → T-2:tank{rest}");
        let query = r#"hazopNodes() | map(.safeguards | filter(.kind == "shutdown_valve") | map(.certain)) | flatten() | uniq()"#;
        evaluate(&document(&plant), query).to_string()
    };
    assert_eq!(certain("", "; PSHH-1 ⇢ _v"), "[true]");
    assert_eq!(certain("(normal_position=LO)", "; PSHH-1 ⇢ _v"), "[false]");
    assert_eq!(certain("(fail_action=fail last)", "; PSHH-1 ⇢ _v"), "[false]");
    assert_eq!(certain("", "; PSHH-1 ⇢ _v; _v → T-3:tank"), "[false]");
    assert_eq!(certain("", "; PSHH-1 ⇢ I-1:interlock(status=future) ⇢ _v"), "[false]");
    for text in ["bypassed", "disabled", "permanently overridden", "in override", "jumpered"] {
        assert_eq!(certain("", &format!("; PSHH-1(remarks={text}) ⇢ _v")), "[false]", "{text}");
    }
    assert_eq!(certain("", "; PSHH-1 ⇢ I-1:interlock(enabled=false) ⇢ _v"), "[false]");
    assert_eq!(certain("(description=jacked open)", "; PSHH-1 ⇢ _v"), "[false]");
    assert_eq!(certain("", "; PSHH-1(remarks=bypassed during startup) ⇢ _v"), "[true]");
}

#[test]
fn a_trip_over_a_signal_that_is_not_there_is_not_certain() {
    let query = r#"[(loops() | map([.closed, .certain])), (causeAndEffect().not_followed | map([.edge.id, .reason])),
        (hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq())]"#;
    for (fields, expected) in [
        (json!({}), json!([[[true, true]], [], [true]])),
        (json!({"status": "existing"}), json!([[[true, true]], [], [true]])),
        (json!({"status": "future"}), json!([[[true, false]], [[2, "not_installed"]], [false]])),
        (json!({"remarks": "disconnected"}), json!([[[true, false]], [[2, "unknown_status"]], [false]])),
    ] {
        let plant = "T-1:tank → _v:shutdown_valve → T-2:tank; PSHH-1 ⇢ _v";
        let mut document: Value = serde_json::from_str(&document(plant)).expect("JSON");
        let signal = document["edges"][2].as_object_mut().expect("an edge");
        signal.extend(fields.as_object().cloned().expect("an object"));
        assert_eq!(evaluate(&document.to_string(), query), expected, "{fields}");
    }
}

#[test]
fn a_trip_whose_sensor_is_shut_off_is_not_certain() {
    let query = r#"[(loops() | map(.certain)), (causeAndEffect().not_followed | map([.item.id, .reason])),
        (hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq())]"#;
    let trip = "T-1:tank → _v:shutdown_valve → T-2:tank; LSHH-1 ⇢ I-1:interlock ⇢ _v";
    for (lines, shut_off) in [
        ("T-1 → HV-9:gate_valve → LSHH-1", None),
        ("T-1 → HV-9:gate_valve(normal_position=open) → LSHH-1", None),
        ("T-1 → HV-9:gate_valve(normal_position=closed) → LSHH-1", Some("HV-9")),
        ("T-1 → HV-9:gate_valve(remarks=LC) → LSHH-1", Some("HV-9")),
        ("T-1 → HV-9:spectacle_blind(position=closed) → LSHH-1", Some("HV-9")),
        ("T-1 → HV-9:gate_valve(normal_position=closed) ⇢ LSHH-1", Some("HV-9")),
        // The second line of a level switch, and a drain or a vent beside the open line.
        ("T-1 → HV-8:gate_valve → LSHH-1; T-1 → HV-9:gate_valve(normal_position=closed) → LSHH-1", Some("HV-9")),
        ("T-1 → HV-8:gate_valve → LSHH-1; LSHH-1 → HV-9:gate_valve(normal_position=closed)", None),
        ("T-1 → HV-8:gate_valve → _t:tee → LSHH-1; _t → HV-9:gate_valve(normal_position=closed)", None),
        ("T-1 ⇢ LSHH-1; LSHH-1 → HV-9:gate_valve(normal_position=closed)", None),
    ] {
        let reasons: Vec<Value> = shut_off.iter().map(|valve| json!([valve, "sensor_shut_off"])).collect();
        let expected = json!([[shut_off.is_none()], reasons, [shut_off.is_none()]]);
        assert_eq!(evaluate(&document(&format!("{trip}; {lines}")), query), expected, "{lines}");
    }
}

#[test]
fn a_section_that_a_shutdown_valve_may_not_close_is_not_certain() {
    let reasons = |valve: &str, rest: &str| {
        let plant =
            format!("T-1:tank → ESDV-1:{valve} → T-2:tank{rest}; T-1 → SDV-2:shutdown_valve → X-1:off_page_connector");
        let query =
            r#"inventorySections() | map(.uncertain | filter(.at.id == "ESDV-1") | map(.reason)) | flatten() | uniq()"#;
        evaluate(&document(&plant), query).to_string()
    };
    assert_eq!(reasons("shutdown_valve(fail_action=closed)", ""), "[]");
    assert_eq!(reasons("shutdown_valve(fail_action=FO)", ""), r#"["fails_open"]"#);
    assert_eq!(reasons("shutdown_valve(fail_action=fail last)", ""), r#"["fails_in_place"]"#);
    assert_eq!(reasons("shutdown_valve(fail_action=FL)", ""), r#"["fails_in_place"]"#);
    for fails in ["air to close", "ATC", "AFO", "drift open", "spring opens", "fails open on loss of air", "F.O."] {
        assert_eq!(reasons(&format!("shutdown_valve(fail_action={fails})"), ""), r#"["fails_open"]"#, "{fails}");
    }
    for fails in ["FO/FC", "FO on air / FC on power", "FO?", "tbd", "indeterminate", "drift closed", "air to", "stops"]
    {
        let expected = r#"["unknown_fail_action"]"#;
        assert_eq!(reasons(&format!("shutdown_valve(fail_action={fails})"), ""), expected, "{fails}");
    }
    for fails in ["FC", "air to open", "ATO", "FailClose", "valve closes on air failure", "spring return closed", "n/a"]
    {
        assert_eq!(reasons(&format!("shutdown_valve(fail_action={fails})"), ""), "[]", "{fails}");
    }
    // A label or another text counts like the field.
    for text in ["FO", "fails open", "fail open on loss of air", "Federöffnend", "Feder öffnet", "spring opens"] {
        for key in ["label", "remarks", "description"] {
            assert_eq!(reasons(&format!("shutdown_valve({key}={text})"), ""), r#"["fails_open"]"#, "{key} {text}");
        }
    }
    assert_eq!(reasons("shutdown_valve(fail_action=FC, label=FO)", ""), r#"["fails_open"]"#);
    assert_eq!(reasons("shutdown_valve(label=FC)", ""), "[]");
    for text in ["closed", "close to wall", "open", "spring hanger", "ESD"] {
        assert_eq!(reasons(&format!("shutdown_valve(remarks={text})"), ""), "[]", "{text}");
    }
    for stated in ["label=LO", "remarks=locked open", "label=CSO", "locked_open=true", "car_sealed_open=true"] {
        assert_eq!(reasons(&format!("shutdown_valve({stated})"), ""), r#"["locked_open"]"#, "{stated}");
    }
    for text in ["passing", "valve leaks", "stuck", "disc drilled"] {
        assert_eq!(reasons(&format!("shutdown_valve(remarks={text})"), ""), r#"["not_tight"]"#, "{text}");
    }
    assert_eq!(reasons("shutdown_valve(number_of_ports=tbd)", ""), r#"["unknown_ways"]"#);
    assert_eq!(reasons("shutdown_valve(normal_position=LO)", ""), r#"["locked_open"]"#);
    assert_eq!(reasons("shutdown_valve", "; ESDV-1 → T-3:tank"), r#"["several_pipes"]"#);
}

#[test]
fn a_shutdown_valve_that_fails_open_is_not_certain() {
    let plant = |fails: &str| format!("T-1:tank → _v:shutdown_valve(fail_action={fails}) → T-2:tank; PSHH-1 ⇢ _v");
    let rows = [("closed", true), ("open", false), ("FO", false), ("air to close", false), ("tbd", false)];
    for (fails, is_certain) in rows {
        let query = r#"hazopNodes() | map(.safeguards | filter(.kind == "shutdown_valve") | map(.certain))"#;
        check(&plant(fails), query, &format!("[[{is_certain}]]"));
    }
}

#[test]
fn a_safeguard_with_an_open_path_around_it_is_not_certain() {
    let query = r#"hazopNodes() | map(.safeguards | filter(.kind != "check_valve") | map([.item.id, .certain]))
        | flattenDeep()"#;
    let plant = |item: &str, bypass: &str, rest: &str| {
        format!("X-1:off_page_connector → _a:tee → {item} → _b:tee → T-2:tank; _a → {bypass} → _b{rest}")
    };
    let trip = "; LSHH-1 ⇢ SDV-1";
    for (item, ids, rest) in [
        ("EFV-1:excess_flow_valve", vec!["EFV-1"], ""),
        ("FA-1:flame_arrester", vec!["FA-1"], ""),
        ("SDV-1:shutdown_valve(fail_action=closed)", vec!["SDV-1", "LSHH-1"], trip),
    ] {
        let expected = |is_certain: bool| {
            json!(ids.iter().flat_map(|id| [json!(id), json!(is_certain)]).collect::<Vec<_>>()).to_string()
        };
        for (bypass, is_certain) in [
            ("_v:gate_valve(normal_position=open)", false),
            ("_v:gate_valve", false),
            ("_v:globe_valve → _w:check_valve", false),
            ("_v:gate_valve(normal_position=closed)", true),
            ("_v:spectacle_blind(position=closed)", true),
        ] {
            check(&plant(item, bypass, rest), query, &expected(is_certain));
        }
    }
    let valve = |id: &str| format!("{id}:on_off_valve(fail_action=closed)");
    let trip = |bypass: &str| format!("{}; LSHH-1 ⇢ _v", plant(&valve("_v"), bypass, ""));
    check(&trip("_w:gate_valve"), query, r#"["_v",false,"LSHH-1",false]"#);
    check(&trip("_w:gate_valve(normal_position=locked_closed)"), query, r#"["_v",true,"LSHH-1",true]"#);
    // The valve that a trip opens is not bypassed.
    let opens = format!("{}; LSHH-1 ⇢ _v", plant("_v:on_off_valve(fail_action=open)", "_w:gate_valve", ""));
    check(&opens, query, r#"["_v",false,"LSHH-1",true]"#);
    let arresters = plant("FA-1:flame_arrester", "FA-2:detonation_arrester", "");
    check(&arresters, query, r#"["FA-1",true,"FA-2",true]"#);
}

#[test]
fn a_machine_beside_a_safeguard_is_a_path_around_it() {
    let query = r#"hazopNodes() | map(.safeguards | filter(.kind == "flame_arrester") | map(.certain)) | flatten()"#;
    let plant =
        |bypass: &str| format!("X-1:off_page_connector → _a:tee → FA-1:flame_arrester → _b:tee → T-2:tank; {bypass}");
    for (bypass, certain) in [
        ("_a → C-1:blower → _b", "[false]"),
        ("_b → C-1:blower → _a", "[false]"),
        ("_a → _s:strainer → C-1:blower → _k:check_valve → _b", "[false]"),
        // No flow passes two check valves against each other, a closed valve, or another vessel.
        ("_a → _k:check_valve → C-1:blower; _b → _l:check_valve → C-1", "[true]"),
        ("_a → C-1:blower → _v:gate_valve(normal_position=closed) → _b", "[true]"),
        ("_a → C-1:blower → _v:gate_valve → T-3:tank; T-3 → _w:gate_valve → _b", "[true]"),
    ] {
        check(&plant(bypass), query, certain);
    }
}

#[test]
fn a_path_around_safeguards_in_series_leads_around_each_of_them() {
    let query = r#"hazopNodes() | map(.safeguards | filter(.kind == "flame_arrester")) | flatten() | sort(.item.id)
        | map(.certain)"#;
    let plant =
        |line: &str, bypass: &str| format!("X-1:off_page_connector → _a:tee → {line} → _b:tee → T-2:tank; {bypass}");
    for (line, bypass, certain) in [
        // Around both, with and without a branch between them that leads to nothing.
        ("FA-1:flame_arrester → FA-2:flame_arrester", "_a → _v:gate_valve → _b", "[false,false]"),
        ("FA-1:flame_arrester → _s:strainer → FA-2:flame_arrester", "_a → _v:gate_valve → _b", "[false,false]"),
        (
            "FA-1:flame_arrester → _m:tee → FA-2:flame_arrester",
            "_m → _d:gate_valve → _o:open_end; _a → _v:gate_valve → _b",
            "[false,false]",
        ),
        // Around one of them.
        ("FA-1:flame_arrester → _m:tee → FA-2:flame_arrester", "_a → _v:gate_valve → _m", "[false,true]"),
        ("FA-1:flame_arrester → _m:tee → FA-2:flame_arrester", "_m → _v:gate_valve → _b", "[true,false]"),
        // Closed, or beside a branch to other equipment, which each of them protects alone.
        ("FA-1:flame_arrester → FA-2:flame_arrester", "_a → _v:gate_valve(normal_position=closed) → _b", "[true,true]"),
        ("FA-1:flame_arrester → FA-2:flame_arrester", "_a → FA-3:flame_arrester → _b", "[true,true,true]"),
    ] {
        check(&plant(line, bypass), query, certain);
    }
}

#[test]
fn a_safeguard_with_a_line_without_a_valve_between_its_vessels_is_not_certain() {
    let query = r#"hazopNodes() | map(.safeguards | filter(.item.id != "_n") | map([.item.id, .certain])) | flatten()
        | uniq()"#;
    let vessels = "T-1:tank; T-2:tank; LSHH-1 ⇢ SDV-1";
    for (way, is_certain) in [
        ("T-1 → T-2", false),
        ("T-2 → _a:strainer → T-3:vessel → T-1", false),
        ("T-1 → _v:gate_valve(normal_position=locked_open) → T-2", false),
        ("T-1 → _v:gate_valve → T-2", true),
        ("T-1 → _p:pump → T-2", true),
        ("T-1 → _b:spectacle_blind → T-2", true),
        ("T-1 → _b:spectacle_blind(position=open) → T-2", false),
        ("T-1 → PDT-9:instrument → T-2", true),
        ("T-1 → _n:check_valve → T-2", true),
        ("T-2 → _v:gate_valve → _n:check_valve → T-1", true),
        ("T-1 → E-1:heat_exchanger → T-2", false),
        ("T-1 → _x:vessel(status=future) → T-2", true),
    ] {
        let trip = format!("{vessels}; T-1 → SDV-1:shutdown_valve(fail_action=closed) → T-2; {way}");
        check(&trip, query, &format!(r#"[["SDV-1",{is_certain}],["LSHH-1",{is_certain}]]"#));
        let check_valve = format!("T-1:tank; T-2:tank; T-1 → CK-1:check_valve → T-2; {way}");
        check(&check_valve, query, &format!(r#"[["CK-1",{is_certain}]]"#));
    }
    // The flow that one of them stops passes through the other.
    let opposite = "T-1:tank → CK-1:check_valve → T-2:tank → CK-2:check_valve → T-1";
    check(opposite, query, r#"[["CK-1",false],["CK-2",false]]"#);
    // What comes back to a pump has to pass through it.
    let pump = "T-1:tank → P-1:pump → CK-1:check_valve → T-2:tank → T-1";
    check(pump, query, r#"[["CK-1",true]]"#);
    // The valves of its own line are open when it is in use.
    let line = "T-1:tank → _a:gate_valve → CK-1:check_valve → _b:gate_valve{} → T-2:tank; T-1 → T-2";
    check(&line.replace("{}", ""), query, r#"[["CK-1",false]]"#);
    check(&line.replace("{}", "(normal_position=closed)"), query, r#"[["CK-1",true]]"#);
}

#[test]
fn a_signal_leads_through_an_actuator_to_its_valve_and_through_an_unknown_item_not_for_certain() {
    let rows = "loops() | map([.final_elements | map(.id), .closed, .certain])";
    let valve = "T-1:tank → SDV-1:shutdown_valve(fail_action=closed) → T-2:tank";
    let part = format!("{valve}; SDV-1 ⊃ _a:instrument.actuator; PSHH-1 ⇢ _i:interlock ⇢ _a");
    check(&part, rows, r#"[[["SDV-1"],true,true]]"#);
    check(&format!("{valve}; PSHH-1 ⇢ _x:foo ⇢ SDV-1"), rows, r#"[[["SDV-1"],true,false]]"#);
    check(&format!("{valve}; PSHH-1 ⇢ _x:instrument.actuator ⇢ SDV-1"), rows, r#"[[["SDV-1"],true,true]]"#);
}

#[test]
fn only_what_is_on_the_way_of_a_trip_makes_it_uncertain() {
    let rows = "[(loops() | filter(.kind == \"trip\") | map(.certain)), \
        (hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq())]";
    let trip =
        "T-1:tank → XV-1:shutdown_valve(fail_action=closed) → T-2:tank; T-1 ⇢ LSHH-1:level_switch ⇢ I-1:interlock";
    for (rest, certain) in [
        ("I-1 ⇢ XV-1", true),
        ("I-1 ⇢ XV-1; I-1 ⇢ _x:signal_lamp", true),
        ("I-1 ⇢ XV-1; LSHH-1 ⇢ _x:historian", true),
        ("I-1 ⇢ XV-1; I-1 ⇢ XI-1:annunciator", true),
        ("I-1 ⇢ XV-1; I-1 ⇢ XI-1:instrument.recorder(status=future)", true),
        ("I-1 ⇢ _x:foo ⇢ XV-1", false),
        ("I-1 ⇢ _x:instrument.relay(status=future) ⇢ XV-1", false),
        // A second way over an item of unknown class, and what the logic may move.
        ("I-1 ⇢ XV-1; I-1 ⇢ _x:foo ⇢ XV-1", false),
        ("I-1 ⇢ XV-1; I-1 ⇢ XV-2:set_stop_valve; T-1 → XV-2 → T-2", false),
    ] {
        check(&format!("{trip}; {rest}"), rows, &format!("[[{certain}],[{certain}]]"));
    }
    let effects = "causeAndEffect() | [.links | map(.final_element.id), .not_followed | map([.item.id, .reason])]";
    let beside = format!("{trip}; I-1 ⇢ XV-1; I-1 ⇢ XV-2:set_stop_valve; T-1 → XV-2 → T-2");
    check(&beside, effects, r#"[["XV-1"],[["XV-2","unknown_class"]]]"#);
    let only = "T-1:tank → XV-2:set_stop_valve → T-2:tank; LSHH-1:level_switch ⇢ I-1:interlock ⇢ XV-2";
    check(only, effects, r#"[[],[["XV-2","unknown_class"]]]"#);
    check(only, "loops() | map([.gap, .certain])", r#"[["no_final_element",false]]"#);
}

#[test]
fn the_class_of_a_detector_or_a_push_button_decides_before_the_letters_of_its_tag() {
    let rows = "[(causeAndEffect().links | map([.initiator.id, .final_element.id])), \
        (loops() | filter(.kind == \"trip\") | map([.sensors | map(.id), .closed, .gap, .certain]))]";
    let answer = |tag: &str, class: &str| {
        let plant = format!("T-1:tank → XV-1:shutdown_valve → T-2:tank; {tag}:{class} ⇢ I-1:interlock ⇢ XV-1");
        evaluate(&document(&plant), rows)
    };
    for (tag, class) in [
        ("GD-101", "gas_detector"),
        ("GDT-1", "gas_detector"),
        ("FD-101", "flame_detector"),
        ("SD-101", "smoke_detector"),
        ("HD-101", "heat_detector"),
        ("FSD-1", "fusible_plug"),
        ("FP-1", "fusible_plug"),
        ("AB-1", "flame_scanner"),
        ("AT-1", "chlorine_detector"),
        ("_s", "gas_detector"),
    ] {
        for class in [class.to_owned(), format!("instrument.{class}")] {
            let expected = json!([[[tag, "XV-1"]], [[[tag], true, null, true]]]);
            assert_eq!(answer(tag, &class), expected, "{tag} {class}");
        }
    }
    for (tag, class) in [
        ("PB-101", "push_button"),
        ("EPB-1", "emergency_push_button"),
        ("ESB-1", "emergency_stop_button"),
        ("MCP-1", "manual_call_point"),
        ("HS-1", "hand_switch"),
    ] {
        for class in [class.to_owned(), format!("instrument.{class}")] {
            let expected = json!([[[tag, "XV-1"]], [[[tag], null, "only_by_hand", false]]]);
            assert_eq!(answer(tag, &class), expected, "{tag} {class}");
        }
    }
}

#[test]
fn an_item_that_nothing_describes_may_start_a_trip() {
    let rows = "[(loops() | filter(.kind == \"trip\") | map([.closed, .gap, .certain])), \
        (causeAndEffect() | [.links | size(), .not_followed | map([.item.id, .reason])])]";
    let answer = |source: &str| {
        let plant = format!("T-1:tank → XV-1:shutdown_valve → T-2:tank; {source}I-1:interlock ⇢ XV-1");
        evaluate(&document(&plant), rows)
    };
    for source in ["FG-1:fire_gas_panel", "_s:instrument.fire_gas_panel", "_s:contact"] {
        let id = source.split(':').next().expect("an id");
        let expected = json!([[[null, "no_sensor", false]], [0, [[id, "unknown_class"]]]]);
        assert_eq!(answer(&format!("{source} ⇢ ")), expected, "{source}");
    }
    assert_eq!(answer(""), json!([[[false, "no_sensor", true]], [0, []]]));
    // It takes nothing from a trip with a sensor.
    let beside = json!([[[true, null, true]], [1, [["_s", "unknown_class"]]]]);
    assert_eq!(answer("_s:contact ⇢ I-1:interlock; PT-1:transmitter ⇢ "), beside);
}

#[test]
fn a_switch_of_an_unclassified_variable_is_a_sensor_beside_another_one() {
    let sensors = |class: &str| {
        let plant = format!(
            "T-1:tank → XV-1:shutdown_valve → T-2:tank; LSHH-1:level_switch ⇢ I-1:interlock ⇢ XV-1; XS-1:{class} ⇢ I-1"
        );
        evaluate(&document(&plant), r#"loops() | filter(.loop == "I-1") | map([.sensors | map(.id), .closed])"#)
    };
    for class in ["instrument.earth_switch", "earth_switch", "instrument.seal_leak_switch"] {
        assert_eq!(sensors(class), json!([[["LSHH-1", "XS-1"], true]]), "{class}");
    }
    for class in ["instrument.selector_switch", "instrument.bypass_switch", "instrument.push_button"] {
        assert_ne!(sensors(class)[0][0], json!(["LSHH-1", "XS-1"]), "{class}");
    }
}

#[test]
fn a_blowdown_valve_of_a_trip_has_to_open() {
    let row = |valve: &str, rest: &str| {
        let plant = format!("T-1:tank → BDV-1:{valve} → {rest}; T-1 ⇢ PZHH-1:pressure_switch ⇢ UZ-1:interlock ⇢ BDV-1");
        evaluate(&document(&plant), "hazopNodes() | first() | .safeguards | first() | [.item.id, .kind, .certain]")
    };
    let flare = "FS-1:flare_stack";
    for (valve, rest, certain) in [
        ("blowdown_valve(fail_action=open)", flare, true),
        ("blowdown_valve", flare, true),
        ("ball_valve(fail_action=open)", flare, true),
        ("blowdown_valve(fail_action=closed)", flare, false),
        ("blowdown_valve(label=FC)", flare, false),
        ("blowdown_valve(fail_action=open, lock=locked_closed)", flare, false),
        ("blowdown_valve(fail_action=open, status=future)", flare, false),
        ("blowdown_valve(fail_action=open)", "HV-1:gate_valve(normal_position=closed) → FS-1:flare_stack", false),
        ("blowdown_valve(fail_action=open)", "HV-1:gate_valve(normal_position=open) → FS-1:flare_stack", false),
        ("blowdown_valve(fail_action=open)", "HV-1:gate_valve(normal_position=locked_open) → FS-1:flare_stack", true),
        ("blowdown_valve(fail_action=open)", "RO-1:restriction_orifice → FS-1:flare_stack", true),
        ("blowdown_valve(fail_action=open)", "D-1:knock_out_drum → FS-1:flare_stack", true),
        ("blowdown_valve(fail_action=open)", "V-8:vessel", false),
        ("blowdown_valve(fail_action=open)", "OPC-7:off_page_connector", false),
    ] {
        assert_eq!(row(valve, rest), json!(["BDV-1", "blowdown_valve", certain]), "{valve} {rest}");
    }
    let without_trip = "T-1:tank → BDV-1:blowdown_valve(fail_action=open) → FS-1:flare_stack";
    let safeguards = "hazopNodes() | map(.safeguards | map([.kind, .certain]))";
    check(without_trip, safeguards, r#"[[["blowdown_valve",false]]]"#);
}

#[test]
fn one_trip_that_is_certain_is_enough_for_its_valve() {
    let valve = r#"hazopNodes() | map(.safeguards | filter(.kind == "shutdown_valve") | map(.certain))"#;
    let plant = |by_hand: &str| {
        format!(
            "{by_hand}T-1:tank → ESDV-1:shutdown_valve(fail_action=closed) → T-2:tank; \
             T-1 ⇢ PZHH-1:pressure_switch ⇢ ESD-1:instrument.sis_logic ⇢ ESDV-1"
        )
    };
    check(&plant(""), valve, "[[true]]");
    check(&plant("HS-1:hand_switch ⇢ APS-1:instrument.sis_logic ⇢ ESD-1; "), valve, "[[true]]");
    let items = r#"hazopNodes() | map(.safeguards | filter(.kind == "safety") | map(.item.id))"#;
    check(&plant("HS-1:hand_switch ⇢ ESD-1; "), items, r#"[["ESD-1"]]"#);
    let none = plant("").replace("PZHH-1:pressure_switch", "HS-2:hand_switch");
    check(&none, valve, "[[false]]");
}

#[test]
fn a_loop_has_the_fail_positions_of_all_its_final_elements() {
    let fails = |first: &str, second: &str| {
        let plant = format!(
            "T-1:tank → PV-1A:control_valve{first}; T-1 → PV-1B:control_valve{second}; PT-1 ⇢ PIC-1 ⇢ PV-1A; PIC-1 ⇢ PV-1B"
        );
        evaluate(&document(&plant), "loops() | map(.fail_action) | first()")
    };
    assert_eq!(fails("(fail_action=FO)", "(fail_action=FC)"), json!("FO, FC"));
    assert_eq!(fails("(fail_action=FC)", "(fail_action=FC)"), json!("FC"));
    assert_eq!(fails("", "(fail_action=FC)"), json!("FC"));
    assert_eq!(fails("", ""), json!(null));
}

#[test]
fn a_fail_position_may_be_an_attribute_of_a_valve() {
    let query = r#"[(causeAndEffect().links | map(.fail_action)), (loops() | map(.fail_action)), (valveList() | map(.fail_action)),
        (validate({rules: "P112"}) | size())]"#;
    for (attributes, expected) in [
        (
            json!([{"name": "FailAction", "value": "Fail Open"}]),
            json!([["Fail Open"], ["Fail Open"], ["Fail Open"], 0]),
        ),
        (json!({"FailAction": "FC"}), json!([["FC"], ["FC"], ["FC"], 0])),
        (json!({"FailAction": " "}), json!([[null], [null], [null], 1])),
        (json!({}), json!([[null], [null], [null], 1])),
    ] {
        let plant = "T-1:tank → XV-1:shutdown_valve → T-2:tank; PSHH-1:pressure_switch ⇢ I-1:interlock ⇢ XV-1";
        let mut document: Value = serde_json::from_str(&document(plant)).expect("JSON");
        document["nodes"][1]["attributes"] = attributes.clone();
        assert_eq!(evaluate(&document.to_string(), query), expected, "{attributes}");
    }
    let by_label = "T-1:tank → XV-1:shutdown_valve(label=FC) → T-2:tank; PSHH-1 ⇢ XV-1";
    check(by_label, r#"validate({rules: "P112"}) | size()"#, "0");
}

#[test]
fn what_moves_the_valve_of_a_trip_too_is_no_sensor_of_it() {
    let rows = r#"loops() | filter(.kind == "trip") | map([.closed, .gap, .sensors | map(.id)])"#;
    let plant = |actuator: &str, rest: &str| {
        format!(
            "TT-1 ⇢ TIC-1 ⇢ _f:actuating_function ⇢ _a:{actuator} ⊳ TV-1:control_valve; T-1:tank → TV-1 → T-2:tank; \
             I-2:interlock ⇢ _g:actuating_function ⇢ _a{rest}"
        )
    };
    for actuator in ["actuating_system", "actuator", "positioner"] {
        check(&plant(actuator, ""), rows, r#"[[false,"no_sensor",[]]]"#);
        check(&plant(actuator, "; PSHH-3 ⇢ I-2"), rows, r#"[[true,null,["PSHH-3"]]]"#);
    }
}

#[test]
fn a_bubble_for_all_functions_is_the_initiator_of_its_trip() {
    let links = "causeAndEffect() | .links | map([.initiator.id, .final_element.id])";
    let plant =
        "T-1:tank → _v:shutdown_valve → _w:control_valve; LZAHH-1:process_instrumentation_function ⇢ _v; PZLL-2 ⇢ _w";
    check(plant, links, r#"[["LZAHH-1","_v"],["PZLL-2","_w"]]"#);
    let fed = "T-1:tank → _v:shutdown_valve; LT-1 ⇢ LZHH-1:process_instrumentation_function ⇢ _v";
    check(fed, links, r#"[["LT-1","_v"]]"#);
    let control = "T-1:tank → FV-1:control_valve; FIC-1:process_instrumentation_function ⇢ FV-1";
    check(control, links, "[]");
    let all = links.replace("causeAndEffect()", r#"causeAndEffect({scope: "all"})"#);
    check(control, &all, r#"[["FIC-1","FV-1"]]"#);
}

#[test]
fn air_that_is_drawn_as_a_pipe_leads_to_the_valve_of_the_actuator() {
    let rows = "causeAndEffect() | [.links | map([.initiator.id, .final_element.id]), .without_cause | map(.id), \
        .not_followed | map([.item.id, .reason])]";
    let actuator = "T-1:tank → XV-1:shutdown_valve → T-2:tank; PT-1 ⇢ PSHH-1 ⇢ SOV-1:solenoid_valve → \
        _a:instrument.actuator; _a ⊳ XV-1";
    check(actuator, rows, r#"[[["PT-1","XV-1"]],[],[]]"#);
    let pipe = "T-1:tank → XV-1:shutdown_valve → T-2:tank; PT-1 ⇢ PSHH-1 ⇢ SOV-1:solenoid_valve → XV-1";
    check(pipe, rows, r#"[[["PT-1","SOV-1"]],["XV-1"],[["SOV-1","air_line_or_pipe"]]]"#);
    let line = "T-1:tank → SOV-1:solenoid_valve → XV-1:shutdown_valve → T-2:tank; PT-1 ⇢ PSHH-1 ⇢ SOV-1";
    check(line, rows, r#"[[["PT-1","SOV-1"]],["XV-1"],[]]"#);
}

#[test]
fn a_section_with_a_valve_that_may_be_switched_is_not_certain() {
    let plant = |valve: &str, rest: &str| {
        format!("SDV-1:shutdown_valve → T-1:tank → {valve} → T-2:tank → SDV-2:shutdown_valve{rest}")
    };
    let uncertain = "inventorySections() | map(.uncertain | map([.reason, .at.id]))";
    for valve in [
        "USV-1:gate_valve",
        "KV-1:ball_valve",
        "_v:remote_operated_valve",
        "_v:motor_operated_valve",
        "_v:gate_valve(fail_action=closed)",
        "XY-1:ball_valve",
        "HCV-1:control_valve",
    ] {
        let id = valve.split(':').next().expect("an id");
        check(&plant(valve, ""), uncertain, &format!(r#"[[["possible_esd_valve","{id}"]]]"#));
    }
    for valve in ["HV-1:ball_valve", "FV-1:control_valve", "_v:pressure_regulator"] {
        check(&plant(valve, ""), uncertain, "[[]]");
    }
    // Whatever else is selected as the end of a section.
    let cut = uncertain.replace("inventorySections()", r#"inventorySections({cut: regex(.tag, "^SDV")})"#);
    check(&plant("_v:motor_operated_valve", ""), &cut, r#"[[["possible_esd_valve","_v"]]]"#);
    let trip = "; PSHH-1 ⇢ I-1 ⇢ FV-1";
    check(&plant("FV-1:control_valve", trip), uncertain, r#"[[["possible_esd_valve","FV-1"]]]"#);
}

#[test]
fn a_section_that_is_drawn_closed_between_its_equipment_is_not_certain() {
    let plant =
        |between: &str| format!("SDV-1:shutdown_valve → T-1:tank → {between} → T-2:tank → SDV-2:shutdown_valve");
    let uncertain = "inventorySections() | map(.uncertain | map([.reason, .at.id]))";
    let closed = r#"[[["closed_item","_v"]]]"#;
    check(&plant("_v:spectacle_blind(position=closed)"), uncertain, closed);
    check(&plant("_v:gate_valve(normal_position=closed)"), uncertain, closed);
    for text in ["label=closed", "label=LC", "remarks=closed", "locked_closed=true"] {
        check(&plant(&format!("_v:gate_valve({text})")), uncertain, closed);
    }
    check(&plant("_v:spectacle_blind(position=open)"), uncertain, "[[]]");
    // The closed bypass of an open valve, and a closed drain, separate no equipment.
    let bypass =
        format!("{}; _a → _w:gate_valve(normal_position=closed) → _b", plant("_a:tee → _v:gate_valve → _b:tee"));
    check(&bypass, uncertain, "[[]]");
    let drain = format!("{}; _a → _w:gate_valve(normal_position=closed) → _c:cap", plant("_a:tee"));
    check(&drain, uncertain, "[[]]");
    // The open end of a drain is behind its closed valve.
    let drains = |stated: &str| {
        format!(
            "{}; _a → _w:gate_valve({stated}) → _o:open_end; _a → _u:gate_valve({stated}) → _p:flange → _q:open_end",
            plant("_a:tee")
        )
    };
    for stated in ["normal_position=closed", "tag=DV-1, normal_position=closed", "label=closed", "remarks=LC"] {
        check(&drains(stated), uncertain, "[[]]");
    }
    for stated in
        ["", "normal_position=open", "normal_position=closed, status=removed", "label=closed, remarks=passing"]
    {
        let found = evaluate(&document(&drains(stated)), uncertain).to_string();
        assert!(found.contains(r#"["open_end","_o"]"#) && found.contains(r#"["open_end","_q"]"#), "{stated}: {found}");
    }
}

#[test]
fn a_section_whose_ends_may_not_work_is_not_certain() {
    let uncertain = "inventorySections() | first() | .uncertain | map([.reason, .at.id])";
    let plant = |valve: &str, branch: &str| format!("T-1:tank → {valve} → T-2:tank; T-1 → {branch} → O-1:open_end");
    let shutdown = "_s:shutdown_valve";
    check(&plant("_s:shutdown_valve(fail_action=open)", "_r:safety_valve"), uncertain, r#"[["fails_open","_s"]]"#);
    check(&plant("_s:shutdown_valve(fail_action=closed)", "_r:safety_valve"), uncertain, "[]");
    check(&plant("_s:shutdown_valve(status=hold)", "_r:safety_valve"), uncertain, r#"[["unknown_status","_s"]]"#);
    check(&plant(shutdown, "_r:safety_valve(status=removed)"), uncertain, r#"[["not_installed","_r"]]"#);
    for (stated, reason) in [
        ("normal_position=locked closed", "locked_closed"),
        ("fail_action=FC", "fails_closed"),
        ("fail_action=air to open", "fails_closed"),
        ("fail_action=FL", "fails_in_place"),
        ("fail_action=tbd", "unknown_fail_action"),
        ("label=FC", "fails_closed"),
        ("remarks=fails closed", "fails_closed"),
        ("label=LC", "locked_closed"),
        ("locked_closed=true", "locked_closed"),
    ] {
        let blowdown = format!("_b:blowdown_valve({stated})");
        check(&plant(shutdown, &blowdown), uncertain, &format!(r#"[["{reason}","_b"]]"#));
    }
    for stated in ["normal_position=closed", "fail_action=FO", "fail_action=ATC"] {
        check(&plant(shutdown, &format!("_b:blowdown_valve({stated})")), uncertain, "[]");
    }
    check(&plant(shutdown, "_x:piping_component.foo → _b:blowdown_valve"), uncertain, r#"[["unknown_class","_x"]]"#);
    check(&plant(shutdown, "_x:reducer → _b:blowdown_valve"), uncertain, "[]");
    // Closed right before the device by which the section would be relieved.
    for device in ["_b:blowdown_valve", "_r:safety_valve"] {
        let closed = format!("_v:gate_valve(normal_position=closed) → {device}");
        check(&plant(shutdown, &closed), uncertain, r#"[["closed_item","_v"]]"#);
        check(&plant(shutdown, &format!("_v:gate_valve(normal_position=open) → {device}")), uncertain, "[]");
    }
    // What only has the word of a control valve may be switched.
    let switched = "T-1:tank → _v:remote_controlled_ball_valve → T-3:tank → _s:shutdown_valve → T-2:tank";
    check(switched, uncertain, r#"[["possible_esd_valve","_v"]]"#);
}

#[test]
fn a_shutdown_valve_between_two_sections_is_at_the_boundary_of_both() {
    let plant = "T-1:tank → ESDV-1:control_valve → T-2:tank; PSHH-1 ⇢ ESDV-1";
    let cut = SAFEGUARDS.replace("hazopNodes()", r#"hazopNodes({cut: "control"})"#);
    let row =
        r#"["ESDV-1","shutdown_valve","P-1",null,"boundary",true],["PSHH-1","trip","P-1","unknown","boundary",true]"#;
    check(plant, &cut, &format!("[[{row}],[{row}]]"));
}

/// A control valve without a tag, moved by an actuating system with the tag `PV 47.02`.
const ACTUATED: &str = "T-1:tank → _v:gate_valve → T-2:tank; _a:instrument.actuating_system(tag=PV 47.02) ⊃ \
    _r:instrument.operated_valve_reference; _r ⊳ _v";

#[test]
fn the_tag_of_an_actuating_system_finds_its_valve_for_functions_on_flow() {
    for tag in ["PV 47.02", "PV-47.02", "PV47.02", "PV_47.02"] {
        check(ACTUATED, &format!("node(\"{tag}\").id"), r#""_a""#);
        check(ACTUATED, &format!("downstream(\"{tag}\") | map(.id)"), r#"["T-2"]"#);
        check(ACTUATED, &format!("node(\"{tag}\") | upstream() | map(.id)"), r#"["T-1"]"#);
        check(ACTUATED, &format!("trace(\"{tag}\") | map(.node.id)"), r#"["_v","T-2"]"#);
        check(ACTUATED, &format!("isolate(\"{tag}\").inside | map(.id)"), r#"["_v"]"#);
        check(ACTUATED, &format!("reachable(\"T-1\", \"{tag}\")"), "true");
        check(ACTUATED, &format!("boundary(\"T-1\", \"{tag}\").boundary | map(.id)"), r#"["_v"]"#);
    }
    check(ACTUATED, r#"downstream("PV 47.02", {edges: true}) | map(.id)"#, r#"["_r","_v","T-2"]"#);
    let unknown = r#""PQ3002: no node with id or tag \"PV 4702\"; did you mean \"PV 47.02\"?""#;
    check(ACTUATED, r#"downstream("PV 4702")"#, unknown);
}

#[test]
fn a_valve_and_its_actuators_with_one_tag_are_one_item() {
    let plant = "T-1:tank → PV-1:gate_valve → T-2:tank; _f:instrument.actuating_function(tag=PV 1) ⇢ \
        _a:instrument.actuating_system(tag=PV 1); _a ⊃ _r:instrument.operated_valve_reference(tag=PV 1); \
        _a ⊃ _m:instrument.controlled_actuator(tag=PV 1); _r ⊳ PV-1";
    for tag in ["PV-1", "PV 1", "PV1"] {
        check(plant, &format!("node(\"{tag}\").id"), r#""PV-1""#);
        check(plant, &format!("downstream(\"{tag}\") | map(.id)"), r#"["T-2"]"#);
    }
    check(plant, r#"node("_m") | downstream() | map(.id)"#, r#"["T-2"]"#);
}

#[test]
fn an_actuator_without_a_known_valve_and_a_controller_are_themselves() {
    check("T-1:tank → _v:gate_valve; _a:instrument.actuator(tag=PV 1)", r#"downstream("PV 1") | map(.id)"#, "[]");
    check("T-1:tank → _v:control_valve → T-2:tank; PIC-1 ⇢ _v", r#"downstream("PIC-1") | map(.id)"#, "[]");
    let two = "T-1:tank → _v:gate_valve → _w:gate_valve; _a:instrument.actuator(tag=PV 1) ⊳ _v; _a ⊳ _w";
    check(two, r#"downstream("PV 1") | map(.id)"#, "[]");
}

#[test]
fn an_ambiguous_tag_names_its_candidates() {
    let valves = "T-1:tank → PV-1:gate_valve → PV_1:gate_valve";
    check(valves, r#"node("PV-1").id"#, r#""PV-1""#);
    let spelling = r#""PQ3004: 2 nodes have the tag \"PV1\" if blanks and hyphens are ignored; use an id: \"PV-1\" (PV-1), \"PV_1\" (PV_1)""#;
    check(valves, r#"downstream("PV1")"#, spelling);
    let actuators = "T-1:tank → _v:gate_valve → _w:gate_valve; _a:instrument.actuator(tag=PV 1) ⊳ _v; \
        _b:instrument.actuator(tag=PV 1) ⊳ _w";
    let ambiguous = r#""PQ3004: 2 nodes have the tag \"PV 1\"; use an id: \"_a\", \"_b\"""#;
    check(actuators, r#"isolate("PV 1")"#, ambiguous);
    let other = r#""PQ3002: no node with id or tag \"P-10-1\"; did you mean \"P-101\"?""#;
    check("P-101:pump; K-7:pump", r#"node("P-10-1")"#, other);
}

/// Returns the loops of a drawing, one line each.
pub(crate) fn loops(plant: &str) -> Vec<String> {
    loops_of(&document(plant))
}

fn loops_of(document: &str) -> Vec<String> {
    let ids = |name: &str| format!("{name}: .{name} | map(.id)");
    let columns = ["sensors", "functions", "final_elements"].map(ids).join(", ");
    let query = format!(
        "loops() | map({{loop: .loop, kind: .kind, certain: .certain, closed: .closed, gap: .gap, {columns}, shared: .shared | map([.item.id, .loop])}})"
    );
    evaluate(document, &query).as_array().expect("rows").iter().map(line).collect()
}

fn line(row: &Value) -> String {
    let list = |key: &str| {
        let ids = row[key].as_array().expect("ids").iter();
        ids.map(|id| id.as_str().expect("an id")).collect::<Vec<_>>().join(",")
    };
    let text = |value: &Value| value.as_str().map_or(value.to_string(), String::from);
    let certain = if row["certain"] == true { "" } else { "?" };
    let closed = match row["closed"].as_bool() {
        Some(true) => "closed",
        Some(false) => "open",
        None => row["gap"].as_str().expect("a loop that may be closed has a gap"),
    };
    let [sensors, functions, final_elements] = ["sensors", "functions", "final_elements"].map(list);
    let (name, kind) = (text(&row["loop"]), text(&row["kind"]));
    let shared = row["shared"].as_array().expect("rows").iter();
    let shared: Vec<String> = shared.map(|row| format!("{} of {}", text(&row[0]), text(&row[1]))).collect();
    let shared = if shared.is_empty() { String::new() } else { format!(" | {}", shared.join(", ")) };
    format!("{name} {kind}{certain}: {sensors} | {functions} | {final_elements} | {closed}{shared}")
}

pub(crate) fn evaluate(document: &str, query: &str) -> Value {
    let graph = Graph::from_json(document).expect("the drawing is JSON");
    let result = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
    match result {
        Ok(json) => serde_json::from_str(&json).expect("a result is JSON"),
        Err(error) => json!(error.to_string()),
    }
}

/// Checks a query on a drawing.
pub(crate) fn check(plant: &str, query: &str, expected: &str) {
    assert_eq!(evaluate(&document(plant), query).to_string(), expected, "{query} on {plant}");
}

/// Edges: sign, kind, and class or direction.
const EDGES: &[(&str, &str, &str)] = &[
    ("→", "piping", ""),
    ("⇢", "signal", ""),
    ("~", "signal", "both"),
    ("⊃", "has_a", ""),
    ("⊳", "associated_with", "association.refers_to"),
    ("@", "associated_with", "association.is_located_in"),
];

/// Returns a drawing as a document.
pub(crate) fn document(plant: &str) -> String {
    let (mut nodes, mut edges): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for chain in plant.split(';').map(str::trim) {
        let mut before: Option<String> = None;
        let mut edge = EDGES[0];
        for word in words(chain) {
            if let Some(sign) = EDGES.iter().find(|(sign, ..)| *sign == word) {
                edge = *sign;
                continue;
            }
            let id = add_item(&mut nodes, &word);
            if let Some(before) = before.replace(id.clone()) {
                edges.push(json!({"id": edges.len(), "from": before, "to": id, "edge_type": edge.1,
                    "edge_classification": if edge.2 == "both" { "" } else { edge.2 },
                    "direction": if edge.2 == "both" { "both" } else { "" }}));
            }
        }
    }
    json!({"nodes": nodes, "edges": edges}).to_string()
}

/// Splits a chain at blanks outside of parentheses.
fn words(chain: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0;
    for c in chain.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match c {
            ' ' if depth == 0 => words.push(String::new()),
            c => words.last_mut().expect("a word").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Adds an item if it is new; a later mention may define its class.
fn add_item(nodes: &mut Vec<Value>, word: &str) -> String {
    let (word, fields) = word.split_once('(').map_or((word, ""), |(word, fields)| (word, fields.trim_end_matches(')')));
    let (id, class) = word.split_once(':').unwrap_or((word, ""));
    let at = nodes.iter().position(|node| node["id"] == id).unwrap_or_else(|| {
        let mut node = Map::new();
        node.insert("id".into(), json!(id));
        node.insert("class".into(), json!("instrument"));
        if !id.starts_with('_') {
            node.insert("tag".into(), json!(id));
        }
        nodes.push(Value::Object(node));
        nodes.len() - 1
    });
    if !class.is_empty() {
        nodes[at]["class"] = json!(class);
        nodes[at]["node_type"] = json!(if class.ends_with("loop") { class } else { "component" });
    }
    for (name, value) in fields.split(',').filter_map(|field| field.split_once('=')) {
        nodes[at][name] = value.parse::<f64>().map_or(json!(value), |number| json!(number));
    }
    id.into()
}

/// A level switch that trips a valve, with further fields of an item or an edge, by its id or by its index.
pub(crate) fn trip_with(at: &Value, fields: &Value) -> String {
    let mut plant = json!({
        "nodes": [
            {"id": "V-1", "tag": "V-1", "class": "vessel"},
            {"id": "V-1N3", "tag": "N3", "class": "nozzle", "parent_id": "V-1"},
            {"id": "XV-1", "tag": "XV-1", "class": "shutdown_valve", "fail_action": "closed"},
            {"id": "V-2", "tag": "V-2", "class": "vessel"},
            {"id": "LSHH-1", "tag": "LSHH-1", "class": "level_switch"},
            {"id": "I-1", "tag": "I-1", "class": "instrument.interlock", "integrity_level": "SIL 2"}
        ],
        "edges": [
            {"id": "p1", "from": "V-2", "to": "XV-1"},
            {"id": "p2", "from": "XV-1", "to": "V-1"},
            {"id": "s0", "from": "V-1N3", "to": "LSHH-1", "type": "signal"},
            {"id": "s1", "from": "LSHH-1", "to": "I-1", "type": "signal"},
            {"id": "s2", "from": "I-1", "to": "XV-1", "type": "signal"}
        ]
    });
    for list in ["nodes", "edges"] {
        let items = plant[list].as_array_mut().expect("a list").iter_mut();
        let found = items.filter(|item| item["id"] == *at).filter_map(Value::as_object_mut);
        found.for_each(|item| item.extend(fields.as_object().expect("fields").clone()));
    }
    plant.to_string()
}

/// Returns whether the trip and the safeguards of it are certain.
pub(crate) fn certain_trip(at: &str, fields: &Value) -> bool {
    let document = trip_with(&json!(at), fields);
    let loops = evaluate(&document, "loops() | map(.certain)");
    let safeguards = evaluate(&document, "hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq()");
    loops == json!([true]) && safeguards == json!([true])
}

#[test]
fn the_signals_of_a_trip_and_the_way_to_its_sensor_have_to_be_there() {
    assert!(certain_trip("", &json!({})));
    for signal in ["s0", "s1", "s2"] {
        for fields in [
            json!({"status": "future"}),
            json!({"is_future": true}),
            json!({"remarks": "disconnected"}),
            json!({"remarks": "signal bypassed"}),
            json!({"description": "disabled"}),
            json!({"disabled": true}),
        ] {
            assert!(!certain_trip(signal, &fields), "{signal} {fields}");
        }
        assert!(certain_trip(signal, &json!({"description": "24 V DC", "cable": "C-101"})), "{signal}");
    }
    for fields in
        [json!({"label": "PERMISSIVE TO OPEN"}), json!({"description": "start"}), json!({"label": "alarm only"})]
    {
        assert!(!certain_trip("s2", &fields), "{fields}");
    }
    assert!(certain_trip("s2", &json!({"description": "CLOSE"})));
}

#[test]
fn a_trip_whose_signal_or_logic_does_something_else_to_its_valve_is_not_certain() {
    for (at, fields) in [
        ("s2", json!({"label": "OPEN"})),
        ("s2", json!({"description": "inhibit opening"})),
        ("s2", json!({"label": "position feedback"})),
        ("s2", json!({"label": "status"})),
        ("s2", json!({"label": "AUF"})),
        ("s2", json!({"description": "ouverture"})),
        ("s2", json!({"signal_type": "permissive"})),
        ("I-1", json!({"description": "start permissive"})),
        ("I-1", json!({"type": "permissive"})),
        ("I-1", json!({"description": "opens XV-1 on high level"})),
        ("I-1", json!({"action": "open XV-1"})),
        ("I-1", json!({"remarks": "öffnet bei Hochstand"})),
    ] {
        assert!(!certain_trip(at, &fields), "{at} {fields}");
        let found = evaluate(&trip_with(&json!(at), &fields), "causeAndEffect().not_followed | map(.reason)");
        assert_ne!(found, json!([]), "{at} {fields}");
    }
    for (at, fields) in [
        ("s2", json!({"label": "OPEN/CLOSE"})),
        ("s2", json!({"label": "trip"})),
        ("s2", json!({"description": "normally open contact"})),
        ("s1", json!({"label": "status"})),
        ("I-1", json!({"description": "closes XV-1, opens BDV-2"})),
        ("I-1", json!({"description": "opens BDV-2 on high level"})),
        ("I-1", json!({"description": "high level trip, contacts open on trip"})),
        ("I-1", json!({"action": "close XV-1"})),
    ] {
        assert!(certain_trip(at, &fields), "{at} {fields}");
        let found = evaluate(&trip_with(&json!(at), &fields), "causeAndEffect().not_followed");
        assert_eq!(found, json!([]), "{at} {fields}");
    }
}

#[test]
fn a_valve_with_a_signal_for_each_direction_has_the_one_that_trips_it() {
    let certain = |valve: &str, labels: [&str; 2]| {
        let edges: Vec<Value> = [("V-1", "LSHH-1"), ("LSHH-1", "I-1")]
            .into_iter()
            .map(|(from, to)| json!({"from": from, "to": to, "type": "signal"}))
            .chain(labels.map(|label| json!({"from": "I-1", "to": "Y-1", "type": "signal", "label": label})))
            .chain([json!({"from": "V-1", "to": "Y-1"}), json!({"from": "Y-1", "to": "FL-1"})])
            .collect();
        let plant = json!({
            "nodes": [
                {"id": "V-1", "class": "vessel"}, {"id": "LSHH-1", "class": "level_switch", "tag": "LSHH-1"},
                {"id": "I-1", "class": "interlock", "tag": "I-1"}, {"id": "Y-1", "class": valve}, {"id": "FL-1", "class": "flare"}
            ],
            "edges": edges
        });
        evaluate(&plant.to_string(), "causeAndEffect().not_followed | size() == 0")
    };
    for (valve, labels, expected) in [
        ("blowdown_valve", ["OPEN", "CLOSE"], true),
        ("blowdown_valve", ["OPEN", "OPEN"], true),
        ("blowdown_valve", ["CLOSE", "CLOSE"], false),
        ("shutdown_valve", ["OPEN", "CLOSE"], true),
        ("shutdown_valve", ["OPEN", "OPEN"], false),
    ] {
        assert_eq!(certain(valve, labels), json!(expected), "{valve} {labels:?}");
    }
}

#[test]
fn a_voting_block_needs_as_many_sensors_as_it_votes_on() {
    let certain = |voter: &str, count: usize| {
        let sensors = ["A", "B", "C"].iter().take(count);
        let signals = sensors.map(|suffix| format!("; V-1 ⇢ LSHH-1{suffix}:level_switch ⇢ VT-1")).collect::<String>();
        let plant = format!(
            "V-2:vessel → XV-1:shutdown_valve(fail_action=closed) → V-1:vessel; VT-1:{voter} ⇢ I-1:interlock ⇢ XV-1{signals}"
        );
        let query =
            r#"hazopNodes() | map(.safeguards | filter(.item.id == "XV-1") | map(.certain)) | flatten() | uniq()"#;
        evaluate(&document(&plant), query)
    };
    for voter in ["instrument.voting(label=2oo3)", "voting_block(description=2oo3)", "voter(logic=2 out of 3)"] {
        assert_eq!(certain(voter, 1), json!([false]), "{voter}");
        assert_eq!(certain(voter, 2), json!([false]), "{voter}");
        assert_eq!(certain(voter, 3), json!([true]), "{voter}");
    }
    assert_eq!(certain("instrument.voting(label=1oo1)", 1), json!([true]));
}

#[test]
fn what_an_item_of_a_trip_states_in_other_columns_counts() {
    for (at, fields) in [
        ("XV-1", json!({"valve_status": "removed"})),
        ("XV-1", json!({"signal_status": "disabled"})),
        ("I-1", json!({"maintenance_override": true})),
        ("LSHH-1", json!({"device_state": "defective"})),
        ("I-1", json!({"architecture": "2oo2"})),
        ("I-1", json!({"MooN": "2oo3"})),
        ("I-1", json!({"voting": "2 von 3"})),
        ("I-1", json!({"remarks": "2 out of 3"})),
        ("I-1", json!({"group_logic": "2oo3"})),
    ] {
        assert!(!certain_trip(at, &fields), "{at} {fields}");
    }
    for (at, fields) in [
        ("XV-1", json!({"vendor": "Velan", "valve_condition": "good"})),
        ("I-1", json!({"architecture": "1oo1", "sheet": "2 of 3"})),
        ("LSHH-1", json!({"range": "0..100 %", "signal_type": "4-20 mA"})),
    ] {
        assert!(certain_trip(at, &fields), "{at} {fields}");
    }
    let by_hand = |fields: &Value| {
        let document = trip_with(&json!("XV-1"), fields);
        evaluate(
            &document,
            r#"hazopNodes() | map(.safeguards | filter(.item.id == "XV-1") | map(.certain)) | flatten() | uniq()"#,
        )
    };
    for fields in [json!({"actuator_type": "manual"}), json!({"actuator": "handwheel"}), json!({"operator": "lever"})] {
        assert_eq!(by_hand(&fields), json!([false]), "{fields}");
    }
    assert_eq!(by_hand(&json!({"actuator_type": "pneumatic"})), json!([true]));
    for fields in [
        json!({"remarks": "blockiert offen"}),
        json!({"remarks": "von Hand offen"}),
        json!({"remarks": "bloquée ouverte"}),
        json!({"remarks": "commande manuelle"}),
        json!({"remarks": "électrovanne shuntée"}),
        json!({"remarks": "Sicherheitsstellung AUF"}),
        json!({"remarks": "FAO"}),
        json!({"on_signal_failure": "open"}),
    ] {
        assert_eq!(by_hand(&fields), json!([false]), "{fields}");
    }
    for fields in [
        json!({"remarks": "Sicherheitsstellung ZU"}),
        json!({"remarks": "FAC"}),
        json!({"remarks": "mit Handrad"}),
        json!({"on_signal_failure": "closed"}),
        json!({"description": "vanne d'arrêt d'urgence"}),
    ] {
        assert_eq!(by_hand(&fields), json!([true]), "{fields}");
    }
}

#[test]
fn a_check_valve_that_a_field_or_a_text_says_to_let_a_flow_back_is_not_certain() {
    let certain = |fields: &Value| {
        let mut valve = json!({"id": "CV-1", "tag": "CV-1", "class": "check_valve"});
        valve.as_object_mut().expect("an item").extend(fields.as_object().expect("fields").clone());
        let plant = json!({
            "nodes": [{"id": "V-1", "class": "vessel"}, valve, {"id": "V-2", "class": "vessel"}],
            "edges": [{"from": "V-1", "to": "CV-1"}, {"from": "CV-1", "to": "V-2"}]
        });
        evaluate(&plant.to_string(), "hazopNodes() | map(.safeguards | map(.certain)) | flatten() | uniq()")
    };
    for fields in [
        json!({"drilled": true}),
        json!({"internals": "removed"}),
        json!({"has_bypass": true}),
        json!({"remarks": "fuyard"}),
        json!({"remarks": "bloqué ouvert"}),
    ] {
        assert_eq!(certain(&fields), json!([false]), "{fields}");
    }
    for fields in [
        json!({}),
        json!({"drilled": false}),
        json!({"internals": "stainless steel"}),
        json!({"remarks": "DN 80"}),
        json!({"flange_drilling": "PN 16"}),
        json!({"actuated": false}),
        json!({"manufacturer": "A"}),
    ] {
        assert_eq!(certain(&fields), json!([true]), "{fields}");
    }
}

#[test]
fn a_valve_with_the_class_of_its_body_is_a_shutdown_valve_if_a_trip_closes_it() {
    let rows = |valve: &str, rest: &str| {
        let plant = format!("T-1:tank → _a:tee → {valve} → _b:tee → T-2:tank{rest}");
        let query = r#"hazopNodes() | map(.safeguards | filter(.kind == "shutdown_valve") | map([.item.id, .certain])) | flatten()"#;
        evaluate(&document(&plant), query)
    };
    let trip = "; T-1 ⇢ LSLL-1 ⇢ I-1:instrument.interlock ⇢ XV-1";
    for body in ["ball_valve", "globe_valve", "butterfly_valve", "BallValve"] {
        assert_eq!(rows(&format!("XV-1:{body}(fail_action=closed)"), trip), json!([["XV-1", true]]), "{body}");
        assert_eq!(rows(&format!("XV-1:{body}(fail_action=open)"), trip), json!([["XV-1", false]]), "{body}");
        // Nothing trips it.
        assert_eq!(rows(&format!("XV-1:{body}"), ""), json!([]), "{body}");
    }
    let hand = trip.replace("XV-1", "HV-1");
    assert_eq!(rows("HV-1:ball_valve(fail_action=closed)", &hand), json!([["HV-1", true]]));
    // A control valve that a trip closes too has another purpose.
    let control = trip.replace("XV-1", "FV-1");
    assert_eq!(rows("FV-1:control_valve(fail_action=closed)", &control), json!([]));
    assert_eq!(rows("FV-1:GlobeValve(fail_action=closed)", &control), json!([]));
    let anti_surge = trip.replace("XV-1", "UV-1");
    assert_eq!(rows("UV-1:control_valve(fail_action=open)", &anti_surge), json!([]));
    // An open way around it.
    let around = format!("{trip}; _a → _v:gate_valve(normal_position=open) → _b");
    assert_eq!(rows("XV-1:ball_valve(fail_action=closed)", &around), json!([["XV-1", false]]));
    let tripped_too = format!("{trip}; _a → XV-2:ball_valve(fail_action=closed) → _b; I-1 ⇢ XV-2");
    assert_eq!(rows("XV-1:ball_valve(fail_action=closed)", &tripped_too), json!([["XV-1", true], ["XV-2", true]]));
}

#[test]
fn the_motor_of_a_valve_without_a_fail_position_leaves_it_where_it_is() {
    let is_certain = |fields: &Value| certain_trip("XV-1", fields);
    for fields in [
        json!({"fail_action": null, "operator": "motor"}),
        json!({"fail_action": null, "actuator": "electric motor"}),
        json!({"fail_action": null, "class": "motor_operated_valve"}),
        json!({"fail_action": "last"}),
    ] {
        assert!(!is_certain(&fields), "{fields}");
    }
    for fields in [
        json!({"operator": "motor"}),
        json!({"fail_action": null}),
        json!({"fail_action": null, "actuator": "pneumatic"}),
    ] {
        assert!(is_certain(&fields), "{fields}");
    }
}

#[test]
fn the_usual_texts_of_the_parts_of_a_trip_leave_it_certain() {
    for (at, text) in [
        ("LSHH-1", "Pump not running"),
        ("LSHH-1", "Agitator not running"),
        ("LSHH-1", "Valve not closed"),
        ("LSHH-1", "Suction valve not open"),
        ("LSHH-1", "Earth not connected"),
        ("LSHH-1", "Purge not complete"),
        ("LSHH-1", "Lube oil not available"),
        ("LSHH-1", "Door not closed"),
        ("LSHH-1", "Missing phase"),
        ("LSHH-1", "Blocked filter (high dP)"),
        ("LSHH-1", "Vessel overfilled"),
        ("LSHH-1", "Valve failed to close"),
        ("LSHH-1", "Wet leg filled with glycol"),
        ("LSHH-1", "Not shared with control"),
        ("I-1", "Implemented in SIS (Triconex)"),
        ("I-1", "Trips if LT-7 < 10 %"),
        ("I-1", "Emergency shutdown, not resettable remotely"),
        ("XV-1", "Normally open, closes on trip"),
        ("XV-1", "Pneumatic, spring return"),
        ("XV-1", "Spring return, fail closed"),
        ("XV-1", "Spring to close"),
        ("XV-1", "Air to open, spring to close"),
        ("XV-1", "ESD valve, partial stroke tested"),
        ("XV-1", "Inlet shutdown valve, fireproofed"),
    ] {
        assert!(certain_trip(at, &json!({"description": text})), "{at} {text}");
    }
    for (at, text) in [
        ("LSHH-1", "not active"),
        ("LSHH-1", "Pump trip defeated"),
        ("LSHH-1", "level switch not connected"),
        ("LSHH-1", "impulse line blocked"),
        ("LSHH-1", "missing"),
        ("LSHH-1", "not yet in service"),
        ("LSHH-1", "level float detached"),
        ("LSHH-1", "low flow, pump to be confirmed: not verified"),
        ("I-1", "Trips if selected"),
        ("I-1", "pump interlock disabled"),
        ("XV-1", "Spring to open"),
        ("XV-1", "opens on trip"),
        ("XV-1", "passing"),
        ("XV-1", "partially open"),
        ("XV-1", "with bypass"),
    ] {
        assert!(!certain_trip(at, &json!({"description": text})), "{at} {text}");
    }
}

#[test]
fn the_standby_pump_of_a_pair_is_stopped_by_its_trip() {
    let plant = |fields: &str| format!("T-1:tank → _s:strainer → P-1:pump({fields}) → T-2:tank; _s ⇢ LSLL-1 ⇢ P-1");
    let certain = "loops() | map(.certain)";
    for text in ["Reflux pump (spare)", "Reflux pump; 1 spare", "Installed spare", "spare", "Standby pump"] {
        check(&plant(&format!("description={text}")), certain, "[true]");
    }
    for text in ["out of service", "Reflux pump (removed)", "spare - out of service"] {
        check(&plant(&format!("description={text}")), certain, "[false]");
    }
}

#[test]
fn logic_whose_tag_has_the_letter_of_a_transmitter_is_logic_by_its_class() {
    let plant = |logic: &str| format!("T-1:tank → XV-1:shutdown_valve; T-1 ⇢ LT-7 ⇢ LZLL-7 ⇢ {logic} ⇢ XV-1");
    for logic in ["MFT-1:instrument.interlock", "BMS-1:instrument.interlock", "MFT-1:logic_solver"] {
        let lines = loops(&plant(logic));
        assert!(
            lines.iter().any(|line| line.starts_with("LZ-7 safety: LT-7 |") && line.ends_with("closed")),
            "{lines:?}"
        );
    }
    // A transmitter is one.
    let lines = loops("T-1:tank → FV-1:control_valve; MT-1:transmitter ⇢ MIC-1 ⇢ FV-1");
    assert_eq!(lines, ["M-1 control: MT-1 | MIC-1 | FV-1 | closed"]);
}

#[test]
fn an_analyzer_is_an_instrument_without_a_prefix() {
    for class in ["Analyzer", "analyser", "OxygenAnalyzer", "gas_analyser"] {
        let lines = loops(&format!("T-1:tank → XV-1:shutdown_valve; AT-5:{class} ⇢ AZHH-5 ⇢ XV-1"));
        assert_eq!(lines, ["AZ-5 safety: AT-5 | AZHH-5 | XV-1 | closed"], "{class}");
    }
}

#[test]
fn a_solenoid_valve_with_its_supply_of_air_passes_a_trip_on() {
    let plant = |signal: &str| {
        format!(
            "T-1:tank → XV-1:shutdown_valve(fail_action=closed) → T-2:tank; T-1 ⇢ LSLL-1 ⇢ I-1:instrument.interlock ⇢ \
             XY-1:solenoid_valve; OPC-9:off_page_connector → HV-9:ball_valve → XY-1{signal}"
        )
    };
    let lines = loops(&plant("; XY-1 ⇢ XV-1"));
    assert!(lines.iter().any(|line| line == "L-1 trip: LSLL-1 | I-1,XY-1 | XV-1 | closed"), "{lines:?}");
    assert!(lines.iter().all(|line| !line.starts_with("X-1")), "{lines:?}");
    let certain = r#"hazopNodes() | map(.safeguards | filter(.item.id == "XV-1") | map(.certain)) | flatten()"#;
    check(&plant("; XY-1 ⇢ XV-1"), certain, "[true]");
    let links = "causeAndEffect() | .links | map([.initiator.id, .final_element.id])";
    check(&plant("; XY-1 ⇢ XV-1"), links, r#"[["LSLL-1","XV-1"]]"#);
    // A solenoid valve in a line, which nothing leads on from, is the final element.
    let own = "T-1:tank → XY-1:solenoid_valve → T-2:tank; T-1 ⇢ LSLL-1 ⇢ XY-1; XY-1 ⇢ ZSC-1";
    check(own, links, r#"[["LSLL-1","XY-1"]]"#);
}

#[test]
fn an_interlock_with_a_signal_without_a_direction_is_no_sensor() {
    let lines = loops("T-1:tank → P-1:pump; TT-2:transmitter ~ TSHH-2; TSHH-2 ~ I-2:instrument.interlock; I-2 ~ P-1");
    assert_eq!(lines, ["T-2 trip?: TT-2 | TSHH-2,I-2 | P-1 | closed"]);
}

#[test]
fn tags_with_a_unit_or_a_machine_before_them_are_trips() {
    for prefix in ["U100-", "B1-", "GTG-", "C-101-", "K101-", "100-A-", "20-"] {
        let plant = format!(
            "T-1:tank → {prefix}ESDV-101:ball_valve(operation=pneumatic) → T-2:tank; {prefix}PSHH-101:pressure_switch ⇢ \
             {prefix}ESDV-101"
        );
        let rows =
            "[causeAndEffect().links | map([.initiator.id, .final_element.id, .kind]), inventorySections() | size()]";
        let link = format!(r#"["{prefix}PSHH-101","{prefix}ESDV-101","trip"]"#);
        check(&plant, rows, &format!("[[{link}],2]"));
    }
}

#[test]
fn control_systems_and_selectors_trip_nothing() {
    for (tag, class) in [
        ("DCS", "instrument.dcs"),
        ("BPCS", "instrument.dcs"),
        ("PCS", "instrument.process_control_system"),
        ("LSS-2", "instrument.low_signal_selector"),
        ("HSS-2", "instrument.high_signal_selector"),
        ("LSY-2", "instrument.signal_selector"),
    ] {
        let plant = format!("T-1:tank → LV-2:control_valve → T-2:tank; T-1 ⇢ LT-2:transmitter ⇢ {tag}:{class} ⇢ LV-2");
        check(&plant, r#"causeAndEffect().links | filter(.kind == "trip") | size()"#, "0");
    }
    let switch = "T-1:tank → XV-2:shutdown_valve → T-2:tank; HSS-2:instrument.selector_switch ⇢ XV-2";
    check(switch, r#"causeAndEffect().links | map(.initiator.id)"#, r#"["HSS-2"]"#);
}

#[test]
fn a_way_back_to_equipment_without_nozzles_past_a_check_valve_leads_around_nothing() {
    let trip = "LT-1 @ V-1; LT-1 ⇢ LSLL-1:level_switch ⇢ XV-1";
    for (pipes, is_certain) in [
        ("V-1:vessel → XV-1:shutdown_valve(fail_action=closed) → CK-1:check_valve → V-1", true),
        ("CK-1:check_valve → V-1:vessel; V-1 → XV-1:shutdown_valve(fail_action=closed); XV-1 → CK-1", true),
        // The flow that the valve is to stop goes on past the check valve.
        (
            "V-1:vessel → XV-1:shutdown_valve(fail_action=closed) → J-1:pipe_tee → T-1:tank; V-1 → CK-1:check_valve → J-1",
            false,
        ),
        (
            "V-1:vessel → XV-1:shutdown_valve(fail_action=closed) → J-1:pipe_tee → T-1:tank; J-1 → CK-1:check_valve → V-1",
            true,
        ),
        (
            "V-1:vessel → XV-1:shutdown_valve(fail_action=closed) → J-1:pipe_tee → T-1:tank; J-1 → HV-1:gate_valve → V-1",
            false,
        ),
        (
            "J-1:pipe_tee → HV-1:gate_valve → V-1:vessel; V-1 → XV-1:shutdown_valve(fail_action=closed) → J-1 → T-1:tank",
            false,
        ),
    ] {
        let plant = format!("{pipes}; {trip}");
        let found = r#"hazopNodes() | flatMap(.safeguards) | filter(.item.id == "XV-1") | map(.certain) | uniq()"#;
        check(&plant, found, &json!([is_certain]).to_string());
    }
}

#[test]
fn a_way_that_joins_at_the_nozzle_of_a_safeguard_leads_around_it() {
    // Between two nozzles, and between a tee and a nozzle.
    for ends in [["N1", "N2"], ["J-1", "N2"], ["N1", "J-1"]] {
        for (class, tag) in
            [("shutdown_valve(fail_action=closed)", "XV-1"), ("check_valve", "CK-1"), ("flame_arrester", "FA-1")]
        {
            let [from, to] = ends;
            let class_of = |end: &str| if end == "J-1" { "pipe_tee" } else { "nozzle" };
            let outer = match from {
                "J-1" => "N1:nozzle → J-1".to_owned(),
                _ if to == "J-1" => "J-1 → N2:nozzle".to_owned(),
                _ => String::new(),
            };
            let way = |valve: &str| {
                format!(
                    "{from}:{} → {tag}:{class} → {to}:{}; {outer}; {from} → {valve} → {to}; T-1:tank ⊳ N1; T-2:tank ⊳ N2; \
                     PSHH-1:pressure_switch @ T-1; PSHH-1 ⇢ {}",
                    class_of(from),
                    class_of(to),
                    if tag == "XV-1" { tag } else { "K-9:interlock" }
                )
            };
            let found = format!(
                r#"hazopNodes() | flatMap(.safeguards) | filter(.item.id == "{tag}") | map(.certain) | uniq()"#
            );
            check(&way("HV-9:globe_valve(normal_position=open)"), &found, &json!([false]).to_string());
            check(&way("HV-9:globe_valve(normal_position=closed)"), &found, &json!([true]).to_string());
        }
    }
}

#[test]
fn an_open_end_beside_a_flame_arrester_leads_around_it() {
    let plant = |others: &str| format!("T-1:tank → J-1:pipe_tee → FA-1:flame_arrester → OE-1:open_end{others}");
    let found = r#"hazopNodes() | flatMap(.safeguards) | filter(.item.id == "FA-1") | map(.certain) | uniq()"#;
    for (others, is_certain) in [
        ("", true),
        ("; J-1 → OE-2:open_end", false),
        ("; T-1 → OE-2:open_end", false),
        ("; J-1 → HV-1:gate_valve(normal_position=open) → OE-2:open_end", false),
        ("; J-1 → HV-1:gate_valve(normal_position=closed) → OE-2:open_end", true),
        ("; J-1 → FA-2:flame_arrester → OE-2:open_end", true),
        // A drain is opened only for a time.
        ("; T-1 → HV-1:gate_valve → OE-2:open_end", true),
        ("; T-1 → PSV-1:safety_valve → OE-2:open_end", true),
    ] {
        check(&plant(others), found, &json!([is_certain]).to_string());
    }
}
