//! `CheckVerdict`: what a check comes to, in one word that programs read. Only runs that make a
//! check are offered it; anywhere else it means nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a check comes to, by its model's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// What it looked at is as it has to be.
    Pass,
    /// It is not.
    Fail,
    /// The check is not about what it looked at.
    Neutral,
}

impl CheckVerdict {
    /// Every verdict.
    const ALL: [Self; 3] = [Self::Pass, Self::Fail, Self::Neutral];

    /// Returns the word that models, journals and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Neutral => "neutral",
        }
    }

    /// Reads the word; nothing is guessed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let word = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }

    /// Adds the parameter of a check to the schema of the tool.
    pub(crate) fn add_to(parameters: &mut Value) {
        let words = Self::ALL.map(Self::as_str);
        let property = json!({
            "enum": words,
            "description": "Of a check: pass, fail, or neutral where it is not about this change",
        });
        let properties = parameters.get_mut("properties").and_then(Value::as_object_mut);
        if let Some(properties) = properties {
            properties.insert("verdict".to_owned(), property);
        }
    }
}
