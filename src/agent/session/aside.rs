//! What a task is told besides the answers to its calls, each thing once: what people write to it,
//! the rules files of folders it works in, and that its budget runs low or ends.
//!
//! In: the paths its permitted calls were about. Out: reminders in the journal. Rules files are
//! those of the trusted commit, whatever the checkout holds; those of the root are in the system
//! prompt.

use std::borrow::Cow;

use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::messages::{MESSAGE_LIMIT_BYTES, MESSAGES_LIMIT, PersonMessage};
use crate::session::stop::Stop;
use crate::session::task::nudges::{BUDGET_ENDS, BUDGET_LOW, CHANGES_FULL};
use locum_base::id::TaskId;
use locum_base::image::Image;
use locum_base::path::RepoPath;
use locum_base::text::head;
use locum_modes::access::TaskPurpose;
use locum_modes::prompts::reminders;
use locum_policy::intent::Intent;

/// Names of rules files below the root; of one folder only the first that is there.
const NAMES: &[&str] = &["AGENTS.md", "CLAUDE.md"];
/// Most bytes shown of one.
const SHOWN_LIMIT_BYTES: usize = 16 * 1024;
/// Largest one that is read.
const FILE_LIMIT_BYTES: u64 = 1024 * 1024;
/// Most of them shown to one task.
const FILES_LIMIT: usize = 16;

impl Session<'_> {
    /// Notes which paths a permitted call is about.
    pub(crate) fn note_paths(&mut self, id: TaskId, intents: &[Intent]) {
        let paths = intents.iter().filter_map(|intent| {
            if let Intent::Read(path) | Intent::Edit(path) = intent {
                Some((id, path.clone()))
            } else {
                None
            }
        });
        self.paths_in_play.extend(paths);
    }

    /// Sends a task what it has to know before its next turn.
    pub(crate) fn tell_asides(&mut self, id: TaskId) -> Result<(), Stop> {
        let own: Vec<(TaskId, RepoPath)> =
            self.paths_in_play.extract_if(.., |(task, _)| *task == id).collect();
        for (_, path) in own {
            for folder in folders_above(&path) {
                self.tell_rules(id, &folder)?;
            }
        }
        self.tell_budget(id)
    }

    /// Tells a task once that its budget runs low, once that it has to end, and once that it may
    /// change no more.
    fn tell_budget(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.task(id)?;
        if task.purpose == TaskPurpose::Decide {
            return Ok(());
        }
        let (budget, spent) = (&task.budgeting.budget, &task.budgeting.spent);
        let (ending, full) =
            (budget.ending(spent, &task.end_reserve()), budget.changes_full(spent));
        let about = match (ending, full, budget.low(spent)) {
            (Some(left), ..) => Some((BUDGET_ENDS, reminders::budget_ends(&left))),
            (None, Some(used), _) => Some((CHANGES_FULL, reminders::changes_full(&used))),
            (None, None, Some(used)) => Some((BUDGET_LOW, reminders::budget_low(&used))),
            (None, None, None) => None,
        };
        match about.filter(|(about, _)| !task.nudges.reminded_of.contains(*about)) {
            Some((about, text)) => self.tell(id, about, text),
            None => Ok(()),
        }
    }

    /// Gives a task what people wrote that it has not read. Returns whether there was something.
    pub(crate) fn read_messages(&mut self, id: TaskId) -> Result<bool, Stop> {
        for mut message in self.parts.inbox.take() {
            let known = &self.state.messages;
            if known.len() >= MESSAGES_LIMIT || known.iter().any(|known| known.id == message.id) {
                continue;
            }
            let text = head(message.text.trim(), MESSAGE_LIMIT_BYTES);
            let mut text = self.parts.run.redactor.redact(text);
            self.parts.inbox.load_images(&mut message);
            let sent = message.images.len();
            message.images.retain(|image| self.may_be_kept(image));
            text.push_str(&reminders::images_not_shown(sent - message.images.len()));
            let by = self.parts.run.redactor.redact(&message.by);
            self.emit(Event::MessageReceived { message: PersonMessage { text, by, ..message } })?;
        }
        let task = self.task(id)?;
        if task.purpose == TaskPurpose::Decide {
            return Ok(false);
        }
        let unread = self.state.messages.get(task.messages_read..).unwrap_or_default().to_vec();
        for PersonMessage { id: message, by, text, images } in &unread {
            let (mut text, mut images) = (reminders::message_from_person(by, text), images.clone());
            let task = self.task(id)?;
            if self.model_of(task).sees_images {
                let left_out = task.leave_out_images(&mut images);
                text.push_str(&reminders::images_shown(&images));
                text.push_str(&left_out);
            } else {
                text.push_str(&reminders::images_not_shown(images.len()));
                images.clear();
            }
            self.emit(Event::MessageRead { task: id, message: message.clone(), text, images })?;
        }
        Ok(!unread.is_empty())
    }

    /// Whether the bytes of an image are there and hold no secret.
    fn may_be_kept(&self, image: &Image) -> bool {
        let hidden = |bytes| self.parts.run.redactor.plain_values().hide_bytes(bytes);
        image.content.bytes().is_some_and(|bytes| matches!(hidden(bytes), Cow::Borrowed(_)))
    }

    fn tell_rules(&mut self, id: TaskId, folder: &RepoPath) -> Result<(), Stop> {
        let task = self.task(id)?;
        if task.nudges.reminded_of.contains(folder.as_str())
            || task.nudges.reminded_of.len() > FILES_LIMIT
        {
            return Ok(());
        }
        let file = NAMES.iter().find_map(|name| {
            let path = folder.join(name).ok()?;
            // One that cannot be read is as good as none: it only adds to what the task knows.
            let file = self
                .parts
                .workspace
                .repo
                .file_at(self.parts.trusted, &path, FILE_LIMIT_BYTES)
                .ok()??;
            (!file.text.trim().is_empty()).then_some((path, file.text))
        });
        let Some((path, text)) = file else { return Ok(()) };
        self.tell(
            id,
            folder.as_str(),
            reminders::rules_nearby(
                path.as_str(),
                folder.as_str(),
                head(text.trim(), SHOWN_LIMIT_BYTES),
            ),
        )
    }

    fn tell(&mut self, id: TaskId, about: &str, text: String) -> Result<(), Stop> {
        let text = self.parts.run.redactor.redact(&text);
        self.emit(Event::Reminded { task: id, text, mistake: false, about: Some(about.to_owned()) })
    }
}

/// Returns a path and the folders above it, the uppermost first, without the root. A file's own
/// path names no folder and finds nothing.
fn folders_above(path: &RepoPath) -> Vec<RepoPath> {
    let parts: Vec<&str> = path.parts().collect();
    (1..=parts.len())
        .filter_map(|count| RepoPath::parse(&parts.get(..count)?.join("/")).ok())
        .collect()
}
