//! Conformance suite that every store passes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use pidq_server::store::compression::{Compression, DecompressionLimits, decompress};
use pidq_server::store::{
    Coding, CommitOutcome, CommitResult, ETag, Error, GraphId, GraphMeta, Options, Precondition, Result, Store,
    StoredGraph, Tenant, Version, VersionRetention, VersionSelector,
};

use crate::fixtures::{draft, drawing, graph_id, tenant};

/// Store, with a separate tenant for each claim.
struct Fixture<'s> {
    store: &'s dyn Store,
    tenant: Tenant,
    graph_id: GraphId,
}

impl Fixture<'_> {
    async fn put_if(&self, number: u64, precondition: Precondition) -> Result<CommitResult> {
        self.store.commit(&self.tenant, &self.graph_id, draft(&self.graph_id, drawing(number)), &precondition).await
    }

    async fn put(&self, number: u64) -> CommitResult {
        self.put_if(number, Precondition::None).await.expect("a commit")
    }

    async fn get(&self, selector: VersionSelector) -> Result<StoredGraph> {
        self.store.get(&self.tenant, &self.graph_id, &selector, Coding::Identity).await
    }

    async fn delete_if(&self, precondition: Precondition) -> Result<()> {
        self.store.delete(&self.tenant, &self.graph_id, &precondition).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Vec<String> {
        let after = after.map(graph_id);
        let found = self.store.list(&self.tenant, prefix, after.as_ref(), limit).await.expect("a list");
        found.iter().map(|meta| meta.graph_id.to_string()).collect()
    }
}

fn version(number: u64) -> VersionSelector {
    VersionSelector::Version(Version::number(number))
}

/// Runs all claims on a store that retains the last three versions.
pub async fn run(store: &dyn Store, prefix: &str) {
    let case = |name: &str| Fixture { store, tenant: tenant(&format!("{prefix}{name}")), graph_id: graph_id("J-1") };
    what_is_stored_comes_back(case("a")).await;
    versions_are_counted(case("b")).await;
    equal_content_makes_no_version(case("c")).await;
    a_deletion_keeps_the_count(case("d")).await;
    conditions_are_checked(case("e")).await;
    old_versions_go(case("f")).await;
    lists_are_in_order_and_paged(case("g")).await;
    tenants_see_their_own(case("h"), tenant(&format!("{prefix}i"))).await;
    commits_at_once_are_one_after_the_other(case("j")).await;
    one_of_many_creates(case("k")).await;
    let verified = store.verify().await.expect("verified");
    assert!(verified.versions > 0 && verified.corrupt.is_empty(), "{verified:?}");
}

async fn what_is_stored_comes_back(case: Fixture<'_>) {
    assert_eq!(case.get(VersionSelector::Latest).await.expect_err("nothing yet"), Error::GraphNotFound);
    let put = case.put(1).await;
    assert_eq!(put.outcome, CommitOutcome::Created);
    let found = case.get(VersionSelector::Latest).await.expect("a graph");
    assert_eq!(found.bytes, draft(&case.graph_id, drawing(1)).to_json("1"));
    assert_eq!(found.meta, put.meta);
    let GraphMeta { nodes, edges, size, drawing_name, schema_version, .. } = &*found.meta;
    assert_eq!((*nodes, *edges, *size), (1, 0, found.bytes.len() as u64));
    assert_eq!((drawing_name.as_deref(), schema_version.as_str()), (Some("D 1"), "1"));
    let packed =
        case.store.get(&case.tenant, &case.graph_id, &VersionSelector::Latest, Coding::Zstd).await.expect("a graph");
    assert_eq!(decompress(&packed.bytes, Compression::Zstd, DecompressionLimits::UNTRUSTED), Ok(found.bytes));
    assert_eq!(case.store.head(&case.tenant, &case.graph_id, &VersionSelector::Latest).await, Ok(put.meta));
}

async fn versions_are_counted(case: Fixture<'_>) {
    for number in 1..=3 {
        assert_eq!(case.put(number).await.meta.version, Version::number(number));
    }
    for number in 1..=3 {
        let found = case.get(version(number)).await.expect("a version");
        assert_eq!(found.bytes, draft(&case.graph_id, drawing(number)).to_json(&number.to_string()));
    }
    for missing in [
        version(0),
        version(4),
        VersionSelector::Version(Version::named("02")),
        VersionSelector::Version(Version::named("x")),
    ] {
        assert_eq!(
            case.get(missing.clone()).await.expect_err("no such version"),
            Error::VersionNotFound,
            "{missing:?}"
        );
    }
    let entries = case.store.versions(&case.tenant, &case.graph_id).await.expect("versions");
    let names: Vec<&str> = entries.iter().map(|entry| entry.version.as_str()).collect();
    assert_eq!(names, ["3", "2", "1"]);
    assert!(entries.iter().rev().is_sorted_by_key(|entry| entry.created_on));
}

async fn equal_content_makes_no_version(case: Fixture<'_>) {
    let first = case.put(1).await;
    let again = case.put(1).await;
    assert_eq!((again.outcome, &again.meta), (CommitOutcome::Unchanged, &first.meta));
    let spelled = drawing(1).replace(':', " : ");
    let again =
        case.store.commit(&case.tenant, &case.graph_id, draft(&case.graph_id, spelled), &Precondition::None).await;
    assert_eq!(again.expect("a commit").outcome, CommitOutcome::Unchanged);
    let other = drawing(1).replace("D 1", "D one");
    let other =
        case.store.commit(&case.tenant, &case.graph_id, draft(&case.graph_id, other), &Precondition::None).await;
    assert_eq!(other.expect("a commit").outcome, CommitOutcome::Changed);
    assert_eq!(case.put(1).await.meta.version.as_str(), "3");
}

async fn a_deletion_keeps_the_count(case: Fixture<'_>) {
    assert_eq!(case.delete_if(Precondition::None).await, Err(Error::GraphNotFound));
    case.put(1).await;
    case.put(2).await;
    assert_eq!(case.delete_if(Precondition::None).await, Ok(()));
    for selector in [VersionSelector::Latest, version(1), version(2)] {
        assert_eq!(case.get(selector).await.expect_err("deleted"), Error::GraphNotFound);
    }
    assert_eq!(case.delete_if(Precondition::None).await, Err(Error::GraphNotFound));
    assert_eq!(case.store.versions(&case.tenant, &case.graph_id).await, Err(Error::GraphNotFound));
    assert_eq!(case.list("", None, 10).await, Vec::<String>::new());
    let put = case.put(2).await;
    assert_eq!((put.outcome, put.meta.version.as_str()), (CommitOutcome::Created, "3"));
    assert_eq!(case.get(version(2)).await.expect_err("before the deletion"), Error::VersionNotFound);
}

async fn conditions_are_checked(case: Fixture<'_>) {
    let failed = |latest: Option<&ETag>| Error::PreconditionFailed(latest.cloned());
    assert_eq!(case.put_if(1, Precondition::Exists).await.expect_err("nothing there"), failed(None));
    let first = case.put_if(1, Precondition::Absent).await.expect("nothing there").meta.etag();
    assert_eq!(case.put_if(2, Precondition::Absent).await.expect_err("there"), failed(Some(&first)));
    let second = case.put_if(2, Precondition::Is(vec![first.clone()])).await.expect("the latest").meta.etag();
    assert_eq!(case.put_if(3, Precondition::Is(vec![first.clone()])).await.expect_err("old"), failed(Some(&second)));
    assert_eq!(case.delete_if(Precondition::Is(vec![first.clone()])).await, Err(failed(Some(&second))));
    assert!(case.put_if(2, Precondition::Is(vec![first.clone(), second.clone()])).await.is_ok());
    assert_eq!(case.delete_if(Precondition::Is(vec![second])).await, Ok(()));
    assert_eq!(case.put_if(4, Precondition::Is(vec![first])).await.expect_err("deleted"), failed(None));
    assert!(case.put_if(4, Precondition::Absent).await.is_ok());
}

async fn old_versions_go(case: Fixture<'_>) {
    for number in 1..=5 {
        case.put(number).await;
    }
    let entries = case.store.versions(&case.tenant, &case.graph_id).await.expect("versions");
    let names: Vec<&str> = entries.iter().map(|entry| entry.version.as_str()).collect();
    assert_eq!(names, ["5", "4", "3"]);
    assert_eq!(case.get(version(2)).await.expect_err("too old"), Error::VersionNotFound);
}

/// Options of a store that retains all versions.
pub fn retain_all() -> Options {
    Options { retention: VersionRetention::All, ..Options::default() }
}

/// Checks a store with [`retain_all`].
pub async fn all_versions_stay(store: &dyn Store) {
    let case = Fixture { store, tenant: tenant("all"), graph_id: graph_id("J-1") };
    for number in 1..=12 {
        case.put(number).await;
    }
    let entries = store.versions(&case.tenant, &case.graph_id).await.expect("versions");
    assert_eq!(entries.len(), 12);
    let first = case.get(version(1)).await.expect("the first one");
    assert_eq!(first.bytes, draft(&case.graph_id, drawing(1)).to_json("1"));
}

async fn lists_are_in_order_and_paged(case: Fixture<'_>) {
    for name in ["b", "a-2", "A", "a-1", "~", "a_", "a:"] {
        let graph_id = graph_id(name);
        let put = case.store.commit(&case.tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None).await;
        assert_eq!(put.expect("a commit").outcome, CommitOutcome::Created);
    }
    assert_eq!(case.list("", None, 10).await, ["A", "a-1", "a-2", "a:", "a_", "b", "~"]);
    assert_eq!(case.list("", None, 2).await, ["A", "a-1"]);
    assert_eq!(case.list("", Some("a-1"), 2).await, ["a-2", "a:"]);
    assert_eq!(case.list("a", None, 10).await, ["a-1", "a-2", "a:", "a_"]);
    assert_eq!(case.list("a", Some("a-2"), 10).await, ["a:", "a_"]);
    assert_eq!(case.list("a", Some("b"), 10).await, Vec::<String>::new());
    assert_eq!(case.list("a_", None, 10).await, ["a_"]);
    assert_eq!(case.list("%", None, 10).await, Vec::<String>::new());
    assert_eq!(case.list("", None, 0).await, Vec::<String>::new());
}

async fn tenants_see_their_own(case: Fixture<'_>, other: Tenant) {
    case.put(1).await;
    let found = case.store.get(&other, &case.graph_id, &VersionSelector::Latest, Coding::Identity).await;
    assert_eq!(found.expect_err("of another tenant"), Error::GraphNotFound);
    assert_eq!(case.store.list(&other, "", None, 10).await.expect("a list"), Vec::<Arc<GraphMeta>>::new());
    assert_eq!(case.store.delete(&other, &case.graph_id, &Precondition::None).await, Err(Error::GraphNotFound));
    assert!(case.get(VersionSelector::Latest).await.is_ok());
}

/// Runs twelve commits concurrently.
async fn together(case: &Fixture<'_>, precondition: &Precondition) -> Vec<Result<CommitResult>> {
    let put = |number| case.put_if(number, precondition.clone());
    all((0..12).map(put).map(Box::pin).collect()).await
}

/// Runs futures concurrently and returns their outputs in order of completion.
pub async fn all<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let mut done = Vec::new();
    std::future::poll_fn(|cx| {
        futures.retain_mut(|future| match Pin::new(future).poll(cx) {
            Poll::Ready(output) => {
                done.push(output);
                false
            }
            Poll::Pending => true,
        });
        if futures.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done
}

async fn commits_at_once_are_one_after_the_other(case: Fixture<'_>) {
    let done = together(&case, &Precondition::None).await;
    let mut numbers: Vec<Option<u64>> =
        done.into_iter().map(|put| put.expect("a commit").meta.version.as_number()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=12).map(Some).collect::<Vec<_>>());
    assert_eq!(case.get(VersionSelector::Latest).await.expect("a graph").meta.version.as_str(), "12");
}

async fn one_of_many_creates(case: Fixture<'_>) {
    let done = together(&case, &Precondition::Absent).await;
    assert_eq!(done.iter().filter(|put| put.is_ok()).count(), 1);
    let others = done.iter().filter_map(|put| put.as_ref().err());
    assert!(others.into_iter().all(|error| error.code() == "precondition-failed"));
}
