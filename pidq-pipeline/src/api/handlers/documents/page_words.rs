//! `GET …/words`: the words of pages and their boxes, with which a citation is marked on the image of its page.

use std::sync::Arc;

use pidq_extract::{PageUnit, PageWords, WordBox};
use pidq_http::{Problem, Request, Response};
use pidq_store::domain::api_key::Verb;
use pidq_store::domain::model::Document;
use pidq_store::{PageSelection, StoreError, StoredPageWords};
use schemars::JsonSchema;
use serde::Serialize;

use super::{find_document, not_indexed};
use crate::api::problems::store_problem;
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// Words of pages with their boxes.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "DocumentWords")]
pub(crate) struct WordsResponse {
    /// Revision of the text. A citation of another revision cannot be marked with it.
    revision: i64,
    /// Pages in order.
    data: Vec<PageWordsResponse>,
    /// Value of `cursor` for further pages. Null if there are none.
    next_cursor: Option<String>,
    /// Cause for which there is no page. Null if there is one.
    reason: Option<MissingReason>,
}

/// Words of a page with their boxes. Positions are counted from the top left corner of the page as it is displayed.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "PageWords")]
struct PageWordsResponse {
    /// Page, from 1.
    page: i64,
    /// Start of the page in the text of the document, in code points.
    start: i64,
    /// End, exclusive.
    end: i64,
    /// Unit of widths, heights and positions.
    unit: Unit,
    /// Width of the page.
    width: f64,
    /// Height of the page.
    height: f64,
    /// Clockwise turn in degrees by which the page of the file is displayed: 0, 90, 180 or 270.
    rotation: u16,
    /// Words in the order of the text: all of the page, or those of the range.
    words: Vec<Word>,
}

/// Word of a page, or the part of one that is in one line.
#[derive(JsonSchema, Serialize)]
struct Word {
    /// Start in the text of the document, in code points.
    start: i64,
    /// End, exclusive.
    end: i64,
    /// The word.
    text: String,
    /// Left, top, right and bottom.
    #[serde(rename = "box")]
    place: [f64; 4],
}

/// Unit of positions.
#[derive(Clone, Copy, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PageUnit")]
enum Unit {
    /// 1/72 inch, in PDFs.
    Point,
    /// A pixel, in images.
    Pixel,
}

/// Cause for which there are no boxes.
#[derive(Clone, Copy, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MissingWordsReason")]
enum MissingReason {
    /// The format of the document has no positions.
    NoPositions,
    /// The document was read by a version that kept none. `POST …/retry` reads it again.
    NotKept,
    /// No page of the document has what was asked for.
    Outside,
}

/// `GET …/words`.
pub(crate) async fn words(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = find_document(platform, &request, Verb::Read).await?;
    let selection = parse_selection(&request)?;
    let revision = document.searchable_revision.ok_or_else(not_indexed)?;
    let version = (revision, pipeline.generation);
    let list = format!("words/{}/{revision}/{}/{selection:?}", document.id, pipeline.generation);
    let page = platform.cursors.page(&request, &list, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let after = page.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(0);
    let read = |selection: PageSelection, limit| platform.store.page_words(document.key(), version, selection, limit);
    let remaining = PageSelection {
        pages: (after + 1).max(*selection.pages.start())..=*selection.pages.end(),
        ..selection.clone()
    };
    let mut stored = read(remaining, page.limit + 1).await.map_err(store_problem)?;
    let is_last = stored.len() <= page.limit;
    stored.truncate(page.limit);
    let next_cursor = stored.last().filter(|_| !is_last);
    let next_cursor = next_cursor.map(|last| platform.cursors.sign(&list, &last.page.to_string()));
    let data = stored.iter().map(|page| page_response(page, &selection)).collect::<Result<Vec<_>, _>>();
    let data = data.map_err(|error| store_problem(StoreError::Corrupt(error.to_string())))?;
    let reason = match data.is_empty() && after == 0 {
        false => None,
        true if read(PageSelection::default(), 1).await.map_err(store_problem)?.is_empty() => {
            Some(missing_reason(&document))
        }
        true => Some(MissingReason::Outside),
    };
    let body = WordsResponse { revision, data, next_cursor, reason };
    let response = Response::json(&body)?;
    Ok(match &body.next_cursor {
        Some(next) => response.next_page(&request, next),
        None => response,
    })
}

/// Parses `page`, `start` and `end`, each of which narrows the selection.
fn parse_selection(request: &Request) -> Result<PageSelection, Problem> {
    let query = request.query()?;
    let number = |name: &'static str| Ok::<_, Problem>(query.parsed::<u32>(name)?.map(i64::from));
    let all = PageSelection::default();
    Ok(PageSelection {
        pages: number("page")?.map_or(all.pages, |page| page..=page),
        characters: number("start")?.unwrap_or(all.characters.start)..number("end")?.unwrap_or(all.characters.end),
    })
}

fn missing_reason(document: &Document) -> MissingReason {
    match pidq_extract::has_positions(&document.content_type) {
        true => MissingReason::NotKept,
        false => MissingReason::NoPositions,
    }
}

fn page_response(stored: &StoredPageWords, selection: &PageSelection) -> std::io::Result<PageWordsResponse> {
    let starts: Vec<usize> = stored.text.char_indices().map(|(byte, _)| byte).chain([stored.text.len()]).collect();
    let page = PageWords::decode(&stored.words, starts.len() - 1)?;
    let (start, end) = stored.char_range;
    let offset = |character: i64| usize::try_from(character.saturating_sub(start)).unwrap_or(0);
    let selected = offset(selection.characters.start)..offset(selection.characters.end);
    let word = |word: &WordBox| Word {
        start: start + word.characters.start as i64,
        end: start + word.characters.end as i64,
        text: stored.text[starts[word.characters.start]..starts[word.characters.end]].to_owned(),
        place: word.place.map(in_units),
    };
    Ok(PageWordsResponse {
        page: stored.page,
        start,
        end,
        unit: match page.unit {
            PageUnit::Point => Unit::Point,
            PageUnit::Pixel => Unit::Pixel,
        },
        width: in_units(page.width),
        height: in_units(page.height),
        rotation: page.rotation,
        words: page.words_in(selected).iter().map(word).collect(),
    })
}

/// Converts a position to the unit of the page.
fn in_units(tenths: u32) -> f64 {
    f64::from(tenths) / 10.0
}
