//! The models that work for a tool: one that generates images, one that embeds texts.
//!
//! In: settings. Out: a choice, or why the tool has to do without.

use crate::resolve::{ChosenModel, ModelResolver, ProfileError, wrong_profile};

impl ModelResolver<'_> {
    /// Chooses the image model: a protocol in which no image can be returned is refused.
    pub(super) fn image_model(&self) -> Result<Option<ChosenModel>, ProfileError> {
        let chosen = self.pointed("image", &self.settings.pointers.image)?;
        let every = chosen.iter().flat_map(|first| std::iter::once(first).chain(&first.fallbacks));
        match every.into_iter().find(|chosen| !chosen.profile.provider.gives_images()) {
            Some(ChosenModel { name, profile, .. }) => {
                let problem = format!(
                    "`pointers.image` names it, and no model gives pictures by `provider: {}`",
                    profile.provider.as_str()
                );
                Err(wrong_profile(name, problem))
            }
            None => Ok(chosen),
        }
    }

    /// Chooses the embedding model: one, as vectors of two cannot be compared.
    pub(super) fn embedding_model(&self) -> Result<Option<ChosenModel>, ProfileError> {
        let names = &self.settings.pointers.embed;
        if let [_, other, ..] = names.0.as_slice() {
            let problem = "`pointers.embed` names it as a fallback, and vectors of two models \
                           cannot be compared; name one profile";
            return Err(wrong_profile(other, problem.to_owned()));
        }
        for name in &names.0 {
            let profile = self.settings.profiles.get(name);
            let provider = profile.map(|profile| self.of_its_maker(profile).provider);
            if let Some(provider) = provider.filter(|provider| !provider.embeds()) {
                let problem = format!(
                    "`pointers.embed` names it, and no model embeds texts by `provider: {}`; \
                     `openai`, `openai-responses`, `azure` and `gemini` do",
                    provider.as_str()
                );
                return Err(wrong_profile(name, problem));
            }
        }
        self.pointed("embed", names)
    }
}
