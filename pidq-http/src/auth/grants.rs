//! Who may do what to which jobs.
//!
//! A job belongs to one tenant, and callers of other tenants never see it. Within the tenant a right comes from a role,
//! from having created the job, from a grant, or from the default.

use super::accounts::{tenant_name, word};
use super::{Caller, Identities, IdentityError, Moment, audit};

/// What may be done to a job. Each right includes those before it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Right {
    /// Read and query it.
    Read,
    /// Store a version of it, or delete it.
    Write,
    /// Say who may do what to it.
    Admin,
}

const RIGHTS: [(Right, &str); 3] = [(Right::Read, "read"), (Right::Write, "write"), (Right::Admin, "admin")];

impl Right {
    /// The right of this name.
    pub fn named(name: &str) -> Option<Right> {
        RIGHTS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// As it is stored and shown.
    pub fn name(self) -> &'static str {
        RIGHTS.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }
}

/// What those of a tenant may do to its jobs without a grant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DefaultAccess {
    /// They read all of them.
    TenantReads,
    /// Nothing.
    Nothing,
}

/// A right that was given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grant {
    /// A job, or many: `*` stands for any characters.
    pub pattern: String,
    /// `user:ID`, `client:ID`, `sso:ISSUER#ID`, `group:NAME` or `everyone`.
    pub subject: String,
    /// What may be done.
    pub right: Right,
    /// Whether it comes of having created the job.
    pub is_creator: bool,
}

/// What a caller may do, for lists: asked once, answered for every job.
#[derive(Clone, Debug)]
pub struct Rights {
    everywhere: Option<Right>,
    grants: Vec<Grant>,
}

const GRANT: &str = "insert into grants (tenant, pattern, is_glob, subject, access, created_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (tenant, pattern, subject) do update set access = excluded.access";
const REVOKE: &str = "delete from grants where tenant = $1 and pattern = $2 and subject = $3";
const DISOWN: &str = "delete from creators where tenant = $1 and job = $2 and subject = $3";
const CLAIM: &str = "insert into creators (tenant, job, subject, created_at) values ($1, $2, $3, $4)
  on conflict (tenant, job) do nothing";
const CREATOR: &str = "select subject from creators where tenant = $1 and job = $2";
const ALL: &str = "select pattern, subject, access, 'grant' from grants where tenant = $1
  union all select job, subject, 'admin', 'creator' from creators where tenant = $1
  order by 1, 2, 4";
const ABOUT_JOB: &str = "select pattern, subject, access, 'grant' from grants
    where tenant = $1 and (pattern = $2 or is_glob = 1)
  union all select job, subject, 'admin', 'creator' from creators where tenant = $1 and job = $2";

type Row = (String, String, String, String);

impl Identities {
    /// Whether a caller may do something to a job of their tenant. If not, the job does not exist for them.
    ///
    /// The scope of the token is another question, see [`Caller::has_scope`].
    pub async fn may(&self, caller: &Caller, job: &str, right: Right) -> Result<bool, IdentityError> {
        if self.everywhere(caller).is_some_and(|held| held >= right) {
            return Ok(true);
        }
        // Reading is asked for often, and right after the caller was looked up. Whoever writes is asked about each time.
        let changes = self.recent.rights();
        if right == Right::Read
            && let Some(may) = caller.readable.find(job, changes)
        {
            return Ok(may);
        }
        // Boxed, so that those who need not ask have a small future.
        let args = [(&caller.tenant).into(), job.into()];
        let rows = Box::pin(self.database.rows::<Row>(ABOUT_JOB, &args)).await?;
        let may = rows.into_iter().filter_map(grant).any(|grant| grant.gives(caller, job, right));
        if right == Right::Read {
            caller.readable.keep(job, changes, may);
        }
        Ok(may)
    }

    /// All that a caller may do, for lists of jobs.
    pub async fn rights(&self, caller: &Caller) -> Result<Rights, IdentityError> {
        let grants = self.grants(&caller.tenant).await?;
        let grants = grants.into_iter().filter(|grant| caller.answers_to(&grant.subject)).collect();
        Ok(Rights { everywhere: self.everywhere(caller), grants })
    }

    /// Makes a caller the creator of a job that nobody has created. Of many at once, one is told yes; the creator is
    /// told yes again. A job keeps its creator when it is deleted.
    pub async fn claim(&self, caller: &Caller, job: &str, now: Moment) -> Result<bool, IdentityError> {
        let subject = caller.subject.as_str();
        let args = [(&caller.tenant).into(), job.into(), subject.into(), now.0.into()];
        self.change_rights(CLAIM, &args).await?;
        let creator = self.database.row::<(String,)>(CREATOR, &args[..2]).await?;
        Ok(creator.is_some_and(|row| row.0 == subject))
    }

    /// Whether a claim would be granted now. Nothing is claimed by asking.
    pub async fn may_claim(&self, caller: &Caller, job: &str) -> Result<bool, IdentityError> {
        let creator = self.database.row::<(String,)>(CREATOR, &[(&caller.tenant).into(), job.into()]).await?;
        Ok(creator.is_none_or(|row| row.0 == caller.subject.as_str()))
    }

    /// Gives a right.
    pub async fn grant(&self, tenant: &str, grant: &Grant, now: Moment) -> Result<(), IdentityError> {
        check_pattern(&grant.pattern)?;
        check_subject(&grant.subject)?;
        let args = [
            tenant_name(tenant)?.into(),
            (&grant.pattern).into(),
            i64::from(grant.pattern.contains('*')).into(),
            (&grant.subject).into(),
            grant.right.name().into(),
            now.0.into(),
        ];
        self.change_rights(GRANT, &args).await?;
        audit::changed("grant-given", &grant.subject);
        Ok(())
    }

    /// Who is meant by a subject that a person wrote: a user may be named by login too. Nobody is found for a name of
    /// the service's own that nobody in the tenant has; groups and users of a provider are known to the provider.
    pub async fn subject_named(&self, tenant: &str, subject: &str) -> Result<String, IdentityError> {
        check_subject(subject)?;
        match subject.split_once(':') {
            Some(("user", name)) => Ok(format!("user:{}", self.user_named(tenant, name).await?)),
            Some(("client", id)) if !self.clients().await?.iter().any(|client| client.id == id) => {
                Err(IdentityError::Unknown(subject.to_owned()))
            }
            _ => Ok(subject.to_owned()),
        }
    }

    /// Takes a right back, also that of a creator.
    pub async fn ungrant(&self, tenant: &str, pattern: &str, subject: &str) -> Result<bool, IdentityError> {
        let args = [tenant.into(), pattern.into(), subject.into()];
        let granted = self.change_rights(REVOKE, &args).await?;
        let created = self.change_rights(DISOWN, &args).await?;
        audit::changed("grant-taken", subject);
        Ok(granted + created > 0)
    }

    /// All rights that were given in a tenant.
    pub async fn grants(&self, tenant: &str) -> Result<Vec<Grant>, IdentityError> {
        let rows = self.database.rows::<Row>(ALL, &[tenant.into()]).await?;
        Ok(rows.into_iter().filter_map(grant).collect())
    }

    fn everywhere(&self, caller: &Caller) -> Option<Right> {
        match self.options.default_access {
            _ if caller.is_admin => Some(Right::Admin),
            DefaultAccess::TenantReads => Some(Right::Read),
            DefaultAccess::Nothing => None,
        }
    }
}

impl Rights {
    /// Whether something may be done to a job.
    pub fn may(&self, job: &str, right: Right) -> bool {
        self.everywhere.is_some_and(|held| held >= right)
            || self.grants.iter().any(|grant| grant.right >= right && matches(&grant.pattern, job))
    }
}

impl Grant {
    fn gives(&self, caller: &Caller, job: &str, right: Right) -> bool {
        self.right >= right && caller.answers_to(&self.subject) && matches(&self.pattern, job)
    }
}

fn grant((pattern, subject, access, origin): Row) -> Option<Grant> {
    Some(Grant { pattern, subject, right: Right::named(&access)?, is_creator: origin == "creator" })
}

fn check_pattern(pattern: &str) -> Result<(), IdentityError> {
    word("job pattern", &pattern.replace('*', "x")).map(drop)
}

fn check_subject(subject: &str) -> Result<(), IdentityError> {
    let is_known = subject == "everyone"
        || ["user:", "client:", "group:", "sso:"]
            .iter()
            .any(|kind| subject.strip_prefix(kind).is_some_and(|rest| !rest.is_empty()));
    if is_known && subject.len() <= 512 {
        return Ok(());
    }
    Err(IdentityError::Refused(
        "a grant is for `user:ID`, `client:ID`, `sso:ISSUER#ID`, `group:NAME` or `everyone`".into(),
    ))
}

/// Whether a job is one that a pattern means. Looks at each part of the pattern once, so no pattern is slow.
fn matches(pattern: &str, job: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == job };
    let Some(mut left) = job.strip_prefix(head) else { return false };
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
        for (pattern, job, expected) in [
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
            assert_eq!(matches(pattern, job), expected, "`{pattern}` and `{job}`");
        }
    }
}
