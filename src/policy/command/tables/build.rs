//! Programs that build or check a whole repository, whatever its language.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, runs};

/// Options of `make`.
pub(super) const MAKE: &str = "\
    -j=? -k -s -B -w -i -n -q -r -R -t -d -p -S -L -v -h --jobs=? \
    --keep-going --no-keep-going --silent --no-silent --quiet --always-make --dry-run --just-print \
    --recon --question --touch --ignore-errors --no-builtin-rules --no-builtin-variables \
    --no-print-directory --print-directory --print-data-base --debug=? --trace --shuffle=? \
    --output-sync=? -O=? -l=? --load-average=? --max-load=? --warn-undefined-variables \
    --version --help -C=< --directory=< -f=< --file=< --makefile=< -I=< --include-dir=< \
    -W=< --what-if=< -o=< --old-file=<";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(&["make"], OperandKind::Targets, MAKE),
    runs(
        &["pre-commit run", "prek run"],
        OperandKind::Text,
        "-a --all-files -v --verbose -q --quiet --files=< --show-diff-on-failure --color= \
         --from-ref= --to-ref= -s= -o= --source= --origin= --hook-stage= --stage= --skip= \
         --last-commit --dry-run --fail-fast --no-progress -h --help",
    ),
];
