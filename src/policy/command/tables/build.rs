//! Programs that build and test: they run code of the repository.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs, writes};

const CARGO: &str = "-q --quiet -v --verbose --workspace --all -p= --package= --exclude= --lib \
                     --bin= --bins --test= --tests --example= --examples --bench= --benches \
                     --all-targets --all-features --no-default-features -F= --features= -j= \
                     --jobs= --keep-going --release -r --profile= --locked --offline --frozen \
                     --color= --message-format= --manifest-path=< --target=< --no-run \
                     --no-fail-fast --doc --future-incompat-report --ignore-rust-version --timings \
                     -E= --filter-expr= --html --text --json --lcov --summary-only --fix \
                     --allow-dirty --allow-staged --retries= --test-threads= --no-capture \
                     --target-dir=>";

/// Phases and goals of Maven that build, test or show.
const MAVEN_OPTIONS: &str = "-q -B -o -e -v --version -X -U -V -N -am -amd -ntp -pl= -P= -T= \
                             -fae -ff -fn -nsu \
                             --quiet --batch-mode --offline --errors --debug \
                             --no-transfer-progress \
                             --also-make --also-make-dependents --projects=< --activate-profiles= \
                             --threads= --fail-at-end --fail-fast --fail-never --show-version \
                             --non-recursive -D=@";

const GRADLE_OPTIONS: &str = "\
    -q -i -d -s -S -m -v --version --quiet --info --debug --warn --stacktrace --full-stacktrace \
    --offline --no-daemon --daemon --parallel --no-parallel --continue --no-continue --console= \
    --tests= -x= --exclude-task= --build-cache --no-build-cache --rerun-tasks --dry-run \
    --configuration-cache --no-configuration-cache --configuration= --dependency= --max-workers= \
    --warning-mode= --all --rerun --task= --args= --fail-fast --profile --no-watch-fs -P=@ -D=@";

const PYTEST: &str = "-q -v -vv -x -s -l -k= -m= -n= -r= --quiet --verbose --exitfirst --maxfail= \
                      --tb= --lf --ff --nf --last-failed --failed-first --sw --stepwise \
                      --durations= --co --collect-only --no-header --no-summary --showlocals \
                      --color= --strict-markers --disable-warnings -W= --capture= --runxfail \
                      --import-mode= --timeout= --cov=? --no-cov --cov-report=+ --cov-branch \
                      --cov-append \
                      --cov-fail-under= --deselect= --ignore= --ignore-glob= --fixtures \
                      --fixtures-per-test --markers --setup-plan --setup-only --setup-show -p=@ \
                      --no-showlocals --log-level= --log-cli-level= --strict \
                      --strict-config --cache-clear --cache-show=? --durations-min= \
                      --doctest-modules --benchmark-only --benchmark-skip --snapshot-update -h \
                      --dist= --numprocesses= --randomly-seed= --reruns= --asyncio-mode= \
                      --full-trace --verbosity= --last-failed-no-failures= --new-first \
                      --sw-skip --stepwise-skip --continue-on-collection-errors --trace-config \
                      --keep-duplicates --force-sugar --no-cov-on-fail --junitxml=> --junit-xml=> \
                      -V --version --help -o=@ --override-ini=@";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["cargo test", "cargo t", "cargo nextest", "cargo bench", "cargo clippy", "cargo run"],
        OperandKind::Text,
        CARGO,
    ),
    runs(&["cargo build", "cargo b", "cargo check", "cargo c"], OperandKind::None, CARGO),
    runs(&["cargo rustc"], OperandKind::None, CARGO),
    writes(
        &["cargo clean"],
        OperandKind::None,
        "-p= --package= -r --release --doc --profile= -n --dry-run -v -q --offline --locked",
    ),
    runs(
        &["cargo pkgid", "cargo locate-project", "cargo version"],
        OperandKind::Text,
        "--workspace --message-format= -v -V",
    ),
    // Programs that check a crate, as `cargo` finds them.
    runs(
        &["cargo expand"],
        OperandKind::Text,
        "-p= --package= --lib --bin= --example= --test= --features= --all-features --ugly \
         --release",
    ),
    runs(
        &["cargo machete", "cargo shear", "cargo udeps"],
        OperandKind::Paths,
        "--with-metadata --skip-target-dir --all-targets --workspace",
    ),
    runs(
        &["cargo hack"],
        OperandKind::Only(&["test", "check", "clippy", "build"]),
        "--each-feature --feature-powerset --workspace --no-dev-deps --all-targets --optional-deps \
         -p= --package= --exclude= --exclude-features= --skip= --features= --depth= --keep-going \
         --rust-version --locked --offline",
    ),
    runs(
        &["cargo insta"],
        OperandKind::Only(&["test", "accept", "review", "reject", "pending-snapshots", "show"]),
        "--all-features --workspace --all --unreferenced= --accept --review --check -p= --package= \
         --lib --test-runner= --features= --no-quiet -q --snapshot= --keep-pending \
         --force-update-snapshots",
    ),
    runs(
        &["cargo deny"],
        OperandKind::Only(&["check", "list", "licenses", "bans", "sources", "advisories", "all"]),
        "--all-features --offline --locked --workspace --hide-inclusion-graph --disable-fetch",
    ),
    runs(&["cargo llvm-cov"], OperandKind::None, CARGO),
    runs(
        &["cargo semver-checks"],
        OperandKind::Only(&["check-release"]),
        "-p= --package= --workspace --all-features",
    ),
    runs(
        &["rustc"],
        OperandKind::Paths,
        "-V -vV --version --verbose -v --explain= --print=@ --edition= --crate-type= --emit=@ -O \
         -g --test --cap-lints= --error-format= --color= -o=> --out-dir=> -A= -W= -D=",
    ),
    runs(
        &["rustup show", "rustup toolchain", "rustup target", "rustup component", "rustup which"],
        OperandKind::Only(&["list", "active-toolchain", "home", "profile", "rustc", "cargo"]),
        "-v --verbose --installed -q --quiet",
    ),
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
    runs(&["python -m pytest", "python3 -m pytest", "pytest"], OperandKind::Targets, PYTEST),
    runs(
        &["python -m unittest", "python3 -m unittest"],
        OperandKind::Targets,
        "-q -v -f -b -c -k= -s=< -t=< -p= --start-directory=< --top-level-directory=< --pattern= \
         --quiet --verbose --failfast --buffer --catch --locals --durations=",
    ),
    runs(
        &["rake"],
        OperandKind::Tasks,
        "-T -D -W -P -n -q -s -t -v -A -m --tasks --describe --where --prereqs --dry-run --quiet \
         --silent --trace --verbose --all --multitask -j= --jobs=",
    ),
    runs(
        &["rubocop"],
        OperandKind::EditedWith(&[
            "-a",
            "-A",
            "-x",
            "--autocorrect",
            "--autocorrect-all",
            "--auto-correct",
            "--fix-layout",
        ]),
        "-a -A -x -l -D -E -S -f= --format= --only= --except= --autocorrect --autocorrect-all \
         --auto-correct --fix-layout --lint --display-cop-names --extra-details --parallel \
         --no-parallel --fail-level= -F --fail-fast --cache= --list-target-files -L --color \
         --no-color --debug -d --force-exclusion --show-cops=?",
    ),
    reads(
        &[
            "pip list",
            "pip show",
            "pip freeze",
            "pip check",
            "uv pip list",
            "uv pip show",
            "uv pip freeze",
            "uv pip tree",
            "uv pip check",
        ],
        OperandKind::Text,
        "-f --files -v --verbose -q --quiet --format= --not-required --local -l --exclude= --all \
         --exclude-editable --user --disable-pip-version-check --no-color -e --editable",
    ),
    // A module is looked for in the repository first.
    runs(
        &[
            "python -m pip list",
            "python -m pip show",
            "python -m pip freeze",
            "python -m pip check",
            "python3 -m pip list",
            "python3 -m pip show",
            "python3 -m pip freeze",
            "python3 -m pip check",
        ],
        OperandKind::Text,
        "-f --files -v --verbose -q --quiet --format= --not-required --local -l --exclude= --all \
         --exclude-editable --user --disable-pip-version-check --no-color -e --editable",
    ),
    runs(
        &["uv tree"],
        OperandKind::None,
        "--offline --locked --frozen -d= --depth= --package= --prune= --invert --no-dedupe \
         --no-dev --all-groups --group= --only-group= --universal -q --quiet",
    ),
    reads(
        &["poetry show", "poetry check", "poetry env list", "poetry env info"],
        OperandKind::Text,
        "-t --tree -T --top-level --only= --with= --without= --no-ansi -p --path -q -n",
    ),
    runs(
        &["python -m site", "python3 -m site", "python -m sysconfig", "python3 -m sysconfig"],
        OperandKind::None,
        "--user-site --user-base",
    ),
    runs(
        &["python -m cProfile", "python3 -m cProfile", "python -m trace", "python3 -m trace"],
        OperandKind::Program(&[".py"]),
        "-s= --sort= --count --trace --listfuncs --trackcalls --summary --missing -m=",
    ),
    runs(&["python -m timeit", "python3 -m timeit"], OperandKind::None, "-n= -r= -v -p -u="),
    runs(
        &[
            "python -m py_compile",
            "python3 -m py_compile",
            "python -m compileall",
            "python3 -m compileall",
        ],
        OperandKind::Paths,
        "-q -qq -f -l -r= -j=",
    ),
    runs(
        &["python -m build", "python3 -m build"],
        OperandKind::PathsOrHere,
        "--no-isolation -n --sdist -s --wheel -w -x --skip-dependency-check -v --outdir=> -o=>",
    ),
    runs(
        &["sphinx-build", "python -m sphinx", "python3 -m sphinx", "mkdocs build"],
        OperandKind::Copied,
        "-b= -M= -q -Q -W -n -a -E -T -v -j= --builder= --keep-going --fail-on-warning --nitpicky \
         --fresh-env --write-all --strict -s --clean --site-dir=> -d=>",
    ),
    runs(
        &[
            "bundle list",
            "bundle show",
            "bundle info",
            "bundle outdated",
            "bundle check",
            "bundle platform",
            "bundle version",
            "bundle env",
        ],
        OperandKind::Text,
        "--strict --name-only --paths --path --groups= --only-group= --without-group= --parseable \
         --filter-major --filter-minor --filter-patch --local --dry-run --group= --verbose --major \
         --minor --patch --pre",
    ),
    reads(
        &[
            "gem list",
            "gem env",
            "gem environment",
            "gem contents",
            "gem which",
            "gem dependency",
            "gem specification",
            "gem help",
        ],
        OperandKind::Text,
        "-l --local -a --all -d --details -i --installed -e --exact -v= --version= --no-details \
         --versions --no-versions -q --quiet",
    ),
    runs(
        &["mypy"],
        OperandKind::Targets,
        "-p= -m= --strict --ignore-missing-imports --no-incremental --show-error-codes --pretty \
         --no-error-summary --python-version= --namespace-packages --explicit-package-bases",
    ),
    runs(&["gradle", "./gradlew", "gradlew"], OperandKind::Tasks, GRADLE_OPTIONS),
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
         -trimpath -coverprofile=> -coverpkg= -fuzz= -fuzztime= -fullpath -n -x -ldflags=@ \
         -gcflags=@ -buildvcs=? -asan -msan -v -cpuprofile=> -memprofile=> -outputdir=> -c -o=> \
         -update=?",
    ),
    runs(&["go vet"], OperandKind::Targets, "-v -tags= -json -c= -mod="),
    runs(
        &["go build"],
        OperandKind::Targets,
        "-v -n -x -a -race -cover -asan -msan -tags= -mod= -trimpath -o=> -p= -ldflags=@ \
         -gcflags=@ -buildvcs=? -buildmode= -work",
    ),
    runs(
        &["go run"],
        OperandKind::Program(&[".go"]),
        "-v -x -race -tags= -mod= -trimpath -ldflags=@ -gcflags=@",
    ),
    // It comes with Go and only reads what tests wrote.
    writes(&["go tool cover"], OperandKind::None, "-func=< -html=< -o=>"),
    runs(&["go tool"], OperandKind::Only(&["nm", "buildid", "vet"]), ""),
    writes(&["go clean"], OperandKind::Targets, "-cache -testcache -i -n -r -x -fuzzcache"),
    writes(&["go fix"], OperandKind::Targets, "-n -x -diff -v"),
    reads(
        &["go help", "go doc", "go env"],
        OperandKind::Text,
        "-all -short -src -u -c -cmd -json -changed",
    ),
    reads(
        &["go mod why", "go mod graph", "go mod verify"],
        OperandKind::Text,
        "-m -vendor -go= -x",
    ),
    reads(&["go mod tidy"], OperandKind::OnlyWith(&["-diff"]), "-diff -v -e"),
    runs(
        &["golangci-lint run", "golangci-lint fmt"],
        OperandKind::Targets,
        "--fix -v --verbose --timeout= --fast --fast-only --new --new-from-rev= -E= -D= --enable= \
         --disable= --enable-only= --build-tags= --tests=? --out-format= --color= --show-stats -j= \
         --concurrency= --max-issues-per-linter= --max-same-issues= --modules-download-mode= \
         --allow-parallel-runners --diff",
    ),
    reads(&["go list"], OperandKind::Targets, "-m -f= -json=? -deps -test -e -u -tags= -mod="),
    reads(&["go version"], OperandKind::None, "-m"),
    runs(
        &["make"],
        OperandKind::Targets,
        "-j=? -k -s -B -w -i -n --jobs=? --keep-going --silent --quiet --always-make --dry-run \
         --no-print-directory -C=< --directory=< -f=< --file=<",
    ),
    runs(&["mvn", "./mvnw", "mvnw", "mvnd"], OperandKind::Tasks, MAVEN_OPTIONS),
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
