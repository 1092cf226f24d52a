/** The questions of the gallery. Each runs on the demo drawing "plant-100". */

export interface Question {
  group: "Isolation" | "Loops and trips" | "Lists" | "Flow" | "Safety" | "Checks";
  title: string;
  explanation: string;
  query: string;
}

export const QUESTIONS: Question[] = [
  {
    group: "Isolation",
    title: "What isolates a pump?",
    explanation: "The valves that close every branch, and how certain each one is.",
    query:
      'isolate("P-101A") | .barriers\n  | map({tag: .node.tag, action: .action, position: .position, kind: .kind, certain: .certain})',
  },
  {
    group: "Isolation",
    title: "What stays open?",
    explanation: "Branches of the isolation that reach no valve, and what they reach.",
    query: 'isolate("V-101") | .unresolved | map({at: .at.tag, kind: .kind, path: .path | map(.tag)})',
  },
  {
    group: "Isolation",
    title: "Isolation plan, step by step",
    explanation: "What to close, lock and verify, in order.",
    query: 'isolationPlan("P-101A") | .steps | map({action: .action, tag: .node.tag})',
  },
  {
    group: "Isolation",
    title: "Drains and vents",
    explanation: "Branches by which a part of the plant may be drained or vented.",
    query:
      "[drains(), vents()] | flatten()\n  | map({at: .at | coalesce(.qualified_tag, .tag), valves: .items | map(.tag), end: .end.tag})",
  },
  {
    group: "Loops and trips",
    title: "Loops without a final element",
    explanation: "Loops that indicate only, or that are drawn incompletely.",
    query:
      "loops() | filter((.final_elements | size()) == 0)\n  | map({loop: .loop, kind: .kind, sensors: .sensors | map(.tag)})",
  },
  {
    group: "Loops and trips",
    title: "Control loops and their valves",
    explanation: "Each closed loop with its final elements.",
    query:
      "loops() | filter(.closed)\n  | map({loop: .loop, kind: .kind, final_elements: .final_elements | map(.tag)})",
  },
  {
    group: "Loops and trips",
    title: "Cause and effect",
    explanation: "The final elements that each initiator acts on, as a matrix.",
    query: 'causeAndEffect({scope: "all"}).matrix',
  },
  {
    group: "Loops and trips",
    title: "Instrument index",
    explanation: "One row for each instrument: measured variable, loop, place.",
    query: "instrumentIndex() | pick(.tag, .variable, .loop, .attached_to, .line)",
  },
  {
    group: "Lists",
    title: "Lines of a piping class",
    explanation: "The lines with a class, with sizes and ends.",
    query:
      'lineList() | filter(.piping_class == "B1B")\n  | pick(.line, .fluid_code, .nominal_diameter, .from, .to)',
  },
  {
    group: "Lists",
    title: "Valve list",
    explanation: "Role, size, line, normal position and fail action of each valve.",
    query: "valveList()",
  },
  {
    group: "Lists",
    title: "Equipment list",
    explanation: "One row for each item of equipment.",
    query: "equipmentList()",
  },
  {
    group: "Lists",
    title: "Bill of material",
    explanation: "Components counted by class, size and piping class.",
    query: "materialList()",
  },
  {
    group: "Lists",
    title: "Connections to other sheets",
    explanation: "Off-page connectors with their direction, line and drawing.",
    query: "offPageList()",
  },
  {
    group: "Flow",
    title: "Equipment downstream of a tank",
    explanation: "What the flow reaches, through all equipment.",
    query:
      'downstream("T-101", {pass: "any"})\n  | filter(startsWith(.node_classification, "equipment."))\n  | map({tag: .tag, service: .service})',
  },
  {
    group: "Flow",
    title: "Path between two items",
    explanation: "The items that lie on the shortest way along the pipes.",
    query: 'shortestPath("T-101", "V-101", {pass: "any"}) | .nodes',
  },
  {
    group: "Flow",
    title: "Valves that fail open",
    explanation: "Control valves and others that open when they lose air or power.",
    query: 'valveList() | filter(.fail_action == "open") | pick(.tag, .role, .line)',
  },
  {
    group: "Safety",
    title: "Relief devices",
    explanation: "Set pressure, protected equipment, and valves in the path.",
    query:
      "reliefList()\n  | pick(.tag, .set_pressure, .size, .protects, .inlet_valves, .discharges_to, .relief_path, .certain)",
  },
  {
    group: "Safety",
    title: "Where the design pressure changes",
    explanation: "Interfaces between high and low pressure, and whether that is certain.",
    query:
      "pressureInterfaces() | .interfaces\n  | map({at: .at | coalesce(.qualified_tag, .tag), from: .from.design_pressure, to: .to.design_pressure, certain: .certain})",
  },
  {
    group: "Safety",
    title: "Sections for a hazard review",
    explanation: "The piping between major equipment, with its ends.",
    query: "hazopNodes() | map({section: .section, from: .from, to: .to})",
  },
  {
    group: "Safety",
    title: "Corrosion circuits",
    explanation: "Connected piping with the same fluid, class and conditions.",
    query: "corrosionCircuits() | pick(.circuit, .fluid, .piping_class, .lines)",
  },
  {
    group: "Checks",
    title: "Findings of the validation",
    explanation: "What looks wrong on the drawing, with its severity.",
    query: "validate() | pick(.code, .severity, .message, .ids, .certain)",
  },
  {
    group: "Checks",
    title: "Numbering gaps",
    explanation: "Series of tag numbers in which numbers are missing.",
    query: "numberingGaps().series | filter(.missing > 0)",
  },
  {
    group: "Checks",
    title: "Open ends",
    explanation: "Lines that end without equipment or a closure.",
    query: "openEnds() | map({tag: .item.tag, kind: .kind, service: .item.service})",
  },
  {
    group: "Checks",
    title: "Breaks of the piping class",
    explanation: "Items at which the class of the connected lines differs.",
    query: 'breaks("piping_class") | map({tag: .item.tag, classes: .values})',
  },
];
