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
    assert_page_text(font, "(x \\001\\002\\003\\004\\005 AB)", &[], "x fi€Жαfi ŽB");
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
fn form_fields_are_read_at_their_place_and_comments_after_their_page() {
    let form_dictionary = "/Type /XObject /Subtype /Form /BBox [0 0 90 9] /Resources << /Font << /F 5 0 R >> >>";
    let more = [
        stream(form_dictionary, b"BT /F 9 Tf 0 2 Td (38.5 barg) Tj ET"),
        b"null".to_vec(),
        b"null".to_vec(),
        b"<< /Subtype /Widget /Rect [120 690 210 699] /AP << /N 6 0 R >> /V (38.5 barg) >>".to_vec(),
        b"<< /Subtype /Text /Rect [0 0 9 9] /Contents (check the set pressure) >>".to_vec(),
        b"<< /Subtype /Text /F 2 /Contents (hidden) >>".to_vec(),
    ];
    let content = b"BT /F 9 Tf 50 692 Td (set pressure) Tj 0 -11 Td (of PSV-2015A) Tj ET";
    let extracted = page("/Subtype /Type1 /BaseFont /Helvetica", content, &more);
    assert_eq!(extracted.text, "set pressure\t38.5 barg\nof PSV-2015A\n\ncheck the set pressure");
}

/// Extracts pages with the same font.
fn pages(contents: &[&str]) -> Extracted {
    let numbers = 4..4 + 2 * contents.len();
    let kids: String = numbers.clone().step_by(2).map(|number| format!("{number} 0 R ")).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} /MediaBox [0 0 600 800] >>", contents.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    for (number, content) in numbers.step_by(2).zip(contents) {
        let resources = "/Resources << /Font << /F 3 0 R >> >>";
        objects.push(format!("<< /Type /Page /Parent 2 0 R /Contents {} 0 R {resources} >>", number + 1).into_bytes());
        objects.push(stream("", content.as_bytes()));
    }
    extract_named("a.pdf", &raw_pdf(&objects)).unwrap()
}

#[test]
fn running_headers_and_footers_are_outside_of_the_text() {
    let page = |number: usize, text: &str| {
        format!(
            "BT /F 10 Tf 50 770 Td (Manual) Tj 0 -70 Td ({text}) Tj 0 -12 Td (and more) Tj ET \
             BT /F 10 Tf 50 30 Td (page {number}) Tj ET"
        )
    };
    let extracted = pages(&[&page(1, "one"), &page(2, "two")]);
    let page = |text: &str, number| format!("Manual\n\n{text}\nand more\n\npage {number}");
    assert_eq!(extracted.text, [page("one", 1), page("two", 2)].join("\n\n"));
}

#[test]
fn pages_without_text_are_named() {
    let text = "BT /F 10 Tf 50 700 Td (text) Tj ET";
    let image = "q 600 0 0 800 0 0 cm /X Do Q";
    let drawing = "0 0 m 9 9 l S";
    let extracted = pages(&[text, image, image, drawing, "", text, drawing]);
    assert_eq!(extracted.text.split_whitespace().collect::<Vec<_>>(), ["text", "text"]);
    assert_eq!(
        extracted.warnings,
        [
            "pages 2 to 3: no text, only images; text in images needs OCR",
            "page 4: no text, only lines; letters that are drawn as lines need OCR",
            "page 5: blank",
            "page 7: no text, only lines; letters that are drawn as lines need OCR",
        ]
    );
}

#[test]
fn text_is_read_as_the_page_is_displayed() {
    // The content is turned by a quarter, and the page's rotation turns it back.
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 /Rotate 90 /MediaBox [0 0 600 800] >>",
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
    ];
    let mut objects: Vec<Vec<u8>> = objects.map(|object| object.as_bytes().to_vec()).into();
    let lines = "BT /F 10 Tf 0 1 -1 0 100 50 Tm (first) Tj ET BT /F 10 Tf 0 1 -1 0 112 50 Tm (second) Tj ET";
    objects.push(stream("", lines.as_bytes()));
    objects.push(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec());
    assert_eq!(extract_named("a.pdf", &raw_pdf(&objects)).unwrap().text, "first\nsecond");
}

#[test]
fn a_space_without_width_is_part_of_no_word() {
    let helvetica = "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding";
    // A hyphen that is not displayed, written as a space to which the next letter moves back.
    let content = b"BT /F 10 Tf 50 700 Td [(conse) ( ) 278 (quence) ( ) (ends)] TJ ET";
    assert_eq!(page(helvetica, content, &[]).text, "consequence ends");
}
