-- Users, clients, grants and tokens, for SQLite and PostgreSQL. Times are milliseconds since the Unix epoch, lists are
-- space-separated, and secrets are stored only as fingerprints.

create table users (
  id text primary key,
  login text not null unique,
  tenant text not null,
  role text not null,
  member_of text not null,
  password text,
  sso_only bigint not null,
  created_at bigint not null,
  disabled_at bigint
);

create table clients (
  id text primary key,
  title text not null,
  tenant text,
  secret text not null,
  grant_types text not null,
  scopes text not null,
  created_at bigint not null,
  disabled_at bigint
);

-- Rights to graphs. A pattern with `*` matches many graph ids.
create table grants (
  tenant text not null,
  pattern text not null,
  is_glob bigint not null,
  subject text not null,
  access text not null,
  created_at bigint not null,
  primary key (tenant, pattern, subject)
);
create index grants_by_glob on grants (tenant, is_glob);

-- A graph has one creator, even if several callers send its first version at once.
create table graph_creators (
  tenant text not null,
  graph_id text not null,
  subject text not null,
  created_at bigint not null,
  primary key (tenant, graph_id)
);

-- A token family holds all tokens of one login; they are revoked together.
create table token_families (
  id text primary key,
  client_id text not null references clients (id) on delete cascade,
  user_id text references users (id) on delete cascade,
  scope text not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
);
create index token_families_by_user on token_families (user_id);
create index token_families_by_client on token_families (client_id);
create index token_families_by_expiry on token_families (expires_at);

create table access_tokens (
  hash text primary key,
  family_id text not null references token_families (id) on delete cascade,
  scope text not null,
  issued_at bigint not null,
  expires_at bigint not null
);
create index access_tokens_by_family on access_tokens (family_id);
create index access_tokens_by_expiry on access_tokens (expires_at);

-- `next_pair` is the token pair issued for this refresh token, encrypted with a key derived from the token.
create table refresh_tokens (
  hash text primary key,
  family_id text not null references token_families (id) on delete cascade,
  previous text,
  issued_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  next_pair text
);
create index refresh_tokens_by_family on refresh_tokens (family_id);
create index refresh_tokens_by_expiry on refresh_tokens (expires_at);

-- Client networks with a successful login to the account.
create table known_networks (
  account text not null,
  network text not null,
  seen_at bigint not null,
  primary key (account, network)
);
create index known_networks_by_seen_at on known_networks (seen_at);

-- Signing keys shared by all replicas. Each is generated once, by the first replica that needs it; none grants access.
create table shared_keys (
  name text primary key,
  value text not null
);
