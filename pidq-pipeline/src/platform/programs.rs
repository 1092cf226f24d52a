//! Optional programs that read documents: their settings, and their versions, which are asked at startup.
//!
//! A program is used only if a setting names it, so that the text of a document does not depend on what else is installed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::HEXLOWER;
use pidq_extract::{Recognition, program_description};
use pidq_http::{Setting, SettingError, Settings, settings};
use sha2::{Digest, Sha256};

settings! {
    /// Settings of optional programs.
    pub SETTINGS {
        TESSERACT: Option<PathBuf> = ("PIDQ_TESSERACT", "config.textRecognition.tesseract", "Path of Tesseract (5 or later), which recognizes the text of scanned pages and of images (OCR). Default: text recognition is off.");
        PDFTOPPM: Option<PathBuf> = ("PIDQ_PDFTOPPM", "config.textRecognition.pdftoppm", "Path of pdftoppm (poppler-utils), which renders images of pages, and pages for text recognition; required with `PIDQ_TESSERACT`. Default: there are no images of pages.");
        OCR_LANGUAGES: String = ("PIDQ_OCR_LANGUAGES", "config.textRecognition.languages", "Languages of text recognition, by their names in Tesseract: `eng`, or `eng+deu`.") or "eng";
        OCR_TIMEOUT: Duration = ("PIDQ_OCR_TIMEOUT", "config.textRecognition.timeout", "Maximum time of text recognition for a document. Pages that remain are named in its warnings.") or "10m";
        SOFFICE: Option<PathBuf> = ("PIDQ_SOFFICE", "config.soffice", "Path of LibreOffice's `soffice` (7 or later), which converts old Office documents (`.doc`, `.ppt`). Default: these are rejected.");
    }
}

/// An optional program.
struct Program {
    name: &'static str,
    setting: &'static Setting<Option<PathBuf>>,
    /// Argument with which it prints its version.
    argument: &'static str,
    /// Text before the version.
    prefix: &'static str,
    /// Lowest major version.
    lowest: u32,
}

const RECOGNIZER: Program =
    Program { name: "tesseract", setting: &TESSERACT, argument: "--version", prefix: "tesseract ", lowest: 5 };
const RENDERER: Program =
    Program { name: "pdftoppm", setting: &PDFTOPPM, argument: "-v", prefix: "pdftoppm version ", lowest: 20 };
const CONVERTER: Program =
    Program { name: "libreoffice", setting: &SOFFICE, argument: "--version", prefix: "LibreOffice ", lowest: 7 };

/// Name and version of a program, or of the data that it uses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Component {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
}

/// Renderer of pages.
#[derive(Clone, Debug)]
pub struct PageRenderer {
    /// Path of pdftoppm.
    pub path: PathBuf,
    /// Its version.
    pub component: Component,
}

/// The programs that the settings name.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// Renderer of pages.
    pub renderer: Option<PageRenderer>,
    /// Text recognition.
    pub recognition: Option<Recognition>,
    /// Components of text recognition.
    pub recognition_components: Vec<Component>,
    /// Converter of old Office documents, with its version.
    pub converter: Option<(PathBuf, Component)>,
}

impl Programs {
    /// Reads the settings, and asks each program for its version.
    ///
    /// # Errors
    /// If a program is missing, is another one, or is too old.
    pub fn from_settings(settings: &Settings) -> Result<Programs, SettingError> {
        let renderer = find(settings, &RENDERER)?.map(|(path, component)| PageRenderer { path, component });
        let (recognition, recognition_components) = recognition(settings, renderer.as_ref())?;
        Ok(Programs { renderer, recognition, recognition_components, converter: find(settings, &CONVERTER)? })
    }

    /// Returns the options of an extraction with these programs.
    pub fn apply_to(&self, options: pidq_extract::Options) -> pidq_extract::Options {
        let soffice = self.converter.as_ref().map(|(path, _)| path.clone());
        pidq_extract::Options { recognition: self.recognition.clone(), soffice, ..options }
    }

    /// Returns the names and versions of all programs, for `/version`.
    pub fn components(&self) -> impl Iterator<Item = (String, String)> {
        let converter = self.converter.iter().map(|(_, component)| component);
        // The renderer is one of the components of text recognition.
        let renderer = self.renderer.iter().map(|renderer| &renderer.component);
        let renderer = renderer.filter(|_| self.recognition.is_none());
        let all = self.recognition_components.iter().chain(renderer).chain(converter);
        all.map(|component| (component.name.clone(), component.version.clone()))
    }

    /// Returns in one line by what text is recognized.
    pub fn recognizer(&self) -> String {
        let parts = self.recognition_components.iter().map(|Component { name, version }| format!("{name} {version}"));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the programs of text recognition with their versions, if the settings name them.
fn recognition(
    settings: &Settings,
    renderer: Option<&PageRenderer>,
) -> Result<(Option<Recognition>, Vec<Component>), SettingError> {
    let Some((tesseract, recognizer)) = find(settings, &RECOGNIZER)? else { return Ok((None, Vec::new())) };
    let Some(PageRenderer { path, component }) = renderer.cloned() else {
        return Err(settings.invalid(&PDFTOPPM, "required, because `PIDQ_TESSERACT` is set"));
    };
    let languages = settings.get(&OCR_LANGUAGES)?;
    let mut components = vec![recognizer];
    components.extend(language_components(settings, &tesseract, &languages)?);
    components.push(component);
    let timeout = settings.get(&OCR_TIMEOUT)?;
    Ok((Some(Recognition { tesseract, pdftoppm: path, languages, timeout }), components))
}

/// Returns the path and version of a program, if the settings name it.
fn find(settings: &Settings, program: &Program) -> Result<Option<(PathBuf, Component)>, SettingError> {
    let Some(path) = settings.get(program.setting)? else { return Ok(None) };
    let version = version(&path, program).map_err(|reason| settings.invalid(program.setting, &reason))?;
    Ok(Some((path, Component { name: program.name.to_owned(), version })))
}

fn version(path: &Path, program: &Program) -> Result<String, String> {
    let Program { name, argument, prefix, lowest, .. } = program;
    let shown = path.display();
    if !path.is_absolute() {
        return Err(format!("`{shown}` must be an absolute path: programs are not searched for"));
    }
    let printed = program_description(path, argument).map_err(|error| format!("`{shown}` is not usable: {error}"))?;
    let version =
        printed.lines().find_map(|line| line.strip_prefix(prefix)).and_then(|rest| rest.split_whitespace().next());
    let version = version.ok_or_else(|| format!("`{shown}` is not {name}: `{argument}` prints no version of it"))?;
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major.is_some_and(|major| major >= *lowest) {
        true => Ok(version.to_owned()),
        false => Err(format!("`{shown}` is {name} {version}; version {lowest} or later is required")),
    }
}

/// Returns the languages with the beginning of the SHA-256 of their data, on which the recognized text depends.
fn language_components(settings: &Settings, tesseract: &Path, languages: &str) -> Result<Vec<Component>, SettingError> {
    let invalid = |reason: &str| settings.invalid(&OCR_LANGUAGES, reason);
    let printed = program_description(tesseract, "--list-langs").map_err(|error| invalid(&error.to_string()))?;
    let installed: Vec<&str> = printed.lines().skip(1).map(str::trim).collect();
    let folder = printed.lines().next().and_then(|line| line.split('"').nth(1)).map(Path::new);
    let component = |language: &str| {
        if !installed.contains(&language) {
            let known = installed.join(", ");
            return Err(invalid(&format!("Tesseract has no data for `{language}`; installed: {known}")));
        }
        let data = folder.and_then(|folder| std::fs::read(folder.join(format!("{language}.traineddata"))).ok());
        let version = data.map_or_else(|| "unknown".into(), |data| HEXLOWER.encode(&Sha256::digest(data)[..6]));
        Ok(Component { name: format!("tessdata-{language}"), version })
    };
    languages.split('+').map(component).collect()
}
