-- Limits of accounts: pipelines, classifications and permissions, as API keys have them. An account without a row is unrestricted.
create table account_limits (
  account text primary key,
  pipelines text not null,
  updated_at bigint not null
);
