//! Search in a shared store of long manuals with the same structure: pages in the first hits, with and without the parts
//! of the ranking.

use pidq_text::analyzer;
use pidq_text::embedding::Calibration;
use pidq_text::ranking::bm25::{Bm25Params, InvertedIndex};
use pidq_text::search::{Chunk, Document, Mode, Partition, SearchQuery, chunk_header};
use serde_json::Map;

const MAKERS: &[&str] = &["Kestrel", "Merlin", "Osprey", "Harrier", "Goshawk", "Buzzard"];
const MACHINES: &[&str] = &["compressor", "pump", "blower", "agitator", "centrifuge"];
/// Topic of each page: heading, and a sentence with the value that a question asks for.
const TOPICS: &[(&str, &str, &str)] = &[
    ("Lubrication", "The oil is changed after every {} operating hours.", "How often is the oil of the {} changed?"),
    ("Vibration", "The alarm for vibration is set at {} micrometers.", "At what vibration does the {} raise an alarm?"),
    (
        "Bearings",
        "The bearing temperature must stay below {} degrees.",
        "What is the bearing temperature limit of the {}?",
    ),
    ("Seals", "The barrier fluid is held at {} kilopascal.", "What pressure has the barrier fluid of the {}?"),
    (
        "Storage",
        "Turn the shaft by hand every {} days during storage.",
        "How often is the shaft of the {} turned in storage?",
    ),
    (
        "Starting",
        "Wait {} seconds between two starts of the motor.",
        "How long do I wait between two starts of the {}?",
    ),
    (
        "Alignment",
        "The angular offset of the coupling is at most {} hundredths.",
        "Which coupling offset is allowed for the {}?",
    ),
    (
        "Spare parts",
        "Order the gasket set under the number {}.",
        "What is the order number of the gasket set of the {}?",
    ),
];
/// Text that every page repeats.
const BOILERPLATE: &str = "Read the safety instructions before any work on the machine. Isolate the motor and wait until \
    the machine is at rest. Only trained personnel may change the settings. Record the change in the log of the machine, \
    with the date, the operating hours, the oil, the temperature, the pressure and the vibration.";

/// Returns the name of a manual's machine.
fn name(manual: usize) -> String {
    let (maker, machine) = (MAKERS[manual % MAKERS.len()], MACHINES[manual / MAKERS.len() % MACHINES.len()]);
    format!("{maker} {machine}")
}

fn page_text(manual: usize, topic: usize) -> String {
    let value = (100 + 37 * manual + 11 * topic).to_string();
    format!("{} {BOILERPLATE}", TOPICS[topic].1.replace("{}", &value))
}

/// Returns a manual with its title page and one page per topic; `titled` puts title and heading into the header.
fn manual(number: usize, titled: bool) -> Document {
    let title = format!("Operating manual {}", name(number));
    let first = ("Contents", format!("{title}. {BOILERPLATE}"));
    let topics = (0..TOPICS.len()).map(|topic| (TOPICS[topic].0, page_text(number, topic)));
    let chunk = |(index, (heading, text)): (usize, (&str, String))| Chunk {
        id: format!("{number}.{index}"),
        index: index as u32,
        span: None,
        header: if titled { chunk_header(&title, [heading]) } else { String::new() },
        text,
        vector: Vec::new(),
    };
    let chunks = [first].into_iter().chain(topics).enumerate().map(chunk).collect();
    Document { id: format!("{number:02}"), metadata: Map::new(), chunks }
}

fn manuals(titled: bool) -> Vec<Document> {
    (0..MAKERS.len() * MACHINES.len()).map(|number| manual(number, titled)).collect()
}

/// Returns the share of questions with the right page among the first five of a ranking by chunk ids.
fn page_hits(ranking: impl Fn(&str) -> Vec<String>) -> f64 {
    let questions =
        (0..MAKERS.len() * MACHINES.len()).flat_map(|manual| (0..TOPICS.len()).map(move |topic| (manual, topic)));
    let is_hit = |(manual, topic): (usize, usize)| {
        let question = TOPICS[topic].2.replace("{}", &name(manual));
        ranking(&question).iter().take(5).any(|id| *id == format!("{manual}.{}", topic + 1))
    };
    let hits: Vec<bool> = questions.map(is_hit).collect();
    hits.iter().filter(|hit| **hit).count() as f64 / hits.len() as f64
}

/// BM25 of the chunks alone.
fn plain(documents: &[Document]) -> f64 {
    let chunks: Vec<&Chunk> = documents.iter().flat_map(|document| &document.chunks).collect();
    let mut index = InvertedIndex::default();
    for chunk in &chunks {
        index.add(analyzer::index_terms(&chunk.indexed_text()).iter().map(String::as_str));
    }
    page_hits(|question| {
        let terms = analyzer::query_terms(question);
        let scores = index.scores(terms.iter().map(String::as_str), Bm25Params::default()).values;
        let mut order: Vec<usize> = (0..chunks.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        order.iter().take(5).map(|index| chunks[*index].id.clone()).collect()
    })
}

fn searched(documents: &[Document]) -> f64 {
    let mut partition = Partition::new(0);
    documents.iter().cloned().for_each(|document| partition.put(document).unwrap());
    page_hits(|text| {
        let query = SearchQuery {
            text,
            vector: None,
            mode: Mode::Hybrid,
            calibration: Calibration::unmeasured(0.0),
            top: 5,
            min_score: 0.0,
            filter: None,
        };
        let position = |ranked| partition.chunk_position(ranked);
        let ranked = partition.rank(&query, 5);
        ranked.iter().map(position).map(|(id, index)| format!("{}.{index}", id.parse::<usize>().unwrap())).collect()
    })
}

#[test]
fn pages_of_long_manuals_are_found_by_document_and_section() {
    let (bare, titled) = (manuals(false), manuals(true));
    let [plain_bare, routed_bare] = [plain(&bare), searched(&bare)];
    let [plain_titled, routed_titled] = [plain(&titled), searched(&titled)];
    println!("page hit@5: chunks {plain_bare:.3}, with documents {routed_bare:.3}");
    println!("with titles and headings: chunks {plain_titled:.3}, with documents {routed_titled:.3}");
    assert!(plain_bare < 0.3, "{plain_bare}");
    assert!(routed_bare >= 0.5, "{routed_bare}");
    assert!(routed_titled >= routed_bare.max(plain_titled), "{routed_titled}");
}
