//! Numbers of the error codes in C: one row per code of the engine, of the formats and of the ABI.

/// Error code as a number: the digits of the stable code, such as 1001 of "PQ1001". A later version of the library may
/// return numbers that this list does not have.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(C)]
pub enum ErrorCode {
    /// No error.
    PIDQ_OK = 0,
    /// PQ0001. A value was expected here.
    PIDQ_ERROR_VALUE_EXPECTED = 1,
    /// PQ0002. A property name was expected after the dot.
    PIDQ_ERROR_PROPERTY_EXPECTED = 2,
    /// PQ0003. A key of an object was expected.
    PIDQ_ERROR_KEY_EXPECTED = 3,
    /// PQ0004. A specific character was expected.
    PIDQ_ERROR_CHARACTER_EXPECTED = 4,
    /// PQ0005. There is text after a complete query.
    PIDQ_ERROR_TRAILING_TEXT = 5,
    /// PQ0006. A string has an unknown escape or a raw control character.
    PIDQ_ERROR_BAD_STRING = 6,
    /// PQ0007. A number is malformed.
    PIDQ_ERROR_BAD_NUMBER = 7,
    /// PQ0008. The query is nested too deeply or has too many parts.
    PIDQ_ERROR_NESTED_TOO_DEEP = 8,
    /// PQ0009. The query text is too long.
    PIDQ_ERROR_QUERY_TOO_LONG = 9,
    /// PQ1001. No function has this name.
    PIDQ_ERROR_UNKNOWN_FUNCTION = 1001,
    /// PQ1002. In the JSON format, a bare object is used where a query is expected.
    PIDQ_ERROR_OBJECT_NOTATION = 1002,
    /// PQ1003. A function got too few or too many arguments.
    PIDQ_ERROR_ARGUMENT_COUNT = 1003,
    /// PQ1004. A function got an argument of the wrong kind.
    PIDQ_ERROR_ARGUMENT_KIND = 1004,
    /// PQ1005. No parameter or binding has this name.
    PIDQ_ERROR_UNKNOWN_VARIABLE = 1005,
    /// PQ1006. An argument must be a constant or a parameter, not a query.
    PIDQ_ERROR_STATIC_ARGUMENT = 1006,
    /// PQ1007. A regular expression is malformed or too large.
    PIDQ_ERROR_BAD_REGEX = 1007,
    /// PQ1008. A flag of a regular expression is unknown or given twice.
    PIDQ_ERROR_BAD_REGEX_FLAG = 1008,
    /// PQ1009. A custom operator is invalid.
    PIDQ_ERROR_OPERATOR_DEFINITION = 1009,
    /// PQ1010. Options must be an object literal.
    PIDQ_ERROR_OPTIONS_EXPECTED = 1010,
    /// PQ1011. No option has this name.
    PIDQ_ERROR_UNKNOWN_OPTION = 1011,
    /// PQ1012. An option has an invalid value.
    PIDQ_ERROR_BAD_OPTION = 1012,
    /// PQ1013. A parameter of a prepared query has no value.
    PIDQ_ERROR_MISSING_PARAMETER = 1013,
    /// PQ1014. A function belongs to a feature that the program was built without.
    PIDQ_ERROR_FEATURE_MISSING = 1014,
    /// PQ1020. A graph pattern is malformed.
    PIDQ_ERROR_PATTERN_SYNTAX = 1020,
    /// PQ2001. An array was expected.
    PIDQ_ERROR_ARRAY_EXPECTED = 2001,
    /// PQ2002. A string was expected.
    PIDQ_ERROR_STRING_EXPECTED = 2002,
    /// PQ2003. An object was expected.
    PIDQ_ERROR_OBJECT_EXPECTED = 2003,
    /// PQ2004. A property cannot be read from a value of this type.
    PIDQ_ERROR_UNSUPPORTED_PROPERTY = 2004,
    /// PQ2005. The right side of `in` must be an array.
    PIDQ_ERROR_LIST_EXPECTED = 2005,
    /// PQ2006. An entry `{key, value}` was expected.
    PIDQ_ERROR_ENTRY_EXPECTED = 2006,
    /// PQ2007. A number was expected.
    PIDQ_ERROR_NUMBER_EXPECTED = 2007,
    /// PQ2008. A value has the right type, but is malformed or out of range.
    PIDQ_ERROR_INVALID_VALUE = 2008,
    /// PQ2009. A result does not fit the type that the program asked for.
    PIDQ_ERROR_RESULT_TYPE = 2009,
    /// PQ2010. A function of the embedding program failed.
    PIDQ_ERROR_FUNCTION_FAILED = 2010,
    /// PQ3001. The value is not a node of the graph.
    PIDQ_ERROR_NOT_A_NODE = 3001,
    /// PQ3002. No node has this id or tag.
    PIDQ_ERROR_UNKNOWN_NODE = 3002,
    /// PQ3003. There is no node to start from.
    PIDQ_ERROR_NO_START = 3003,
    /// PQ3004. Several nodes have this tag.
    PIDQ_ERROR_AMBIGUOUS_NODE = 3004,
    /// PQ3005. A weight must be a number of at least zero.
    PIDQ_ERROR_BAD_WEIGHT = 3005,
    /// PQ3006. The document has no graph.
    PIDQ_ERROR_NO_GRAPH = 3006,
    /// PQ3007. An edge has an end that names no node.
    PIDQ_ERROR_EDGE_END_MISSING = 3007,
    /// PQ4001. The query used more fuel than allowed.
    PIDQ_ERROR_OUT_OF_FUEL = 4001,
    /// PQ4002. A walk or a value went deeper than allowed.
    PIDQ_ERROR_TOO_DEEP = 4002,
    /// PQ4003. The result is larger than allowed.
    PIDQ_ERROR_OUTPUT_TOO_LARGE = 4003,
    /// PQ4004. The query produces more rows or paths than allowed.
    PIDQ_ERROR_TOO_MANY_ROWS = 4004,
    /// PQ4005. The query took longer than allowed.
    PIDQ_ERROR_OUT_OF_TIME = 4005,
    /// PQ4006. A regular expression backtracked too often.
    PIDQ_ERROR_REGEX_BACKTRACKING = 4006,
    /// PQ4007. The query needs more memory than allowed.
    PIDQ_ERROR_OUT_OF_MEMORY = 4007,
    /// PQ4008. The query was cancelled.
    PIDQ_ERROR_CANCELLED = 4008,
    /// PQ5001. The input is not JSON.
    PIDQ_ERROR_NOT_JSON = 5001,
    /// PQ5002. The input is larger than allowed.
    PIDQ_ERROR_INPUT_TOO_LARGE = 5002,
    /// PQ5003. The input is nested deeper than allowed.
    PIDQ_ERROR_INPUT_TOO_DEEP = 5003,
    /// PQ5004. The input is not UTF-8, or has the escape of a lone surrogate.
    PIDQ_ERROR_NOT_UTF8 = 5004,
    /// PQ5005. The input could not be read.
    PIDQ_ERROR_INPUT_UNREADABLE = 5005,
    /// PQ6001. The input is not well-formed XML.
    PIDQ_FORMAT_ERROR_NOT_XML = 6001,
    /// PQ6002. The XML is not a Proteus plant model.
    PIDQ_FORMAT_ERROR_NOT_PROTEUS = 6002,
    /// PQ6003. The input is not a graph in this format.
    PIDQ_FORMAT_ERROR_NOT_GRAPH = 6003,
    /// PQ6004. The value is not an array of objects, or the text is not a table.
    PIDQ_FORMAT_ERROR_NOT_TABLE = 6004,
    /// PQ6005. The bytes are not valid in the declared encoding.
    PIDQ_FORMAT_ERROR_BAD_ENCODING = 6005,
    /// PQ6006. The XML declares or uses a custom entity.
    PIDQ_FORMAT_ERROR_ENTITY = 6006,
    /// PQ6007. The input or the output is larger than allowed.
    PIDQ_FORMAT_ERROR_TOO_LARGE = 6007,
    /// PQ6008. The input is nested deeper than allowed.
    PIDQ_FORMAT_ERROR_TOO_DEEP = 6008,
    /// PQ6009. Unknown format, or an operation that the format does not support.
    PIDQ_FORMAT_ERROR_UNKNOWN_FORMAT = 6009,
    /// PQ6010. Wrong number of files for the format.
    PIDQ_FORMAT_ERROR_WRONG_PARTS = 6010,
    /// PQ6011. The input is not JSON.
    PIDQ_FORMAT_ERROR_NOT_JSON = 6011,
    /// PQ6012. The XML is not a DEXPI 2.0 model of a plant or a process.
    PIDQ_FORMAT_ERROR_NOT_DEXPI = 6012,
    /// PQ9001. A defect in the engine; please report it.
    PIDQ_ERROR_PANIC = 9001,
    /// PQ9002. A call violates the rules of the header: a deleted handle, an unexpected NULL, or text that is not UTF-8.
    PIDQ_ERROR_MISUSE = 9002,
    /// PQ9003. A file cannot be read.
    PIDQ_ERROR_FILE = 9003,
}

impl ErrorCode {
    /// All codes, in the order of the enumeration.
    const ALL: &'static [ErrorCode] = &[
        ErrorCode::PIDQ_OK,
        ErrorCode::PIDQ_ERROR_VALUE_EXPECTED,
        ErrorCode::PIDQ_ERROR_PROPERTY_EXPECTED,
        ErrorCode::PIDQ_ERROR_KEY_EXPECTED,
        ErrorCode::PIDQ_ERROR_CHARACTER_EXPECTED,
        ErrorCode::PIDQ_ERROR_TRAILING_TEXT,
        ErrorCode::PIDQ_ERROR_BAD_STRING,
        ErrorCode::PIDQ_ERROR_BAD_NUMBER,
        ErrorCode::PIDQ_ERROR_NESTED_TOO_DEEP,
        ErrorCode::PIDQ_ERROR_QUERY_TOO_LONG,
        ErrorCode::PIDQ_ERROR_UNKNOWN_FUNCTION,
        ErrorCode::PIDQ_ERROR_OBJECT_NOTATION,
        ErrorCode::PIDQ_ERROR_ARGUMENT_COUNT,
        ErrorCode::PIDQ_ERROR_ARGUMENT_KIND,
        ErrorCode::PIDQ_ERROR_UNKNOWN_VARIABLE,
        ErrorCode::PIDQ_ERROR_STATIC_ARGUMENT,
        ErrorCode::PIDQ_ERROR_BAD_REGEX,
        ErrorCode::PIDQ_ERROR_BAD_REGEX_FLAG,
        ErrorCode::PIDQ_ERROR_OPERATOR_DEFINITION,
        ErrorCode::PIDQ_ERROR_OPTIONS_EXPECTED,
        ErrorCode::PIDQ_ERROR_UNKNOWN_OPTION,
        ErrorCode::PIDQ_ERROR_BAD_OPTION,
        ErrorCode::PIDQ_ERROR_MISSING_PARAMETER,
        ErrorCode::PIDQ_ERROR_FEATURE_MISSING,
        ErrorCode::PIDQ_ERROR_PATTERN_SYNTAX,
        ErrorCode::PIDQ_ERROR_ARRAY_EXPECTED,
        ErrorCode::PIDQ_ERROR_STRING_EXPECTED,
        ErrorCode::PIDQ_ERROR_OBJECT_EXPECTED,
        ErrorCode::PIDQ_ERROR_UNSUPPORTED_PROPERTY,
        ErrorCode::PIDQ_ERROR_LIST_EXPECTED,
        ErrorCode::PIDQ_ERROR_ENTRY_EXPECTED,
        ErrorCode::PIDQ_ERROR_NUMBER_EXPECTED,
        ErrorCode::PIDQ_ERROR_INVALID_VALUE,
        ErrorCode::PIDQ_ERROR_RESULT_TYPE,
        ErrorCode::PIDQ_ERROR_FUNCTION_FAILED,
        ErrorCode::PIDQ_ERROR_NOT_A_NODE,
        ErrorCode::PIDQ_ERROR_UNKNOWN_NODE,
        ErrorCode::PIDQ_ERROR_NO_START,
        ErrorCode::PIDQ_ERROR_AMBIGUOUS_NODE,
        ErrorCode::PIDQ_ERROR_BAD_WEIGHT,
        ErrorCode::PIDQ_ERROR_NO_GRAPH,
        ErrorCode::PIDQ_ERROR_EDGE_END_MISSING,
        ErrorCode::PIDQ_ERROR_OUT_OF_FUEL,
        ErrorCode::PIDQ_ERROR_TOO_DEEP,
        ErrorCode::PIDQ_ERROR_OUTPUT_TOO_LARGE,
        ErrorCode::PIDQ_ERROR_TOO_MANY_ROWS,
        ErrorCode::PIDQ_ERROR_OUT_OF_TIME,
        ErrorCode::PIDQ_ERROR_REGEX_BACKTRACKING,
        ErrorCode::PIDQ_ERROR_OUT_OF_MEMORY,
        ErrorCode::PIDQ_ERROR_CANCELLED,
        ErrorCode::PIDQ_ERROR_NOT_JSON,
        ErrorCode::PIDQ_ERROR_INPUT_TOO_LARGE,
        ErrorCode::PIDQ_ERROR_INPUT_TOO_DEEP,
        ErrorCode::PIDQ_ERROR_NOT_UTF8,
        ErrorCode::PIDQ_ERROR_INPUT_UNREADABLE,
        ErrorCode::PIDQ_FORMAT_ERROR_NOT_XML,
        ErrorCode::PIDQ_FORMAT_ERROR_NOT_PROTEUS,
        ErrorCode::PIDQ_FORMAT_ERROR_NOT_GRAPH,
        ErrorCode::PIDQ_FORMAT_ERROR_NOT_TABLE,
        ErrorCode::PIDQ_FORMAT_ERROR_BAD_ENCODING,
        ErrorCode::PIDQ_FORMAT_ERROR_ENTITY,
        ErrorCode::PIDQ_FORMAT_ERROR_TOO_LARGE,
        ErrorCode::PIDQ_FORMAT_ERROR_TOO_DEEP,
        ErrorCode::PIDQ_FORMAT_ERROR_UNKNOWN_FORMAT,
        ErrorCode::PIDQ_FORMAT_ERROR_WRONG_PARTS,
        ErrorCode::PIDQ_FORMAT_ERROR_NOT_JSON,
        ErrorCode::PIDQ_FORMAT_ERROR_NOT_DEXPI,
        ErrorCode::PIDQ_ERROR_PANIC,
        ErrorCode::PIDQ_ERROR_MISUSE,
        ErrorCode::PIDQ_ERROR_FILE,
    ];

    /// Returns the code with a text such as `"PQ1001"`.
    pub fn from_text(text: &str) -> ErrorCode {
        let number = text.strip_prefix("PQ").and_then(|digits| digits.parse::<u32>().ok());
        let found = ErrorCode::ALL.iter().find(|code| Some(**code as u32) == number);
        found.copied().unwrap_or(ErrorCode::PIDQ_ERROR_PANIC)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi_error::ABI_CODES;

    /// Returns the name in C of a variant in Rust.
    fn c_name(prefix: &str, variant: &str) -> String {
        let word = |c: char| if c.is_uppercase() { format!("_{c}") } else { c.to_uppercase().to_string() };
        format!("{prefix}{}", variant.chars().map(word).collect::<String>())
    }

    #[test]
    fn every_code_of_the_engine_and_of_the_formats_has_a_number() {
        let engine = pidq_core::error::Code::ALL.iter();
        let engine = engine.map(|code| (code.as_str(), c_name("PIDQ_ERROR", &format!("{code:?}"))));
        let formats = pidq_formats::Code::ALL.iter();
        let formats = formats.map(|code| (code.as_str(), c_name("PIDQ_FORMAT_ERROR", &format!("{code:?}"))));
        let mut texts = ABI_CODES.to_vec();
        for (text, name) in engine.chain(formats) {
            let number = text.trim_start_matches("PQ").trim_start_matches('0');
            let code = ErrorCode::from_text(text);
            assert_eq!(format!("{code:?}"), name, "add the row `{name} = {number},` to ErrorCode and to its list");
            texts.push(text);
        }
        assert_eq!(ErrorCode::ALL.len(), texts.len() + 1, "codes in the enumeration that no error has");
        for text in texts {
            assert_eq!(format!("PQ{:04}", ErrorCode::from_text(text) as u32), text);
        }
    }
}
