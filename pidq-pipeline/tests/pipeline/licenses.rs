//! Tests of licenses that are set over HTTP.

use futures_util::future::join_all;
use pidq_http::auth::Timestamp;
use pidq_pipeline::license::{Allowance, DAY, Issuer, License};
use serde_json::{Value, json};

use crate::platform::{TestPlatform, TestResponse, on_each_url};

struct Vendor {
    issuer: Issuer,
    settings: String,
}

impl Vendor {
    fn new() -> Vendor {
        let issuer = Issuer::read(&Issuer::generate().unwrap()).unwrap();
        let settings = format!("vendor:{}", issuer.public_key());
        Vendor { issuer, settings }
    }

    fn issue(&self, system: &Value, plan: &str, given: i64, ends: i64) -> String {
        let now = Timestamp::now().seconds();
        let limits = Allowance { pipelines: Some(1), documents: Some(2), ..Allowance::default() };
        let (sys, plan, lid) = (system.as_str().unwrap().to_owned(), plan.to_owned(), plan.to_owned());
        self.issuer.issue(&License {
            v: 1,
            lid,
            sys,
            plan,
            iat: now + given,
            exp: now + ends,
            limits,
            ..License::default()
        })
    }
}

async fn give(world: &TestPlatform, license: &str) -> TestResponse {
    let headers = [("content-type", "application/json")];
    world.send("PUT", "/api/license", &headers, json!({"license": license}).to_string()).await
}

#[tokio::test]
async fn a_license_set_over_http_survives_a_restart() {
    on_each_url(async |url| {
        let vendor = Vendor::new();
        let settings = [("PIDQ_LICENSE_MODE", "enforce"), ("PIDQ_LICENSE_PUBLIC_KEYS", vendor.settings.as_str())];
        let world = TestPlatform::at(url, &settings).await;
        let system = world.get("/api/license").await.json()["system_id"].clone();
        for (license, code) in [
            ("PIDQ1.e30.e30".to_owned(), "license-invalid"),
            (Vendor::new().issue(&system, "forged", 0, DAY), "license-invalid"),
            (vendor.issue(&json!("PIDQ-AAAA-AAAA-AAAA-AAAA"), "other", 0, DAY), "license-wrong-system"),
            (vendor.issue(&system, "old", -2 * DAY, -DAY), "license-expired"),
        ] {
            let answer = give(&world, &license).await;
            assert_eq!((answer.status, answer.code().as_str()), (422, code), "{}", answer.json());
            assert_eq!(answer.json()["system_id"], system);
        }
        assert_eq!(world.get("/api/license").await.json()["status"], "missing", "what was refused left nothing");
        let given = give(&world, &vendor.issue(&system, "site", 0, 100 * DAY)).await;
        assert_eq!(
            (given.status, &given.json()["status"], &given.json()["plan"]),
            (200, &json!("valid"), &json!("site"))
        );
        world.pipeline().await;
        let older = give(&world, &vendor.issue(&system, "older", -10, 100 * DAY)).await;
        assert_eq!((older.status, older.code().as_str()), (409, "license-older"));
        drop(world);
        let world = TestPlatform::at(url, &settings).await;
        assert_eq!(world.get("/api/license").await.json()["plan"], "site");
        assert_eq!(world.get("/api/license").await.json()["clock_set_back"], false);
        let newer = vendor.issue(&system, "of the settings", 10, 100 * DAY);
        drop(world);
        let world = TestPlatform::at(url, &[settings[0], settings[1], ("PIDQ_APP_LICENSE", &newer)]).await;
        assert_eq!(world.get("/api/license").await.json()["plan"], "of the settings", "the newer one counts");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_stay_within_the_license_limits() {
    on_each_url(async |url| {
        let vendor = Vendor::new();
        let settings = [("PIDQ_LICENSE_MODE", "enforce"), ("PIDQ_LICENSE_PUBLIC_KEYS", vendor.settings.as_str())];
        let world = TestPlatform::at(url, &settings).await;
        let system = world.get("/api/license").await.json()["system_id"].clone();
        assert_eq!(give(&world, &vendor.issue(&system, "small", 0, DAY)).await.status, 200);
        let pipeline_body = |name: String| {
            json!({"name": name, "embedding_model": "hash-512", "text_splitter": "token", "classifications": ["a"]})
        };
        let bodies: Vec<_> = (0..8).map(|at| pipeline_body(format!("p{at}"))).collect();
        let made = join_all(bodies.iter().map(|body| world.post("/api/pipelines", body))).await;
        let codes = |answers: &[TestResponse]| answers.iter().map(|answer| answer.status).collect::<Vec<_>>();
        assert_eq!(codes(&made).iter().filter(|&&status| status == 201).count(), 1, "{:?}", codes(&made));
        assert!(made.iter().all(|answer| answer.status == 201 || answer.code() == "license-limit"));
        let id = made.iter().find(|answer| answer.status == 201).unwrap().json()["id"].clone();
        let texts: Vec<_> = (0..8).map(|at| format!("text {at}")).collect();
        let label = [("classification", "a")];
        let sent = texts.iter().map(|text| world.upload(id.as_str().unwrap(), "a.txt", text.as_bytes(), &label));
        let sent = join_all(sent).await;
        assert_eq!(codes(&sent).iter().filter(|&&status| status == 202).count(), 2, "{:?}", codes(&sent));
        assert!(sent.iter().all(|answer| answer.status == 202 || answer.code() == "license-limit"));
    })
    .await;
}

#[tokio::test]
async fn a_clock_set_back_is_reported() {
    on_each_url(async |url| {
        let world = TestPlatform::at(url, &[]).await;
        let later = Timestamp::now().seconds() + 2 * DAY;
        assert_eq!(world.state.store.latest_clock(later).await.unwrap(), later);
        drop(world);
        let world = TestPlatform::at(url, &[]).await;
        assert_eq!(world.get("/api/license").await.json()["clock_set_back"], true);
    })
    .await;
}
