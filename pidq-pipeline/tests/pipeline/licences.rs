//! A licence that is given over the interface.

use pidq_http::auth::Moment;
use pidq_pipeline::license::{Allowance, DAY, Issuer, Licence};
use serde_json::{Value, json};

use crate::platform::{Answer, World, on_each_url};

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
        let now = Moment::now().seconds();
        let limits = Allowance { pipelines: Some(1), ..Allowance::default() };
        let (sys, plan, lid) = (system.as_str().unwrap().to_owned(), plan.to_owned(), plan.to_owned());
        self.issuer.issue(&Licence {
            v: 1,
            lid,
            sys,
            plan,
            iat: now + given,
            exp: now + ends,
            limits,
            ..Licence::default()
        })
    }
}

async fn give(world: &World, licence: &str) -> Answer {
    let headers = [("content-type", "application/json")];
    world.send("PUT", "/api/license", &headers, json!({"license": licence}).to_string()).await
}

#[tokio::test]
async fn a_licence_is_given_over_the_interface_and_outlives_a_restart() {
    on_each_url(async |url| {
        let vendor = Vendor::new();
        let settings = [("PIDQ_LICENSE_MODE", "enforce"), ("PIDQ_LICENSE_PUBLIC_KEYS", vendor.settings.as_str())];
        let world = World::at(url, &settings).await;
        let system = world.get("/api/license").await.json()["system_id"].clone();
        for (licence, code) in [
            ("PIDQ1.e30.e30".to_owned(), "license-invalid"),
            (Vendor::new().issue(&system, "forged", 0, DAY), "license-invalid"),
            (vendor.issue(&json!("PIDQ-AAAA-AAAA-AAAA-AAAA"), "other", 0, DAY), "license-wrong-system"),
            (vendor.issue(&system, "old", -2 * DAY, -DAY), "license-expired"),
        ] {
            let answer = give(&world, &licence).await;
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
        let world = World::at(url, &settings).await;
        assert_eq!(world.get("/api/license").await.json()["plan"], "site");
        assert_eq!(world.get("/api/license").await.json()["clock_set_back"], false);
        let newer = vendor.issue(&system, "of the settings", 10, 100 * DAY);
        drop(world);
        let world = World::at(url, &[settings[0], settings[1], ("PIDQ_APP_LICENSE", &newer)]).await;
        assert_eq!(world.get("/api/license").await.json()["plan"], "of the settings", "the newer one counts");
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_was_set_back_is_told_of() {
    on_each_url(async |url| {
        let world = World::at(url, &[]).await;
        let later = Moment::now().seconds() + 2 * DAY;
        assert_eq!(world.state.store.latest_clock(later).await.unwrap(), later);
        drop(world);
        let world = World::at(url, &[]).await;
        assert_eq!(world.get("/api/license").await.json()["clock_set_back"], true);
    })
    .await;
}
