//! Fuzz property of `words`: the encoded boxes of a page, after its number of characters in two bytes, are rejected or
//! decoded to a page that survives encoding; and the boxes of a page with any positions can be encoded.

use pidq_extract::{PageRect, PageSize, PageUnit, PageWords};

/// Bytes of the positions of a word.
const RECT_SIZE: usize = 16;

/// Panics if the property is violated.
pub fn check(input: &[u8]) {
    let Some((characters, bytes)) = input.split_first_chunk() else { return };
    let characters = usize::from(u16::from_le_bytes(*characters));
    if let Ok(page) = PageWords::decode(bytes, characters) {
        assert_valid(&page, characters);
    }
    any_positions_can_be_encoded(bytes);
}

/// Creates a page of the size of the first rectangle with words at the others.
fn any_positions_can_be_encoded(bytes: &[u8]) {
    let number = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    let rects = bytes.as_chunks::<RECT_SIZE>().0.iter();
    let mut rects = rects.map(|bytes| -> PageRect { std::array::from_fn(|index| number(&bytes.as_chunks().0[index])) });
    let Some([width, height, ..]) = rects.next() else { return };
    let words: Vec<_> = rects.enumerate().map(|(index, rect)| (4 * index..4 * index + 3, rect)).collect();
    let text = "é1 ".repeat(words.len());
    let size = PageSize { width, height, unit: PageUnit::Point, rotation: 90 };
    if let Some(page) = PageWords::new(size, &text, &words) {
        assert_valid(&page, text.chars().count());
    }
}

/// Checks that a page survives encoding, that its words are found by their ranges, and that boxes are on the page.
fn assert_valid(page: &PageWords, characters: usize) {
    let encoded = page.encode().expect("a page can be encoded");
    let decoded = PageWords::decode(&encoded, characters).expect("an encoded page can be decoded");
    assert_eq!(&decoded, page, "a page survives encoding");
    for word in &page.words {
        let [left, top, right, bottom] = word.place;
        assert!(left < right && right <= page.width && top < bottom && bottom <= page.height, "{word:?}");
        assert_eq!(page.words_in(word.characters.clone()), std::slice::from_ref(word));
    }
    assert_eq!(page.words_in(0..characters), page.words);
}
