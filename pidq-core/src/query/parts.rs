//! Which parts of its document a query reads, as far as its text tells: for a document that is read for one query alone.
//!
//! A plan is followed with places instead of values. What becomes a part of the result, or goes to a function that no
//! row below knows, is wanted with all that is in it; so are all documents whose graph is asked.

use crate::arena::wanted::{PartId, Wanted};
use crate::eval::function::Body;
use crate::eval::plan::{Call, FunctionRef, Key, Path, Plan};
use crate::functions;

/// What the query of a plan reads.
pub(super) fn of(plan: &Plan) -> Wanted {
    let mut follow = Follow { wanted: Wanted::nothing() };
    let result = follow.plan(plan, Place::Part(PartId::DOCUMENT));
    follow.take(result);
    follow.wanted
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Place {
    /// It is a part of the document, or a list of values from there, in any depth.
    Part(PartId),
    /// It is an object that was made, whose values are such.
    Groups(PartId),
    /// It was made, and what it has of the document is wanted anyway.
    Made,
}

/// What a function does with the value that is piped into it.
#[derive(Clone, Copy)]
enum Use {
    /// It gives some of its items, in whatever order, without looking into them: `reverse`.
    Passes,
    /// The same, after the arguments were asked of them: `filter`.
    Keeps,
    /// The argument takes the place of each item: `map`.
    Maps,
    /// The argument names the group of each item: `groupBy`.
    Groups,
    /// The argument takes the place of each value of an object: `mapValues`.
    MapsValues,
    /// The arguments are asked of its items, and what it gives is made of nothing else: `pick`.
    Asks,
    /// It counts items or keys.
    Counts,
}

/// Each function of which more is known than that it may read everything.
const USES: &[(&str, Use)] = &[
    ("filter", Use::Keeps),
    ("sort", Use::Keeps),
    ("limit", Use::Passes),
    ("reverse", Use::Passes),
    ("flatten", Use::Passes),
    ("uniqBy", Use::Keeps),
    ("sortBy", Use::Keeps),
    ("skip", Use::Passes),
    ("top", Use::Keeps),
    ("first", Use::Passes),
    ("last", Use::Passes),
    ("maxBy", Use::Keeps),
    ("minBy", Use::Keeps),
    ("map", Use::Maps),
    ("flatMap", Use::Maps),
    ("groupBy", Use::Groups),
    ("keyBy", Use::Groups),
    ("mapValues", Use::MapsValues),
    ("pick", Use::Asks),
    ("any", Use::Asks),
    ("all", Use::Asks),
    ("count", Use::Asks),
    ("countBy", Use::Asks),
    ("sumBy", Use::Asks),
    ("avgBy", Use::Asks),
    ("size", Use::Counts),
    ("keys", Use::Counts),
];

struct Follow {
    wanted: Wanted,
}

impl Follow {
    /// The place of what a plan gives for an input.
    fn plan(&mut self, plan: &Plan, input: Place) -> Place {
        match plan {
            Plan::Get(path) => self.path(path, input),
            Plan::Pipe(stages) => stages.iter().fold(input, |place, stage| self.plan(&stage.plan, place)),
            Plan::Array(items) => self.all(items, input),
            Plan::Object(fields) => self.all(&fields.values, input),
            Plan::Let(values, body) => {
                self.all(values, input);
                self.plan(body, input)
            }
            Plan::Root => Place::Part(PartId::DOCUMENT),
            Plan::Call(call) => self.call(call, input),
            // What a variable has was taken where it was bound.
            Plan::Constant(_) | Plan::Variable(_) | Plan::Parameter(_) | Plan::Pattern(_) => Place::Made,
        }
    }

    fn path(&mut self, path: &Path, input: Place) -> Place {
        let Place::Part(mut part) = input else { return self.take(input) };
        // A list has its items by number, and every object what JavaScript gives it.
        let is_key = |key: &&Key| path.is_plain && key.index.is_none();
        for key in path.keys.iter().take_while(is_key) {
            part = self.wanted.inside(part, &key.name);
        }
        if path.is_plain && path.keys.iter().all(|key| is_key(&key)) {
            return Place::Part(part);
        }
        self.take(Place::Part(part))
    }

    fn call(&mut self, call: &Call, input: Place) -> Place {
        match call.function {
            FunctionRef::Standard(function) | FunctionRef::Extension(function)
                if !functions::asks_graph(function.name) =>
            {
                match USES.iter().find(|(name, _)| *name == function.name) {
                    Some((_, known)) => self.known(*known, &call.args, input),
                    None => self.unknown(&function.body, &call.args, input),
                }
            }
            _ => {
                self.take(Place::Part(PartId::DOCUMENT));
                Place::Made
            }
        }
    }

    fn known(&mut self, known: Use, args: &[Plan], input: Place) -> Place {
        match (known, input) {
            (Use::Counts, _) => self.all(args, input),
            (Use::Passes, Place::Part(_)) => {
                self.all(args, input);
                input
            }
            // Without an argument they ask the items themselves.
            _ if args.is_empty() => self.take(input),
            (Use::Keeps, Place::Part(_)) => {
                self.all(args, input);
                input
            }
            (Use::Maps, Place::Part(_)) => self.mapped(args, input),
            (Use::Groups, Place::Part(part)) => {
                self.all(args, input);
                Place::Groups(part)
            }
            (Use::MapsValues, Place::Groups(part)) => self.all(args, Place::Part(part)),
            (Use::Asks, Place::Part(_)) => self.all(args, input),
            _ => self.unknown_piped(args, input),
        }
    }

    fn mapped(&mut self, args: &[Plan], input: Place) -> Place {
        let places: Vec<Place> = args.iter().map(|arg| self.plan(arg, input)).collect();
        match places[..] {
            [Place::Part(part)] => Place::Part(part),
            // A list of groups is no group.
            _ => places.into_iter().fold(Place::Made, |_, place| self.take(place)),
        }
    }

    fn unknown(&mut self, body: &Body, args: &[Plan], input: Place) -> Place {
        match body {
            // They read their arguments and nothing else.
            Body::Strict(_) | Body::Lazy(_) | Body::Search(_) => self.all(args, input),
            _ => self.unknown_piped(args, input),
        }
    }

    fn unknown_piped(&mut self, args: &[Plan], input: Place) -> Place {
        let taken = self.take(input);
        self.all(args, taken)
    }

    /// All that some plans give is wanted.
    fn all(&mut self, plans: &[Plan], input: Place) -> Place {
        for plan in plans {
            let given = self.plan(plan, input);
            self.take(given);
        }
        Place::Made
    }

    /// All that is at a place is wanted.
    fn take(&mut self, place: Place) -> Place {
        if let Place::Part(part) | Place::Groups(part) = place {
            self.wanted.take_whole(part);
        }
        Place::Made
    }
}

#[cfg(test)]
mod tests {
    use crate::Dialect;

    /// The parts that a query reads; with `*` those that it reads as a whole.
    fn parts(text: &str) -> String {
        let query = Dialect::standard().parse(text).expect("it compiles");
        query.parts().paths().join(" ")
    }

    #[test]
    fn fields_that_are_asked_are_read_and_those_that_are_given_as_a_whole() {
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
    fn what_nobody_can_know_is_read_as_a_whole() {
        // Items by number, keys of JavaScript, groups that are taken apart, values that are compared or given by all.
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
    fn a_query_of_the_graph_reads_the_document() {
        assert_eq!(parts("nodes() | size()"), "*");
        assert_eq!(parts(r#".n | map(downstream(.id) | size())"#), "*");
    }
}
