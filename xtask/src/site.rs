//! The site in one folder, which any server of files can serve and which works without one.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::page;
use crate::venv::target;

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
    page::write(&folder, "")?;
    println!("open {}", folder.join("index.html").display());
    Ok(())
}
