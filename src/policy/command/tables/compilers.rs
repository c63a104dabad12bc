//! Families of options of compilers for C and C++: `-Wall`, `-fsanitize=address`, `-O2`. One that
//! loads code, starts a program or writes a file that no word names is in none of them.
//!
//! In: an option and what stands behind it. Out: whether it is known.

use crate::words;

/// Compilers, as tables call them.
pub(crate) const NAMES: &str = "c++ cc clang clang++ g++ gcc";

/// What may stand behind `-f`, perhaps behind `no-`.
const FEATURES: &str = "\
    aligned-new analyzer asynchronous-unwind-tables blocks builtin caret-diagnostics char8_t \
    color-diagnostics common concepts coroutines data-sections delete-null-pointer-checks \
    diagnostics-show-option elide-constructors exceptions fast-math finite-math-only freestanding \
    function-sections gnu89-inline hosted implicit-templates inline inline-functions lto \
    math-errno merge-constants ms-extensions non-call-exceptions omit-frame-pointer \
    associative-math check-new coverage-mapping cx-limited-range devirtualize fat-lto-objects \
    gnu-unique hardened ident inline-small-functions keep-inline-functions lifetime-dse \
    operator-names profile-instr-generate reciprocal-math rounding-math \
    sanitize-address-use-after-scope section-anchors short-wchar slp-vectorize \
    threadsafe-statics tree-slp-vectorize unsafe-math-optimizations use-cxa-atexit var-tracking \
    verbose-asm weak \
    openmp openmp-simd optimize-sibling-calls permissive PIC pic PIE pie plt rtti \
    semantic-interposition short-enums signed-char signed-zeros sized-deallocation \
    stack-clash-protection stack-protector stack-protector-all stack-protector-strong \
    standalone-debug strict-aliasing sanitize-undefined-trap-on-error strict-overflow syntax-only \
    trapping-math trapv tree-vectorize unroll-loops unsigned-char unwind-tables vectorize \
    visibility-inlines-hidden wrapv zero-initialized-in-bss";

/// What may stand behind `-f`, perhaps behind `no-`, with `=` and plain words after it.
const VALUED_FEATURES: &str = "\
    cf-protection constexpr-depth constexpr-loop-limit constexpr-ops-limit constexpr-steps \
    diagnostics-color error-limit excess-precision exec-charset fp-contract input-charset \
    macro-backtrace-limit max-errors message-length sanitize sanitize-recover sanitize-trap \
    strict-flex-arrays template-backtrace-limit template-depth tls-model trivial-auto-var-init \
    visibility zero-call-used-regs";

/// What `-m` begins with.
const MACHINES: &[&str] = &[
    "32",
    "64",
    "abi=",
    "aes",
    "arch=",
    "arm",
    "avx",
    "bmi",
    "cpu=",
    "f16c",
    "float-abi=",
    "fma",
    "fpu=",
    "popcnt",
    "pclmul",
    "sse",
    "ssse",
    "thumb",
    "tune=",
];

/// What may stand between the commas behind `-Wl`.
const LINKER: &str = "\
    --as-needed --build-id --fatal-warnings --gc-sections --no-as-needed --no-undefined -O1 -O2 \
    -S -s -z defs lazy noexecstack now relro --start-group --end-group --whole-archive \
    --no-whole-archive --export-dynamic -E";

const LANGUAGES: &str = "assembler assembler-with-cpp c c++ none objective-c objective-c++";

/// Returns true for what may stand behind an option of a compiler.
pub(super) fn is_known(option: &str, value: &str) -> bool {
    match option {
        "-W" => is_warning(value),
        "-f" => is_feature(value),
        "-m" => {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-+.=_".contains(&byte);
            let machine = value.strip_prefix("no-").unwrap_or(value);
            value.bytes().all(plain) && MACHINES.iter().any(|start| machine.starts_with(start))
        }
        // `-gsplit-dwarf` would write one more file.
        "-g" => {
            let level = value.strip_prefix("gdb").or_else(|| value.strip_prefix("dwarf-"));
            let level = level.unwrap_or(value);
            words::holds("line-tables-only column-info no-column-info", value)
                || level.is_empty()
                || words::is_number(level)
        }
        "-O" => matches!(value, "" | "s" | "g" | "z" | "fast") || words::is_number(value),
        "-x" => words::holds(LANGUAGES, value),
        "-l" => is_plain(value),
        _ => false,
    }
}

/// Returns true for a list of options of a compiler that read and write no files.
pub(in crate::command) fn are_flags(flags: &str) -> bool {
    flags.split_ascii_whitespace().all(|flag| {
        let is_macro = |text: &str| {
            let (name, value) = text.split_once('=').unwrap_or((text, "1"));
            is_plain(name) && is_plain(value)
        };
        let value = |option: &str| flag.strip_prefix(option);
        words::holds("-ansi -pedantic -pedantic-errors -pthread -w -pipe -static -v", flag)
            || value("-std=").is_some_and(is_plain)
            || value("-D").or_else(|| value("-U")).is_some_and(is_macro)
            || ["-W", "-f", "-m", "-g", "-O"]
                .iter()
                .any(|option| value(option).is_some_and(|value| is_known(option, value)))
    })
}

/// A name of a warning; behind `-Wl` stand options of the linker, behind `-Wa` and `-Wp` others.
fn is_warning(value: &str) -> bool {
    if let Some(options) = value.strip_prefix("l,") {
        return options.split(',').all(|option| words::holds(LINKER, option));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-+=".contains(&byte);
    value.bytes().all(plain)
}

fn is_feature(value: &str) -> bool {
    let (name, set) = value.split_once('=').map_or((value, None), |(name, set)| (name, Some(set)));
    let bare = name.strip_prefix("no-").unwrap_or(name);
    let linker = |set: &str| words::holds("bfd gold lld mold", set);
    match set {
        None => words::holds(FEATURES, bare) || words::holds(VALUED_FEATURES, bare),
        Some(set) if name == "use-ld" => linker(set),
        Some(set) if name == "lto" => words::holds("auto full thin", set) || words::is_number(set),
        Some(set) => words::holds(VALUED_FEATURES, bare) && set.split(',').all(is_plain),
    }
}

/// Letters, digits and a few signs.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{are_flags, is_known};

    #[test]
    fn only_options_are_known_that_load_start_and_write_nothing_more() {
        for (option, value) in [
            ("-W", ""),
            ("-W", "all"),
            ("-W", "no-unused-parameter"),
            ("-W", "error=format"),
            ("-W", "l,--as-needed,-z,relro"),
            ("-f", "sanitize=address,undefined"),
            ("-f", "no-exceptions"),
            ("-f", "no-sanitize-recover=all"),
            ("-f", "PIC"),
            ("-f", "use-ld=lld"),
            ("-f", "lto=auto"),
            ("-m", "arch=native"),
            ("-m", "no-avx2"),
            ("-g", ""),
            ("-g", "3"),
            ("-g", "gdb3"),
            ("-g", "dwarf-5"),
            ("-O", ""),
            ("-O", "2"),
            ("-x", "c++"),
            ("-l", "m"),
        ] {
            assert!(is_known(option, value), "{option}{value}");
        }
        for (option, value) in [
            ("-W", "l,-plugin,evil.so"),
            ("-W", "l,-rpath,/tmp"),
            ("-W", "l,-T,a.ld"),
            ("-W", "l,@a"),
            ("-W", "a,--foo"),
            ("-W", "p,-MD,a"),
            ("-W", "rapper"),
            ("-f", "plugin=evil.so"),
            ("-f", "plugin-arg-a-b=c"),
            ("-f", "use-ld=/tmp/ld"),
            ("-f", "dump-tree-all"),
            ("-f", "opt-info-vec=a"),
            ("-f", "module-mapper=|evil"),
            ("-f", "modules-ts"),
            ("-f", "modules"),
            ("-f", "profile-use=/tmp/a"),
            ("-f", "time-trace"),
            ("-f", "sanitize-blacklist=a"),
            ("-f", "visibility=/tmp/a"),
            ("-m", "llvm"),
            ("-m", "arch=/tmp/a"),
            ("-g", "split-dwarf"),
            ("-O", "bjC"),
            ("-x", "c-header"),
            ("-l", ":../a"),
            ("-l", "../a"),
            ("-B", "a"),
        ] {
            // `-wrapper` is no warning, for its `w` is a small one.
            let is_warning = option == "-W" && value == "rapper";
            assert_eq!(is_known(option, value), is_warning, "{option}{value}");
        }
    }

    #[test]
    fn flags_of_a_build_name_no_files() {
        assert!(are_flags("-Wall -Wextra -O2 -g -std=c++20 -DA=1 -fsanitize=address"));
        for flags in ["-Wall -I/tmp", "a.o", "@a", "-fplugin=a.so", "-include a", "-Dx=$(y)"] {
            assert!(!are_flags(flags), "{flags}");
        }
    }
}
