//! Commands of PHP projects: scripts of Composer, the programs it installs, and consoles of
//! frameworks.

use serde_json::Value as Json;

use crate::starter::commands::{RepositoryTools, is_safe, is_top, listed};

/// Programs that Composer installs, with a word of `composer.json` that shows it.
const PROGRAMS: &[(&str, &str)] = &[
    ("phpunit/phpunit", "phpunit"),
    ("pestphp/pest", "pest"),
    ("brianium/paratest", "paratest"),
    ("behat/behat", "behat"),
    ("codeception/codeception", "codecept run"),
    ("phpspec/phpspec", "phpspec run"),
    ("phpbench/phpbench", "phpbench run"),
    ("infection/infection", "infection"),
    ("phpstan/", "phpstan"),
    ("vimeo/psalm", "psalm"),
    ("phpmd/phpmd", "phpmd"),
    ("deptrac", "deptrac analyse"),
    ("parallel-lint", "parallel-lint"),
    ("squizlabs/php_codesniffer", "phpcs"),
    ("squizlabs/php_codesniffer", "phpcbf"),
    ("php-cs-fixer", "php-cs-fixer"),
    ("easy-coding-standard", "ecs check"),
    ("rector/rector", "rector process --dry-run"),
    ("laravel/pint", "pint"),
];
/// What Composer and PHP show, and how the former finds classes.
const LOOKS: &str = "\
    php:*, php -m, php --ini, php --modules, composer show:*, composer validate:*, \
    composer check-platform-reqs:*, composer dump-autoload:*, composer dumpautoload:*, composer \
    licenses:*, composer why:*, composer depends:*, composer why-not:*, composer prohibits:*, \
    composer suggests:*, composer status:*, composer help:*, composer list, composer about, \
    composer run --list, composer run-script --list, composer --version";
/// Commands of a console of Laravel or Symfony that look or test; of these consoles only their
/// names are known.
const CONSOLES: &[(&str, &str)] = &[
    (
        "artisan",
        "test, route:list, migrate:status, model:show, event:list, schedule:list, about, list, \
         --version",
    ),
    (
        "bin/console",
        "debug:router, debug:autowiring, debug:event-dispatcher, lint:container, lint:yaml, \
         lint:twig, lint:xliff, doctrine:schema:validate, about, list, --version",
    ),
];

pub(super) fn php(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("composer.json") else { return };
    let why = manifest.to_string();
    found.add_all(listed(LOOKS), &why);
    let package = serde_json::from_str::<Json>(found.text(manifest)).unwrap_or_default();
    let scripts = package.get("scripts").and_then(Json::as_object);
    let own = scripts.into_iter().flatten().map(|(name, _)| name.as_str());
    // Composer's events are `pre-install-cmd` and the like.
    let is_event = |name: &str| name.starts_with("pre-") || name.starts_with("post-");
    let own: Vec<&str> = own.filter(|name| is_safe(name) && !is_event(name)).collect();
    for script in &own {
        let proves = *script == "test" && is_top(manifest);
        let because = format!("a script of {why}");
        found.add(&format!("composer {script}:*"), proves, &because);
        for verb in ["run", "run-script"] {
            found.add(&format!("composer {verb} {script}:*"), false, &because);
        }
    }
    for (package, program) in PROGRAMS {
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
    consoles(found);
}

fn consoles(found: &mut RepositoryTools<'_>) {
    for (console, commands) in CONSOLES {
        if !found.holds(console) {
            continue;
        }
        for command in listed(commands) {
            let here = if console.contains('/') { *console } else { "./artisan" };
            found.add(&format!("{here} {command}:*"), false, console);
            found.add(&format!("php {console} {command}"), false, console);
        }
    }
}
