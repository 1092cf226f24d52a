//! Tests of licenses that are set over HTTP.

use futures_util::future::join_all;
use pidq_http::auth::Timestamp;
use pidq_store::domain::license::{DAY, Issuer, License, LicenseLimits};
use serde_json::{Value, json};

use crate::platform::{TestPlatform, TestResponse, on_each_url};

struct Vendor {
    issuer: Issuer,
    settings: String,
}

impl Vendor {
    fn new() -> Vendor {
        let issuer = Issuer::parse(&Issuer::generate().unwrap()).unwrap();
        let settings = format!("vendor:{}", issuer.public_key());
        Vendor { issuer, settings }
    }

    fn issue(&self, system: &Value, plan: &str, issued_after: i64, expires_after: i64) -> String {
        let now = Timestamp::now().seconds();
        let limits = LicenseLimits { pipelines: Some(1), documents: Some(2), ..LicenseLimits::default() };
        let (sys, plan, lid) = (system.as_str().unwrap().to_owned(), plan.to_owned(), plan.to_owned());
        self.issuer.issue(&License {
            v: 1,
            lid,
            sys,
            plan,
            iat: now + issued_after,
            exp: now + expires_after,
            limits,
            ..License::default()
        })
    }
}

async fn put_license(platform: &TestPlatform, license: &str) -> TestResponse {
    let headers = [("content-type", "application/json")];
    platform.send("PUT", "/api/license", &headers, json!({"license": license}).to_string()).await
}

#[tokio::test]
async fn a_license_set_over_http_survives_a_restart() {
    on_each_url(async |url| {
        let vendor = Vendor::new();
        let settings = [("PIDQ_LICENSE_MODE", "enforce"), ("PIDQ_LICENSE_PUBLIC_KEYS", vendor.settings.as_str())];
        let platform = TestPlatform::at(url, &settings).await;
        let system = platform.get("/api/license").await.json()["system_id"].clone();
        for (license, code) in [
            ("PIDQ1.e30.e30".to_owned(), "license-invalid"),
            (Vendor::new().issue(&system, "forged", 0, DAY), "license-invalid"),
            (vendor.issue(&json!("PIDQ-AAAA-AAAA-AAAA-AAAA"), "other", 0, DAY), "license-wrong-system"),
            (vendor.issue(&system, "old", -2 * DAY, -DAY), "license-expired"),
        ] {
            let response = put_license(&platform, &license).await;
            assert_eq!((response.status, response.code().as_str()), (422, code), "{}", response.json());
            assert_eq!(response.json()["system_id"], system);
        }
        assert_eq!(platform.get("/api/license").await.json()["status"], "missing", "rejected licenses are not stored");
        let valid = put_license(&platform, &vendor.issue(&system, "site", 0, 100 * DAY)).await;
        assert_eq!(
            (valid.status, &valid.json()["status"], &valid.json()["plan"]),
            (200, &json!("valid"), &json!("site"))
        );
        platform.pipeline().await;
        let older = put_license(&platform, &vendor.issue(&system, "older", -10, 100 * DAY)).await;
        assert_eq!((older.status, older.code().as_str()), (409, "license-older"));
        drop(platform);
        let platform = TestPlatform::at(url, &settings).await;
        assert_eq!(platform.get("/api/license").await.json()["plan"], "site");
        assert_eq!(platform.get("/api/license").await.json()["clock_set_back"], false);
        let newer = vendor.issue(&system, "from settings", 10, 100 * DAY);
        drop(platform);
        let platform = TestPlatform::at(url, &[settings[0], settings[1], ("PIDQ_APP_LICENSE", &newer)]).await;
        assert_eq!(platform.get("/api/license").await.json()["plan"], "from settings", "the newer license is used");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lower_one_of_the_configured_and_the_licensed_number_of_pipelines_is_the_limit() {
    let vendor = Vendor::new();
    let body = json!({"name": "p", "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"]});
    for (mode, configured, expected) in [
        ("off", "1", (1, 409, "too-many-pipelines")),
        ("enforce", "0", (0, 409, "too-many-pipelines")),
        ("enforce", "2", (1, 402, "license-limit")),
    ] {
        let settings = [
            ("PIDQ_LICENSE_MODE", mode),
            ("PIDQ_LICENSE_PUBLIC_KEYS", vendor.settings.as_str()),
            ("PIDQ_PIPELINE_LIMIT", configured),
        ];
        let platform = TestPlatform::sqlite(&settings).await;
        if mode == "enforce" {
            let system = platform.get("/api/license").await.json()["system_id"].clone();
            assert_eq!(put_license(&platform, &vendor.issue(&system, "small", 0, DAY)).await.status, 200);
        }
        let mut created = 0;
        let refused = loop {
            let response = platform.post("/api/pipelines", &body).await;
            if response.status != 201 || created > 2 {
                break response;
            }
            created += 1;
        };
        assert_eq!((created, refused.status, refused.code().as_str()), expected, "{mode}, {configured}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_stay_within_the_license_limits() {
    on_each_url(async |url| {
        let vendor = Vendor::new();
        let settings = [("PIDQ_LICENSE_MODE", "enforce"), ("PIDQ_LICENSE_PUBLIC_KEYS", vendor.settings.as_str())];
        let platform = TestPlatform::at(url, &settings).await;
        let system = platform.get("/api/license").await.json()["system_id"].clone();
        assert_eq!(put_license(&platform, &vendor.issue(&system, "small", 0, DAY)).await.status, 200);
        let pipeline_body = |name: String| {
            json!({"name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"]})
        };
        let bodies: Vec<_> = (0..8).map(|number| pipeline_body(format!("p{number}"))).collect();
        let created = join_all(bodies.iter().map(|body| platform.post("/api/pipelines", body))).await;
        let statuses = |responses: &[TestResponse]| responses.iter().map(|response| response.status).collect::<Vec<_>>();
        assert_eq!(statuses(&created).iter().filter(|&&status| status == 201).count(), 1, "{:?}", statuses(&created));
        assert!(created.iter().all(|response| response.status == 201 || response.code() == "license-limit"));
        let id = created.iter().find(|response| response.status == 201).unwrap().json()["id"].clone();
        let texts: Vec<_> = (0..8).map(|number| format!("text {number}")).collect();
        let classification = [("classification", "a")];
        let uploaded = texts.iter().map(|text| platform.upload(id.as_str().unwrap(), "a.txt", text.as_bytes(), &classification));
        let uploaded = join_all(uploaded).await;
        assert_eq!(statuses(&uploaded).iter().filter(|&&status| status == 202).count(), 2, "{:?}", statuses(&uploaded));
        assert!(uploaded.iter().all(|response| response.status == 202 || response.code() == "license-limit"));
    })
    .await;
}

#[tokio::test]
async fn a_clock_set_back_is_reported() {
    on_each_url(async |url| {
        let platform = TestPlatform::at(url, &[]).await;
        let later = Timestamp::now().seconds() + 2 * DAY;
        assert_eq!(platform.state.store.latest_clock(later).await.unwrap(), later);
        drop(platform);
        let platform = TestPlatform::at(url, &[]).await;
        assert_eq!(platform.get("/api/license").await.json()["clock_set_back"], true);
    })
    .await;
}
