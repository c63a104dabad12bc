//! Reads `publish`: what is published and how.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::command::{change_of_folder, word};
use crate::intent::PUBLICATIONS;
use crate::pull_request::read_details;
use crate::schema::{CommitSigner, Notify, PublishAs, PublishForm, PublishForms, PublishRules};
use locum_base::path::RepoPath;
use locum_files::fields::Diagnostics;
use locum_files::rejection::Rejection;
use locum_files::section::{Mapping, Section};
use locum_files::shape::{Boolean, MapOf, OneOf, OneOrMany, ParsedText, Shape};
use locum_files::yaml::YamlNode;

pub(super) fn publish(section: &mut Section<'_>) -> PublishRules {
    let mut found = PublishRules::default();
    section.set(
        "allow",
        "What may be published.",
        OneOrMany(OneOf(PUBLICATIONS)),
        &mut found.allow,
    );
    section.set(
        "as",
        "What a change becomes; one word, or one each for `issues`, `pull-requests` and `modes`.",
        EitherForm,
        &mut found.publish_as,
    );
    section.set(
        "branch",
        "Name of new branches; `{subject}` has to be in it, `{slug}` may be.",
        BRANCH,
        &mut found.branch,
    );
    section.set("draft", "Whether pull requests start as drafts.", Boolean, &mut found.draft);
    read_details(section, &mut found.details);
    let about = "Whether the pull request of an issue says `Closes #N`.";
    section.set("close_issues", about, Boolean, &mut found.close_issues);
    let about = "Who makes published commits: git, unsigned, or the forge through its API, which \
                 signs them.";
    section.set(
        "sign",
        about,
        OneOf(&[("git", CommitSigner::Git), ("api", CommitSigner::Api)]),
        &mut found.sign,
    );
    section.set(
        "notify",
        "Who the comment of a run mentions, once it is over.",
        OneOf(&[("asker", Notify::Asker), ("nobody", Notify::Nobody)]),
        &mut found.notify,
    );
    let about =
        "Commands that must end with 0; else a pull request is a draft, and a commit is not made.";
    section.set("success", about, OneOrMany(SUCCESS), &mut found.success);
    found
}

const FORMS: &[(&str, PublishForm)] = &[
    ("pull-request", PublishForm::PullRequest),
    ("commit", PublishForm::Commit),
    ("review", PublishForm::Review),
    ("comment", PublishForm::Comment),
];

/// What an issue's change may become: there is nothing to review.
const ISSUE_FORMS: &[(&str, PublishForm)] = &[
    ("pull-request", PublishForm::PullRequest),
    ("commit", PublishForm::Commit),
    ("comment", PublishForm::Comment),
];

/// One word for everything, or a word for each place.
struct EitherForm;

impl EitherForm {
    fn each(section: &mut Section<'_>) -> PublishAs {
        let mut forms = PublishForms::default();
        section.set(
            "issues",
            "For an issue, by hand and in jobs.",
            OneOf(ISSUE_FORMS),
            &mut forms.issues,
        );
        let about = "On a pull request; `pull-request` opens one of its own against its branch.";
        section.set("pull-requests", about, OneOf(FORMS), &mut forms.pull_requests);
        let about = "In these modes, by slug, in place of the two.";
        let modes = section.key("modes", about, MapOf(OneOf(FORMS))).unwrap_or_default();
        PublishAs { otherwise: forms, modes }
    }
}

impl Shape for EitherForm {
    type Value = PublishAs;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<PublishAs> {
        match node.entries() {
            Some(_) => Mapping("as", Self::each).read(node, what, mistakes),
            None => OneOf(FORMS).read(node, what, mistakes).map(of_word),
        }
    }

    fn schema(&self) -> Json {
        json!({ "anyOf": [OneOf(FORMS).schema(), Mapping("as", Self::each).schema()] })
    }

    fn written(&self, forms: &PublishAs) -> Option<Json> {
        FORMS.iter().find(|(_, form)| of_word(*form) == *forms).map(|(word, _)| json!(word))
    }
}

fn of_word(form: PublishForm) -> PublishAs {
    PublishAs { otherwise: PublishForms::of(form), modes: BTreeMap::new() }
}

const SUCCESS: ParsedText<String> = ParsedText {
    parse: |text| {
        let command = match change_of_folder(text) {
            Some((folder, command)) if RepoPath::parse(folder).is_ok() => command,
            Some(_) | None => text,
        };
        match word::split(command) {
            Ok(words) if !words.is_empty() => Ok(text.to_owned()),
            Ok(_) => Err(Rejection::from("a success command is empty")),
            Err(message) => Err(Rejection::from(message)
                .hint("`cd FOLDER && COMMAND` runs one command in a folder of the repository")),
        }
    },
    write: Some(String::clone),
    pattern: r"\S",
    example: "cargo test --offline",
};

/// A branch template must not be able to name a branch of the project's own.
const BRANCH: ParsedText<String> = ParsedText {
    parse: |text| {
        let filled = text.replace("{subject}", "s").replace("{slug}", "s");
        let good = text.contains("{subject}")
            && filled.chars().all(|letter| {
                letter.is_ascii_alphanumeric() || matches!(letter, '/' | '-' | '_' | '.')
            });
        let git_accepts = !filled.contains("..")
            && !filled.contains("//")
            && !filled.starts_with(['/', '-', '.'])
            && !filled.ends_with(['/', '.']);
        let why = || Rejection::from(format!("`{text}` is not a branch template"));
        let hint = "for example `locum/{subject}-{slug}`; `{subject}` must be in it";
        (good && git_accepts).then(|| text.to_owned()).ok_or_else(|| why().hint(hint))
    },
    write: Some(String::clone),
    pattern: r"^[A-Za-z0-9/._{}-]*\{subject\}[A-Za-z0-9/._{}-]*$",
    example: "locum/{subject}-{slug}",
};
