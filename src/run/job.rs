//! `Job`: a named maintenance task of the repository, read from `.locum/jobs/NAME.yml` of the
//! trusted ref.
//!
//! In: the file's text. Out: fixed steps (no model), a task (model), or steps with a task for when
//! one of them fails; and whether its time has come. It runs nothing.

use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use crate::run::error::RunError;
use crate::run::plan::RunSubject;
use crate::run::source::{FileSource, JOBS_FOLDER};
use crate::run::task_material::TaskAuthor;
use crate::run::unknown_mode::unknown_mode;
use locum_agent::tools::dispatch;
use locum_agent::tools::tool::ToolEffect;
use locum_base::text::counted;
use locum_base::tool::ToolName;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::rejection::Rejection;
use locum_files::section::{Mapping, Section};
use locum_files::shape::{AnyObject, AnyText, AtLeastOne, ExactNumber, ListOf, OneOf, ParsedText};
use locum_files::yaml::YamlDocument;
use locum_forge::alerts::{ALERT_SOURCES, AlertSource};
use locum_modes::access::{self, TaskPurpose, ToolOffer};
use locum_modes::prompts::PromptFile;
use locum_modes::{Mode, ModeSet};
use locum_policy::pull_request::{PullRequestOverrides, read_overrides};
use locum_policy::schema::Switching;

/// Most steps of one job.
pub const STEPS_LIMIT: usize = 100;

/// The jobs of a repository, each with its name where its file has mistakes.
pub struct JobFiles {
    /// Those whose files have none.
    pub sound: Vec<Job>,
    /// The others, with every mistake of theirs.
    pub broken: Vec<(String, RunError)>,
}

/// Reads every job of a repository.
///
/// # Errors
/// As [`read_files`]; also every mistake of the first job file that has any.
pub fn read_all(source: &FileSource<'_>) -> Result<Vec<Job>, RunError> {
    let JobFiles { sound, broken } = read_files(source)?;
    broken.into_iter().next().map_or(Ok(sound), |(_, error)| Err(error))
}

/// Reads every job of a repository, as far as their files can be read.
///
/// # Errors
/// As [`FileSource::texts`]; also a file that ends with `.yaml`.
pub fn read_files(source: &FileSource<'_>) -> Result<JobFiles, RunError> {
    let files = source.texts(&[JOBS_FOLDER], &|_| true)?;
    for path in files.iter().filter_map(|file| file.path.strip_suffix(".yaml")) {
        let right = format!("{path}.yml");
        if files.iter().all(|file| file.path != right) {
            source.misnamed(&right)?;
        }
    }
    let (mut sound, mut broken) = (Vec::new(), Vec::new());
    for PromptFile { path, text, .. } in &files {
        let name = Path::new(path).file_name().and_then(|name| name.to_str()?.strip_suffix(".yml"));
        let Some(name) = name else { continue };
        match Job::parse(name, text) {
            Ok(job) => sound.push(job),
            Err(mistakes) => broken.push((name.to_owned(), RunError::file(path, mistakes))),
        }
    }
    Ok(JobFiles { sound, broken })
}

/// A maintenance task of the repository.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its name: the file's name without the ending.
    pub name: String,
    /// One-line description for lists.
    pub description: Option<String>,
    /// When it runs by itself; in UTC.
    pub schedule: Option<Schedule>,
    /// The mode it runs in; the policy's default when absent.
    pub mode: Option<String>,
    /// Where its file names the mode.
    pub mode_place: Position,
    /// Steps, a task, or both.
    pub work: JobWork,
    /// What becomes of its pull request that is still open.
    pub on_open: OnOpen,
    /// Whose open alerts it is about; it is left out while there are none.
    pub alerts: Vec<AlertSource>,
    /// What its pull requests are given in place of what the policy says.
    pub pull_request: PullRequestOverrides,
}

/// What a job does about its pull request that is still open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnOpen {
    /// It does its work again and updates it.
    #[default]
    Update,
    /// It does nothing.
    Skip,
}

/// What a job does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobWork {
    /// Fixed calls, one after another; the first failure ends the job.
    Steps(Vec<FixedStep>),
    /// A task for a model.
    Task(String),
    /// Fixed calls; a task for a model only when one of them fails.
    StepsThenTask(Vec<FixedStep>, String),
}

/// One tool call that no model decides on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedStep {
    /// The tool it calls.
    pub tool: ToolName,
    /// Its arguments, a JSON object.
    pub arguments: serde_json::Value,
}

/// A cron expression: five fields, in UTC.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    text: String,
    cron: croner::Cron,
}

impl Schedule {
    /// Reads a cron expression.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parser = croner::parser::CronParser::builder()
            .seconds(croner::parser::Seconds::Disallowed)
            .year(croner::parser::Year::Disallowed)
            .build();
        let cron = parser.parse(text).map_err(|error| match out_of_bounds(text) {
            Some(problem) => format!("`{text}` is not a cron expression: {problem}"),
            None => format!("`{text}` is not a cron expression: {error}"),
        })?;
        if cron.find_next_occurrence(&utc(Timestamp::UNIX_EPOCH), true).is_err() {
            return Err(format!("`{text}` never comes: no month that it names has that day"));
        }
        Ok(Self { text: text.to_owned(), cron })
    }

    /// Returns the expression as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the last moment of this schedule at or before `moment`.
    pub fn last_at_or_before(&self, moment: Timestamp) -> Option<Timestamp> {
        self.cron.find_previous_occurrence(&utc(moment), true).ok().map(|found| found.timestamp())
    }

    /// Returns the first moment of this schedule after `moment`.
    pub fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        self.cron.find_next_occurrence(&utc(moment), false).ok().map(|found| found.timestamp())
    }

    /// Returns true when it has a moment after `from` and at or before `to`.
    pub fn has_moment(&self, from: Timestamp, to: Timestamp) -> bool {
        self.last_at_or_before(to).is_some_and(|found| found > from)
    }

    /// Returns the span that the latest run of this schedule answers for: after its moment before
    /// the last, up to its last. A workflow's own cron gives the span its run looks after, so that
    /// every moment of every job falls into exactly one run.
    pub fn last_span(&self, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let to = self.last_at_or_before(now)?;
        let from = self.cron.find_previous_occurrence(&utc(to), false).ok()?.timestamp();
        Some((from, to))
    }
}

impl Job {
    /// Returns the run's first message: the task, or what the fixed steps are.
    pub fn task_text(&self) -> String {
        let steps = |steps: &[FixedStep]| {
            format!("Job `{}`: {}.", self.name, counted(steps.len(), "fixed step"))
        };
        match &self.work {
            JobWork::Steps(list) => steps(list),
            JobWork::Task(task) => task.clone(),
            JobWork::StepsThenTask(list, task) => format!("{} When one fails: {task}", steps(list)),
        }
    }

    /// Returns what a run of it is about: its description names the change, else its own name.
    pub fn subject(&self) -> RunSubject {
        let described = self.description.as_deref().and_then(|text| text.trim().lines().next());
        let title = described.map_or_else(|| format!("Job {}", self.name), str::to_owned);
        let pull_request = self.pull_request.clone();
        RunSubject::Job { name: self.name.clone(), title, pull_request }
    }

    /// Says that the job's mode does not exist, or which step it cannot take first, with what to do
    /// about it. `of_policy` is the mode where the job names none.
    pub fn mistake_of_mode(&self, modes: &ModeSet, of_policy: &str) -> Option<Diagnostic> {
        if let Some(own) = self.mode.as_deref().filter(|own| modes.find(own).is_none()) {
            return Some(unknown_mode(&self.place_of_mode(), own, (modes, &[])));
        }
        let slug = self.mode.as_deref().unwrap_or(of_policy);
        unusable_step(&self.name, &self.work, modes, slug)
    }

    /// Returns the file and line that names the job's mode.
    pub fn place_of_mode(&self) -> String {
        format!("{JOBS_FOLDER}/{}.yml:{}", self.name, self.mode_place)
    }

    /// Returns whose words the task is in.
    pub fn words(&self) -> TaskAuthor {
        if matches!(self.work, JobWork::Steps(_)) { TaskAuthor::Program } else { TaskAuthor::Asker }
    }

    /// Returns the JSON Schema of a job file.
    pub fn schema() -> serde_json::Value {
        Section::describe(|section| read("", section))
    }

    /// Reads a job file.
    ///
    /// # Errors
    /// Every mistake at once.
    pub fn parse(name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let document = YamlDocument::parse(text);
        let mut mistakes = Diagnostics(document.mistakes);
        let job = document.root.as_ref().and_then(|root| {
            Section::read(root, "job", &mut mistakes, |section| read(name, section)).flatten()
        });
        match job {
            Some(job) if mistakes.0.is_empty() => Ok(job),
            _ => {
                if mistakes.0.is_empty() {
                    mistakes.add(Position::default(), "the file is empty");
                }
                Err(mistakes.finish(text))
            }
        }
    }
}

/// Returns the first step that calls a tool which the mode `slug` does not offer, with what to do
/// about it.
pub fn unusable_step(
    name: &str,
    work: &JobWork,
    modes: &ModeSet,
    slug: &str,
) -> Option<Diagnostic> {
    let (JobWork::Steps(steps) | JobWork::StepsThenTask(steps, _)) = work else { return None };
    // A mode that does not exist is another mistake, which the run reports.
    let mode = modes.find(slug)?;
    let offer = ToolOffer {
        switching: Switching::default(),
        may_delegate: false,
        purpose: TaskPurpose::Work,
        included: ToolName::ALL,
    };
    let offers = |mode: &Mode, step: &FixedStep| access::offered(mode, offer).contains(&step.tool);
    let (index, step) = steps.iter().enumerate().find(|(_, step)| !offers(mode, step))?;
    let able = modes.find("code").into_iter().chain(modes.iter());
    let hint = able.into_iter().find(|mode| offers(mode, step)).map_or_else(
        || "no mode offers it".to_owned(),
        |mode| format!("name a mode of the job that does, as in `mode: {}`", mode.slug),
    );
    let message =
        format!("step {} calls `{}`, which mode `{slug}` does not offer", index + 1, step.tool);
    Some(Diagnostic::about(format!("{JOBS_FOLDER}/{name}.yml"), message).hint(hint))
}

fn read(name: &str, section: &mut Section<'_>) -> Option<Job> {
    section.required("version", "Version of this format.", ExactNumber(1));
    let description = section.key("description", "What the job is for, in a line.", AnyText);
    let schedule = section.key(
        "schedule",
        "When it is due, as a cron expression of five fields, in UTC.",
        SCHEDULE,
    );
    let mode_place = section.place_of("mode");
    let mode = section.key("mode", "Mode of the run; the policy's default when absent.", AnyText);
    let about = "Fixed steps: no model is asked while they succeed.";
    let steps = section.key(
        "steps",
        about,
        ListOf { item: Mapping("step", read_step), least: 1, most: STEPS_LIMIT },
    );
    let task = section.key(
        "task",
        "Work for a model; beside `steps`, only when one of them fails.",
        AnyText,
    );
    let on_open = section.key(
        "on_open",
        "While the job's pull request is open: `update` does the work again, `skip` does nothing.",
        OneOf(&[("update", OnOpen::Update), ("skip", OnOpen::Skip)]),
    );
    let about = "Whose open alerts the task is about; without one the job is left out.";
    let alerts = section.key("alerts", about, AtLeastOne(OneOf(ALERT_SOURCES)));
    let alerts = alerts.unwrap_or_default();
    let about = "What its pull requests are given, in place of the same keys of the policy.";
    let publish = section.key("publish", about, Mapping("publish", read_overrides));
    let pull_request = publish.unwrap_or_default();
    section.at_least_one(&["steps", "task"], "with both, the task runs only when a step fails");
    let work = match (steps, task) {
        (Some(steps), Some(task)) => {
            JobWork::StepsThenTask(steps.into_iter().flatten().collect(), task)
        }
        (Some(steps), None) => JobWork::Steps(steps.into_iter().flatten().collect()),
        (None, Some(task)) => JobWork::Task(task),
        (None, None) => return None,
    };
    let on_open = on_open.unwrap_or_default();
    let name = name.to_owned();
    Some(Job { name, description, schedule, mode, mode_place, work, on_open, alerts, pull_request })
}

/// Fields of a cron expression, with the numbers each may hold.
const CRON_FIELDS: [(&str, u32, u32); 5] = [
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 7),
];

/// Names the first number that a field cannot hold.
fn out_of_bounds(text: &str) -> Option<String> {
    text.split_whitespace().zip(CRON_FIELDS).find_map(|(written, (field, least, most))| {
        let numbers = written.split([',', '-']).map(|part| part.split('/').next().unwrap_or(part));
        let mut wrong = numbers.filter_map(|part| part.parse::<u32>().ok());
        let number = wrong.find(|number| !(least..=most).contains(number))?;
        Some(format!("{number} is outside {least} to {most} in the field for the {field}"))
    })
}

const SCHEDULE: ParsedText<Schedule> = ParsedText {
    parse: |text| {
        let hint =
            "five fields in UTC: minute hour day-of-month month day-of-week, as in `0 3 * * 1`";
        Schedule::parse(text).map_err(|message| Rejection::from(message).hint(hint))
    },
    write: None,
    pattern: r"^\s*(\S+\s+){4}\S+\s*$|^\s*@\w+\s*$",
    example: "0 3 * * 1",
};

/// A step is `run: COMMAND`, or `tool` with `args`.
fn read_step(section: &mut Section<'_>) -> Option<FixedStep> {
    section.exactly_one(&["run", "tool"]);
    let command = section.key("run", "A command line, judged as `command(...)`.", AnyText);
    let words: Vec<(&str, ToolName)> = ToolName::ALL
        .iter()
        .filter(|tool| can_be_a_step(**tool))
        .map(|tool| (tool.as_str(), *tool))
        .collect();
    let tool = section.key("tool", "A tool that is called, in place of `run`.", OneOf(&words));
    let arguments = section.key("args", "The tool's arguments.", AnyObject);
    if section.has("run") && section.has("args") {
        section
            .wrong(section.place_of("args"), Rejection::from("`args` stands only beside `tool`"));
    }
    match (command, tool) {
        (Some(command), None) => Some(FixedStep {
            tool: ToolName::ExecuteCommand,
            arguments: serde_json::json!({ "command": command }),
        }),
        (None, Some(tool)) => {
            Some(FixedStep { tool, arguments: arguments.unwrap_or_else(|| serde_json::json!({})) })
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}

/// Tools that steer a conversation make no sense in a fixed list.
fn can_be_a_step(tool: ToolName) -> bool {
    dispatch::effect(tool) != ToolEffect::Steers
}

fn utc(moment: Timestamp) -> Zoned {
    moment.to_zoned(TimeZone::UTC)
}

#[cfg(test)]
mod tests;
