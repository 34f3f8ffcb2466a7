//! Generates the page's TypeScript types from the Rust types.

use std::collections::BTreeMap;
use std::{env, fs};

use ts_rs::{Config, TS, TypeVisitor};

use crate::search::Iteration;
use crate::session::{Answer, Request};

/// Path of the generated file, relative to the crate.
const PATH: &str = "page/types.ts";
const REMAKE: &str = "REMAKE_TYPES=1 cargo test -p web --lib typescript";

/// TypeScript declarations with their docs, by name.
struct Declarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Primitive types and lists have no output path.
        if T::output_path().is_some() && !self.by_name.contains_key(&T::ident(&self.config)) {
            let docs = T::docs().unwrap_or_default();
            let text = format!("{docs}export {}\n", T::decl(&self.config));
            self.by_name.insert(T::ident(&self.config), text);
        }
        T::visit_dependencies(self);
    }
}

#[test]
fn page_types_match_the_module() {
    let mut declarations = Declarations {
        // No browser counts beyond 2^53, where a double stops being exact.
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
