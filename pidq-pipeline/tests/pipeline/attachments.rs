//! Attachments of mails: each is a document of its own, exactly once, as long as its mail is there.

use std::path::Path;
use std::time::Duration;

use pidq_http::database::Database;
use pidq_store::domain::license::{DAY, Issuer, License, LicenseLimits};
use pidq_store::domain::model::Status;
use pidq_store::{IngestedDocument, NewAttachment, NewAttachments, PublishOutcome};
use serde_json::{Value, json};

use crate::platform::{TestPlatform, on_each_url};
use crate::{databases, store_fixtures};

const MANUAL: [(&str, &str); 1] = [("classification", "manual")];
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
/// Names of the documents in `project.eml`, and of those in the mail that is attached to it.
const NAMES: [&str; 8] =
    ["V-201.pdf", "afdp.txt", "manual.docx", "notes.txt", "notes.txt", "passwd", "pump.txt", "thread.eml"];

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("extract/tests/data/documents").join(name)).unwrap()
}

/// Returns a mail with text files.
fn mail(subject: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let mut mail = format!(
        "From: a@example.com\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nSee the files.\r\n"
    );
    for (name, text) in files {
        mail += &format!(
            "--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename={name}\r\n\r\n{text}\r\n"
        );
    }
    (mail + "--b--\r\n").into_bytes()
}

/// Runs a test for each kind of database, with workers, and with access to the rows.
async fn on_each(test: impl AsyncFn(&TestPlatform, &Database)) {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await.with_workers();
        test(&platform, &databases::open(url).await).await;
    })
    .await;
}

/// A mail in a pipeline.
struct Mail {
    pipeline: String,
    id: String,
    path: String,
}

impl TestPlatform {
    async fn upload_mail(&self, pipeline: &str, bytes: &[u8], parts: &[(&str, &str)]) -> Mail {
        let uploaded = self.upload_and_wait(pipeline, "mail.eml", bytes, parts).await;
        assert_eq!(uploaded["status"], "ready", "{uploaded}");
        let id = uploaded["id"].as_str().unwrap().to_owned();
        Mail { path: format!("/api/pipelines/{pipeline}/documents/{id}"), pipeline: pipeline.to_owned(), id }
    }

    async fn list(&self, pipeline: &str, query: &str) -> Vec<Value> {
        let page = self.get(&format!("/api/pipelines/{pipeline}/documents?limit=200&{query}")).await;
        assert_eq!(page.status, 200, "{}", String::from_utf8_lossy(&page.body));
        page.json()["data"].as_array().unwrap().clone()
    }

    /// Returns the attachments of a mail by name, when all documents of the pipeline are processed.
    async fn attachments(&self, mail: &Mail) -> Vec<Value> {
        for _ in 0..600 {
            if self.list(&mail.pipeline, "").await.iter().all(|document| document["terminal"] == true) {
                return self.list(&mail.pipeline, &format!("parent_id={}&sort=filename", mail.id)).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("documents are still processed");
    }

    async fn retry(&self, mail: &Mail) {
        let retried = self.send("POST", &format!("{}/retry", mail.path), &JSON, "").await;
        assert_eq!(retried.status, 202, "{}", retried.json());
        self.attachments(mail).await;
    }

    async fn warnings(&self, mail: &Mail) -> Vec<String> {
        let warnings = self.get(&mail.path).await.json()["warnings"].clone();
        serde_json::from_value(warnings).unwrap()
    }
}

fn fields<'v>(documents: &'v [Value], field: &str) -> Vec<&'v str> {
    documents.iter().map(|document| document[field].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_become_documents_of_the_same_pipeline_and_classification() {
    on_each(async |platform, _| {
        let pipeline = platform.pipeline().await;
        let parts = [MANUAL[0], ("metadata", r#"{"unit": 20}"#)];
        let mail = platform.upload_mail(&pipeline, &sample("project.eml"), &parts).await;
        let attachments = platform.attachments(&mail).await;
        assert_eq!(fields(&attachments, "filename"), NAMES);
        let first = platform.get(&format!("/api/pipelines/{pipeline}/documents?parent_id={}&limit=1&sort=filename", mail.id)).await.json();
        assert_eq!((&first["total"], &first["data"][0]["filename"]), (&json!(8), &json!("V-201.pdf")));
        for attachment in &attachments {
            assert_eq!(
                (&attachment["parent_id"], &attachment["classification"], &attachment["metadata"]["unit"]),
                (&json!(mail.id), &json!("manual"), &json!(20)),
                "{attachment}"
            );
            assert_eq!((&attachment["status"], &attachment["external_id"]), (&json!("ready"), &json!(null)));
        }
        let first = fields(&attachments, "id")[0];
        let content = platform.get(&format!("/api/pipelines/{pipeline}/documents/{first}/content")).await;
        assert_eq!(content.body, sample("manual.pdf"));
        assert_eq!(attachments[0]["content_type"], "application/pdf");
        assert_eq!(
            platform.warnings(&mail).await,
            [
                "attachment not read: empty.bin (0 bytes): it is empty",
                "attachment not read: smime.p7s (4 bytes): it is the signature of the mail",
                "an image in the text of the mail is not read",
                "attachment not read: photo.png (70 bytes): the content type image/png is not supported",
                "attachment not read: copy.pdf (1961 bytes): it has the content of V-201.pdf",
                "attachment not read: setup.exe (16 bytes): the content type application/vnd.microsoft.portable-executable \
                 is not supported",
            ]
        );
        // A mail that is attached as a file has attachments of its own.
        let thread = Mail {
            id: attachments[7]["id"].as_str().unwrap().to_owned(),
            path: String::new(),
            pipeline: pipeline.clone(),
        };
        let inner = platform.attachments(&thread).await;
        assert_eq!(fields(&inner, "filename"), ["vessel.txt"]);
        for (question, filename) in
            [("valve HV-2", "notes.txt"), ("vessel V-302", "vessel.txt"), ("pump P-101A running", "pump.txt")]
        {
            let found = platform.search(&pipeline, question, "manual").await;
            assert_eq!(found["contexts"][0]["filename"], filename, "{question}");
        }
        let all = platform.list(&pipeline, "").await;
        assert_eq!((all.len(), &all[0]["id"], &all[0]["parent_id"]), (10, &json!(mail.id), &json!(null)));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_attachments_of_an_outlook_message_become_documents() {
    on_each(async |platform, _| {
        let pipeline = platform.pipeline().await;
        let uploaded = platform.upload_and_wait(&pipeline, "mail.msg", &sample("question.msg"), &MANUAL).await;
        let id = uploaded["id"].as_str().unwrap().to_owned();
        let mail = Mail { path: format!("/api/pipelines/{pipeline}/documents/{id}"), pipeline, id };
        let attachments = platform.attachments(&mail).await;
        assert_eq!(fields(&attachments, "filename"), ["V-201.pdf"]);
        // It fails for itself, and the mail is ready.
        assert_eq!(
            (&attachments[0]["status"], &attachments[0]["error"]["code"], &uploaded["status"]),
            (&json!("failed"), &json!("corrupt-document"), &json!("ready"))
        );
        assert_eq!(platform.warnings(&mail).await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_that_is_ingested_again_has_the_same_attachments() {
    on_each(async |platform, database| {
        let pipeline = platform.pipeline().await;
        let mail = platform.upload_mail(&pipeline, &sample("project.eml"), &MANUAL).await;
        let before = platform.attachments(&mail).await;
        let warnings = platform.warnings(&mail).await;
        let usage = async || database.row::<(i64, i64)>(USAGE, &[]).await.unwrap();
        let counted = usage().await;
        platform.retry(&mail).await;
        assert_eq!(platform.attachments(&mail).await, before);
        let splitter = r#"{"text_splitter": {"name": "recursive_character", "chunk_size": 60, "chunk_overlap": 0}}"#;
        let started = platform.send("POST", &format!("/api/pipelines/{pipeline}/reindex"), &JSON, splitter).await;
        assert_eq!(platform.wait_for_operation(&started.json()).await["status"], "succeeded");
        assert_eq!(fields(&platform.attachments(&mail).await, "id"), fields(&before, "id"));
        assert_eq!(platform.warnings(&mail).await, warnings);
        assert_eq!(usage().await, counted);
        // What a user has deleted stays so in a reindex, with a warning, until the mail is retried.
        let notes = format!("/api/pipelines/{pipeline}/documents/{}", fields(&before, "id")[3]);
        assert_eq!(platform.send("DELETE", &notes, &[], "").await.status, 204);
        let started = platform
            .send("POST", &format!("/api/pipelines/{pipeline}/reindex"), &JSON, &*splitter.replace("60", "80"))
            .await;
        assert_eq!(platform.wait_for_operation(&started.json()).await["status"], "succeeded");
        assert_eq!(platform.attachments(&mail).await.len(), 7);
        let size = before[3]["size"].as_u64().unwrap();
        let missing = format!(
            "attachment not read: notes.txt ({size} bytes): it is no document of its own; retry the mail to add it"
        );
        assert!(platform.warnings(&mail).await.contains(&missing), "{:?}", platform.warnings(&mail).await);
        platform.retry(&mail).await;
        assert_eq!(fields(&platform.attachments(&mail).await, "id"), fields(&before, "id"));
        assert_eq!(platform.warnings(&mail).await, warnings);
    })
    .await;
}

const USAGE: &str = "select cast(sum(documents) as bigint), cast(sum(bytes) as bigint) from daily_usage";

#[tokio::test]
async fn attachments_are_published_with_their_mail_or_not_at_all() {
    store_fixtures::on_each(async |store, _| {
        let pipeline = store_fixtures::pipeline(&store, &["manual"]).await;
        let mail = store_fixtures::add(&store, &pipeline, "manual", "See the files.").await;
        let attachment = |name: &str, content: Vec<u8>| NewAttachment {
            filename: name.into(),
            content_type: "text/plain".into(),
            sha256: store_fixtures::digest(&String::from_utf8_lossy(&content)),
            content,
        };
        // The larger one is stored in blocks.
        let large = b"The valve HV-1 is closed. ".repeat(30_000);
        let documents = vec![attachment("a.txt", b"The valve HV-2.".to_vec()), attachment("b.txt", large.clone())];
        let attachments = NewAttachments { documents, document_limit: None };
        let ingested = IngestedDocument { attachments, ..store_fixtures::ingested("See the files.") };
        let lost = store.lease_job("one", Duration::ZERO).await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let job = store.lease_job("two", Duration::from_secs(60)).await.unwrap().unwrap();
        assert_eq!(store.publish_document(&lost, &ingested).await.unwrap(), PublishOutcome::Discarded);
        assert!(store.attachment_ids(mail.key()).await.unwrap().is_empty());
        assert!(store.lease_job("three", Duration::ZERO).await.unwrap().is_none(), "no job was added");
        assert_eq!(store.publish_document(&job, &ingested).await.unwrap(), PublishOutcome::Done);
        let ids = store.attachment_ids(mail.key()).await.unwrap();
        assert_eq!(ids.len(), 2);
        let stored = store.content(&ingested.attachments.documents[1].id(&mail.id), 1).await.unwrap();
        assert!(stored == Some(large), "all blocks, in order");
        for id in &ids {
            assert_eq!((id.len(), &id[..7], &id[14..15]), (36, &mail.id[..7], "7"), "{id}");
            assert!(*id > mail.id, "{id} is listed after its mail");
            let attachment = store.document(&pipeline.id, id).await.unwrap().unwrap();
            assert_eq!((attachment.parent_id.as_ref(), attachment.status), (Some(&mail.id), Status::Queued));
        }
        // Deleted while a worker has it: nothing of it comes back.
        let job = store.lease_job("four", Duration::from_secs(60)).await.unwrap().unwrap();
        assert!(store.delete_document(&pipeline.id, &mail.id).await.unwrap());
        let published = store.publish_document(&job, &store_fixtures::ingested("The valve HV-2.")).await.unwrap();
        assert_eq!(published, PublishOutcome::Discarded);
        assert_eq!(store.count_documents().await.unwrap(), 0);
        assert!(store.lease_job("five", Duration::ZERO).await.unwrap().is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_follow_the_content_of_their_mail() {
    on_each(async |platform, _| {
        let pipeline = platform.pipeline().await;
        let first = mail("One", &[("a.txt", "The valve HV-1."), ("b.txt", "The valve HV-2.")]);
        let mail_document = platform.upload_mail(&pipeline, &first, &MANUAL).await;
        let before = platform.attachments(&mail_document).await;
        let replace = async |name: &str, bytes: Vec<u8>| {
            let headers = [("if-match", "*"), ("content-type", "application/octet-stream")];
            let path = format!("{}/content?filename={name}&wait=60", mail_document.path);
            let replaced = platform.send("PUT", &path, &headers, bytes).await;
            assert_eq!(replaced.json()["status"], "ready", "{}", replaced.json());
            platform.attachments(&mail_document).await
        };
        let after =
            replace("mail.eml", mail("Two", &[("b.txt", "The valve HV-2."), ("c.txt", "The valve HV-3.")])).await;
        assert_eq!(fields(&after, "filename"), ["b.txt", "c.txt"]);
        assert_eq!(after[0]["id"], before[1]["id"]);
        assert_eq!(platform.hit_count(&pipeline, "HV-1", "manual").await, 0);
        let none = replace("mail.txt", b"No mail any more.".to_vec()).await;
        assert_eq!(none, [] as [Value; 0]);
        assert_eq!(platform.list(&pipeline, "").await.len(), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_contents_in_mails_and_uploads_are_documents_of_their_own() {
    on_each(async |platform, _| {
        let pipeline = platform.pipeline().await;
        let text = "The valve HV-1 is closed.";
        let first = platform.upload_mail(&pipeline, &mail("One", &[("a.txt", text)]), &MANUAL).await;
        assert_eq!(platform.attachments(&first).await.len(), 1);
        let own = platform.upload_and_wait(&pipeline, "own.txt", text.as_bytes(), &MANUAL).await;
        assert_eq!((&own["duplicate"], &own["parent_id"]), (&json!(null), &json!(null)));
        let second = platform.upload_mail(&pipeline, &mail("Two", &[("a.txt", text)]), &MANUAL).await;
        assert_eq!(platform.attachments(&second).await.len(), 1);
        assert_eq!(platform.upload(&pipeline, "own.txt", text.as_bytes(), &MANUAL).await.json()["id"], own["id"]);
        assert_eq!(platform.send("DELETE", &first.path, &[], "").await.status, 204);
        let left = platform.list(&pipeline, "sort=filename").await;
        assert_eq!(fields(&left, "filename"), ["a.txt", "mail.eml", "own.txt"]);
        assert_eq!(left[0]["parent_id"], json!(second.id));
    })
    .await;
}

/// Counts the rows of documents other than those that are left.
const ROWS: [&str; 5] = [
    "select count(*) from documents where id <> $1",
    "select count(*) from document_contents where document_id <> $1",
    "select count(*) from chunks where document_id <> $1",
    "select count(*) from jobs where document_id <> $1",
    "select count(*) from page_words where document_id <> $1",
];

#[tokio::test(flavor = "multi_thread")]
async fn attachments_are_deleted_with_their_mail() {
    on_each(async |platform, database| {
        let pipeline = platform.pipeline().await;
        let own = platform.upload_and_wait(&pipeline, "own.txt", b"The pump is red.", &MANUAL).await;
        for is_processed in [true, false] {
            let mail = platform.upload_mail(&pipeline, &sample("project.eml"), &MANUAL).await;
            if is_processed {
                assert_eq!(platform.attachments(&mail).await.len(), 8);
            }
            let path = format!("/api/pipelines/{pipeline}/documents:delete");
            let deleted = platform.post(&path, &json!({"ids": [mail.id]})).await.json();
            assert_eq!(deleted["data"][0]["status"], "deleted");
            for sql in ROWS {
                let left = database.row::<(i64,)>(sql, &[own["id"].as_str().unwrap().into()]).await.unwrap();
                assert_eq!(left, Some((0,)), "{sql}, processed: {is_processed}");
            }
            assert_eq!(platform.hit_count(&pipeline, "valve HV-2", "manual").await, 0);
        }
        let events = platform.all_events().await;
        let deleted = events.iter().filter(|event| event.kind.name == "document.deleted").count();
        let of_mails: Vec<_> = events.iter().filter_map(|event| event.details.get("parent_id")).collect();
        assert!((11..=20).contains(&deleted), "{deleted}");
        assert!(of_mails.len() > 20, "events name the mail: {}", of_mails.len());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_move_to_the_classification_of_their_mail() {
    on_each(async |platform, _| {
        let pipeline = platform.pipeline().await;
        let mail = platform.upload_mail(&pipeline, &sample("project.eml"), &MANUAL).await;
        let attachments = platform.attachments(&mail).await;
        let alone = format!("/api/pipelines/{pipeline}/documents/{}", fields(&attachments, "id")[3]);
        let refused = platform.send("PATCH", &alone, &JSON, r#"{"classification": "datasheet"}"#).await;
        assert_eq!((refused.status, refused.code().as_str()), (422, "validation"));
        assert!(
            refused.json()["detail"].as_str().unwrap_or_default().contains(&mail.id)
                || refused.json().to_string().contains(&mail.id),
            "{}",
            refused.json()
        );
        assert_eq!(platform.send("PATCH", &alone, &JSON, r#"{"classification": "manual"}"#).await.status, 200);
        assert_eq!(platform.send("PATCH", &mail.path, &JSON, r#"{"classification": "datasheet"}"#).await.status, 200);
        let all = platform.list(&pipeline, "").await;
        assert!(all.iter().all(|document| document["classification"] == "datasheet"), "{all:?}");
        for question in ["valve HV-2", "vessel V-302", "PSV-2015A"] {
            assert_eq!(platform.hit_count(&pipeline, question, "manual").await, 0, "{question}");
            assert!(platform.hit_count(&pipeline, question, "datasheet").await > 0, "{question}");
        }
        let moved = platform.all_events().await;
        assert_eq!(moved.iter().filter(|event| event.kind.name == "document.reclassified").count(), 10);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_follow_what_replicas_of_the_version_before_do_with_a_mail() {
    on_each(async |platform, database| {
        let pipeline = platform.pipeline().await;
        let mail = platform.upload_mail(&pipeline, &sample("project.eml"), &MANUAL).await;
        platform.attachments(&mail).await;
        platform.state.store.repair_attachments().await.unwrap();
        assert_eq!(platform.list(&pipeline, "classification=manual").await.len(), 10, "nothing to repair");
        // They write the row of the mail, and know no others.
        let id = [mail.id.as_str().into()];
        database.execute("update documents set classification = 'datasheet' where id = $1", &id).await.unwrap();
        platform.state.store.repair_attachments().await.unwrap();
        assert_eq!(platform.list(&pipeline, "classification=datasheet").await.len(), 10);
        assert_eq!(platform.hit_count(&pipeline, "valve HV-2", "manual").await, 0);
        assert!(platform.hit_count(&pipeline, "vessel V-302", "datasheet").await > 0);
        for sql in ["delete from chunks where document_id = $1", "delete from document_contents where document_id = $1"]
        {
            database.execute(sql, &id).await.unwrap();
        }
        database.execute("delete from documents where id = $1", &id).await.unwrap();
        platform.state.store.repair_attachments().await.unwrap();
        assert_eq!(platform.list(&pipeline, "").await, [] as [Value; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mails_in_mails_have_fewer_attachments_and_a_depth() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[("PIDQ_MAIL_ATTACHMENT_LIMIT", "20")]).await.with_workers();
        let pipeline = platform.pipeline().await;
        // A mail with three files and the mail of the level before as a file.
        let mut bytes = mail("innermost", &[("x.txt", "never")]);
        for level in (0..4).rev() {
            let boundary = format!("level{level}");
            let inner = String::from_utf8(bytes).unwrap();
            let text = |number: i32| format!("The valve HV-{level}{number}.");
            let texts: Vec<String> = (0..3).map(text).collect();
            let files = [("0.txt", &*texts[0]), ("inner.eml", "INNER"), ("1.txt", &texts[1]), ("2.txt", &texts[2])];
            let outer = String::from_utf8(mail(&format!("level {level}"), &files)).unwrap();
            let outer = outer.replace("boundary=b\r\n", &format!("boundary={boundary}\r\n"));
            let outer = outer
                .replace("--b\r\n", &format!("--{boundary}\r\n"))
                .replace("--b--\r\n", &format!("--{boundary}--\r\n"));
            bytes = outer.replace("INNER", &inner).into_bytes();
        }
        let mut current = platform.upload_mail(&pipeline, &bytes, &MANUAL).await;
        for (depth, names) in
            [&["0.txt", "1.txt", "2.txt", "inner.eml"][..], &["0.txt", "inner.eml"], &[]].into_iter().enumerate()
        {
            let attachments = platform.attachments(&current).await;
            assert_eq!(fields(&attachments, "filename"), names, "depth {depth}");
            let refused = platform.warnings(&current).await;
            assert_eq!(refused.len(), [0, 2, 4][depth], "{refused:?}");
            let Some(inner) = attachments.last() else { break };
            let id = inner["id"].as_str().unwrap().to_owned();
            current =
                Mail { path: format!("/api/pipelines/{pipeline}/documents/{id}"), pipeline: pipeline.clone(), id };
        }
        let limits = platform.get("/api/limits").await.json();
        assert_eq!(limits["mail_attachments"], 20);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_count_toward_the_license() {
    on_each_url(async |url| {
        let issuer = Issuer::parse(&Issuer::generate().unwrap()).unwrap();
        let keys = format!("vendor:{}", issuer.public_key());
        let settings = [("PIDQ_LICENSE_MODE", "enforce"), ("PIDQ_LICENSE_PUBLIC_KEYS", keys.as_str())];
        let platform = TestPlatform::at(url, &settings).await.with_workers();
        let system = platform.get("/api/license").await.json()["system_id"].as_str().unwrap().to_owned();
        let allow = async |documents: u64| {
            let now = pidq_http::auth::Timestamp::now().seconds();
            let limits = LicenseLimits { documents: Some(documents), ..LicenseLimits::default() };
            let (sys, lid, iat) = (system.clone(), format!("{documents}"), now + documents as i64);
            let license = issuer.issue(&License { v: 1, lid, sys, iat, exp: now + DAY, limits, ..License::default() });
            let set = platform.send("PUT", "/api/license", &JSON, json!({"license": license}).to_string()).await;
            assert_eq!(set.status, 200, "{}", set.json());
        };
        allow(3).await;
        let pipeline = platform.pipeline().await;
        let files = [("a.txt", "The valve HV-1."), ("b.txt", "The valve HV-2."), ("c.txt", "The valve HV-3.")];
        let mail = platform.upload_mail(&pipeline, &mail("One", &files), &MANUAL).await;
        assert_eq!(fields(&platform.attachments(&mail).await, "filename"), ["a.txt", "b.txt"]);
        assert_eq!(
            platform.warnings(&mail).await,
            ["attachment not read: c.txt (15 bytes): the license allows no further documents; retry the mail when it does"]
        );
        allow(10).await;
        platform.retry(&mail).await;
        assert_eq!(fields(&platform.attachments(&mail).await, "filename"), ["a.txt", "b.txt", "c.txt"]);
        assert_eq!(platform.warnings(&mail).await, [""; 0]);
    })
    .await;
}
