//! The page's TypeScript types, made of the Rust ones.

use std::collections::BTreeMap;
use std::{env, fs};

use ts_rs::{Config, TS, TypeVisitor};

use crate::search::Iteration;
use crate::session::{Answer, Request};

/// Relative to the crate.
const PATH: &str = "page/types.ts";
const REMAKE: &str = "REMAKE_TYPES=1 cargo test -p web --lib typescript";

/// Declarations by name, each with its documentation.
struct Declarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Numbers, texts and lists have no place of their own.
        if T::output_path().is_some() && !self.by_name.contains_key(&T::ident(&self.config)) {
            let docs = T::docs().unwrap_or_default();
            let text = format!("{docs}export {}\n", T::decl(&self.config));
            self.by_name.insert(T::ident(&self.config), text);
        }
        T::visit_dependencies(self);
    }
}

#[test]
fn the_pages_types_are_those_of_the_module() {
    let mut declarations = Declarations {
        // A count that a double cannot hold is none that a browser reaches.
        config: Config::new().with_large_int("number"),
        by_name: BTreeMap::new(),
    };
    declarations.visit::<Request>();
    declarations.visit::<Answer>();
    declarations.visit::<Iteration>();
    let types: Vec<String> = declarations.by_name.into_values().collect();
    let made = format!(
        "// Made of the module's Rust types by `{REMAKE}`.\n\n{}",
        types.join("\n")
    );
    let path = format!("{}/{PATH}", env!("CARGO_MANIFEST_DIR"));
    if env::var_os("REMAKE_TYPES").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "{path} is out of date; make it again by: {REMAKE}"
    );
}
