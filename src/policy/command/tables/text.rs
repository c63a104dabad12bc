//! Programs that read files and print.
//!
//! In and out: nothing but data, in the notation of `tables`.

use crate::command::tables::{Effect, Operands, Table, reads};

const GREP_PATTERN: &[&str] = &["-e", "-f", "--regexp", "--file", "--files", "--type-list"];

const fn writes(
    words: &'static [&'static str],
    operands: Operands,
    options: &'static str,
) -> Table {
    Table { words, options: [options, ""], operands, effect: Effect::Writes }
}

/// The tables.
pub(super) const TABLES: &[Table] = &[
    writes(
        &["rm"],
        Operands::Edited,
        "-f -r -R -d -v -i -I --force --recursive --dir --verbose --interactive=? \
         --one-file-system",
    ),
    writes(&["rmdir"], Operands::Edited, "-p -v --parents --verbose --ignore-fail-on-non-empty"),
    writes(&["mkdir"], Operands::Edited, "-p -v --parents --verbose"),
    writes(&["touch"], Operands::Edited, "-a -c -m -d= -t= --no-create --date= --time="),
    writes(
        &["mv"],
        Operands::Edited,
        "-f -n -v -u -i --force --no-clobber --verbose --update=? -T --no-target-directory",
    ),
    writes(
        &["cp"],
        Operands::Copied,
        "-f -n -v -u -i -r -R -a -p -d -P -T --force --no-clobber --verbose --update=? \
         --recursive --archive --no-dereference --no-target-directory",
    ),
    reads(&["echo"], Operands::Words, ""),
    reads(&["printf"], Operands::Words, ""),
    reads(&["true"], Operands::Words, ""),
    reads(&["false"], Operands::Words, ""),
    reads(&["pwd"], Operands::None, "-L -P"),
    reads(&["seq"], Operands::Text, "-w -s= -f="),
    reads(&["basename"], Operands::Text, "-a -s= -z"),
    reads(&["dirname"], Operands::Text, "-z"),
    reads(&["which"], Operands::Text, "-a"),
    reads(&["uname"], Operands::None, "-a -s -r -m -o -n -v -p"),
    reads(&["nproc"], Operands::None, "--all"),
    reads(
        &["ls"],
        Operands::PathsOrHere,
        "-a -A -l -h -r -R -t -S -s -d -1 -F -p -i -n -g -o -G -C -x -m -U -v -X -B -b -q -Q -u \
         -c -k --all --almost-all --human-readable --reverse --recursive --directory --classify=? \
         --color=? --sort= --time= --time-style= --size --inode --full-time \
         --group-directories-first --si --width= -w= -I= --ignore= --hide= --format= \
         --indicator-style= --quoting-style= --no-group --numeric-uid-gid --literal -N",
    ),
    reads(
        &["tree"],
        Operands::PathsOrHere,
        "-a -d -f -L= -P= -I= -i -h -s -p -F -C -n --noreport --dirsfirst --prune --gitignore \
         --du -J --charset= --filelimit=",
    ),
    reads(
        &["cat"],
        Operands::Paths,
        "-n -b -s -A -e -E -t -T -v -u --number --number-nonblank --squeeze-blank --show-all \
         --show-ends --show-tabs --show-nonprinting",
    ),
    reads(&["tac"], Operands::Paths, "-b -r -s="),
    reads(&["nl"], Operands::Paths, "-b= -n= -w= -s= -v= -i= -f= -h= -p"),
    reads(
        &["head"],
        Operands::Paths,
        "-n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose -#",
    ),
    reads(
        &["tail"],
        Operands::Paths,
        "-n= -c= -q -v -z --lines= --bytes= --quiet --silent --verbose -#",
    ),
    reads(
        &["wc"],
        Operands::Paths,
        "-l -w -c -m -L --lines --words --bytes --chars --max-line-length",
    ),
    reads(
        &["cut"],
        Operands::Paths,
        "-b= -c= -d= -f= -s -z -n --bytes= --characters= --delimiter= --fields= --complement \
         --only-delimited --output-delimiter=",
    ),
    reads(
        &["tr"],
        Operands::Text,
        "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
    ),
    reads(
        &["uniq"],
        Operands::OnePath,
        "-c -d -D -u -i -f= -s= -w= -z --count --repeated --unique --ignore-case",
    ),
    reads(&["column"], Operands::Paths, "-t -s= -o= -c="),
    reads(&["paste"], Operands::Paths, "-d= -s -z"),
    reads(&["comm"], Operands::Paths, "-1 -2 -3 -z --check-order --nocheck-order"),
    reads(&["cmp"], Operands::Paths, "-b -l -s -n= -i= --silent --quiet"),
    reads(
        &["diff"],
        Operands::Paths,
        "-u -U= -r -q -s -i -w -b -B -N -a -y -W= -c -C= -x= -p --unified=? --recursive --brief \
         --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --new-file \
         --text --color=? --side-by-side --exclude= --strip-trailing-cr --no-dereference \
         --minimal -d",
    ),
    reads(
        &["sort"],
        Operands::Paths,
        "-n -r -u -f -b -h -V -c -C -m -s -z -g -M -d -i -R -k= -t= -S= -o=> --output=> \
         --numeric-sort --reverse --unique --ignore-case --human-numeric-sort --version-sort \
         --key= --field-separator= --stable --check=? --zero-terminated --general-numeric-sort \
         --month-sort --dictionary-order",
    ),
    reads(
        &["date"],
        Operands::Format,
        "-u -R -I=? -d= -r=< --date= --reference=< --utc --universal --rfc-email --rfc-3339= \
         --iso-8601=?",
    ),
    reads(&["sleep"], Operands::Text, ""),
    reads(&["whoami"], Operands::None, ""),
    reads(&["hostname"], Operands::None, ""),
    reads(
        &["realpath"],
        Operands::Paths,
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --no-symlinks \
         --quiet --strip --zero --relative-to=< --relative-base=<",
    ),
    reads(
        &["readlink"],
        Operands::Paths,
        "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing \
         --no-newline --zero",
    ),
    reads(
        &["df"],
        Operands::Paths,
        "-a -h -H -i -k -l -P -T -t= -x= --all --human-readable --si --inodes --local \
         --portability --print-type --total --type= --exclude-type= --output=?",
    ),
    reads(&["fold"], Operands::Paths, "-b -s -w= --bytes --spaces --width="),
    reads(
        &["fmt"],
        Operands::Paths,
        "-c -s -t -u -w= -p= -g= --width= --split-only --uniform-spacing",
    ),
    reads(&["rev"], Operands::Paths, ""),
    reads(&["expand"], Operands::Paths, "-i -t= --initial --tabs="),
    reads(&["unexpand"], Operands::Paths, "-a -t= --all --first-only --tabs="),
    reads(
        &["join"],
        Operands::Paths,
        "-a= -e= -i -j= -o= -t= -v= -1= -2= -z --ignore-case --check-order --nocheck-order \
         --header --zero-terminated",
    ),
    reads(
        &["od"],
        Operands::Paths,
        "-A= -j= -N= -t= -v -a -b -c -d -f -i -l -o -s -x --address-radix= --skip-bytes= \
         --read-bytes= --format= --output-duplicates",
    ),
    reads(
        &["xxd"],
        Operands::OnePath,
        "-a -b -c= -d -e -E -g= -i -l= -o= -p -s= -u -cols= -len= -seek= -plain -ps -postscript",
    ),
    reads(
        &["hexdump"],
        Operands::Paths,
        "-b -c -C -d -n= -o -s= -v -x --canonical --length= --skip= --no-squeezing",
    ),
    reads(
        &["strings"],
        Operands::Paths,
        "-a -d -f -n= -t= -e= -w -o -s= --all --data --print-file-name --bytes= --radix= \
         --encoding= --include-all-whitespace",
    ),
    reads(&["cksum"], Operands::Paths, "-a= --algorithm= --tag --untagged -z --zero"),
    reads(&["sum"], Operands::Paths, "-r -s --sysv"),
    reads(&["b2sum"], Operands::Paths, "-b -t -l= --tag -z"),
    reads(&["sha224sum"], Operands::Paths, "-b -t --tag -z"),
    reads(&["sha384sum"], Operands::Paths, "-b -t --tag -z"),
    reads(&["sha512sum"], Operands::Paths, "-b -t --tag -z"),
    reads(&["yq"], Operands::PatternThenPaths(&[]), "-r -y -e --raw-output"),
    reads(&["stat"], Operands::Paths, "-c= --format= --printf= -t"),
    reads(&["file"], Operands::Paths, "-b -i -k -h --brief --mime --mime-type --mime-encoding"),
    reads(
        &["du"],
        Operands::PathsOrHere,
        "-h -s -a -c -d= --max-depth= -b -k -m --human-readable --summarize --all --total \
         --apparent-size --exclude=",
    ),
    reads(&["sha256sum"], Operands::Paths, "-b -t --tag -z"),
    reads(&["sha1sum"], Operands::Paths, "-b -t --tag -z"),
    reads(&["md5sum"], Operands::Paths, "-b -t --tag -z"),
    reads(
        &["jq"],
        Operands::PatternThenPaths(&[]),
        "-r -c -n -s -e -S -a -j -C -M -R --raw-output --compact-output --null-input --slurp \
         --exit-status --sort-keys --ascii-output --join-output --color-output \
         --monochrome-output --raw-input --tab --indent= --stream --seq --arg== --argjson==",
    ),
    reads(
        &["rg"],
        Operands::PatternThenPaths(GREP_PATTERN),
        "-n -N -i -S -s -w -x -v -l -c -o -F -P -U -H -I -q -a -p -0 -b -A= -B= -C= -e= -g= -t= \
         -T= -m= -d= -r= -M= -j= -E= -f=< --line-number --no-line-number --ignore-case \
         --smart-case --case-sensitive --word-regexp --line-regexp --invert-match \
         --files-with-matches --files-without-match --count --count-matches --only-matching \
         --fixed-strings --pcre2 --multiline --multiline-dotall --with-filename --no-filename \
         --quiet --text --pretty --null --byte-offset --after-context= --before-context= \
         --context= --regexp= --glob= --iglob= --glob-case-insensitive --type= --type-not= \
         --type-list --max-count= --max-depth= --replace= --max-columns= --max-columns-preview \
         --threads= --encoding= --file=< --files --json --heading --no-heading --color= --colors= \
         --column --no-column --sort= --sortr= --stats --no-stats --trim --vimgrep --passthru \
         --no-messages --max-filesize= --one-file-system --no-follow --no-hidden --no-config \
         --crlf --engine= --no-pre --no-search-zip --no-unicode --null-data --include-zero \
         --ignore-file=< --no-require-git --context-separator= --field-match-separator= \
         --stop-on-nonmatch",
    ),
    reads(
        &["grep"],
        Operands::PatternThenPaths(GREP_PATTERN),
        "-n -i -v -l -L -c -o -w -x -E -F -G -P -H -h -q -s -a -I -b -r -Z -z -T -A= -B= -C= -m= \
         -e= -f=< --line-number --ignore-case --no-ignore-case --invert-match \
         --files-with-matches --files-without-match --count --only-matching --word-regexp \
         --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp \
         --with-filename --no-filename --quiet --silent --no-messages --text --recursive \
         --color=? --colour=? --include= --exclude= --exclude-dir= --after-context= \
         --before-context= --context= --max-count= --regexp= --file=< --binary-files= --null \
         --byte-offset --initial-tab -#",
    ),
];
