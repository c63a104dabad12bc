//! One of each kind of model that a run uses, whatever stands for a model: a choice, a prepared
//! model, its capacity.

use std::convert::Infallible;

/// The models of a run.
#[derive(Default)]
pub struct ModelSet<M> {
    /// Of the root task.
    pub main: M,
    /// Of sub-tasks.
    pub task: M,
    /// Sums conversations up.
    pub condense: Option<M>,
    /// Of modes that have one of their own, by slug.
    pub own: Vec<(String, M)>,
    /// That may be asked a question, by profile.
    pub experts: Vec<(String, M)>,
    /// That generates images.
    pub image: Option<M>,
}

impl<M> ModelSet<M> {
    /// Returns every one.
    pub fn each(&self) -> impl Iterator<Item = &M> {
        let named = self.own.iter().chain(&self.experts).map(|(_, model)| model);
        [&self.main, &self.task].into_iter().chain(&self.condense).chain(named).chain(&self.image)
    }

    /// Returns the same models, borrowed.
    pub fn as_ref(&self) -> ModelSet<&M> {
        ModelSet {
            main: &self.main,
            task: &self.task,
            condense: self.condense.as_ref(),
            own: self.own.iter().map(|(slug, model)| (slug.clone(), model)).collect(),
            experts: self.experts.iter().map(|(name, model)| (name.clone(), model)).collect(),
            image: self.image.as_ref(),
        }
    }

    /// Makes something else of every one.
    pub fn map<N>(self, mut make: impl FnMut(M) -> N) -> ModelSet<N> {
        let Ok(made) = self.try_map(|model| Ok::<N, Infallible>(make(model)));
        made
    }

    /// Makes something else of every one, until that fails.
    ///
    /// # Errors
    /// The first failure.
    pub fn try_map<N, E>(self, mut make: impl FnMut(M) -> Result<N, E>) -> Result<ModelSet<N>, E> {
        let mut each = |named: Vec<(String, M)>| -> Result<Vec<(String, N)>, E> {
            named.into_iter().map(|(name, model)| Ok((name, make(model)?))).collect()
        };
        let (own, experts) = (each(self.own)?, each(self.experts)?);
        Ok(ModelSet {
            own,
            experts,
            main: make(self.main)?,
            task: make(self.task)?,
            condense: self.condense.map(&mut make).transpose()?,
            image: self.image.map(&mut make).transpose()?,
        })
    }
}
