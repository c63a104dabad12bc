//! What a run of the Action found, as a SARIF file beside its comment.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::action::fixture::{ActionFixture, Ask};

#[test]
fn findings_are_written_where_the_input_says_and_the_output_names_the_file() {
    let fixture = ActionFixture::publishing("publish: { allow: [comment] }");
    fixture.pull_request(false);
    let file = fixture.stage.path("found.sarif");
    let inputs = [("INPUT_SARIF", file.to_str().unwrap())];
    let ask = Ask { number: 8, inputs: &inputs, ..Ask::comment("/locum ask look at it") };
    let step = fixture.step(&ask);
    assert_eq!((step.code, step.output("sarif-path")), (Some(0), inputs[0].1), "{step:?}");
    let log: Value = serde_json::from_str(&fixture.stage.read("found.sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let levels: Vec<&Value> = results.iter().map(|result| &result["level"]).collect();
    assert_eq!(levels, [&json!("warning"), &json!("note")], "{results:#?}");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/lib.txt");

    std::fs::remove_file(&file).unwrap();
    let step = fixture.step(&Ask { inputs: &inputs, ..Ask::comment("not a command") });
    assert!(step.output("sarif-path").is_empty() && !file.exists(), "nothing ran: {step:?}");
    let nowhere = [("INPUT_SARIF", "no/such/folder.sarif")];
    let step = fixture.fresh(&Ask { inputs: &nowhere, ids: (56, 4243), ..ask });
    assert_eq!(step.output("outcome"), "done", "{step:?}");
    assert!(step.out.contains("::error title=locum::error: "), "{step:?}");
}
