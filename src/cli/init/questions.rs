//! What `locum init` asks on a terminal: the provider, a model where it has no usual one, who may
//! start a run, what may be edited, which jobs are written along.
//!
//! In: the answers that flags gave, and a reader for the others. Out: choices. An empty line takes
//! what is proposed; a wrong one is asked again, a few times at most. The questions are a few lines
//! of text, so that no crate for terminals is needed.

use std::io::{self, BufRead, Write};

use crate::cli::init::edit_glob::edit_problem;
use crate::cli::init::model::{ModelHost, PROVIDERS, is_model_name};
use crate::cli::words::Word;
use locum_policy::actors::Tier;
use locum_policy::starter::jobs::JobRecipe;

/// Times a question is asked.
const TRIES: usize = 3;

/// The least that somebody has to be to start a run.
pub(super) const STARTERS: &[Word<Tier>] = &[
    ("maintainer", Tier::Maintainer, "people with write access"),
    ("collaborator", Tier::Collaborator, "those, and people with triage access"),
    ("contributor", Tier::Contributor, "those, and people who have contributed before"),
];

/// What flags and answers chose; what nobody chose is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InitChoices {
    pub(super) provider: Option<ModelHost>,
    pub(super) model: Option<String>,
    pub(super) start: Option<Tier>,
    pub(super) edits: Vec<String>,
    pub(super) jobs: Vec<JobRecipe>,
}

/// What is proposed where an answer is empty.
pub(super) struct ProposedAnswers<'a> {
    pub(super) provider: &'a str,
    /// Globs of the edits that the repository's folders lead to.
    pub(super) edits: &'a [String],
    /// Jobs that fit the repository.
    pub(super) jobs: &'a [Word<JobRecipe>],
}

/// Asks for what no flag chose.
///
/// # Errors
/// When the terminal cannot be read or written.
pub(super) fn ask(
    mut chosen: InitChoices,
    proposed: &ProposedAnswers<'_>,
    reader: &mut impl BufRead,
    writer: &mut impl Write,
) -> io::Result<InitChoices> {
    if chosen.provider.is_none() {
        let about = "Which provider of models does the workflow ask?";
        let word = one_of(about, PROVIDERS, proposed.provider, (reader, writer))?;
        // What the environment shows is chosen by whoever looks at it.
        chosen.provider = word.filter(|(name, _)| *name != proposed.provider).map(|(_, host)| host);
        let needs_one = chosen.provider.is_some_and(ModelHost::has_no_usual_model);
        if needs_one && chosen.model.is_none() {
            chosen.model = model(reader, writer)?;
        }
    }
    if chosen.start.is_none() {
        let about = "Who may start a run?";
        chosen.start =
            one_of(about, STARTERS, "maintainer", (reader, writer))?.map(|(_, tier)| tier);
    }
    if chosen.edits.is_empty() {
        chosen.edits = globs(proposed.edits, reader, writer)?;
    }
    if chosen.jobs.is_empty() {
        chosen.jobs = some_of(proposed.jobs, reader, writer)?;
    }
    Ok(chosen)
}

/// Asks for a model; `None` where the input ends or no answer is the name of one.
fn model(reader: &mut impl BufRead, writer: &mut impl Write) -> io::Result<Option<String>> {
    writeln!(writer, "Which model? This provider has no usual one: give the name that it uses.")?;
    for _ in 0..TRIES {
        write!(writer, "> ")?;
        writer.flush()?;
        let Some(answer) = line(reader)? else { return Ok(None) };
        if is_model_name(&answer) {
            return Ok(Some(answer));
        }
        writeln!(writer, "`{answer}` is not the name of a model.")?;
    }
    Ok(None)
}

/// Asks for globs; none where what is proposed is taken, or no answer holds globs alone.
fn globs(
    proposed: &[String],
    reader: &mut impl BufRead,
    writer: &mut impl Write,
) -> io::Result<Vec<String>> {
    let proposal = proposed.join(" ");
    writeln!(writer, "Which files may a run edit? Globs with spaces between them.")?;
    for _ in 0..TRIES {
        write!(writer, "[{proposal}] ")?;
        writer.flush()?;
        let answer = line(reader)?.unwrap_or_default();
        let words = answer.split([' ', ',']).filter(|glob| !glob.is_empty());
        let globs: Vec<String> = words.map(str::to_owned).collect();
        let problem = globs.iter().find_map(|glob| edit_problem(glob));
        match problem {
            None => return Ok(globs),
            Some(problem) => writeln!(writer, "{problem}.")?,
        }
    }
    writeln!(writer, "It is what is proposed.")?;
    Ok(Vec::new())
}

/// Asks for jobs; none where the input ends or no answer names jobs alone.
fn some_of(
    jobs: &[Word<JobRecipe>],
    reader: &mut impl BufRead,
    writer: &mut impl Write,
) -> io::Result<Vec<JobRecipe>> {
    writeln!(writer, "Which jobs does it do by itself? Names with spaces between them.")?;
    for (name, _, about) in jobs {
        writeln!(writer, "  {name:<20}{about}")?;
    }
    for _ in 0..TRIES {
        write!(writer, "[none] ")?;
        writer.flush()?;
        let answer = line(reader)?.unwrap_or_default();
        let words = answer.split([' ', ',']).filter(|word| !matches!(*word, "" | "none"));
        let found = |word: &str| jobs.iter().find(|(name, ..)| *name == word);
        match words.map(|word| found(word).map(|(_, job, _)| *job).ok_or(word)).collect() {
            Ok(chosen) => return Ok(chosen),
            Err(word) => writeln!(writer, "`{word}` is none of them.")?,
        }
    }
    writeln!(writer, "It does none.")?;
    Ok(Vec::new())
}

/// Asks for one of several words; `None` where the input ends or no answer is one of them.
fn one_of<T: Copy>(
    about: &str,
    words: &'static [Word<T>],
    proposed: &str,
    (reader, writer): (&mut impl BufRead, &mut impl Write),
) -> io::Result<Option<(&'static str, T)>> {
    writeln!(writer, "{about}")?;
    for (word, _, means) in words {
        writeln!(writer, "  {word:<13}{means}")?;
    }
    for _ in 0..TRIES {
        write!(writer, "[{proposed}] ")?;
        writer.flush()?;
        let Some(answer) = line(reader)? else { return Ok(None) };
        let answer = if answer.is_empty() { proposed } else { answer.as_str() };
        if let Some((word, value, _)) = words.iter().find(|(word, ..)| *word == answer) {
            return Ok(Some((word, *value)));
        }
        writeln!(writer, "`{answer}` is none of them.")?;
    }
    writeln!(writer, "It is `{proposed}`.")?;
    Ok(None)
}

/// Reads one line without the blanks around it; `None` at the end of the input.
fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = reader.read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{InitChoices, ProposedAnswers, ask};
    use crate::cli::init::model::PROVIDERS;
    use locum_policy::actors::Tier;
    use locum_policy::starter::jobs::{JOBS, JobRecipe};
    use pretty_assertions::assert_eq;

    fn asked(chosen: InitChoices, answers: &str) -> (InitChoices, String) {
        let mut written = Vec::new();
        let edits = ["src/**".to_owned(), "tests/**".to_owned()];
        let proposed = ProposedAnswers { provider: "openai", edits: &edits, jobs: JOBS };
        let chosen = ask(chosen, &proposed, &mut answers.as_bytes(), &mut written).unwrap();
        (chosen, String::from_utf8(written).unwrap())
    }

    #[test]
    fn each_question_is_asked_once_and_an_empty_line_takes_what_is_proposed() {
        let (chosen, written) = asked(InitChoices::default(), "\n\n\n\n");
        let expected = InitChoices { start: Some(Tier::Maintainer), ..InitChoices::default() };
        assert_eq!(chosen, expected);
        for part in ["[openai] ", "[maintainer] ", "[src/** tests/**] ", "[none] "] {
            assert_eq!(written.matches(part).count(), 1, "{part}: {written}");
        }
    }

    #[test]
    fn answers_are_taken_and_a_wrong_one_is_asked_again() {
        let (chosen, written) = asked(
            InitChoices::default(),
            "nope\ngemini\ncollaborator\nlib/** test/**\nnightly\nrelease-notes, \
             dependency-updates\n",
        );
        let gemini =
            PROVIDERS.iter().find(|(word, ..)| *word == "gemini").map(|(_, host, _)| *host);
        let expected = InitChoices {
            provider: gemini,
            model: None,
            start: Some(Tier::Collaborator),
            edits: vec!["lib/**".to_owned(), "test/**".to_owned()],
            jobs: vec![JobRecipe::ReleaseNotes, JobRecipe::DependencyUpdates],
        };
        assert_eq!(chosen, expected);
        assert!(written.contains("`nightly` is none of them."), "{written}");
        assert!(written.contains("`nope` is none of them."), "{written}");
    }

    #[test]
    fn answers_are_held_to_what_flags_are_and_asked_again() {
        let (chosen, written) = asked(
            InitChoices::default(),
            "azure\nmine: all\nazure:\nmine\n\n/etc\n.github/**\nlib/**\n\n",
        );
        assert_eq!(chosen.model.as_deref(), Some("mine"));
        assert_eq!(chosen.edits, ["lib/**"]);
        for part in [
            "Which model?",
            "`mine: all` is not the name of a model.",
            "`azure:` is not the name of a model.",
            "`/etc` is not a glob of files.",
            "`.github/**` opens nothing",
        ] {
            assert!(written.contains(part), "{part}: {written}");
        }
        // Without a good answer it is what was proposed.
        let (chosen, written) = asked(InitChoices::default(), "\n\n/a\n/b\n/c\n\n");
        assert_eq!(chosen.edits, [""; 0]);
        assert!(written.contains("It is what is proposed.") && !written.contains("Which model"));
        // A provider whose model is known, or named by a flag, needs no question.
        let (chosen, written) = asked(InitChoices::default(), "gemini\n\n\n\n");
        assert_eq!((chosen.model, written.contains("Which model")), (None, false));
        let given = InitChoices { model: Some("m".to_owned()), ..InitChoices::default() };
        let (chosen, written) = asked(given, "bedrock\n\n\n\n");
        assert_eq!((chosen.model.as_deref(), written.contains("Which model")), (Some("m"), false));
    }

    #[test]
    fn what_a_flag_gave_is_not_asked_and_the_end_of_the_input_is_no_answer() {
        let given = InitChoices {
            start: Some(Tier::Maintainer),
            edits: vec!["a/**".to_owned()],
            jobs: vec![JobRecipe::SecurityAlerts],
            ..InitChoices::default()
        };
        let (chosen, written) = asked(given.clone(), "");
        assert_eq!(chosen, given);
        assert!(!written.contains("Who may start"), "{written}");
        assert!(!written.contains("Which jobs"), "{written}");
    }
}
