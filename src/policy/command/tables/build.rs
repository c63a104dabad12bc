//! Programs that build and test: they run code of the repository.
//!
//! In and out: nothing but data, in the notation of `tables`.

use crate::command::tables::{Effect, Operands, Table, reads, runs};

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

/// The tables.
pub(super) const TABLES: &[Table] = &[
    runs(&["cargo", "test"], Operands::Text, CARGO),
    runs(&["cargo", "t"], Operands::Text, CARGO),
    runs(&["cargo", "nextest"], Operands::Text, CARGO),
    runs(&["cargo", "bench"], Operands::Text, CARGO),
    runs(&["cargo", "build"], Operands::None, CARGO),
    runs(&["cargo", "b"], Operands::None, CARGO),
    runs(&["cargo", "check"], Operands::None, CARGO),
    runs(&["cargo", "c"], Operands::None, CARGO),
    runs(&["cargo", "clippy"], Operands::Text, CARGO),
    runs(&["cargo", "run"], Operands::Text, CARGO),
    runs(
        &["cargo", "doc"],
        Operands::None,
        "-q -p= --package= --no-deps --workspace --all-features --document-private-items --lib \
         --locked --offline",
    ),
    Table {
        words: &["cargo", "fmt"],
        options: ["-q -v --all --check -p= --package= --message-format=", ""],
        operands: Operands::Only(&["--check"]),
        effect: Effect::Writes,
    },
    reads(
        &["cargo", "tree"],
        Operands::None,
        "-p= --package= -i= --invert= -e= --edges= -d --duplicates --depth= --workspace \
         --all-features --no-default-features --features= -F= --locked --offline --prefix= \
         --charset=",
    ),
    reads(
        &["cargo", "metadata"],
        Operands::None,
        "--format-version= --no-deps --offline --locked -q --all-features --no-default-features",
    ),
    runs(
        &["npm", "test"],
        Operands::Text,
        "-s --silent --if-present -w= --workspace= --workspaces --include-workspace-root",
    ),
    runs(&["npm", "t"], Operands::Text, "-s --silent --if-present -w= --workspace= --workspaces"),
    runs(
        &["npm", "run"],
        Operands::Text,
        "-s --silent --if-present -w= --workspace= --workspaces --include-workspace-root",
    ),
    runs(
        &["npm", "run-script"],
        Operands::Text,
        "-s --silent --if-present -w= --workspace= --workspaces",
    ),
    reads(
        &["npm", "ls"],
        Operands::Text,
        "-a --all --depth= --json --long -w= --workspaces --omit= --include=",
    ),
    runs(&["yarn", "test"], Operands::Targets, "-s --silent --watch=? --coverage --ci"),
    runs(&["yarn", "run"], Operands::Targets, "-s --silent"),
    runs(&["pnpm", "test"], Operands::Targets, "-s --silent -r --recursive --if-present"),
    runs(&["pnpm", "run"], Operands::Targets, "-s --silent -r --recursive --if-present"),
    runs(&["python", "-m", "pytest"], Operands::Targets, PYTEST),
    runs(&["python3", "-m", "pytest"], Operands::Targets, PYTEST),
    runs(
        &["python", "-m", "unittest"],
        Operands::Targets,
        "-q -v -f -b -c -k= --quiet --verbose --failfast --buffer --catch --locals",
    ),
    runs(
        &["python3", "-m", "unittest"],
        Operands::Targets,
        "-q -v -f -b -c -k= --quiet --verbose --failfast --buffer --catch --locals",
    ),
    runs(&["yarn", "build"], Operands::Targets, "-s --silent"),
    runs(&["yarn", "lint"], Operands::Targets, "-s --silent"),
    runs(&["pnpm", "build"], Operands::Targets, "-s --silent -r --recursive --if-present"),
    runs(&["pnpm", "lint"], Operands::Targets, "-s --silent -r --recursive --if-present"),
    runs(
        &["tsc"],
        Operands::Targets,
        "-p=< --project=< -b --build --noEmit --pretty=? --strict --skipLibCheck --incremental \
         --listFiles --showConfig -v --version",
    ),
    runs(
        &["eslint"],
        Operands::Targets,
        "--fix --fix-dry-run --ext= --max-warnings= --quiet --no-eslintrc --cache --color \
         --no-color -f= --format= --no-error-on-unmatched-pattern",
    ),
    runs(
        &["prettier"],
        Operands::EditedWith(&["--write", "-w"]),
        "-c -l -w --check --list-different --write --log-level= --no-color \
         --no-error-on-unmatched-pattern",
    ),
    runs(
        &["jest"],
        Operands::Targets,
        "-t= -i --testNamePattern= --runInBand --ci --coverage --silent --verbose --bail=? \
         --no-cache --passWithNoTests --listTests --onlyChanged",
    ),
    runs(
        &["vitest"],
        Operands::Targets,
        "-t= --run --coverage --silent --bail= --reporter= --no-color --passWithNoTests",
    ),
    runs(
        &["mypy"],
        Operands::Targets,
        "-p= -m= --strict --ignore-missing-imports --no-incremental --show-error-codes --pretty \
         --no-error-summary --python-version= --namespace-packages --explicit-package-bases",
    ),
    runs(
        &["gradle"],
        Operands::Targets,
        "-q -i -s --quiet --info --stacktrace --offline --no-daemon --parallel --continue \
         --console= --tests= -x= --exclude-task= --build-cache --no-build-cache --rerun-tasks",
    ),
    Table {
        words: &["ruff", "check"],
        options: [
            "--fix --diff --statistics --quiet -q --no-cache -e --exit-zero --select= --ignore= \
             --extend-select= --output-format= --show-fixes --preview --target-version=",
            "",
        ],
        operands: Operands::EditedWith(&["--fix"]),
        effect: Effect::Reads,
    },
    Table {
        words: &["ruff", "format"],
        options: [
            "--check --diff --quiet -q --no-cache --line-length= --preview --target-version=",
            "",
        ],
        operands: Operands::EditedWithout(&["--check", "--diff"]),
        effect: Effect::Writes,
    },
    Table {
        words: &["black"],
        options: [
            "--check --diff --color --no-color -q --quiet -v --verbose -l= --line-length= -t= \
             --target-version= -S --skip-string-normalization --preview --fast --safe",
            "",
        ],
        operands: Operands::EditedWithout(&["--check", "--diff"]),
        effect: Effect::Writes,
    },
    Table {
        words: &["gofmt"],
        options: ["-d -e -l -s -w -r=", ""],
        operands: Operands::EditedWith(&["-w"]),
        effect: Effect::Writes,
    },
    Table {
        words: &["rustfmt"],
        options: [
            "--check --edition= --style-edition= -q --quiet -v --verbose --color= -l \
             --files-with-diff",
            "",
        ],
        operands: Operands::EditedWithout(&["--check"]),
        effect: Effect::Writes,
    },
    Table {
        words: &["go", "fmt"],
        options: ["-n -x", ""],
        operands: Operands::Targets,
        effect: Effect::Writes,
    },
    runs(&["pytest"], Operands::Targets, PYTEST),
    runs(&["go", "generate"], Operands::Targets, "-n -v -x -run= -skip="),
    runs(
        &["go", "test"],
        Operands::Targets,
        "-v -v=? -race -short -failfast -json -cover -count= -run= -skip= -bench= -benchtime= \
         -benchmem -timeout= -parallel= -tags= -p= -list= -shuffle= -cpu= -mod= -vet= -covermode= \
         -trimpath",
    ),
    runs(&["go", "vet"], Operands::Targets, "-v -tags= -json -c="),
    runs(&["go", "build"], Operands::Targets, "-v -race -tags= -mod= -trimpath"),
    reads(&["go", "list"], Operands::Targets, "-m -f= -json=? -deps -test -e -u -tags= -mod="),
    reads(&["go", "version"], Operands::None, "-m"),
    runs(
        &["make"],
        Operands::Targets,
        "-j=? -k -s -B -w -i -n --jobs=? --keep-going --silent --quiet --always-make --dry-run \
         --no-print-directory -C=< --directory=< -f=< --file=<",
    ),
    runs(
        &["mvn"],
        Operands::Targets,
        "-q -B -o -e -U -am -amd -pl= --quiet --batch-mode --offline --no-transfer-progress -ntp",
    ),
    runs(
        &["dotnet", "test"],
        Operands::Targets,
        "--no-build --no-restore -v= --verbosity= --filter= -c= --configuration= --nologo",
    ),
    runs(
        &["dotnet", "build"],
        Operands::Targets,
        "--no-restore -v= --verbosity= -c= --configuration= --nologo",
    ),
];
