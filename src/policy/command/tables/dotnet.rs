//! Verbs of `dotnet`.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, ProgramEffect, reads, runs};

/// Options that verbs share that build.
const BUILD: &str = "- -c= --configuration= -f= --framework= -r= --runtime= -a= --arch= --os= \
                     --self-contained=? --sc=? --no-self-contained -v= --verbosity= -v:= \
                     --verbosity:= --nologo --no-logo --no-build --no-restore --no-dependencies \
                     --no-incremental --force --use-current-runtime --ucr --tl=? --tl:= \
                     --version-suffix= --disable-build-servers -warnaserror --warnaserror \
                     -warnaserror:= -warnAsError -m -m:= -maxcpucount -maxcpucount:= -nodereuse:= \
                     -nr:= -p=@ -p:=@ -property:=@ --property:=@ --property=@ -o=> --output=> \
                     --artifacts-path=> -h -?";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    dotnet(
        &["dotnet test"],
        OperandKind::Targets,
        "--filter=* -l=@ --logger=@ --logger:=@ -l:=@ --collect= --collect:= \
         --results-directory=> --results-directory:=> -s=< --settings=< -t --list-tests --blame --blame-crash \
         --blame-hang --blame-hang-timeout= --blame-hang-dump-type= --blame-crash-dump-type= \
         -d=> --diag=> --project=< --solution=< --max-parallel-test-modules= \
         --minimum-expected-tests= --no-progress --no-ansi",
    ),
    dotnet(&["dotnet build", "dotnet clean"], OperandKind::Targets, ""),
    // What is behind its options is for the program.
    runs(
        &["dotnet run"],
        OperandKind::Text,
        "- --project=< -c= --configuration= -f= --framework= -r= --runtime= -a= --arch= --os= \
         --no-build --no-restore --no-dependencies --launch-profile= --no-launch-profile \
         --self-contained=? --sc=? -v= --verbosity= --property:=@ --tl=? -h",
    ),
    runs(
        &["dotnet format"],
        OperandKind::Targets,
        "- --verify-no-changes --include= --exclude= --include-generated --severity= \
         --diagnostics= --exclude-diagnostics= --no-restore -f --folder -v= --verbosity= \
         --report=> --version -h",
    ),
    // What a project refers to is worked out from its own files, as it is built.
    runs(
        &["dotnet list", "dotnet sln list", "dotnet solution list"],
        OperandKind::Paths,
        "--include-transitive -f= --framework= --format= --output-version= --no-restore \
         --solution-folders --local --global -g -v= --verbosity= -h",
    ),
    reads(&["dotnet tool list"], OperandKind::Text, "--local --global -g --format= -h"),
    reads(&["dotnet help"], OperandKind::Text, ""),
];

/// A verb with the options that those that build share, and others.
const fn dotnet(
    names: &'static [&'static str],
    operands: OperandKind,
    more: &'static str,
) -> CommandTable {
    CommandTable { names, options: [BUILD, more], operands, effect: ProgramEffect::RunsCode }
}
