//! Call statistics of a run: number of runs, fuel, rows and strategy.

/// Statistics of a call, for `explain` and for errors about limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallStats {
    pub runs: u64,
    /// Fuel spent by the call itself, without its arguments.
    pub fuel: u64,
    /// Items of all its results that are lists.
    pub rows: u64,
    pub strategy: Strategy,
}

/// Strategy by which a call got its result, as `explain` shows it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Strategy {
    /// Evaluated as written.
    #[default]
    Plain,
    /// An argument was evaluated for the items of a list one by one.
    Scan,
    /// Vectorized on the columns of its fields.
    Columns,
    /// Once per distinct value of the single field that it reads.
    DistinctValues,
    /// Vectorized on the numbers of its fields.
    Numbers,
    /// By an index lookup.
    Index,
    /// From the sorted order of a column.
    Order,
    /// Only the leading items that are needed.
    Top,
    /// Cells of its fields, without one object per item.
    Table,
    /// Counted without building the list.
    Count,
    /// Once for several values of an object with a common subexpression.
    Shared,
    /// Evaluated as written, with a run warning.
    Warned,
}

impl Strategy {
    /// Returns the name that `explain` shows; empty for plain evaluation.
    pub fn text(self) -> &'static str {
        match self {
            Strategy::Plain => "",
            Strategy::Scan => "scan",
            Strategy::Columns => "columns",
            Strategy::DistinctValues => "once per distinct value",
            Strategy::Numbers => "vectorized numbers",
            Strategy::Index => "index",
            Strategy::Order => "column order",
            Strategy::Top => "top-k",
            Strategy::Table => "column cells",
            Strategy::Count => "count only",
            Strategy::Shared => "common subexpression",
            Strategy::Warned => "with a warning",
        }
    }
}
