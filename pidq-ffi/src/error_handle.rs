//! Handle of an error.

use crate::abi_error::AbiError;
use crate::handle::{Slot, handle};

/// Error. Delete it with `pidq_error_delete`.
pub struct ErrorHandle(Slot<AbiError>);

handle!(ErrorHandle, AbiError, b"errr", "error");
