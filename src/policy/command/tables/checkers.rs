//! Programs that check sources, format them, or look into what was built.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs, writes};

/// Programs that are started by their own name and as modules of Python.
const AUTOPEP8: &[&str] = &["autopep8", "python -m autopep8", "python3 -m autopep8"];
const BANDIT: &[&str] = &["bandit", "python -m bandit", "python3 -m bandit"];
const STYLE: &[&str] = &[
    "pycodestyle",
    "python -m pycodestyle",
    "python3 -m pycodestyle",
    "pydocstyle",
    "python -m pydocstyle",
    "python3 -m pydocstyle",
];
const VULTURE: &[&str] = &["vulture", "python -m vulture", "python3 -m vulture"];

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    reads(
        &["shellcheck"],
        OperandKind::Paths,
        "-a -x -s= -S= -f= -e= -i= -o= -P=< -W= -C=? --check-sourced --external-sources --shell= \
         --severity= --format= --exclude= --include= --enable= --source-path=< --wiki-link-count= \
         --color=? --norc --list-optional -V --version",
    ),
    writes(
        &["shfmt"],
        OperandKind::EditedWith(&["-w", "--write"]),
        "-l -w -d -s -i= -bn -ci -sr -kp -fn -mn -f -ln= -p --list --write --diff --simplify \
         --indent= --binary-next-line --case-indent --space-redirects --keep-padding \
         --func-next-line --minify --find --language-dialect= --posix --version",
    ),
    writes(
        &["clang-format"],
        OperandKind::EditedWith(&["-i"]),
        "-i -n -Werror --dry-run --Werror --verbose --sort-includes --lines= --offset= --length= \
         --ferror-limit= --version --dump-config --fallback-style= -style=@ --style=@",
    ),
    writes(
        &["google-java-format"],
        OperandKind::EditedWith(&["-i", "-r", "--replace"]),
        "-i -r -n -a --replace --dry-run --set-exit-if-changed --aosp --skip-sorting-imports \
         --skip-removing-unused-imports --skip-javadoc-formatting --skip-reflowing-long-strings \
         --lines= --offset= --length= --version",
    ),
    runs(
        AUTOPEP8,
        OperandKind::EditedWith(&["-i", "--in-place"]),
        "-i -d -r -a -v -j= -p= --in-place --diff --recursive --aggressive --experimental \
         --verbose --jobs= --pep8-passes= --exclude= --list-fixes --ignore= --select= \
         --max-line-length= --line-range== --hang-closing --exit-code --indent-size= --version",
    ),
    runs(
        BANDIT,
        OperandKind::Paths,
        "-r -l -ll -lll -i -ii -iii -q -v -d -n= -t= -s= -x= -f= -a= -o=> -c=< -b=< --recursive \
         --aggregate= --number= --configfile=< --tests= --skip= --level --severity-level= \
         --confidence-level= --format= --output=> --verbose --debug --quiet --silent \
         --ignore-nosec --exclude= --baseline=< --exit-zero --version",
    ),
    runs(
        STYLE,
        OperandKind::PathsOrHere,
        "-v -q -e -s -d --verbose --quiet --first --count --statistics --select= --ignore= \
         --exclude= --filename= --max-line-length= --max-doc-length= --indent-size= \
         --hang-closing --show-source --show-pep8 --benchmark --explain --source --convention= \
         --add-select= --add-ignore= --match= --match-dir= --version",
    ),
    runs(
        VULTURE,
        OperandKind::Paths,
        "-v --verbose --min-confidence= --sort-by-size --exclude= --ignore-names= \
         --ignore-decorators= --make-whitelist --version",
    ),
    reads(
        &["objdump"],
        OperandKind::Paths,
        "-a -d -D -f -g -h -l -p -r -R -s -S -t -T -w -x -z -C=? -j= -M= -b= -m= \
         --archive-headers --disassemble=? --disassemble-all --file-headers --section-headers \
         --headers --line-numbers --all-headers --reloc --dynamic-reloc --full-contents --source \
         --syms --dynamic-syms --wide --demangle=? --section= --disassembler-options= \
         --no-show-raw-insn --no-addresses --start-address= --stop-address=",
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
