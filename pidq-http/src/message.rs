//! HTTP messages: request and response, their headers, conditions, ranges and codings.

pub(crate) mod access_log;
pub(crate) mod boxed_future;
pub(crate) mod compress;
pub(crate) mod conn_info;
pub(crate) mod etag;
pub(crate) mod fingerprint;
pub(crate) mod head;
pub(crate) mod negotiate;
pub(crate) mod pagination;
pub(crate) mod percent;
pub(crate) mod proxies;
pub(crate) mod range;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod service_info;
pub(crate) mod vectored;
