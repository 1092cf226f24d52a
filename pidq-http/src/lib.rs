//! What both services of pidq stand on: HTTP, TLS, routes, access, problems, settings.

#![forbid(unsafe_code)]
