//! Conversion of old Office documents to formats that the readers know, by LibreOffice.
//!
//! The document and the profile of LibreOffice are in a private directory, which is removed afterwards. Macros are off, and
//! links to other files are not followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ExtractError;
use super::program::{ProgramError, RunLimits, run_at_home};

/// Limits of a conversion. The sandbox has a timeout of its own.
const LIMITS: RunLimits = RunLimits { timeout: Duration::from_secs(110), max_output: 64 << 10 };

/// Settings of LibreOffice: no macros, and no updates of links.
const PROFILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"#;

/// Converts a document. The extensions are those of its format and of the result.
pub fn convert(soffice: &Path, bytes: &[u8], from: &str, to: &str) -> Result<Vec<u8>, ExtractError> {
    let folder = tempfile::Builder::new().prefix("pidq-convert-").tempdir().map_err(scratch_error)?;
    let (document, profile) = (folder.path().join(format!("document.{from}")), folder.path().join("profile"));
    write_inputs(&document, bytes, &profile).map_err(scratch_error)?;
    let shown = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| scratch_error("its path is not UTF-8"));
    let installation = format!("-env:UserInstallation=file://{}", shown(&profile)?);
    let (document, output) = (shown(&document)?, folder.path().join("output"));
    let output_folder = shown(&output)?;
    let arguments = [
        &installation,
        "--headless",
        "--norestore",
        "--nologo",
        "--convert-to",
        to,
        "--outdir",
        &output_folder,
        &document,
    ];
    run_at_home(soffice, &arguments, &[], Some(folder.path()), LIMITS).map_err(conversion_error)?;
    // It ends with success even if it converted nothing.
    fs::read(output.join(format!("document.{to}"))).map_err(|_| {
        ExtractError::corrupt("the document could not be converted: it is damaged, or it needs a password")
    })
}

fn write_inputs(document: &PathBuf, bytes: &[u8], profile: &Path) -> std::io::Result<()> {
    let user = profile.join("user");
    fs::create_dir_all(&user)?;
    fs::write(user.join("registrymodifications.xcu"), PROFILE)?;
    fs::write(document, bytes)
}

fn scratch_error(error: impl std::fmt::Display) -> ExtractError {
    ExtractError::internal(format!("the directory for a conversion cannot be used: {error}"))
}

fn conversion_error(error: ProgramError) -> ExtractError {
    match error {
        ProgramError::NotStarted(error) => ExtractError::internal(format!("soffice cannot be started: {error}")),
        ProgramError::TimedOut(_) => ExtractError::too_large(format!("the document could not be converted: {error}")),
        error => ExtractError::corrupt(format!("the document could not be converted: {error}")),
    }
}
