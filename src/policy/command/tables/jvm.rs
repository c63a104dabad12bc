//! Programs of Java: builds, the compiler and what looks into classes and archives.
//!
//! Data only, in the notation of `tables`. What `java` itself is given is in `examine`.

use crate::command::tables::{CommandTable, OperandKind, reads, runs};

/// Options of Maven. Which properties `-D` may set is in `properties`.
pub(super) const MAVEN: &str = "\
    -q -B -o -e -v --version -h -X -U -V -N -C -am -amd -ntp -pl= -P=@ -T= -f=< \
    -l=> -rf= -r -b= -fae -ff -fn -nsu -cpu -npu -npr -itr -llr \
    --quiet --batch-mode --offline --errors --debug \
    --no-transfer-progress --update-snapshots --no-snapshot-updates \
    --also-make --also-make-dependents --projects= --activate-profiles=@ \
    --file=< --log-file=> --resume-from= --resume --builder= \
    --threads= --fail-at-end --fail-fast --fail-never --show-version \
    --strict-checksums --ignore-transitive-repositories \
    --non-recursive --color= -D=@ --define=@";

/// Options of Gradle.
pub(super) const GRADLE: &str = "\
    -q -i -d -w -s -S -m -v -h -a --version --quiet --info --debug --warn --stacktrace \
    --full-stacktrace --stop --status --offline --no-daemon --daemon --foreground --parallel \
    --no-parallel --continue --no-continue --console= --console-unicode= --non-interactive \
    --tests= -x= --exclude-task= --build-cache --no-build-cache --rerun-tasks --no-rebuild \
    --dry-run --refresh-dependencies --configuration-cache --no-configuration-cache \
    --configuration-cache-problems= --configure-on-demand --no-configure-on-demand \
    --configuration= --dependency= --single-path --max-workers= --priority= --warning-mode= \
    --all --group= --types --rerun --test-dry-run --task= --args= --fail-fast --profile \
    --no-scan --problems-report --no-problems-report --watch-fs --no-watch-fs -P=@ -D=@ \
    --project-prop=@ --system-prop=@";

/// How Maven is called.
pub(in crate::command) const MAVEN_PROGRAMS: &[&str] = &["mvn", "./mvnw", "mvnw", "mvnd"];

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(MAVEN_PROGRAMS, OperandKind::Tasks, MAVEN),
    runs(&["gradle", "./gradlew", "gradlew"], OperandKind::Tasks, GRADLE),
    runs(
        &["javac"],
        OperandKind::Paths,
        "- -d=> -h=> -s=> -cp=< -classpath=< --class-path=< -p=< --module-path=< -sourcepath=< \
         --source-path=< --module-source-path=< -m= --module= --add-modules= --limit-modules= \
         --add-exports= --add-reads= --release= -source= --source= -target= --target= -g -g:= \
         -nowarn -deprecation -parameters -Werror -encoding= --enable-preview -proc:none -Xlint \
         -Xlint:= -Xdoclint -Xdoclint:= -Xdiags:= -Xpkginfo:= -Xmaxerrs= -Xmaxwarns= \
         -implicit:none -verbose -version --version -help -X --help-lint",
    ),
    reads(
        &["javap"],
        OperandKind::Paths,
        "- -p -c -v -s -l -public -protected -package -private -constants -sysinfo -verbose \
         -XDdetails -cp=< -classpath=< --class-path=< --module-path=< -m= --module= --system= \
         --multi-release= -version --version -help -h -?",
    ),
    reads(&["jar tf", "jar -tf", "jar tvf", "jar -tvf"], OperandKind::Paths, ""),
    reads(&["jar --list"], OperandKind::Text, "-f=< --file=< -v --verbose"),
];
