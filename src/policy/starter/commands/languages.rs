//! Commands of Go, Java and .NET projects.

use std::collections::BTreeSet;

use crate::starter::commands::{RepositoryTools, is_safe, is_top, listed};
use crate::starter::scan::split;

pub(super) fn go(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("go.mod") else { return };
    let why = manifest.to_string();
    // Where there is no test, the packages are at least compiled and looked at.
    let proof = if has_go_tests(found) { "go test ./..." } else { "go vet ./..." };
    found.add(proof, is_top(manifest), &why);
    for verb in listed(
        "test, vet, build, run, generate, fmt, fix, list, doc, env, version, help, clean, tool, \
         mod why, \
         mod graph, mod verify, mod tidy",
    ) {
        found.add(&format!("go {verb}:*"), false, &why);
    }
    found.add_all(
        listed(
            "gofmt:*, goimports:*, gofumpt:*, staticcheck:*, gotestsum:*, go mod edit -json, go \
             mod edit -print, go work edit -json",
        ),
        &why,
    );
    if [".golangci.yml", ".golangci.yaml", ".golangci.toml"].iter().any(|name| found.has(name)) {
        let why = "golangci-lint is set up";
        found.add_set_up("golangci-lint run:*", why);
        found.add_all(
            listed(
                "golangci-lint fmt:*, golangci-lint linters:*, golangci-lint formatters:*, \
                 golangci-lint config path:*, golangci-lint config verify, golangci-lint cache \
                 status, golangci-lint help:*, golangci-lint version:*, golangci-lint --version",
            ),
            why,
        );
    }
    let programs = found.scan.files.iter().filter_map(|path| {
        let (program, file) = path.as_str().strip_prefix("cmd/")?.split_once('/')?;
        (file == "main.go" && is_safe(program)).then(|| program.to_owned())
    });
    for program in programs.collect::<BTreeSet<_>>() {
        found.add(&format!("./bin/{program}:*"), false, &format!("cmd/{program}"));
        found.add(&format!("./{program}:*"), false, &format!("cmd/{program}"));
    }
}

/// Whether the first module has tests of its own, and not in another module below it.
fn has_go_tests(found: &RepositoryTools<'_>) -> bool {
    let nested = found.all_named("go.mod").filter(|path| !is_top(path)).map(|path| split(path).0);
    let nested: BTreeSet<&str> = nested.collect();
    let is_nested = |path: &str| {
        nested
            .iter()
            .any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    };
    let mut files = found.scan.files.iter().map(|path| path.as_str());
    files.any(|path| path.ends_with("_test.go") && !is_nested(path))
}

pub(super) fn java(found: &mut RepositoryTools<'_>) {
    for (manifest, wrapper, program, offline) in [
        (found.named("pom.xml"), "mvnw", "mvn", "-o"),
        (
            found.named("build.gradle").or_else(|| found.named("build.gradle.kts")),
            "gradlew",
            "gradle",
            "--offline",
        ),
    ] {
        let Some(manifest) = manifest else { continue };
        let wrapped = format!("./{wrapper}");
        let own = found.has(wrapper).then_some(wrapped.as_str());
        let why = format!("{manifest}; offline, as commands reach no network");
        let first = own.unwrap_or(program);
        found.add(&format!("{first} {offline} test:*"), is_top(manifest), &why);
        for program in own.into_iter().chain([program]) {
            found.add(
                &format!("{program}:*"),
                false,
                &format!("{manifest}; tasks that build and test"),
            );
        }
    }
    if found.has("pom.xml") || found.has("build.gradle") || found.has("build.gradle.kts") {
        found.add_all(
            listed(
                "java:*, javac:*, javap:*, jar tf:*, jar -tf:*, jar tvf:*, jar --list:*, jshell \
                 --version",
            ),
            "sources in Java",
        );
        let builds = ["pom.xml", "build.gradle", "build.gradle.kts"];
        if found.mentions(&builds, "google-java-format")
            || found.mentions(&builds, "googleJavaFormat")
        {
            found.add_set_up("google-java-format:*", "google-java-format is set up");
        }
    }
}

/// Verbs of .NET that look, build, format or run what the solution has.
const DOTNET: &str = "\
    dotnet build:*, dotnet format:*, dotnet clean:*, dotnet run:*, dotnet list:*, dotnet sln \
    list:*, dotnet solution list:*, dotnet tool list:*, dotnet workload list, dotnet help:*, \
    dotnet --version, dotnet --info, dotnet --list-sdks, dotnet --list-runtimes, dotnet --help, \
    dotnet msbuild -version";

pub(super) fn dotnet(found: &mut RepositoryTools<'_>) {
    let project = [".sln", ".slnx", ".csproj", ".fsproj"].iter().find_map(|ending| {
        let ends = found.scan.files.iter().filter(|path| path.as_str().ends_with(ending));
        ends.min_by_key(|path| path.parts().count())
    });
    let Some(project) = project else { return };
    let why = project.to_string();
    found.add("dotnet test:*", is_top(project), &why);
    found.add_all(listed(DOTNET), &why);
}
