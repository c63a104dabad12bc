//! Commands of Go, Java, Ruby, PHP, .NET and Elixir projects.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::starter::commands::{RepositoryTools, is_safe, is_top, listed};
use locum_base::path::RepoPath;

pub(super) fn go(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("go.mod") else { return };
    let why = manifest.to_string();
    found.add("go test ./...", is_top(manifest), &why);
    for verb in listed(
        "test, vet, build, run, generate, fmt, fix, list, doc, env, version, help, clean, tool, \
         mod why, \
         mod graph, mod verify, mod tidy",
    ) {
        found.add(&format!("go {verb}:*"), false, &why);
    }
    for program in ["gofmt:*", "goimports:*", "gofumpt:*", "staticcheck:*", "gotestsum:*"] {
        found.add(program, false, &why);
    }
    if [".golangci.yml", ".golangci.yaml", ".golangci.toml"].iter().any(|name| found.has(name)) {
        found.add_set_up("golangci-lint run:*", "golangci-lint is set up");
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
        for program in ["java:*", "javac:*", "javap:*", "jar tf:*", "jar -tf:*"] {
            found.add(program, false, "sources in Java");
        }
        let builds = ["pom.xml", "build.gradle", "build.gradle.kts"];
        if found.mentions(&builds, "google-java-format")
            || found.mentions(&builds, "googleJavaFormat")
        {
            found.add_set_up("google-java-format:*", "google-java-format is set up");
        }
    }
}

/// Programs of Ruby that look or run what the repository has.
pub(super) fn ruby(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("Gemfile") else { return };
    let why = manifest.to_string();
    for command in listed(
        "ruby, rake, ri, standardrb, yard, bundle exec, bundle list, bundle show, bundle info, \
         bundle outdated, \
         bundle check, bundle -v, bundle --version, gem list, gem env, gem contents, gem \
         which, gem build, gem --version, gem -v",
    ) {
        found.add(&format!("{command}:*"), false, &why);
    }
    if found.mentions(&["Gemfile"], "rubocop") {
        found.add("bundle exec rubocop:*", false, &why);
        found.add("rubocop:*", false, &why);
    }
    let rspec = found.has("spec_helper.rb") || found.mentions(&["Gemfile"], "rspec");
    if rspec {
        found.add("bundle exec rspec:*", is_top(manifest), &why);
        found.add("rspec:*", false, &why);
    } else if let Some(tasks) = found.named("Rakefile").filter(|path| is_top(path)) {
        // A default task is, as a rule, the tests.
        let text = found.text(tasks);
        let has_default = text.contains("default: ") || text.contains(":default =>");
        let task = if has_default { "bundle exec rake" } else { "bundle exec rake test" };
        found.add(task, true, &tasks.to_string());
    }
}

pub(super) fn others(found: &mut RepositoryTools<'_>) {
    let project = [".sln", ".slnx", ".csproj"].iter().find_map(|ending| {
        let ends = found.scan.files.iter().filter(|path| path.as_str().ends_with(ending));
        ends.min_by_key(|path| path.parts().count())
    });
    let projects: [(Option<&RepoPath>, &str, &[&str]); 2] = [
        (found.named("mix.exs"), "mix", &["format", "compile", "credo", "dialyzer", "deps"]),
        (project, "dotnet", &["build", "format", "list", "--version", "--info"]),
    ];
    for (manifest, program, verbs) in projects {
        let Some(manifest) = manifest else { continue };
        found.add(&format!("{program} test:*"), is_top(manifest), &manifest.to_string());
        for verb in verbs {
            found.add(&format!("{program} {verb}:*"), false, &manifest.to_string());
        }
    }
}

/// Programs that Composer installs, with a word of `composer.json` that shows it.
const PHP_PROGRAMS: &[(&str, &str)] = &[
    ("phpunit/phpunit", "phpunit"),
    ("pestphp/pest", "pest"),
    ("phpstan/", "phpstan"),
    ("vimeo/psalm", "psalm"),
    ("squizlabs/php_codesniffer", "phpcs"),
    ("php-cs-fixer", "php-cs-fixer"),
    ("laravel/pint", "pint"),
];

/// Scripts of Composer, and the programs it installs.
pub(super) fn php(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("composer.json") else { return };
    let why = manifest.to_string();
    for looks in listed("php, composer show, composer validate, composer check-platform-reqs") {
        found.add(&format!("{looks}:*"), false, &why);
    }
    let package = serde_json::from_str::<Json>(found.text(manifest)).unwrap_or_default();
    let scripts = package.get("scripts").and_then(Json::as_object);
    let own = scripts.into_iter().flatten().map(|(name, _)| name.as_str());
    // Composer's events are `pre-install-cmd` and the like.
    let is_event = |name: &str| name.starts_with("pre-") || name.starts_with("post-");
    let own: Vec<&str> = own.filter(|name| is_safe(name) && !is_event(name)).collect();
    for script in &own {
        let proves = *script == "test" && is_top(manifest);
        found.add(&format!("composer {script}:*"), proves, &format!("a script of {why}"));
    }
    for (package, program) in PHP_PROGRAMS {
        if !found.mentions(&["composer.json"], package) {
            continue;
        }
        let is_test = matches!(*program, "phpunit" | "pest");
        let proves = is_test && is_top(manifest) && !own.contains(&"test");
        let because = format!("{package} is in {why}");
        for call in ["vendor/bin/", "./vendor/bin/", "composer exec "] {
            found.add(&format!("{call}{program}:*"), proves && call == "vendor/bin/", &because);
        }
    }
}
