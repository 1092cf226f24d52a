//! Failures of single sign-on: the codes that the sign-in page explains.

use std::fmt::Write;

use pidq_http::auth::LoginError;

/// Failure of single sign-on. The sign-in page gets its code as the parameter `error`.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct SsoFailure {
    pub code: &'static str,
    /// Cause, for the documentation.
    cause: &'static str,
}

/// Declares one constant per row, and the list of all rows.
macro_rules! failures {
    ($($constant:ident $code:literal $cause:literal;)*) => {
        $(
            #[doc = $cause]
            pub(crate) const $constant: &SsoFailure = &SsoFailure { code: $code, cause: $cause };
        )*

        /// Every row, in the order of the table.
        const ALL: &[&SsoFailure] = &[$($constant),*];
    };
}

failures! {
    OFF "sso-off" "The dashboard has no identity provider in its settings.";
    UNAVAILABLE "sso-unavailable" "The provider does not respond, or reports an internal error; or its discovery document or its keys cannot be fetched.";
    STATE "sso-state" "The browser has not started this sign-in at this address, has already completed it, or took more than ten minutes.";
    DENIED "sso-denied" "The person or the provider denied access.";
    REFUSED "sso-refused" "The provider reports another error; the log contains its code. `invalid_client` means that the id or the secret of the client is wrong.";
    INVALID "sso-invalid" "The reply of the provider violates the protocol, or its ID token is invalid; the log contains the reason.";
    REJECTED "sso-rejected" "The API does not accept the access token: it lacks the audience or a scope of the API, or is no JWT. The log of the API contains the reason.";
    API_UNAVAILABLE "sso-api-unavailable" "The API does not respond.";
    TOO_LARGE "sso-too-large" "The tokens do not fit into the cookie of a session; the provider should put fewer groups into them.";
}

impl SsoFailure {
    /// Returns the failure for an error at the provider.
    pub fn of(error: &LoginError) -> &'static SsoFailure {
        match error {
            LoginError::Unavailable(_) => UNAVAILABLE,
            LoginError::State => STATE,
            LoginError::Denied => DENIED,
            LoginError::Rejected | LoginError::Refused(_) => REFUSED,
            LoginError::Protocol(_) | LoginError::IdToken(_) => INVALID,
        }
    }
}

/// Returns the table of all failures for the manual.
pub(crate) fn table() -> String {
    let mut table = "| code | cause |\n|---|---|\n".to_owned();
    for failure in ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{}` | {} |", failure.code, failure.cause);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_in_page_explains_every_failure() {
        let texts = include_str!("../../dashboard/src/pages/sign-in/signInErrors.ts");
        for failure in ALL {
            assert!(texts.contains(&format!("code: \"{}\"", failure.code)), "{}", failure.code);
        }
        assert_eq!(texts.matches("code: \"").count(), ALL.len(), "the page explains no other codes");
    }
}
