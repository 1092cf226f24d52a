//! Conversion of units: definitions, zeros, and what is refused.

use crate::{check, check_error, value};

/// By definition of the units: number, unit, other unit, and the exact number in it.
const DEFINITIONS: &[(&str, &str, &str, &str)] = &[
    ("1", "in", "mm", "25.4"),
    ("1", "ft", "m", "0.3048"),
    ("1", "mil", "um", "25.4"),
    ("1", "mi", "km", "1.609344"),
    ("1", "ft2", "m2", "0.09290304"),
    ("1", "in2", "mm2", "645.16"),
    ("1", "ft3", "m3", "0.028316846592"),
    ("1", "gal", "l", "3.785411784"),
    ("1", "ukgal", "l", "4.54609"),
    ("1", "bbl", "gal", "42"),
    ("1", "lb", "kg", "0.45359237"),
    ("16", "oz", "lb", "1"),
    ("1", "d", "min", "1440"),
    ("25", "degC", "degF", "77"),
    ("-40", "degF", "degC", "-40"),
    ("0", "degC", "K", "273.15"),
    ("300", "K", "degC", "26.85"),
    ("0", "K", "degF", "-459.67"),
    ("491.67", "degR", "degC", "0"),
    ("10", "deltaC", "deltaF", "18"),
    ("10", "deltaC", "deltaK", "10"),
    ("36", "m3/h", "l/s", "10"),
    ("1", "gpm", "gal/h", "60"),
    ("24", "t/d", "kg/h", "1000"),
    ("1", "bar", "kPa", "100"),
    ("1", "atm", "Pa", "101325"),
    ("760", "torr", "atm", "1"),
    ("1", "mmHg", "Pa", "133.322387415"),
    ("1", "inH2O", "Pa", "249.08891"),
    ("1", "kgf/cm2", "kPa", "98.0665"),
    ("0", "barg", "bara", "1.01325"),
    ("0", "bara", "barg", "-1.01325"),
    ("1013.25", "mbara", "psig", "0"),
    ("3.01325", "bar(a)", "barg", "2"),
    ("-1.01325", "barg", "kPa abs", "0"),
    ("7", "psig", "psig", "7"),
];

#[test]
fn conversions_are_exact_where_the_definition_is() {
    for (number, from, to, expected) in DEFINITIONS {
        check(&format!("convertUnit({number}, \"{from}\", \"{to}\")"), "null", expected);
    }
}

/// From Pint 0.25, a library of units for Python.
const BY_PINT: &[(f64, &str, &str, f64)] = &[
    (37.5, "mm", "in", 1.4763779527559058),
    (37.5, "cm2", "in2", 5.81251162502325),
    (37.5, "m3", "bbl", 235.867903891204),
    (37.5, "t", "lb", 82673.34831932907),
    (37.5, "degF", "degC", 3.0555555555555998),
    (37.5, "degF", "K", 276.2055555555556),
    (37.5, "degC", "degR", 559.17),
    (37.5, "deltaF", "deltaK", 20.833333333333336),
    (37.5, "gpm", "m3/h", 8.517176513999999),
    (37.5, "cfm", "m3/h", 63.712904831999985),
    (37.5, "bbl/d", "gpm", 1.09375),
    (37.5, "lb/min", "kg/s", 0.28349523125000003),
    (37.5, "m/s", "ft/min", 7381.889763779528),
    (37.5, "psi", "bar", 2.5855339849381367),
    (37.5, "bar", "psi", 543.8915164882847),
    (37.5, "inHg", "mbar", 1269.895740127875),
    (37.5, "MPa", "psi", 5438.915164882845),
    (37.5, "kPa", "mmHg", 281.27309094212114),
];

#[test]
fn conversions_agree_with_another_library_and_back() {
    for (number, from, to, expected) in BY_PINT {
        let there = value(&format!("convertUnit({number}, \"{from}\", \"{to}\")"), "null").as_f64().expect("a number");
        assert!(
            (there - expected).abs() <= 1e-13 * expected.abs().max(300.0 * 1e-2),
            "{number} {from} in {to}: {there}"
        );
        let back = value(&format!("convertUnit({there}, \"{to}\", \"{from}\")"), "null").as_f64().expect("a number");
        assert!((back - number).abs() <= 1e-12 * number, "{number} {from} in {to} and back: {back}");
    }
}

#[test]
fn gauge_and_absolute_pressures_differ_by_the_atmosphere_that_is_given() {
    check(
        r#"[convertUnit(1, "barg", "bara", {atmosphere: 0.83}), convertUnit(1, "bara", "barg", {atmosphere: 0})]"#,
        "null",
        "[1.83,1]",
    );
    check(r#"convertUnit(100, "psig", "psia") | round(get(), 3)"#, "null", "114.696");
    check_error(r#"convertUnit(1, "bar", "barg")"#, "null", "PQ2008", "`barg` or `bara`");
    check_error(r#"convertUnit(1, "psia", "kPa")"#, "null", "PQ2008", "gauge or absolute");
    check_error(r#"convertUnit(1, "barg", "bara", {atmosphere: -1})"#, "null", "PQ1012", "at least zero");
}

#[test]
fn nothing_is_below_absolute_zero() {
    for (number, from, to) in [
        ("-274", "degC", "K"),
        ("-0.1", "K", "K"),
        ("-460", "F", "C"),
        ("-1.1", "barg", "bara"),
        ("-1.1", "barg", "psig"),
        ("-0.001", "psia", "bara"),
    ] {
        check_error(&format!("convertUnit({number}, \"{from}\", \"{to}\")"), "null", "PQ2008", "below absolute");
    }
    // A difference of pressures or temperatures may be negative, and so may any other number.
    check(
        r#"[convertUnit(-5, "bar", "kPa"), convertUnit(-500, "deltaC", "deltaK"), convertUnit(-1, "m", "mm")]"#,
        "null",
        "[-500,-500,-1000]",
    );
    check(r#"convertUnit(-1.02, "barg", "mbara", {atmosphere: 1.03})"#, "null", "10");
}

#[test]
fn what_a_unit_does_not_say_is_not_guessed() {
    check_error(r#"convertUnit(1, "degC", "deltaK")"#, "null", "PQ2008", "differences of temperatures");
    check_error(r#"convertUnit(1, "kg/h", "m3/h")"#, "null", "PQ2008", "density");
    check_error(r#"convertUnit(1, "m", "kg")"#, "null", "PQ2008", "length does not convert to a mass");
    check_error(r#"convertUnit(1, "Nm3/h", "m3/h")"#, "null", "PQ2008", "amount of gas");
    check_error(r#"convertUnit(1, "MMSCFD", "m3/h")"#, "null", "PQ2008", "amount of gas");
    // A millipascal and a megapascal, a milligram and a megagram are easily confused.
    for unit in ["mPa", "Mg", "MM", "", "m3/parsec", "kg/m3", "°", "m//h"] {
        check_error(&format!("convertUnit(1, \"{unit}\", \"m\")"), "null", "PQ2008", "units()");
    }
    check_error(r#"convertUnit(1, "mPa", "Pa")"#, "null", "PQ2008", "`mpa` meant, which is 10 bar?");
    check_error(r#"convertUnit(1, "Mg", "kg")"#, "null", "PQ2008", "`mg` meant, which is 0.000001 kg?");
    for (text, help) in [
        ("21.5", "`toNumber(...)` converts"),
        ("21,5", r#"`toNumber(replace(..., ",", "."))`"#),
        (" 21.5 ", "`toNumber(trim(...))`"),
        ("21.5 bar", "makes it null"),
        ("1,234,5", "makes it null"),
        ("", "leave it out"),
    ] {
        check_error(&format!(r#"convertUnit("{text}", "degC", "K")"#), "null", "PQ2007", help);
    }
    check_error(r#"convertUnit(1, "inches", "furlongs")"#, "null", "PQ2008", "Unknown unit \"furlongs\"");
    check_error(r#"convertUnit(1, "dgC", "K")"#, "null", "PQ2008", "did you mean `degC`?");
}

#[test]
fn powers_convert() {
    check(
        r#"[convertUnit(1, "hp", "W"), convertUnit(30, "kW", "hp"), convertUnit(1.5, "MW", "kW")]"#,
        "null",
        "[745.6998715822702,40.23066268785084,1500]",
    );
    check_error(r#"convertUnit(1, "kW", "kg/h")"#, "null", "PQ2008", "power does not convert to a massFlow");
}

#[test]
fn units_and_numbers_may_come_from_the_data() {
    check(
        r#"map(convertUnit(.v, .u, "mm"))"#,
        r#"[{"v": 4, "u": "in"}, {"v": 100.0, "u": "mm"}, {"v": null, "u": "m"}]"#,
        "[101.6,100,null]",
    );
    check_error(r#"convertUnit(.v, .u, "mm")"#, r#"{"v": 4}"#, "PQ2002", "String");
    check_error(r#"convertUnit("4", "m", "mm")"#, "null", "PQ2007", "toNumber");
}
