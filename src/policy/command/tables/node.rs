//! Package managers of Node: scripts of a package, and what looks at its dependencies.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["npm test", "npm run", "npm t", "npm run-script"],
        OperandKind::Text,
        "-s --silent -q --quiet -d --if-present -w= --workspace= --workspaces=? \
         -ws --include-workspace-root --ignore-scripts=? --foreground-scripts=? --loglevel= \
         --color=? --no-color --offline --prefer-offline --no-audit --no-fund --no-progress \
         --no-update-notifier --json",
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
        "-a --all --depth= --json --long -w= --workspace= --workspaces --omit= --include= --dev \
         -D --prod -P --production -r --recursive --parseable -p --offline --pattern= -l -g \
         --global --link --package-lock-only --unicode=? --color=? --no-color -s --silent \
         --loglevel=",
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
    // What they do not know is for the script.
    runs(
        &["yarn test", "yarn run", "yarn build", "yarn lint"],
        OperandKind::Targets,
        "-s --silent",
    ),
    runs(
        &["pnpm test", "pnpm run", "pnpm build", "pnpm lint"],
        OperandKind::Targets,
        "-s --silent -r --recursive --if-present -F= --filter= -w --workspace-root --parallel \
         --stream --reporter=@",
    ),
];
