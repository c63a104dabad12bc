//! Compilers, builds and tests of C and C++, scripts of a shell, and other programs that are known
//! to do one thing, each beside what they are not known to do.

use super::examined;
use pretty_assertions::assert_eq;

fn check(cases: &[(&str, &str)]) {
    let found: Vec<_> = cases.iter().map(|(text, _)| (*text, examined(text, "."))).collect();
    let expected: Vec<_> = cases.iter().map(|(text, seen)| (*text, (*seen).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn compilers_write_where_their_options_say_or_beside_where_they_run() {
    check(&[
        ("gcc -Wall -O2 -Iinclude src/a.c -o /tmp/a", "held <include <src/a.c >!/tmp/a"),
        (
            "g++ -std=c++20 -fsanitize=address,undefined -g a.cpp -o.github/a",
            "held <a.cpp >.github/a",
        ),
        ("gcc a.c", "held <a.c >a.out"),
        ("gcc -MD src/a.c", "held <src/a.c >a.out >a.d >a.d >a-a.d"),
        ("gcc -E -MD src/a.c", "held <src/a.c >a.d >a-a.d"),
        ("gcc .github/a.h", "held <.github/a.h >a.out >.github/a.h.gch >.github/a.h.pch"),
        ("g++ -c src/a.HPP", "held <src/a.HPP >a.o >src/a.HPP.gch >src/a.HPP.pch"),
        ("clang -x c src/a.h++ -lm", "held <src/a.h++ >a.out >src/a.h++.gch >src/a.h++.pch"),
        ("gcc src/a.h -o /tmp/a.gch", "held <src/a.h >!/tmp/a.gch"),
        ("gcc -fsyntax-only src/a.h", "held <src/a.h"),
        ("gcc -include src/a.h src/a.c -o /tmp/a", "held <src/a.h <src/a.c >!/tmp/a"),
        ("g++ -std=c++20 -fmodules-ts a.cpp -o /tmp/a", "held !2 <a.cpp >!/tmp/a"),
        ("gcc -fsyntax-only src/a.F90", "held !2 <src/a.F90"),
        ("gcc -c src/a.c src/b.c", "held <src/a.c <src/b.c >a.o >b.o"),
        ("gcc -S src/a.c", "held <src/a.c >a.s"),
        ("gcc -c -MMD src/a.c", "held <src/a.c >a.o >a.d"),
        ("gcc -c -MMD src/a.c -o build/a.o", "held <src/a.c >build/a.o >build/a.d"),
        ("gcc -c -MD -MF .github/a.d src/a.c -o /tmp/a.o", "held <src/a.c >.github/a.d >!/tmp/a.o"),
        ("g++ -fsyntax-only -I include src/a.cpp", "held <include <src/a.cpp"),
        ("g++ -x c++ -E -", "held"),
        ("gcc -E /etc/passwd", "held <!/etc/passwd"),
        ("gcc -include .env -c a.c -o a.o", "held <.env <a.c >a.o"),
        ("gcc --version", "only"),
        ("gcc a.c -o /tmp/a -lm -pthread -DX=1 -D Y", "held <a.c >!/tmp/a"),
        ("gcc a.c -o /tmp/a -fplugin=./a.so", "held !4 <a.c >!/tmp/a"),
        ("gcc a.c -o /tmp/a -specs=a", "held !4 <a.c >!/tmp/a"),
        ("gcc a.c -o /tmp/a -B.", "held !4 <a.c >!/tmp/a"),
        ("gcc a.c -o /tmp/a -wrapper curl,x", "held !4 <a.c <curl,x >!/tmp/a"),
        ("clang a.c -o /tmp/a -Xclang -load -Xclang a.so", "held !4 !6 <a.c <a.so >!/tmp/a"),
        ("clang a.c -o /tmp/a -mllvm -load=a.so", "held !4 !5 <a.c >!/tmp/a"),
        ("gcc @a -o /tmp/a", "held !1 <@a >!/tmp/a"),
        ("gcc -- -fplugin=a.so a.c", "held !4 <-fplugin=a.so <a.c >a.out"),
        ("gcc a.c -o /tmp/a -Wl,-plugin,a.so", "held !4 <a.c >!/tmp/a"),
        ("gcc a.c -o /tmp/a -T a.ld", "held !4 <a.c <a.ld >!/tmp/a"),
        ("gcc -save-temps a.c -o /tmp/a", "held !1 <a.c >!/tmp/a"),
        ("gcc -W secret a.c -o /tmp/a", "held <secret <a.c >!/tmp/a"),
        ("gcc-13 -c a.c -o /tmp/a", "held <a.c >!/tmp/a"),
    ]);
}

#[test]
fn builds_run_code_of_the_repository_in_folders_of_it() {
    check(&[
        ("cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -G Ninja", "code <. >build"),
        ("cmake -B /tmp/build", "code >!/tmp/build"),
        ("cmake -B.github", "code >.github"),
        ("cmake ..", "code <!.. >!."),
        ("cmake --preset dev", "code <dev"),
        ("cmake -LA -N build", "code <build"),
        ("cmake --build build -j 4 --target a b", "code <build"),
        ("cmake --build /tmp/build", "code <!/tmp/build"),
        ("cmake --build build --target install", "code !3 <build"),
        ("cmake --build build -- -j4 -k", "code <build"),
        ("cmake --build build -- SHELL=x", "code !4 <build"),
        ("cmake -P a.cmake", "code !1 <a.cmake >!."),
        ("cmake -C a.cmake -B build", "code !1 <a.cmake >build"),
        ("cmake --install build", "code !1 <build >!."),
        ("cmake -B build -DCMAKE_TOOLCHAIN_FILE=a", "code !3 >build"),
        ("ctest --test-dir build -R a.b -j4 --output-on-failure", "code <build"),
        ("ctest --output-junit=.github/a.xml", "code >.github/a.xml"),
        ("ctest --test-dir /tmp/build", "code <!/tmp/build"),
        ("ctest -S a.cmake", "code !1 <?a.cmake"),
        ("ctest -D Nightly", "code !1 <?Nightly"),
        ("ctest --build-and-test . b --test-command x", "code !1 !4 <?. <?b <?x"),
        ("ninja -C build -j4 -k 0 all", "code <build <?all"),
        ("ninja -C build -t clean", "code <build"),
        ("ninja -t msvc -- x", "code !1 <?x"),
        ("ninja -f /tmp/a.ninja", "code !1 <!/tmp/a.ninja"),
        ("meson setup build --buildtype=debug", "code >build"),
        ("meson setup .github", "code >.github"),
        ("meson compile -C build a", "code <build"),
        ("meson test -C build --suite unit a", "code <build"),
        ("meson test -C build --gdb", "code !4 <build"),
        ("meson install -C build", "code deep ?1 ?2"),
        ("meson build", "code deep ?1"),
    ]);
}

#[test]
fn checkers_of_c_load_nothing() {
    check(&[
        ("clang-tidy -p build src/a.cpp", "code <build <src/a.cpp"),
        ("clang-tidy --fix src/a.cpp", "code <src/a.cpp >src/a.cpp"),
        ("clang-tidy src/a.cpp -- -Iinclude -std=c++17", "code held <include <src/a.cpp"),
        ("clang-tidy src/a.cpp -- -Xclang -load", "code held !3 <src/a.cpp"),
        ("clang-tidy -load a.so src/a.cpp", "code !1 <a.so <src/a.cpp"),
        ("clang-tidy --config={} src/a.cpp", "code !1 <src/a.cpp"),
        ("clang-tidy @a", "code !1 <@a"),
        ("cppcheck --enable=all -I include --error-exitcode=1 src", "only deep held <include <src"),
        ("cppcheck --addon=a.py src", "only deep held !1 <src"),
        ("cppcheck --project=a src", "only deep held !1 <src"),
        ("cppcheck --dump src", "only deep held !1 <src"),
        ("cppcheck --output-file=.github/a src", "deep held <src >.github/a"),
        ("clang-format @a", "!1 <@a"),
        ("nm -C build/a", "only <build/a"),
        ("nm --plugin a.so build/a", "only !1 <a.so <build/a"),
        ("nm @a", "only !1 <@a"),
        ("bats -r tests --filter usage", "code <?tests"),
        ("bats --formatter /tmp/a tests", "code !1 <?tests"),
        ("bats -F ./a tests", "code !1 <?tests"),
        ("bats /tmp/a.bats", "code <!/tmp/a.bats"),
        ("bats -o .github tests", "code <?tests >.github"),
        ("pylint --disable=all --enable=unused-import src", "code <?src"),
        ("pylint --init-hook=x src", "code !1 <?src"),
        ("pylint --load-plugins=x src", "code !1 <?src"),
        ("pylint --output-format=a.B src", "code !1 <?src"),
        ("pylint --rcfile=/tmp/a src", "code <!/tmp/a <?src"),
    ]);
}

#[test]
fn shells_run_scripts_of_the_repository_and_parse_any_file() {
    check(&[
        ("bash scripts/a.sh --help", "code deep <scripts/a.sh"),
        ("bash -eux -o pipefail scripts/a.sh", "code deep <scripts/a.sh"),
        ("sh scripts/a.sh", "code deep <scripts/a.sh"),
        ("bash -n bin/a", "only <bin/a"),
        ("bash -n /tmp/a.sh", "only <!/tmp/a.sh"),
        ("bash -n -c ls", "code deep !all"),
        ("bash -n +nc ls", "code deep !all"),
        ("bash -n +n bin/a", "code deep !all"),
        ("dash -n +c ls", "code deep !all"),
        ("sh -n -x +n -c ls", "code deep !all"),
        ("bash +n scripts/a.sh", "code deep !all"),
        ("bash +x.sh", "code deep !all"),
        ("bash -n bin/a -c ls", "code deep !all"),
        ("bash -n bin/a bin/b", "code deep !all"),
        ("bash -n ./+nc", "only <+nc"),
        ("bash bin/a", "code deep !all"),
        ("bash /tmp/a.sh", "code deep ?1 <!/tmp/a.sh"),
        ("bash scripts/deploy.sh", "code deep !1 <scripts/deploy.sh"),
        ("bash scripts/a.sh /etc/x", "code deep ?2 <scripts/a.sh"),
        ("bash -c ls", "code deep !all"),
        ("bash -ec ls", "code deep !all"),
        ("bash -s a.sh", "code deep !all"),
        ("bash -i a.sh", "code deep !all"),
        ("bash --init-file a.sh b.sh", "code deep !all"),
        ("bash", "code deep !all"),
        ("zsh a.sh", "code deep !all"),
        ("find src -name *.sh -exec bash -n {} ;", "only deep held ^4 <src <src"),
        ("find src bin -exec bash -n {} ;", "only deep held ^3 ^3 <src <bin <src <bin"),
        ("find +nc -exec bash -n {} ;", "code deep held ^2 <+nc"),
        ("find src -exec bash -n +nc {} ;", "code deep held ^2 <src"),
        ("find src -name *.php -exec php -l {} ;", "code deep held ^4 <src <src"),
        ("find src -exec bash {} ;", "only deep !2 <src"),
        ("find src -exec php {} ;", "only deep !2 <src"),
    ]);
}

#[test]
fn what_starts_a_program_is_judged_with_it() {
    check(&[
        ("valgrind --leak-check=full build/a x", "code deep ^2 ^2"),
        ("valgrind -q git push", "code deep ^3 ^2"),
        ("valgrind --log-file=a build/a", "code deep !all"),
        ("valgrind /tmp/a", "code deep !all ?1"),
        ("gdb -batch -ex run -ex bt --args build/a x", "code deep ^7 ^7"),
        ("gdb -batch -ex shell --args build/a", "code deep ^5 !2 ^5"),
        ("gdb -ex run --args build/a", "code deep !all"),
        ("gdb -batch build/a", "code deep !all"),
        ("gdb -batch -x a --args build/a", "code deep !2"),
        ("gdb -p 1", "code deep !1"),
        ("gotestsum --format testname -- -count=1 ./...", "code ^3 <?."),
        ("gotestsum", "code ^1"),
        ("gotestsum --junitfile .github/a.xml", "code ^3 >.github/a.xml"),
        ("gotestsum -- -exec curl ./...", "code ^2 ^1 <?curl <?."),
        ("gotestsum --packages=./... -- -count=1", "code ^2 <?."),
        ("gotestsum --packages ./a", "code ^3 <?a"),
        ("gotestsum --packages=-exec=curl", "code ^2 ^2"),
        ("gotestsum --packages -exec=curl", "code ^3 !2 ^3"),
        ("gotestsum --packages=/tmp/a -- ./b", "code !1 ^2 <?b <!/tmp/a"),
        ("gotestsum --raw-command -- curl x", "code deep !1"),
        ("gotestsum --post-run-command=x", "code deep !1"),
        ("gotestsum tool slowest", "code deep !1"),
    ]);
}

#[test]
fn archives_are_made_of_files_that_are_named_and_listed() {
    check(&[
        ("tar czf /tmp/a.tgz docs README.md", "deep held <docs <README.md >!/tmp/a.tgz"),
        ("tar -cf .github/a.tar docs", "deep held <docs >.github/a.tar"),
        ("tar tzf /tmp/a.tgz", "only <!/tmp/a.tgz"),
        ("tar tvf a.tar docs/a", "only <a.tar"),
        ("tar xzf a.tgz", "code deep ?all"),
        ("tar czf a.tgz .", "deep held !3 <. >a.tgz"),
        ("tar czf a.tgz .git", "deep held !3 <.git >a.tgz"),
        ("tar czf a.tgz", "deep held !3 >a.tgz"),
        ("tar czf a.tgz /etc", "deep held <!/etc >a.tgz"),
        ("tar czf host:a docs", "code deep ?all"),
        ("tar cf a.tar docs --to-command=x", "code deep ?all"),
        ("tar cf a.tar --checkpoint-action=exec=x docs", "code deep ?all"),
        ("tar -I x -cf a.tar docs", "code deep ?all"),
        ("tar tf a.tar -C /tmp", "code deep ?all ?4"),
        ("fd -e md -t f . docs", "only deep <docs"),
        ("fd -H x", "only deep <."),
        ("fd -e md -x wc -l", "only deep !3 !5 <."),
        ("fd -X rm", "only deep !1 <."),
        ("fd --exec=rm", "only deep !1 <."),
        ("yq .a a.yml", "only <?.a <a.yml"),
        ("yq . a.yml", "only <a.yml"),
        ("yq a/.netrc", "only <a/.netrc"),
        ("yq /etc/passwd", "only <!/etc/passwd"),
        ("yq .a.yml b.yml", "only <.a.yml <b.yml"),
        ("yq a.yq a.yml", "only !1 <a.yq <a.yml"),
        ("yq e -n .a.yq", "only !3 <?.a.yq"),
        ("yq -i .github/a.yml", "<.github/a.yml >.github/a.yml"),
        ("yq -Pi .github/a.yml b.yml", "<.github/a.yml <b.yml >.github/a.yml >b.yml"),
        ("yq e -i .a=1.yml", "<.a=1.yml >.a=1.yml"),
        ("yq --inplace a b.yml", "<a <b.yml >a >b.yml"),
        ("yq -i ../a", "<!../a >!../a"),
        ("yq -i .a=1 .github/a.yml", "<.github/a.yml >.github/a.yml"),
        ("yq e -i .a=1 a.yml", "<a.yml >a.yml"),
        ("yq e load(\"/etc/passwd\") a.yml", "only !2 <a.yml"),
        ("yq eval strenv(A) a.yml", "only !2 <a.yml"),
        ("yq -s .a a.yml", "only !1 <?.a <a.yml"),
    ]);
}
