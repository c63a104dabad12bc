//! Images that people attach to a thread, from the forge to the model.

use std::path::Path;

use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask};
use locum_base::image::Image;
use locum_testing::images::png;

#[test]
fn a_session_that_is_decided_on_elsewhere_has_its_images_again() {
    let fixture = ActionFixture::new();
    let image = fixture.server.attach("/user-attachments/assets/1", None, &png(2, 3));
    let body = format!("/locum code hold it\n\n![]({image})");
    let step = fixture.step(&Ask::comment(&body));
    assert_eq!((step.code, step.output("outcome")), (Some(5), "on-hold"), "{step:?}");
    let hold = fixture.waiting(7);
    fixture.move_on(true);
    let approve = format!("/locum approve {hold}");
    let step = fixture.step(&Ask { ids: (56, 4343), ..Ask::comment(&approve) });
    assert_eq!((step.code, step.output("outcome")), (Some(0), "done"), "{step:?}");
    let session = Path::new(step.output("transcript-path")).parent().unwrap();
    let image = Image::parse(&png(2, 3)).unwrap();
    assert_eq!(std::fs::read(session.join("blobs").join(&image.hash)).unwrap(), png(2, 3));
}

#[test]
fn images_of_the_thread_are_shown_with_whose_they_are() {
    let fixture = ActionFixture::new();
    let server = &fixture.server;
    let mine = server.attach("/user-attachments/assets/1", None, &png(2, 3));
    let theirs = server.attach("/user-attachments/assets/2", None, &png(4, 3));
    let hidden = server.attach("/user-attachments/assets/3", None, &png(5, 3));
    let gone = mine.replace("assets/1", "assets/9");
    server.add_comment(
        7,
        "eve",
        "User",
        &format!("![the error]({theirs}) ![again]({theirs}) <!-- ![hidden]({hidden}) --> `![code]({hidden})`"),
    );
    server.add_comment(
        7,
        "eve",
        "User",
        &format!("![]({gone}) and ![](https://evil.example/pixel.png)"),
    );
    let body = format!("/locum code see the pictures\n\n<img alt=\"mine\" src=\"{mine}\">");
    let step = fixture.step(&Ask::comment(&body));
    assert_eq!((step.code, step.output("outcome")), (Some(0), "nothing-to-do"), "{step:?}");
    let fetched: Vec<String> = server
        .requests()
        .into_iter()
        .map(|request| request.path)
        .filter(|path| path.contains("assets"))
        .collect();
    let expected = ["1", "9", "2"].map(|name| format!("/user-attachments/assets/{name}"));
    assert_eq!(fetched, expected, "the comment that asks, then the latest first, each once");
    let said = fixture.stage.read("summary");
    for expected in [
        format!("the image `{gone}` is not shown: "),
        "the image `https://evil.example/pixel.png` is not shown: ".to_owned(),
    ] {
        assert_eq!(said.matches(&expected).count(), 1, "{expected} in {said}");
    }
}
