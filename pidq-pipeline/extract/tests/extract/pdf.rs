//! Generated PDF documents: the displayed text is extracted.

use pidq_extract::Extracted;

use super::extract_named;
use super::hostile::{raw_pdf, stream};

/// Extracts a page with a font `F`, a content stream, and further objects from number 6 on.
#[track_caller]
fn page(font: &str, content: &[u8], more: &[Vec<u8>]) -> Extracted {
    let page = "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [9 0 R 10 0 R 11 0 R] \
        /Resources << /Font << /F 5 0 R >> >> >>";
    let objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page];
    let mut objects: Vec<Vec<u8>> = objects.map(|object| object.as_bytes().to_vec()).into();
    objects.extend([stream("", content), format!("<< /Type /Font {font} >>").into_bytes()]);
    objects.extend_from_slice(more);
    extract_named("a.pdf", &raw_pdf(&objects)).unwrap()
}

#[track_caller]
fn assert_page_text(font: &str, codes: &str, more: &[Vec<u8>], text: &str) {
    let content = format!("BT /F 12 Tf 50 700 Td {codes} Tj ET");
    let extracted = page(font, content.as_bytes(), more);
    assert_eq!(extracted.text, text, "{font}");
    assert!(extracted.warnings.is_empty(), "{:?}", extracted.warnings);
}

#[test]
fn glyph_names_are_decoded() {
    let font = "/Subtype /Type1 /BaseFont /A /Encoding << /BaseEncoding /WinAnsiEncoding \
        /Differences [1 /fi /Euro /uni0416 /alpha.alt /f_i 65 /Zcaron] >>";
    assert_page_text(font, "(x \\001\\002\\003\\004\\005 AB)", &[], "x ﬁ€Жαfi ŽB");
}

#[test]
fn an_unknown_glyph_does_not_affect_others() {
    let font = "/Subtype /Type1 /BaseFont /A /Encoding << /Differences [1 /g23 /eacute] >>";
    let extracted = page(font, b"BT /F 12 Tf 50 700 Td (P\\001-\\002) Tj ET", &[]);
    assert_eq!(extracted.text, "P-é");
    assert_eq!(extracted.warnings, ["a font has no character mapping; some text is missing"]);
}

#[test]
fn the_to_unicode_map_takes_precedence_over_the_encoding() {
    let map =
        stream("", b"1 beginbfchar <41> <0050> endbfchar 1 beginbfrange <42> <43> [<0053> <00560056>] endbfrange");
    let font = "/Subtype /TrueType /BaseFont /A /Encoding /WinAnsiEncoding /ToUnicode 6 0 R";
    assert_page_text(font, "(ABCD)", &[map], "PSVVD");
}

#[test]
fn predefined_cjk_encodings_are_decoded() {
    let font = |encoding: &str| format!("/Subtype /Type0 /BaseFont /A /Encoding /{encoding}");
    assert_page_text(&font("UniJIS-UTF16-H"), "<5B895168>", &[], "安全");
    assert_page_text(&font("90ms-RKSJ-H"), "<88C08E71>", &[], "安子");
    assert_page_text(&font("GBK-EUC-H"), "<B0B2C8AB>", &[], "安全");
}

#[test]
fn symbol_fonts_are_decoded() {
    assert_page_text("/Subtype /Type1 /BaseFont /Symbol", "(38 \\260 \\243 a)", &[], "38 ° ≤ α");
    assert_page_text("/Subtype /Type1 /BaseFont /ABCDEF+ZapfDingbats", "(4)", &[], "✔");
}

#[test]
fn words_drawn_in_parts_are_joined() {
    let helvetica = "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding";
    let adjacent = b"BT /F 12 Tf 50 700 Td (PSV-) Tj ET BT /F 12 Tf 78.0 700 Td (2015A) Tj ET";
    assert_eq!(page(helvetica, adjacent, &[]).text, "PSV-2015A");
    let narrow = b"BT /F 12 Tf 1 0 0 1 50 700 Tm (illi) Tj 1 0 0 1 60.7 700 Tm (l) Tj 1 0 0 1 70 700 Tm (x) Tj ET";
    assert_eq!(page(helvetica, narrow, &[]).text, "illil x");
    let upwards = b"BT /F 12 Tf 0 1 -1 0 300 100 Tm (up) Tj 0 1 -1 0 300 120 Tm (more) Tj ET";
    assert_eq!(page(helvetica, upwards, &[]).text, "up more");
}

#[test]
fn widths_of_composite_fonts_are_used() {
    let map = stream("", b"beginbfrange <0001> <0004> <0061> endbfrange");
    let cid_font = b"<< /Type /Font /Subtype /CIDFontType2 /DW 500 /W [1 [250] 2 3 1000] >>".to_vec();
    let font = "/Subtype /Type0 /BaseFont /A /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [7 0 R]";
    let content = b"BT /F 10 Tf 1 0 0 1 0 0 Tm <00010002> Tj 1 0 0 1 12.5 0 Tm <0003> Tj 1 0 0 1 26 0 Tm <0004> Tj ET";
    assert_eq!(page(font, content, &[map, cid_font]).text, "abc d");
}

#[test]
fn annotations_and_form_fields_follow_their_page() {
    let form_dictionary = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F 5 0 R >> >>";
    let more = [
        stream(form_dictionary, b"BT /F 9 Tf (38.5 barg) Tj ET"),
        b"null".to_vec(),
        b"null".to_vec(),
        b"<< /Subtype /Widget /AP << /N 6 0 R >> /V (38.5 barg) >>".to_vec(),
        b"<< /Subtype /Text /Contents (check the set pressure) >>".to_vec(),
        b"<< /Subtype /Text /F 2 /Contents (hidden) >>".to_vec(),
    ];
    let extracted = page("/Subtype /Type1 /BaseFont /Helvetica", b"BT /F 12 Tf (PSV-2015A) Tj ET", &more);
    assert_eq!(extracted.text, "PSV-2015A\n38.5 barg\ncheck the set pressure");
}
