//! Settings of the graph service. The common settings of `pidq-http` apply too.

use std::path::PathBuf;
use std::time::Duration;

use pidq_http::auth::{Algorithm, DefaultAccess};
use pidq_http::{DataDir, MemorySize, Secret, Size, settings};

use super::setting_types::{AuthMode, ClockSkew, ProviderTenant, ScopeMapping, SsoProfile};
use crate::store::VersionRetention;

settings! {
    /// Settings of the graph query service.
    pub SETTINGS {
        pub(crate) GRAPH_DIR: Option<PathBuf> = ("PIDQ_GRAPH_DIR", "config.graphs.dir", "Directory of graphs to serve read-only: `GRAPH_ID.json`, also `.json.gz` and `.json.zst`.");
        pub DATA_DIR: DataDir = ("PIDQ_DATA_DIR", "config.dataDir", "Directory for graphs and accounts.") or "data";
        pub STORE_URL: Option<Secret> = ("PIDQ_STORE_URL", "config.graphs.storeUrl", "URL of a graph store shared by several replicas, `postgres://…`; by default, graphs are stored as files in the data directory.");
        pub(crate) VERSIONS_RETAINED: VersionRetention = ("PIDQ_VERSIONS_RETAINED", "config.graphs.versionsRetained", "Number of most recent versions to retain per graph; `all` retains every version.") or "10";
        pub(crate) TENANT_QUOTA: Option<Size> = ("PIDQ_TENANT_QUOTA", "config.graphs.tenantQuota", "Storage quota of a tenant, including retained versions.");
        pub(crate) REQUIRE_IF_MATCH: bool = ("PIDQ_REQUIRE_IF_MATCH", "config.graphs.requireIfMatch", "Requires `If-Match` on writes that replace a graph.") or "off";
        pub(crate) MAX_GRAPH_SIZE: MemorySize = ("PIDQ_MAX_GRAPH_SIZE", "config.graphs.maxSize", "Maximum size of a graph as JSON, in a request or a file.") or "64MiB";
        pub(crate) GRAPH_CACHE_SIZE: MemorySize = ("PIDQ_GRAPH_CACHE_SIZE", "config.graphs.cacheSize", "Memory for cached graphs; cached response bodies may use the same amount in addition, up to 64 MiB.") or "1GiB";
        pub(crate) AUTH: AuthMode = ("PIDQ_AUTH", "config.auth.mode", "Authentication; `off` gives every client full access and is limited to loopback addresses.") or "tokens";
        pub DATABASE_URL: Option<Secret> = ("PIDQ_DATABASE_URL", "config.database.url", "Database of accounts and tokens: `sqlite:FILE` or `postgres://…`; by default `pidq.db` in the data directory.");
        pub ADMIN_LOGIN: String = ("PIDQ_ADMIN_LOGIN", "config.auth.adminLogin", "Login of the first account.") or "admin";
        pub(crate) ADMIN_PASSWORD: Option<Secret> = ("PIDQ_ADMIN_PASSWORD", "config.auth.adminPassword", "Password of the first account, read by the first start only; by default generated and shown once.");
        pub(crate) CLIENT_ID: String = ("PIDQ_CLIENT_ID", "config.auth.clientId", "Id of the first client.") or "pidq";
        pub(crate) CLIENT_SECRET: Option<Secret> = ("PIDQ_CLIENT_SECRET", "config.auth.clientSecret", "Secret of the first client, read by the first start only; by default generated and shown once.");
        pub(crate) DEFAULT_ACCESS: DefaultAccess = ("PIDQ_DEFAULT_ACCESS", "config.auth.defaultAccess", "Default access of users to the graphs of their tenant, where no grant applies.") or "read";
        pub(crate) SSO_ISSUER: Option<String> = ("PIDQ_SSO_ISSUER", "config.sso.issuer", "Issuer URL of the identity provider, exactly as in its tokens.");
        pub(crate) SSO_AUDIENCE: Vec<String> = ("PIDQ_SSO_AUDIENCE", "config.sso.audience", "Accepted audiences of the provider's tokens.");
        pub(crate) SSO_JWKS_URI: Option<String> = ("PIDQ_SSO_JWKS_URI", "config.sso.jwksUri", "URL of the provider's keys; by default taken from its discovery document.");
        pub(crate) SSO_PROFILE: SsoProfile = ("PIDQ_SSO_PROFILE", "config.sso.profile", "Token profile of the provider.") or "rfc9068";
        pub(crate) SSO_TYPES: Vec<String> = ("PIDQ_SSO_TYPES", "config.sso.types", "With `custom`: accepted values of the token header parameter `typ`; empty accepts any.");
        pub(crate) SSO_DIRECTORIES: Vec<String> = ("PIDQ_SSO_DIRECTORIES", "config.sso.directories", "With `entra`: accepted directory (tenant) ids, claim `tid`.");
        pub(crate) SSO_ALGORITHMS: Vec<Algorithm> = ("PIDQ_SSO_ALGORITHMS", "config.sso.algorithms", "Accepted signature algorithms.") or "RS256,PS256,ES256,EdDSA";
        pub(crate) SSO_CLOCK_SKEW: ClockSkew = ("PIDQ_SSO_CLOCK_SKEW", "config.sso.clockSkew", "Tolerated clock skew between the service and the provider, at most one minute.") or "30s";
        pub(crate) SSO_CA: Option<PathBuf> = ("PIDQ_SSO_CA", "config.sso.ca", "Additional CA certificates (PEM) for the provider.");
        pub(crate) SSO_SCOPE_CLAIM: Option<String> = ("PIDQ_SSO_SCOPE_CLAIM", "config.sso.scopeClaim", "Claim with the scopes; by default `scope`, or `scp` with `entra`.");
        pub(crate) SSO_SCOPES: Vec<ScopeMapping> = ("PIDQ_SSO_SCOPES", "config.sso.scopes", "Mapping of scopes and roles of the provider to `read` and `write`.") or "read=read,write=write";
        pub(crate) SSO_ROLES_CLAIM: String = ("PIDQ_SSO_ROLES_CLAIM", "config.sso.rolesClaim", "Claim with the roles.") or "roles";
        pub(crate) SSO_ADMIN_ROLES: Vec<String> = ("PIDQ_SSO_ADMIN_ROLES", "config.sso.adminRoles", "Roles with full access to their tenant.");
        pub(crate) SSO_GROUPS_CLAIM: String = ("PIDQ_SSO_GROUPS_CLAIM", "config.sso.groupsClaim", "Claim with the groups that grants may name.") or "groups";
        pub(crate) SSO_TENANT: ProviderTenant = ("PIDQ_SSO_TENANT", "config.sso.tenant", "Tenant of the provider's users; `claim:NAME` takes it from a claim.") or "main";
        pub(crate) QUERY_THREADS: usize = ("PIDQ_QUERY_THREADS", "config.query.threads", "Number of query threads; 0 means one per CPU, at most four.") or "0";
        pub(crate) QUERY_QUEUE_LIMIT: usize = ("PIDQ_QUERY_QUEUE_LIMIT", "config.query.queueLimit", "Maximum number of queries waiting for a thread.") or "64";
        pub(crate) QUERY_FUEL: u64 = ("PIDQ_QUERY_FUEL", "config.query.fuel", "Maximum fuel of a query, in units of work.") or "20000000";
        pub(crate) QUERY_MEMORY: MemorySize = ("PIDQ_QUERY_MEMORY", "config.query.memory", "Maximum working memory of a query.") or "256MiB";
        pub(crate) QUERY_MEMORY_TOTAL: MemorySize = ("PIDQ_QUERY_MEMORY_TOTAL", "config.query.memoryTotal", "Total memory for running queries, cached results, and graphs being sent.") or "384MiB";
        pub(crate) RESULT_CACHE_SIZE: MemorySize = ("PIDQ_RESULT_CACHE_SIZE", "config.query.cacheSize", "Memory for cached results of repeated queries, at most half of `PIDQ_QUERY_MEMORY_TOTAL`; 0 disables the cache.") or "64MiB";
        pub(crate) MAX_RESULT_SIZE: MemorySize = ("PIDQ_MAX_RESULT_SIZE", "config.query.maxResultSize", "Maximum size of a result as JSON; four times as much in other formats.") or "16MiB";
        pub(crate) QUERY_TIMEOUT: Duration = ("PIDQ_QUERY_TIMEOUT", "config.query.timeout", "Query timeout, including the time in the queue.") or "10s";
    }
}
