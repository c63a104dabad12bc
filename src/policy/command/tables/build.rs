//! Programs that build and test: they run code of the repository.
//!
//! In and out: nothing but data, in the notation of `tables`.

use crate::policy::command::tables::{Effect, Operands, Table, reads, runs};

const CARGO: &str = "-q --quiet -v --verbose --workspace --all -p= --package= --exclude= --lib --bin=? --bins --test= --tests --example= --examples --bench= --benches \
    --all-targets --all-features --no-default-features -F= --features= -j= --jobs= --keep-going --release -r --profile= --locked --offline --frozen --color= \
    --message-format= --manifest-path=<";

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
        "-q -p= --package= --no-deps --workspace --all-features --document-private-items --lib --locked --offline",
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
        "-p= --package= -i= --invert= -e= --edges= -d --duplicates --depth= --workspace --all-features --no-default-features --features= -F= --locked --offline --prefix= --charset=",
    ),
    reads(&["cargo", "metadata"], Operands::None, "--format-version= --no-deps --offline --locked -q --all-features --no-default-features"),
    runs(&["npm", "test"], Operands::Text, "-s --silent --if-present -w= --workspace= --workspaces --include-workspace-root"),
    runs(&["npm", "t"], Operands::Text, "-s --silent --if-present -w= --workspace= --workspaces"),
    runs(&["npm", "run"], Operands::Text, "-s --silent --if-present -w= --workspace= --workspaces --include-workspace-root"),
    runs(&["npm", "run-script"], Operands::Text, "-s --silent --if-present -w= --workspace= --workspaces"),
    reads(&["npm", "ls"], Operands::Text, "-a --all --depth= --json --long -w= --workspaces --omit= --include="),
    runs(&["yarn", "test"], Operands::Targets, "-s --silent --watch=? --coverage --ci"),
    runs(&["yarn", "run"], Operands::Targets, "-s --silent"),
    runs(&["pnpm", "test"], Operands::Targets, "-s --silent -r --recursive --if-present"),
    runs(&["pnpm", "run"], Operands::Targets, "-s --silent -r --recursive --if-present"),
    runs(
        &["pytest"],
        Operands::Targets,
        "-q -v -vv -x -s -l -k= -m= -n= -r= --quiet --verbose --exitfirst --maxfail= --tb= --lf --ff --nf --last-failed --failed-first --sw --stepwise --durations= \
         --co --collect-only --no-header --no-summary --showlocals --color= --strict-markers --disable-warnings -W= --capture= --runxfail --import-mode= --timeout= --cov=? --no-cov",
    ),
    runs(
        &["go", "test"],
        Operands::Targets,
        "-v -v=? -race -short -failfast -json -cover -count= -run= -skip= -bench= -benchtime= -benchmem -timeout= -parallel= -tags= -p= -list= -shuffle= -cpu= -mod= -vet= -covermode= -trimpath",
    ),
    runs(&["go", "vet"], Operands::Targets, "-v -tags= -json -c="),
    runs(&["go", "build"], Operands::Targets, "-v -race -tags= -mod= -trimpath"),
    reads(&["go", "list"], Operands::Targets, "-m -f= -json=? -deps -test -e -u -tags= -mod="),
    reads(&["go", "version"], Operands::None, "-m"),
    runs(
        &["make"],
        Operands::Targets,
        "-j=? -k -s -B -w -i -n --jobs=? --keep-going --silent --quiet --always-make --dry-run --no-print-directory -C=< --directory=< -f=< --file=<",
    ),
    runs(&["mvn"], Operands::Targets, "-q -B -o -e -U -am -amd -pl= --quiet --batch-mode --offline --no-transfer-progress -ntp"),
    runs(&["dotnet", "test"], Operands::Targets, "--no-build --no-restore -v= --verbosity= --filter= -c= --configuration= --nologo"),
    runs(&["dotnet", "build"], Operands::Targets, "--no-restore -v= --verbosity= -c= --configuration= --nologo"),
];
