//! Tests of large uploads, spooled to files, and of unsupported content.

use pidq_http::database::Database;
use serde_json::json;

use crate::platform::{TestPlatform, on_each_url};

const MANUAL: [(&str, &str); 1] = [("classification", "manual")];

/// Returns a text of the given length whose lines all differ.
fn text(bytes: usize) -> Vec<u8> {
    (0..).flat_map(|line: u32| format!("line {line} of the text\n").into_bytes()).take(bytes).collect()
}

#[tokio::test]
async fn a_large_document_is_returned_unchanged() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await;
        let id = platform.pipeline().await;
        // The memory limit, one byte more, and several blocks with a remainder.
        for bytes in [262_144, 262_145, 800_000] {
            let content = text(bytes);
            let uploaded = platform.upload(&id, "a.txt", &content, &MANUAL).await;
            assert_eq!((uploaded.status, &uploaded.json()["size"]), (202, &json!(bytes)), "{}", uploaded.json());
            let path = format!("/api/pipelines/{id}/documents/{}/content", uploaded.json()["id"].as_str().unwrap());
            assert!(platform.get(&path).await.body == content, "{bytes}");
            let part = platform.send("GET", &path, &[("range", "bytes=262140-262143")], "").await;
            assert_eq!((part.status, part.body.as_slice()), (206, &content[262_140..262_144]));
            // Across, from and up to block boundaries.
            for (first, last) in [(0, 262_143), (1, bytes - 2), (262_100, 524_400), (262_144, 524_287)] {
                let last = last.min(bytes - 1);
                let Some(expected) = content.get(first..=last).filter(|expected| !expected.is_empty()) else {
                    continue;
                };
                let part = platform.send("GET", &path, &[("range", &format!("bytes={first}-{last}"))], "").await;
                assert!(part.status == 206 && part.body == expected, "{first}-{last} of {bytes}");
            }
            let out_of_range = platform.send("GET", &path, &[("range", &format!("bytes={bytes}-"))], "").await;
            assert_eq!((out_of_range.status, out_of_range.code().as_str()), (416, "range-not-satisfiable"));
            let repeated = platform.upload(&id, "b.txt", &content, &MANUAL).await;
            assert_eq!((repeated.status, &repeated.json()["duplicate"]), (200, &json!(true)));
            let cancelled = path.replace("/content", "/cancel");
            assert_eq!(platform.send("POST", &cancelled, &[], "").await.status, 200);
            let other = [&content[1..], b"more"].concat();
            let replaced = platform.send("PUT", &path, &[("if-match", "*")], other.clone()).await;
            assert_eq!((replaced.status, &replaced.json()["revision"]), (202, &json!(2)), "{}", replaced.json());
            assert!(platform.get(&path).await.body == other, "{bytes}");
            assert_eq!(platform.send("DELETE", &path.replace("/content", ""), &[], "").await.status, 204);
        }
        let database = Database::open(url).await.unwrap();
        let blocks = database.row::<(i64,)>("select count(*) from content_blocks", &[]).await.unwrap();
        assert_eq!(blocks, Some((0,)), "deletion removes all blocks");
    })
    .await;
}

#[tokio::test]
async fn a_large_document_is_ingested() {
    let platform = TestPlatform::sqlite(&[]).await.with_workers();
    let id = platform.pipeline().await;
    let uploaded = platform.upload_and_wait(&id, "a.txt", &text(600_000), &MANUAL).await;
    assert_eq!(uploaded["status"], "ready", "{uploaded}");
    assert!(platform.hit_count(&id, "line 20000", "manual").await > 0);
}

#[tokio::test]
async fn unsupported_content_is_rejected_during_the_upload() {
    let platform = TestPlatform::sqlite(&[("PIDQ_UPLOAD_SIZE", "300KiB")]).await;
    let id = platform.pipeline().await;
    let path = format!("/api/pipelines/{id}/documents");
    let image = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01"[..], &[0; 300]].concat();
    for name in ["a.png", "a.txt", "a"] {
        let rejected = platform.upload(&id, name, &image, &MANUAL).await;
        assert_eq!((rejected.status, rejected.code().as_str()), (415, "unsupported-media-type"), "{name}");
        assert!(rejected.json()["allowed"].as_array().unwrap().contains(&json!("application/pdf")));
    }
    let large = platform.upload(&id, "a.txt", &text(400 << 10), &MANUAL).await;
    assert_eq!((large.status, large.code().as_str()), (413, "payload-too-large"));
    for (name, content) in [("a.txt", &b"BM is how a bitmap begins, and a text may"[..]), ("a.zip", b"PK\x03\x04\0\0")]
    {
        assert_eq!(platform.upload(&id, name, content, &MANUAL).await.status, 202, "{name}");
    }
    let document = platform.get(&path).await.json()["data"][0]["id"].as_str().unwrap().to_owned();
    let content = format!("{path}/{document}/content");
    let rejected = platform.send("PUT", &content, &[("if-match", "*")], image).await;
    assert_eq!((rejected.status, rejected.code().as_str()), (415, "unsupported-media-type"));
}

#[tokio::test]
async fn an_unwritable_upload_directory_rejects_only_large_documents() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let platform = TestPlatform::sqlite(&[("PIDQ_UPLOAD_DIR", file.to_str().unwrap())]).await;
    let id = platform.pipeline().await;
    let large = platform.upload(&id, "a.txt", &text(300_000), &MANUAL).await;
    assert_eq!((large.status, large.code().as_str()), (503, "unavailable"));
    assert_eq!(platform.upload(&id, "a.txt", &text(3_000), &MANUAL).await.status, 202);
}
