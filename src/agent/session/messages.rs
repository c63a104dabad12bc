//! What people write to a session while it works, and when they let it go on: each task at work
//! reads it before its next turn.
//!
//! In: messages from the thread a run belongs to (`receive`), or from another process, as files of
//! the session's folder (`send`), images beside them. Out: lines of the journal, from which a
//! resumed session knows which ones its tasks have read. The caller checks who may write.

#![expect(clippy::disallowed_methods, reason = "messages are files of the session's folder")]

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use locum_base::image::Image;

/// Most bytes of one message.
pub const MESSAGE_LIMIT_BYTES: usize = 16 * 1024;
/// Most messages that one session takes.
pub const MESSAGES_LIMIT: usize = 50;
/// Folder of a session with messages from other processes.
const MESSAGES_FOLDER: &str = "messages";

/// What a person wrote to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonMessage {
    /// Names it: the same message is taken once.
    pub id: String,
    /// Who wrote it.
    pub by: String,
    /// Their words.
    pub text: String,
    /// Images that belong to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

/// Where messages for a session arrive.
#[derive(Debug)]
pub struct Inbox {
    folder: PathBuf,
    received: RefCell<Vec<PersonMessage>>,
}

/// Why a message is not sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// Nothing, or too much.
    #[error("a message has 1 to {MESSAGE_LIMIT_BYTES} bytes")]
    Length,
    /// The session has as many as it takes.
    #[error("the session was sent {MESSAGES_LIMIT} messages, as many as one takes")]
    Full,
    /// It cannot be written.
    #[error("`{path}`: {source}")]
    Io {
        /// The file or folder.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Inbox {
    /// Makes the inbox of the session in a folder.
    pub fn of(session: &Path) -> Self {
        Self { folder: session.join(MESSAGES_FOLDER), received: RefCell::default() }
    }

    /// Takes a message in.
    pub fn receive(&self, message: PersonMessage) {
        self.received.borrow_mut().push(message);
    }

    /// Returns what arrived: messages of the folder each time, others once.
    pub(crate) fn take(&self) -> Vec<PersonMessage> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|file| file.extension().is_some_and(|ending| ending == "json"))
            .collect();
        files.sort();
        // One that cannot be read was not written by `send`.
        let sent = files
            .into_iter()
            .take(MESSAGES_LIMIT)
            .filter_map(|file| serde_json::from_slice(&std::fs::read(file).ok()?).ok());
        sent.chain(self.received.take()).collect()
    }

    /// Reads the images of a message: those that were sent with it as files.
    pub(crate) fn load_images(&self, message: &mut PersonMessage) {
        for image in &mut message.images {
            if let Ok(bytes) = std::fs::read(self.folder.join(&image.hash)) {
                *image = image.clone().with_content(&bytes);
            }
        }
    }
}

/// Sends a message to the session in a folder, which is at work.
///
/// # Errors
/// When it is empty, too long, one too many, or cannot be written.
pub fn send(session: &Path, message: &PersonMessage) -> Result<(), SendError> {
    if message.text.trim().is_empty() || message.text.len() > MESSAGE_LIMIT_BYTES {
        return Err(SendError::Length);
    }
    let folder = session.join(MESSAGES_FOLDER);
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source| SendError::Io { path, source }
    };
    std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let sent = std::fs::read_dir(&folder).map_err(failed(&folder))?;
    let is_message = |file: &Path| file.extension().is_some_and(|ending| ending == "json");
    if sent.flatten().filter(|file| is_message(&file.path())).count() >= MESSAGES_LIMIT {
        return Err(SendError::Full);
    }
    // Their images are there before the message is.
    for image in &message.images {
        let file = folder.join(&image.hash);
        std::fs::write(&file, image.content.bytes().unwrap_or_default()).map_err(failed(&file))?;
    }
    // A reader sees a whole file or none.
    let half = folder.join(format!("{}.part", message.id));
    let whole = folder.join(format!("{}.json", message.id));
    let text = serde_json::to_vec(message).unwrap_or_default();
    std::fs::write(&half, text).map_err(failed(&half))?;
    std::fs::rename(&half, &whole).map_err(failed(&whole))
}

#[cfg(test)]
mod tests {
    use super::{Inbox, MESSAGES_LIMIT, PersonMessage, SendError, send};
    use pretty_assertions::assert_eq;

    fn message(id: &str, text: &str) -> PersonMessage {
        let (id, by, text) = (id.to_owned(), "alice".to_owned(), text.to_owned());
        PersonMessage { id, by, text, images: Vec::new() }
    }

    #[test]
    fn messages_arrive_in_order_and_none_is_half() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::of(folder.path());
        assert_eq!(inbox.take(), []);
        send(folder.path(), &message("2", "second")).unwrap();
        send(folder.path(), &message("1", "first")).unwrap();
        std::fs::write(folder.path().join("messages/0.part"), "{").unwrap();
        std::fs::write(folder.path().join("messages/3.json"), "{").unwrap();
        inbox.receive(message("4", "from the thread"));
        let ids = |taken: Vec<PersonMessage>| -> Vec<String> {
            taken.into_iter().map(|message| message.id).collect()
        };
        assert_eq!(ids(inbox.take()), ["1", "2", "4"]);
        assert_eq!(ids(inbox.take()), ["1", "2"]);
    }

    #[test]
    fn empty_long_and_too_many_messages_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", " \n", &"x".repeat(super::MESSAGE_LIMIT_BYTES + 1)] {
            let refused = send(folder.path(), &message("1", text));
            assert!(matches!(refused, Err(SendError::Length)), "{text:.10}");
        }
        for number in 0..MESSAGES_LIMIT {
            send(folder.path(), &message(&number.to_string(), "more")).unwrap();
        }
        assert!(matches!(send(folder.path(), &message("x", "more")), Err(SendError::Full)));
    }
}
