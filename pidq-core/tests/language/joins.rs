//! Joins of arrays by key.

use serde_json::{Value, json};

use crate::{Random, check, check_error, value};

const SIDES: &str = r#"{"l": [{"k": 1, "a": "x"}, {"k": 2}, {"k": null}, {}, {"k": 1, "a": "y"}, {"k": "1"}],
    "r": [{"k": 1, "b": 1}, {"k": 1, "b": 2}, {"k": 3}, {"k": null}]}"#;

#[test]
fn duplicate_keys_give_every_pair_in_the_order_of_both_sides() {
    check(".l | innerJoin($root.r, .k, .k) | map([.left.a, .right.b])", SIDES, r#"[["x",1],["x",2],["y",1],["y",2]]"#);
    check(
        ".l | leftJoin($root.r, .k, .k) | map([.left.k, .right.b])",
        SIDES,
        r#"[[1,1],[1,2],[2,null],[null,null],[null,null],[1,1],[1,2],["1",null]]"#,
    );
}

#[test]
fn semi_and_anti_join_split_the_items_and_repeat_none() {
    check(".l | semiJoin($root.r, .k, .k) | map(.a)", SIDES, r#"["x","y"]"#);
    check(".l | antiJoin($root.r, .k)", SIDES, r#"[{"k": 2},{"k": null},{},{"k": "1"}]"#);
    check("[[] | antiJoin([1], get()), [1] | antiJoin([], get()), [1] | semiJoin([], get())]", "null", "[[],[1],[]]");
}

#[test]
fn without_a_right_key_both_sides_use_the_same_one() {
    check(".l | innerJoin($root.r, .k) | size()", SIDES, "4");
    check("[1, 2] | semiJoin([2, 3], get())", "null", "[2]");
}

#[test]
fn integers_beyond_doubles_are_joined_by_their_digits() {
    let sides = r#"{"l": [{"id": 9007199254740993}, {"id": 9007199254740992}], "r": [{"id": 9007199254740992, "b": 1}, {"id": 9007199254740993, "b": 2}]}"#;
    check(".l | innerJoin($root.r, .id) | map(.right.b)", sides, "[2,1]");
    check(".l | antiJoin([{id: 9007199254740992}], .id) | map(.id)", sides, "[9007199254740993]");
}

#[test]
fn a_join_key_is_a_scalar() {
    check_error("[{a: [1]}] | antiJoin([], .a)", "null", "PQ2002", "a string, a number or a boolean");
    check_error("1 | antiJoin([], .a)", "null", "PQ2001", "Array");
    check_error("[1] | antiJoin({}, .a)", "null", "PQ2001", "Array");
    // The other array is read from the piped one.
    check_error(".l | leftJoin(.r, .k)", SIDES, "PQ2001", "let({b: .b}, .a | leftJoin($b, .id))");
}

#[test]
fn random_joins_agree_with_nested_loops() {
    let mut random = Random(11);
    for _ in 0..200 {
        let mut side = |name: &str| -> Vec<Value> {
            let keys = [json!(null), json!(0), json!(1), json!("1"), json!(true), json!("a")];
            (0..random.below(7)).map(|at| json!({"k": keys[random.below(6) as usize], name: at})).collect()
        };
        let (left, right) = (side("l"), side("r"));
        let input = json!({"l": left, "r": right}).to_string();
        let is_pair = |l: &Value, r: &Value| !l["k"].is_null() && l["k"] == r["k"];
        let pairs: Vec<Value> = left
            .iter()
            .flat_map(|l| right.iter().filter(move |r| is_pair(l, r)).map(move |r| json!({"left": l, "right": r})))
            .collect();
        assert_eq!(value(".l | innerJoin($root.r, .k)", &input), Value::from(pairs), "{input}");
        let (matched, rest): (Vec<Value>, Vec<Value>) =
            left.iter().cloned().partition(|l| right.iter().any(|r| is_pair(l, r)));
        assert_eq!(value(".l | semiJoin($root.r, .k)", &input), Value::from(matched), "{input}");
        assert_eq!(value(".l | antiJoin($root.r, .k)", &input), Value::from(rest), "{input}");
    }
}
