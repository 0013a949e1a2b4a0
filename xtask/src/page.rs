//! The planner's page: one file that works from a disk, without a server and without a network.
//!
//! The planner is compiled for WebAssembly, what the page never calls is taken out of it, and the rest is
//! packed and written into the page as text: a file may not load its neighbours, but it may unpack itself.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::node;
use crate::steps::succeed;
use crate::tidy::files;
use crate::venv::target;

const WASM: &str = "wasm32-unknown-unknown";

/// What the page may weigh as a server sends it, in bytes.
const HEAVIEST: usize = 350_000;

/// What the compiler used, so that the optimizer knows that it may.
const FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// Writes the page into a folder, with links to what else is there.
pub fn write(folder: &Path, links: &str) -> Result<()> {
    let made = target().join("planner");
    compile(&made)?;
    let planner = made.join("small.wasm");
    node::run("wasm-opt", |command| {
        command.args(["-Oz", "--strip-debug", "--strip-producers"]).args(FEATURES);
        command.arg(made.join("planner_bg.wasm")).arg("-o").arg(&planner);
    })?;

    let read = |name: &str| {
        fs::read_to_string(Path::new("site/page").join(name)).with_context(|| name.to_owned())
    };
    let mut script = String::new();
    let parts = files(Path::new("site/page"), ".js");
    for part in parts.iter().filter(|part| !part.ends_with("worker.js")) {
        script += &fs::read_to_string(part)?;
    }
    let glue = fs::read_to_string(made.join("planner.js"))?;
    let page = read("index.html")?
        .replace("/*STYLE*/", &(fs::read_to_string("site/palette.css")? + &read("style.css")?))
        .replace("<!--BOOK-->", links)
        .replace("/*MODULE*/", &STANDARD.encode(squeezed(&fs::read(planner)?)?))
        .replace("/*WORKER*/", &harmless(&(glue + &read("worker.js")?)))
        .replace("/*SCRIPT*/", &harmless(&script));
    let weight = as_sent(page.as_bytes())?.len();
    println!("the page: {} bytes, {weight} as a server sends it", page.len());
    ensure!(weight <= HEAVIEST, "the page weighs {weight} bytes; at most {HEAVIEST} are allowed");
    fs::create_dir_all(folder)?;
    fs::write(folder.join("index.html"), page).context("the page")
}

/// The planner as the page loads it, and the JavaScript that calls it.
fn compile(made: &Path) -> Result<()> {
    add_target();
    let mut command = Command::new("cargo");
    command.args(["build", "--package", "lately-planner", "--lib", "--profile", "page"]);
    succeed(command.args(["--target", WASM]))
        .with_context(|| format!("`rustup target add {WASM}` if it is missing"))?;
    let compiled = target().join(WASM).join("page/lately_planner.wasm");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--manifest-path", "site/glue/Cargo.toml", "--"]);
    command.arg(compiled).arg(made);
    succeed(command.env("CARGO_TARGET_DIR", target().join("glue")))
}

/// Installs what Rust needs for WebAssembly, where rustup is there to do it. If not, the compiler says
/// what is missing.
fn add_target() {
    let listed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let is_missing =
        |run: std::process::Output| !String::from_utf8_lossy(&run.stdout).contains(WASM);
    if listed.is_ok_and(is_missing) {
        let _ = succeed(Command::new("rustup").args(["target", "add", WASM]));
    }
}

/// In the fewest bytes that a browser unpacks. It takes a second, once.
fn squeezed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    zopfli::compress(zopfli::Options::default(), zopfli::Format::Gzip, bytes, &mut out)?;
    Ok(out)
}

/// Packed as a server does it while a browser waits.
fn as_sent(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes)?;
    Ok(out.finish()?)
}

/// Text that does not end the element that it stands in.
fn harmless(script: &str) -> String {
    script.replace("</script", "<\\/script")
}
