//! Permits for what a test is about to do.

use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::{Permit, Policy};

/// Something that wants to do a list of things.
#[derive(Debug)]
pub struct TestIntents(Vec<Intent>);

impl Act for TestIntents {
    fn intents(&self) -> Vec<Intent> {
        self.0.clone()
    }
}

/// Returns a permit for these intents, from a policy that allows every path, `echo` and publishing
/// commits.
pub fn permit(intents: &[Intent]) -> Permit<TestIntents> {
    let policy = "version: 1\nrules:\n  - allow: ['read(**)', 'edit(**)', \
                  'command(echo:*)']\npublish: { allow: [comment, commit] }\n";
    Policy::parse(policy, "policy.yml")
        .unwrap()
        .admit(TestIntents(intents.to_vec()), &Facts::default())
        .unwrap()
}
