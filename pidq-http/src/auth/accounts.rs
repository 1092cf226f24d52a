//! Users: who they are, and what an administrator may change.

use zeroize::Zeroizing;

use super::password::check_password;
use super::secret::{fingerprint, fresh_id};
use super::{Identities, IdentityError, Moment, audit};
use crate::database::Transaction;

/// A role, and the scopes that its users may ask for.
pub struct Role {
    /// As the command takes it.
    pub name: &'static str,
    /// The most that a token of such a user is good for.
    pub scopes: &'static [&'static str],
    /// Whether grants do not matter to such a user.
    pub is_admin: bool,
    /// For people.
    pub summary: &'static str,
}

/// All roles.
pub const ROLES: &[Role] = &[
    Role { name: "viewer", scopes: &["read"], is_admin: false, summary: "Reads and queries graphs." },
    Role { name: "editor", scopes: &["read", "write"], is_admin: false, summary: "Also stores graphs." },
    Role {
        name: "admin",
        scopes: &["read", "write"],
        is_admin: true,
        summary: "May do so with all jobs of the tenant.",
    },
];

impl Role {
    /// The role of this name.
    pub fn named(name: &str) -> Option<&'static Role> {
        ROLES.iter().find(|role| role.name == name)
    }
}

/// A user to be made.
#[derive(Clone)]
pub struct NewUser<'a> {
    /// The e-mail address, or any name without spaces.
    pub login: &'a str,
    /// Without one the user can only come by single sign-on.
    pub password: Option<&'a str>,
    /// Whose jobs the user sees.
    pub tenant: &'a str,
    /// A name of [`ROLES`].
    pub role: &'a str,
    /// The groups that grants may name.
    pub groups: &'a [&'a str],
    /// Whether a password is refused even if there is one.
    pub sso_only: bool,
}

/// A user as an administrator sees one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// Never changes.
    pub id: String,
    /// In lower case.
    pub login: String,
    /// Whose jobs the user sees.
    pub tenant: String,
    /// A name of [`ROLES`].
    pub role: String,
    /// The groups that grants may name.
    pub groups: Vec<String>,
    /// Whether the user must come by single sign-on.
    pub sso_only: bool,
    /// Whether the user is shut out.
    pub is_disabled: bool,
    /// When the account was made.
    pub created_at: Moment,
}

/// A user as a login needs one.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) id: String,
    pub(crate) tenant: String,
    pub(crate) role: String,
    pub(crate) password: Option<String>,
    pub(crate) may_use_password: bool,
}

const INSERT: &str = "insert into users (id, login, tenant, role, member_of, password, sso_only, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)";
const LIST: &str = "select id, login, tenant, role, member_of, sso_only, disabled_at, created_at
  from users order by login";
const BY_LOGIN: &str = "select id, tenant, role, password, sso_only, disabled_at from users where login = $1";
const ID_OF: &str = "select id from users where login = $1";
const SSO_ONLY: &str = "select sso_only from users where id = $1";
const NAMED: &str = "select id from users where tenant = $3 and (id = $1 or login = $2)";
const COUNT: &str = "select count(*) from users";
const SET_PASSWORD: &str = "update users set password = $2 where id = $1";
const SET_ROLE: &str = "update users set role = $2 where id = $1";
const SET_GROUPS: &str = "update users set member_of = $2 where id = $1";
const SET_DISABLED: &str = "update users set disabled_at = $2 where id = $1";
const DELETE: &str = "delete from users where id = $1";

type AccountRow = (String, String, String, String, String, i64, Option<i64>, i64);
type LoginRow = (String, String, String, Option<String>, i64, Option<i64>);

impl Identities {
    /// Makes a user.
    pub async fn create_user(&self, user: NewUser<'_>, now: Moment) -> Result<Account, IdentityError> {
        let account = checked(&user, now)?;
        let password = match user.password {
            Some(password) => Some(self.hash_new(password).await?),
            None => None,
        };
        let mut tx = self.database.begin().await?;
        insert_user(&mut tx, &account, password.as_deref(), now).await?;
        tx.commit().await?;
        audit::changed("user-created", &account.id);
        Ok(account)
    }

    /// All users, by login.
    pub async fn users(&self) -> Result<Vec<Account>, IdentityError> {
        let rows = self.database.rows::<AccountRow>(LIST, &[]).await?;
        Ok(rows.into_iter().map(account).collect())
    }

    /// How many users there are.
    pub async fn user_count(&self) -> Result<i64, IdentityError> {
        Ok(self.database.row::<(i64,)>(COUNT, &[]).await?.map_or(0, |row| row.0))
    }

    /// Gives a user another password; every login of theirs ends.
    pub async fn set_password(&self, login: &str, password: &str, now: Moment) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        if self.is_sso_only(&id).await? {
            let why = format!("`{login}` comes by single sign-on alone: a password would be of no use");
            return Err(IdentityError::Refused(why));
        }
        let hash = self.hash_new(password).await?;
        self.database.execute(SET_PASSWORD, &[(&id).into(), (&hash).into()]).await?;
        audit::changed("password-set", &id);
        self.end_logins_of_user(&id, now).await
    }

    /// Gives a user another role; every login of theirs ends, so that no token allows more than the role does.
    pub async fn set_role(&self, login: &str, role: &str, now: Moment) -> Result<(), IdentityError> {
        let role = role_named(role)?;
        let id = self.user_id(login).await?;
        self.change(SET_ROLE, &[(&id).into(), role.name.into()]).await?;
        audit::changed("role-set", &id);
        self.end_logins_of_user(&id, now).await
    }

    /// Puts a user into these groups and no others. It counts from the next request on.
    pub async fn set_groups(&self, login: &str, groups: &[&str]) -> Result<(), IdentityError> {
        let groups = words("group", groups)?;
        let id = self.user_id(login).await?;
        self.change(SET_GROUPS, &[(&id).into(), (&groups.join(" ")).into()]).await?;
        audit::changed("groups-set", &id);
        Ok(())
    }

    /// Shuts a user out at once; the account stays.
    pub async fn disable_user(&self, login: &str, now: Moment) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        self.change(SET_DISABLED, &[(&id).into(), now.0.into()]).await?;
        audit::changed("user-disabled", &id);
        self.end_logins_of_user(&id, now).await
    }

    /// Lets a user in again, who has to log in anew.
    pub async fn enable_user(&self, login: &str) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        self.change(SET_DISABLED, &[(&id).into(), None::<i64>.into()]).await?;
        audit::changed("user-enabled", &id);
        Ok(())
    }

    /// Removes a user and all their tokens.
    pub async fn delete_user(&self, login: &str) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        self.change(DELETE, &[(&id).into()]).await?;
        audit::changed("user-deleted", &id);
        Ok(())
    }

    /// The id of a user of a tenant who goes by this id or login.
    pub(super) async fn user_named(&self, tenant: &str, name: &str) -> Result<String, IdentityError> {
        let login = lower(name);
        let args = [name.into(), (&login).into(), tenant.into()];
        let row = self.database.row::<(String,)>(NAMED, &args).await?;
        row.map(|row| row.0).ok_or_else(|| IdentityError::Unknown(format!("user:{name}")))
    }

    pub(crate) async fn known_user(&self, login: &str) -> Result<Option<Known>, IdentityError> {
        let row = self.database.row::<LoginRow>(BY_LOGIN, &[(&searchable(login)).into()]).await?;
        Ok(row.map(known))
    }

    pub(crate) async fn keep_hash(&self, user: &str, hash: &str) -> Result<(), IdentityError> {
        self.database.execute(SET_PASSWORD, &[user.into(), hash.into()]).await?;
        Ok(())
    }

    async fn user_id(&self, login: &str) -> Result<String, IdentityError> {
        let row = self.database.row::<(String,)>(ID_OF, &[(&lower(login)).into()]).await?;
        row.map(|row| row.0).ok_or_else(|| IdentityError::Unknown(login.to_owned()))
    }

    async fn is_sso_only(&self, id: &str) -> Result<bool, IdentityError> {
        Ok(self.database.row::<(i64,)>(SSO_ONLY, &[id.into()]).await?.is_some_and(|row| row.0 != 0))
    }

    pub(super) async fn hash_new(&self, password: &str) -> Result<String, IdentityError> {
        check_password(password)?;
        self.passwords.hash(Zeroizing::new(password.to_owned())).await
    }
}

/// Makes a row of a user that was checked.
pub(super) async fn insert_user(
    tx: &mut Transaction,
    account: &Account,
    password: Option<&str>,
    now: Moment,
) -> Result<(), IdentityError> {
    let groups = account.groups.join(" ");
    let args = [
        (&account.id).into(),
        (&account.login).into(),
        (&account.tenant).into(),
        (&account.role).into(),
        (&groups).into(),
        password.into(),
        i64::from(account.sso_only).into(),
        now.0.into(),
    ];
    tx.execute(INSERT, &args).await.map_err(|error| exists_or(error, &account.login))?;
    Ok(())
}

/// Logins are compared without case, as mail is delivered in practice.
pub(crate) fn lower(login: &str) -> String {
    login.trim().to_lowercase()
}

/// A name as a database takes it. PostgreSQL has no NUL in its texts, and nobody has one in their name.
pub(crate) fn searchable(name: &str) -> String {
    name.replace('\0', "\u{fffd}")
}

/// The name of an account in counts: of one length, however long the login that somebody sends.
pub(crate) fn account_key(login: &str) -> String {
    fingerprint(login)
}

pub(crate) fn exists_or(error: crate::database::DatabaseError, name: &str) -> IdentityError {
    if error.is_duplicate() { IdentityError::Exists(name.to_owned()) } else { error.into() }
}

/// Names that stand in lists with spaces between them, in logs and in URLs.
pub(crate) fn word<'a>(what: &str, text: &'a str) -> Result<&'a str, IdentityError> {
    let fits = |c: char| c.is_alphanumeric() || "._:@~+-".contains(c);
    if (1..=254).contains(&text.len()) && text.chars().all(fits) {
        return Ok(text);
    }
    Err(IdentityError::Refused(format!("a {what} has 1 to 254 letters, digits and characters of `._:@~+-`")))
}

/// The name of a tenant, which is part of the name of each of its graphs.
pub(crate) fn tenant_name(text: &str) -> Result<&str, IdentityError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:@~-".contains(c);
    if (1..=128).contains(&text.len()) && text.chars().all(fits) && ![".", ".."].contains(&text) {
        return Ok(text);
    }
    Err(IdentityError::Refused("a tenant has 1 to 128 of `A-Z a-z 0-9 . _ : @ ~ -`".into()))
}

pub(crate) fn words(what: &str, texts: &[&str]) -> Result<Vec<String>, IdentityError> {
    texts.iter().map(|text| word(what, text).map(str::to_owned)).collect()
}

fn role_named(name: &str) -> Result<&'static Role, IdentityError> {
    let names = || ROLES.iter().map(|role| role.name).collect::<Vec<_>>().join(", ");
    Role::named(name).ok_or_else(|| IdentityError::Refused(format!("`{name}` is no role: use one of {}", names())))
}

pub(super) fn checked(user: &NewUser<'_>, now: Moment) -> Result<Account, IdentityError> {
    Ok(Account {
        id: fresh_id("u_")?,
        login: word("login", &lower(user.login))?.to_owned(),
        tenant: tenant_name(user.tenant)?.to_owned(),
        role: role_named(user.role)?.name.to_owned(),
        groups: words("group", user.groups)?,
        sso_only: user.sso_only,
        is_disabled: false,
        created_at: now,
    })
}

fn account((id, login, tenant, role, groups, sso_only, disabled_at, created_at): AccountRow) -> Account {
    Account {
        id,
        login,
        tenant,
        role,
        groups: groups.split_whitespace().map(str::to_owned).collect(),
        sso_only: sso_only != 0,
        is_disabled: disabled_at.is_some(),
        created_at: Moment(created_at),
    }
}

fn known((id, tenant, role, password, sso_only, disabled_at): LoginRow) -> Known {
    Known { id, tenant, role, password, may_use_password: sso_only == 0 && disabled_at.is_none() }
}
