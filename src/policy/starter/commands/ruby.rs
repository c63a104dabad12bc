//! Commands of Ruby projects: what Bundler runs, checkers that its lists name, and Rails.

use crate::starter::commands::{RepositoryTools, is_top, listed};

/// Programs of Ruby that look or run what the repository has.
const LOOKS: &str = "\
    ruby, rake, ri, standardrb, yard, bundle exec, bundle list, bundle show, bundle info, bundle \
    outdated, bundle check, bundle platform, bundle version, bundle env, bundle licenses, bundle \
    doctor, bundle help, bundle -v, bundle --version, gem list, gem env, gem contents, gem which, \
    gem dependency, gem specification, gem help, gem build, gem --version, gem -v";
/// Checkers, with the gems that bring them.
const CHECKERS: &[(&str, &str)] = &[
    ("rubocop", "rubocop"),
    ("brakeman", "brakeman"),
    ("reek", "reek"),
    ("fasterer", "fasterer"),
    ("erb_lint", "erb_lint"),
    ("haml_lint", "haml-lint"),
    ("slim_lint", "slim-lint"),
    ("steep", "steep check"),
    ("sorbet", "srb tc"),
];
/// Commands of Rails that look, check or test; those without `:*` take no further words.
const RAILS: &str = "\
    test:*, test:all:*, test:system:*, routes:*, stats, notes:*, about, zeitwerk:check, \
    db:migrate:status, db:version, db:test:prepare, -T, --version";

pub(super) fn ruby(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("Gemfile") else { return };
    let why = manifest.to_string();
    for command in listed(LOOKS) {
        found.add(&format!("{command}:*"), false, &why);
    }
    for (package, program) in CHECKERS {
        if found.mentions(&["Gemfile"], package) {
            found.add(&format!("bundle exec {program}:*"), false, &why);
            found.add(&format!("{program}:*"), false, &why);
        }
    }
    if found.holds("config/application.rb") || found.mentions(&["Gemfile"], "rails") {
        for command in listed(RAILS) {
            // What `bundle exec` starts is judged by the second.
            for call in ["bin/rails", "rails"] {
                found.add(&format!("{call} {command}"), false, "Rails");
            }
        }
        found.add_all(listed("./bin/rails test:*, ./bin/rails routes:*"), "Rails");
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
