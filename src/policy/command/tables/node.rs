//! Programs of Node: package managers, compilers, checkers and test runners.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["npm test", "npm run"],
        OperandKind::Text,
        "-s --silent --if-present -w= --workspace= --workspaces --include-workspace-root",
    ),
    runs(
        &["npm t", "npm run-script"],
        OperandKind::Text,
        "-s --silent --if-present -w= --workspace= --workspaces",
    ),
    reads(
        &[
            "npm ls",
            "npm list",
            "npm ll",
            "npm explain",
            "npm why",
            "npm prefix",
            "npm root",
            "npm pkg get",
            "npm query",
            "npm help",
            "npm fund",
            "npm outdated",
            "npm bin",
        ],
        OperandKind::Text,
        "-a --all --depth= --json --long -w= --workspaces --omit= --include= --dev -D --prod -P \
         --production -r --recursive --parseable --offline --pattern= -l",
    ),
    // Which program these two start is said by files of the repository.
    runs(
        &[
            "pnpm ls",
            "pnpm list",
            "pnpm why",
            "pnpm root",
            "yarn list",
            "yarn why",
            "yarn info",
            "yarn workspaces list",
            "pnpm outdated",
        ],
        OperandKind::Text,
        "-a --all --depth= --json --long -w= --workspaces --omit= --include= --dev -D --prod -P \
         --production -r --recursive --parseable --offline --pattern= -l",
    ),
    reads(
        &["npm config get", "npm get", "pnpm config get"],
        OperandKind::Only(&[
            "registry",
            "prefix",
            "cache",
            "userconfig",
            "globalconfig",
            "node-version",
            "save-exact",
            "engine-strict",
            "workspaces",
            "package-lock",
            "fund",
            "audit",
            "loglevel",
        ]),
        "",
    ),
    runs(&["yarn test"], OperandKind::Targets, "-s --silent --watch=? --coverage --ci"),
    runs(&["yarn run", "yarn build", "yarn lint"], OperandKind::Targets, "-s --silent"),
    runs(
        &["pnpm test", "pnpm run", "pnpm build", "pnpm lint"],
        OperandKind::Targets,
        "-s --silent -r --recursive --if-present -F= --filter= -w --workspace-root --parallel \
         --stream --run --check --fix --coverage=? --watch=? --reporter=@ -t= -u",
    ),
    runs(
        &["tsc"],
        OperandKind::Targets,
        "-p=< --project=< -b --build --noEmit --pretty=? --strict --skipLibCheck --incremental \
         --listFiles --showConfig -v --version --dry --force --verbose --diagnostics \
         --extendedDiagnostics --explainFiles --listEmittedFiles --outDir=>",
    ),
    runs(
        &["eslint"],
        OperandKind::Targets,
        "--fix --fix-dry-run --ext= --max-warnings= --quiet --no-eslintrc --cache --color \
         --no-color -f=@ --format=@ --no-error-on-unmatched-pattern",
    ),
    runs(
        &["prettier"],
        OperandKind::EditedWith(&["--write", "-w"]),
        "-c -l -w --check --list-different --write --log-level= --no-color \
         --no-error-on-unmatched-pattern",
    ),
    runs(
        &["jest"],
        OperandKind::Targets,
        "-t= -i -u -o -b -w= --testNamePattern= --testPathPattern= --testPathPatterns= --runInBand \
         --ci --coverage=? --silent --verbose --bail=? --no-cache --passWithNoTests --listTests \
         --onlyChanged --updateSnapshot --maxWorkers= --watchAll=? --watch=? --no-coverage \
         --detectOpenHandles --forceExit --clearCache --expand --runTestsByPath --findRelatedTests \
         --changedSince= --selectProjects= --testTimeout= --colors --no-colors --logHeapUsage \
         --randomize --shard= --collectCoverageFrom= --json --outputFile=> --coverageDirectory=>",
    ),
    runs(
        &["vitest"],
        OperandKind::Targets,
        "-t= -u --run --coverage=? --silent=? --bail= --reporter=@ --no-color --color \
         --passWithNoTests \
         --update --testNamePattern= --maxWorkers= --minWorkers= --pool= --no-coverage --watch=? \
         --no-watch --project= --changed=? --shard= --typecheck=? --dom --globals --retry= \
         --testTimeout= --hideSkippedTests --no-file-parallelism --fileParallelism=? --allowOnly=? \
         --exclude= --sequence.shuffle --logHeapUsage --no-isolate --dir=< --outputFile=> \
         --coverage.reportsDirectory=>",
    ),
    runs(
        &["biome check", "biome lint", "biome format", "biome ci"],
        OperandKind::EditedWith(&["--write", "--fix", "--unsafe"]),
        "--write --fix --unsafe --changed --staged --no-errors-on-unmatched --reporter= \
         --diagnostic-level= --max-diagnostics= --colors= --verbose",
    ),
];
