//! The document platform of pidq: ingests documents into pipelines and answers questions about them with citations.

#![forbid(unsafe_code)]

pub mod background;
pub mod cluster;
pub mod embedding_registry;
pub mod events;
pub mod generation;
pub mod ingest;
pub mod llm;
pub mod metrics;
pub mod net;
pub mod platform;
pub mod retrieval;
pub mod webhooks;

mod api;
mod app;
mod fair_queue;
mod shared_budget;
mod upload_budget;

pub use api::routes::ROUTES;
pub use app::manual;
pub use app::run::{BackgroundTasks, ProcessRole, start};
pub use app::settings::{SETTINGS, TABLES};
pub use app::startup::{OpenError, migrate, open, open_with_accounts, system_id};
pub use fair_queue::{FairQueue, QueuePermit};
pub use platform::accounts::Accounts;
pub use platform::{JobNotifier, Limits, Platform};
pub use shared_budget::SharedBudget;
pub use upload_budget::UploadBudget;
