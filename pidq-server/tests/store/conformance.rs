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

/// Store, with a separate tenant for each check.
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

/// Runs all checks on a store that retains the last three versions.
pub async fn run(store: &dyn Store, prefix: &str) {
    let fixture = |name: &str| Fixture { store, tenant: tenant(&format!("{prefix}{name}")), graph_id: graph_id("J-1") };
    stored_content_is_returned(fixture("a")).await;
    versions_are_numbered(fixture("b")).await;
    equal_content_creates_no_version(fixture("c")).await;
    a_deletion_keeps_the_version_counter(fixture("d")).await;
    preconditions_are_checked(fixture("e")).await;
    old_versions_are_removed(fixture("f")).await;
    lists_are_in_order_and_paged(fixture("g")).await;
    tenants_are_isolated(fixture("h"), tenant(&format!("{prefix}i"))).await;
    concurrent_commits_are_serialized(fixture("j")).await;
    one_of_concurrent_creations_succeeds(fixture("k")).await;
    let verified = store.verify().await.expect("verified");
    assert!(verified.versions > 0 && verified.corrupt.is_empty(), "{verified:?}");
}

async fn stored_content_is_returned(fixture: Fixture<'_>) {
    assert_eq!(fixture.get(VersionSelector::Latest).await.expect_err("nothing yet"), Error::GraphNotFound);
    let put = fixture.put(1).await;
    assert_eq!(put.outcome, CommitOutcome::Created);
    let found = fixture.get(VersionSelector::Latest).await.expect("a graph");
    assert_eq!(found.bytes, draft(&fixture.graph_id, drawing(1)).to_json("1"));
    assert_eq!(found.meta, put.meta);
    let GraphMeta { nodes, edges, size, drawing_name, schema_version, .. } = &*found.meta;
    assert_eq!((*nodes, *edges, *size), (1, 0, found.bytes.len() as u64));
    assert_eq!((drawing_name.as_deref(), schema_version.as_str()), (Some("D 1"), "1"));
    let compressed = fixture
        .store
        .get(&fixture.tenant, &fixture.graph_id, &VersionSelector::Latest, Coding::Zstd)
        .await
        .expect("a graph");
    assert_eq!(decompress(&compressed.bytes, Compression::Zstd, DecompressionLimits::UNTRUSTED), Ok(found.bytes));
    assert_eq!(fixture.store.head(&fixture.tenant, &fixture.graph_id, &VersionSelector::Latest).await, Ok(put.meta));
}

async fn versions_are_numbered(fixture: Fixture<'_>) {
    for number in 1..=3 {
        assert_eq!(fixture.put(number).await.meta.version, Version::number(number));
    }
    for number in 1..=3 {
        let found = fixture.get(version(number)).await.expect("a version");
        assert_eq!(found.bytes, draft(&fixture.graph_id, drawing(number)).to_json(&number.to_string()));
    }
    for missing in [
        version(0),
        version(4),
        VersionSelector::Version(Version::named("02")),
        VersionSelector::Version(Version::named("x")),
    ] {
        assert_eq!(
            fixture.get(missing.clone()).await.expect_err("no such version"),
            Error::VersionNotFound,
            "{missing:?}"
        );
    }
    let entries = fixture.store.versions(&fixture.tenant, &fixture.graph_id).await.expect("versions");
    let names: Vec<&str> = entries.iter().map(|entry| entry.version.as_str()).collect();
    assert_eq!(names, ["3", "2", "1"]);
    assert!(entries.iter().rev().is_sorted_by_key(|entry| entry.created_on));
}

async fn equal_content_creates_no_version(fixture: Fixture<'_>) {
    let first = fixture.put(1).await;
    let again = fixture.put(1).await;
    assert_eq!((again.outcome, &again.meta), (CommitOutcome::Unchanged, &first.meta));
    let reformatted = drawing(1).replace(':', " : ");
    let again = fixture
        .store
        .commit(&fixture.tenant, &fixture.graph_id, draft(&fixture.graph_id, reformatted), &Precondition::None)
        .await;
    assert_eq!(again.expect("a commit").outcome, CommitOutcome::Unchanged);
    let other = drawing(1).replace("D 1", "D one");
    let other = fixture
        .store
        .commit(&fixture.tenant, &fixture.graph_id, draft(&fixture.graph_id, other), &Precondition::None)
        .await;
    assert_eq!(other.expect("a commit").outcome, CommitOutcome::Changed);
    assert_eq!(fixture.put(1).await.meta.version.as_str(), "3");
}

async fn a_deletion_keeps_the_version_counter(fixture: Fixture<'_>) {
    assert_eq!(fixture.delete_if(Precondition::None).await, Err(Error::GraphNotFound));
    fixture.put(1).await;
    fixture.put(2).await;
    assert_eq!(fixture.delete_if(Precondition::None).await, Ok(()));
    for selector in [VersionSelector::Latest, version(1), version(2)] {
        assert_eq!(fixture.get(selector).await.expect_err("deleted"), Error::GraphNotFound);
    }
    assert_eq!(fixture.delete_if(Precondition::None).await, Err(Error::GraphNotFound));
    assert_eq!(fixture.store.versions(&fixture.tenant, &fixture.graph_id).await, Err(Error::GraphNotFound));
    assert_eq!(fixture.list("", None, 10).await, Vec::<String>::new());
    let put = fixture.put(2).await;
    assert_eq!((put.outcome, put.meta.version.as_str()), (CommitOutcome::Created, "3"));
    assert_eq!(fixture.get(version(2)).await.expect_err("before the deletion"), Error::VersionNotFound);
}

async fn preconditions_are_checked(fixture: Fixture<'_>) {
    let failed = |latest: Option<&ETag>| Error::PreconditionFailed(latest.cloned());
    assert_eq!(fixture.put_if(1, Precondition::Exists).await.expect_err("nothing there"), failed(None));
    let first = fixture.put_if(1, Precondition::Absent).await.expect("nothing there").meta.etag();
    assert_eq!(fixture.put_if(2, Precondition::Absent).await.expect_err("there"), failed(Some(&first)));
    let second = fixture.put_if(2, Precondition::Is(vec![first.clone()])).await.expect("the latest").meta.etag();
    assert_eq!(fixture.put_if(3, Precondition::Is(vec![first.clone()])).await.expect_err("old"), failed(Some(&second)));
    assert_eq!(fixture.delete_if(Precondition::Is(vec![first.clone()])).await, Err(failed(Some(&second))));
    assert!(fixture.put_if(2, Precondition::Is(vec![first.clone(), second.clone()])).await.is_ok());
    assert_eq!(fixture.delete_if(Precondition::Is(vec![second])).await, Ok(()));
    assert_eq!(fixture.put_if(4, Precondition::Is(vec![first])).await.expect_err("deleted"), failed(None));
    assert!(fixture.put_if(4, Precondition::Absent).await.is_ok());
}

async fn old_versions_are_removed(fixture: Fixture<'_>) {
    for number in 1..=5 {
        fixture.put(number).await;
    }
    let entries = fixture.store.versions(&fixture.tenant, &fixture.graph_id).await.expect("versions");
    let names: Vec<&str> = entries.iter().map(|entry| entry.version.as_str()).collect();
    assert_eq!(names, ["5", "4", "3"]);
    assert_eq!(fixture.get(version(2)).await.expect_err("too old"), Error::VersionNotFound);
}

/// Options of a store that retains all versions.
pub fn retain_all() -> Options {
    Options { retention: VersionRetention::All, ..Options::default() }
}

/// Checks a store with [`retain_all`].
pub async fn all_versions_are_retained(store: &dyn Store) {
    let fixture = Fixture { store, tenant: tenant("all"), graph_id: graph_id("J-1") };
    for number in 1..=12 {
        fixture.put(number).await;
    }
    let entries = store.versions(&fixture.tenant, &fixture.graph_id).await.expect("versions");
    assert_eq!(entries.len(), 12);
    let first = fixture.get(version(1)).await.expect("the first one");
    assert_eq!(first.bytes, draft(&fixture.graph_id, drawing(1)).to_json("1"));
}

async fn lists_are_in_order_and_paged(fixture: Fixture<'_>) {
    for name in ["b", "a-2", "A", "a-1", "~", "a_", "a:"] {
        let graph_id = graph_id(name);
        let put =
            fixture.store.commit(&fixture.tenant, &graph_id, draft(&graph_id, drawing(1)), &Precondition::None).await;
        assert_eq!(put.expect("a commit").outcome, CommitOutcome::Created);
    }
    assert_eq!(fixture.list("", None, 10).await, ["A", "a-1", "a-2", "a:", "a_", "b", "~"]);
    assert_eq!(fixture.list("", None, 2).await, ["A", "a-1"]);
    assert_eq!(fixture.list("", Some("a-1"), 2).await, ["a-2", "a:"]);
    assert_eq!(fixture.list("a", None, 10).await, ["a-1", "a-2", "a:", "a_"]);
    assert_eq!(fixture.list("a", Some("a-2"), 10).await, ["a:", "a_"]);
    assert_eq!(fixture.list("a", Some("b"), 10).await, Vec::<String>::new());
    assert_eq!(fixture.list("a_", None, 10).await, ["a_"]);
    assert_eq!(fixture.list("%", None, 10).await, Vec::<String>::new());
    assert_eq!(fixture.list("", None, 0).await, Vec::<String>::new());
}

async fn tenants_are_isolated(fixture: Fixture<'_>, other: Tenant) {
    fixture.put(1).await;
    let found = fixture.store.get(&other, &fixture.graph_id, &VersionSelector::Latest, Coding::Identity).await;
    assert_eq!(found.expect_err("of another tenant"), Error::GraphNotFound);
    assert_eq!(fixture.store.list(&other, "", None, 10).await.expect("a list"), Vec::<Arc<GraphMeta>>::new());
    assert_eq!(fixture.store.delete(&other, &fixture.graph_id, &Precondition::None).await, Err(Error::GraphNotFound));
    assert!(fixture.get(VersionSelector::Latest).await.is_ok());
}

/// Runs twelve commits concurrently.
async fn commit_concurrently(fixture: &Fixture<'_>, precondition: &Precondition) -> Vec<Result<CommitResult>> {
    let put = |number| fixture.put_if(number, precondition.clone());
    join_all((0..12).map(put).map(Box::pin).collect()).await
}

/// Runs futures concurrently and returns their outputs in order of completion.
pub async fn join_all<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
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

async fn concurrent_commits_are_serialized(fixture: Fixture<'_>) {
    let done = commit_concurrently(&fixture, &Precondition::None).await;
    let mut numbers: Vec<Option<u64>> =
        done.into_iter().map(|put| put.expect("a commit").meta.version.as_number()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=12).map(Some).collect::<Vec<_>>());
    assert_eq!(fixture.get(VersionSelector::Latest).await.expect("a graph").meta.version.as_str(), "12");
}

async fn one_of_concurrent_creations_succeeds(fixture: Fixture<'_>) {
    let done = commit_concurrently(&fixture, &Precondition::Absent).await;
    assert_eq!(done.iter().filter(|put| put.is_ok()).count(), 1);
    let others = done.iter().filter_map(|put| put.as_ref().err());
    assert!(others.into_iter().all(|error| error.code() == "precondition-failed"));
}
