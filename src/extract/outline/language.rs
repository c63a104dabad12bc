//! The languages whose definitions are found, by the names of files.

use serde::{Deserialize, Serialize};

/// A language, or a dialect with a grammar of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Bash and other shells.
    Bash,
    /// C.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Go.
    Go,
    /// HCL, of Terraform.
    Hcl,
    /// Java.
    Java,
    /// JavaScript, with JSX.
    JavaScript,
    /// Lua.
    Lua,
    /// PHP.
    Php,
    /// Protocol Buffers, with services.
    Protobuf,
    /// Python.
    Python,
    /// Ruby.
    Ruby,
    /// Rust.
    Rust,
    /// TypeScript, with JSX.
    TypeScript,
}

/// Languages, each with its name and the ends of its files' names.
const LANGUAGES: &[(Language, &str, &[&str])] = &[
    (Language::Bash, "Bash", &["sh", "bash"]),
    (Language::C, "C", &["c"]),
    (Language::Cpp, "C++", &["cc", "cpp", "cxx", "h", "hh", "hpp", "hxx"]),
    (Language::CSharp, "C#", &["cs"]),
    (Language::Go, "Go", &["go"]),
    (Language::Hcl, "HCL", &["hcl", "tf"]),
    (Language::Java, "Java", &["java"]),
    (Language::JavaScript, "JavaScript", &["js", "jsx", "mjs", "cjs"]),
    (Language::Lua, "Lua", &["lua"]),
    (Language::Php, "PHP", &["php"]),
    (Language::Protobuf, "Protocol Buffers", &["proto"]),
    (Language::Python, "Python", &["py", "pyi"]),
    (Language::Ruby, "Ruby", &["rb", "rake"]),
    (Language::Rust, "Rust", &["rs"]),
    (Language::TypeScript, "TypeScript", &["ts", "tsx", "mts", "cts"]),
];

impl Language {
    /// Returns the language of a file by its name; `None` for other files.
    pub fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        let mut known = LANGUAGES.iter();
        let known = known.find(|(_, _, extensions)| extensions.contains(&extension.as_str()));
        known.map(|(language, ..)| *language)
    }

    /// Returns all languages.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        LANGUAGES.iter().map(|(language, ..)| *language).collect()
    }

    /// Returns the names of all languages, as people write them.
    pub fn names() -> Vec<&'static str> {
        LANGUAGES.iter().map(|(_, name, _)| *name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Language;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_language_is_known_by_the_end_of_the_name() {
        for (path, expected) in [
            ("src/main.rs", Some(Language::Rust)),
            ("a.TSX", Some(Language::TypeScript)),
            ("include/a.h", Some(Language::Cpp)),
            ("a.d/readme", None),
            ("rs", None),
            ("a.txt", None),
        ] {
            assert_eq!(Language::of(path), expected, "{path}");
        }
    }
}
