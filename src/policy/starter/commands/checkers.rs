//! Programs that check or format files of any kind, each found by its settings.

use crate::starter::ci::is_workflow;
use crate::starter::commands::{RepositoryTools, listed};

/// Files of settings at the top, and the commands of the program that they are for. A program whose
/// options start others, or rewrite files, is spelled out.
const CHECKERS: &[(&[&str], &str)] = &[
    (&[".yamllint", ".yamllint.yml", ".yamllint.yaml"], "yamllint:*"),
    (&[".hadolint.yaml", ".hadolint.yml"], "hadolint:*"),
    (
        &[".markdownlint.json", ".markdownlint.jsonc", ".markdownlint.yaml", ".markdownlint.yml"],
        "markdownlint:*, markdownlint-cli2:*",
    ),
    (&[".markdownlint-cli2.jsonc", ".markdownlint-cli2.yaml"], "markdownlint-cli2:*"),
    (&["typos.toml", "_typos.toml", ".typos.toml"], "typos:*"),
    (&[".codespellrc"], "codespell:*"),
    (&[".ecrc", ".editorconfig-checker.json"], "editorconfig-checker"),
    (&[".vale.ini"], "vale:*"),
    (&[".sqlfluff"], "sqlfluff lint:*"),
    (&[".tflint.hcl"], "tflint, tflint --recursive"),
    (&[".ansible-lint", ".ansible-lint.yml"], "ansible-lint:*"),
    (&["buf.yaml", "buf.work.yaml"], "buf lint:*, buf build, buf format -d, buf format --diff"),
    (&["dprint.json", ".dprint.json"], "dprint check:*"),
    (
        &["taplo.toml", ".taplo.toml"],
        "taplo lint:*, taplo check:*, taplo fmt --check:*, taplo format --check:*",
    ),
    (&[".hlint.yaml"], "hlint:*"),
    (&["fourmolu.yaml"], "fourmolu --mode check:*"),
    (&[".ocamlformat"], "ocamlformat --check:*"),
    (&[".luacheckrc"], "luacheck:*"),
    (&[".busted"], "busted:*"),
    (&["stylua.toml", ".stylua.toml"], "stylua --check:*"),
    (&["mkdocs.yml"], "mkdocs build:*"),
    (&["book.toml", "docs/book.toml"], "mdbook build, mdbook test, mdbook build docs"),
    (&["alembic.ini"], "alembic history:*, alembic heads:*, alembic branches:*, alembic show:*"),
    (&["MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"], "bazel test //..., bazel build //..."),
];

pub(super) fn checkers(found: &mut RepositoryTools<'_>) {
    for (files, commands) in CHECKERS {
        if let Some(file) = files.iter().find(|file| found.holds(file)) {
            found.add_all(listed(commands), file);
        }
    }
    if found.scan.texts.iter().any(|(path, text)| is_workflow(path, text)) {
        found.add("actionlint:*", false, ".github/workflows");
    }
}
