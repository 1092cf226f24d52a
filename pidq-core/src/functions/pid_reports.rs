//! Reports for engineers: causes and effects, ranked differences, pressure interfaces, numbering, material, lists.
//!
//! All of them return candidates that are read off the drawing. None states that something is safe.

use super::graph::load_drawing;
use super::graph_call::{GraphCall, build, to_value};
use super::pid::{
    ATTRIBUTES, IDENTITY, IGNORE, RunBudget, TOLERANCE, diff_options, list_report, report_with_memory, string_args,
    with_assumed_warning,
};
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::option_spec::{OptionSpec, bad_option};
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::pid::lists;
use crate::pid::quantity::{PressureDefaults, pressure_unit};
use crate::pid::reports::diff_ranking::{self, RankingRule};
use crate::pid::reports::numbering::{self, SeriesBy};
use crate::pid::reports::{cause_and_effect, corrosion_circuits, material_list, pressure_interfaces, relief_devices};
use crate::value::Value;

const ATMOSPHERE: OptionSpec =
    OptionSpec::number("atmosphere").means("pressure of the atmosphere in bar, between gauge and absolute pressures");
const BY_FIELDS: OptionSpec = OptionSpec::string("by");
const BY_LETTERS: OptionSpec =
    OptionSpec::keyword("by", SeriesBy::NAMES).means("what the numbers of a series have in common");
const BY_PROPERTIES: OptionSpec = OptionSpec::strings(
    "by",
    |word| corrosion_circuits::PROPERTIES.contains(&word),
    r#""fluid", "piping_class", "material", "insulation", "temperature" or "pressure""#,
)
.means("the properties that all piping of a circuit has in common");
const RANKING: OptionSpec = OptionSpec::query("ranking").means("own rules, tried before those of `diffRanking()`");
const SCOPE: OptionSpec =
    OptionSpec::keyword("scope", &["trips", "all"]).means("only trips and interlocks, or all loops");
const UNIT: OptionSpec =
    OptionSpec::strings("unit", |text| pressure_unit(text).is_some(), r#"a unit of pressure, such as "barg""#)
        .means("unit of values that state none");

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "causeAndEffect",
        params: &[Param::options(&[SCOPE])],
        summary: "The final elements that each initiator of a trip or an interlock acts on along its signals, as links and as a matrix.",
        example: r#"causeAndEffect({scope: "all"}).matrix => [{"initiator":"FT-101","FV-101":"X"}]"#,
        body: Body::Piped(causes_and_effects),
    },
    Function {
        name: "corrosionCircuits",
        params: &[Param::options(&[BY_PROPERTIES])],
        summary: "Proposed corrosion circuits: connected piping with the same fluid, class, material, temperature and pressure.",
        example: r#"corrosionCircuits() | map([.circuit, .fluid, .lines, .unknown]) | first() => ["C1","water",["P-1001"],["material","temperature","pressure"]]"#,
        body: Body::Piped(circuits),
    },
    Function {
        name: "diffRanking",
        params: &[],
        summary: "The rules by which `rankDiff` ranks differences, in the order in which they are tried.",
        example: r#"diffRanking() | .1 => {"subjects":["relief"],"changes":["removed"],"fields":[],"classes":[],"significance":"critical","reason":"relief device removed"}"#,
        body: Body::Piped(|cx, _, _| build(cx, diff_ranking::rules_table())),
    },
    Function {
        name: "materialList",
        params: &[Param::checked(&BY_FIELDS).many()],
        summary: "A bill of material: piping components and pipe runs counted by class, nominal diameter and piping class, or by other fields.",
        example: r#"materialList("class") | first() => {"kind":"component","class":"valve","count":10,"lengths":[],"without_length":0,"status":null}"#,
        body: Body::Piped(materials),
    },
    Function {
        name: "numberingGaps",
        params: &[Param::options(&[BY_LETTERS])],
        summary: "The series of tag numbers with their gaps, tags that occur several times, and items without a number.",
        example: r#"numberingGaps().series | filter(.missing > 0) | map([.letters, .first, .last, .missing]) => [["HV","101","999",894]]"#,
        body: Body::Piped(numbering_gaps),
    },
    Function {
        name: "pressureInterfaces",
        params: &[Param::options(&[UNIT, ATMOSPHERE])],
        summary: "The items at which the design pressure changes, what may protect the low side, and where no design pressure is stated.",
        example: r#"pressureInterfaces().interfaces | map([.at.tag, .certain]) | first() => ["T-101",false]"#,
        body: Body::Piped(interfaces),
    },
    Function {
        name: "rankDiff",
        params: &[Param::query("old"), Param::query("new"), Param::options(&[IDENTITY, IGNORE, TOLERANCE, RANKING])],
        summary: "The differences between two revisions of a drawing, ranked by their significance for safety.",
        example: r#"rankDiff({nodes: [{id: 1, fail_action: "open"}]}, {nodes: [{id: 1, fail_action: "closed"}]}) | map([.significance, .reason]) => [["critical","fail position changed"]]"#,
        body: Body::Piped(ranked_difference),
    },
    Function {
        name: "reliefList",
        params: ATTRIBUTES,
        summary: "One row for each relief device: set pressure, sizes, lines, the equipment it is connected to, and valves in its path.",
        example: r#"reliefList() | map([.tag, .set_pressure, .unit, .protects]) => [["PSV-201",11,"bar","V-201, E-101"]]"#,
        body: Body::Piped(relief_list),
    },
    Function {
        name: "specialItemList",
        params: ATTRIBUTES,
        summary: "One row for each tagged item in a pipe that is neither valve nor fitting: strainers, traps, orifice plates.",
        example: "specialItemList() => []",
        body: Body::Piped(|cx, input, args| list_report(cx, input, args, &lists::SPECIAL_ITEMS)),
    },
];

fn causes_and_effects<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let all = call.keyword(cx, &SCOPE)? == Some(1);
    report_with_memory(cx, &call.drawing, |budget| cause_and_effect::cause_and_effect(&call.drawing, all, budget))
}

fn circuits<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let mut by = call.strings(cx, &BY_PROPERTIES)?;
    if by.is_empty() {
        by = corrosion_circuits::DEFAULT_BY.to_vec();
    }
    report_with_memory(cx, &call.drawing, |budget| corrosion_circuits::corrosion_circuits(&call.drawing, &by, budget))
}

fn materials<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let by = string_args(cx, &call)?;
    report_with_memory(cx, &call.drawing, |budget| material_list::material_list(&call.drawing, &by, budget))
}

fn numbering_gaps<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let by = call.keyword(cx, &BY_LETTERS)?.map_or(SeriesBy::Letters, |at| SeriesBy::ALL[at]);
    report_with_memory(cx, &call.drawing, |budget| numbering::numbering_gaps(&call.drawing, by, budget))
}

fn interfaces<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::new(cx, input, args)?;
    let unit = call.strings(cx, &UNIT)?.first().copied();
    let atmosphere = ATMOSPHERE.as_number(call.option_value(cx, ATMOSPHERE.name)?)?;
    let defaults = PressureDefaults { unit, atmosphere };
    let drawing = &call.drawing;
    let found =
        report_with_memory(cx, drawing, |budget| pressure_interfaces::pressure_interfaces(drawing, defaults, budget))?;
    with_assumed_warning(cx, found)
}

fn relief_list<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_options(cx, input, args)?;
    let columns = string_args(cx, &call)?;
    report_with_memory(cx, &call.drawing, |budget| relief_devices::relief_list(&call.drawing, &columns, budget))
}

fn ranked_difference<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let call = GraphCall::without_graph(input, args, 2);
    let (old, new) = (call.value(cx, 0)?, call.value(cx, 1)?);
    let ranking = call.option_value(cx, RANKING.name)?;
    let options = diff_options(cx, &call)?;
    let rules = ranking_rules(cx, ranking)?;
    let ((old, old_size), (new, new_size)) = (load_drawing(cx, old)?, load_drawing(cx, new)?);
    let mut budget = RunBudget { cx, reserved: old_size + new_size };
    let found = diff_ranking::rank_diff(&old, &new, &options, &rules, &mut budget)?;
    let reserved = budget.reserved;
    let found = to_value(cx, &new, found)?;
    cx.release(reserved);
    Ok(found)
}

/// Returns the rules of the option `ranking`, before the built-in ones.
fn ranking_rules(cx: &mut EvalContext<'_>, ranking: Value<'_>) -> Result<Vec<RankingRule>> {
    const EXPECTED: &str = "an array of rules `{subjects, changes, fields, classes, significance, reason}`";
    const MAX_RULES: usize = 1000;
    let mut rules = Vec::new();
    match ranking {
        Value::Array(items) if items.len() <= MAX_RULES => {
            for item in items.iter() {
                cx.charge(8)?;
                rules.push(diff_ranking::parse_rule(item).ok_or_else(|| bad_option(RANKING.name, item, EXPECTED))?);
            }
        }
        _ if ranking.is_null() => {}
        _ => return Err(bad_option(RANKING.name, ranking, EXPECTED)),
    }
    rules.extend(diff_ranking::built_in_rules());
    Ok(rules)
}
