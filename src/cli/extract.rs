//! The process that reads documents: this program, called with one hidden word by itself.
//!
//! In: a request on its input. Out: the answer on its output. Before it takes the first byte it
//! gives up everything but its memory and its pipes.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};

use locum_extract::request::{PROCESS_WORD, REQUEST_LIMIT_BYTES};
use locum_sandbox::exec::confined;

/// Is that process where the command line says so; returns false for every other command line.
///
/// # Errors
/// When nothing can be given up, or the pipes break.
pub(super) fn answer(words: impl IntoIterator<Item = OsString>) -> io::Result<bool> {
    let mut words = words.into_iter().skip(1);
    if words.next().is_none_or(|word| word != PROCESS_WORD) || words.next().is_some() {
        return Ok(false);
    }
    // What breaks is reported in the answer.
    std::panic::set_hook(Box::new(|_| {}));
    confined::give_up()?;
    let mut request = Vec::new();
    io::stdin().take(REQUEST_LIMIT_BYTES as u64).read_to_end(&mut request)?;
    let mut output = io::stdout();
    output.write_all(&locum_extract::answer(&request))?;
    output.flush()?;
    Ok(true)
}
