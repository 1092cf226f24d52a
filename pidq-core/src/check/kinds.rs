//! Sets of kinds of values.

use std::fmt;
use std::ops::BitOr;

/// A set of kinds that a value may have. Empty: there is no such value.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub const NONE: Kinds = Kinds(0);
    pub const NULL: Kinds = Kinds(1);
    pub const BOOL: Kinds = Kinds(2);
    pub const NUMBER: Kinds = Kinds(4);
    pub const STRING: Kinds = Kinds(8);
    pub const ARRAY: Kinds = Kinds(16);
    pub const OBJECT: Kinds = Kinds(32);
    /// JavaScript's `undefined`.
    pub const UNDEFINED: Kinds = Kinds(64);
    pub const ANY: Kinds = Kinds(127);
    /// The kinds that have an order.
    pub const ORDERED: Kinds = Kinds(2 | 4 | 8);
    /// `undefined` and null.
    pub const MISSING: Kinds = Kinds(1 | 64);
    pub const CONTAINERS: Kinds = Kinds(16 | 32);

    pub fn intersects(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns true if the set is not empty and has only these kinds.
    pub fn is_only(self, other: Kinds) -> bool {
        self.0 != 0 && self.0 & !other.0 == 0
    }

    pub const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub const fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }
}

impl BitOr for Kinds {
    type Output = Kinds;

    fn bitor(self, other: Kinds) -> Kinds {
        self.or(other)
    }
}

impl fmt::Display for Kinds {
    /// `a number or a string`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["null", "a boolean", "a number", "a string", "an array", "an object", "no value"];
        let named = names.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        let names: Vec<&str> = named.map(|(_, name)| *name).collect();
        f.write_str(&names.join(" or "))
    }
}
