//! Programs that look into archives and documents, and at the machine.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, writes};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    reads(
        &["unzip -l", "unzip -lv", "unzip -v", "unzip -t", "unzip -p", "unzip -Z", "unzip -Z1"],
        OperandKind::Paths,
        "-q -qq",
    ),
    reads(&["zipinfo"], OperandKind::Paths, "-1 -2 -s -m -l -v -h -t -z -T"),
    reads(&["zcat", "bzcat", "xzcat", "zstdcat"], OperandKind::Paths, "-q -v"),
    reads(
        &["gzip -l", "gzip -t", "gzip -dc", "gzip -cd", "gunzip -c", "xz -l", "xz -t", "xz -dc"],
        OperandKind::Paths,
        "-q -v",
    ),
    // Without `--noent`, `--xinclude` and `--valid` it reads no other file.
    reads(
        &["xmllint"],
        OperandKind::Paths,
        "--xpath= --noout --format --pretty= --nonet --recover --huge --noblanks --nocdata \
         --nowarning --html --xmlout --encode= --stream --timing --schema=< --relaxng=< \
         --schematron=< --output=> --version",
    ),
    reads(
        &["iconv"],
        OperandKind::Paths,
        "-f= -t= -c -s -l -o=> --from-code= --to-code= --list --silent --output=>",
    ),
    reads(
        &["shuf"],
        OperandKind::Paths,
        "-n= -e -i= -r -z -o=> --head-count= --echo --input-range= --repeat --zero-terminated \
         --output=> --random-source=<",
    ),
    reads(&["tsort"], OperandKind::Paths, ""),
    writes(
        &["dos2unix", "unix2dos"],
        OperandKind::Edited,
        "-q -k -f -o -s -v --quiet --keepdate --force --oldfile --safe --verbose",
    ),
    reads(&["expr"], OperandKind::Words, ""),
    reads(&["factor", "cal", "ncal"], OperandKind::Text, "-3 -y -m= -j -s -h"),
    reads(
        &["numfmt"],
        OperandKind::Text,
        "-d= -z --to= --from= --to-unit= --from-unit= --suffix= --padding= --field= --format= \
         --round= --invalid= --header=? --grouping --delimiter=",
    ),
    reads(&["getconf"], OperandKind::Text, "-a -v="),
    reads(&["groups"], OperandKind::Text, ""),
    reads(
        &["lscpu"],
        OperandKind::None,
        "-a -b -c -J -x -y -e=? -p=? --all --online --offline --json --hex --physical \
         --extended=? --parse=? --output-all",
    ),
    reads(
        &["pkg-config"],
        OperandKind::Text,
        "--cflags --libs --static --exists --print-errors --short-errors --silence-errors \
         --modversion --list-all --list-package-names --variable= --print-variables \
         --atleast-version= --exact-version= --max-version= --cflags-only-I --cflags-only-other \
         --libs-only-l --libs-only-L --libs-only-other --print-requires \
         --print-requires-private --version",
    ),
    reads(&["php -m", "php --modules", "php --ini"], OperandKind::None, ""),
];
