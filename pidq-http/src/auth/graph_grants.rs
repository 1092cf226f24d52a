//! Rights to graphs.
//!
//! A graph belongs to one tenant and is invisible to others. Within the tenant, a right comes from a role, from
//! having created the graph, from a grant, or from the default.

use super::accounts::{check_name, check_tenant};
use super::{Caller, Identities, IdentityError, Timestamp, audit};

/// Right to a graph. Each right includes the previous ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Right {
    /// Read and query the graph.
    Read,
    /// Store a version of the graph, or delete it.
    Write,
    /// Grant and revoke rights to the graph.
    Admin,
}

const RIGHTS: [(Right, &str); 3] = [(Right::Read, "read"), (Right::Write, "write"), (Right::Admin, "admin")];

impl Right {
    /// Returns the right of this name.
    pub fn from_name(name: &str) -> Option<Right> {
        RIGHTS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Returns the name that is stored and shown.
    pub fn name(self) -> &'static str {
        RIGHTS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}

/// Default access of a tenant's members to its graphs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DefaultAccess {
    /// Read access to all graphs.
    TenantReads,
    /// No access.
    None,
}

/// Granted right.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grant {
    /// Graph id, or a pattern in which `*` matches any characters.
    pub pattern: String,
    /// `user:ID`, `client:ID`, `sso:ISSUER#ID`, `group:NAME` or `everyone`.
    pub subject: String,
    /// Right.
    pub right: Right,
    /// True if the right comes from having created the graph.
    pub is_creator: bool,
}

/// Rights of a caller, loaded once for lists of graphs.
#[derive(Clone, Debug)]
pub struct Rights {
    default_right: Option<Right>,
    grants: Vec<Grant>,
}

const GRANT: &str = "insert into grants (tenant, pattern, is_glob, subject, access, created_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (tenant, pattern, subject) do update set access = excluded.access";
const REVOKE: &str = "delete from grants where tenant = $1 and pattern = $2 and subject = $3";
const DELETE_CREATOR: &str = "delete from graph_creators where tenant = $1 and graph_id = $2 and subject = $3";
const CLAIM: &str = "insert into graph_creators (tenant, graph_id, subject, created_at) values ($1, $2, $3, $4)
  on conflict (tenant, graph_id) do nothing";
const CREATOR: &str = "select subject from graph_creators where tenant = $1 and graph_id = $2";
const ALL: &str = "select pattern, subject, access, 'grant' from grants where tenant = $1
  union all select graph_id, subject, 'admin', 'creator' from graph_creators where tenant = $1
  order by 1, 2, 4";
const BY_GRAPH: &str = "select pattern, subject, access, 'grant' from grants
    where tenant = $1 and (pattern = $2 or is_glob = 1)
  union all select graph_id, subject, 'admin', 'creator' from graph_creators where tenant = $1 and graph_id = $2";

type Row = (String, String, String, String);

impl Identities {
    /// Returns whether a caller has a right to a graph of its tenant. If not, the graph must appear not to exist.
    ///
    /// The scope of the token is checked separately, see [`Caller::has_scope`].
    pub async fn is_allowed(&self, caller: &Caller, graph_id: &str, right: Right) -> Result<bool, IdentityError> {
        if self.default_right(caller).is_some_and(|held| held >= right) {
            return Ok(true);
        }
        // Reads are frequent and follow the look-up of the caller, so they are cached. Writes are always checked.
        let rights_version = self.token_cache.rights_version();
        if right == Right::Read
            && let Some(is_allowed) = caller.readable_graphs.get(graph_id, rights_version)
        {
            return Ok(is_allowed);
        }
        // Boxed, to keep the future of the cached case small.
        let args = [(&caller.tenant).into(), graph_id.into()];
        let rows = Box::pin(self.database.rows::<Row>(BY_GRAPH, &args)).await?;
        let is_allowed = rows.into_iter().filter_map(grant).any(|grant| grant.allows_caller(caller, graph_id, right));
        if right == Right::Read {
            caller.readable_graphs.insert(graph_id, rights_version, is_allowed);
        }
        Ok(is_allowed)
    }

    /// Returns all rights of a caller, for lists of graphs.
    pub async fn rights(&self, caller: &Caller) -> Result<Rights, IdentityError> {
        let grants = self.grants(&caller.tenant).await?;
        let grants = grants.into_iter().filter(|grant| caller.matches_subject(&grant.subject)).collect();
        Ok(Rights { default_right: self.default_right(caller), grants })
    }

    /// Makes a caller the creator of a graph that has none. Returns true for the creator, also on repetition; of
    /// concurrent callers one succeeds. A deleted graph keeps its creator.
    pub async fn claim(&self, caller: &Caller, graph_id: &str, now: Timestamp) -> Result<bool, IdentityError> {
        let subject = caller.subject.as_str();
        let args = [(&caller.tenant).into(), graph_id.into(), subject.into(), now.0.into()];
        self.execute_and_bump_rights(CLAIM, &args).await?;
        let creator = self.database.row::<(String,)>(CREATOR, &args[..2]).await?;
        Ok(creator.is_some_and(|row| row.0 == subject))
    }

    /// Returns whether a claim would succeed, without claiming.
    pub async fn can_claim(&self, caller: &Caller, graph_id: &str) -> Result<bool, IdentityError> {
        let creator = self.database.row::<(String,)>(CREATOR, &[(&caller.tenant).into(), graph_id.into()]).await?;
        Ok(creator.is_none_or(|row| row.0 == caller.subject.as_str()))
    }

    /// Grants a right.
    pub async fn grant(&self, tenant: &str, grant: &Grant, now: Timestamp) -> Result<(), IdentityError> {
        check_pattern(&grant.pattern)?;
        check_subject(&grant.subject)?;
        let args = [
            check_tenant(tenant)?.into(),
            (&grant.pattern).into(),
            i64::from(grant.pattern.contains('*')).into(),
            (&grant.subject).into(),
            grant.right.name().into(),
            now.0.into(),
        ];
        self.execute_and_bump_rights(GRANT, &args).await?;
        audit::account_changed("grant-given", &grant.subject);
        Ok(())
    }

    /// Resolves a subject as written by a person: a user may be named by login. Unknown local users and clients are
    /// an error; groups and users of an identity provider are not checked.
    pub async fn resolve_subject(&self, tenant: &str, subject: &str) -> Result<String, IdentityError> {
        check_subject(subject)?;
        match subject.split_once(':') {
            Some(("user", name)) => Ok(format!("user:{}", self.user_id_by_name(tenant, name).await?)),
            Some(("client", id)) if !self.clients().await?.iter().any(|client| client.id == id) => {
                Err(IdentityError::Unknown(subject.to_owned()))
            }
            _ => Ok(subject.to_owned()),
        }
    }

    /// Revokes a right, also that of a creator.
    pub async fn revoke_grant(&self, tenant: &str, pattern: &str, subject: &str) -> Result<bool, IdentityError> {
        let args = [tenant.into(), pattern.into(), subject.into()];
        let granted = self.execute_and_bump_rights(REVOKE, &args).await?;
        let created = self.execute_and_bump_rights(DELETE_CREATOR, &args).await?;
        audit::account_changed("grant-taken", subject);
        Ok(granted + created > 0)
    }

    /// Returns all grants of a tenant.
    pub async fn grants(&self, tenant: &str) -> Result<Vec<Grant>, IdentityError> {
        let rows = self.database.rows::<Row>(ALL, &[tenant.into()]).await?;
        Ok(rows.into_iter().filter_map(grant).collect())
    }

    fn default_right(&self, caller: &Caller) -> Option<Right> {
        match self.options.default_access {
            _ if caller.is_admin => Some(Right::Admin),
            DefaultAccess::TenantReads => Some(Right::Read),
            DefaultAccess::None => None,
        }
    }
}

impl Rights {
    /// Returns whether a right to a graph is held.
    pub fn allows(&self, graph_id: &str, right: Right) -> bool {
        self.default_right.is_some_and(|held| held >= right)
            || self.grants.iter().any(|grant| grant.right >= right && pattern_matches(&grant.pattern, graph_id))
    }
}

impl Grant {
    fn allows_caller(&self, caller: &Caller, graph_id: &str, right: Right) -> bool {
        self.right >= right && caller.matches_subject(&self.subject) && pattern_matches(&self.pattern, graph_id)
    }
}

fn grant((pattern, subject, access, origin): Row) -> Option<Grant> {
    Some(Grant { pattern, subject, right: Right::from_name(&access)?, is_creator: origin == "creator" })
}

fn check_pattern(pattern: &str) -> Result<(), IdentityError> {
    check_name("graph pattern", &pattern.replace('*', "x")).map(drop)
}

fn check_subject(subject: &str) -> Result<(), IdentityError> {
    let is_known = subject == "everyone"
        || ["user:", "client:", "group:", "sso:"]
            .iter()
            .any(|kind| subject.strip_prefix(kind).is_some_and(|rest| !rest.is_empty()));
    if is_known && subject.len() <= 512 {
        return Ok(());
    }
    Err(IdentityError::Invalid(
        "expected a grant for `user:ID`, `client:ID`, `sso:ISSUER#ID`, `group:NAME` or `everyone`".into(),
    ))
}

/// Returns whether a graph id matches a pattern, in linear time.
fn pattern_matches(pattern: &str, graph_id: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == graph_id };
    let Some(mut left) = graph_id.strip_prefix(head) else { return false };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, graph_id, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*", "abc", true),
            ("a*", "abc", true),
            ("a*", "ba", false),
            ("*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("a*b*c", "axxbxxc", true),
            ("a*b*c", "axxcxxb", false),
            ("a**c", "abc", true),
            ("*ab*ab*", "ab", false),
            ("*ab*ab*", "abab", true),
        ] {
            assert_eq!(pattern_matches(pattern, graph_id), expected, "`{pattern}` and `{graph_id}`");
        }
    }
}
