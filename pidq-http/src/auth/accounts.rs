//! Users: accounts, roles, and administrative changes.

use zeroize::Zeroizing;

use super::password::check_password;
use super::secret::{fingerprint, random_id};
use super::{Identities, IdentityError, Timestamp, audit};
use crate::database::Transaction;

/// Role with the scopes available to its users.
pub struct Role {
    /// Name, as the command takes it.
    pub name: &'static str,
    /// Maximum scopes of the user's tokens.
    pub scopes: &'static [&'static str],
    /// True if the user has all rights in the tenant without grants.
    pub is_admin: bool,
    /// Description.
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
        summary: "Has all rights to all graphs of the tenant.",
    },
];

impl Role {
    /// Returns the role of this name.
    pub fn from_name(name: &str) -> Option<&'static Role> {
        ROLES.iter().find(|role| role.name == name)
    }
}

/// User to create.
#[derive(Clone)]
pub struct NewUser<'a> {
    /// E-mail address, or any name without spaces.
    pub login: &'a str,
    /// Password. Without one the user can only use single sign-on.
    pub password: Option<&'a str>,
    /// Tenant of the user.
    pub tenant: &'a str,
    /// Name of a role in [`ROLES`].
    pub role: &'a str,
    /// Groups, for grants.
    pub groups: &'a [&'a str],
    /// True if password logins are disabled.
    pub sso_only: bool,
}

/// Changes of a user. What is absent stays unchanged.
#[derive(Clone, Copy, Default)]
pub struct UserChanges<'a> {
    /// New password.
    pub password: Option<&'a str>,
    /// Name of a role in [`ROLES`].
    pub role: Option<&'a str>,
    /// New groups.
    pub groups: Option<&'a [&'a str]>,
    /// `true` disables the account, `false` enables it.
    pub disabled: Option<bool>,
}

/// User account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// Id; never changes.
    pub id: String,
    /// Login, in lower case.
    pub login: String,
    /// Tenant of the user.
    pub tenant: String,
    /// Name of a role in [`ROLES`].
    pub role: String,
    /// Groups, for grants.
    pub groups: Vec<String>,
    /// True if the user must use single sign-on.
    pub sso_only: bool,
    /// True if the account is disabled.
    pub is_disabled: bool,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Account data for a login.
#[derive(Clone)]
pub(crate) struct LoginUser {
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
const IN_TENANT: &str = "select id, login, tenant, role, member_of, sso_only, disabled_at, created_at
  from users where tenant = $1 and login = $2";
const BY_LOGIN: &str = "select id, tenant, role, password, sso_only, disabled_at from users where login = $1";
const ID_BY_LOGIN: &str = "select id from users where login = $1";
const SSO_ONLY: &str = "select sso_only from users where id = $1";
const ID_BY_NAME: &str = "select id from users where tenant = $3 and (id = $1 or login = $2)";
const COUNT: &str = "select count(*) from users";
const SET_PASSWORD: &str = "update users set password = $2 where id = $1";
const SET_ROLE: &str = "update users set role = $2 where id = $1";
const SET_GROUPS: &str = "update users set member_of = $2 where id = $1";
const SET_DISABLED: &str = "update users set disabled_at = $2 where id = $1";
const DELETE: &str = "delete from users where id = $1";

type AccountRow = (String, String, String, String, String, i64, Option<i64>, i64);
type LoginRow = (String, String, String, Option<String>, i64, Option<i64>);

impl Identities {
    /// Creates a user.
    pub async fn create_user(&self, user: NewUser<'_>, now: Timestamp) -> Result<Account, IdentityError> {
        let account = checked_account(&user, now)?;
        let password = match user.password {
            Some(password) => Some(self.hash_new_password(password).await?),
            None => None,
        };
        let mut tx = self.database.begin().await?;
        insert_user(&mut tx, &account, password.as_deref(), now).await?;
        tx.commit().await?;
        audit::account_changed("user-created", &account.id);
        Ok(account)
    }

    /// Returns all users, by login.
    pub async fn users(&self) -> Result<Vec<Account>, IdentityError> {
        let rows = self.database.rows::<AccountRow>(LIST, &[]).await?;
        Ok(rows.into_iter().map(account).collect())
    }

    /// Returns a user of a tenant.
    pub async fn user(&self, tenant: &str, login: &str) -> Result<Option<Account>, IdentityError> {
        let login = replace_nul(&normalize_login(login));
        let row = self.database.row::<AccountRow>(IN_TENANT, &[tenant.into(), (&login).into()]).await?;
        Ok(row.map(account))
    }

    /// Returns the number of users.
    pub async fn user_count(&self) -> Result<i64, IdentityError> {
        Ok(self.database.row::<(i64,)>(COUNT, &[]).await?.map_or(0, |row| row.0))
    }

    /// Changes a user. Everything is validated before the first change, so that a rejected change has no effect.
    pub async fn change_user(
        &self,
        login: &str,
        changes: UserChanges<'_>,
        now: Timestamp,
    ) -> Result<(), IdentityError> {
        let UserChanges { password, role, groups, disabled } = changes;
        role.map(role_by_name).transpose()?;
        groups.map(|groups| check_names("group", groups)).transpose()?;
        // The password comes first: the queue of password hashes may be full.
        if let Some(password) = password {
            self.set_password(login, password, now).await?;
        }
        if let Some(groups) = groups {
            self.set_groups(login, groups).await?;
        }
        if let Some(role) = role {
            self.set_role(login, role, now).await?;
        }
        match disabled {
            Some(true) => self.disable_user(login, now).await,
            Some(false) => self.enable_user(login).await,
            None => Ok(()),
        }
    }

    /// Sets a password and revokes all tokens of the user.
    pub async fn set_password(&self, login: &str, password: &str, now: Timestamp) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        if self.is_sso_only(&id).await? {
            let reason = format!("`{login}` can only use single sign-on: a password would have no effect");
            return Err(IdentityError::Invalid(reason));
        }
        let hash = self.hash_new_password(password).await?;
        self.database.execute(SET_PASSWORD, &[(&id).into(), (&hash).into()]).await?;
        audit::account_changed("password-set", &id);
        self.revoke_user_tokens(&id, now).await
    }

    /// Sets a role and revokes all tokens of the user, so that no token exceeds the role.
    pub async fn set_role(&self, login: &str, role: &str, now: Timestamp) -> Result<(), IdentityError> {
        let role = role_by_name(role)?;
        let id = self.user_id(login).await?;
        self.execute_and_clear_cache(SET_ROLE, &[(&id).into(), role.name.into()]).await?;
        audit::account_changed("role-set", &id);
        self.revoke_user_tokens(&id, now).await
    }

    /// Replaces the groups of a user. Takes effect with the next request.
    pub async fn set_groups(&self, login: &str, groups: &[&str]) -> Result<(), IdentityError> {
        let groups = check_names("group", groups)?;
        let id = self.user_id(login).await?;
        self.execute_and_clear_cache(SET_GROUPS, &[(&id).into(), (&groups.join(" ")).into()]).await?;
        audit::account_changed("groups-set", &id);
        Ok(())
    }

    /// Disables a user and revokes all tokens.
    pub async fn disable_user(&self, login: &str, now: Timestamp) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        self.execute_and_clear_cache(SET_DISABLED, &[(&id).into(), now.0.into()]).await?;
        audit::account_changed("user-disabled", &id);
        self.revoke_user_tokens(&id, now).await
    }

    /// Enables a user, who must log in again.
    pub async fn enable_user(&self, login: &str) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        self.execute_and_clear_cache(SET_DISABLED, &[(&id).into(), None::<i64>.into()]).await?;
        audit::account_changed("user-enabled", &id);
        Ok(())
    }

    /// Deletes a user and all tokens.
    pub async fn delete_user(&self, login: &str) -> Result<(), IdentityError> {
        let id = self.user_id(login).await?;
        self.execute_and_clear_cache(DELETE, &[(&id).into()]).await?;
        audit::account_changed("user-deleted", &id);
        Ok(())
    }

    /// Returns the id of a tenant's user with this id or login.
    pub(super) async fn user_id_by_name(&self, tenant: &str, name: &str) -> Result<String, IdentityError> {
        let login = normalize_login(name);
        let args = [name.into(), (&login).into(), tenant.into()];
        let row = self.database.row::<(String,)>(ID_BY_NAME, &args).await?;
        row.map(|row| row.0).ok_or_else(|| IdentityError::Unknown(format!("user:{name}")))
    }

    pub(crate) async fn user_for_login(&self, login: &str) -> Result<Option<LoginUser>, IdentityError> {
        let row = self.database.row::<LoginRow>(BY_LOGIN, &[(&replace_nul(login)).into()]).await?;
        Ok(row.map(login_user))
    }

    pub(crate) async fn store_password_hash(&self, user: &str, hash: &str) -> Result<(), IdentityError> {
        self.database.execute(SET_PASSWORD, &[user.into(), hash.into()]).await?;
        Ok(())
    }

    async fn user_id(&self, login: &str) -> Result<String, IdentityError> {
        let row = self.database.row::<(String,)>(ID_BY_LOGIN, &[(&normalize_login(login)).into()]).await?;
        row.map(|row| row.0).ok_or_else(|| IdentityError::Unknown(login.to_owned()))
    }

    async fn is_sso_only(&self, id: &str) -> Result<bool, IdentityError> {
        Ok(self.database.row::<(i64,)>(SSO_ONLY, &[id.into()]).await?.is_some_and(|row| row.0 != 0))
    }

    pub(super) async fn hash_new_password(&self, password: &str) -> Result<String, IdentityError> {
        check_password(password)?;
        self.passwords.hash(Zeroizing::new(password.to_owned())).await
    }
}

/// Inserts a validated user.
pub(super) async fn insert_user(
    tx: &mut Transaction,
    account: &Account,
    password: Option<&str>,
    now: Timestamp,
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
    tx.execute(INSERT, &args).await.map_err(|error| insert_error(error, &account.login))?;
    Ok(())
}

/// Normalizes a login: trimmed and in lower case, as mail addresses are compared in practice.
pub(crate) fn normalize_login(login: &str) -> String {
    login.trim().to_lowercase()
}

/// Replaces NUL, which PostgreSQL cannot store and no name contains.
pub(crate) fn replace_nul(name: &str) -> String {
    name.replace('\0', "\u{fffd}")
}

/// Returns the key of an account in the throttle: of constant length, whatever the login sent.
pub(crate) fn account_key(login: &str) -> String {
    fingerprint(login)
}

/// Converts the error of an insert: a duplicate name is [`IdentityError::Exists`].
pub(crate) fn insert_error(error: crate::database::DatabaseError, name: &str) -> IdentityError {
    if error.is_duplicate() { IdentityError::Exists(name.to_owned()) } else { error.into() }
}

/// Validates a name for space-separated lists, logs and URLs.
pub(crate) fn check_name<'a>(what: &str, text: &'a str) -> Result<&'a str, IdentityError> {
    let fits = |c: char| c.is_alphanumeric() || "._:@~+-".contains(c);
    if (1..=254).contains(&text.len()) && text.chars().all(fits) {
        return Ok(text);
    }
    Err(IdentityError::Invalid(format!("a {what} must have 1 to 254 letters, digits, or characters of `._:@~+-`")))
}

/// Validates the name of a tenant, which is part of the name of each of its graphs.
pub(crate) fn check_tenant(text: &str) -> Result<&str, IdentityError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._:@~-".contains(c);
    if (1..=128).contains(&text.len()) && text.chars().all(fits) && ![".", ".."].contains(&text) {
        return Ok(text);
    }
    Err(IdentityError::Invalid("a tenant must have 1 to 128 characters of `A-Z a-z 0-9 . _ : @ ~ -`".into()))
}

pub(crate) fn check_names(what: &str, texts: &[&str]) -> Result<Vec<String>, IdentityError> {
    texts.iter().map(|text| check_name(what, text).map(str::to_owned)).collect()
}

fn role_by_name(name: &str) -> Result<&'static Role, IdentityError> {
    let names = || ROLES.iter().map(|role| role.name).collect::<Vec<_>>().join(", ");
    Role::from_name(name)
        .ok_or_else(|| IdentityError::Invalid(format!("unknown role `{name}`: use one of {}", names())))
}

pub(super) fn checked_account(user: &NewUser<'_>, now: Timestamp) -> Result<Account, IdentityError> {
    Ok(Account {
        id: random_id("u_")?,
        login: check_name("login", &normalize_login(user.login))?.to_owned(),
        tenant: check_tenant(user.tenant)?.to_owned(),
        role: role_by_name(user.role)?.name.to_owned(),
        groups: check_names("group", user.groups)?,
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
        created_at: Timestamp(created_at),
    }
}

fn login_user((id, tenant, role, password, sso_only, disabled_at): LoginRow) -> LoginUser {
    LoginUser { id, tenant, role, password, may_use_password: sso_only == 0 && disabled_at.is_none() }
}
