//! `Guard`: one check that stands between an attack and its effect, so that a test can take it away and see the attack succeed.
//!
//! In the program [`on`] is the constant `true`: there is nothing to switch, by whatever input. Only this crate's own unit tests are
//! compiled with a switch, and it holds for the thread that took the guard away: work that runs on another thread is guarded. A guard
//! is asked at the check that decides. `docs/security.md` names the test of each.

/// One check that stands between an attack and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// What no rule allows is denied.
    NoRuleNoEffect,
    /// Protected paths are not edited, whatever a wildcard says.
    ProtectedPaths,
    /// Files that hold credentials are not read, whatever a wildcard says.
    CredentialPaths,
    /// What ignore files name is hidden.
    IgnoreFiles,
    /// Every command of a script is judged, not only the first.
    EveryCommand,
    /// Options of an allowed program that nobody knows are refused.
    OptionTables,
    /// Expansions in a command are refused.
    Expansions,
    /// Files a shell opens for a command are judged.
    Redirections,
    /// Code of the repository runs in a sandbox only.
    CodeInSandbox,
    /// A run that may only read does nothing else, whatever the rules say.
    Restriction,
    /// A permit is good for what it was given for only.
    PermitCovers,
    /// A budget ends what it pays for.
    Budget,
    /// A sub-task spends what its parent has left.
    CarvedBudget,
}

/// Returns true: every guard stands.
#[cfg(not(test))]
pub(crate) const fn on(_guard: Guard) -> bool {
    true
}

/// Returns true unless the test on this thread took the guard away.
#[cfg(test)]
pub(crate) fn on(guard: Guard) -> bool {
    removed::REMOVED.with_borrow(|removed| !removed.contains(&guard))
}

#[cfg(test)]
pub(crate) use removed::{stops, without};

#[cfg(test)]
mod removed {
    use std::cell::RefCell;

    use super::Guard;

    thread_local! {
        pub(super) static REMOVED: RefCell<Vec<Guard>> = const { RefCell::new(Vec::new()) };
    }

    /// Puts the guard back, also when the test fails.
    struct PutBack;

    impl Drop for PutBack {
        fn drop(&mut self) {
            REMOVED.with_borrow_mut(|removed| removed.pop());
        }
    }

    /// Does something without a guard, on this thread only.
    pub(crate) fn without<T>(guard: Guard, act: impl FnOnce() -> T) -> T {
        REMOVED.with_borrow_mut(|removed| removed.push(guard));
        let _put_back = PutBack;
        act()
    }

    /// Checks that an attack fails because of one guard: it fails with it, and succeeds once it is taken away.
    #[track_caller]
    pub(crate) fn stops(guard: Guard, attack: impl Fn() -> bool) {
        assert!(!attack(), "{guard:?} does not stop the attack");
        assert!(without(guard, &attack), "the attack fails without {guard:?} too: something else stops it");
        assert!(!attack(), "{guard:?} was not put back");
    }
}

#[cfg(test)]
mod tests {
    use super::{Guard, on, without};

    #[test]
    fn a_guard_is_away_for_one_thread_and_one_act() {
        without(Guard::PermitCovers, || {
            assert!(!on(Guard::PermitCovers) && on(Guard::NoRuleNoEffect));
            assert!(std::thread::spawn(|| on(Guard::PermitCovers)).join().unwrap());
        });
        assert!(on(Guard::PermitCovers));
        let failed = std::panic::catch_unwind(|| without(Guard::PermitCovers, || panic!("a test fails")));
        assert!(failed.is_err() && on(Guard::PermitCovers));
    }
}
