//! What is kept for a while goes when its time is over, and indexes when what they are of is gone, whichever replica sees
//! it first. What a replica has open is written to its files.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Moment;

use crate::platform::Platform;
use crate::store::StoreError;

/// How often somebody looks. What is over is shown to nobody before that.
const EVERY: Duration = Duration::from_secs(600);

/// How often somebody looks after the files of open partitions.
const SAVE_EVERY: Duration = Duration::from_secs(15);
/// How long nothing may have changed in one: while many documents come, each file would soon be an old one.
const QUIET: Duration = Duration::from_secs(30);

/// Writes the partitions to files that are open and quiet, and removes files of what is gone. Never ends.
pub(crate) async fn save(platform: Arc<Platform>) {
    let (indexes, store) = (&platform.indexes, &platform.store);
    loop {
        for done in [indexes.save(store, QUIET).await, indexes.sweep(store).await] {
            if let Err(error) = done {
                tracing::debug!(%error, "the files of partitions could not be looked after");
            }
        }
        tokio::time::sleep(SAVE_EVERY).await;
    }
}

/// Removes what is over, again and again. Never ends.
pub(crate) async fn tidy(platform: Arc<Platform>) {
    loop {
        if let Err(error) = once(&platform).await {
            tracing::warn!(%error, "what is over could not be removed");
        }
        tokens(&platform).await;
        tokio::time::sleep(EVERY).await;
    }
}

/// Removes what is over now.
///
/// # Errors
/// If the database does not answer.
pub async fn once(platform: &Platform) -> Result<(), StoreError> {
    platform.store.purge_queries((Moment::now() - platform.limits.retention).0).await?;
    platform.store.purge_answers().await?;
    if !platform.keep_audit.is_zero() {
        platform.store.forget_acts((Moment::now() - platform.keep_audit).0).await?;
    }
    if let Some(near) = &platform.near {
        near.tidy().await?;
    }
    Ok(())
}

/// Throws tokens away that have expired.
async fn tokens(platform: &Platform) {
    let Some(accounts) = &platform.accounts else { return };
    if let Err(error) = accounts.identities.sweep(Moment::now()).await {
        tracing::warn!(%error, "tokens that have expired could not be thrown away");
    }
}
