//! The site in one folder, which any server of files can serve and which works without one.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::venv::target;
use crate::{book, page};

/// Where it is built.
pub fn folder() -> PathBuf {
    target().join("site")
}

/// Builds all of it anew.
pub fn build() -> Result<()> {
    let folder = folder();
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    // The book first: a broken link is told before minutes of compiling.
    book::write(&folder)?;
    page::write(&folder, book::LINKS)?;
    println!("open {}", folder.join("index.html").display());
    Ok(())
}
