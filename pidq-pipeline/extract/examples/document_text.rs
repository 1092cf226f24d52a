//! Text of documents: writes the extracted text of each file of the command line to `FOLDER/NAME.txt`, pages ended by form
//! feeds, for `benches/pdf_text.py`.
//!
//! `cargo run -p pidq-extract --example document_text -- FOLDER FILE...`

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs, io};

use pidq_extract::{Extracted, Options, Upload, extract_in_process};

fn main() -> io::Result<()> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or(io::ErrorKind::InvalidInput)?;
    for file in arguments {
        let started = Instant::now();
        let text = text_of(&file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::write(folder.join(format!("{name}.txt")), text)?;
        println!("{name}\t{} ms", started.elapsed().as_millis());
    }
    Ok(())
}

fn text_of(file: &Path) -> io::Result<String> {
    let bytes = fs::read(file)?;
    let name = file.to_string_lossy();
    let upload = Upload { bytes: &bytes, name: Some(&name), media_type: None };
    Ok(match extract_in_process(&upload, &Options::default()) {
        Ok(extracted) => pages_of(&extracted),
        Err(error) => {
            eprintln!("{name}: {}", error.detail);
            String::new()
        }
    })
}

fn pages_of(extracted: &Extracted) -> String {
    extracted.pages.iter().map(|page| format!("{}\n\x0C", &extracted.text[page.start..page.end])).collect()
}
