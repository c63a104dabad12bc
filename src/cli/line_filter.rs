//! `LineFilter`: the last look at what is written to stdout and stderr, by whomever.
//!
//! In: text as it is about to be written. Out: the same without registered values and, where an
//! Actions runner reads along, without anything that the runner takes for a command. It knows no
//! streams: whoever writes to one asks it.

use std::borrow::Cow;

use locum_base::secret::plain::PlainValues;
use locum_forge::sanitise;

/// What is taken out of text that is about to be written.
#[derive(Clone, Debug, Default)]
pub struct LineFilter {
    hidden: PlainValues,
    /// Whether an Actions runner reads along, which takes some lines for commands.
    runner: bool,
}

impl LineFilter {
    /// Takes these values out from now on.
    pub(super) fn hide(&mut self, hidden: PlainValues) {
        self.hidden = hidden;
    }

    /// Says that an Actions runner reads what is written.
    pub(super) fn for_runner(&mut self) {
        self.runner = true;
    }

    /// Returns whether an Actions runner reads what is written.
    pub(super) fn is_for_runner(&self) -> bool {
        self.runner
    }

    /// Returns text without registered values, and with its commands to the runner.
    pub(super) fn without_values<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.hidden.hide(text)
    }

    /// Returns text as it may be written.
    pub(super) fn written<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let shown = self.hidden.hide(text);
        if self.runner { Cow::Owned(sanitise::without_commands(&shown)) } else { shown }
    }

    /// Returns bytes as they may be written; bytes that are not UTF-8 are replaced only where
    /// something is taken out.
    pub(super) fn written_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        let text = String::from_utf8_lossy(bytes);
        let written = self.written(&text);
        if written == text {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(written.into_owned().into_bytes())
    }

    /// Returns bytes without registered values, and with everything else as it is.
    pub(super) fn bytes_without_values<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        self.hidden.hide_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::LineFilter;
    use locum_base::secret::Secret;
    use locum_base::secret::plain::PlainValues;
    use pretty_assertions::assert_eq;

    fn filter() -> LineFilter {
        let mut filter = LineFilter::default();
        filter.hide(PlainValues::new([Secret::new("correct-horse")]));
        filter
    }

    #[test]
    fn a_value_never_shows_and_a_command_only_where_no_runner_reads() {
        let line = "warning: correct-horse\n::add-mask::x\r\n##[error]y\r::stop-commands::z\n";
        let plain = filter();
        assert_eq!(plain.written(line), line.replace("correct-horse", "***"));
        let mut read_along = filter();
        read_along.for_runner();
        let safe = "warning: ***\n: :add-mask::x\r\n## [error]y\r: :stop-commands::z\n";
        assert_eq!(read_along.written(line), safe);
        assert_eq!(&*read_along.written_bytes(line.as_bytes()), safe.as_bytes());
        assert_eq!(read_along.written(safe), safe, "twice");
    }

    #[test]
    fn other_bytes_stay_as_they_are() {
        let mut read_along = filter();
        read_along.for_runner();
        assert_eq!(&*read_along.written_bytes(b"caf\xe9 a::b"), b"caf\xe9 a::b".as_slice());
        assert_eq!(&*read_along.written_bytes(b"::x::\xff"), ": :x::\u{fffd}".as_bytes());
        assert_eq!(&*read_along.bytes_without_values(b"::x::\xff"), b"::x::\xff".as_slice());
    }
}
