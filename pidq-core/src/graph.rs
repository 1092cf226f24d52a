//! A document, read once and then only asked. Where it holds a drawing, its nodes and edges are a network.

pub(crate) mod adjacency;
pub(crate) mod column;
mod columns;
pub(crate) mod config;
pub(crate) mod cycles;
mod fields;
pub(crate) mod index;
pub(crate) mod items;
pub(crate) mod lent;
pub(crate) mod meet;
pub(crate) mod parts;
pub(crate) mod pattern;
pub(crate) mod plant;
pub(crate) mod roles;
pub(crate) mod routes;
pub(crate) mod spare;
pub(crate) mod topology;
pub mod vocabulary;
pub(crate) mod walk;

use std::sync::{Arc, OnceLock};

use crate::arena::{Arena, ContainerId, Layout, load};
use crate::error::{Result, Warning};
use crate::limits::{Limits, MAX_DEPTH};
use crate::value::{Array, Value};

use column::Column;
use columns::Columns;
use config::TopologyConfig;
use lent::Field;
use plant::{Kept, Network, Place, Plant};
use spare::Spare;
use topology::Topology;

/// A document: immutable, shared between threads freely, dropped without recursion.
#[derive(Debug)]
pub struct Graph {
    arena: Arena,
    columns: OnceLock<Columns>,
    /// Only where it is not the usual one.
    config: Option<Arc<TopologyConfig>>,
    /// Where nodes and edges are, and what network they make: found and made at the first question about them. Plain JSON
    /// pays nothing for it.
    place: OnceLock<Option<Kept>>,
    topology: OnceLock<Topology>,
    spare: Spare,
}

impl Graph {
    /// Reads a document: strict JSON (RFC 8259) in UTF-8, nested at most 512 levels.
    ///
    /// # Errors
    /// `PQ5001` not JSON, `PQ5002` above 4 GiB, `PQ5003` nested too deeply, `PQ5004` not UTF-8; all with the place.
    pub fn from_json(json: impl Into<Vec<u8>>) -> Result<Graph> {
        Graph::from_json_within(json, MAX_DEPTH)
    }

    /// As [`Graph::from_json`], nested at most `max_depth` levels.
    ///
    /// # Errors
    /// As [`Graph::from_json`].
    pub fn from_json_within(json: impl Into<Vec<u8>>, max_depth: usize) -> Result<Graph> {
        Ok(Graph::of(load::load(json.into(), max_depth)?))
    }

    /// The graph of a document.
    pub(crate) fn of(arena: Arena) -> Graph {
        let (columns, place, topology) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Graph { arena, columns, config: None, place, topology, spare: Spare::default() }
    }

    /// The same document, read with other names for its fields and other words for its classes. What the document says
    /// of itself in `metadata.topology` counts before it.
    pub fn with_topology(self, config: TopologyConfig) -> Graph {
        Graph { config: Some(config.into()), place: OnceLock::new(), topology: OnceLock::new(), ..self }
    }

    /// The whole document.
    pub fn root(&self) -> Value<'_> {
        Value::stored(&self.arena, self.arena.root())
    }

    /// The document as it came.
    pub fn source(&self) -> &str {
        self.arena.source()
    }

    /// The number of a list or an object of this document: each has another one, from 0 without large gaps. Nothing for
    /// what a query has built. For callers that keep something of their own for each.
    pub fn number_of(&self, value: Value<'_>) -> Option<usize> {
        let (arena, id) = value.container()?;
        std::ptr::eq(arena, &raw const self.arena).then_some(id.0 as usize)
    }

    /// The fields of a list of objects as columns, where all are fields of one long list of this document. For callers
    /// that want columns themselves: the values are those of the objects, and missing ones are null.
    pub fn fields_of<'a>(&'a self, list: Array<'a>) -> Option<Vec<Field<'a>>> {
        lent::fields_of(self, list)
    }

    /// All keys of objects, in the order of their first appearance: for completions.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.arena.all_keys()
    }

    /// How many keys stand twice in their object. The last value counts.
    pub fn duplicate_keys(&self) -> usize {
        self.arena.duplicate_keys()
    }

    /// The warning of them.
    pub(crate) fn keys_twice(&self) -> Option<Warning> {
        let count = self.duplicate_keys();
        let message = || format!("{count} keys of the input stand twice in their object; the last one counts");
        (count > 0).then(|| Warning::new("PQW10", message()))
    }

    /// Bytes of memory kept, without the document itself. Grows while queries run: fields that they read of long
    /// lists are kept side by side, up to as many bytes as were kept before.
    pub fn size(&self) -> usize {
        self.arena.size() + self.columns.get().map_or(0, Columns::size) + self.spare.size()
    }

    /// A field of the items of a list, side by side, if it is as regular as that.
    pub(crate) fn column<'p>(
        &self,
        list: ContainerId,
        path: impl ExactSizeIterator<Item = &'p str> + Clone,
    ) -> Option<&Column> {
        self.columns.get_or_init(|| Columns::new(&self.arena)).get(&self.arena, list, path)
    }

    /// How the items of a list stand in the input.
    pub(crate) fn layout(&self, list: ContainerId) -> Layout {
        self.columns.get_or_init(|| Columns::new(&self.arena)).layout(&self.arena, list)
    }

    /// Bytes of memory that it comes to keep at most, without the document itself, once all was asked of it: for whoever
    /// keeps many.
    pub fn size_in_use(&self) -> usize {
        // What a walk needs for each node, and as many walks at once as there are threads for them.
        const WALKS: usize = 4 * 32;
        let (nodes, edges) = self.place().map_or((0, 0), |place| place.len());
        2 * self.arena.size() + Topology::size_of(nodes, edges) + nodes * WALKS
    }

    /// Its nodes and edges; nothing where it has none.
    pub(crate) fn plant(&self, limits: &Limits<'_>) -> Result<Option<Plant<'_>>> {
        let Some(place) = self.place() else { return Ok(None) };
        let topology = self.topology(&place, limits)?;
        Ok(Some(place.with(Network::Shared(topology))))
    }

    /// The same for programs that ask without a run, and so without limits.
    pub(crate) fn whole_plant(&self) -> Option<Plant<'_>> {
        Some(self.place()?.with(Network::Shared(self.network()?)))
    }

    /// The network without limits: it is linear in the document.
    fn network(&self) -> Option<&Topology> {
        self.topology(&self.place()?, &Limits { memory: usize::MAX, ..Limits::default() }).ok()
    }

    fn place(&self) -> Option<Place<'_>> {
        let find = || Place::find(self.root(), self.config()).and_then(|place| place.kept());
        self.place.get_or_init(find).map(|kept| kept.place(&self.arena))
    }

    fn topology(&self, place: &Place<'_>, limits: &Limits<'_>) -> Result<&Topology> {
        // A run of less memory gets the same error, whether or not one of more has come before it.
        place.check_room(limits)?;
        if let Some(topology) = self.topology.get() {
            return Ok(topology);
        }
        let topology = place.topology(self.config(), limits)?;
        // Who comes second throws its own away.
        Ok(self.topology.get_or_init(|| topology))
    }

    /// What walks need that is kept between them.
    pub(crate) fn spare(&self) -> &Spare {
        &self.spare
    }

    pub(crate) fn config(&self) -> &Arc<TopologyConfig> {
        self.config.as_ref().unwrap_or_else(|| TopologyConfig::usual())
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }
}
