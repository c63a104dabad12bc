//! `PermissionAnswer`: what the forge answered when it was asked what somebody may do.

use crate::run::request::{RequestRefusal, silent};
use locum_forge::ForgePermission;

/// What the forge answered when it was asked what somebody may do here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// They may do this.
    Known(ForgePermission),
    /// It is an app, and the forge does not say of apps what they may do.
    App,
    /// Nobody was asked, or the answer says nothing; says why. It lets nobody in.
    Unknown(String),
}

impl PermissionAnswer {
    /// Returns the permission of somebody, none of an app, or the refusal where it is not known.
    pub(super) fn of(&self, login: &str) -> Result<ForgePermission, RequestRefusal> {
        match self {
            Self::Known(permission) => Ok(*permission),
            Self::App => Ok(ForgePermission::None),
            Self::Unknown(why) => {
                Err(silent("permission", &format!("the permission of {login} is not known: {why}")))
            }
        }
    }
}
