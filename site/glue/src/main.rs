//! Makes what the compiler wrote for WebAssembly into what a page loads: without functions that the page
//! never calls, and with the JavaScript that calls the others.
//!
//! Tables of trait objects name every method, so that no linker can know that reading snapshots or merging
//! counters is not for the page. Here it is said: bodies of such functions become a trap, and whatever
//! only they called goes with them. A browser test drives every structure; one function too many, and it
//! traps there.

use anyhow::{Context, Result, bail};
use walrus::{FunctionBuilder, FunctionKind, Module};
use wasm_bindgen_cli_support::Bindgen;

/// Methods of traits that the page does not call.
const UNCALLED: &[(&str, &[&str])] = &[
    // Snapshots are written, to be drawn, and never read.
    ("lately::blueprint::Structure", &["open"]),
    ("lately::filter::Copied", &["boxed_copy"]),
    ("lately::filter::Filter", &["unite", "turn_back", "distinct", "footprint"]),
    // Keys come once at a time, and nobody asks how often.
    ("lately::filter::Counting", &["add_hash", "admit_hash", "take_back_hash", "displaced_by"]),
    ("lately::filter::Counting", &["estimate_hash", "check_mergeable", "merge", "multiply"]),
    ("lately::filter::Counting", &["groups_hash", "group_clock"]),
    ("lately::filter::Removing", &["remove_hash"]),
    ("lately::filter::Deadlines", &["insert_until_hash"]),
    // Keys come one by one, each to be remembered anew.
    ("lately::filter::Membership", &["insert_hashes", "insert_new_hashes", "contains_hashes"]),
    ("lately::filter::Membership", &["insert_new_hash"]),
];

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder] = &arguments[..] else { bail!("usage: lately-glue FILE.wasm FOLDER") };
    let mut module = Module::from_file(input).with_context(|| format!("cannot read {input}"))?;
    eprintln!("{} functions are not for the page", take_out(&mut module));
    let mut bindgen = Bindgen::new();
    bindgen.input_module("planner", module).no_modules(true)?.typescript(false).demangle(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(folder)
}

/// Makes traps of functions that nobody calls, and takes out what only they reached.
fn take_out(module: &mut Module) -> usize {
    let uncalled: Vec<_> = module
        .funcs
        .iter()
        .filter(|function| matches!(function.kind, FunctionKind::Local(_)))
        .filter(|function| {
            let name = function.name.as_deref().unwrap_or_default();
            // Without the number that the compiler adds.
            let name = format!("{:#}", rustc_demangle::demangle(name));
            is_uncalled(&name)
        })
        .map(|function| (function.id(), function.ty()))
        .collect();
    for &(id, shape) in &uncalled {
        let (parameters, results) = {
            let shape = module.types.get(shape);
            (shape.params().to_vec(), shape.results().to_vec())
        };
        let mut trap = FunctionBuilder::new(&mut module.types, &parameters, &results);
        trap.func_body().unreachable();
        let arguments = parameters.iter().map(|&kind| module.locals.add(kind)).collect();
        let trap = trap.local_func(arguments);
        module.funcs.get_mut(id).kind = FunctionKind::Local(trap);
    }
    walrus::passes::gc::run(module);
    uncalled.len()
}

/// Whether this is one of those methods, for whatever type.
fn is_uncalled(name: &str) -> bool {
    let Some((of, method)) = name.rsplit_once("::") else { return false };
    UNCALLED.iter().any(|(whose, methods)| of.contains(whose) && methods.contains(&method))
}
