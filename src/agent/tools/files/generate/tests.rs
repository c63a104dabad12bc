//! Images: what is judged, refused and written.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::fixture::{POLICY, ToolFixture};
use crate::tools::{EffectInputs, ToolContext};
use locum_base::image::Image;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts, Intent};
use locum_testing::images::png;

fn parse(fixture: &ToolFixture, arguments: &Value) -> Result<CheckedCall, String> {
    fixture.parse("generate_image", &arguments.to_string(), ToolName::ALL).map_err(|error| error.0)
}

fn generate(fixture: &ToolFixture, path: &str, picture: &[u8]) -> String {
    let call = parse(fixture, &json!({ "prompt": "a fox", "path": path })).unwrap();
    let permit = Policy::parse(POLICY, "policy.yml")
        .unwrap()
        .admit(call, &Facts { mode: "code".into(), ..Facts::default() })
        .unwrap();
    let picture = Image::measure(picture).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let given = EffectInputs { picture: Some(&picture), ..EffectInputs::default() };
    fixture
        .with_context(|context| {
            runtime.block_on(dispatch::perform(permit, ToolContext { given, ..context }))
        })
        .text
}

#[test]
fn the_file_the_source_and_who_draws_are_judged() {
    let fixture = ToolFixture::new(&[("real.png", "x")]);
    std::os::unix::fs::symlink("real.png", fixture.at("link.png")).unwrap();
    let call =
        parse(&fixture, &json!({ "prompt": "a fox", "path": "link.png", "image": "link.png" }))
            .unwrap();
    let real = RepoPath::parse("real.png").unwrap();
    assert_eq!(
        call.intents(),
        [Intent::Edit(real.clone()), Intent::Read(real), Intent::Expert("painter".into())]
    );
    assert_eq!((call.headline().as_str(), call.only_reads()), ("draw link.png", false));
}

#[test]
fn what_cannot_become_a_picture_is_said_at_once() {
    let mut fixture = ToolFixture::new(&[("a.txt", "x")]);
    std::os::unix::fs::symlink("a.txt", fixture.at("link.png")).unwrap();
    for (arguments, words) in [
        (json!({ "prompt": " ", "path": "a.png" }), "is empty"),
        (json!({ "prompt": "a fox", "path": "a.gif" }), "has to end in .png, .jpg, .jpeg or .webp"),
        (json!({ "prompt": "a fox", "path": "png" }), "has to end in"),
        (json!({ "prompt": "a fox", "path": "link.png" }), "`a.txt` does not"),
        (json!({ "prompt": "a fox", "path": "../a.png" }), "../a.png"),
        (json!({ "prompt": "a fox", "path": "a.png", "dry_run": true }), "no parameter `dry_run`"),
        (json!({ "prompt": "x".repeat(40_000), "path": "a.png" }), "more than 32768 bytes"),
    ] {
        let error = parse(&fixture, &arguments).unwrap_err();
        assert!(error.contains(words), "{words}: {error}");
    }
    assert!(
        parse(&fixture, &json!({ "prompt": "a fox", "path": "A.JPEG", "image": null })).is_ok()
    );
    fixture.image_models.clear();
    assert!(
        parse(&fixture, &json!({ "prompt": "a fox", "path": "a.png" }))
            .unwrap_err()
            .contains("models.pointers.image")
    );
}

#[test]
fn a_picture_is_written_where_its_kind_fits_the_name() {
    let fixture = ToolFixture::new(&[]);
    let picture = png(2, 3);
    let text = generate(&fixture, "art/fox.png", &picture);
    assert!(text.starts_with("Created `art/fox.png` (image 2x3 png, 29 bytes)."), "{text}");
    assert_eq!(std::fs::read(fixture.at("art/fox.png")).unwrap(), picture);
    assert!(generate(&fixture, "art/fox.png", &png(4, 5)).starts_with("Replaced"));
    let other = generate(&fixture, "fox.jpg", &picture);
    assert!(
        other.contains("image 2x3 png")
            && other.contains("nothing was written")
            && !fixture.at("fox.jpg").exists(),
        "{other}"
    );
    let secret =
        generate(&fixture, "b.png", &[png(2, 3), fixture.secret.as_bytes().to_vec()].concat());
    assert!(secret.contains("holds a secret") && !fixture.at("b.png").exists(), "{secret}");
}
