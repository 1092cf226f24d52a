//! The public items of the engine's crate: all of them are listed in its documentation, on one screen.

use std::collections::BTreeSet;

use syn::{Item, UseTree, Visibility};

const LIB: &str = include_str!("../../pidq-core/src/lib.rs");

/// Returns the lines of a section of the crate documentation.
fn section(title: &str) -> Vec<&'static str> {
    let lines = LIB.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let from_title = lines.skip_while(|line| line.strip_prefix("# ") != Some(title)).skip(1);
    from_title.take_while(|line| !line.starts_with('#')).collect()
}

/// Returns the names that a table links.
fn linked(lines: &[&'static str]) -> BTreeSet<&'static str> {
    let links = lines.iter().flat_map(|line| line.split("[`").skip(1));
    links.filter_map(|link| link.split("`]").next()).collect()
}

fn add_names(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => add_names(&path.tree, names),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(names.insert(rename.rename.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| add_names(tree, names)),
        UseTree::Glob(_) => panic!("a glob hides what is public"),
    }
}

/// Returns the names of the public items.
fn public_names() -> BTreeSet<String> {
    let is_public = |visibility: &Visibility| matches!(visibility, Visibility::Public(_));
    let mut names = BTreeSet::new();
    for item in syn::parse_file(LIB).expect("lib.rs parses").items {
        match item {
            Item::Use(item) if is_public(&item.vis) => add_names(&item.tree, &mut names),
            Item::Mod(item) if is_public(&item.vis) => drop(names.insert(item.ident.to_string())),
            _ => {}
        }
    }
    names
}

#[test]
fn the_crate_documentation_lists_every_public_item() {
    let rows = section("All items");
    let listed: BTreeSet<String> = linked(&rows).into_iter().map(str::to_owned).collect();
    assert_eq!(listed, public_names());
    assert!(rows.len() <= 24, "one screen, not {} lines", rows.len());
}

#[test]
fn the_overview_names_public_items() {
    let public = public_names();
    for link in linked(&section("Overview")) {
        let item = link.split("::").next().unwrap_or(link);
        assert!(public.contains(item), "`{link}` is not public");
    }
}
