//! The versions of tool chains that a repository names: in files of version managers, and in its
//! manifests.
//!
//! In: a repository scan, and the folder of a project in it. Out: inputs of the action that sets
//! the tool chain up; none where the repository names no version, or names one in a way that is not
//! read here. A file is named, so that its next version counts too, where the action reads it.

use serde_json::Value as Json;

use crate::starter::scan::{StarterScan, at, has, split, text};
use crate::starter::usual_setup::requirement::{fits, newest};
use crate::starter::workspaces::above;

/// Files whose texts name versions, besides manifests.
pub(in crate::starter) const VERSION_FILES: &str = "\
    .python-version .nvmrc .node-version .java-version .ruby-version .php-version .sdkmanrc \
    .tool-versions Pipfile";

/// An input of an action: its name and value.
pub(in crate::starter) type VersionInput = (&'static str, String);

/// Releases of Python, the newest first.
const PYTHONS: &[&str] = &["3.14", "3.13", "3.12", "3.11", "3.10", "3.9", "3.8", "3.7"];
/// Releases of PHP, the newest first.
const PHPS: &[&str] =
    &[NEWEST_PHP, "8.3", "8.2", "8.1", "8.0", "7.4", "7.3", "7.2", "7.1", "7.0", "5.6"];
/// Releases of Ruby, the newest first.
const RUBIES: &[&str] = &[NEWEST_RUBY, "3.3", "3.2", "3.1", "3.0", "2.7", "2.6"];
/// Releases of Elixir, the newest first.
const ELIXIRS: &[&str] = &[NEWEST_ELIXIR, "1.18", "1.17", "1.16", "1.15", "1.14", "1.13"];
/// Releases of Java that are maintained for long.
const LONG_TERM: &[u32] = &[8, 11, 17, 21, 25];
/// What compiles for every older level and starts every build tool that is still maintained.
const COMPILES_OLDER: u32 = 17;

const NEWEST_PHP: &str = "8.4";
const NEWEST_RUBY: &str = "3.4";
const NEWEST_ELIXIR: &str = "1.19";

/// A version that an action is given where a repository names none.
pub(in crate::starter) type UsualVersion = (&'static str, &'static str);

pub(in crate::starter) const USUAL_PYTHON: UsualVersion = ("python-version", "3.x");
pub(in crate::starter) const USUAL_NODE: UsualVersion = ("node-version", "lts/*");
pub(super) const USUAL_JAVA: UsualVersion = ("java-version", "21");
pub(super) const USUAL_PHP: UsualVersion = ("php-version", NEWEST_PHP);
pub(super) const USUAL_RUBY: UsualVersion = ("ruby-version", NEWEST_RUBY);

/// Returns what a folder names, else what the nearest folder above it does.
pub(super) fn nearest<T>(
    folder: &str,
    of_project: impl Fn(&str) -> Option<T>,
    of_above: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    of_project(folder).or_else(|| above(folder).find_map(of_above))
}

/// Names the version of Python; the newest where no bound keeps it from that.
pub(in crate::starter) fn python(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let inputs = ["python-version-file", "python-version"];
    let named = by_file(scan, (folder, ".python-version"), inputs, is_number).or_else(|| {
        let version = of_manager(scan, folder, "python").filter(|version| is_number(version))?;
        Some(("python-version", version.to_owned()))
    });
    named.or_else(|| {
        let required = required_python(scan, folder)?;
        let is_bounded = !fits(required, (3, u32::MAX));
        let newest = newest(PYTHONS, required).filter(|_| is_bounded)?;
        Some(("python-version", newest.to_owned()))
    })
}

/// Returns what the manifests of a project require of Python.
fn required_python<'s>(scan: &'s StarterScan, folder: &str) -> Option<&'s str> {
    let lines = |name: &str| text(scan, folder, name).unwrap_or_default().lines();
    let of_poetry = || {
        let section = "[tool.poetry.dependencies]";
        let below = lines("pyproject.toml").skip_while(|line| line.trim() != section).skip(1);
        assigned(below.take_while(|line| !line.starts_with('[')), "python")
    };
    assigned(lines("pyproject.toml"), "requires-python")
        .or_else(of_poetry)
        .or_else(|| assigned(lines("Pipfile"), "python_version"))
        .or_else(|| assigned(lines("setup.cfg"), "python_requires"))
        .or_else(|| assigned(lines("setup.py"), "python_requires"))
}

/// Names the version of Node.
pub(in crate::starter) fn node(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let is_known = |version: &str| {
        is_number(version.trim_start_matches('v'))
            || version.starts_with("lts/")
            || matches!(version, "node" | "latest" | "current")
    };
    let inputs = ["node-version-file", "node-version"];
    [".nvmrc", ".node-version"]
        .into_iter()
        .find_map(|name| by_file(scan, (folder, name), inputs, is_known))
        .or_else(|| {
            let version = ["nodejs", "node"].into_iter().find_map(|tool| {
                of_manager(scan, folder, tool).filter(|version| is_number(version))
            })?;
            Some(("node-version", version.to_owned()))
        })
        .or_else(|| of_package(scan, folder))
}

/// Names the `package.json` whose version of Node the action reads.
fn of_package(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let package: Json = serde_json::from_str(text(scan, folder, "package.json")?).ok()?;
    let named = ["/volta/node", "/engines/node"].iter().find_map(|key| package.pointer(key))?;
    let named = named.as_str()?;
    let is_range = named.contains(|letter: char| letter.is_ascii_digit())
        && named.chars().all(|letter| letter.is_ascii_digit() || " .*xXv^~<>=|-".contains(letter));
    is_range.then(|| ("node-version-file", at(folder, "package.json")))
}

/// Names the file whose version of Bun the action reads.
pub(in crate::starter) fn bun(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let name = ".bun-version";
    has(scan, folder, name).then(|| ("bun-version-file", at(folder, name)))
}

/// Names the file that says which Go it is.
pub(super) fn go(scan: &StarterScan, folder: &str) -> VersionInput {
    let file = ["go.mod", "go.work"].into_iter().find(|name| has(scan, folder, name));
    file.map_or_else(
        || ("go-version", "stable".to_owned()),
        |file| ("go-version-file", at(folder, file)),
    )
}

/// Returns the release of Java: the one that is named, else what compiles for the level of the
/// sources. Gradle itself runs on it, and finds the release of a toolchain by itself.
pub(super) fn java(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let builds = builds(scan, folder);
    let between = |begin: &str, end: &str| {
        let mut texts = builds.iter();
        texts.find_map(|text| major(text.split_once(begin)?.1.split(end).next()?))
    };
    let toolchain = || {
        let places = [("JavaLanguageVersion.of(", ")"), ("jvmToolchain(", ")")];
        let release = places.into_iter().find_map(|(begin, end)| between(begin, end))?;
        Some(release.max(COMPILES_OLDER))
    };
    let level = || {
        let places = [
            ("<maven.compiler.release>", "<"),
            ("<maven.compiler.target>", "<"),
            ("<maven.compiler.source>", "<"),
            ("<release>", "<"),
            ("sourceCompatibility", "\n"),
        ];
        let level = places.into_iter().find_map(|(begin, end)| between(begin, end))?;
        let least = level.max(COMPILES_OLDER);
        LONG_TERM.iter().copied().find(|release| *release >= least).or(Some(least))
    };
    managed_java(scan, folder).or_else(|| {
        let release = toolchain()
            .or_else(|| between("<java.version>", "<").map(installable))
            .or_else(level)?;
        Some(("java-version", release.to_string()))
    })
}

/// Returns the release of Java that a file of a version manager names.
pub(super) fn managed_java(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let own = text(scan, folder, ".java-version").and_then(|text| lines_of(text).next());
    let managed = of_manager(scan, folder, "java");
    let sdkman = assigned(text(scan, folder, ".sdkmanrc").unwrap_or_default().lines(), "java");
    let named = [own, managed, sdkman].into_iter().flatten().find_map(major)?;
    Some(("java-version", installable(named).to_string()))
}

/// Returns a release, or the oldest that can be installed.
fn installable(release: u32) -> u32 {
    release.max(LONG_TERM.first().copied().unwrap_or_default())
}

/// Returns the texts that describe the build of a folder, those with the shortest paths first.
fn builds<'s>(scan: &'s StarterScan, folder: &str) -> Vec<&'s str> {
    let is_build = |name: &str| matches!(name, "pom.xml" | "build.gradle" | "build.gradle.kts");
    let prefix = at(folder, "");
    let mut found: Vec<(usize, &str)> = scan
        .texts
        .iter()
        .filter(|(path, _)| is_build(split(path).1) && path.as_str().starts_with(&prefix))
        .map(|(path, text)| (path.parts().count(), text.as_str()))
        .collect();
    found.sort_by_key(|(depth, _)| *depth);
    found.into_iter().map(|(_, text)| text).collect()
}

/// Reads a release of Java, such as `17`, `1.8`, `temurin-21.0.2+13`, `VERSION_1_8`.
fn major(text: &str) -> Option<u32> {
    let begins = |part: &&str| part.starts_with(|letter: char| letter.is_ascii_digit());
    let text = text.split(['-', '_', '\'', '"', ' ', '=', '(']).skip_while(|part| !begins(part));
    let text = text.collect::<Vec<_>>().join(".");
    let mut numbers = text.split(|letter: char| !letter.is_ascii_digit());
    let first: u32 = numbers.next()?.parse().ok()?;
    // Up to Java 8 the second number is the release.
    if first == 1 { numbers.next()?.parse().ok() } else { Some(first) }
}

/// Returns the release of PHP.
pub(super) fn php(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let inputs = ["php-version-file", "php-version"];
    by_file(scan, (folder, ".php-version"), inputs, is_number).or_else(|| {
        let named = of_manager(scan, folder, "php").filter(|version| is_number(version));
        let version = named.map(minor_of).or_else(|| {
            let package = text(scan, folder, "composer.json").unwrap_or_default();
            let package = serde_json::from_str::<Json>(package).unwrap_or_default();
            let of = |key: &str| package.pointer(key).and_then(Json::as_str);
            let platform = of("/config/platform/php").filter(|version| is_number(version));
            platform.map(minor_of).or_else(|| newest(PHPS, of("/require/php")?).map(str::to_owned))
        })?;
        Some(("php-version", version))
    })
}

/// Returns the first two numbers of a version.
fn minor_of(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

/// Returns the release of Ruby; `default` where the action reads it from a file.
pub(super) fn ruby(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let has_file = has(scan, folder, ".ruby-version") || of_manager(scan, folder, "ruby").is_some();
    if has_file {
        return Some(("ruby-version", "default".to_owned()));
    }
    let lines = text(scan, folder, "Gemfile")?.lines();
    let line = lines.map(str::trim).find_map(|line| line.strip_prefix("ruby "))?;
    // What stands in quotes, one text after another.
    let required: Vec<&str> = line.split(['"', '\'']).skip(1).step_by(2).collect();
    let version = match required.as_slice() {
        [exact] if is_number(exact) && exact.split('.').count() > 2 => *exact,
        _ => newest(RUBIES, &required.join(","))?,
    };
    Some(("ruby-version", version.to_owned()))
}

/// Returns the release of Ruby that a file of a version manager names, as a number: the action
/// reads such a file in the folder of the project alone.
pub(super) fn managed_ruby(scan: &StarterScan, folder: &str) -> Option<VersionInput> {
    let own = text(scan, folder, ".ruby-version").and_then(|text| lines_of(text).next());
    let named = [own, of_manager(scan, folder, "ruby")].into_iter().flatten();
    let mut numbers = named.map(|name| name.trim_start_matches("ruby-"));
    let number = numbers.find(|version| is_number(version))?;
    Some(("ruby-version", number.to_owned()))
}

/// Returns the releases of Erlang and Elixir; none where the usual ones do.
pub(super) fn beam(scan: &StarterScan, folder: &str) -> Vec<VersionInput> {
    let managed = ["erlang", "elixir"].map(|tool| {
        of_manager(scan, folder, tool).filter(|version| is_number(version)).map(str::to_owned)
    });
    if let [Some(otp), Some(elixir)] = managed {
        return vec![
            ("otp-version", otp),
            ("elixir-version", elixir),
            ("version-type", "strict".to_owned()),
        ];
    }
    let manifest = text(scan, folder, "mix.exs").unwrap_or_default();
    let required = manifest.split_once("elixir:").and_then(|(_, rest)| rest.split('"').nth(1));
    let required = required.unwrap_or_default().replace(" and ", ",").replace(" or ", "|");
    let elixir = newest(ELIXIRS, &required).filter(|release| *release != NEWEST_ELIXIR);
    elixir.map(of_elixir).unwrap_or_default()
}

/// Returns the releases of Erlang and Elixir for a repository that names none.
pub(super) fn usual_beam() -> Vec<VersionInput> {
    of_elixir(NEWEST_ELIXIR)
}

/// Returns a release of Elixir, with the newest Erlang that it works with.
fn of_elixir(elixir: &str) -> Vec<VersionInput> {
    let otp = match elixir {
        NEWEST_ELIXIR => "28",
        "1.18" | "1.17" => "27",
        "1.16" | "1.15" => "26",
        _ => "25",
    };
    vec![("otp-version", otp.to_owned()), ("elixir-version", elixir.to_owned())]
}

/// Names a file that holds nothing but a version, or the first of its versions where it holds
/// several.
fn by_file(
    scan: &StarterScan,
    (folder, name): (&str, &str),
    [of_file, of_version]: [&'static str; 2],
    is_known: impl Fn(&str) -> bool,
) -> Option<VersionInput> {
    let mut lines = lines_of(text(scan, folder, name)?);
    let first = lines.next().filter(|line| is_known(line))?;
    Some(match lines.next() {
        None => (of_file, at(folder, name)),
        Some(_) => (of_version, first.to_owned()),
    })
}

/// Returns the lines that are no comments.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the version of a tool that `.tool-versions` names.
fn of_manager<'s>(scan: &'s StarterScan, folder: &str, tool: &str) -> Option<&'s str> {
    let lines = lines_of(text(scan, folder, ".tool-versions")?);
    lines
        .filter_map(|line| line.split_once([' ', '\t']))
        .find_map(|(name, versions)| versions.split_whitespace().next().filter(|_| name == tool))
}

/// Returns the value that a line gives to a name, without quotes.
fn assigned<'t>(mut lines: impl Iterator<Item = &'t str>, name: &str) -> Option<&'t str> {
    lines.find_map(|line| {
        let value = line.trim().strip_prefix(name)?.trim_start().strip_prefix('=')?.trim();
        let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''));
        quote.map_or(Some(value), |quote| value.split(quote).nth(1))
    })
}

/// Returns true for a version that begins with a number and means nothing else to YAML.
fn is_number(version: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".+-".contains(&byte);
    version.starts_with(|letter: char| letter.is_ascii_digit()) && version.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{VersionInput, beam, bun, go, java, node, php, python, ruby};
    use crate::starter::scan::StarterScan;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    /// Paths and texts.
    type Files<'f> = &'f [(&'f str, &'f str)];

    /// Files, and the input that they lead to.
    type Case<'c> = (Files<'c>, Option<(&'c str, &'c str)>);

    fn scan(files: Files<'_>) -> StarterScan {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let texts: BTreeMap<RepoPath, String> =
            files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
        StarterScan { files: texts.keys().cloned().collect(), texts, modes: Vec::new() }
    }

    /// Checks what a function makes of the files of each case.
    fn check(named: fn(&StarterScan, &str) -> Option<VersionInput>, cases: &[Case<'_>]) {
        for (files, expected) in cases {
            let found = named(&scan(files), "");
            let found = found.as_ref().map(|(name, value)| (*name, value.as_str()));
            assert_eq!(found, *expected, "{files:?}");
        }
    }

    #[test]
    fn python_is_the_one_that_a_file_names_or_a_bound_allows() {
        let file = Some(("python-version-file", ".python-version"));
        let is = |version| Some(("python-version", version));
        let poetry = "[tool.poetry.dependencies]\npython = \">=3.9,<3.12\" # not yet\n";
        check(
            python,
            &[
                (&[(".python-version", "3.11\n")], file),
                (&[(".python-version", "3.11.4\n3.9\n"), ("pyproject.toml", poetry)], is("3.11.4")),
                (&[(".python-version", "mine\n"), ("pyproject.toml", poetry)], is("3.11")),
                (&[("pyproject.toml", "[project]\nrequires-python = '<3.13'\n")], is("3.12")),
                (&[("pyproject.toml", "[project]\nrequires-python = \">=3.9\"\n")], None),
                (&[("pyproject.toml", "[tool.other]\npython = \"3.9\"\n")], None),
                (&[("Pipfile", "[requires]\npython_version = \"3.10\"\n")], is("3.10")),
                (&[("setup.cfg", "[options]\npython_requires = >=3.8, <3.11\n")], is("3.10")),
                (&[("setup.py", "setup(\n    python_requires=\"==3.9.*\",\n)\n")], is("3.9")),
                (&[(".tool-versions", "nodejs 20.1.0\npython  3.11.4 3.9.1\n")], is("3.11.4")),
                (&[("setup.py", "")], None),
            ],
        );
    }

    #[test]
    fn node_is_the_one_that_a_file_of_its_own_or_the_package_names() {
        let by = |file| Some(("node-version-file", file));
        let engines = r#"{"engines": {"node": ">=18 <21"}}"#;
        check(
            node,
            &[
                (&[(".nvmrc", "lts/iron\n"), ("package.json", engines)], by(".nvmrc")),
                (&[(".node-version", "v20.1\n")], by(".node-version")),
                (&[(".nvmrc", "system\n"), ("package.json", engines)], by("package.json")),
                (&[("package.json", r#"{"volta": {"node": "20.1.0"}}"#)], by("package.json")),
                (&[(".tool-versions", "nodejs 20.1.0\n")], Some(("node-version", "20.1.0"))),
                (&[("package.json", r#"{"engines": {"node": "please"}}"#)], None),
                (&[("package.json", r#"{"engines": {"npm": ">=9"}}"#)], None),
                (&[("package.json", "{")], None),
            ],
        );
        assert_eq!(bun(&scan(&[(".bun-version", "1.2")]), "").unwrap().1, ".bun-version");
        assert_eq!(bun(&scan(&[("bun.lock", "")]), ""), None);
        let below = [("web/.nvmrc", "20\n"), ("package.json", engines)];
        assert_eq!(node(&scan(&below), "web").unwrap().1, "web/.nvmrc");
    }

    #[test]
    fn java_is_the_release_that_is_named_or_one_that_compiles_for_the_level() {
        let is = |version| Some(("java-version", version));
        check(
            java,
            &[
                (&[(".java-version", "temurin-19.0.2\n"), ("pom.xml", "")], is("19")),
                (&[(".sdkmanrc", "# x\njava=21.0.1-tem\n")], is("21")),
                (&[(".tool-versions", "java openjdk64-11.0.2\n")], is("11")),
                (&[("pom.xml", "<java.version>1.8</java.version>")], is("8")),
                (
                    &[(
                        "pom.xml",
                        "<maven.compiler.source>${java.version}</maven.compiler.source>\
                         <java.version>11</java.version>",
                    )],
                    is("11"),
                ),
                (&[("pom.xml", "<maven.compiler.release>8</maven.compiler.release>")], is("17")),
                (&[("pom.xml", "<release>22</release>")], is("25")),
                (&[("app/build.gradle.kts", "kotlin { jvmToolchain(17) }")], is("17")),
                // Gradle does not start on what its toolchain compiles for.
                (&[("build.gradle.kts", "kotlin { jvmToolchain(8) }")], is("17")),
                (&[("build.gradle", "languageVersion = JavaLanguageVersion.of(11)")], is("17")),
                (&[("build.gradle", "languageVersion = JavaLanguageVersion.of(24)")], is("24")),
                (&[(".java-version", "11\n"), ("build.gradle", "jvmToolchain(8)")], is("11")),
                (&[("build.gradle", "sourceCompatibility = JavaVersion.VERSION_21\n")], is("21")),
                (&[("build.gradle", "sourceCompatibility = '1.8'\n")], is("17")),
                (&[("pom.xml", "")], None),
            ],
        );
    }

    #[test]
    fn php_and_ruby_are_the_newest_that_the_manifest_allows() {
        let is = |version| Some(("php-version", version));
        check(
            php,
            &[
                (&[(".php-version", "8.2\n")], Some(("php-version-file", ".php-version"))),
                (&[("composer.json", r#"{"require": {"php": "^7.4 || ~8.1.0"}}"#)], is("8.1")),
                (&[("composer.json", r#"{"require": {"php": ">=7.2"}}"#)], is("8.4")),
                (&[("composer.json", r#"{"config": {"platform": {"php": "8.1.2"}}}"#)], is("8.1")),
                (&[("composer.json", r#"{"require": {"ext-json": "*"}}"#)], None),
            ],
        );
        let is = |version| Some(("ruby-version", version));
        check(
            ruby,
            &[
                (&[(".ruby-version", "3.2.2\n"), ("Gemfile", "ruby \"3.1.0\"\n")], is("default")),
                (&[("Gemfile", "source \"x\"\nruby \"3.2.2\"\n")], is("3.2.2")),
                (&[("Gemfile", "ruby '>= 3.0', '< 3.3'\n")], is("3.2")),
                (&[("Gemfile", "ruby \"~> 3.1.0\"\n")], is("3.1")),
                (&[("Gemfile", "gem \"ruby\"\n")], None),
            ],
        );
    }

    #[test]
    fn go_and_elixir_are_what_their_files_name() {
        let file = |files: Files<'_>| go(&scan(files), "").1;
        assert_eq!(file(&[("go.mod", ""), ("go.work", "")]), "go.mod");
        assert_eq!(file(&[("go.work", "")]), "go.work");
        assert_eq!(file(&[("Makefile", "")]), "stable");
        for (files, expected) in [
            (
                &[(".tool-versions", "erlang 26.2.1\nelixir 1.16.0-otp-26\n")][..],
                &["26.2.1", "1.16.0-otp-26", "strict"][..],
            ),
            (&[("mix.exs", "elixir: \"~> 1.15.0\",\n")], &["26", "1.15"]),
            (&[("mix.exs", "elixir: \">= 1.13.0 and < 1.17.0\",\n")], &["26", "1.16"]),
            (&[("mix.exs", "elixir: \"~> 1.14\",\n")], &[]),
            (&[(".tool-versions", "elixir 1.16.0\n")], &[]),
        ] {
            let found = beam(&scan(files), "");
            let found: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
            assert_eq!(found, expected, "{files:?}");
        }
    }
}
