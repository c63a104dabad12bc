//! Commands of projects in C and C++, and of those whose programs are scripts of a shell.

use crate::starter::commands::{RepositoryTools, is_safe, is_top, listed};
use crate::starter::scan::{is_plain, split};
use locum_base::path::RepoPath;

/// Endings of sources in C and C++.
const SOURCES: &[&str] = &[".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"];
/// Endings of scripts of a shell.
const SCRIPTS: &[&str] = &[".sh", ".bash"];
/// Most programs of CMake that get lines of their own.
const MOST_PROGRAMS: usize = 8;

/// What CMake, Meson and Make build of sources in C or C++.
pub(super) fn native(found: &mut RepositoryTools<'_>) {
    cmake(found);
    meson(found);
    let manifests = ["CMakeLists.txt", "meson.build", "configure.ac", "Makefile"];
    let Some(manifest) = manifests.iter().find_map(|name| found.named(name)) else { return };
    if !found.scan.files.iter().any(|path| ends(path, SOURCES)) {
        return;
    }
    let why = format!("{manifest}, sources in C or C++");
    for program in listed(
        "gcc, g++, cc, c++, clang, clang++, clang-format, clang-tidy, cppcheck, nm, objdump, \
         readelf, size, c++filt, valgrind, ar t, ar -t, addr2line, gcov",
    ) {
        found.add(&format!("{program}:*"), false, &why);
    }
}

/// What CMake configures and builds; its tests come after both.
fn cmake(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("CMakeLists.txt") else { return };
    let why = manifest.to_string();
    // What it configures is built by one of the last two.
    found.add_all(listed("cmake:*, ctest:*, ninja:*, make:*"), &why);
    for (folder, program) in built(found) {
        for here in ["", "./"] {
            found.add(&format!("{here}build/{folder}{program}:*"), false, &why);
        }
    }
    let text = found.text(manifest);
    let tests = ["enable_testing", "include(CTest)", "add_test"];
    if is_top(manifest) && tests.iter().any(|word| text.contains(word)) {
        // One command that configures, builds and tests.
        let proves = !found.tools.iter().any(|tool| tool.proves);
        found.add(
            "ctest --build-and-test . build --build-generator 'Unix Makefiles' --test-command \
             ctest --output-on-failure",
            proves,
            &why,
        );
    }
}

/// Programs that CMake builds, with the folder each is in below `build`.
fn built(found: &RepositoryTools<'_>) -> Vec<(String, String)> {
    let programs = |path: &RepoPath| {
        let (folder, _) = split(path);
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let calls = found.text(path).split("add_executable(").skip(1);
        let names = calls.filter_map(|call| call.split_ascii_whitespace().next());
        let names = names.filter(|name| !name.contains('$') && is_safe(name));
        names.map(|name| (folder.clone(), name.to_owned())).collect::<Vec<_>>()
    };
    found
        .all_named("CMakeLists.txt")
        .filter(|path| is_plain(path.as_str()))
        .flat_map(programs)
        .take(MOST_PROGRAMS)
        .collect()
}

/// What Meson configures, builds and tests; `ninja` does the last two for a folder that is
/// configured.
fn meson(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("meson.build").filter(|path| is_top(path)) else { return };
    let why = manifest.to_string();
    for command in listed(
        "meson setup:*, meson compile:*, meson test:*, meson configure:*, meson introspect:*, \
         ninja:*",
    ) {
        found.add(command, false, &why);
    }
}

/// Programs that check scripts of a shell, the scripts themselves, and their tests.
pub(super) fn shell(found: &mut RepositoryTools<'_>) {
    let is_script = found.scan.files.iter().any(|path| ends(path, SCRIPTS));
    let tests = found.scan.files.iter().filter(|path| ends(path, &[".bats"]));
    let tests = tests.min_by_key(|path| path.parts().count());
    if !is_script && tests.is_none() {
        return;
    }
    for program in ["shellcheck:*", "shfmt:*", "bash:*", "sh:*"] {
        found.add(program, false, "scripts of a shell");
    }
    if let Some(test) = tests.filter(|path| is_plain(path.as_str())) {
        let folder = split(test).0;
        let proves = !found.tools.iter().any(|tool| tool.proves);
        let command = format!("bats {}", if folder.is_empty() { "." } else { folder });
        found.add(&command, proves, &test.to_string());
        found.add("bats:*", false, &test.to_string());
    }
}

fn ends(path: &RepoPath, endings: &[&str]) -> bool {
    let name = path.name().unwrap_or_default();
    endings.iter().any(|ending| name.ends_with(ending))
}
