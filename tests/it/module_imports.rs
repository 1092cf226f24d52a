//! Imports between the modules of a crate, parsed from its source files. Tests and code for tests only are not parsed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, Macro, UseTree};

/// A module: its names below the root of the crate. The root is empty.
pub type Module = Vec<String>;

/// An import of one module by another.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Import {
    pub from: Module,
    pub to: Module,
}

/// The modules of a crate with their imports.
pub struct CrateModules {
    files: BTreeMap<Module, FileImports>,
}

/// Paths and imported names of one file.
#[derive(Default)]
struct FileImports {
    /// Paths that begin with `crate`, `self` or `super`.
    paths: Vec<Vec<String>>,
    /// Names that `use` introduces, with their paths.
    names: BTreeMap<String, Vec<String>>,
    /// Modules for tests only.
    test_modules: BTreeSet<String>,
}

impl CrateModules {
    /// Parses the files of a source folder.
    pub fn parse(folder: &Path) -> CrateModules {
        let mut files = BTreeMap::new();
        parse_folder(folder, &mut Vec::new(), &mut files);
        let excluded: Vec<Module> = files.iter().flat_map(|(module, file)| test_modules(module, file)).collect();
        files.retain(|module, _| !excluded.iter().any(|test| module.starts_with(test)));
        CrateModules { files }
    }

    /// Returns the modules directly below a module.
    pub fn children(&self, parent: &[String]) -> Vec<&str> {
        let is_child = |module: &&Module| module.len() == parent.len() + 1 && module.starts_with(parent);
        self.files.keys().filter(is_child).filter_map(|module| module.last()).map(String::as_str).collect()
    }

    fn has_child(&self, parent: &[String], name: &str) -> bool {
        let child: Module = parent.iter().cloned().chain([name.to_owned()]).collect();
        self.files.contains_key(&child)
    }

    /// Returns all modules that have modules below them.
    pub fn parents(&self) -> BTreeSet<&[String]> {
        self.files.keys().filter(|module| !module.is_empty()).map(|module| &module[..module.len() - 1]).collect()
    }

    /// Returns the imports between different modules, without those between a module and the modules below it.
    pub fn imports(&self) -> Vec<Import> {
        let mut imports = BTreeSet::new();
        for (module, file) in &self.files {
            for path in file.paths.iter().chain(file.names.values()) {
                let Some(to) = self.resolve(module, path, 0) else { continue };
                if !to.starts_with(module) && !module.starts_with(&to) {
                    imports.insert(Import { from: module.clone(), to });
                }
            }
        }
        imports.into_iter().collect()
    }

    /// Returns the module that a path leads to, following names that a module re-exports.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<Module> {
        let (mut at, mut rest) = self.start(module, path)?;
        while let Some((name, after)) = rest.split_first() {
            let child: Module = at.iter().chain([name]).cloned().collect();
            if self.files.contains_key(&child) {
                (at, rest) = (child, after);
                continue;
            }
            let Some(target) = self.files.get(&at).and_then(|file| file.names.get(name)) else { break };
            if depth > 8 {
                break;
            }
            let longer: Vec<String> = target.iter().chain(after).cloned().collect();
            return self.resolve(&at, &longer, depth + 1).or(Some(at));
        }
        Some(at)
    }

    /// Returns the module at which a path starts, and the rest of the path. `None` for paths of other crates.
    fn start<'p>(&self, module: &[String], path: &'p [String]) -> Option<(Module, &'p [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((module.to_vec(), rest)),
            "super" => {
                let supers = path.iter().take_while(|name| *name == "super").count();
                Some((module[..module.len().checked_sub(supers)?].to_vec(), &path[supers..]))
            }
            name => self.has_child(module, name).then(|| (module.to_vec(), path)),
        }
    }
}

fn test_modules<'a>(module: &'a Module, file: &'a FileImports) -> impl Iterator<Item = Module> + 'a {
    file.test_modules.iter().map(|name| module.iter().chain([name]).cloned().collect())
}

fn parse_folder(folder: &Path, module: &mut Module, files: &mut BTreeMap<Module, FileImports>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            module.push(name);
            parse_folder(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "main" {
            let text = fs::read_to_string(&path).expect("a source file");
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let mut imports = FileImports::default();
            imports.visit_file(&file);
            let name = Some(name).filter(|name| name != "lib");
            files.insert(module.iter().cloned().chain(name).collect(), imports);
        }
    }
}

impl<'ast> Visit<'ast> for FileImports {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Mod(declaration) = item
            && is_for_tests(&declaration.attrs)
        {
            self.test_modules.insert(declaration.ident.to_string());
        }
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        // A module inside a file has other `super` paths; only its absolute paths count.
        let Some((_, items)) = &item.content else { return };
        let mut inner = FileImports::default();
        items.iter().for_each(|item| inner.visit_item(item));
        self.paths.extend(inner.paths.into_iter().filter(|path| path[0] == "crate"));
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_use(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add_path(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.add_tokens(item.tokens.clone());
    }
}

impl FileImports {
    fn add_path(&mut self, path: Vec<String>) {
        if path.len() > 1 && ["crate", "self", "super"].contains(&path[0].as_str()) {
            self.paths.push(path);
        }
    }

    fn add_use(&mut self, tree: &UseTree, prefix: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_use(&path.tree, prefix);
                prefix.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(tree, prefix)),
            UseTree::Name(name) if name.ident == "self" => {
                let alias = prefix.last().cloned().unwrap_or_default();
                self.names.insert(alias, prefix.clone());
            }
            UseTree::Name(name) => self.add_name(name.ident.to_string(), name.ident.to_string(), prefix),
            UseTree::Rename(rename) => self.add_name(rename.rename.to_string(), rename.ident.to_string(), prefix),
            UseTree::Glob(_) => self.paths.push(prefix.clone()),
        }
    }

    fn add_name(&mut self, alias: String, name: String, prefix: &[String]) {
        self.names.insert(alias, prefix.iter().cloned().chain([name]).collect());
    }

    /// Adds the paths in the tokens of a macro call.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if path.is_empty() || colons == 2 => path.push(name.to_string()),
                TokenTree::Ident(name) => self.add_path(std::mem::replace(&mut path, vec![name.to_string()])),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.add_path(std::mem::take(&mut path));
                    self.add_tokens(group.stream());
                }
                _ => self.add_path(std::mem::take(&mut path)),
            }
            colons = 0;
        }
        self.add_path(path);
    }
}

/// Returns whether an item is compiled for tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
    };
    attributes.iter().any(is_test)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
