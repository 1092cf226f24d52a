//! Encryption of webhook secrets, bound to the id and the URL of the webhook.

use pidq_store::crypto::{EncryptionContext, Encryptor};
use pidq_store::domain::webhook::Webhook;

use super::signing::SigningKeys;

const PURPOSE: &[&str] = &["webhooks"];

/// Encrypts the signing keys for the id and the URL of a webhook. None if encryption fails.
pub(crate) fn encrypt(webhook: &mut Webhook, encryptor: &Encryptor, keys: &SigningKeys) -> Option<()> {
    let context = EncryptionContext { purpose: PURPOSE, context: &[&webhook.id, &webhook.url] };
    webhook.encrypted_secret = encryptor.encrypt(context, &keys.to_bytes()?)?;
    Some(())
}

/// Decrypts the signing keys. None if they were encrypted with another application secret.
pub(crate) fn decrypt(webhook: &Webhook, encryptor: &Encryptor) -> Option<SigningKeys> {
    let context = EncryptionContext { purpose: PURPOSE, context: &[&webhook.id, &webhook.url] };
    SigningKeys::from_bytes(&encryptor.decrypt(context, &webhook.encrypted_secret)?)
}
