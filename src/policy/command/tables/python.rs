//! Programs of Python: tests, environments, packages and modules of the standard library.
//!
//! Data only, in the notation of `tables`. Checkers and formatters are in `checkers`.

use crate::command::tables::{CommandTable, OperandKind, ProgramEffect, reads, runs};

/// Options of pytest itself.
const PYTEST: &str = "-q -v -vv -x -s -l -k=* -m=* -n= -r= -h -V -c=< --config-file=< --rootdir=< \
                      --quiet --verbose --exitfirst --maxfail= --report-chars= --verbosity= \
                      --tb= --xfail-tb --full-trace --showlocals --no-showlocals --show-capture= \
                      --capture= --color= --code-highlight= --no-header --no-summary \
                      --no-fold-skipped --force-short-summary --old-summary \
                      --lf --last-failed --ff --failed-first --nf --new-first --lfnf= \
                      --last-failed-no-failures= --sw --stepwise --sw-skip --stepwise-skip \
                      --sw-reset --stepwise-reset --cache-clear --cache-show=? \
                      --co --collect-only --continue-on-collection-errors --keep-duplicates \
                      --collect-in-virtualenv --confcutdir=< --noconftest --deselect= --ignore= \
                      --ignore-glob= --import-mode= --assert= --runxfail \
                      --durations= --durations-min= --fixtures --fixtures-per-test --funcargs \
                      --markers --setup-plan --setup-only --setup-show --trace-config \
                      --strict --strict-markers --strict-config -W= --pythonwarnings= \
                      --max-warnings= --disable-warnings --disable-pytest-warnings \
                      --doctest-modules --doctest-glob= --doctest-report= \
                      --doctest-ignore-import-errors --doctest-continue-on-failure \
                      --log-level= --log-format= --log-date-format= --log-cli-level= \
                      --log-cli-format= --log-cli-date-format= --log-file=> --log-file-mode= \
                      --log-file-level= --log-file-format= --log-file-date-format= \
                      --log-auto-indent= --log-disable= \
                      --junitxml=> --junit-xml=> --junit-prefix= --disable-plugin-autoload -p=@ \
                      -o=@ --override-ini=@ --version --help";

/// Options of plugins of pytest that are widely used.
const PYTEST_PLUGINS: &str = "\
    --cov=? --no-cov --cov-report=+ --cov-branch --cov-append --cov-reset --cov-precision= \
    --cov-config=< --cov-context= --cov-fail-under= --no-cov-on-fail \
    -d --dist= --numprocesses= --maxprocesses= --max-worker-restart= --maxschedchunk= \
    --loadscope-reorder --no-loadscope-reorder --testrunuid= --forked \
    --timeout= --timeout-method= --timeout_method= --session-timeout= \
    --timeout-disable-debugger-detection --asyncio-mode= --asyncio-debug --anyio-mode= \
    --randomly-seed= --randomly-dont-reset-seed --randomly-dont-reorganize --random-order \
    --random-order-bucket= --random-order-seed= --count= --repeat-scope= --flake-finder \
    --flake-runs= --reruns= --reruns-delay= --only-rerun= --rerun-except= --fail-on-flaky \
    --rerun-show-tracebacks --force-sugar --sugar-no-trace --instafail --self-contained-html \
    --html=> --json-report --json-report-file=> --json-report-indent= --report-log=> --alluredir=> \
    --hypothesis-profile= --hypothesis-verbosity= --hypothesis-show-statistics \
    --hypothesis-seed= --hypothesis-explain \
    --reuse-db --create-db --no-migrations --nomigrations --migrations --ds=@ --dc=@ \
    --fail-on-template-vars \
    --benchmark-only --benchmark-skip --benchmark-disable --benchmark-enable \
    --benchmark-disable-gc --benchmark-min-time= --benchmark-max-time= --benchmark-min-rounds= \
    --benchmark-warmup=? --benchmark-warmup-iterations= --benchmark-calibration-precision= \
    --benchmark-verbose --benchmark-quiet --benchmark-sort= --benchmark-group-by= \
    --benchmark-columns= --benchmark-name= --benchmark-time-unit= --benchmark-autosave \
    --benchmark-save-data --benchmark-json=> \
    --snapshot-update --snapshot-update-new-only --snapshot-warn-unused \
    --snapshot-disable-unused --snapshot-details --snapshot-no-colors --snapshot-diff-mode= \
    --inline-snapshot= --record-mode= --block-network --disable-socket --allow-unix-socket \
    --run-slow --runslow --slow --integration";

const PYTESTS: &[&str] = &["python -m pytest", "python3 -m pytest", "pytest"];

/// Options of `pip` and of `uv pip` that only look.
const PIP: &str = "-f --files -v --verbose -q --quiet --format= --not-required --local -l --path=< \
                   --exclude= --all --exclude-editable --include-editable --user --strict --pre \
                   --disable-pip-version-check --no-color --no-input -e --editable -h";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    CommandTable {
        names: PYTESTS,
        options: [PYTEST, PYTEST_PLUGINS],
        operands: OperandKind::Targets,
        effect: ProgramEffect::RunsCode,
    },
    runs(
        &["python -m unittest", "python3 -m unittest"],
        OperandKind::Targets,
        "-q -v -f -b -c -h -k=* -s=< -t=< -p= --start-directory=< --top-level-directory=< \
         --pattern= --quiet --verbose --failfast --buffer --catch --locals --durations=",
    ),
    runs(
        &["coverage report", "coverage html", "coverage xml", "coverage json", "coverage lcov"],
        OperandKind::Targets,
        "-m -i -q -h --show-missing --skip-covered --no-skip-covered --skip-empty \
         --no-skip-empty --ignore-errors --include= --omit= --fail-under= --precision= --sort= \
         --format= --title= --show-contexts --contexts= --pretty-print --quiet --data-file=< \
         --rcfile=< --keep-combined -d=> --directory=> -o=>",
    ),
    runs(
        &["coverage combine"],
        OperandKind::EditedWithout(&["--keep"]),
        "-a -q -h --append --keep --quiet --data-file=> --rcfile=<",
    ),
    runs(&["coverage erase"], OperandKind::None, "-h --data-file=> --rcfile=<"),
    runs(&["coverage debug"], OperandKind::Only(&["config", "data", "premain", "sys"]), ""),
    runs(&["coverage help"], OperandKind::Text, ""),
    runs(&["coverage"], OperandKind::None, "--version --help -h"),
    // What is behind `--` is for the commands that it starts.
    runs(
        &["tox"],
        OperandKind::Only(&[
            "run",
            "r",
            "list",
            "l",
            "run-parallel",
            "p",
            "config",
            "c",
            "depends",
            "de",
            "auto",
            "all",
            "off",
        ]),
        "-e=@ -q -v -vv -p=? -o -l -a -r -b -i -h -n -f= -m=* -k=* -c=< --conf=< --workdir=> \
         --skip-missing-interpreters=? -s=? --parallel=? --parallel-live --parallel-no-spinner \
         --recreate --notest --skip-pkg-install --skip-env-install --no-recreate-pkg \
         --no-recreate-provision --colored= --stderr-color= --quiet --verbose --listenvs \
         --listenvs-all --no-list-dependencies --list-dependencies --develop --pkg-only \
         --sdistonly --skip-env= --fail-fast --no-capture --result-json=> --hashseed= \
         --exit-and-dump-after= --version --help",
    ),
    // Sessions may be several words; what is behind `--` is for what they start.
    runs(
        &["nox"],
        OperandKind::Tasks,
        "-s=@ -e=@ --session=@ --sessions=@ -k=* --keywords= -t= --tags= -l --list \
         --list-sessions --json --usage= -r -R -N --reuse-existing-virtualenvs \
         --no-reuse-existing-virtualenvs --reuse-venv= --install-only --no-install \
         --no-dependencies -x --stop-on-first-error --no-stop-on-first-error -v --verbose \
         --no-verbose --non-interactive -p= --python= --pythons= -P= --force-python= \
         --force-pythons= --extra-python= --extra-pythons= --no-venv -db= \
         --default-venv-backend= -fb= --force-venv-backend= --error-on-external-run \
         --no-error-on-external-run --error-on-missing-interpreters \
         --no-error-on-missing-interpreters --allow-parallel --no-allow-parallel -j= --parallel= \
         -f=< --noxfile=< --envdir=> --report=> --color --nocolor --no-color --forcecolor \
         --force-color -ts --add-timestamp --version -h --help",
    ),
    reads(
        &[
            "pip list",
            "pip show",
            "pip freeze",
            "pip check",
            "pip inspect",
            "pip help",
            "uv pip list",
            "uv pip show",
            "uv pip freeze",
            "uv pip tree",
            "uv pip check",
        ],
        OperandKind::Text,
        PIP,
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
        PIP,
    ),
    runs(
        &["uv tree"],
        OperandKind::None,
        "--offline --locked --frozen -d= --depth= --package= --prune= --invert --no-dedupe \
         --no-dev --only-dev --all-groups --group= --no-group= --only-group= --universal \
         --show-sizes --no-progress --color= -q --quiet -v --verbose",
    ),
    reads(&["uv python dir", "uv cache dir", "uv help"], OperandKind::Text, "--color= -q -v"),
    // They ask the interpreter of an environment that the repository may bring along.
    runs(
        &["uv python list", "uv python find"],
        OperandKind::Text,
        "--only-installed --all-versions --all-platforms --offline --no-python-downloads \
         --system --color= -q --quiet -v --verbose",
    ),
    reads(
        &[
            "poetry show",
            "poetry check",
            "poetry env list",
            "poetry env info",
            "poetry about",
            "poetry list",
            "poetry help",
        ],
        OperandKind::Text,
        "-t --tree -T --top-level -a --all -w --why --only= --with= --without= --lock --strict \
         --full-path --no-truncate --no-ansi -p --path -e --executable -q --quiet -n \
         --no-interaction -v -vv -vvv -h --help",
    ),
    runs(
        &["python -m site", "python3 -m site", "python -m sysconfig", "python3 -m sysconfig"],
        OperandKind::None,
        "--user-site --user-base",
    ),
    // A module that it runs is judged as a started one.
    runs(
        &["python -m cProfile", "python3 -m cProfile"],
        OperandKind::Program(&[".py"]),
        "-s= -o=> --sort= --outfile=>",
    ),
    runs(
        &["python -m trace", "python3 -m trace"],
        OperandKind::Program(&[".py"]),
        "-s -t -l -T -c -m -g -R --count --trace --listfuncs --trackcalls --summary --missing \
         --timing --no-report --ignore-module= --ignore-dir= -f=> --file=> -C=> --coverdir=>",
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
        "-q -qq -f -l -b -r= -j= -x=* -o= --invalidation-mode=",
    ),
    runs(
        &["python -m json.tool", "python3 -m json.tool"],
        OperandKind::OnePath,
        "--indent= --sort-keys --no-ensure-ascii --compact --json-lines --tab --no-indent -h",
    ),
    runs(
        &[
            "python -m tabnanny",
            "python3 -m tabnanny",
            "python -m tokenize",
            "python3 -m tokenize",
            "python -m dis",
            "python3 -m dis",
            "python -m ast",
            "python3 -m ast",
            "python -m pyclbr",
            "python3 -m pyclbr",
            "python -m pickletools",
            "python3 -m pickletools",
        ],
        OperandKind::Paths,
        "-v -q -e -a -h -C --show-caches -O --show-offsets -P --show-positions -S --specialized \
         -m= --mode= -i= --indent= --include-attributes --no-type-comments --annotate",
    ),
    runs(
        &["python -m zipfile -l", "python3 -m zipfile -l", "python -m tarfile -l"],
        OperandKind::Paths,
        "",
    ),
    // Other options serve pages to a browser, or write them.
    runs(&["python -m pydoc", "python3 -m pydoc"], OperandKind::Targets, "-k=*"),
    runs(
        &["python -m calendar", "python3 -m calendar", "python -m platform", "python3 -m platform"],
        OperandKind::Text,
        "--terse --nonaliased -t= --type= -f= --first-weekday= -m= --months=",
    ),
    runs(
        &["python -m doctest", "python3 -m doctest"],
        OperandKind::Paths,
        "-v -f --verbose --fail-fast -o=",
    ),
    runs(
        &["python -m build", "python3 -m build"],
        OperandKind::PathsOrHere,
        "--no-isolation -n --sdist -s --wheel -w -x --skip-dependency-check -v -q --quiet \
         --verbose --outdir=> -o=>",
    ),
    runs(
        &["sphinx-build", "python -m sphinx", "python3 -m sphinx"],
        OperandKind::Copied,
        "-b= -M= -q -Q -W -n -a -E -T -v -N -j= -t= -w=> --builder= --jobs= --tag= --verbose \
         --quiet --silent --warning-file=> --keep-going --fail-on-warning --exception-on-warning \
         --nitpicky --show-traceback --fresh-env --write-all --color --no-color -d=> \
         --doctree-dir=> --version --help -h",
    ),
    runs(
        &["mkdocs build", "python -m mkdocs build", "python3 -m mkdocs build"],
        OperandKind::None,
        "-q -v -s -c -d=> -f=< -t= --quiet --verbose --strict --no-strict --clean --dirty \
         --site-dir=> --config-file=< --theme= --use-directory-urls --no-directory-urls \
         --color --no-color -h --help",
    ),
];
