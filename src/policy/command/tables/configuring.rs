//! What is set when C and C++ are configured, built and debugged: variables of CMake, options of
//! Meson, tools of Ninja, commands of gdb.
//!
//! In: an option and its value. Out: whether it is known to choose no program, load no code and
//! name no file.

use crate::command::tables::{compilers, tasks};
use crate::words;

/// Values that turn something on or off.
const SWITCHES: &str =
    "0 1 auto AUTO disabled enabled false FALSE no NO OFF off ON on true TRUE yes YES";

/// Variables of CMake whose value is a word or a number.
const CMAKE_WORDS: &str = "\
    CMAKE_BUILD_TYPE CMAKE_COLOR_DIAGNOSTICS CMAKE_COLOR_MAKEFILE CMAKE_COMPILE_WARNING_AS_ERROR \
    CMAKE_CONFIGURATION_TYPES CMAKE_CXX_EXTENSIONS CMAKE_CXX_SCAN_FOR_MODULES CMAKE_CXX_STANDARD \
    CMAKE_CXX_STANDARD_REQUIRED CMAKE_CXX_VISIBILITY_PRESET CMAKE_C_EXTENSIONS CMAKE_C_STANDARD \
    CMAKE_C_STANDARD_REQUIRED CMAKE_C_VISIBILITY_PRESET CMAKE_EXPORT_COMPILE_COMMANDS \
    CMAKE_INTERPROCEDURAL_OPTIMIZATION CMAKE_POLICY_VERSION_MINIMUM \
    CMAKE_POSITION_INDEPENDENT_CODE CMAKE_UNITY_BUILD CMAKE_VERBOSE_MAKEFILE \
    CMAKE_VISIBILITY_INLINES_HIDDEN";

/// Variables of CMake, perhaps with a kind of build at their end, that hold flags of a compiler.
const CMAKE_FLAGS: &[&str] = &[
    "CMAKE_C_FLAGS",
    "CMAKE_CXX_FLAGS",
    "CMAKE_EXE_LINKER_FLAGS",
    "CMAKE_SHARED_LINKER_FLAGS",
    "CMAKE_MODULE_LINKER_FLAGS",
];

/// Beginnings of variables that mean something to CMake itself.
const CMAKE_OWN: &[&str] = &["CMAKE_", "CPACK_", "CTEST_", "DART_", "FETCHCONTENT_SOURCE"];

/// Options of Meson itself whose value is a word or a number.
const MESON_WORDS: &str = "\
    b_asneeded b_coverage b_lto b_ndebug b_pch b_pie b_sanitize b_staticpic buildtype c_std \
    cpp_debugstl cpp_eh cpp_rtti cpp_std debug default_library layout optimization strip unity \
    warning_level werror";

/// Returns true for what one option of CMake sets.
pub(super) fn is_known_to_cmake(option: &str, value: &str) -> bool {
    if option != "-D" {
        return value.split(',').all(tasks::is_harmless);
    }
    let Some((name, set)) = value.split_once('=') else { return false };
    let (name, kind) = name.split_once(':').unwrap_or((name, "STRING"));
    let flags = CMAKE_FLAGS.iter().find_map(|start| name.strip_prefix(start));
    if !words::holds("BOOL STRING", kind) || !is_name(name) {
        false
    } else if let Some(kind) = flags {
        (kind.is_empty() || kind.starts_with('_')) && compilers::are_flags(set)
    } else if words::holds(CMAKE_WORDS, name) {
        is_value(set)
    } else {
        // What belongs to the project can only be turned on and off.
        let own = name.to_uppercase();
        !CMAKE_OWN.iter().any(|start| own.starts_with(start)) && is_switch(set)
    }
}

/// Returns true for what `-D` of Meson sets.
pub(super) fn is_known_to_meson(value: &str) -> bool {
    let Some((name, set)) = value.split_once('=') else { return false };
    let own = name.rsplit(':').next().unwrap_or_default();
    is_name(&name.replace([':', '.'], "_"))
        && (is_switch(set) || (words::holds(MESON_WORDS, own) && is_value(set)))
}

/// Returns true for a tool of Ninja that starts nothing, or for what it says of its work.
pub(super) fn is_known_to_ninja(option: &str, value: &str) -> bool {
    let known = match option {
        "-t" => {
            "clean cleandead commands compdb compdb-targets deps graph inputs list missingdeps \
             query recompact restat rules targets"
        }
        "-d" => "explain keepdepfile keeprsp list stats",
        "-w" => "dupbuild=err dupbuild=warn phonycycle=err phonycycle=warn",
        _ => "",
    };
    words::holds(known, value)
}

/// Returns true for a command of gdb that runs the program or shows what it did.
pub(super) fn is_known_to_gdb(value: &str) -> bool {
    let parts: Vec<&str> = value.split_ascii_whitespace().collect();
    match parts.as_slice() {
        [
            "run" | "r" | "start" | "continue" | "c" | "bt" | "backtrace" | "where" | "quit" | "q"
            | "up" | "down",
        ] => true,
        ["bt" | "backtrace", detail] => words::holds("full 5 10 20 50", detail),
        ["thread", "apply", "all", "bt" | "backtrace", rest @ ..] => matches!(rest, [] | ["full"]),
        ["info", what] => {
            words::holds("args frame locals registers sharedlibrary signals source threads", what)
        }
        ["set", "pagination" | "confirm", "off" | "on"] => true,
        _ => false,
    }
}

fn is_switch(text: &str) -> bool {
    words::holds(SWITCHES, text) || words::is_number(text)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn is_value(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.;,+-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{is_known_to_cmake, is_known_to_gdb, is_known_to_meson, is_known_to_ninja};

    #[test]
    fn only_variables_of_cmake_are_known_that_choose_no_program() {
        for value in [
            "CMAKE_BUILD_TYPE=Debug",
            "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo",
            "CMAKE_EXPORT_COMPILE_COMMANDS=ON",
            "CMAKE_CXX_FLAGS=-Wall -fsanitize=address",
            "CMAKE_CXX_FLAGS_DEBUG=-g -O0",
            "CMAKE_CXX_STANDARD=20",
            "BUILD_TESTING=ON",
            "WITH_X:BOOL=off",
        ] {
            assert!(is_known_to_cmake("-D", value), "{value}");
        }
        for value in [
            "CMAKE_CXX_COMPILER=clang++",
            "CMAKE_CXX_COMPILER_LAUNCHER=curl",
            "CMAKE_TOOLCHAIN_FILE=a.cmake",
            "CMAKE_PROJECT_INCLUDE=a.cmake",
            "CMAKE_MAKE_PROGRAM=evil",
            "CMAKE_INSTALL_PREFIX=/tmp/a",
            "cmake_make_program=1",
            "CMAKE_CXX_COMPILE_OBJECT=1",
            "CMAKE_CXX_FLAGS=-fplugin=evil.so",
            "CMAKE_CXX_FLAGS=@a",
            "CMAKE_CXX_FLAGSX=-g",
            "CMAKE_BUILD_TYPE:FILEPATH=a",
            "GIT_EXECUTABLE=curl",
            "WITH_X=evil",
            "WITH_X=/tmp/a",
            "WITH_X",
            "=ON",
        ] {
            assert!(!is_known_to_cmake("-D", value), "{value}");
        }
        assert!(is_known_to_cmake("--target", "check"));
        assert!(!is_known_to_cmake("--target", "install"));
    }

    #[test]
    fn only_options_of_meson_are_known_that_choose_no_program() {
        for value in ["b_sanitize=address", "cpp_std=c++20", "tests=enabled", "sub:tests=false"] {
            assert!(is_known_to_meson(value), "{value}");
        }
        for value in ["cpp_args=-fplugin=a", "prefix=/tmp/a", "tests=evil", "b_lto", "a=/b"] {
            assert!(!is_known_to_meson(value), "{value}");
        }
    }

    #[test]
    fn tools_of_ninja_and_commands_of_gdb_start_nothing_else() {
        assert!(is_known_to_ninja("-t", "targets") && is_known_to_ninja("-d", "explain"));
        for value in ["msvc", "browse", "", "targets,msvc"] {
            assert!(!is_known_to_ninja("-t", value), "{value}");
        }
        for value in ["run", "bt full", "thread apply all bt", "info locals"] {
            assert!(is_known_to_gdb(value), "{value}");
        }
        for value in [
            "shell ls",
            "!ls",
            "run > /tmp/a",
            "python x",
            "source a",
            "info line a",
            "bt | ls",
            "",
        ] {
            assert!(!is_known_to_gdb(value), "{value}");
        }
    }
}
