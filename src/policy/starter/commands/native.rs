//! Commands of projects in C and C++, and of those whose programs are scripts of a shell.

use crate::starter::commands::ProposedTool;
use crate::starter::commands::{RepositoryTools, is_top, listed};
use crate::starter::scan::{ProposedLine, split};
use locum_base::path::RepoPath;

/// Endings of sources in C and C++.
const SOURCES: &[&str] = &[".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"];
/// Endings of scripts of a shell.
const SCRIPTS: &[&str] = &[".sh", ".bash"];
/// Most scripts whose grammar is checked, each by a line of its own.
const MOST_SCRIPTS: usize = 8;

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
    for looks in listed("clang-format, objdump, readelf, size, c++filt") {
        found.add(&format!("{looks}:*"), false, &why);
    }
}

/// What CMake configures and builds; its tests come after both.
fn cmake(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("CMakeLists.txt") else { return };
    let why = manifest.to_string();
    // Other options of CMake run programs, so that each line is spelled out.
    for command in listed(
        "cmake -S . -B build, cmake -B build, cmake -S . -B build -G Ninja, \
         cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug, cmake -B build -DCMAKE_BUILD_TYPE=Debug, \
         cmake -S . -B build -DCMAKE_BUILD_TYPE=Release, \
         cmake -B build -DCMAKE_BUILD_TYPE=Release, cmake --build build, cmake --build build -j, cmake --build build --parallel, ctest:*",
    ) {
        found.add(command, false, &why);
    }
    let text = found.text(manifest);
    let tests = ["enable_testing", "include(CTest)", "add_test"];
    if is_top(manifest)
        && tests.iter().any(|word| text.contains(word))
        && !found.tools.iter().any(|tool| tool.proves)
        && let Some(line) = ProposedLine::new("command(ctest:*)".to_owned(), why)
    {
        // One command that configures, builds and tests.
        let command = "ctest --build-and-test . build --build-generator 'Unix Makefiles' \
                       --test-command ctest --output-on-failure"
            .to_owned();
        found.tools.push(ProposedTool { line, command, proves: true });
    }
}

/// What Meson configures, builds and tests; `ninja` does the last two for a folder that is
/// configured.
fn meson(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("meson.build").filter(|path| is_top(path)) else { return };
    let why = manifest.to_string();
    for command in listed(
        "meson setup build, meson compile -C build, meson test -C build, ninja -C build, \
         ninja -C build test",
    ) {
        found.add(command, false, &why);
    }
}

/// Programs that check scripts of a shell, and their tests.
pub(super) fn shell(found: &mut RepositoryTools<'_>) {
    let mut scripts: Vec<&RepoPath> =
        found.scan.files.iter().filter(|path| ends(path, SCRIPTS)).collect();
    let tests = found.scan.files.iter().filter(|path| ends(path, &[".bats"]));
    let tests = tests.min_by_key(|path| path.parts().count());
    if scripts.is_empty() && tests.is_none() {
        return;
    }
    for looks in ["shellcheck:*", "shfmt:*"] {
        found.add(looks, false, "scripts of a shell");
    }
    scripts.sort_by_key(|path| path.parts().count());
    for script in scripts.iter().filter(|path| is_plain(path)).take(MOST_SCRIPTS) {
        found.add(&format!("bash -n {script}"), false, "reads it and runs nothing");
    }
    if let Some(test) = tests.filter(|path| is_plain(path)) {
        let folder = split(test).0;
        let proves = !found.tools.iter().any(|tool| tool.proves);
        let command = format!("bats {}", if folder.is_empty() { "." } else { folder });
        found.add(&command, proves, &test.to_string());
    }
}

fn ends(path: &RepoPath, endings: &[&str]) -> bool {
    let name = path.name().unwrap_or_default();
    endings.iter().any(|ending| name.ends_with(ending))
}

fn is_plain(path: &RepoPath) -> bool {
    let path = path.as_str();
    !path.starts_with('-')
        && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/.".contains(&byte))
}
