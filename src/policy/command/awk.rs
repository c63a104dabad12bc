//! awk programs that only compute and print: whatever writes files, reads others or runs programs
//! is refused.
//!
//! In: one program word. Out: whether nothing in it could do that. Text and patterns in it count
//! as code, so it refuses more than it has to.

/// Words of awk that run programs, open files or load code.
const REACHING_OUT: &[&str] = &[
    "system",
    "getline",
    "ARGV",
    "ARGC",
    "ENVIRON",
    "PROCINFO",
    "SYMTAB",
    "FUNCTAB",
    "include",
    "load",
    "extension",
];

/// What a statement begins with that may write a file: `print` and `printf`.
const PRINTING: &str = "print";

/// Checks a program.
///
/// # Errors
/// Names what is not known to be harmless.
pub(super) fn check(program: &str) -> Result<(), String> {
    if let Some(word) = REACHING_OUT.iter().find(|word| program.contains(**word)) {
        return Err(format!("the awk program holds `{word}`, which may reach other files or run"));
    }
    if program.contains('@') {
        return Err("the awk program holds `@`, which calls or includes by name".to_owned());
    }
    let letters: Vec<char> = program.chars().collect();
    // In front of the first statement that prints, `>` compares.
    let first_print = program.split(PRINTING).next().map_or(0, |before| before.chars().count());
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        match letter {
            '|' if before != Some(&'|') && after != Some(&'|') => {
                return Err("the awk program holds `|`, which may run a program".to_owned());
            }
            // `||` of an empty left side is none of awk's; three in a row could end in a pipe.
            '|' if before == Some(&'|') && after == Some(&'|') => {
                return Err("the awk program holds `|||`".to_owned());
            }
            '>' if after != Some(&'=') && at > first_print => {
                return Err("the awk program holds `>` behind `print`, which may write a file; \
                            compare before the first `print`"
                    .to_owned());
            }
            '\\' if after == Some(&'\n') => {
                return Err("the awk program goes on behind the end of a line".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn lets_programs_through_that_compute_and_print() {
        for program in [
            "{print $1}",
            "NR>=1 && NR<=12",
            "NR==1 || /x/",
            "{gsub(/Use/,\"Usage\")}1",
            "BEGIN{FS=\":\"} {s+=$2} END{print s, s/NR}",
            "!seen[$0]++",
            "length > 100",
            "$3 > 5 && $3 < 9 {print $1}",
            "NR > 3",
            "{if ($2 > max) max = $2} END{print max}",
            "length($0) >= 100 {printf \"%s:%d\\n\", FILENAME, FNR}",
        ] {
            assert_eq!(check(program), Ok(()), "{program}");
        }
    }

    #[test]
    fn refuses_what_writes_reads_or_runs() {
        for program in [
            "BEGIN{system(\"id\")}",
            "{print > \"x\"}",
            "{printf \"a\" > \"x\"}",
            "NR > 3 {print $1 > \"x\"}",
            "{print} NR > 3",
            "{print(1)>\"x\"}",
            "{print >> \"x\"}",
            "{print | \"sh\"}",
            "{print |& \"sh\"}",
            "{print ||| \"sh\"}",
            "BEGIN{\"id\" | getline x}",
            "BEGIN{while((getline l < \"/etc/passwd\")>=0) print l}",
            "BEGIN{ARGV[1]=\"/etc/passwd\"}",
            "@load \"filefuncs\"",
            "BEGIN{f=\"x\"; @f()}",
            "BEGIN{sys\\\ntem(\"id\")}",
            "{print ENVIRON[\"X\"]}",
            "BEGIN{x=SYMTAB[\"ENV\" \"IRON\"][\"HOME\"]; print x}",
            "BEGIN{SYMTAB[\"ARG\" \"V\"][1]=\"/etc/passwd\"}",
            "BEGIN{for (f in FUNCTAB) print f}",
        ] {
            assert!(check(program).is_err(), "{program}");
        }
    }
}
