//! Tasks that a repository's build defines, and scripts of it, by what their names say.
//!
//! In: a name. Out: whether it could be one that publishes, installs or signs in. Such a task comes
//! to nothing in the sandbox; that it needs a rule of its own is for the model to read.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::command::tables::options::OptionTable;
use crate::command::tables::{build, jvm};
use crate::words;

/// Programs that run each task among their words, with options besides those that a rule may allow.
/// Those of others may name a task.
const RUNNERS: &[(&str, [&str; 2])] = &[
    (
        "gradle",
        [
            jvm::GRADLE,
            "-b= -c= -g= -I= -p= --build-file= --settings-file= --gradle-user-home= \
             --init-script= --project-dir= --include-build=",
        ],
    ),
    ("just", ["-f= -d= --justfile= --working-directory= --set== --shell= --dotenv-path=", ""]),
    ("make", [build::MAKE, "--assume-old= --new-file= --assume-new= -b -e -m"]),
    ("mvn", [jvm::MAVEN, "-s= -gs= -t= --settings="]),
    ("nox", ["", ""]),
    ("rake", ["-f= -C= -I= -R= --rakefile= --directory= --libdir= --rakelibdir=", ""]),
    ("task", ["-d= -t= --dir= --taskfile=", ""]),
];

static OPTIONS: LazyLock<HashMap<&'static str, OptionTable>> = LazyLock::new(|| {
    RUNNERS.iter().map(|(program, options)| (*program, OptionTable::new(*options))).collect()
});

/// Returns the options of a program that runs each task among its words; `None` for any other.
pub(crate) fn options(program: &str) -> Option<&'static OptionTable> {
    OPTIONS.get(program)
}

/// Options of such programs whose values name tasks.
const NAMING: &[(&str, &str)] = &[("nox", "-s -e --session --sessions")];

/// Returns the options of a program whose values name tasks, with one blank between them.
pub(crate) fn naming_options(program: &str) -> &'static str {
    NAMING.iter().find(|(known, _)| *known == program).map_or("", |(_, options)| options)
}

/// Returns the name that rules have for a task: without its project, its arguments, its execution,
/// and with the short name of a plugin.
pub(crate) fn plain_task(program: &str, word: &str) -> String {
    match program {
        "gradle" => word.rsplit(':').next().unwrap_or(word).to_owned(),
        "mvn" => {
            let goal = word.split('@').next().unwrap_or(word);
            plugin_goal(goal)
                .map_or(goal.to_owned(), |(_, plugin, goal)| format!("{plugin}:{goal}"))
        }
        "rake" => word.split('[').next().unwrap_or(word).to_owned(),
        _ => word.to_owned(),
    }
}

/// Returns the publisher, the short name of the plugin and the goal of `GROUP:PLUGIN:GOAL` and
/// `GROUP:PLUGIN:VERSION:GOAL`.
fn plugin_goal(goal: &str) -> Option<(&str, &str, &str)> {
    let parts: Vec<&str> = goal.split(':').collect();
    let ([group, plugin, goal] | [group, plugin, _, goal]) = parts.as_slice() else { return None };
    let name = plugin.strip_suffix("-plugin")?;
    let short = name.strip_prefix("maven-").or_else(|| name.strip_suffix("-maven"))?;
    Some((group, short, goal))
}

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

/// Phases of Maven that build, test and show.
const MAVEN_PHASES: &str = "\
    pre-clean clean post-clean validate initialize generate-sources process-sources \
    generate-resources process-resources compile process-classes generate-test-sources \
    process-test-sources generate-test-resources process-test-resources test-compile \
    process-test-classes test prepare-package package pre-integration-test integration-test \
    post-integration-test verify pre-site site post-site";

/// Goals of plugins of Maven that build, test and show; `x:y-*` stands for all that begin like it.
const MAVEN_GOALS: &str = "\
    animal-sniffer:check antlr4:antlr4 buildplan:list buildplan:list-phase buildplan:list-plugin \
    checkstyle:check checkstyle:checkstyle clean:clean compiler:compile compiler:testCompile \
    dependency:analyze dependency:analyze-* dependency:build-classpath \
    dependency:display-ancestors dependency:go-offline dependency:list dependency:list-* \
    dependency:resolve dependency:resolve-* dependency:sources dependency:tree \
    enforcer:display-info enforcer:enforce failsafe:integration-test failsafe:verify \
    failsafe:help fmt:check fmt:format formatter:format formatter:validate help:active-profiles \
    help:all-profiles help:describe help:effective-pom help:evaluate help:help help:system \
    impsort:check impsort:sort jacoco:check jacoco:prepare-agent jacoco:report jar:jar \
    jar:test-jar javadoc:jar javadoc:javadoc javadoc:test-javadoc license:check license:format \
    modernizer:modernizer pitest:mutationCoverage pmd:check pmd:cpd pmd:cpd-check pmd:pmd \
    resources:resources resources:testResources sortpom:sort sortpom:verify source:jar \
    source:test-jar spotbugs:check spotbugs:spotbugs spotless:apply spotless:check \
    surefire-report:report surefire-report:report-only surefire:help surefire:test \
    versions:display-* war:war";

/// Publishers of plugins of Maven whose names are made as theirs are.
const MAVEN_GROUPS: &[&str] = &["org.apache.maven.plugins", "org.codehaus.mojo"];

/// What tasks of Gradle that reach out begin with: Gradle runs `publish` for `pub` too.
const GRADLE_REACHING: &[&str] =
    &["publish", "release", "deploy", "upload", "install", "sonar", "provision", "sign"];

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

/// Returns true for a phase of Maven, or a goal of a plugin, that builds, tests or shows. Nothing
/// is known of any other plugin.
pub(crate) fn is_harmless_goal(word: &str) -> bool {
    let (goal, execution) = word.split_once('@').unwrap_or((word, "default"));
    let parts: Vec<&str> = goal.split(':').collect();
    let listed = |prefix: &str, goal: &str| {
        MAVEN_GOALS.split_ascii_whitespace().any(|entry| {
            let (plugin, wanted) = entry.split_once(':').unwrap_or((entry, ""));
            plugin == prefix
                && wanted.strip_suffix('*').map_or(wanted == goal, |start| goal.starts_with(start))
        })
    };
    let of_plugin = |(group, plugin, goal): (&str, &str, &str)| {
        MAVEN_GROUPS.contains(&group) && listed(plugin, goal)
    };
    is_harmless(word)
        && is_harmless(execution)
        && match parts.as_slice() {
            [phase] => phase.len() == word.len() && words::holds(MAVEN_PHASES, phase),
            [prefix, goal] => listed(prefix, goal),
            _ => plugin_goal(goal).is_some_and(of_plugin),
        }
}

/// Returns true for a word that Gradle takes for a longer task: the beginning of each of its parts,
/// `pub` and `pTMC` for `publishToMavenCentral`. What is a usual task itself is short for none.
pub(crate) fn is_short_for(task: &str, word: &str) -> bool {
    let (long, short) = (parts_of(task), parts_of(word));
    let begins = long.iter().zip(&short).all(|(long, short)| long.starts_with(short.as_str()));
    begins && (1..=long.len()).contains(&short.len()) && word != task && !is_harmless_task(word)
}

/// Cuts a name where a capital stands, all in small letters.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for letter in name.chars() {
        match parts.last_mut().filter(|_| !letter.is_uppercase()) {
            Some(part) => part.push(letter),
            None => parts.push(letter.to_lowercase().collect()),
        }
    }
    parts
}

/// Returns the files that a variable of rake names as tests.
pub(crate) fn tested_file(word: &str) -> Option<&str> {
    let (name, files) = word.split_once('=')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-*".contains(&byte);
    let named = words::holds("SPEC TEST", name) && files.bytes().all(plain);
    (named && !files.is_empty() && !reaches_out(files)).then_some(files)
}

/// Returns true for a task of Gradle that does not say that it reaches out, and is not short for
/// one that does: `pub`, `pTML`.
pub(crate) fn is_harmless_task(word: &str) -> bool {
    let name = word.rsplit(':').next().unwrap_or_default();
    let start: String = name.chars().take_while(char::is_ascii_lowercase).collect();
    let reaches =
        |task: &&str| start.starts_with(*task) || (!start.is_empty() && task.starts_with(&start));
    is_harmless(word) && !GRADLE_REACHING.iter().any(reaches)
}

#[cfg(test)]
mod tests {
    use super::{is_harmless, is_harmless_goal, is_harmless_task, is_short_for, plain_task};
    use pretty_assertions::assert_eq;

    #[test]
    fn only_goals_of_known_plugins_are_harmless() {
        for goal in [
            "test",
            "clean",
            "verify",
            "dependency:tree",
            "versions:display-dependency-updates",
            "surefire:test@unit",
            "help:effective-pom",
            "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:tree",
            "org.codehaus.mojo:versions-maven-plugin:display-plugin-updates",
            "checkstyle:check",
        ] {
            assert!(is_harmless_goal(goal), "{goal}");
        }
        for goal in [
            "install",
            "deploy",
            "site-deploy",
            "test@x",
            "exec:exec",
            "exec:java",
            "antrun:run",
            "com.evil:plugin:1:run",
            "com.evil:maven-dependency-plugin:1:tree",
            "org.apache.maven.plugins:maven-antrun-plugin:run",
            "org.apache.maven.plugins:dependency:tree",
            "spring-boot:build-image",
            "sonar:sonar",
            "help:effective-settings",
            "versions:set",
            "dependency:get",
            "dependency:copy",
            "surefire:test@deploy",
            "frobnicate",
            "",
        ] {
            assert!(!is_harmless_goal(goal), "{goal}");
        }
    }

    #[test]
    fn a_task_of_gradle_may_be_short_for_one_that_reaches_out() {
        for task in ["test", ":core:test", "spotlessApply", "build", "tasks", "check", "cI"] {
            assert!(is_harmless_task(task), "{task}");
        }
        for task in [
            "sonar",
            "sonarqube",
            ":core:sonar",
            "pub",
            "pTML",
            ":core:pu",
            "publishAll",
            "uploadArchives",
            "signArchives",
            "instD",
        ] {
            assert!(!is_harmless_task(task), "{task}");
        }
    }

    #[test]
    fn a_short_task_is_the_beginning_of_each_part_of_a_longer_one() {
        for (task, word, expected) in [
            ("publish", "pub", true),
            ("publishToMavenCentral", "pTMC", true),
            ("publishToMavenCentral", "publishTo", true),
            ("publishToMavenCentral", "pMC", false),
            ("publish", "publish", false),
            ("publish", "publisher", false),
            ("testRelease", "test", false),
            ("publish", "", false),
        ] {
            assert_eq!(is_short_for(task, word), expected, "{task}: {word}");
        }
    }

    #[test]
    fn tasks_have_one_name() {
        for (program, word, expected) in [
            ("gradle", ":core:publish", "publish"),
            ("mvn", "deploy@central", "deploy"),
            ("mvn", "org.apache.maven.plugins:maven-release-plugin:3.1:perform", "release:perform"),
            ("mvn", "org.codehaus.mojo:versions-maven-plugin:set", "versions:set"),
            ("mvn", "release:perform", "release:perform"),
            ("rake", "publish[x]", "publish"),
            ("make", "a:b", "a:b"),
        ] {
            assert_eq!(plain_task(program, word), expected, "{word}");
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
