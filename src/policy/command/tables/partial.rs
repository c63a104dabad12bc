//! Programs of which only some options are known. With another one they are judged as programs
//! without a table are.
//!
//! Data only, in the notation of `tables`. Left out on purpose: what may write to a file that no
//! notation can name.

use crate::command::tables::{CommandTable, OperandKind, runs};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["phpunit", "pest"],
        OperandKind::Targets,
        "-c=< --configuration=< --no-configuration --bootstrap=< --include-path=< --filter=* \
         --exclude-filter= --testsuite= --exclude-testsuite= --group= --exclude-group= --covers= \
         --uses= --test-suffix= --coverage-text --coverage --no-coverage --coverage-filter=< \
         --path-coverage --coverage-clover=> --coverage-cobertura=> --coverage-crap4j=> \
         --coverage-html=> --coverage-openclover=> --coverage-php=> --coverage-xml=> --log-junit=> \
         --log-otr=> --log-teamcity=> --log-events-text=> --log-events-verbose-text=> \
         --testdox-html=> --testdox-text=> --testdox --testdox-summary --teamcity --compact \
         --cache-directory=> --cache-result --do-not-cache-result --colors=? --columns= --stderr \
         --no-progress --no-results --no-output --no-logging --no-extensions -v --verbose --debug \
         --display-incomplete --display-skipped --display-deprecations --display-errors \
         --display-notices --display-warnings --display-all-issues --reverse-list --order-by= \
         --random-order-seed= --random-order --stop-on-defect --stop-on-error --stop-on-failure \
         --stop-on-warning --stop-on-risky --stop-on-deprecation --stop-on-notice \
         --stop-on-skipped --stop-on-incomplete --fail-on-warning --fail-on-risky \
         --fail-on-deprecation --fail-on-notice --fail-on-skipped --fail-on-incomplete \
         --fail-on-empty-test-suite --fail-on-all-issues --process-isolation --globals-backup \
         --static-backup --strict-coverage --strict-global-state --disallow-test-output \
         --enforce-time-limit --default-time-limit= --repeat= --list-suites --list-groups \
         --list-tests --list-test-files --parallel -p --processes= --bail --profile --version -h \
         --help",
    ),
    runs(
        &["vite build"],
        OperandKind::Targets,
        "--outDir=> --assetsDir= --assetsInlineLimit= --target= --minify=? --ssr=? --sourcemap=? \
         --emptyOutDir -c=< --config=< --base=* -l= --logLevel= --clearScreen=? -m= --mode= -d=? \
         --debug=? -f= --filter= --app -h --help",
    ),
    runs(
        &["typedoc"],
        OperandKind::Targets,
        "--out=> --json=> --tsconfig=< --options=< --entryPoints=< --entryPointStrategy= --name= \
         --readme=< --excludePrivate=? --excludeProtected=? --excludeInternal=? \
         --excludeExternals=? --exclude= --includeVersion=? --skipErrorChecking=? --logLevel= \
         --treatWarningsAsErrors=? --validation.invalidLink=? --emit= --pretty=? \
         --disableSources=? --hideGenerator=? --version --help",
    ),
    runs(
        &["playwright test"],
        OperandKind::Targets,
        "-c=< --config=< --output=> --list --project= -g=* --grep=* -G=* --grep-invert=* --headed \
         -j= --workers= --timeout= --global-timeout= --max-failures= -x --retries= --repeat-each= \
         --forbid-only --fully-parallel --fail-on-flaky-tests --pass-with-no-tests --no-deps \
         --only-changed=? --last-failed --shard= --shuffle=? --quiet --trace= --ignore-snapshots \
         -u --update-snapshots=? --reporter=@ --tsconfig=< -h --help",
    ),
    runs(
        &["stylelint"],
        OperandKind::EditedWith(&["--fix"]),
        "--fix -c=< --config=< --ignore-path=< -i=< --ignore-pattern= --quiet -q --cache \
         --cache-location=> --cache-strategy= -f=@ --formatter=@ -o=> --output-file=> \
         --max-warnings= --allow-empty-input --aei --report-needless-disables --rd \
         --ignore-disables --id --print-config --stdin --stdin-filename=< --color --no-color \
         --version -v -h --help",
    ),
];
