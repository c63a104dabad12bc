//! What a chosen model costs where a repository chose its model or its price: never less than the
//! catalogue lists.
//!
//! In: a profile, what it can take and costs, which of its settings the repository wrote. Out: the
//! same with the price that counts, and a note where that is another one. The user's own settings
//! say what they like: their budget is what it protects.

use std::collections::BTreeSet;

use crate::catalogue::{Catalogue, LimitSource, LimitSources, ModelLimits};
use crate::profile::Profile;

/// Returns what a model can take and costs, and a note where the repository prices it below the
/// catalogue.
pub(super) fn guarded_limits(
    catalogue: &Catalogue,
    name: &str,
    profile: &Profile,
    from_repository: &BTreeSet<String>,
) -> (ModelLimits, Option<String>) {
    let limits = catalogue.limits(profile);
    let (model, price) = (format!("profiles.{name}.model"), format!("profiles.{name}.price."));
    let chooses = |setting: &String| *setting == model || setting.starts_with(&price);
    let is_by_repository = from_repository.iter().any(chooses);
    let listed = catalogue.limits(&Profile { price: None, ..profile.clone() }).price;
    let Some((said, listed)) = limits.price.zip(listed).filter(|_| is_by_repository) else {
        return (limits, None);
    };
    let kept = said.at_least(listed);
    if kept == said {
        return (limits, None);
    }
    let sources = LimitSources { price: LimitSource::Catalogue, ..limits.sources };
    let note = format!(
        "the repository's configuration has model `{}` at a price below the catalogue of {}: the \
         higher price counts; set `model` and `price` in your own configuration if yours is lower",
        profile.model, catalogue.date
    );
    (ModelLimits { price: Some(kept), sources, ..limits }, Some(note))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::guarded_limits;
    use crate::catalogue::{Catalogue, LimitSource};
    use crate::profile::{Price, Profile};

    const FREE: Price =
        Price { input: 0.0, output: 0.0, cached_read: None, cached_write: None, above: None };

    fn limits(
        model: &str,
        price: Price,
        by_repository: &[&str],
    ) -> (Option<Price>, LimitSource, bool) {
        let profile = Profile { price: Some(price), ..Profile::new(model) };
        let by_repository: BTreeSet<String> =
            by_repository.iter().map(|setting| (*setting).to_owned()).collect();
        let catalogue = Catalogue::built_in().unwrap();
        let (limits, note) = guarded_limits(&catalogue, "p", &profile, &by_repository);
        (limits.price, limits.sources.price, note.is_some())
    }

    #[test]
    fn a_repository_prices_no_known_model_below_the_catalogue() {
        let both = ["profiles.p.price.input", "profiles.p.price.output"];
        let (kept, source, is_noted) = limits("claude-opus-5-5", FREE, &both);
        let kept = kept.unwrap();
        assert_eq!((kept.input, kept.output), (4.0, 20.0));
        assert_eq!((kept.cached_read, kept.cached_write), (Some(0.2), Some(5.0)));
        assert_eq!((source, is_noted), (LimitSource::Catalogue, true));
        // Nor long requests to it alone; what is dearer anyway stays as it is written.
        let short = Price { input: 9.0, output: 90.0, ..FREE };
        let unchanged = (Some(short), LimitSource::Profile, false);
        assert_eq!(limits("gemini-2.5-pro", short, &both), unchanged);
        let listed = Price { input: 1.25, output: 10.0, ..FREE };
        let (kept, _, is_noted) = limits("gemini-2.5-pro", listed, &both);
        assert_eq!((kept.unwrap().of_request(200_001).input, is_noted), (2.5, true));
    }

    #[test]
    fn a_person_says_what_a_model_costs_and_so_does_a_repository_of_one_that_is_not_listed() {
        let own = Some(FREE);
        assert_eq!(limits("claude-opus-5-5", FREE, &[]), (own, LimitSource::Profile, false));
        let of_another = ["profiles.q.price.input", "profiles.q.model", "profiles.p.effort"];
        assert_eq!(
            limits("claude-opus-5-5", FREE, &of_another),
            (own, LimitSource::Profile, false)
        );
        // The price was that of the user's own model.
        let (kept, source, is_noted) = limits("claude-opus-5-5", FREE, &["profiles.p.model"]);
        assert_eq!((kept.unwrap().input, source, is_noted), (4.0, LimitSource::Catalogue, true));
        let by_repository = ["profiles.p.price.input"];
        assert_eq!(limits("my-own", FREE, &by_repository), (own, LimitSource::Profile, false));
        let dear = Price { input: 40.0, output: 200.0, ..FREE };
        assert_eq!(
            limits("claude-opus-5-5", dear, &by_repository),
            (Some(dear), LimitSource::Profile, false)
        );
    }
}
