//! Change of the own password by a user, who proves the current one.
//!
//! The current password is guessed at no other rate than at a login: both share the throttle. All other logins of the
//! user end, since the password may be changed because somebody else knew it.

use std::net::IpAddr;
use std::time::Duration;

use zeroize::Zeroizing;

use super::accounts::account_key;
use super::password::check_password;
use super::secret::fingerprint;
use super::{Caller, ClientNetwork, Identities, IdentityError, Timestamp, audit};

/// Change of the own password.
#[derive(Clone, Copy)]
pub struct PasswordChange<'a> {
    /// Current password.
    pub current: &'a str,
    /// New password.
    pub new: &'a str,
    /// Access token of the caller, whose login does not end.
    pub token: &'a str,
    /// Client address, as reported by trusted proxies.
    pub address: IpAddr,
}

/// Reason for not changing a password.
#[derive(Debug, thiserror::Error)]
pub enum PasswordChangeError {
    /// The caller is a client or signs in by single sign-on.
    #[error("the account has no password")]
    NoPassword,
    /// The current password is wrong.
    #[error("the current password is wrong")]
    WrongPassword,
    /// Too many attempts, with the time to wait.
    #[error("there were too many attempts: try again later")]
    Throttled(Duration),
    /// The new password is invalid, or the change failed.
    #[error(transparent)]
    Failed(#[from] IdentityError),
}

/// User with a password.
struct PasswordUser {
    id: String,
    login: String,
    hash: String,
}

const PASSWORD_USER: &str = "select id, login, password from users
  where id = $1 and password is not null and sso_only = 0";
// An administrator may set another password at the same time, which must not be undone.
const REPLACE_PASSWORD: &str = "update users set password = $2 where id = $1 and password = $3";
const REVOKE_OTHER_LOGINS: &str = "update token_families set revoked_at = $2
  where user_id = $1 and revoked_at is null
    and id not in (select a.family_id from access_tokens a where a.hash = $3)";

impl Identities {
    /// Returns whether a caller is a user with a password.
    pub async fn has_password(&self, caller: &Caller) -> Result<bool, IdentityError> {
        Ok(self.password_user(caller).await?.is_some())
    }

    /// Changes the password of a caller and revokes the tokens of all other logins.
    pub async fn change_own_password(
        &self,
        caller: &Caller,
        change: PasswordChange<'_>,
        now: Timestamp,
    ) -> Result<(), PasswordChangeError> {
        let user = self.password_user(caller).await?.ok_or(PasswordChangeError::NoPassword)?;
        check_new_password(&change)?;
        self.verify_current_password(&user, &change, now).await?;
        let hash = self.hash_new_password(change.new).await?;
        let args = [(&user.id).into(), (&hash).into(), (&user.hash).into()];
        if self.database.execute(REPLACE_PASSWORD, &args).await.map_err(IdentityError::from)? == 0 {
            return Err(PasswordChangeError::WrongPassword);
        }
        audit::account_changed("password-changed", &user.id);
        let token = fingerprint(change.token);
        let args = [(&user.id).into(), now.0.into(), (&token).into()];
        self.execute_and_clear_cache(REVOKE_OTHER_LOGINS, &args).await.map_err(IdentityError::from)?;
        Ok(())
    }

    /// Verifies the current password, as a login does.
    async fn verify_current_password(
        &self,
        user: &PasswordUser,
        change: &PasswordChange<'_>,
        now: Timestamp,
    ) -> Result<(), PasswordChangeError> {
        let (account, network) = (account_key(&user.login), ClientNetwork::from_address(change.address));
        let rejected = |outcome| audit::password_change_rejected(outcome, &user.id, network);
        let trust = self.network_trust(&account, network, now).await?;
        let attempt = self.throttle.start_attempt(&account, network, trust, now).await.map_err(|throttled| {
            rejected("throttled");
            PasswordChangeError::Throttled(throttled.0)
        })?;
        let password = Zeroizing::new(change.current.to_owned());
        match self.passwords.verify(attempt.network_trust(), password, Some(user.hash.clone())).await {
            Err(IdentityError::Busy) => {
                attempt.withdraw();
                Err(IdentityError::Busy.into())
            }
            Err(error) => Err(error.into()),
            Ok(true) => {
                attempt.succeed();
                Ok(())
            }
            Ok(false) => {
                rejected("refused");
                Err(PasswordChangeError::WrongPassword)
            }
        }
    }

    async fn password_user(&self, caller: &Caller) -> Result<Option<PasswordUser>, IdentityError> {
        let Some(id) = caller.subject.as_str().strip_prefix("user:") else { return Ok(None) };
        let row = self.database.row::<(String, String, String)>(PASSWORD_USER, &[id.into()]).await?;
        Ok(row.map(|(id, login, hash)| PasswordUser { id, login, hash }))
    }
}

/// Checks the rules for passwords before an attempt is counted.
fn check_new_password(change: &PasswordChange<'_>) -> Result<(), IdentityError> {
    check_password(change.new)?;
    if change.new == change.current {
        return Err(IdentityError::Invalid("the new password is the current one: choose another".into()));
    }
    Ok(())
}
