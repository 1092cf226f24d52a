//! Settings of the client of a remote service: its credentials.

use pidq_http::{Secret, settings};

settings! {
    /// Environment variables with the credentials. A secret may be read from a file (`PIDQ_TOKEN_FILE`).
    pub CREDENTIALS {
        pub TOKEN: Option<Secret> = ("PIDQ_TOKEN", "token", "Access token.");
        pub CLIENT_ID: Option<String> = ("PIDQ_CLIENT_ID", "client.id", "Client id.");
        pub CLIENT_SECRET: Option<Secret> = ("PIDQ_CLIENT_SECRET", "client.secret", "Client secret.");
        pub USERNAME: Option<String> = ("PIDQ_USERNAME", "username", "User name for the password grant; without it, client credentials.");
        pub PASSWORD: Option<Secret> = ("PIDQ_PASSWORD", "password", "Password of the user.");
    }
}
