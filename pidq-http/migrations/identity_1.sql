-- Accounts, clients, grants and tokens. For SQLite and PostgreSQL alike: times are milliseconds since 1970, lists are
-- words with spaces between them, and of secrets there are fingerprints only.

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

-- Who may do what to which jobs. A pattern with a star is about many jobs.
create table grants (
  tenant text not null,
  pattern text not null,
  is_glob bigint not null,
  subject text not null,
  access text not null,
  created_at bigint not null,
  primary key (tenant, pattern, subject)
);
create index grants_with_stars on grants (tenant, is_glob);
-- A job has one creator, however many send its first version at once.
create table creators (
  tenant text not null,
  job text not null,
  subject text not null,
  created_at bigint not null,
  primary key (tenant, job)
);

-- All tokens that came of one login live and die together.
create table families (
  id text primary key,
  client_id text not null references clients (id) on delete cascade,
  user_id text references users (id) on delete cascade,
  scope text not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
);
create index families_by_user on families (user_id);
create index families_by_client on families (client_id);
create index families_by_end on families (expires_at);

create table access_tokens (
  hash text primary key,
  family_id text not null references families (id) on delete cascade,
  scope text not null,
  issued_at bigint not null,
  expires_at bigint not null
);
create index access_tokens_by_family on access_tokens (family_id);
create index access_tokens_by_end on access_tokens (expires_at);

-- `sealed` is the pair that followed, readable only with the token itself.
create table refresh_tokens (
  hash text primary key,
  family_id text not null references families (id) on delete cascade,
  previous text,
  issued_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  sealed text
);
create index refresh_tokens_by_family on refresh_tokens (family_id);
create index refresh_tokens_by_end on refresh_tokens (expires_at);

-- Networks from which somebody logged in as this account.
create table known_networks (
  account text not null,
  network text not null,
  seen_at bigint not null,
  primary key (account, network)
);
create index known_networks_by_age on known_networks (seen_at);
