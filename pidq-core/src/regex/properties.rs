//! Names of Unicode properties that may stand alone in `\p{..}`; JavaScript accepts only this spelling.

/// Values of `General_Category`.
const CATEGORIES: &str = "\
    Cased_Letter LC Close_Punctuation Pe Connector_Punctuation Pc Control Cc cntrl Currency_Symbol Sc \
    Dash_Punctuation Pd Decimal_Number Nd digit Enclosing_Mark Me Final_Punctuation Pf Format Cf \
    Initial_Punctuation Pi Letter L Letter_Number Nl Line_Separator Zl Lowercase_Letter Ll Mark M Combining_Mark \
    Math_Symbol Sm Modifier_Letter Lm Modifier_Symbol Sk Nonspacing_Mark Mn Number N Open_Punctuation Ps Other C \
    Other_Letter Lo Other_Number No Other_Punctuation Po Other_Symbol So Paragraph_Separator Zp Private_Use Co \
    Punctuation P punct Separator Z Space_Separator Zs Spacing_Mark Mc Surrogate Cs Symbol S Titlecase_Letter Lt \
    Unassigned Cn Uppercase_Letter Lu";

/// Binary properties of code points.
const BINARY: &str = "\
    ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable \
    CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL \
    Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash \
    Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod \
    Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base \
    Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC \
    ID_Start IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math \
    Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark Radical \
    Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph UIdeo \
    Uppercase Upper Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS";

/// Properties of strings rather than of single code points, for the flag `v`.
const OF_STRINGS: &[&str] = &[
    "Basic_Emoji",
    "Emoji_Keycap_Sequence",
    "RGI_Emoji",
    "RGI_Emoji_Flag_Sequence",
    "RGI_Emoji_Modifier_Sequence",
    "RGI_Emoji_Tag_Sequence",
    "RGI_Emoji_ZWJ_Sequence",
];

/// Returns the contents of `\p{..}` for the `regex` crate, or `None` if JavaScript has no such property.
pub(super) fn to_rust(inside: &str) -> Option<String> {
    let has = |names: &str, name| names.split_whitespace().any(|known| known == name);
    match inside.split_once('=') {
        None if has(CATEGORIES, inside) => Some(format!("gc={inside}")),
        None if has(BINARY, inside) => Some(String::from(inside)),
        None => None,
        Some(("General_Category" | "gc", name)) => has(CATEGORIES, name).then(|| format!("gc={name}")),
        Some(("Script" | "sc", name)) => is_script(name).then(|| format!("sc={name}")),
        Some(("Script_Extensions" | "scx", name)) => is_script(name).then(|| format!("scx={name}")),
        Some(_) => None,
    }
}

/// Returns true for a property of strings.
pub(super) fn is_of_strings(inside: &str) -> bool {
    OF_STRINGS.contains(&inside)
}

/// Returns true for the name of a script. The `regex` crate accepts any spelling; JavaScript capitalizes each word.
fn is_script(name: &str) -> bool {
    let capital = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let plain = |c: char| c.is_ascii_alphabetic() || c == '_';
    capital(name) && name.chars().all(plain) && regex::Regex::new(&format!(r"\p{{sc={name}}}")).is_ok()
}
