//! Programs of Ruby: tests, tasks, checkers, Bundler and gems.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["rake"],
        OperandKind::Tasks,
        "-T -D -W -P -n -q -s -t -v -A -m -N -h --tasks --describe --where --prereqs --dry-run \
         --quiet --silent --trace=? --backtrace=? --suppress-backtrace= --verbose --all \
         --multitask --build-all --comments --no-deprecation-warnings --no-search --nosearch \
         --job-stats=? --rules --version --help -j= --jobs=",
    ),
    // Without a file they go through sources of Ruby whose names do not begin with a dot: no
    // protected file is one, and what code of the repository writes is left to the sandbox.
    runs(
        &["rubocop"],
        OperandKind::EditedWith(&[
            "-a",
            "-A",
            "-x",
            "--autocorrect",
            "--autocorrect-all",
            "--auto-correct",
            "--auto-correct-all",
            "--safe-auto-correct",
            "--fix-layout",
            "--disable-uncorrectable",
        ]),
        "-a -A -x -l -D -E -S -P -h -v -V -f=@ --format=@ -c=< --config=< -o=> --out=> \
         --only= --except= \
         --autocorrect --autocorrect-all --auto-correct --auto-correct-all --safe-auto-correct \
         --fix-layout --disable-uncorrectable --safe --lint --display-cop-names \
         --no-display-cop-names --display-style-guide --display-time \
         --display-only-fail-level-offenses --display-only-correctable \
         --display-only-safe-correctable --extra-details --parallel \
         --no-parallel --fail-level= -F --fail-fast --cache= -L --list-target-files --color \
         --no-color --debug -d --force-exclusion --only-recognized-file-types \
         --force-default-config --no-server --ignore-parent-exclusion --ignore-disable-comments \
         --ignore-unrecognized-cops --disable-pending-cops --enable-pending-cops --only-guide-cops \
         --no-exclude-limit --raise-cop-error --profile --memory --stderr --show-cops=? \
         --show-docs-url=? -s=< --stdin=< --version --verbose-version",
    ),
    runs(
        &["standardrb"],
        OperandKind::EditedWith(&["--fix", "--fix-unsafely"]),
        "--fix --fix-unsafely --no-fix -f=@ --format=@ --only= --except= --parallel --version -v \
         -V -h",
    ),
    runs(
        &["rspec"],
        OperandKind::Targets,
        "-r=@ --require=@ -f=@ --format=@ -e=* --example=* -E=* --example-matches=* -t= --tag= \
         --fail-fast=? --no-fail-fast --failure-exit-code= --error-exit-code= \
         --fail-if-no-examples -c --color --no-color --colour --no-colour --force-color --order= \
         --seed= -p --profile=? --no-profile --only-failures --next-failure -n -b --backtrace \
         --full-backtrace --dry-run -w --warnings -P= --pattern= --exclude-pattern= --bisect=? \
         -I=< --deprecation-out=> --out=> -o=> -v --version -h",
    ),
    runs(
        &["yard"],
        OperandKind::Only(&["doc", "stats", "list", "help"]),
        "--list-undoc --compact -n -q --quiet --verbose --no-cache -c --use-cache --no-save \
         --no-output --no-stats --no-progress --private --protected --no-public --no-private \
         --hide-void-return --embed-mixins --no-api --fail-on-warning --debug --title= -m= \
         --markup= --exclude= -r=< --readme=< -b=> --db=> -o=> --output-dir=>",
    ),
    reads(
        &["ri"],
        OperandKind::Text,
        "-T --no-pager -f= --format= -w= --width= -l --list -a --all --no-all --no-gems --no-home \
         --no-site --no-standard-docs -v --version -h",
    ),
    runs(
        &[
            "bundle list",
            "bundle show",
            "bundle info",
            "bundle outdated",
            "bundle check",
            "bundle platform",
            "bundle version",
            "bundle env",
            "bundle licenses",
            "bundle doctor",
            "bundle help",
        ],
        OperandKind::Text,
        "--strict --name-only --paths --path --groups= --only-group= --without-group= --parseable \
         --porcelain --only-explicit --filter-strict --filter-major --filter-minor --filter-patch \
         --local --dry-run --group= --verbose --quiet --ruby --outdated --version --major --minor \
         --patch --pre --format= --no-color",
    ),
    reads(
        &[
            "gem list",
            "gem env",
            "gem environment",
            "gem contents",
            "gem which",
            "gem dependency",
            "gem specification",
            "gem help",
        ],
        OperandKind::Text,
        "-l --local -a --all -d --details -i --installed -e --exact -v= --version= --no-details \
         --versions --no-versions --no-installed --prerelease --prefix --no-prefix \
         --no-lib-only --lib-only -R --reverse-dependencies --pipe --yaml --ruby --marshal -g \
         --gems-first --verbose -q --quiet --silent -h",
    ),
    runs(
        &["gem build"],
        OperandKind::Paths,
        "--strict --force -o=> --output=> --platform= -q --quiet --verbose --silent",
    ),
];
