//! Programs that build and test: they run code of the repository.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs, writes};

const CARGO: &str = "-q --quiet -v --verbose --workspace --all -p= --package= --exclude= --lib \
                     --bin= --bins --test= --tests --example= --examples --bench= --benches \
                     --all-targets --all-features --no-default-features -F= --features= -j= \
                     --jobs= --keep-going --release -r --profile= --locked --offline --frozen \
                     --color= --message-format= --manifest-path=< --target=< --no-run \
                     --no-fail-fast --doc --future-incompat-report --ignore-rust-version";

const PYTEST: &str = "-q -v -vv -x -s -l -k= -m= -n= -r= --quiet --verbose --exitfirst --maxfail= \
                      --tb= --lf --ff --nf --last-failed --failed-first --sw --stepwise \
                      --durations= --co --collect-only --no-header --no-summary --showlocals \
                      --color= --strict-markers --disable-warnings -W= --capture= --runxfail \
                      --import-mode= --timeout= --cov=? --no-cov";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["cargo test", "cargo t", "cargo nextest", "cargo bench", "cargo clippy", "cargo run"],
        OperandKind::Text,
        CARGO,
    ),
    runs(&["cargo build", "cargo b", "cargo check", "cargo c"], OperandKind::None, CARGO),
    runs(
        &["cargo doc"],
        OperandKind::None,
        "-q -p= --package= --no-deps --workspace --all-features --document-private-items --lib \
         --locked --offline",
    ),
    // Which program `cargo` and `rustfmt` start is said by files of the repository.
    runs(
        &["cargo fmt"],
        OperandKind::Only(&["--check"]),
        "-q -v --all --check -p= --package= --message-format=",
    ),
    // The same holds for the compiler, which these two ask.
    runs(
        &["cargo tree"],
        OperandKind::None,
        "-p= --package= -i= --invert= -e= --edges= -d --duplicates --depth= --workspace \
         --all-features --no-default-features --features= -F= --locked --offline --prefix= \
         --charset=",
    ),
    runs(
        &["cargo metadata"],
        OperandKind::None,
        "--format-version= --no-deps --offline --locked -q --all-features --no-default-features",
    ),
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
        &["npm ls"],
        OperandKind::Text,
        "-a --all --depth= --json --long -w= --workspaces --omit= --include=",
    ),
    runs(&["yarn test"], OperandKind::Targets, "-s --silent --watch=? --coverage --ci"),
    runs(&["yarn run", "yarn build", "yarn lint"], OperandKind::Targets, "-s --silent"),
    runs(
        &["pnpm test", "pnpm run", "pnpm build", "pnpm lint"],
        OperandKind::Targets,
        "-s --silent -r --recursive --if-present",
    ),
    runs(&["python -m pytest", "python3 -m pytest", "pytest"], OperandKind::Targets, PYTEST),
    runs(
        &["python -m unittest", "python3 -m unittest"],
        OperandKind::Targets,
        "-q -v -f -b -c -k= --quiet --verbose --failfast --buffer --catch --locals",
    ),
    runs(
        &["tsc"],
        OperandKind::Targets,
        "-p=< --project=< -b --build --noEmit --pretty=? --strict --skipLibCheck --incremental \
         --listFiles --showConfig -v --version",
    ),
    runs(
        &["eslint"],
        OperandKind::Targets,
        "--fix --fix-dry-run --ext= --max-warnings= --quiet --no-eslintrc --cache --color \
         --no-color -f= --format= --no-error-on-unmatched-pattern",
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
        "-t= -i --testNamePattern= --runInBand --ci --coverage --silent --verbose --bail=? \
         --no-cache --passWithNoTests --listTests --onlyChanged",
    ),
    runs(
        &["vitest"],
        OperandKind::Targets,
        "-t= --run --coverage --silent --bail= --reporter= --no-color --passWithNoTests",
    ),
    runs(
        &["mypy"],
        OperandKind::Targets,
        "-p= -m= --strict --ignore-missing-imports --no-incremental --show-error-codes --pretty \
         --no-error-summary --python-version= --namespace-packages --explicit-package-bases",
    ),
    runs(
        &["gradle"],
        OperandKind::Targets,
        "-q -i -s --quiet --info --stacktrace --offline --no-daemon --parallel --continue \
         --console= --tests= -x= --exclude-task= --build-cache --no-build-cache --rerun-tasks",
    ),
    reads(
        &["ruff check"],
        OperandKind::EditedWith(&["--fix"]),
        "--fix --diff --statistics --quiet -q --no-cache -e --exit-zero --select= --ignore= \
             --extend-select= --output-format= --show-fixes --preview --target-version=",
    ),
    writes(
        &["ruff format"],
        OperandKind::EditedWithout(&["--check", "--diff"]),
        "--check --diff --quiet -q --no-cache --line-length= --preview --target-version=",
    ),
    writes(
        &["black"],
        OperandKind::EditedWithout(&["--check", "--diff"]),
        "--check --diff --color --no-color -q --quiet -v --verbose -l= --line-length= -t= \
             --target-version= -S --skip-string-normalization --preview --fast --safe",
    ),
    writes(&["gofmt"], OperandKind::EditedWith(&["-w"]), "-d -e -l -s -w -r="),
    runs(
        &["rustfmt"],
        OperandKind::EditedWithout(&["--check"]),
        "--check --edition= --style-edition= -q --quiet -v --verbose --color= -l \
             --files-with-diff",
    ),
    writes(&["go fmt"], OperandKind::Targets, "-n -x"),
    runs(&["go generate"], OperandKind::Targets, "-n -v -x -run= -skip="),
    runs(
        &["go test"],
        OperandKind::Targets,
        "-v -v=? -race -short -failfast -json -cover -count= -run= -skip= -bench= -benchtime= \
         -benchmem -timeout= -parallel= -tags= -p= -list= -shuffle= -cpu= -mod= -vet= -covermode= \
         -trimpath",
    ),
    runs(&["go vet"], OperandKind::Targets, "-v -tags= -json -c="),
    runs(&["go build"], OperandKind::Targets, "-v -race -tags= -mod= -trimpath"),
    reads(&["go list"], OperandKind::Targets, "-m -f= -json=? -deps -test -e -u -tags= -mod="),
    reads(&["go version"], OperandKind::None, "-m"),
    runs(
        &["make"],
        OperandKind::Targets,
        "-j=? -k -s -B -w -i -n --jobs=? --keep-going --silent --quiet --always-make --dry-run \
         --no-print-directory -C=< --directory=< -f=< --file=<",
    ),
    runs(
        &["mvn"],
        OperandKind::Targets,
        "-q -B -o -e -U -am -amd -pl= --quiet --batch-mode --offline --no-transfer-progress -ntp",
    ),
    runs(
        &["dotnet test"],
        OperandKind::Targets,
        "--no-build --no-restore -v= --verbosity= --filter= -c= --configuration= --nologo",
    ),
    runs(
        &["dotnet build"],
        OperandKind::Targets,
        "--no-restore -v= --verbosity= -c= --configuration= --nologo",
    ),
];
