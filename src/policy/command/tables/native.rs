//! Programs of projects in C and C++, and of scripts of a shell: compilers, builds, tests.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs, writes};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    // Families of options, such as those for warnings, are in `compilers`.
    writes(
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        OperandKind::Compiled,
        "-o=> -c -S -E -P -C -H -v -w -s -pipe -ansi -pedantic -pedantic-errors -pthread -static \
         -shared -rdynamic -pie -no-pie -nostdlib -nostdinc -nostdinc++ -nodefaultlibs \
         -nostartfiles -static-libgcc -static-libstdc++ -### -std=? -x=@ -l=@ -W=~ -f=~ -m=~ -g=~ \
         -O=~ -D= -U= -I=< -L=< -isystem=< -iquote=< -idirafter=< -include=< -imacros=< -M -MM -MG \
         -MP -MD -MMD -MF=> -MT= -MQ= -dumpversion -dumpfullversion -dumpmachine \
         -print-search-dirs -print-libgcc-file-name -print-multiarch -print-file-name=? \
         -print-prog-name=? -print-sysroot -print-target-triple -print-targets -print-resource-dir \
         -print-supported-cpus -ftime-report -Q -dM -dD -dI -stdlib=? --std=? -target= --target=? \
         --version --help --help=? --target-help",
    ),
    runs(
        &["cmake"],
        OperandKind::Configured,
        "-S=< -B=> -G= -D=@ -U= -L -LA -LH -LAH -N --build=< -j=? --parallel=? -t=@ --target=@ \
         --config= --preset=? --list-presets=? --fresh --clean-first -v --verbose -h --help \
         --resolve-package-references= -Wdev -Wno-dev -Werror=? -Wno-error=? -Wdeprecated \
         -Wno-deprecated --log-level= --log-context --debug-output --debug-find \
         --debug-trycompile --trace --trace-expand --warn-uninitialized --no-warn-unused-cli \
         --compile-no-warning-as-error --graphviz=>",
    ),
    // With others it configures, builds and starts anything, or sends what it found.
    runs(
        &["ctest"],
        OperandKind::Targets,
        "--test-dir=< -R=* -E=* -L=* -LE=* -I=< -C= -j=? -V -VV -Q -N -U -F --parallel=? \
         --tests-regex=* --exclude-regex=* --label-regex=* --label-exclude=* --tests-information=< \
         --build-config= --preset=? --list-presets --verbose --extra-verbose --quiet --show-only=? \
         --print-labels --output-on-failure --rerun-failed --stop-on-failure --timeout= \
         --stop-time= --repeat= --repeat-until-fail= --test-load= --progress --no-tests= \
         --schedule-random --union --no-label-summary --no-subproject-summary --max-width= \
         --interactive-debug-mode= --test-output-size-passed= --test-output-size-failed= \
         --test-output-truncation= --tests-from-file=< --exclude-from-file=< \
         --debug -h --help --version \
         --output-junit=> --output-log=> -O=>",
    ),
    runs(
        &["ninja"],
        OperandKind::Targets,
        "-C=< -j= -k= -l= -v -n -d=@ -t=@ -w=@ -h --verbose --quiet --version --help",
    ),
    runs(
        &["meson setup"],
        OperandKind::Edited,
        "-D=@ --buildtype= --warnlevel= --werror --optimization= --debug --default-library= \
         --unity= --unity-size= --layout= --backend= --strip --reconfigure --wipe --clearcache \
         --fatal-meson-warnings --wrap-mode= -h --help",
    ),
    runs(&["meson configure"], OperandKind::Edited, "-D=@ --clearcache --no-pager"),
    runs(
        &["meson compile"],
        OperandKind::Tasks,
        "-C=< -j= -l= -v --jobs= --load-average= --clean --verbose",
    ),
    runs(
        &["meson test"],
        OperandKind::Text,
        "-C=< -q -v -j= -t= -h --help --max-lines= --no-rebuild --quiet --verbose \
         --print-errorlogs --no-stdsplit --list \
         --benchmark --repeat= --maxfail= --num-processes= --timeout-multiplier= --suite= \
         --no-suite= --setup= --test-args=",
    ),
    runs(
        &["meson introspect"],
        OperandKind::Paths,
        "-a -i -f --all --ast --benchmarks --buildoptions --buildsystem-files --dependencies \
         --indent --installed --install-plan --machines --projectinfo --scan-dependencies \
         --targets --tests",
    ),
    runs(
        &["clang-tidy"],
        OperandKind::EditedWith(&["--fix", "-fix", "--fix-errors", "-fix-errors", "--fix-notes"]),
        "-p=< -checks= --checks= -header-filter=* --header-filter=* --exclude-header-filter= \
         -warnings-as-errors= --warnings-as-errors= -quiet --quiet -fix --fix -fix-errors \
         --fix-errors --fix-notes -list-checks --list-checks -explain-config --explain-config \
         --dump-config --verify-config --line-filter= --format-style=@ -format-style=@ \
         --use-color --system-headers --enable-check-profile --allow-no-checks --version --help",
    ),
    reads(
        &["cppcheck"],
        OperandKind::Paths,
        "--enable= --disable= --std= --language= -x= -I=< -i= -D= -U= -j= -q --quiet -f --force \
         -v --verbose --error-exitcode= --inline-suppr --suppress= --suppressions-list=< \
         --check-level= --check-library --check-config --max-configs= --platform=< --template= \
         --template-location= --xml --xml-version= --inconclusive --includes-file=< \
         --report-progress --library=< --config-exclude= --file-filter= --file-list=< -l= \
         --cppcheck-build-dir=> --output-file=> --version --errorlist --doc -h",
    ),
    reads(
        &["nm"],
        OperandKind::Paths,
        "-a -A -B -C -D -e -f= -g -n -o -p -P -r -S -s -t= -u -v -W --debug-syms \
         --print-file-name --demangle=? --no-demangle --dynamic --extern-only --format= \
         --numeric-sort --no-sort --portability --print-armap --print-size --radix= \
         --reverse-sort --size-sort --special-syms --synthetic --undefined-only --defined-only \
         --without-symbol-versions --with-symbol-versions --no-weak --version",
    ),
    runs(
        &["bats"],
        OperandKind::Targets,
        "-c -f= -F=@ -j= -p -r -t -T -x -o=> --count --filter=* --filter-status= --filter-tags= \
         --formatter=@ --report-formatter=@ --jobs= --pretty --recursive --tap --timing --trace \
         --no-tempdir-cleanup --no-parallelize-across-files --no-parallelize-within-files \
         --print-output-on-failure --show-output-of-passing-tests --verbose-run --abort \
         --output=> --gather-test-outputs-in=> -h -v --help --version",
    ),
    reads(
        &["fd", "fdfind"],
        OperandKind::PatternThenPaths(&[]),
        "-H -I -u -s -i -g -F -a -p -0 -1 -q -d= -t= -e= -S= -E= -c= -j= --hidden --no-ignore \
         --no-ignore-vcs --no-ignore-parent --no-require-git --unrestricted --case-sensitive \
         --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 \
         --max-depth= --min-depth= --exact-depth= --type= --extension= --size= --exclude= \
         --changed-within= --changed-before= --color= --threads= --max-results= --quiet --prune \
         --strip-cwd-prefix=? --one-file-system --show-errors --path-separator= --and= \
         --base-directory=< --search-path=< --ignore-file=< --version --help",
    ),
];
