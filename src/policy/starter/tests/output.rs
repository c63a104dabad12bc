//! Caches and build output that a starter lets be removed, and what lies beside them.

use super::check;

#[test]
fn caches_that_git_ignores_may_be_removed() {
    let ignored = "__pycache__/\n.venv/\n/build/\ndist/\n.coverage\nhtmlcov\n";
    check(
        &[("pyproject.toml", ""), ("src/a/b.py", ""), (".gitignore", ignored)],
        &[
            "command(rm -rf build/ dist htmlcov)",
            "command(rm -f .coverage)",
            "command(rm -rf .pytest_cache .mypy_cache .ruff_cache)",
        ],
        &[
            "command(rm -rf .venv)",
            "command(rm -rf .tox)",
            "command(rm -rf .git)",
            "command(rm -rf .github)",
            "command(rm -rf out)",
            "command(rm -rf .coveragerc)",
            "command(rm -rf .hypothesis)",
            "edit(.pytest_cache/x.py)",
            "command(rm -rf .)",
        ],
    );
    check(
        &[
            ("package.json", "{\"scripts\": {\"build\": \"x\"}}"),
            ("src/a.ts", ""),
            (".gitignore", "node_modules/\ndist/\ncoverage/\n.next/\n"),
        ],
        &[
            "command(rm -rf dist coverage node_modules/.cache && npm run build)",
            "command(rm -rf node_modules/.vite .next)",
        ],
        &[
            "command(rm -rf node_modules)",
            "command(rm -rf node_modules/vite)",
            "command(rm -rf .pytest_cache)",
            "command(rm -rf .turbo)",
            "command(rm -rf build)",
        ],
    );
    // What the repository holds is none.
    check(
        &[("a.py", ""), ("dist/a.js", ""), (".gitignore", "dist/\nbuild/\n")],
        &["command(rm -rf build)"],
        &["command(rm -rf dist)"],
    );
}
