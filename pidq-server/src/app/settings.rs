//! Settings of the graph service. The common settings of `pidq-http` apply too.

use pidq_http::{Setting, ValueKind, settings};

/// Settings of the graph query service.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_GRAPH_DIR", "config.graphs.dir", ValueKind::Path, None, false, "Directory of graphs to serve read-only: `GRAPH_ID.json`, also `.json.gz` and `.json.zst`.";
    "PIDQ_DATA_DIR", "config.dataDir", ValueKind::Path, Some("data"), false, "Directory for graphs and accounts.";
    "PIDQ_STORE_URL", "config.graphs.storeUrl", ValueKind::Text, None, true, "URL of a graph store shared by several replicas, `postgres://…`; by default, graphs are stored as files in the data directory.";
    "PIDQ_VERSIONS_RETAINED", "config.graphs.versionsRetained", ValueKind::CountOrAll, Some("10"), false, "Number of most recent versions to retain per graph; `all` retains every version.";
    "PIDQ_TENANT_QUOTA", "config.graphs.tenantQuota", ValueKind::Size, None, false, "Storage quota of a tenant, including retained versions.";
    "PIDQ_REQUIRE_IF_MATCH", "config.graphs.requireIfMatch", ValueKind::Switch, Some("off"), false, "Requires `If-Match` on writes that replace a graph.";
    "PIDQ_MAX_GRAPH_SIZE", "config.graphs.maxSize", ValueKind::Size, Some("64MiB"), false, "Maximum size of a graph as JSON, in a request or a file.";
    "PIDQ_GRAPH_CACHE_SIZE", "config.graphs.cacheSize", ValueKind::Size, Some("1GiB"), false, "Memory for cached graphs; cached response bodies may use the same amount in addition, up to 64 MiB.";
    "PIDQ_AUTH", "config.auth.mode", ValueKind::OneOf(&["tokens", "off"]), Some("tokens"), false, "Authentication; `off` gives every client full access and is limited to loopback addresses.";
    "PIDQ_DATABASE_URL", "config.database.url", ValueKind::Text, None, true, "Database of accounts and tokens: `sqlite:FILE` or `postgres://…`; by default `pidq.db` in the data directory.";
    "PIDQ_ADMIN_LOGIN", "config.auth.adminLogin", ValueKind::Text, Some("admin"), false, "Login of the first account.";
    "PIDQ_ADMIN_PASSWORD", "config.auth.adminPassword", ValueKind::Text, None, true, "Password of the first account; by default generated and shown once.";
    "PIDQ_CLIENT_ID", "config.auth.clientId", ValueKind::Text, Some("pidq"), false, "Id of the first client.";
    "PIDQ_CLIENT_SECRET", "config.auth.clientSecret", ValueKind::Text, None, true, "Secret of the first client; by default generated and shown once.";
    "PIDQ_DEFAULT_ACCESS", "config.auth.defaultAccess", ValueKind::OneOf(&["read", "none"]), Some("read"), false, "Default access of users to the graphs of their tenant, where no grant applies.";
    "PIDQ_SSO_ISSUER", "config.sso.issuer", ValueKind::Text, None, false, "Issuer URL of the identity provider, exactly as in its tokens.";
    "PIDQ_SSO_AUDIENCE", "config.sso.audience", ValueKind::List, None, false, "Accepted audiences of the provider's tokens.";
    "PIDQ_SSO_JWKS_URI", "config.sso.jwksUri", ValueKind::Text, None, false, "URL of the provider's keys; by default taken from its discovery document.";
    "PIDQ_SSO_PROFILE", "config.sso.profile", ValueKind::OneOf(&["rfc9068", "entra", "custom"]), Some("rfc9068"), false, "Token profile of the provider.";
    "PIDQ_SSO_TYPES", "config.sso.types", ValueKind::List, None, false, "With `custom`: accepted values of the token header parameter `typ`; empty accepts any.";
    "PIDQ_SSO_DIRECTORIES", "config.sso.directories", ValueKind::List, None, false, "With `entra`: accepted directory (tenant) ids, claim `tid`.";
    "PIDQ_SSO_ALGORITHMS", "config.sso.algorithms", ValueKind::List, Some("RS256,PS256,ES256,EdDSA"), false, "Accepted signature algorithms.";
    "PIDQ_SSO_CLOCK_SKEW", "config.sso.clockSkew", ValueKind::Duration, Some("30s"), false, "Tolerated clock skew between the service and the provider, at most one minute.";
    "PIDQ_SSO_CA", "config.sso.ca", ValueKind::Path, None, false, "Additional CA certificates (PEM) for the provider.";
    "PIDQ_SSO_SCOPE_CLAIM", "config.sso.scopeClaim", ValueKind::Text, None, false, "Claim with the scopes; by default `scope`, or `scp` with `entra`.";
    "PIDQ_SSO_SCOPES", "config.sso.scopes", ValueKind::List, Some("read=read,write=write"), false, "Mapping of scopes and roles of the provider to `read` and `write`.";
    "PIDQ_SSO_ROLES_CLAIM", "config.sso.rolesClaim", ValueKind::Text, Some("roles"), false, "Claim with the roles.";
    "PIDQ_SSO_ADMIN_ROLES", "config.sso.adminRoles", ValueKind::List, None, false, "Roles with full access to their tenant.";
    "PIDQ_SSO_GROUPS_CLAIM", "config.sso.groupsClaim", ValueKind::Text, Some("groups"), false, "Claim with the groups that grants may name.";
    "PIDQ_SSO_TENANT", "config.sso.tenant", ValueKind::Text, Some("main"), false, "Tenant of the provider's users; `claim:NAME` takes it from a claim.";
    "PIDQ_QUERY_THREADS", "config.query.threads", ValueKind::Number, Some("0"), false, "Number of query threads; 0 means one per CPU, at most four.";
    "PIDQ_QUERY_QUEUE_LIMIT", "config.query.queueLimit", ValueKind::Number, Some("64"), false, "Maximum number of queries waiting for a thread.";
    "PIDQ_QUERY_FUEL", "config.query.fuel", ValueKind::Number, Some("20000000"), false, "Maximum fuel of a query, in units of work.";
    "PIDQ_QUERY_MEMORY", "config.query.memory", ValueKind::Size, Some("256MiB"), false, "Maximum working memory of a query.";
    "PIDQ_QUERY_MEMORY_TOTAL", "config.query.memoryTotal", ValueKind::Size, Some("384MiB"), false, "Total memory for running queries, cached results, and graphs being sent.";
    "PIDQ_RESULT_CACHE_SIZE", "config.query.cacheSize", ValueKind::Size, Some("64MiB"), false, "Memory for cached results of repeated queries, at most half of `PIDQ_QUERY_MEMORY_TOTAL`; 0 disables the cache.";
    "PIDQ_MAX_RESULT_SIZE", "config.query.maxResultSize", ValueKind::Size, Some("16MiB"), false, "Maximum size of a result as JSON; four times as much in other formats.";
    "PIDQ_QUERY_TIMEOUT", "config.query.timeout", ValueKind::Duration, Some("10s"), false, "Query timeout, including the time in the queue.";
];
