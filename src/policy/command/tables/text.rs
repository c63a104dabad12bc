//! Programs that read files and print.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, ProgramEffect, reads, writes};
use crate::words;

const GREP_PATTERN: &[&str] = &["-e", "-f", "--regexp", "--file", "--files", "--type-list"];

/// Options of `rg` with none of which it searches more files than without them, but for patterns
/// (`-g`) and types (`-t`).
pub(crate) const RIPGREP_NO_MORE_FILES: &str = "-n -N -i -S -s -w -x -v -l -c -o -F -P -U -H -I \
     -q -a -p -0 -b -A= -B= -C= -e= -g= -t= -T= -m= -d= -r= -M= -j= -E= -f=< --line-number \
     --no-line-number --ignore-case \
     --smart-case --case-sensitive --word-regexp --line-regexp --invert-match \
     --files-with-matches --files-without-match --count --count-matches --only-matching \
     --fixed-strings --pcre2 --multiline --multiline-dotall --with-filename --no-filename --quiet \
     --text --pretty --null --byte-offset --after-context= --before-context= --context= --regexp= \
     --glob= --type= --type-not= --type-list --max-count= --max-depth= --replace= --max-columns= \
     --max-columns-preview --threads= --encoding= --file=< --files --json --heading --no-heading \
     --color= --colors= --column --no-column --sort= --sortr= --stats --no-stats --trim --vimgrep \
     --passthru --no-messages --max-filesize= --one-file-system --no-follow --no-hidden \
     --no-config --crlf --engine= --no-pre --no-search-zip --no-unicode --null-data \
     --include-zero --context-separator= --field-match-separator= --stop-on-nonmatch";

/// The other options of `rg`: with one of them, it may search more files.
const RIPGREP_MORE_FILES: &str = "--iglob= --glob-case-insensitive --ignore-file=< \
     --no-require-git --hidden -uu --no-ignore --no-ignore-dot --no-ignore-exclude \
     --no-ignore-global --no-ignore-parent --no-ignore-vcs";

/// Returns true for an option of `rg` with which it may search more files than it does by itself.
pub(in crate::command) fn finds_more(option: &str) -> bool {
    words::holds(RIPGREP_MORE_FILES, option)
}

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    writes(
        &["rm"],
        OperandKind::Edited,
        "-f -r -R -d -v -i -I --force --recursive --dir --verbose --interactive=? \
         --one-file-system",
    ),
    writes(&["rmdir"], OperandKind::Edited, "-p -v --parents --verbose --ignore-fail-on-non-empty"),
    writes(&["mkdir"], OperandKind::Edited, "-p -v --parents --verbose"),
    writes(
        &["chmod"],
        OperandKind::ChangeThenEdited,
        "-R -v -c -f --recursive --verbose --changes --silent --quiet",
    ),
    writes(
        &["chown", "chgrp"],
        OperandKind::ChangeThenEdited,
        "-R -v -c -f -h --recursive --verbose --changes --silent --quiet --no-dereference",
    ),
    writes(&["touch"], OperandKind::Edited, "-a -c -m -d= -t= --no-create --date= --time="),
    writes(
        &["mktemp"],
        OperandKind::EditedWithout(&["-t"]),
        "-d -q -u -t -p=> --directory --quiet --dry-run --suffix=",
    ),
    writes(&["tee"], OperandKind::Edited, "-a -i -p --append --ignore-interrupts"),
    writes(&["truncate"], OperandKind::Edited, "-c -s= --no-create --size="),
    writes(
        &["mv"],
        OperandKind::Edited,
        "-f -n -v -u -i --force --no-clobber --verbose --update=? -T --no-target-directory",
    ),
    writes(
        &["cp"],
        OperandKind::Copied,
        "-f -n -v -u -i -r -R -a -p -d -P -T --force --no-clobber --verbose --update=? \
         --recursive --archive --no-dereference --no-target-directory",
    ),
    reads(&["echo", "printf", "true", "false"], OperandKind::Words, ""),
    reads(&[":"], OperandKind::Words, ""),
    reads(&["command -v", "command -V"], OperandKind::Text, ""),
    reads(&["type"], OperandKind::Text, "-t -p -a -P"),
    reads(&["hash"], OperandKind::Text, "-t"),
    reads(&["whereis"], OperandKind::Text, "-b -m -s"),
    reads(&["man", "apropos", "whatis"], OperandKind::Plain, ""),
    reads(&["printenv"], OperandKind::HarmlessKeys, "-0 --null"),
    reads(&["free"], OperandKind::None, "-b -k -m -g -h -t -w --human --total --wide"),
    reads(&["uptime", "arch", "locale"], OperandKind::None, "-a -p -s"),
    reads(&["pwd"], OperandKind::None, "-L -P"),
    reads(&["seq"], OperandKind::Text, "-w -s= -f="),
    reads(&["basename"], OperandKind::Text, "-a -s= -z"),
    reads(&["dirname"], OperandKind::Text, "-z"),
    reads(&["which"], OperandKind::Text, "-a"),
    reads(&["uname"], OperandKind::None, "-a -s -r -m -o -n -v -p"),
    reads(&["nproc"], OperandKind::None, "--all"),
    reads(
        &["ls"],
        OperandKind::PathsOrHere,
        "-a -A -l -h -r -R -t -S -s -d -1 -F -p -i -n -g -o -G -C -x -m -U -v -X -B -b -q -Q -u \
         -c -k --all --almost-all --human-readable --reverse --recursive --directory --classify=? \
         --color=? --sort= --time= --time-style= --size --inode --full-time \
         --group-directories-first --si --width= -w= -I= --ignore= --hide= --format= \
         --indicator-style= --quoting-style= --no-group --numeric-uid-gid --literal -N",
    ),
    reads(
        &["tree"],
        OperandKind::PathsOrHere,
        "-a -d -f -L= -P= -I= -i -h -s -p -F -C -n --noreport --dirsfirst --prune --gitignore \
         --du -J --charset= --filelimit=",
    ),
    reads(
        &["cat"],
        OperandKind::Paths,
        "-n -b -s -A -e -E -t -T -v -u --number --number-nonblank --squeeze-blank --show-all \
         --show-ends --show-tabs --show-nonprinting",
    ),
    // Without a terminal they only copy.
    reads(
        &["less", "more"],
        OperandKind::Plain,
        "-F -N -R -S -X -n -i -r -s --no-init --quit-if-one-screen --LINE-NUMBERS",
    ),
    reads(
        &["base64", "base32"],
        OperandKind::Paths,
        "-d -D -i -w= --decode --ignore-garbage --wrap=",
    ),
    reads(&["tac"], OperandKind::Paths, "-b -r -s="),
    reads(&["nl"], OperandKind::Paths, "-b= -n= -w= -s= -v= -i= -f= -h= -p"),
    reads(
        &["head", "tail"],
        OperandKind::Paths,
        "-n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose -#",
    ),
    reads(
        &["wc"],
        OperandKind::Paths,
        "-l -w -c -m -L --lines --words --bytes --chars --max-line-length",
    ),
    reads(
        &["cut"],
        OperandKind::Paths,
        "-b= -c= -d= -f= -s -z -n --bytes= --characters= --delimiter= --fields= --complement \
         --only-delimited --output-delimiter=",
    ),
    reads(
        &["tr"],
        OperandKind::Text,
        "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
    ),
    reads(
        &["uniq"],
        OperandKind::OnePath,
        "-c -d -D -u -i -f= -s= -w= -z --count --repeated --unique --ignore-case",
    ),
    reads(&["column"], OperandKind::Paths, "-t -s= -o= -c="),
    reads(&["paste"], OperandKind::Paths, "-d= -s -z"),
    reads(&["comm"], OperandKind::Paths, "-1 -2 -3 -z --check-order --nocheck-order"),
    reads(&["cmp"], OperandKind::Paths, "-b -l -s -n= -i= --silent --quiet"),
    reads(
        &["diff"],
        OperandKind::Paths,
        "-u -U= -r -q -s -i -w -b -B -N -a -y -W= -c -C= -x= -p --unified=? --recursive --brief \
         --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --new-file \
         --text --color=? --side-by-side --exclude= --strip-trailing-cr --no-dereference \
         --minimal -d",
    ),
    reads(
        &["sort"],
        OperandKind::Paths,
        "-n -r -u -f -b -h -V -c -C -m -s -z -g -M -d -i -R -k= -t= -S= -o=> --output=> \
         --numeric-sort --reverse --unique --ignore-case --human-numeric-sort --version-sort \
         --key= --field-separator= --stable --check=? --zero-terminated --general-numeric-sort \
         --month-sort --dictionary-order",
    ),
    reads(
        &["date"],
        OperandKind::Format,
        "-u -R -I=? -d= -r=< --date= --reference=< --utc --universal --rfc-email --rfc-3339= \
         --iso-8601=?",
    ),
    reads(&["sleep"], OperandKind::Text, ""),
    reads(&["whoami", "hostname"], OperandKind::None, ""),
    reads(
        &["realpath"],
        OperandKind::Paths,
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --no-symlinks \
         --quiet --strip --zero --relative-to=< --relative-base=<",
    ),
    reads(
        &["readlink"],
        OperandKind::Paths,
        "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing \
         --no-newline --zero",
    ),
    reads(
        &["df"],
        OperandKind::Paths,
        "-a -h -H -i -k -l -P -T -t= -x= --all --human-readable --si --inodes --local \
         --portability --print-type --total --type= --exclude-type= --output=?",
    ),
    reads(&["fold"], OperandKind::Paths, "-b -s -w= --bytes --spaces --width="),
    reads(
        &["fmt"],
        OperandKind::Paths,
        "-c -s -t -u -w= -p= -g= --width= --split-only --uniform-spacing",
    ),
    reads(&["rev"], OperandKind::Paths, ""),
    reads(&["expand"], OperandKind::Paths, "-i -t= --initial --tabs="),
    reads(&["unexpand"], OperandKind::Paths, "-a -t= --all --first-only --tabs="),
    reads(
        &["join"],
        OperandKind::Paths,
        "-a= -e= -i -j= -o= -t= -v= -1= -2= -z --ignore-case --check-order --nocheck-order \
         --header --zero-terminated",
    ),
    reads(
        &["od"],
        OperandKind::Paths,
        "-A= -j= -N= -t= -v -a -b -c -d -f -i -l -o -s -x --address-radix= --skip-bytes= \
         --read-bytes= --format= --output-duplicates",
    ),
    reads(
        &["xxd"],
        OperandKind::OnePath,
        "-a -b -c= -d -e -E -g= -i -l= -o= -p -s= -u -cols= -len= -seek= -plain -ps -postscript",
    ),
    reads(
        &["hexdump"],
        OperandKind::Paths,
        "-b -c -C -d -n= -o -s= -v -x --canonical --length= --skip= --no-squeezing",
    ),
    reads(
        &["strings"],
        OperandKind::Paths,
        "-a -d -f -n= -t= -e= -w -o -s= --all --data --print-file-name --bytes= --radix= \
         --encoding= --include-all-whitespace",
    ),
    reads(&["cksum"], OperandKind::Paths, "-a= --algorithm= --tag --untagged -z --zero"),
    reads(&["sum"], OperandKind::Paths, "-r -s --sysv"),
    reads(&["b2sum"], OperandKind::Paths, "-b -t -l= --tag -z"),
    reads(
        &["sha224sum", "sha384sum", "sha512sum", "sha256sum", "sha1sum", "md5sum"],
        OperandKind::Paths,
        "-b -t --tag -z",
    ),
    // Two programs have this name.
    reads(
        &["yq"],
        OperandKind::PatternThenPaths(&[]),
        "-r -y -Y -e -i -n -N -P -C -M -j -o= -p= -I= --raw-output --yaml-output --in-place \
         --inplace --exit-status --null-input --no-doc --prettyPrint --colors --no-colors \
         --output-format= --input-format= --indent= --unwrapScalar=? --version --help",
    ),
    reads(&["stat"], OperandKind::Paths, "-c= --format= --printf= -t"),
    reads(&["file"], OperandKind::Paths, "-b -i -k -h --brief --mime --mime-type --mime-encoding"),
    reads(
        &["du"],
        OperandKind::PathsOrHere,
        "-h -s -a -c -d= --max-depth= -b -k -m --human-readable --summarize --all --total \
         --apparent-size --exclude=",
    ),
    reads(
        &["jq"],
        OperandKind::PatternThenPaths(&[]),
        "-r -c -n -s -e -S -a -j -C -M -R --raw-output --compact-output --null-input --slurp \
         --exit-status --sort-keys --ascii-output --join-output --color-output \
         --monochrome-output --raw-input --tab --indent= --stream --seq --arg== --argjson==",
    ),
    CommandTable {
        names: &["rg"],
        options: [RIPGREP_NO_MORE_FILES, RIPGREP_MORE_FILES],
        operands: OperandKind::PatternThenPaths(GREP_PATTERN),
        effect: ProgramEffect::Reads,
    },
    reads(
        &["grep"],
        OperandKind::PatternThenPaths(GREP_PATTERN),
        "-n -i -v -l -L -c -o -w -x -E -F -G -P -H -h -q -s -a -I -b -r -R -Z -z -T -A= -B= -C= \
         -m= \
         -e= -f=< --line-number --ignore-case --no-ignore-case --invert-match \
         --files-with-matches --files-without-match --count --only-matching --word-regexp \
         --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp \
         --with-filename --no-filename --quiet --silent --no-messages --text --recursive \
         --dereference-recursive \
         --color=? --colour=? --include= --exclude= --exclude-dir= --after-context= \
         --before-context= --context= --max-count= --regexp= --file=< --binary-files= --null \
         --byte-offset --initial-tab -#",
    ),
];
