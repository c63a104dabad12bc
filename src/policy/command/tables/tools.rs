//! More programs that build, check and look, as they come with languages.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs, writes};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["cargo fix"],
        OperandKind::None,
        "-q -v --workspace --all -p= --package= --lib --bin= --bins --tests --all-targets \
         --all-features --features= --allow-dirty --allow-staged --allow-no-vcs --broken-code \
         --edition --edition-idioms --locked --offline",
    ),
    runs(
        &["cargo miri"],
        OperandKind::Only(&["test", "run", "nextest"]),
        "-q -v --workspace -p= --package= --lib --test= --features= --all-features",
    ),
    runs(
        &["cargo update"],
        OperandKind::OnlyWith(&["--dry-run"]),
        "--dry-run -p= --package= -w --workspace --precise= --offline --locked -v -q",
    ),
    runs(
        &["cargo package"],
        OperandKind::OnlyWith(&["--list", "-l"]),
        "--list -l --allow-dirty -p= --package= --offline --locked --no-verify",
    ),
    runs(
        &["cargo outdated", "cargo verify-project"],
        OperandKind::None,
        "-R -d= --depth= --root-deps-only --workspace -w --exit-code= --offline",
    ),
    writes(
        &["goimports", "gofumpt"],
        OperandKind::EditedWith(&["-w"]),
        "-d -e -l -w -local= -extra -v",
    ),
    runs(
        &["python -m json.tool", "python3 -m json.tool"],
        OperandKind::OnePath,
        "--indent= --sort-keys --no-ensure-ascii --compact --json-lines --tab --no-indent",
    ),
    runs(
        &["python -m tabnanny", "python3 -m tabnanny", "python -m tokenize", "python3 -m tokenize"],
        OperandKind::Paths,
        "-v -q -e",
    ),
    runs(
        &["python -m doctest", "python3 -m doctest"],
        OperandKind::Paths,
        "-v -f --verbose --fail-fast -o=",
    ),
    runs(
        &["coverage report", "coverage html", "coverage xml", "coverage json", "coverage lcov"],
        OperandKind::Targets,
        "-m -i -q --show-missing --skip-covered --no-skip-covered --skip-empty --no-skip-empty \
         --ignore-errors --include= --omit= --fail-under= --precision= --sort= --format= --title= \
         --show-contexts --contexts= --pretty-print --quiet --data-file=< --rcfile=< -d=> \
         --directory=> -o=>",
    ),
    runs(
        &["coverage combine"],
        OperandKind::EditedWithout(&["--keep"]),
        "-a -q --append --keep --quiet --data-file=> --rcfile=<",
    ),
    runs(&["coverage erase"], OperandKind::None, "--data-file=> --rcfile=<"),
    runs(&["coverage debug"], OperandKind::Only(&["config", "data", "premain", "sys"]), ""),
    runs(&["coverage help"], OperandKind::Text, ""),
    runs(&["coverage"], OperandKind::None, "--version --help -h"),
    runs(
        &["standardrb"],
        OperandKind::EditedWith(&["--fix", "--fix-unsafely"]),
        "--fix --fix-unsafely --no-fix -f= --format= --parallel",
    ),
    runs(
        &["yard"],
        OperandKind::Only(&["doc", "stats", "list"]),
        "--list-undoc -n -q --no-cache --no-save --no-stats --no-progress -o=> --output-dir=>",
    ),
    runs(
        &["pre-commit run", "prek run"],
        OperandKind::Text,
        "-a --all-files -v --verbose --files=< --show-diff-on-failure --color= --from-ref= \
         --to-ref= --hook-stage= -q",
    ),
    runs(
        &["javac"],
        OperandKind::Paths,
        "-d=> -cp=< -classpath=< --class-path=< --release= -source= -target= -g -nowarn \
         -parameters -Werror -encoding= -proc:none -Xlint -Xlint:all -Xlint:-options -verbose",
    ),
    reads(
        &["javap"],
        OperandKind::Text,
        "-p -c -v -s -l -public -protected -package -private -constants -cp=< -classpath=<",
    ),
    reads(&["ri"], OperandKind::Text, "-T --no-pager -f= --format= -l --list -a --all"),
    runs(&["gem build"], OperandKind::Paths, "--strict --force -o=> --output=> -q"),
    runs(&["staticcheck"], OperandKind::Targets, "-checks= -tests=? -f= -tags="),
    runs(
        &["tox"],
        OperandKind::Only(&["run", "r", "list", "l", "run-parallel", "p", "config", "c"]),
        "-e=@ -q -v -vv -p=? -l -a -r -f= -m= --skip-missing-interpreters=? --parallel= --recreate \
         --notest --skip-pkg-install --no-recreate-pkg --colored= --quiet --verbose --listenvs \
         --listenvs-all",
    ),
    runs(
        &["nox"],
        OperandKind::None,
        "-s=@ --session=@ --sessions=@ -k= -t= -l --list -r -R --reuse-existing-virtualenvs \
         --no-install --stop-on-first-error -x -v --verbose --non-interactive -p= --python= \
         --no-venv --error-on-missing-interpreters",
    ),
    runs(
        &["rspec"],
        OperandKind::Targets,
        "-f= --format= -e= --example= -t= --tag= --fail-fast=? --no-fail-fast --color --no-color \
         --force-color --order= --seed= -p --profile=? --only-failures --next-failure -n -b \
         --backtrace --dry-run -w --warnings -P= --pattern= --bisect=? --no-profile -I=< -v \
         --out=> -o=>",
    ),
];
