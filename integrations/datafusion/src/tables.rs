//! Table functions over a table of drawings: `pidq_rows` and `pidq_boundary`.
//!
//! Both are views: a projection with the scalar function `pidq_rows`, unnested. A cluster therefore runs them like any
//! other statement, and reads only the columns and row groups that the statement needs.

use std::fmt;
use std::sync::Arc;

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Column, Result, ScalarValue, TableReference, plan_datafusion_err, plan_err};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::functions::core::expr_fn::get_field;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, ScalarUDF, lit};
use futures::FutureExt;

use crate::columns::Columns;
use crate::query_context::QueryContext;
use crate::rows::RowsFunction;

/// The column with the drawings, if none is named.
const DRAWING_COLUMN: &str = "graph";

/// Name of the unnested rows within the plan.
const ROW: &str = "__pidq_row";

/// The table function `pidq_rows('table', query [, columns [, drawing column]])`: the columns of the table without the
/// drawing, the columns of the rows, and `pidq_error`.
pub(crate) struct Rows(Arc<ScalarUDF>, RowsFunction);

impl Rows {
    pub(crate) fn new(context: QueryContext) -> Rows {
        let function = RowsFunction::new(context.clone());
        Rows(Arc::new(ScalarUDF::new_from_impl(RowsFunction::new(context))), function)
    }

    fn view(
        &self,
        args: &TableFunctionArgs<'_, '_>,
        table: &str,
        query: &str,
        declaration: Option<&str>,
        drawing: &str,
    ) -> Result<Arc<dyn TableProvider>> {
        let text = |text: Option<&str>| ScalarValue::Utf8(text.map(String::from));
        let (query, declaration) = (text(Some(query)), text(declaration));
        let columns = self.1.columns(&[None, Some(&query), Some(&declaration)])?;
        let (name, provider) = table_of(args, table)?;
        let scan = LogicalPlanBuilder::scan(name, provider_as_source(provider), None)?;
        let schema = Arc::clone(scan.schema());
        let all: Vec<Column> = schema.columns();
        let drawing = match all.iter().find(|column| column.name == drawing) {
            Some(column) => Expr::Column(column.clone()),
            None => return plan_err!("the table `{table}` has no column `{drawing}` with drawings"),
        };
        let keys: Vec<Expr> = all.into_iter().map(Expr::Column).filter(|column| *column != drawing).collect();
        check_names(&keys, &columns)?;
        let rows = self.0.call(vec![drawing, lit(query), lit(declaration)]).alias(ROW);
        let unnested = scan.project(keys.iter().cloned().chain([rows]))?.unnest_column(Column::from_name(ROW))?;
        let row = Expr::Column(Column::from_name(ROW));
        let cells = columns.names().map(|name| get_field(row.clone(), name).alias(name));
        let plan = unnested.project(keys.iter().cloned().chain(cells))?.build()?;
        Ok(Arc::new(ViewTable::new(plan, None)))
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pidq_rows")
    }
}

impl TableFunctionImpl for Rows {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let texts = literals("pidq_rows", args.exprs())?;
        match texts.as_slice() {
            [Some(table), Some(query), rest @ ..] if rest.len() <= 2 => {
                let drawing = rest.get(1).copied().flatten().unwrap_or(DRAWING_COLUMN);
                self.view(&args, table, query, rest.first().copied().flatten(), drawing)
            }
            _ => plan_err!("pidq_rows('table', 'query' [, 'columns' [, 'drawing column']])"),
        }
    }
}

/// Query for the parts of a drawing that a trace needs: the connectors with their neighbors as a sheet to join, the connectors, and the
/// connectors that the flow reaches from each.
const BOUNDARY: &str = r#"let({connectors: offPageList() | map(.id)}, {
  sheet: subgraph($connectors | expand(1)),
  connectors: offPageList() | map([.id, .direction]),
  paths: $connectors | map([get(), downstream(get(), {pass: "zone"}) | map(.id) | filter(in(get(), $connectors))])
})"#;

const BOUNDARY_COLUMNS: &str = "sheet json, connectors json, paths json";

/// The table function `pidq_boundary('table' [, drawing column])`: one row per drawing.
#[derive(Debug)]
pub(crate) struct Boundary(Rows);

impl Boundary {
    pub(crate) fn new(context: QueryContext) -> Boundary {
        Boundary(Rows::new(context))
    }
}

impl TableFunctionImpl for Boundary {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        match literals("pidq_boundary", args.exprs())?.as_slice() {
            [Some(table), rest @ ..] if rest.len() <= 1 => {
                let drawing = rest.first().copied().flatten().unwrap_or(DRAWING_COLUMN);
                self.0.view(&args, table, BOUNDARY, Some(BOUNDARY_COLUMNS), drawing)
            }
            _ => plan_err!("pidq_boundary('table' [, 'drawing column'])"),
        }
    }
}

/// Returns the arguments, which have to be literal texts. `None` for NULL.
fn literals<'e>(function: &str, arguments: &'e [Expr]) -> Result<Vec<Option<&'e str>>> {
    let text = |argument: &'e Expr| match argument {
        Expr::Literal(value, _) => value.try_as_str().or(value.is_null().then_some(None)),
        _ => None,
    };
    let no_text = || plan_datafusion_err!("{function}: the arguments are literal texts");
    arguments.iter().map(|argument| text(argument).ok_or_else(no_text)).collect()
}

/// Returns a table of the session. Catalogs that have to be asked over a network are not supported.
fn table_of(args: &TableFunctionArgs<'_, '_>, name: &str) -> Result<(TableReference, Arc<dyn TableProvider>)> {
    let catalog_options = &args.session().config_options().catalog;
    let reference = TableReference::parse_str(name);
    let resolved = reference.clone().resolve(&catalog_options.default_catalog, &catalog_options.default_schema);
    let unknown = || plan_datafusion_err!("there is no table `{name}`");
    let catalog = args.session().catalog_list().catalog(&resolved.catalog).ok_or_else(unknown)?;
    let schema = catalog.schema(&resolved.schema).ok_or_else(unknown)?;
    let found = schema.table(&resolved.table).now_or_never();
    let not_local = || plan_datafusion_err!("the catalog of table `{name}` does not answer at once");
    let provider = found.ok_or_else(not_local)??.ok_or_else(unknown)?;
    Ok((reference, provider))
}

/// Fails if a column of the rows has the name of a column of the table.
fn check_names(keys: &[Expr], columns: &Columns) -> Result<()> {
    for name in columns.names() {
        if keys.iter().any(|key| matches!(key, Expr::Column(column) if column.name == name)) {
            return plan_err!(
                "pidq_rows: the table has a column `{name}` already; give the one of the query another name"
            );
        }
    }
    Ok(())
}
