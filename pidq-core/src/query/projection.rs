//! Projection pushdown: derives the values of a document that a query reads from its plan, for a document that is
//! loaded for one query.
//!
//! The plan is evaluated with the provenance of values in place of values. A value that becomes part of the result, or
//! that goes to a function not listed below, is included with everything in it. A query that uses the graph includes
//! the whole document.

use crate::arena::projection::{Projection, ProjectionId};
use crate::eval::plan::function::Body;
use crate::eval::plan::{Call, FunctionRef, Key, Path, Plan};
use crate::functions;

/// Returns the projection that a plan reads.
pub(super) fn projection_of(plan: &Plan) -> Projection {
    let mut builder = ProjectionBuilder { projection: Projection::empty() };
    let result = builder.plan(plan, Provenance::Document(ProjectionId::ROOT));
    builder.include(result);
    builder.projection
}

/// Origin of a value.
#[derive(Clone, Copy)]
enum Provenance {
    /// A value of the document, or an array of such values, at any depth.
    Document(ProjectionId),
    /// A computed object whose values come from the document.
    Groups(ProjectionId),
    /// A computed value; the document values that it contains are already included.
    Computed,
}

/// Use of the piped value by a function.
#[derive(Clone, Copy)]
enum InputUse {
    /// Returns some of its items, in any order, without reading them: `reverse`.
    Subset,
    /// Returns some of its items, after evaluating the arguments on them: `filter`.
    Filter,
    /// Replaces each item with the value of the argument: `map`.
    Map,
    /// Groups the items by the value of the argument: `groupBy`.
    Group,
    /// Replaces each value of an object with the value of the argument: `mapValues`.
    MapValues,
    /// Evaluates the arguments on its items, and builds its result from nothing else: `pick`.
    Fields,
    /// Counts items or keys.
    Count,
}

/// The functions that are known to read less than everything.
const INPUT_USES: &[(&str, InputUse)] = &[
    ("filter", InputUse::Filter),
    ("sort", InputUse::Filter),
    ("limit", InputUse::Subset),
    ("reverse", InputUse::Subset),
    ("flatten", InputUse::Subset),
    ("uniqBy", InputUse::Filter),
    ("sortBy", InputUse::Filter),
    ("skip", InputUse::Subset),
    ("top", InputUse::Filter),
    ("first", InputUse::Subset),
    ("last", InputUse::Subset),
    ("nth", InputUse::Subset),
    ("maxBy", InputUse::Filter),
    ("minBy", InputUse::Filter),
    ("map", InputUse::Map),
    ("flatMap", InputUse::Map),
    ("groupBy", InputUse::Group),
    ("keyBy", InputUse::Group),
    ("mapValues", InputUse::MapValues),
    ("pick", InputUse::Fields),
    ("any", InputUse::Fields),
    ("all", InputUse::Fields),
    ("count", InputUse::Fields),
    ("countBy", InputUse::Fields),
    ("sumBy", InputUse::Fields),
    ("avgBy", InputUse::Fields),
    ("size", InputUse::Count),
    ("keys", InputUse::Count),
];

struct ProjectionBuilder {
    projection: Projection,
}

impl ProjectionBuilder {
    /// Returns the provenance of a plan's value for an input.
    fn plan(&mut self, plan: &Plan, input: Provenance) -> Provenance {
        match plan {
            Plan::Get(path) => self.path(path, input),
            Plan::Pipe(stages) => stages.iter().fold(input, |provenance, stage| self.plan(&stage.plan, provenance)),
            Plan::Array(items) => self.include_results(items, input),
            Plan::Object(fields) => self.include_results(&fields.values, input),
            Plan::Let(values, body) => {
                self.include_results(values, input);
                self.plan(body, input)
            }
            Plan::Root => Provenance::Document(ProjectionId::ROOT),
            Plan::Call(call) => self.call(call, input),
            // The values of variables were included where they were bound.
            Plan::Constant(_) | Plan::Variable(_) | Plan::Parameter(_) => Provenance::Computed,
            Plan::GraphParameter(_) | Plan::Pattern(_) => Provenance::Computed,
        }
    }

    fn path(&mut self, path: &Path, input: Provenance) -> Provenance {
        let Provenance::Document(mut node) = input else { return self.include(input) };
        // Arrays have items by index, and every object has properties of JavaScript's prototypes.
        let is_key = |key: &&Key| path.is_plain && key.index.is_none();
        for key in path.keys.iter().take_while(is_key) {
            node = self.projection.add_key(node, &key.name);
        }
        if path.is_plain && path.keys.iter().all(|key| is_key(&key)) {
            return Provenance::Document(node);
        }
        self.include(Provenance::Document(node))
    }

    fn call(&mut self, call: &Call, input: Provenance) -> Provenance {
        match call.function {
            FunctionRef::Standard(function) | FunctionRef::Extension(function)
                if !functions::reads_graph(function.name) =>
            {
                match INPUT_USES.iter().find(|(name, _)| *name == function.name) {
                    Some((_, input_use)) => self.listed_call(*input_use, &call.args, input),
                    None => self.unlisted_call(&function.body, &call.args, input),
                }
            }
            _ => {
                self.include(Provenance::Document(ProjectionId::ROOT));
                Provenance::Computed
            }
        }
    }

    fn listed_call(&mut self, input_use: InputUse, args: &[Plan], input: Provenance) -> Provenance {
        match (input_use, input) {
            (InputUse::Count, _) => self.include_results(args, input),
            (InputUse::Subset, Provenance::Document(_)) => {
                self.include_results(args, input);
                input
            }
            // Without an argument they read the items themselves.
            _ if args.is_empty() => self.include(input),
            (InputUse::Filter, Provenance::Document(_)) => {
                self.include_results(args, input);
                input
            }
            (InputUse::Map, Provenance::Document(_)) => self.map_items(args, input),
            (InputUse::Group, Provenance::Document(node)) => {
                self.include_results(args, input);
                Provenance::Groups(node)
            }
            (InputUse::MapValues, Provenance::Groups(node)) => self.include_results(args, Provenance::Document(node)),
            (InputUse::Fields, Provenance::Document(_)) => self.include_results(args, input),
            _ => self.unlisted_piped_call(args, input),
        }
    }

    fn map_items(&mut self, args: &[Plan], input: Provenance) -> Provenance {
        let provenances: Vec<Provenance> = args.iter().map(|arg| self.plan(arg, input)).collect();
        match provenances[..] {
            [Provenance::Document(node)] => Provenance::Document(node),
            // An array of groups is not a group.
            _ => provenances.into_iter().fold(Provenance::Computed, |_, provenance| self.include(provenance)),
        }
    }

    fn unlisted_call(&mut self, body: &Body, args: &[Plan], input: Provenance) -> Provenance {
        match body {
            // They read their arguments and nothing else.
            Body::Strict(_) | Body::Batched(..) | Body::Lazy(_) | Body::Search(_) => self.include_results(args, input),
            _ => self.unlisted_piped_call(args, input),
        }
    }

    fn unlisted_piped_call(&mut self, args: &[Plan], input: Provenance) -> Provenance {
        let included = self.include(input);
        self.include_results(args, included)
    }

    /// Includes all values of some plans.
    fn include_results(&mut self, plans: &[Plan], input: Provenance) -> Provenance {
        for plan in plans {
            let result = self.plan(plan, input);
            self.include(result);
        }
        Provenance::Computed
    }

    /// Includes everything at a provenance.
    fn include(&mut self, provenance: Provenance) -> Provenance {
        if let Provenance::Document(node) | Provenance::Groups(node) = provenance {
            self.projection.include_all(node);
        }
        Provenance::Computed
    }
}

#[cfg(test)]
mod tests {
    use crate::Dialect;

    /// Returns the projection of a query; paths marked `*` are included with everything in them.
    fn parts(text: &str) -> String {
        let query = Dialect::standard().parse(text).expect("valid query");
        super::projection_of(&query.compiled.plan).paths().join(" ")
    }

    #[test]
    fn fields_in_conditions_are_read_and_results_are_included() {
        assert_eq!(parts(r#".n | filter(.t == "x" and .a.p > 4) | size()"#), ".n.t* .n.a.p*");
        assert_eq!(parts(r#".n | filter(.t == "x")"#), ".n*");
        assert_eq!(parts(".n | filter(.t) | sort(.u) | pick(.id, .a.b)"), ".n.t* .n.u* .n.id* .n.a.b*");
        assert_eq!(parts(".n | groupBy(.c) | mapValues(size())"), ".n.c*");
        assert_eq!(parts(".n | groupBy(.c) | mapValues(map(.w) | sum())"), ".n.c* .n.w*");
        assert_eq!(parts(".n | keyBy(.id) | mapValues(.tag)"), ".n.id* .n.tag*");
        assert_eq!(parts(".n | map({a: .x, b: .y.z}) | limit(3)"), ".n.x* .n.y.z*");
        assert_eq!(parts(".n | map(.ports) | flatten() | map(.id)"), ".n.ports.id*");
        assert_eq!(parts(".n | any(.x)"), ".n.x*");
        assert_eq!(parts("{n: .a | size(), m: .b | map(.c)}"), ".a .b.c*");
        assert_eq!(parts(".n | map($root.m.x)"), ".n .m.x*");
        assert_eq!(parts("let({k: .a.b}, .n | filter(.c == $k) | size())"), ".a.b* .n.c*");
        assert_eq!(parts("size()"), "");
    }

    #[test]
    fn unknown_uses_include_everything() {
        // Items by index, keys of JavaScript, groups that are taken apart, values that are compared or returned as they
        // are.
        assert_eq!(parts(".n.0.tag"), ".n*");
        assert_eq!(parts(".n | map(.constructor)"), ".n*");
        assert_eq!(parts(".n | groupBy(.c) | .valve"), ".n*");
        assert_eq!(parts(".n | map(groupBy(.c)) | mapValues(.x)"), ".n*");
        assert_eq!(parts(".n | values() | map(.c)"), ".n*");
        assert_eq!(parts(".n | sort() | size()"), ".n*");
        assert_eq!(parts(".n | uniq() | size()"), ".n*");
        assert_eq!(parts(".n == .m"), ".n* .m*");
        assert_eq!(parts("get()"), "*");
        assert_eq!(parts(".n | map(get().c)"), ".n*");
    }

    #[test]
    fn a_graph_query_includes_the_document() {
        assert_eq!(parts("nodes() | size()"), "*");
        assert_eq!(parts(r#".n | map(downstream(.id) | size())"#), "*");
    }
}
