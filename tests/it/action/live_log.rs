//! The log of a step, as the runner reads it while the step is at work.

use std::fs::File;
use std::process::Stdio;

use crate::action::fixture::{ActionFixture, Ask};

#[test]
fn the_log_is_there_while_the_step_works_and_stays_when_it_is_killed() {
    let fixture = ActionFixture::new();
    let asked = fixture.server.close_gate("GET /repos/acme/app/collaborators/alice/permission");
    let published = fixture.server.close_gate("POST /repos/acme/app/pulls");
    let log = File::create(fixture.stage.path("a-log")).unwrap();
    let mut command = fixture.elsewhere("a-", &Ask::comment("/locum code say hello"));
    let mut child = command.stdout(log).stderr(Stdio::null()).spawn().unwrap();
    // What is masked is known to the runner before anything else is written.
    asked.wait();
    let begun = fixture.stage.read("a-log");
    assert!(begun.starts_with("::add-mask::"), "{begun:?}");
    for line in ["::add-mask::fixture-token-1234567890\n", "\n::group::locum"] {
        assert!(begun.contains(line), "{begun:?}");
    }
    assert!(!begun.contains("src/hello.txt"), "{begun:?}");
    asked.open();
    published.wait();
    let worked = fixture.stage.read("a-log");
    assert!(worked.starts_with(&begun) && worked.contains("src/hello.txt"), "{worked:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(fixture.stage.read("a-log").starts_with(&worked));
}
