//! `TaskModel`: a model as a task uses it, with what it costs and the models that may stand in for
//! it; and [`RunModels`], all that a run has.

use std::collections::BTreeMap;

use locum_base::tool::ToolName;
use locum_models::Model;
use locum_models::profile::{Price, ToolProtocol};
use locum_models::reply_bounds::ReplyBounds;
use locum_models::retry::RetryLimits;
use locum_models::tokens::Tokenizer;

/// A model as a task uses it.
#[derive(Clone, Copy)]
pub struct TaskModel<'a> {
    /// Sends requests and reads replies.
    pub model: &'a dyn Model,
    /// What it costs; `None` counts as nothing.
    pub price: Option<Price>,
    /// Opt-in tools its profile includes.
    pub included_tools: &'a [ToolName],
    /// Tokens it can read and write in one request.
    pub context_window: u32,
    /// Share of that, in percent, that a conversation fills before it is summed up.
    pub condense_percent: u32,
    /// How it calls tools.
    pub tool_protocol: ToolProtocol,
    /// True when it sees images.
    pub sees_images: bool,
    /// How its tokens are estimated.
    pub tokenizer: Tokenizer,
    /// How long its replies are.
    pub reply: ReplyBounds,
    /// The models that may stand in for it.
    pub fallbacks: &'a [Fallback],
}

/// A model that may stand in for another one.
#[derive(Clone, Debug)]
pub struct Fallback {
    /// Its label: replies name it by that.
    pub label: String,
    /// What it costs; `None` counts as nothing.
    pub price: Option<Price>,
    /// How its tokens are estimated.
    pub tokenizer: Tokenizer,
    /// Tokens it can read and write in one request.
    pub context_window: u32,
    /// How long its replies are.
    pub reply: ReplyBounds,
}

/// What a request to one model of a chain takes and gives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChainModel {
    /// What it costs; `None` counts as nothing.
    pub price: Option<Price>,
    /// Tokens it can read and write in one request.
    pub context_window: u32,
    /// How long its replies are.
    pub reply: ReplyBounds,
}

impl<'a> TaskModel<'a> {
    /// Returns it and the models that may stand in for it, in the order they are asked.
    pub fn chain(&self) -> impl Iterator<Item = ChainModel> + use<'a> {
        let Self { price, context_window, reply, fallbacks, .. } = *self;
        let fallbacks = fallbacks.iter().map(|fallback| ChainModel {
            price: fallback.price,
            context_window: fallback.context_window,
            reply: fallback.reply,
        });
        std::iter::once(ChainModel { price, context_window, reply }).chain(fallbacks)
    }

    /// Returns the place in that order of the model of this label; 0 for the model itself.
    pub fn place_of(&self, by: Option<&str>) -> usize {
        let place = |by: &str| self.fallbacks.iter().position(|fallback| fallback.label == by);
        by.and_then(place).map_or(0, |place| place + 1)
    }

    /// Returns what the model of this label costs that stood in for it, or what it costs itself.
    pub fn price_by(&self, by: Option<&str>) -> Option<Price> {
        match by {
            Some(by) => self.fallback(by).and_then(|fallback| fallback.price),
            None => self.price,
        }
    }

    /// Returns how the tokens of the model of this label are estimated that stood in for it, or its
    /// own.
    pub fn tokenizer_by(&self, by: Option<&str>) -> Tokenizer {
        by.and_then(|by| self.fallback(by)).map_or(self.tokenizer, |fallback| fallback.tokenizer)
    }

    fn fallback(&self, label: &str) -> Option<&'a Fallback> {
        self.fallbacks.iter().find(|fallback| fallback.label == label)
    }
}

/// The models of a run.
pub struct RunModels<'a> {
    /// Used by the root task.
    pub main: TaskModel<'a>,
    /// Used by sub-tasks.
    pub task: TaskModel<'a>,
    /// Sums conversations up; each task's own when absent.
    pub condense: Option<TaskModel<'a>>,
    /// Of modes that have one of their own, by slug.
    pub own: BTreeMap<String, TaskModel<'a>>,
    /// May be asked a question, by the names of their profiles.
    pub experts: BTreeMap<String, TaskModel<'a>>,
    /// Generates images, under the names in `RepositoryInstructions::image_models`; none when
    /// absent.
    pub image_model: Option<ImageModel<'a>>,
    /// How requests are tried again.
    pub retry: RetryLimits,
}

impl RunModels<'_> {
    /// Returns the labels of the models that modes have of their own, by slug.
    pub fn mode_labels(&self) -> BTreeMap<String, String> {
        let label =
            |(slug, own): (&String, &TaskModel<'_>)| (slug.clone(), own.model.label().to_owned());
        self.own.iter().map(label).collect()
    }

    /// Returns the label of the model that sums conversations up, where it is one of its own.
    pub fn condense_label(&self) -> Option<String> {
        self.condense.as_ref().map(|own| own.model.label().to_owned())
    }
}

/// The model that generates images.
#[derive(Clone, Copy)]
pub struct ImageModel<'a> {
    /// The names of its profile and of those that stand in for it.
    pub names: &'a [String],
    /// The model that is asked for images.
    pub model: TaskModel<'a>,
}

impl<'a> ImageModel<'a> {
    /// Returns the name of its profile.
    pub fn name(&self) -> &'a str {
        self.names.first().map_or("", String::as_str)
    }
}
