//! Something to look at: two drawings, and a pipeline with documents about what is on them.

use std::path::Path;

use http_body_util::BodyExt;
use hyper::{Request, Response, StatusCode};
use pidq_http::{Bytes, Site};
use pidq_pipeline::Platform;
use pidq_server::door::{self, Rules};
use pidq_server::store::{Precondition, Tenant};
use pidq_server::{OPEN_TENANT, Server};
use serde_json::{Value, json};

use crate::cli::failure::{Failure, Result};
use crate::cli::store::job_of;

const DRAWINGS: &[(&str, &[u8])] = &[
    ("plant.json", include_bytes!("../../../examples/data/plant.json")),
    ("storage.json", include_bytes!("../../../examples/data/storage.json")),
];

/// Documents: name, classification, text.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("P-101-operation.md", "manual", include_str!("../../../examples/documents/P-101-operation.md")),
    ("T-101-inspection.md", "manual", include_str!("../../../examples/documents/T-101-inspection.md")),
    ("V-101-datasheet.md", "datasheet", include_str!("../../../examples/documents/V-101-datasheet.md")),
];

/// The pipeline that has them.
const PIPELINE: &str = "Unit 100";

/// Puts in what is not there yet.
pub async fn fill(graphs: &Server, documents: &Site<Platform>) -> Result<()> {
    for (name, drawing) in DRAWINGS {
        store(graphs, name, drawing).await?;
    }
    fill_pipeline(documents).await
}

async fn store(graphs: &Server, name: &str, drawing: &'static [u8]) -> Result<()> {
    let job = job_of(drawing, Path::new(name), None)?;
    let tenant = Tenant::parse(OPEN_TENANT).map_err(told)?;
    let draft = door::admit(&job, Bytes::from_static(drawing), &Rules::default()).map_err(told)?;
    match graphs.store.commit(&tenant, &job, draft, &Precondition::Absent).await {
        Err(error) if error.code() != "precondition-failed" => Err(told(error)),
        _ => Ok(()),
    }
}

async fn fill_pipeline(documents: &Site<Platform>) -> Result<()> {
    let wanted = json!({
        "name": PIPELINE, "embedding_model": "hash-512", "text_splitter": "markdown",
        "classifications": ["manual", "datasheet"],
    });
    let (status, made) = post(documents, "/api/pipelines", "application/json", wanted.to_string()).await?;
    match status {
        StatusCode::CREATED => {}
        // It is there from another start.
        StatusCode::CONFLICT => return Ok(()),
        StatusCode::UNAUTHORIZED => {
            tracing::warn!("the documents of the demonstration are left out: the platform has a master key");
            return Ok(());
        }
        _ => return Err(Failure::Usage(format!("the pipeline of the demonstration is refused: {made}"))),
    }
    let path = format!("/api/pipelines/{}/documents", made["id"].as_str().unwrap_or_default());
    for (name, label, text) in DOCUMENTS {
        let (status, answer) =
            post(documents, &path, "multipart/form-data; boundary=part", form(name, label, text)).await?;
        if status != StatusCode::ACCEPTED {
            return Err(Failure::Usage(format!("`{name}` of the demonstration is refused: {answer}")));
        }
    }
    Ok(())
}

fn form(name: &str, label: &str, text: &str) -> String {
    format!(
        "--part\r\ncontent-disposition: form-data; name=\"classification\"\r\n\r\n{label}\r\n\
         --part\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         content-type: text/markdown\r\n\r\n{text}\r\n--part--\r\n"
    )
}

async fn post(site: &Site<Platform>, path: &str, media: &str, body: String) -> Result<(StatusCode, Value)> {
    let request = Request::post(path).header("host", "localhost").header("content-type", media);
    let request = request.header("content-length", body.len()).body(Bytes::from(body)).map_err(told)?;
    let (head, body) = Response::into_parts(site.call(request).await);
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    Ok((head.status, serde_json::from_slice(&body).unwrap_or_default()))
}

fn told(error: impl std::fmt::Display) -> Failure {
    Failure::Usage(error.to_string())
}
