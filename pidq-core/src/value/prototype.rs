//! Property names of JavaScript's prototypes. Like the reference implementation, pidq refuses to read them.

use super::Value;

/// Methods of all objects.
const OBJECT: &[&str] = &[
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Methods of arrays, and `length`.
const ARRAY: &[&str] = &[
    "at",
    "concat",
    "copyWithin",
    "entries",
    "every",
    "fill",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "flat",
    "flatMap",
    "forEach",
    "includes",
    "indexOf",
    "join",
    "keys",
    "lastIndexOf",
    "length",
    "map",
    "pop",
    "push",
    "reduce",
    "reduceRight",
    "reverse",
    "shift",
    "slice",
    "some",
    "sort",
    "splice",
    "toReversed",
    "toSorted",
    "toSpliced",
    "unshift",
    "values",
    "with",
];

/// Methods of strings, and `length`.
const STRING: &[&str] = &[
    "anchor",
    "at",
    "big",
    "blink",
    "bold",
    "charAt",
    "charCodeAt",
    "codePointAt",
    "concat",
    "endsWith",
    "fixed",
    "fontcolor",
    "fontsize",
    "includes",
    "indexOf",
    "isWellFormed",
    "italics",
    "lastIndexOf",
    "length",
    "link",
    "localeCompare",
    "match",
    "matchAll",
    "normalize",
    "padEnd",
    "padStart",
    "repeat",
    "replace",
    "replaceAll",
    "search",
    "slice",
    "small",
    "split",
    "startsWith",
    "strike",
    "sub",
    "substr",
    "substring",
    "sup",
    "toLocaleLowerCase",
    "toLocaleUpperCase",
    "toLowerCase",
    "toUpperCase",
    "toWellFormed",
    "trim",
    "trimEnd",
    "trimLeft",
    "trimRight",
    "trimStart",
];

/// Methods of numbers.
const NUMBER: &[&str] = &["toExponential", "toFixed", "toPrecision"];

/// Returns true if a missing property of `value` is one of its prototype.
pub(crate) fn has(value: Value<'_>, name: &str) -> bool {
    let own: &[&str] = match value {
        Value::Array(_) => ARRAY,
        Value::String(_) => STRING,
        Value::Number(_) => NUMBER,
        _ => &[],
    };
    is_object_property(name) || own.binary_search(&name).is_ok()
}

/// Returns true if every object has a property of this name.
pub(crate) fn is_object_property(name: &str) -> bool {
    OBJECT.binary_search(&name).is_ok()
}

/// Returns true if some value has a property of this name.
pub(crate) fn is_reserved(name: &str) -> bool {
    is_object_property(name) || [ARRAY, STRING, NUMBER].iter().any(|names| names.binary_search(&name).is_ok())
}

/// Returns true if every array has a property of this name.
pub(crate) fn is_array_property(name: &str) -> bool {
    is_object_property(name) || ARRAY.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_names_are_sorted() {
        for names in [super::OBJECT, super::ARRAY, super::STRING, super::NUMBER] {
            assert!(names.is_sorted());
        }
    }
}
