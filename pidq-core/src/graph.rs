//! Immutable document and the network of the drawing it contains.

pub(crate) mod adjacency;
pub(crate) mod bidirectional;
pub(crate) mod column;
pub(crate) mod column_ref;
mod columns;
pub(crate) mod config;
pub(crate) mod connectivity;
pub(crate) mod cycles;
pub(crate) mod drawing;
pub(crate) mod equipment_sides;
mod field_reader;
pub(crate) mod index;
pub(crate) mod items;
mod moved_valve;
pub(crate) mod node_memo;
pub(crate) mod pattern;
pub(crate) mod roles;
pub(crate) mod routes;
pub(crate) mod scratch_pool;
pub(crate) mod snake_case;
pub(crate) mod tag_spelling;
pub(crate) mod topology;
pub(crate) mod trip_words;
pub mod vocabulary;
pub(crate) mod walk;

use std::io::Read;
use std::sync::{Arc, OnceLock};

use crate::arena::{Arena, ContainerId, ItemSpans, load};
use crate::error::{Code, Error, Result, Warning};
use crate::limits::{Limits, MAX_DOCUMENT_DEPTH};
use crate::value::{Array, Value, write};

use column::Column;
use column_ref::ColumnRef;
use columns::Columns;
use config::TopologyConfig;
use drawing::{Drawing, DrawingLocation, DrawingParts, Network};
use scratch_pool::ScratchPool;
use topology::Topology;

/// Callback that charges fuel for the edges followed.
pub(crate) type ChargeFn<'c> = &'c mut dyn FnMut(u64) -> Result<()>;

/// Callback that charges fuel for the edges followed and reserves bytes for the results kept.
pub(crate) type ChargeReserveFn<'c> = &'c mut dyn FnMut(u64, usize) -> Result<()>;

/// A JSON document. Immutable, shared between threads freely, dropped without recursion.
#[derive(Debug)]
pub struct Graph {
    arena: Arena,
    columns: OnceLock<Columns>,
    /// Set only when it differs from the default.
    config: Option<Arc<TopologyConfig>>,
    /// Location of nodes and edges, and the network they form. Computed on first use, so plain JSON documents do not
    /// pay for it.
    drawing_parts: OnceLock<Option<DrawingLocation>>,
    topology: OnceLock<Topology>,
    scratch_pool: ScratchPool,
}

impl Graph {
    /// Parses a document: strict JSON (RFC 8259) in UTF-8, nested at most 512 levels.
    ///
    /// # Errors
    /// `PQ5001` not JSON, `PQ5002` above 4 GiB, `PQ5003` nested too deeply, `PQ5004` not UTF-8; each with the position.
    /// The escape of a lone surrogate, such as `\uD800`, is `PQ5004` as well, because text in UTF-8 cannot contain one.
    ///
    /// ```
    /// use pidq_core::Graph;
    ///
    /// assert_eq!(Graph::from_json(r#"["\uD83D\uDE00"]"#)?.root().at(0).and_then(|text| text.as_str()), Some("😀"));
    /// let error = Graph::from_json(r#"["\uD83D\uDE00", "\uD83D"]"#).unwrap_err();
    /// assert_eq!((error.code().as_str(), error.span().map(|span| span.start)), ("PQ5004", Some(18)));
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    pub fn from_json(json: impl Into<Vec<u8>>) -> Result<Graph> {
        Graph::from_json_with_max_depth(json, MAX_DOCUMENT_DEPTH)
    }

    /// Like [`Graph::from_json`], nested at most `max_depth` levels.
    ///
    /// # Errors
    /// See [`Graph::from_json`].
    pub fn from_json_with_max_depth(json: impl Into<Vec<u8>>, max_depth: usize) -> Result<Graph> {
        Ok(Graph::from_arena(load::load(json.into(), max_depth)?))
    }

    /// Wraps a loaded document.
    pub(crate) fn from_arena(arena: Arena) -> Graph {
        let (columns, drawing_parts, topology) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Graph { arena, columns, config: None, drawing_parts, topology, scratch_pool: ScratchPool::default() }
    }

    /// Reads a document to its end and parses it. The reader needs no buffer of its own.
    ///
    /// ```
    /// use pidq_core::Graph;
    ///
    /// # let file = std::io::Cursor::new(r#"{"nodes": []}"#);
    /// let graph = Graph::from_reader(file)?;
    /// assert_eq!(graph.source(), r#"{"nodes": []}"#);
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `PQ5005` with the text of an error of the reader, and those of [`Graph::from_json`].
    pub fn from_reader(reader: impl Read) -> Result<Graph> {
        let mut json = Vec::new();
        // One byte more than a document may have, so that a longer one is an error.
        let read = reader.take(u64::from(u32::MAX) + 1).read_to_end(&mut json);
        read.map_err(|error| Error::new(Code::InputUnreadable, format!("The input could not be read: {error}")))?;
        Graph::from_json(json)
    }

    /// Creates a document from a value: the result of a query, an [`OwnedValue`](crate::OwnedValue), or a part of
    /// another document. Numbers keep their source text.
    ///
    /// ```
    /// use pidq_core::{Graph, Limits, Query, Scratch};
    ///
    /// let plant = Graph::from_json(r#"{"nodes": [{"id": 1, "area": "A"}, {"id": 2, "area": "B"}], "edges": []}"#)?;
    /// let query = Query::parse(r#"{nodes: .nodes | filter(.area == "A"), edges: .edges}"#)?;
    /// let scratch = Scratch::new();
    /// let area = Graph::from_value(query.run(&plant, &scratch, Limits::default())?.value)?;
    /// assert_eq!(Query::parse("nodes() | size()")?.to_json(&area, Limits::default())?, "1");
    /// # Ok::<(), pidq_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `PQ4003` above the default of [`Limits::output`](crate::Limits), and those of [`Graph::from_json`].
    pub fn from_value<'v>(value: impl Into<Value<'v>>) -> Result<Graph> {
        let mut json = Vec::new();
        write::append_json(value.into(), Limits::default().output, &mut json)?;
        Graph::from_json(json)
    }

    /// Returns the same document with other field names and class words. The document's own `metadata.topology` takes
    /// precedence over `config`.
    pub fn with_topology(self, config: TopologyConfig) -> Graph {
        Graph { config: Some(config.into()), drawing_parts: OnceLock::new(), topology: OnceLock::new(), ..self }
    }

    /// The whole document.
    pub fn root(&self) -> Value<'_> {
        Value::stored(&self.arena, self.arena.root())
    }

    /// The source text of the document.
    pub fn source(&self) -> &str {
        self.arena.source()
    }

    /// Returns the index of an array or object of this document: unique per container, starting at 0, without large
    /// gaps. `None` for values that a query has built. Callers use it to attach their own data to containers.
    pub fn container_index(&self, value: Value<'_>) -> Option<usize> {
        let (arena, id) = value.container()?;
        std::ptr::eq(arena, &raw const self.arena).then_some(id.0 as usize)
    }

    /// Returns the fields of an array of objects as columns, if all of them are fields of one long array of this
    /// document; otherwise `None`. Missing values are null.
    pub fn columns_of<'a>(&'a self, list: Array<'a>) -> Option<Vec<ColumnRef<'a>>> {
        column_ref::columns_of(self, list)
    }

    /// Returns all object keys in order of first appearance, for completions.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.arena.all_keys()
    }

    /// The number of duplicate keys in objects. The last value wins.
    pub fn duplicate_keys(&self) -> usize {
        self.arena.duplicate_keys()
    }

    /// Returns the warning about duplicate keys.
    pub(crate) fn duplicate_key_warning(&self) -> Option<Warning> {
        let count = self.duplicate_keys();
        let keys = if count == 1 { "key" } else { "keys" };
        let message = || format!("{count} duplicate {keys} in the input; the last value is used");
        (count > 0).then(|| Warning::new("PQW10", message()))
    }

    /// Memory in bytes, without the source text. Grows while queries run: fields that queries read of long arrays are
    /// cached as columns, up to the size of the loaded document.
    pub fn size(&self) -> usize {
        self.arena.size() + self.columns.get().map_or(0, Columns::size) + self.scratch_pool.size()
    }

    /// Returns a field of the items of an array as a column, if every item has the required structure.
    pub(crate) fn column<'p>(
        &self,
        list: ContainerId,
        path: impl ExactSizeIterator<Item = &'p str> + Clone,
    ) -> Option<&Column> {
        self.columns.get_or_init(|| Columns::new(&self.arena)).get(&self.arena, list, path)
    }

    /// Returns the bytes of an array's items in the source, if they can be copied with their commas.
    pub(crate) fn item_spans(&self, list: ContainerId) -> Option<&ItemSpans> {
        self.columns.get_or_init(|| Columns::new(&self.arena)).item_spans(&self.arena, list)
    }

    /// Upper bound of [`Graph::size`] in bytes once all tables and caches are built. Used for cache accounting.
    pub fn max_size(&self) -> usize {
        // Scratch memory per node, for as many concurrent walks as the pool retains.
        const WALKS: usize = 4 * 32;
        let (nodes, edges) = self.drawing_parts().map_or((0, 0), |drawing_parts| drawing_parts.len());
        2 * self.arena.size() + Topology::size_of(nodes, edges) + nodes * WALKS
    }

    /// Returns the drawing, or `None` for a document without a graph.
    pub(crate) fn drawing(&self, limits: &Limits<'_>) -> Result<Option<Drawing<'_>>> {
        let Some(drawing_parts) = self.drawing_parts() else { return Ok(None) };
        let topology = self.topology(&drawing_parts, limits)?;
        Ok(Some(drawing_parts.into_drawing(Network::Shared(topology))))
    }

    /// Returns the drawing without applying run limits, for callers outside of a query run.
    pub(crate) fn drawing_without_limits(&self) -> Option<Drawing<'_>> {
        Some(self.drawing_parts()?.into_drawing(Network::Shared(self.network()?)))
    }

    /// Returns the network without limits; building it is linear in the document.
    fn network(&self) -> Option<&Topology> {
        self.topology(&self.drawing_parts()?, &Limits { memory: usize::MAX, ..Limits::default() }).ok()
    }

    fn drawing_parts(&self) -> Option<DrawingParts<'_>> {
        let find = || DrawingParts::find(self.root(), self.config()).and_then(|parts| parts.location());
        self.drawing_parts.get_or_init(find).map(|location| location.parts(&self.arena))
    }

    fn topology(&self, drawing_parts: &DrawingParts<'_>, limits: &Limits<'_>) -> Result<&Topology> {
        // A run with a lower memory limit gets the same error whether or not another run has built the network.
        drawing_parts.check_memory(limits)?;
        if let Some(topology) = self.topology.get() {
            return Ok(topology);
        }
        let topology = drawing_parts.topology(self.config(), limits)?;
        // If two threads build the network, the second result is dropped.
        Ok(self.topology.get_or_init(|| topology))
    }

    /// Pool of scratch memory for walks.
    pub(crate) fn scratch_pool(&self) -> &ScratchPool {
        &self.scratch_pool
    }

    pub(crate) fn config(&self) -> &Arc<TopologyConfig> {
        self.config.as_ref().unwrap_or_else(|| TopologyConfig::shared_default())
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }
}
