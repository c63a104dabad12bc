//! What is said of a mode that does not exist.

use locum_files::diagnostic::Diagnostic;
use locum_files::fields::nearest;
use locum_modes::ModeSet;

/// Says that there is no mode of this name, and which there are: those of `runnable`, which the
/// policy lets run, where they are known. `origin` is where it was named.
pub fn unknown_mode(
    origin: &str,
    slug: &str,
    (modes, runnable): (&ModeSet, &[String]),
) -> Diagnostic {
    let mut known: Vec<&str> = modes.iter().map(|mode| mode.slug.as_str()).collect();
    if !runnable.is_empty() {
        known.retain(|slug| runnable.iter().any(|may| may == slug));
    }
    let near =
        nearest(slug, &known).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    Diagnostic::about(origin, format!("there is no mode `{slug}`"))
        .hint(format!("{near}known: {}", known.join(", ")))
}
