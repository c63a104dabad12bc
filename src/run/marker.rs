//! `Marker`: a hidden line of one of our texts, read. `markdown::marker` writes it.
//!
//! In: a line. Out: its kind and the values of its keys. Anyone can write such a line: whether a
//! text is ours is the forge's to say, and who acts on a value compares the line with the one that
//! we would write.

/// How every hidden line of ours begins.
const START: &str = "<!-- locum:v1 kind=";

/// A hidden line: `<!-- locum:v1 kind=progress comment=7 -->`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker<'a> {
    kind: &'a str,
    keys: Vec<(&'a str, &'a str)>,
}

impl<'a> Marker<'a> {
    /// Reads a line; `None` where it is none of these.
    pub fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.trim_end().strip_prefix(START)?.strip_suffix(" -->")?.split(' ');
        let kind = words.next()?;
        let keys = words.map(|word| word.split_once('=')).collect::<Option<Vec<_>>>()?;
        Some(Self { kind, keys })
    }

    /// Returns it, where it is of a kind.
    pub fn of_kind(self, kind: &str) -> Option<Self> {
        (self.kind == kind).then_some(self)
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.keys.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::Marker;
    use locum_agent::report::markdown::marker;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        let line = marker("progress", &[("comment", "7"), ("run", "")]);
        let read = Marker::parse(&line).unwrap();
        assert_eq!((read.get("comment"), read.get("run")), (Some("7"), Some("")));
        assert_eq!(read.get("job"), None);
        assert!(read.clone().of_kind("progress").is_some() && read.of_kind("setup").is_none());
        assert!(Marker::parse(&marker("setup", &[])).is_some());
        for other in [
            format!("x {line}"),
            format!("> {line}"),
            line.replace("v1", "v2"),
            line.replace(" -->", ""),
            line.replace("run=", "and more"),
            String::new(),
        ] {
            assert_eq!(Marker::parse(&other), None, "{other}");
        }
    }
}
