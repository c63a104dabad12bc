//! Tasks that a repository's build defines, and scripts of it, by what their names say.
//!
//! In: a name. Out: whether it could be one that publishes, installs or signs in. Such a task comes
//! to nothing in the sandbox; that it needs a rule of its own is for the model to read.

/// What names of tasks hold that do more than build, test and show.
const REACHING_OUT: &[&str] = &[
    "publish",
    "release",
    "deploy",
    "upload",
    "push",
    "install",
    "register",
    "yank",
    "login",
    "signin",
    "credential",
    "secret",
    "token",
    "provision",
    "bintray",
    "nexus",
    "sonatype",
    "artifactory",
    "scm:",
    "gpg",
    "docker",
    "bootbuildimage",
    "bootrun",
    "wrapper",
    "dockerbuild",
    "jib",
];

/// What names of variables and settings hold that may be secrets.
const SECRETS: &[&str] =
    &["key", "token", "secret", "passw", "credential", "auth", "pat", "header", "cookie", "url"];

/// Returns true for the name of a variable or setting that may hold a secret.
pub(crate) fn may_be_secret(name: &str) -> bool {
    let lower = name.to_lowercase();
    let parts = || lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    SECRETS.iter().any(|word| match *word {
        "pat" => parts().any(|part| part == "pat"),
        word => lower.contains(word),
    }) || lower.is_empty()
}

/// Returns true for a name that says that it reaches out of the repository.
pub(crate) fn reaches_out(name: &str) -> bool {
    let name = name.to_lowercase();
    REACHING_OUT.iter().any(|word| name.contains(word))
}

/// Returns true for the plain name of a task that says nothing of that kind: `docs`, `:core:test`,
/// `spotless:apply`.
pub(crate) fn is_harmless(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.-/@%,[]".contains(&byte);
    !name.is_empty()
        && !name.starts_with(['-', '/', '@'])
        && !name.contains("..")
        && name.bytes().all(plain)
        && !reaches_out(name)
}

#[cfg(test)]
mod tests {
    use super::{is_harmless, may_be_secret};

    #[test]
    fn names_of_secrets_are_known() {
        for name in
            ["OPENAI_API_KEY", "GITHUB_TOKEN", "http.x.extraheader", "DB_PASSWORD", "GH_PAT", ""]
        {
            assert!(may_be_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "user.name", "core.autocrlf", "f", "i"] {
            assert!(!may_be_secret(name), "{name}");
        }
    }

    #[test]
    fn a_task_that_says_that_it_publishes_is_none_that_builds() {
        for name in ["test", ":core:test", "spotless:apply", "spotlessCheck", "docs", "a/b.o"] {
            assert!(is_harmless(name), "{name}");
        }
        for name in [
            "publish",
            "publishToMavenCentral",
            "release:perform",
            "deploy",
            "install",
            "gem:push",
            "npm-publish",
            "-x",
            "/tmp/x",
            "../x",
            "a=b",
            "a b",
            "$(x)",
            "",
        ] {
            assert!(!is_harmless(name), "{name}");
        }
    }
}
