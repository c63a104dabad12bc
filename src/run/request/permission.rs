//! `PermissionAnswer`: what the forge answered when it was asked what somebody may do.

use crate::run::request::{RequestRefusal, silent};
use locum_forge::ForgePermission;

/// What the forge answered when it was asked what somebody may do here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// They may do this.
    Known(ForgePermission),
    /// Nobody was asked, or the answer says nothing; says why. It lets nobody in.
    Unknown(String),
}

impl PermissionAnswer {
    /// Returns the permission of somebody, or the refusal where it is not known.
    pub(super) fn of(&self, login: &str) -> Result<ForgePermission, RequestRefusal> {
        match self {
            Self::Known(permission) => Ok(*permission),
            Self::Unknown(why) => {
                Err(silent("permission", &format!("the permission of {login} is not known: {why}")))
            }
        }
    }
}
