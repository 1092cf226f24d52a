//! Demo data: two drawings, and a pipeline with documents about them.

use std::path::Path;

use http_body_util::BodyExt;
use hyper::{Request, Response, StatusCode};
use pidq_http::{Bytes, Service};
use pidq_pipeline::Platform;
use pidq_server::store::validation::{self, ValidationRules};
use pidq_server::store::{Precondition, Tenant};
use pidq_server::{DEFAULT_TENANT, Server};
use serde_json::{Value, json};

use crate::cli::failure::{Failure, Result};
use crate::cli::graph_import::graph_id_of;

const DRAWINGS: &[(&str, &[u8])] = &[
    ("plant.json", include_bytes!("../../../../examples/data/plant.json")),
    ("storage.json", include_bytes!("../../../../examples/data/storage.json")),
];

/// Documents: file name, classification and text.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("P-101-operation.md", "manual", include_str!("../../../../examples/documents/P-101-operation.md")),
    ("T-101-inspection.md", "manual", include_str!("../../../../examples/documents/T-101-inspection.md")),
    ("V-101-datasheet.md", "datasheet", include_str!("../../../../examples/documents/V-101-datasheet.md")),
];

/// Name of the demo pipeline.
const PIPELINE: &str = "Unit 100";

/// Adds the demo data that is missing.
pub async fn add_missing(graphs: &Server, documents: &Service<Platform>) -> Result<()> {
    for (name, drawing) in DRAWINGS {
        add_drawing(graphs, name, drawing).await?;
    }
    add_pipeline(documents).await
}

async fn add_drawing(graphs: &Server, name: &str, drawing: &'static [u8]) -> Result<()> {
    let graph_id = graph_id_of(drawing, Path::new(name), None)?;
    let tenant = Tenant::parse(DEFAULT_TENANT).map_err(Failure::usage)?;
    let draft = validation::validate(&graph_id, Bytes::from_static(drawing), &ValidationRules::default())
        .map_err(Failure::usage)?;
    match graphs.store.commit(&tenant, &graph_id, draft, &Precondition::Absent).await {
        Err(error) if error.code() != "precondition-failed" => Err(Failure::usage(error)),
        _ => Ok(()),
    }
}

async fn add_pipeline(documents: &Service<Platform>) -> Result<()> {
    let pipeline = json!({
        "name": PIPELINE, "embedding_model": "hash-512", "text_splitter": "markdown",
        "classifications": ["manual", "datasheet"],
    });
    let (status, created) = post(documents, "/api/pipelines", "application/json", pipeline.to_string()).await?;
    match status {
        StatusCode::CREATED => {}
        // Created by an earlier start.
        StatusCode::CONFLICT => return Ok(()),
        StatusCode::UNAUTHORIZED => {
            tracing::warn!(
                "demo documents were not added: the platform requires authentication because PIDQ_APP_MASTER_KEY is set"
            );
            return Ok(());
        }
        _ => return Err(Failure::Usage(format!("creating the demo pipeline failed: {created}"))),
    }
    let path = format!("/api/pipelines/{}/documents", created["id"].as_str().unwrap_or_default());
    for (name, classification, text) in DOCUMENTS {
        let (status, response) =
            post(documents, &path, "multipart/form-data; boundary=part", form(name, classification, text)).await?;
        if status != StatusCode::ACCEPTED {
            return Err(Failure::Usage(format!("uploading the demo document `{name}` failed: {response}")));
        }
    }
    Ok(())
}

fn form(name: &str, classification: &str, text: &str) -> String {
    format!(
        "--part\r\ncontent-disposition: form-data; name=\"classification\"\r\n\r\n{classification}\r\n\
         --part\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         content-type: text/markdown\r\n\r\n{text}\r\n--part--\r\n"
    )
}

async fn post(service: &Service<Platform>, path: &str, media: &str, body: String) -> Result<(StatusCode, Value)> {
    let request = Request::post(path).header("host", "localhost").header("content-type", media);
    let request = request.header("content-length", body.len()).body(Bytes::from(body)).map_err(Failure::usage)?;
    let (head, body) = Response::into_parts(service.call(request).await);
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    Ok((head.status, serde_json::from_slice(&body).unwrap_or_default()))
}
