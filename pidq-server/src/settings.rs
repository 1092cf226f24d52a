//! The settings of the service, one row each. Those of the floor below come with them.

use pidq_http::{Kind, Setting, settings};

/// What an administrator decides about the graph query service.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_GRAPHS", "config.graphs.directory", Kind::Path, None, false, "A directory of graphs to serve, read only: `JOB.json`, also `.gz` and `.zst`.";
    "PIDQ_DATA_DIR", "config.data", Kind::Path, Some("data"), false, "Where graphs and accounts are kept.";
    "PIDQ_STORE_URL", "config.graphs.store", Kind::Text, None, true, "`postgres://…` keeps graphs in a database, for several replicas; else files in the data directory.";
    "PIDQ_STORE_KEEP", "config.graphs.keep", Kind::CountOrAll, Some("10"), false, "Versions of a graph that are kept, the last ones; `all` keeps every one.";
    "PIDQ_STORE_SHARE", "config.graphs.share", Kind::Size, None, false, "What the graphs of a tenant may take on disk.";
    "PIDQ_REQUIRE_IF_MATCH", "config.graphs.requireIfMatch", Kind::Switch, Some("off"), false, "Whether a write has to name the version that it replaces.";
    "PIDQ_GRAPH_SIZE", "config.graphs.size", Kind::Size, Some("64MiB"), false, "The largest graph, as JSON.";
    "PIDQ_GRAPH_CACHE", "config.graphs.cache", Kind::Size, Some("1GiB"), false, "Memory for graphs that were read; as much again, but 64 MiB at most, is for what was sent of them.";
    "PIDQ_AUTH", "config.auth.mode", Kind::OneOf(&["tokens", "off"]), Some("tokens"), false, "`off` lets everybody in, on loopback only.";
    "PIDQ_DATABASE_URL", "config.database.url", Kind::Text, None, true, "Accounts and tokens: `sqlite:FILE` or `postgres://…`; else `pidq.db` in the data directory.";
    "PIDQ_ADMIN_LOGIN", "config.auth.adminLogin", Kind::Text, Some("admin"), false, "The login of the first account.";
    "PIDQ_ADMIN_PASSWORD", "config.auth.adminPassword", Kind::Text, None, true, "The password of the first account; without it one is made up and shown once.";
    "PIDQ_CLIENT_ID", "config.auth.clientId", Kind::Text, Some("pidq"), false, "The id of the first client.";
    "PIDQ_CLIENT_SECRET", "config.auth.clientSecret", Kind::Text, None, true, "The secret of the first client; without it one is made up and shown once.";
    "PIDQ_DEFAULT_ACCESS", "config.auth.defaultAccess", Kind::OneOf(&["read", "none"]), Some("read"), false, "What those of a tenant may do to its graphs without a grant.";
    "PIDQ_SSO_ISSUER", "config.sso.issuer", Kind::Text, None, false, "The company's provider, as its tokens spell it.";
    "PIDQ_SSO_AUDIENCE", "config.sso.audience", Kind::List, None, false, "What its tokens name this service by.";
    "PIDQ_SSO_JWKS_URI", "config.sso.jwksUri", Kind::Text, None, false, "Where its keys are; else its discovery document says so.";
    "PIDQ_SSO_PROFILE", "config.sso.profile", Kind::OneOf(&["rfc9068", "entra", "custom"]), Some("rfc9068"), false, "What its tokens look like.";
    "PIDQ_SSO_TYPES", "config.sso.types", Kind::List, None, false, "With `custom`: the values of `typ` that are let in; without any, all of them are.";
    "PIDQ_SSO_DIRECTORIES", "config.sso.directories", Kind::List, None, false, "With `entra`: the values of `tid` that are let in.";
    "PIDQ_SSO_ALGORITHMS", "config.sso.algorithms", Kind::List, Some("RS256,PS256,ES256,EdDSA"), false, "The algorithms that its tokens may be signed with.";
    "PIDQ_SSO_SKEW", "config.sso.skew", Kind::Duration, Some("30s"), false, "How far its clock may be off; a minute at most.";
    "PIDQ_SSO_CA", "config.sso.ca", Kind::Path, None, false, "Certificates (PEM) of authorities to trust beside the public ones.";
    "PIDQ_SSO_SCOPE_CLAIM", "config.sso.scopeClaim", Kind::Text, None, false, "The claim with the scopes: `scope`, or `scp` with `entra`.";
    "PIDQ_SSO_SCOPES", "config.sso.scopes", Kind::List, Some("read=read,write=write"), false, "Scopes and roles of the provider, and which of ours each is.";
    "PIDQ_SSO_ROLES_CLAIM", "config.sso.rolesClaim", Kind::Text, Some("roles"), false, "The claim with the roles.";
    "PIDQ_SSO_ADMIN_ROLES", "config.sso.adminRoles", Kind::List, None, false, "Roles whose holders may do everything in their tenant.";
    "PIDQ_SSO_GROUPS_CLAIM", "config.sso.groupsClaim", Kind::Text, Some("groups"), false, "The claim with the groups that grants may name.";
    "PIDQ_SSO_TENANT", "config.sso.tenant", Kind::Text, Some("main"), false, "The tenant of its users; `claim:NAME` takes it from a claim.";
    "PIDQ_QUERY_THREADS", "config.query.threads", Kind::Number, Some("0"), false, "Threads for queries; 0 is one for each processor, four at most.";
    "PIDQ_QUERY_QUEUE", "config.query.queue", Kind::Number, Some("64"), false, "Queries that wait for a thread.";
    "PIDQ_QUERY_FUEL", "config.query.fuel", Kind::Number, Some("20000000"), false, "Steps of a query.";
    "PIDQ_QUERY_MEMORY", "config.query.memory", Kind::Size, Some("256MiB"), false, "Memory of a query.";
    "PIDQ_QUERY_POOL", "config.query.pool", Kind::Size, Some("384MiB"), false, "Memory of all queries that run, of the answers that are kept, and of graphs that are being sent, together.";
    "PIDQ_RESULT_CACHE", "config.query.cache", Kind::Size, Some("64MiB"), false, "Memory for answers that were asked for twice, out of the pool, half of it at most; 0 keeps none.";
    "PIDQ_QUERY_RESULT", "config.query.result", Kind::Size, Some("16MiB"), false, "Bytes of a result; four times that in lines.";
    "PIDQ_QUERY_TIME", "config.query.time", Kind::Duration, Some("10s"), false, "How long a query may take, waiting included.";
];
