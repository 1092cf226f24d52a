//! Storage of the document platform in SQLite or PostgreSQL: domain types, tables, encryption, and the upload spool.
//!
//! ```
//! use pidq_http::Secret;
//! use pidq_store::crypto::{EncryptionContext, Encryptor};
//!
//! let encryptor = Encryptor::from_secret(&Secret::new("0123456789abcdef0123456789abcdef".to_owned()));
//! let row = EncryptionContext { purpose: &["example"], context: &["row 1"] };
//! let ciphertext = encryptor.encrypt(row, b"an API key").expect("random numbers");
//! assert_eq!(encryptor.decrypt(row, &ciphertext).expect("the same row").as_slice(), b"an API key");
//!
//! // A copy in another row cannot be decrypted.
//! let copy = EncryptionContext { context: &["row 2"], ..row };
//! assert!(encryptor.decrypt(copy, &ciphertext).is_none());
//! ```

#![forbid(unsafe_code)]

pub mod crypto;
pub mod domain;
pub mod spool;

mod store;

pub use store::*;
