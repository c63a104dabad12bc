//! Programs of Rust: verbs of Cargo, the compiler and the formatter.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, ProgramEffect, reads, runs, writes};

const CARGO: &str = "-q --quiet -v --verbose --workspace --all -p= --package= --exclude= --lib \
                     --bin= --bins --test= --tests --example= --examples --bench= --benches \
                     --all-targets --all-features --no-default-features -F= --features= -j= \
                     --jobs= --keep-going --release -r --profile= --locked --offline --frozen \
                     --color= --message-format= --manifest-path=< --target=< --no-run \
                     --no-fail-fast --doc --future-incompat-report --ignore-rust-version \
                     --timings=? --target-dir=> -h";

/// What `cargo nextest` has besides.
const NEXTEST: &str = "-E= --filter-expr= --filterset= --ignore-default-filter -P= \
                       --cargo-profile= --build-jobs= --retries= --test-threads= --no-capture \
                       --nocapture --run-ignored= --partition= --platform-filter= --fail-fast \
                       --ff --nff --max-fail= --no-tests= --stress-count= --flaky-result= \
                       --status-level= --final-status-level= --failure-output= \
                       --success-output= --show-progress= --hide-progress-bar \
                       --max-progress-running= --no-output-indent --no-input-handler \
                       --cargo-quiet --cargo-verbose --message-format-version= -T= --list-type=";

/// What `cargo llvm-cov` has besides.
const COVERAGE: &str = "--html --text --json --lcov --cobertura --codecov --summary-only \
                        --output-path=> --output-dir=> --branch --mcdc --doctests --no-clean \
                        --no-report --no-cfg-coverage --no-cfg-coverage-nightly \
                        --ignore-filename-regex= --show-instantiations --show-missing-lines \
                        --include-build-script --include-ffi --skip-functions \
                        --fail-under-functions= --fail-under-lines= --fail-under-regions= \
                        --fail-uncovered-functions= --fail-uncovered-lines= \
                        --fail-uncovered-regions= --dep-coverage= --failure-mode= \
                        --ignore-run-fail --remap-path-prefix --coverage-target-only \
                        --exclude-from-test= --exclude-from-report= -E= --retries= --test-threads= \
                        --no-capture";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    cargo(&["cargo test", "cargo t", "cargo bench", "cargo run", "cargo r"], OperandKind::Text, ""),
    cargo(&["cargo nextest run", "cargo nextest list"], OperandKind::Text, NEXTEST),
    // Its other verbs change the program itself, or write archives.
    runs(&["cargo nextest"], OperandKind::None, "-V --version -h"),
    cargo(&["cargo llvm-cov"], OperandKind::Text, COVERAGE),
    // What is behind `--` is for the compiler, see `clippy-driver`.
    cargo(
        &["cargo clippy"],
        OperandKind::None,
        "--no-deps --fix --allow-dirty --allow-staged --allow-no-vcs --explain=",
    ),
    cargo(&["cargo build", "cargo b", "cargo check", "cargo c"], OperandKind::None, ""),
    // What is behind `--` is for the compiler.
    cargo(&["cargo rustc"], OperandKind::None, "--crate-type= --print=@"),
    cargo(
        &["cargo doc", "cargo d"],
        OperandKind::None,
        "--no-deps --document-private-items --examples",
    ),
    cargo(
        &["cargo fix"],
        OperandKind::None,
        "--allow-dirty --allow-staged --allow-no-vcs --broken-code --edition --edition-idioms",
    ),
    runs(
        &["clippy-driver"],
        OperandKind::None,
        "-A= -W= -D= -F= --allow= --warn= --deny= --forbid= --force-warn= --cap-lints= --cfg= \
         --check-cfg= --color= --error-format= --explain= --no-deps -v --verbose -V --version -h",
    ),
    writes(
        &["cargo clean"],
        OperandKind::None,
        "-p= --package= -r --release --doc --profile= -n --dry-run -v --verbose -q --quiet \
         --workspace --target=< --manifest-path=< --color= --offline --locked --frozen -h",
    ),
    runs(
        &["cargo pkgid", "cargo locate-project", "cargo version", "cargo read-manifest"],
        OperandKind::Text,
        "--workspace --message-format= -p= --package= --manifest-path=< -v --verbose -V -q --quiet \
         --locked --offline --frozen --color= -h",
    ),
    reads(&["cargo help"], OperandKind::Text, ""),
    // Programs that check a crate, as `cargo` finds them.
    runs(
        &["cargo expand"],
        OperandKind::Text,
        "-p= --package= --lib --bin= --example= --test= --tests --bench= --features= -F= \
         --all-features --no-default-features --ugly --release --profile= --target=< \
         --manifest-path=< -j= --jobs= --color= --theme= --verbose --locked --offline --frozen",
    ),
    runs(
        &["cargo machete", "cargo shear", "cargo udeps"],
        OperandKind::Paths,
        "--with-metadata --skip-target-dir --all-targets --workspace --no-ignore --exclude= \
         -p= --package= --expand -q --quiet --locked --offline --frozen --all-features \
         --features= --lib --tests",
    ),
    runs(
        &["cargo hack"],
        OperandKind::Only(&["test", "check", "clippy", "build", "nextest", "run", "doc"]),
        "--each-feature --feature-powerset --workspace --all -p= --package= --exclude= \
         --exclude-features= --exclude-no-default-features --exclude-all-features \
         --include-features= --include-deps-features --mutually-exclusive-features= \
         --at-least-one-of= --group-features= --optional-deps=? --skip= --depth= \
         --ignore-private --ignore-unknown-features --no-dev-deps --no-private --all-targets \
         --tests --lib --bins --examples --all-features --no-default-features --features= \
         --release --target=< --partition= --keep-going --print-command-list --no-run \
         --no-fail-fast --clean-per-run --rust-version --locked --offline --frozen -q -v \
         --verbose --color=",
    ),
    runs(
        &["cargo insta"],
        OperandKind::Only(&[
            "test",
            "accept",
            "review",
            "reject",
            "pending-snapshots",
            "show",
            "help",
        ]),
        "--all-features --no-default-features --features= -F= --workspace --all --unreferenced= \
         --delete-unreferenced-snapshots --accept --accept-unseen --review --check --fail-fast \
         --no-fail-fast --keep-pending --force-pass --force-update-snapshots --require-full-match \
         --dnd= --disable-nextest-doctest --test-runner= --test-runner-fallback=? -p= --package= \
         --exclude= --lib --bin= --bins --test= --tests --example= --examples --bench= --benches \
         --all-targets --release --profile= --target=< --manifest-path=< -j= --jobs= --no-quiet -q \
         --quiet --snapshot= --include-ignored --include-hidden --no-ignore --as-json --color=",
    ),
    runs(
        &["cargo deny"],
        OperandKind::Only(&["check", "list", "licenses", "bans", "sources", "advisories", "all"]),
        "--all-features --no-default-features --features= --offline --locked --frozen --workspace \
         --exclude= --exclude-dev -t= --target= --hide-inclusion-graph --disable-fetch \
         --show-stats -s --audit-compatible-output -f= --format= -L= --log-level= --color= -A= \
         --allow= -W= --warn= -D= --deny= --manifest-path=< -l= --layout=",
    ),
    runs(
        &["cargo semver-checks"],
        OperandKind::Only(&["check-release"]),
        "-p= --package= --workspace --exclude= --all-features --default-features \
         --only-explicit-features --features= --release-type= -v --verbose -q --quiet --color=",
    ),
    runs(
        &["rustc"],
        OperandKind::Paths,
        "-V -vV --version --verbose -v -h --explain= --print=@ --edition= --crate-type= \
         --crate-name= --emit=@ -O -g --test --cap-lints= --error-format= --json= --color= \
         --diagnostic-width= -o=> --out-dir=> -A= -W= -D= -F= --allow= --warn= --deny= --forbid= \
         --force-warn= --cfg= --check-cfg= -C=@ --codegen=@ -Z=@ -L=@ --target=<",
    ),
    runs(
        &["rustup show", "rustup toolchain", "rustup target", "rustup component", "rustup which"],
        OperandKind::Only(&[
            "list",
            "active-toolchain",
            "home",
            "profile",
            "rustc",
            "rustdoc",
            "rustfmt",
            "cargo",
            "cargo-clippy",
            "clippy-driver",
        ]),
        "-v --verbose --installed -q --quiet --toolchain= -h",
    ),
    // Which program `cargo` and `rustfmt` start is said by files of the repository. What is behind
    // `--` is for `rustfmt`.
    runs(
        &["cargo fmt"],
        OperandKind::None,
        "-q --quiet -v --verbose --all --check -p= --package= --manifest-path=< \
         --message-format= --version -h",
    ),
    runs(
        &["rustfmt"],
        OperandKind::EditedWithout(&["--check"]),
        "--check --edition= --style-edition= --emit=@ --config=@ --config-path=< \
         -q --quiet -v --verbose --color= -l --files-with-diff --error-on-unformatted \
         --skip-children --unstable-features --file-lines= -V --version -h",
    ),
    // The same holds for the compiler, which these two ask.
    runs(
        &["cargo tree"],
        OperandKind::None,
        "-p= --package= --exclude= -i= --invert= -e= --edges= -d --duplicates --depth= \
         --prune= --workspace --all-features --no-default-features --features= -F= --target=< \
         --locked --offline --frozen --prefix= --no-dedupe --charset= -f= --format= \
         --manifest-path=< -v --verbose -q --quiet --color= -h",
    ),
    runs(
        &["cargo metadata"],
        OperandKind::None,
        "--format-version= --no-deps --offline --locked --frozen -q --quiet -v --verbose \
         --all-features --no-default-features --features= -F= --filter-platform= \
         --manifest-path=< --color= -h",
    ),
    runs(
        &["cargo miri"],
        OperandKind::Only(&["test", "run", "nextest"]),
        "-q --quiet -v --verbose --workspace -p= --package= --exclude= --lib --bin= --bins --test= \
         --tests --example= --features= -F= --all-features --no-default-features --release \
         --no-fail-fast --doc --target=< --target-dir=> --manifest-path=< --locked --offline \
         --frozen -j= --many-seeds=? -E= --no-capture",
    ),
    runs(
        &["cargo update"],
        OperandKind::OnlyWith(&["--dry-run"]),
        "--dry-run -p= --package= -w --workspace --precise= --recursive --breaking --offline \
         --locked --frozen -v --verbose -q --quiet --manifest-path=< --color=",
    ),
    runs(
        &["cargo package"],
        OperandKind::OnlyWith(&["--list", "-l"]),
        "--list -l --allow-dirty -p= --package= --workspace --exclude= --offline --locked \
         --frozen --no-verify --no-metadata --message-format= --manifest-path=< -q -v --color=",
    ),
    runs(
        &["cargo outdated", "cargo verify-project"],
        OperandKind::None,
        "-R -d= --depth= --root-deps-only --workspace -w --exit-code= --manifest-path=< -q -v \
         --offline --locked --frozen -h",
    ),
];

/// A verb of Cargo with the options that those that build share, and others.
const fn cargo(
    names: &'static [&'static str],
    operands: OperandKind,
    more: &'static str,
) -> CommandTable {
    CommandTable { names, options: [CARGO, more], operands, effect: ProgramEffect::RunsCode }
}
