//! Programs that check sources, format them, or look into what was built.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, ProgramEffect, reads, runs, writes};

/// Programs that are started by their own name and as modules of Python.
const AUTOPEP8: &[&str] = &["autopep8", "python -m autopep8", "python3 -m autopep8"];
const BANDIT: &[&str] = &["bandit", "python -m bandit", "python3 -m bandit"];
const PYLINT: &[&str] = &["pylint", "python -m pylint", "python3 -m pylint"];
const STYLE: &[&str] = &[
    "pycodestyle",
    "python -m pycodestyle",
    "python3 -m pycodestyle",
    "pydocstyle",
    "python -m pydocstyle",
    "python3 -m pydocstyle",
];
const VULTURE: &[&str] = &["vulture", "python -m vulture", "python3 -m vulture"];

/// Options of the parts of ruff that both of its verbs have.
const RUFF: &str = "-q --quiet -v --verbose -s --silent -n --no-cache --cache-dir=> --config=@ \
                    --isolated --color= --exclude= --extend-exclude= --force-exclude \
                    --no-force-exclude --respect-gitignore --no-respect-gitignore --preview \
                    --no-preview --extension= --stdin-filename= --output-format= \
                    --target-version= --line-length= --diff -h --help";

/// Options of mypy, but for those that install, load or run something.
const MYPY: &str = "-p= -m= -c= -h -v -V -O= -n= --package= --module= --command= --output= \
                    --help --verbose --version --config-file=< --cache-dir=> --junit-xml=> \
                    --junit-format= --any-exprs-report=> --cobertura-xml-report=> \
                    --html-report=> --linecount-report=> --linecoverage-report=> \
                    --lineprecision-report=> --txt-report=> --xml-report=> --xslt-html-report=> \
                    --xslt-txt-report=> --python-version= --platform= --always-true= \
                    --always-false= --exclude= --exclude-gitignore --no-exclude-gitignore \
                    --follow-imports= --follow-untyped-imports --ignore-missing-imports \
                    --no-site-packages --no-silence-site-packages --namespace-packages \
                    --no-namespace-packages --explicit-package-bases --no-explicit-package-bases \
                    --scripts-are-modules --fast-module-lookup --enable-incomplete-feature= \
                    --disable-error-code= --enable-error-code= --untyped-calls-exclude= \
                    --deprecated-calls-exclude= --num-workers= --no-install-types";

const MYPY_SWITCHES: &str = "\
    --strict --incremental --no-incremental --sqlite-cache --no-sqlite-cache \
    --cache-fine-grained --skip-version-check --skip-cache-mtime-checks \
    --disallow-any-expr --disallow-any-decorated --disallow-any-explicit --disallow-any-generics \
    --allow-any-generics --disallow-any-unimported --allow-any-unimported \
    --disallow-subclassing-any --allow-subclassing-any --disallow-untyped-calls \
    --allow-untyped-calls --disallow-untyped-defs --allow-untyped-defs \
    --disallow-incomplete-defs --allow-incomplete-defs --disallow-untyped-decorators \
    --allow-untyped-decorators --disallow-untyped-globals --allow-untyped-globals \
    --disallow-redefinition --allow-redefinition --allow-redefinition-new \
    --check-untyped-defs --no-check-untyped-defs --implicit-optional --no-implicit-optional \
    --strict-optional --no-strict-optional --strict-equality --no-strict-equality \
    --strict-equality-for-none --strict-bytes --no-strict-bytes --strict-concatenate \
    --extra-checks --no-extra-checks --local-partial-types --implicit-reexport \
    --no-implicit-reexport --warn-redundant-casts --no-warn-redundant-casts \
    --warn-unused-ignores --no-warn-unused-ignores --warn-unused-configs \
    --no-warn-unused-configs --warn-no-return --no-warn-no-return --warn-return-any \
    --no-warn-return-any --warn-unreachable --no-warn-unreachable --warn-incomplete-stub \
    --report-deprecated-as-note --show-error-codes --hide-error-codes --show-error-code-links \
    --hide-error-code-links --show-error-context --hide-error-context --show-column-numbers \
    --hide-column-numbers --show-error-end --hide-error-end --show-absolute-path \
    --hide-absolute-path --show-traceback --tb --pretty --no-pretty --color-output \
    --no-color-output --error-summary --no-error-summary --soft-error-limit=";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    CommandTable {
        names: &["ruff check"],
        options: [
            RUFF,
            "--fix --no-fix --fix-only --no-fix-only --unsafe-fixes --no-unsafe-fixes \
             --show-fixes --no-show-fixes --add-noqa=? --add-ignore=? --ignore-noqa -e \
             --exit-zero --exit-non-zero-on-fix --select= --ignore= --extend-select= \
             --extend-ignore= --per-file-ignores= --extend-per-file-ignores= --fixable= \
             --unfixable= --extend-fixable= --extend-unfixable= --statistics --show-files \
             --show-settings -o=> --output-file=>",
        ],
        operands: OperandKind::EditedHereWith(&[
            "--fix",
            "--fix-only",
            "--add-noqa",
            "--add-ignore",
        ]),
        effect: ProgramEffect::Reads,
    },
    CommandTable {
        names: &["ruff format"],
        options: [RUFF, "--check --range= --exit-non-zero-on-format"],
        operands: OperandKind::EditedHereWithout(&["--check", "--diff"]),
        effect: ProgramEffect::Writes,
    },
    reads(
        &["ruff rule", "ruff linter", "ruff config", "ruff version", "ruff help"],
        OperandKind::Text,
        "--all --output-format= -q --quiet -v --verbose -s --silent --isolated --color= -h --help",
    ),
    writes(
        &["black"],
        OperandKind::EditedWithout(&["--check", "--diff"]),
        "--check --diff --color --no-color -q --quiet -v --verbose -h --help --version -c= \
         --code= -l= --line-length= -t= --target-version= -S --skip-string-normalization -C \
         --skip-magic-trailing-comma -x --skip-source-first-line --preview --unstable \
         --enable-unstable-feature= --fast --safe --pyi --ipynb --python-cell-magics= \
         --line-ranges= --required-version= --include= --exclude= --extend-exclude= \
         --force-exclude= --stdin-filename= -W= --workers= --config=< --no-cache --cache-dir=>",
    ),
    CommandTable {
        names: &["mypy"],
        options: [MYPY, MYPY_SWITCHES],
        operands: OperandKind::Targets,
        effect: ProgramEffect::RunsCode,
    },
    runs(
        PYLINT,
        OperandKind::Targets,
        "-E -d= -e= -f=@ -j= -r= -s= -v -h --errors-only --disable= --enable= --output-format=@ \
         --msg-template= --jobs= --reports= --score= --verbose --fail-under= --fail-on= \
         --confidence= --ignore= --ignore-patterns= --ignore-paths= --ignored-modules= \
         --ignored-classes= --ignored-argument-names= --generated-members= --max-line-length= \
         --max-module-lines= --max-args= --max-positional-arguments= --max-locals= \
         --max-returns= --max-branches= --max-statements= --max-parents= --max-attributes= \
         --max-public-methods= --min-public-methods= --max-bool-expr= --max-nested-blocks= \
         --min-similarity-lines= --ignore-comments= --ignore-docstrings= --ignore-imports= \
         --ignore-signatures= --ignore-long-lines= --notes= --good-names= --good-names-rgxs= \
         --bad-names= --include-naming-hint= --argument-naming-style= --attr-naming-style= \
         --class-naming-style= --const-naming-style= --function-naming-style= \
         --method-naming-style= --module-naming-style= --variable-naming-style= --argument-rgx= \
         --attr-rgx= --class-rgx= --const-rgx= --function-rgx= --method-rgx= --module-rgx= \
         --variable-rgx= --no-docstring-rgx= --docstring-min-length= --dummy-variables-rgx= \
         --indent-string= --expected-line-ending-format= --known-first-party= \
         --known-third-party= --py-version= --recursive= --persistent= --prefer-stubs= \
         --clear-cache-post-run= --limit-inference-results= --source-roots=< --from-stdin \
         --exit-zero --list-msgs --list-msgs-enabled --list-groups --list-extensions \
         --list-conf-levels --generate-rcfile --generate-toml-config --help-msg= --long-help \
         --output=> --rcfile=< --version --help",
    ),
    reads(
        &["shellcheck"],
        OperandKind::Paths,
        "-a -x -s= -S= -f= -e= -i= -o= -P=< -W= -C=? --check-sourced --external-sources --shell= \
         --severity= --format= --exclude= --include= --enable= --source-path=< --wiki-link-count= \
         --color=? --norc --extended-analysis= --list-optional -V --version --help",
    ),
    writes(
        &["shfmt"],
        OperandKind::EditedWith(&["-w", "--write"]),
        "-l -w -d -s -i= -bn -ci -sr -kp -fn -mn -f -ln= -p --list --write --diff --simplify \
         --indent= --binary-next-line --case-indent --space-redirects --keep-padding \
         --func-next-line --minify --find --language-dialect= --posix --version --help",
    ),
    writes(
        &["clang-format"],
        OperandKind::EditedWith(&["-i"]),
        "-i -n -Werror --dry-run --Werror --Wno-error= --Wclang-format-violations --verbose \
         --sort-includes --lines= --offset= --length= --ferror-limit= --fno-color-diagnostics \
         --fcolor-diagnostics --version --help --dump-config --fallback-style= -style=@ --style=@ \
         --assume-filename= -assume-filename= --fail-on-incomplete-format",
    ),
    writes(
        &["google-java-format"],
        OperandKind::EditedWith(&["-i", "-r", "--replace"]),
        "-i -r -n -a --replace --dry-run --set-exit-if-changed --aosp --skip-sorting-imports \
         --skip-removing-unused-imports --skip-javadoc-formatting --skip-reflowing-long-strings \
         --fix-imports-only --assume-filename= --lines= --offset= --length= --version --help",
    ),
    runs(
        AUTOPEP8,
        OperandKind::EditedWith(&["-i", "--in-place"]),
        "-i -d -r -a -v -h -j= -p= --in-place --diff --recursive --aggressive --experimental \
         --verbose --jobs= --pep8-passes= --exclude= --list-fixes --ignore= --select= \
         --ignore-local-config --max-line-length= --line-range== --range== --hang-closing \
         --exit-code --indent-size= --version --help",
    ),
    runs(
        BANDIT,
        OperandKind::Paths,
        "-r -l -ll -lll -i -ii -iii -q -v -d -h -n= -t= -s= -x= -p= -f= -a= -o=> -c=< -b=< \
         --recursive --aggregate= --number= --configfile=< --ini=< --profile= --tests= --skip= \
         --level --confidence --severity-level= --confidence-level= --format= --msg-template= \
         --output=> --verbose --debug --quiet --silent --ignore-nosec --exclude= --baseline=< \
         --exit-zero --version --help",
    ),
    runs(
        STYLE,
        OperandKind::PathsOrHere,
        "-v -vv -q -qq -e -s -d -r -h --verbose --quiet --first --repeat --count --statistics \
         --select= --ignore= --exclude= --filename= --format= --diff --max-line-length= \
         --max-doc-length= --indent-size= --hang-closing --show-source --show-pep8 --benchmark \
         --explain --source --debug --convention= --add-select= --add-ignore= --match= \
         --match-dir= --ignore-decorators= --property-decorators= --ignore-self-only-init \
         --version --help",
    ),
    runs(
        VULTURE,
        OperandKind::Paths,
        "-v --verbose --min-confidence= --sort-by-size --exclude= --ignore-names= \
         --ignore-decorators= --make-whitelist --config=< --version -h --help",
    ),
    // Settings of these name rules, and no code.
    reads(
        &["yamllint"],
        OperandKind::Paths,
        "-c=< -d=@ -f= -s --config-file=< --config-data=@ --format= --list-files --strict \
         --no-warnings -v --version -h --help",
    ),
    reads(
        &["actionlint"],
        OperandKind::Paths,
        "-color -no-color -oneline -verbose -debug -format= -ignore= -stdin-filename= \
         -config-file=< -shellcheck=@ -pyflakes=@ -version -h",
    ),
    reads(
        &["hadolint"],
        OperandKind::Paths,
        "-c=< -f= -t= -V -v -h --config=< --format= --failure-threshold= --ignore= --info= \
         --warning= --error= --style= --no-color --no-fail --strict-labels --disable-ignore-pragma \
         --trusted-registry= --require-label= --verbose --version --help",
    ),
    writes(
        &["codespell"],
        OperandKind::EditedHereWith(&["-w", "--write-changes"]),
        "-w -d -q= -s -f -H -x=< -I=< -L= -S= -A= -B= -C= --write-changes --summary --count \
         --quiet-level= --skip= --ignore-words-list= --ignore-words=< --exclude-file=< \
         --builtin= --check-filenames --check-hidden --ignore-regex= --ignore-multiline-regex= \
         --uri-ignore-words-list= --disable-colors --enable-colors --regex= --context= \
         --after-context= --before-context= --hard-encoding-detection --stdin-single-line \
         --version -h --help",
    ),
    writes(
        &["typos"],
        OperandKind::EditedHereWith(&["-w", "--write-changes"]),
        "-w --write-changes --diff --files --identifiers --words --exclude= --hidden --no-ignore \
         --sort --format= --color= --isolated --force-exclude --locale= --type-list -q --quiet \
         -v --verbose -j= --threads= -c=< --config=< -V --version -h --help",
    ),
    reads(
        &["objdump"],
        OperandKind::Paths,
        "-a -d -D -f -g -h -l -p -r -R -s -S -t -T -w -x -z -C=? -j= -M= -b= -m= \
         --archive-headers --disassemble=? --disassemble-all --file-headers --section-headers \
         --headers --line-numbers --all-headers --reloc --dynamic-reloc --full-contents --source \
         --syms --dynamic-syms --wide --demangle=? --section= --disassembler-options= \
         --no-show-raw-insn --no-addresses --start-address= --stop-address= --visualize-jumps=?",
    ),
    reads(
        &["readelf"],
        OperandKind::Paths,
        "-a -h -l -S -g -t -e -s -n -r -u -d -V -A -I -W -x= -p= -R= --all --file-header \
         --program-headers --segments --section-headers --sections --headers --syms --symbols \
         --dyn-syms --notes --relocs --dynamic --version-info --wide --hex-dump= --string-dump=",
    ),
    reads(
        &["size"],
        OperandKind::Paths,
        "-A -B -G -d -o -x -t --format= --radix= --totals --common",
    ),
    reads(&["c++filt"], OperandKind::Text, "-_ -n -p -i -t -s= --no-params --types --format="),
];
