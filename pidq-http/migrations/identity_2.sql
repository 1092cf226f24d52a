-- What all replicas sign with: keys that were made up once, by whoever came first. None of them opens anything.
create table shared_keys (
  name text primary key,
  value text not null
);
