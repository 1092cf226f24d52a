//! Names that a reader of drawings tries for the functions of P&IDs.

use super::ForeignName;

pub(super) const DRAWING_NAMES: &[ForeignName] = &[
    ForeignName {
        names: &["valves", "handvalves", "controlvalves"],
        function: "valveList",
        help: "the valves of a drawing are `valveList()`",
    },
    ForeignName {
        names: &["lines", "pipes", "pipelines", "piping"],
        function: "lineList",
        help: "the lines of a drawing are `lineList()`, the items on one `run(\"P-1001\")`",
    },
    ForeignName {
        names: &["line"],
        function: "run",
        help: "the items on a line are `run(\"P-1001\")`; all lines, `lineList()`",
    },
    ForeignName {
        names: &["equipment", "vessels", "tanks", "pumps", "exchangers", "compressors"],
        function: "equipmentList",
        help: "the equipment of a drawing is `equipmentList()`; one kind, `equipmentList() | filter(contains(.class, \"pump\"))`",
    },
    ForeignName {
        names: &["instruments", "instrumentlist", "transmitters"],
        function: "instrumentIndex",
        help: "the instruments of a drawing are `instrumentIndex()`",
    },
    ForeignName {
        names: &["nozzles"],
        function: "nozzleList",
        help: "the nozzles of a drawing are `nozzleList()`; of one item, `nozzleList() | filter(.equipment == \"T-1\")`",
    },
    ForeignName {
        names: &["owner", "parent", "equipmentof"],
        function: "nozzleList",
        help: "the equipment of a nozzle is `.equipment` of its row in `nozzleList()`",
    },
    ForeignName {
        names: &["reliefvalves", "reliefdevices", "reliefs", "safetyvalves", "psvs", "psvlist"],
        function: "reliefList",
        help: "the relief devices of a drawing are `reliefList()`",
    },
    ForeignName {
        names: &["connectors", "offpage", "offpageconnectors"],
        function: "offPageList",
        help: "the connectors to other sheets are `offPageList()`",
    },
    ForeignName {
        names: &["controlloops", "looplist"],
        function: "loops",
        help: "the loops of a drawing are `loops()`",
    },
    ForeignName {
        names: &["compare", "changes", "revisions"],
        function: "diff",
        help: "the differences between two revisions are `diff(.0, .1)`",
    },
    ForeignName {
        names: &["duplicates", "duplicatetags"],
        function: "countBy",
        help: "the tags that several items have are `nodes() | countBy(.tag) | pickBy(get() > 1)`",
    },
];
