//! Images that tools come upon: shown to a model that sees, described to one that does not.
//!
//! In: bytes that begin as an image does. Out: an observation with the image, or a text that says
//! why there is none. Nothing is decoded, and no secret can be found in what an image shows; one
//! that holds a known secret as text is not shown.

use std::borrow::Cow;

use crate::tools::{Observation, ToolContext, VisionSupport};
use locum_base::image::Image;

/// Shows an image under a headline (`File: a.png`).
pub(crate) fn show(headline: &str, bytes: &[u8], context: ToolContext<'_>) -> Observation {
    let image = match Image::parse(bytes) {
        Ok(image) => image,
        Err(error) => {
            return Observation::said(format!("{headline}\nIt {error}; it is not shown."));
        }
    };
    if holds_secret(bytes, context) {
        return Observation::failed(format!(
            "{headline}\nIt is an {image}; it is not shown because a secret is written in its \
             bytes."
        ));
    }
    match context.vision {
        VisionSupport::Shown => {
            let text = format!("{headline}\nIt is an {image}; you see it with this answer.");
            Observation { images: vec![image], ..Observation::said(text) }
        }
        VisionSupport::Blind => Observation::said(format!(
            "{headline}\nIt is an {image}; this model does not see images."
        )),
        VisionSupport::OnCall => {
            Observation::said(format!("{headline}\nIt is an {image}; read_file shows it to you."))
        }
    }
}

pub(crate) fn holds_secret(bytes: &[u8], context: ToolContext<'_>) -> bool {
    matches!(context.run.redactor.plain_values().hide_bytes(bytes), Cow::Owned(_))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they are about")]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use crate::tools::fixture::ToolFixture;
    use crate::tools::{Observation, VisionSupport};
    use locum_testing::images::png;

    fn read(fixture: &ToolFixture, name: &str, bytes: &[u8]) -> Observation {
        std::fs::write(fixture.at(name), bytes).unwrap();
        fixture.call("read_file", &json!({ "path": name }).to_string())
    }

    #[test]
    fn a_model_that_sees_is_shown_images_whatever_their_names() {
        let mut fixture = ToolFixture::new(&[]);
        for name in ["a.png", "a.txt", "a"] {
            let seen = read(&fixture, name, &png(640, 480));
            assert_eq!(
                seen.text,
                format!(
                    "File: {name}\nIt is an image 640x480 png, 29 bytes; you see it with this \
                     answer."
                )
            );
            assert_eq!((seen.images.len(), seen.is_error), (1, false));
        }
        fixture.vision = VisionSupport::Blind;
        let observation = read(&fixture, "a.png", &png(640, 480));
        assert_eq!(
            (observation.text.contains("this model does not see images"), observation.images.len()),
            (true, 0)
        );
        fixture.vision = VisionSupport::OnCall;
        assert!(
            read(&fixture, "a.png", &png(640, 480)).text.ends_with("read_file shows it to you.")
        );
    }

    #[test]
    fn what_is_no_image_or_too_large_is_not_shown() {
        let fixture = ToolFixture::new(&[]);
        for (bytes, words) in [
            (png(9000, 10), "It is 9000x10, more than the 8000 pixels a side"),
            (png(10, 10)[..20].to_vec(), "It begins as a png but its header is broken"),
            (
                [png(10, 10), vec![0; 4_000_000]].concat(),
                "more than the 3750000 of an image that is shown",
            ),
            (b"\0<svg/>".to_vec(), "Binary file of 7 bytes"),
        ] {
            let observation = read(&fixture, "a.png", &bytes);
            assert!(
                observation.text.contains(words) && observation.images.is_empty(),
                "{}",
                observation.text
            );
        }
        let observation =
            read(&fixture, "a.png", &[png(10, 10), fixture.secret.as_bytes().to_vec()].concat());
        assert!(
            observation.is_error
                && observation.images.is_empty()
                && observation.text.contains("a secret is written in its bytes"),
            "{}",
            observation.text
        );
    }
}
