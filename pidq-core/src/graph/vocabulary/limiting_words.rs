//! Words that limit a statement in a text: they deny it, or make it one for another time or on a condition.

use self::Limited::{
    Closed, ClosedAtTimes, Hose, MayBeOpened, OpenAtPresent, OpenTop, OtherPosition, ReliefClosedOff, Status,
    TripEffect,
};

/// Statement that a word beside it may limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Limited {
    /// The status of an item, the cover of a nozzle, or a bleed in a remark.
    Status,
    /// Equipment is open at its top, or closed.
    OpenTop,
    /// Equipment is open to the atmosphere at present.
    OpenAtPresent,
    /// A valve is closed at present.
    Closed,
    /// A valve that is drawn open is closed at times, or not fully open.
    ClosedAtTimes,
    /// A valve may be opened.
    MayBeOpened,
    /// A position that a drawing states beside the field for it.
    OtherPosition,
    /// A relief device is isolated or bypassed.
    ReliefClosedOff,
    /// A hose is there all the time.
    Hose,
    /// A signal opens or closes a valve.
    TripEffect,
}

/// Words in lower case, each with the statements that it limits. Ascending.
pub const LIMITING_WORDS: &[(&str, &[Limited])] = &[
    ("after", &[OpenAtPresent, OtherPosition, ReliefClosedOff]),
    ("at", &[ReliefClosedOff]),
    ("be", &[OpenAtPresent]),
    ("bedarf", &[Hose]),
    ("before", &[OpenAtPresent, OtherPosition, ReliefClosedOff]),
    ("bei", &[ReliefClosedOff]),
    ("can", &[OpenAtPresent]),
    ("connect", &[Hose]),
    ("disconnect", &[Hose]),
    ("during", &[OpenAtPresent, OtherPosition, ReliefClosedOff, Hose]),
    ("entry", &[OpenAtPresent]),
    ("for", &[OtherPosition, ReliefClosedOff]),
    ("formerly", &[OpenAtPresent]),
    ("if", &[OpenAtPresent, Closed, OtherPosition, TripEffect]),
    ("jamais", &[Status, ClosedAtTimes]),
    ("kein", &[Status, OpenTop]),
    ("keine", &[Status, OpenTop]),
    ("maintenance", &[OpenAtPresent]),
    ("may", &[OpenAtPresent]),
    ("mobil", &[Hose]),
    ("mobile", &[Hose]),
    ("must", &[OpenAtPresent]),
    ("ne", &[MayBeOpened]),
    ("never", &[Status, OpenTop, ClosedAtTimes, MayBeOpened, OtherPosition]),
    ("nicht", &[Status, OpenTop, ClosedAtTimes, MayBeOpened]),
    ("nie", &[Status, ClosedAtTimes]),
    ("niemals", &[Status, ClosedAtTimes]),
    ("no", &[Status, ClosedAtTimes]),
    ("non", &[Status, OpenTop]),
    ("normally", &[TripEffect]),
    ("not", &[Status, OpenTop, Closed, ClosedAtTimes, MayBeOpened, OtherPosition, TripEffect]),
    ("nur", &[ClosedAtTimes]),
    ("only", &[Closed, ClosedAtTimes, OtherPosition, Hose]),
    ("optional", &[OpenAtPresent]),
    ("or", &[OpenAtPresent]),
    ("pas", &[Status, OpenTop, ClosedAtTimes, MayBeOpened]),
    ("pendant", &[ReliefClosedOff]),
    ("portable", &[Hose]),
    ("previously", &[OpenAtPresent]),
    ("prior", &[OpenAtPresent]),
    ("required", &[Hose]),
    ("seulement", &[ClosedAtTimes]),
    ("shall", &[OpenAtPresent]),
    ("should", &[OpenAtPresent]),
    ("start", &[Closed]),
    ("startup", &[Closed]),
    ("temporaire", &[Hose]),
    ("temporarily", &[OpenAtPresent]),
    ("temporary", &[OpenAtPresent]),
    ("to", &[OtherPosition]),
    ("un", &[Status]),
    ("unless", &[Closed]),
    ("until", &[OpenAtPresent, OtherPosition, ReliefClosedOff]),
    ("was", &[OpenAtPresent]),
    ("when", &[OpenAtPresent, Closed, OtherPosition, ReliefClosedOff, Hose, TripEffect]),
    ("while", &[OpenAtPresent, Closed, ReliefClosedOff, TripEffect]),
    ("während", &[ReliefClosedOff]),
    ("zeitweise", &[Hose]),
];

/// Returns whether a word in lower case limits a statement.
pub fn limits(word: &str, statement: Limited) -> bool {
    let row = LIMITING_WORDS.binary_search_by(|(known, _)| (*known).cmp(word)).ok();
    row.is_some_and(|row| LIMITING_WORDS[row].1.contains(&statement))
}

/// Returns whether one of some words in lower case, such as those of a clause, limits a statement.
pub(crate) fn any_limits<W: AsRef<str>>(words: &[W], statement: Limited) -> bool {
    words.iter().any(|word| limits(word.as_ref(), statement))
}

/// Returns whether a word of a text in lower case or snake_case limits a statement.
pub(crate) fn text_limits(text: &str, statement: Limited) -> bool {
    super::words_in(text).any(|word| limits(word, statement))
}

#[cfg(test)]
mod tests {
    use super::LIMITING_WORDS;

    #[test]
    fn each_word_has_one_row_in_ascending_order() {
        let is_ascending = LIMITING_WORDS.windows(2).all(|rows| rows[0].0 < rows[1].0);
        assert!(is_ascending, "rows are found by binary search");
    }
}
