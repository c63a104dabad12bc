//! Runs that somebody starts with the button of a workflow: the job summary is where they look.

use crate::action::fixture::{ActionFixture, Ask};

#[test]
fn the_summary_of_a_run_that_waits_says_where_to_decide() {
    let publish = "publish: { allow: [comment, commit, pull-request, issue] }";
    let fixture = ActionFixture::publishing(publish);
    let inputs = [("INPUT_PROMPT", "hold it"), ("INPUT_MODE", "code")];
    let ask = Ask { event: "workflow_dispatch", inputs: &inputs, ..Ask::comment("") };
    let step = fixture.step(&ask);
    assert_eq!(step.output("outcome"), "on-hold", "{step:?}");
    let issue = fixture.server.issues().pop().unwrap();
    let summary = fixture.stage.read("summary");
    let place = format!("Decide in [#{}](http", issue["number"]);
    assert!(summary.contains(&place), "{place}: {summary}");
    assert!(summary.contains("The change (1 file) is below: "), "{summary}");
    // One that waits for nobody says nothing of it.
    let fixture = ActionFixture::publishing(publish);
    let inputs = [("INPUT_PROMPT", "say hello"), ("INPUT_MODE", "code")];
    fixture.step(&Ask { event: "workflow_dispatch", inputs: &inputs, ..Ask::comment("") });
    let summary = fixture.stage.read("summary");
    assert!(summary.contains("Pull request [#") && !summary.contains("Decide in"), "{summary}");
}
