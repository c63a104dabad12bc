//! Properties and switches of the JVM, of Maven and of Gradle: `-Dtest=ParserTest`, `-Xmx1g`.
//!
//! In: what stands behind `-D` or `-X`. Out: whether it is known to choose no code and no file, or
//! the file that it writes.

use crate::words;

/// Properties of Maven and its usual plugins that leave out checks, choose tests or what is shown.
const MAVEN: &str = "\
    artifact changelist checkstyle.consoleOutput checkstyle.failOnViolation \
    checkstyle.failsOnError checkstyle.violationSeverity classifier detail enableAssertions \
    excludeArtifactIds excludedGroups excludeGroupIds excludeScope excludes excludeTransitive \
    failIfNoSpecifiedTests failIfNoTests failOnWarning file.encoding forceStdout forkCount goal \
    groups ignoreNonCompile includeArtifactIds includeGroupIds includeScope includes includeTypes \
    it.test java.awt.headless java.version junit.jupiter.execution.parallel.enabled \
    maven.compiler.debug maven.compiler.debuglevel maven.compiler.failOnError \
    maven.compiler.failOnWarning maven.compiler.optimize maven.compiler.parameters \
    maven.compiler.release maven.compiler.showDeprecation maven.compiler.showWarnings \
    maven.compiler.source maven.compiler.target maven.compiler.testRelease \
    maven.compiler.testSource maven.compiler.testTarget maven.compiler.useIncrementalCompilation \
    maven.compiler.verbose maven.javadoc.failOnError maven.javadoc.failOnWarnings maven.test.skip \
    maven.test.failure.ignore maven.test.redirectTestOutputToFile outputType parallel \
    perCoreThreadCount plugin project.build.sourceEncoding redirectTestOutputToFile reuseForks \
    revision runOrder scope sha1 showSuccess skipAfterFailureCount skipIT skipITs \
    skipIntegrationTests skipTests skipUTs skipUnitTests spotless.check.skip style.color \
    test threadCount trimStackTrace user.country user.language user.timezone verbose \
    org.slf4j.simpleLogger.defaultLogLevel org.slf4j.simpleLogger.showDateTime \
    org.slf4j.simpleLogger.showThreadName";

/// Beginnings of properties of Maven whose other parts name a plugin's own choices.
const MAVEN_STARTS: &[&str] = &["org.slf4j.simpleLogger.log."];

/// What stands behind the name of a plugin that runs tests.
const MAVEN_TESTS: &str = "\
    enableAssertions excludedGroups failIfNoSpecifiedTests failIfNoTests forkCount groups \
    parallel printSummary redirectTestOutputToFile rerunFailingTestsCount reuseForks runOrder \
    shutdown skipAfterFailureCount timeout trimStackTrace useFile useSystemClassLoader";

/// Properties of Maven that name a file that is written.
const MAVEN_WRITTEN: &str = "mdep.outputFile output outputFile";

/// Properties of the JVM that choose tests, or how Gradle itself runs.
const GRADLE: &str = "\
    test.single integTest.single file.encoding java.awt.headless user.country user.language \
    user.timezone org.gradle.caching org.gradle.configuration-cache org.gradle.configureondemand \
    org.gradle.console org.gradle.continue org.gradle.daemon org.gradle.logging.level \
    org.gradle.logging.stacktrace org.gradle.parallel org.gradle.priority org.gradle.vfs.watch \
    org.gradle.warning.mode org.gradle.welcome org.gradle.workers.max kotlin.incremental \
    kotlin.daemon.enabled";

/// Beginnings of properties that mean something to the JVM, its libraries or frameworks.
const RESERVED: &[&str] = &[
    "apple.",
    "catalina.",
    "com.sun.",
    "derby.",
    "file.",
    "groovy.",
    "hibernate.",
    "http.",
    "https.",
    "java.",
    "javax.",
    "jboss.",
    "jdk.",
    "jna.",
    "kotlin.",
    "line.",
    "log4j",
    "logback.",
    "logging.",
    "loader.",
    "micronaut.",
    "native.",
    "os.",
    "org.apache.",
    "org.eclipse.",
    "org.osgi.",
    "org.slf4j.",
    "path.",
    "quarkus.",
    "slf4j.",
    "socks",
    "spring.",
    "sun.",
    "tinylog.",
    "user.",
];

/// Properties among those that change what is said, or how.
const JVM: &str = "\
    file.encoding java.awt.headless logging.level.root org.slf4j.simpleLogger.defaultLogLevel \
    quarkus.log.level quarkus.profile spring.main.banner-mode spring.profiles.active \
    stdout.encoding stderr.encoding user.country user.language user.timezone";

/// Switches of the JVM behind `-XX:+` and `-XX:-`, besides collectors.
const SWITCHES: &str = "\
    AlwaysPreTouch CrashOnOutOfMemoryError DisableExplicitGC EnableDynamicAgentLoading \
    ExitOnOutOfMemoryError OmitStackTraceInFastThrow PrintFlagsFinal \
    ShowCodeDetailsInExceptionMessages TieredCompilation UnlockDiagnosticVMOptions \
    UnlockExperimentalVMOptions UseCompressedOops UseContainerSupport UsePerfData \
    UseStringDeduplication UseVirtualThreads";

/// Numbers behind `-XX:NAME=`.
const NUMBERS: &str = "\
    ActiveProcessorCount CICompilerCount ConcGCThreads InitialHeapSize InitialRAMPercentage \
    MaxDirectMemorySize MaxGCPauseMillis MaxHeapSize MaxMetaspaceSize MaxRAMPercentage \
    MetaspaceSize MinRAMPercentage NewRatio ParallelGCThreads ReservedCodeCacheSize \
    SurvivorRatio ThreadStackSize TieredStopAtLevel";

/// Returns true for what `-D` sets for Maven.
pub(super) fn is_known_to_maven(property: &str) -> bool {
    let (name, set) = parts(property);
    let shown = name == "expression" && set.starts_with("project.");
    let of_tests = ["surefire.", "failsafe."]
        .iter()
        .find_map(|plugin| name.strip_prefix(plugin))
        .is_some_and(|rest| words::holds(MAVEN_TESTS, rest));
    let listed = words::holds(MAVEN, name)
        || MAVEN_STARTS.iter().any(|start| name.starts_with(start))
        // Other expressions show settings, passwords among them.
        || shown
        || of_tests
        || name.ends_with(".skip");
    listed && is_word(name) && is_word(set)
}

/// Returns the file that a property makes Maven write.
pub(super) fn written_by_maven(property: &str) -> Option<&str> {
    let (name, file) = property.split_once('=')?;
    words::holds(MAVEN_WRITTEN, name).then_some(file)
}

/// Returns true for what `-D` sets for Gradle.
pub(super) fn is_known_to_gradle(property: &str) -> bool {
    let (name, set) = parts(property);
    words::holds(GRADLE, name) && is_word(set)
}

/// Returns true for what `-D` or `-X` sets for the JVM.
pub(super) fn is_known_to_jvm(option: &str, value: &str) -> bool {
    if option == "-D" {
        let (name, set) = parts(value);
        let own = !RESERVED.iter().any(|start| name.starts_with(start));
        return is_word(name) && is_word(set) && (own || words::holds(JVM, name));
    }
    let Some(switch) = value.strip_prefix("X:") else {
        let memory = ["mx", "ms", "mn", "ss"].iter().find_map(|kind| value.strip_prefix(kind));
        return memory.is_some_and(is_size)
            || words::holds("int comp batch mixed share:auto share:off share:on", value);
    };
    if let Some(name) = switch.strip_prefix(['+', '-']) {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return plain
            && (words::holds(SWITCHES, name) || (name.starts_with("Use") && name.ends_with("GC")));
    }
    switch.split_once('=').is_some_and(|(name, set)| words::holds(NUMBERS, name) && is_size(set))
}

/// Letters, digits and a few signs; no path and no option.
pub(super) fn is_word(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_.,:#*+!?-[]@ ".contains(letter);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

fn parts(property: &str) -> (&str, &str) {
    property.split_once('=').unwrap_or((property, "true"))
}

/// A number, perhaps with a part behind a point, and perhaps with a unit.
fn is_size(text: &str) -> bool {
    let number = text.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or(text);
    number.split('.').count() <= 2 && number.split('.').all(words::is_number)
}

#[cfg(test)]
mod tests {
    use super::{is_known_to_gradle, is_known_to_jvm, is_known_to_maven, written_by_maven};

    #[test]
    fn properties_choose_no_code_and_no_file() {
        for property in [
            "skipTests",
            "test=ParserTest#parses*",
            "maven.compiler.showWarnings=true",
            "surefire.useFile=false",
            "checkstyle.skip",
            "expression=project.version",
            "org.slf4j.simpleLogger.log.org.apache.maven=warn",
        ] {
            assert!(is_known_to_maven(property), "{property}");
        }
        for property in [
            "maven.repo.local=evil",
            "maven.compiler.executable=x",
            "maven.ext.class.path=x",
            "argLine=-javaagent:x.jar",
            "surefire.reportsDirectory=x",
            "org.slf4j.simpleLogger.logFile=x",
            "expression=settings.servers",
            "test=/tmp/x",
            "exec.mainClass=a",
            "../x.skip",
        ] {
            assert!(!is_known_to_maven(property), "{property}");
        }
        assert_eq!(written_by_maven("mdep.outputFile=/tmp/a"), Some("/tmp/a"));
        assert_eq!(written_by_maven("test=a"), None);
        assert!(is_known_to_gradle("org.gradle.daemon=false"));
        for property in ["org.gradle.jvmargs=x", "org.gradle.java.home=x", "test.single=/x"] {
            assert!(!is_known_to_gradle(property), "{property}");
        }
    }

    #[test]
    fn the_jvm_is_given_no_agent_and_no_file() {
        for (option, value) in [
            ("-X", "mx512m"),
            ("-X", "X:+UseG1GC"),
            ("-X", "X:-UsePerfData"),
            ("-X", "X:MaxRAMPercentage=75.0"),
            ("-X", "share:off"),
            ("-D", "acme.mode=fast"),
            ("-D", "debug"),
            ("-D", "file.encoding=UTF-8"),
        ] {
            assert!(is_known_to_jvm(option, value), "{option}{value}");
        }
        for (option, value) in [
            ("-X", ""),
            ("-X", "mx"),
            ("-X", "log:gc:file=a"),
            ("-X", "bootclasspath/a:x"),
            ("-X", "X:OnError=curl"),
            ("-X", "X:Flags=a"),
            ("-X", "X:HeapDumpPath=1"),
            ("-X", "X:+HeapDumpOnOutOfMemoryError"),
            ("-D", "java.system.class.loader=Evil"),
            ("-D", "java.security.manager"),
            ("-D", "log4j2.configurationFile=a"),
            ("-D", "spring.config.location=a"),
            ("-D", "acme.file=/tmp/x"),
        ] {
            assert!(!is_known_to_jvm(option, value), "{option}{value}");
        }
    }
}
