//! Programs of Go: verbs of `go`, its tools, formatters and checkers.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, ProgramEffect, reads, runs, writes};

/// Options of verbs that build, but for those that start another program or replace files.
const BUILD: &str = "- -a=? -n=? -x=? -v=? -race=? -msan=? -asan=? -cover=? -work=? -trimpath=? \
                     -linkshared=? -modcacherw=? -json=? -buildvcs=? -buildmode= -covermode= \
                     -coverpkg= -installsuffix= -mod= -p= -pgo=< -tags= -ldflags=@ -gcflags=@";

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    go(&["go build"], ProgramEffect::RunsCode, "-o=>"),
    // What is behind `-args` is for the tests.
    go(
        &["go test"],
        ProgramEffect::RunsCode,
        "-o=> -c -short=? -failfast=? -fullpath=? -benchmem=? -bench=* -benchtime= -count= -cpu= \
         -fuzz=* -fuzztime= -fuzzminimizetime= -list=* -parallel= -run=* -shuffle= -skip=* \
         -timeout= -vet= -coverprofile=> -cpuprofile=> -memprofile=> -memprofilerate= -mutexprofile=> \
         -mutexprofilefraction= -blockprofile=> -blockprofilerate= -trace=> -outputdir=> \
         -artifacts=? -update=? -test.v=? -test.run=* -test.timeout= -test.short=? -test.count= \
         -test.bench=* -test.benchmem=? -test.parallel= -test.cpu=",
    ),
    go(
        &["go vet"],
        ProgramEffect::RunsCode,
        "-c= -appends=? -asmdecl=? -assign=? -atomic=? -bools=? -buildtag=? -cgocall=? \
         -composites=? -copylocks=? -defers=? -directive=? -errorsas=? -framepointer=? \
         -hostport=? -httpresponse=? -ifaceassert=? -loopclosure=? -lostcancel=? -nilfunc=? \
         -printf=? -shadow=? -shift=? -sigchanyzer=? -slog=? -stdmethods=? -stdversion=? \
         -stringintconv=? -structtag=? -testinggoroutine=? -tests=? -timeformat=? -unmarshal=? \
         -unreachable=? -unsafeptr=? -unusedresult=? -unusedwrite=? -waitgroup=?",
    ),
    go(
        &["go list"],
        ProgramEffect::Reads,
        "-m=? -f= -json=? -deps=? -test=? -e=? -u=? -find=? -retracted=?",
    ),
    runs(
        &["go run"],
        OperandKind::Program(&[".go"]),
        "- -a=? -n=? -x=? -v=? -race=? -cover=? -work=? -trimpath=? -buildvcs=? -mod= -p= -tags= \
         -ldflags=@ -gcflags=@",
    ),
    writes(&["go fmt"], OperandKind::Targets, "- -n -x -mod="),
    runs(&["go generate"], OperandKind::Targets, "- -n -v -x -run=* -skip=* -tags= -mod="),
    writes(
        &["go clean"],
        OperandKind::Targets,
        "- -cache -testcache -n -x -fuzzcache -tags= -mod=",
    ),
    writes(&["go fix"], OperandKind::Targets, "- -n -x -diff=? -v=? -fix= -tags= -mod="),
    reads(&["go help"], OperandKind::Text, ""),
    reads(&["go doc"], OperandKind::Text, "- -all=? -short=? -src=? -u=? -c=? -cmd=? -ex=?"),
    // With others it changes the settings of Go.
    reads(&["go env"], OperandKind::Text, "- -json=? -changed=?"),
    reads(
        &["go mod why", "go mod graph", "go mod verify"],
        OperandKind::Text,
        "- -m=? -vendor=? -go= -x=?",
    ),
    reads(
        &["go mod tidy"],
        OperandKind::OnlyWith(&["-diff"]),
        "- -diff -v=? -e=? -x=? -go= -compat=",
    ),
    reads(&["go version"], OperandKind::Paths, "- -m -v -json"),
    // It only reads what tests wrote.
    writes(&["go tool cover"], OperandKind::None, "- -func=< -html=< -o=>"),
    reads(&["go tool nm"], OperandKind::Paths, "- -n -size -sort= -type"),
    reads(&["go tool objdump"], OperandKind::Paths, "- -s= -S -gnu"),
    reads(&["go tool buildid"], OperandKind::Paths, ""),
    reads(&["go tool addr2line"], OperandKind::Paths, ""),
    reads(&["go tool test2json"], OperandKind::None, "- -p= -t"),
    reads(&["go tool dist"], OperandKind::Only(&["list", "version"]), "- -json"),
    // Without one of these it waits for commands, and some of those write files.
    reads(
        &["go tool pprof"],
        OperandKind::PathsUnder(&[
            "-top",
            "-text",
            "-tree",
            "-peek",
            "-list",
            "-disasm",
            "-raw",
            "-traces",
            "-tags",
            "-dot",
            "-comments",
        ]),
        "- -top -text -tree -peek= -list= -disasm= -raw -traces -tags -dot -comments -cum -flat \
         -nodecount= -nodefraction= -edgefraction= -focus= -ignore= -show= -show_from= -hide= \
         -prune_from= -tagfocus= -tagignore= -tagshow= -taghide= -lines -functions \
         -filefunctions -files -addresses -noinlines -unit= -divide_by= -mean -normalize \
         -drop_negative -call_tree -compact_labels -sort= -sample_index= -alloc_space \
         -alloc_objects -inuse_space -inuse_objects -total_delay -contentions -mean_delay \
         -base=< -diff_base=< -output=>",
    ),
    runs(&["go tool"], OperandKind::Only(&["vet"]), ""),
    writes(&["gofmt"], OperandKind::EditedWith(&["-w"]), "- -d -e -l -s -w -r="),
    writes(
        &["goimports", "gofumpt"],
        OperandKind::EditedWith(&["-w"]),
        "- -d -e -l -w -v -local= -format-only -srcdir=< -extra -modpath= -lang= -version",
    ),
    runs(
        &["golangci-lint run", "golangci-lint fmt"],
        OperandKind::Targets,
        "--fix -v --verbose -h -c=< --config=< --no-config --timeout= --fast --fast-only --new \
         --new-from-rev= --new-from-merge-base= --new-from-patch=< --whole-files -E= -D= \
         --enable= --disable= --enable-only= --enable-all --disable-all -p= --presets= --default= \
         --build-tags= --tests=? --out-format=+ --output.text.path=> --output.json.path=> \
         --output.tab.path=> --output.html.path=> --output.checkstyle.path=> \
         --output.code-climate.path=> --output.junit-xml.path=> --output.teamcity.path=> \
         --output.sarif.path=> --output.text.colors=? --output.text.print-issued-lines=? \
         --output.text.print-linter-name=? --color= --show-stats=? --sort-results=? \
         --print-issued-lines=? --print-linter-name=? --uniq-by-line=? --path-prefix= \
         --path-mode= -j= --concurrency= --go= --max-issues-per-linter= --max-same-issues= \
         --issues-exit-code= --modules-download-mode= --allow-parallel-runners=? \
         --allow-serial-runners=? --exclude= --exclude-dirs= --exclude-files= --skip-dirs= \
         --skip-files= --exclude-use-default=? --diff -d --stdin",
    ),
    reads(
        &[
            "golangci-lint linters",
            "golangci-lint formatters",
            "golangci-lint help",
            "golangci-lint version",
            "golangci-lint config path",
            "golangci-lint cache status",
        ],
        OperandKind::Text,
        "-c=< --config=< --no-config --json --short --debug --fast --fast-only -E= -D= --enable= \
         --disable= --enable-all --disable-all --enable-only= -p= --presets= --default= -v \
         --verbose --color= -h",
    ),
    runs(
        &["staticcheck"],
        OperandKind::Targets,
        "- -checks= -tests=? -f= -tags= -explain= -fail= -go= -list-checks -matrix -merge \
         -show-ignored -version",
    ),
];

/// A verb with the options that those that build share, and others.
const fn go(
    names: &'static [&'static str],
    effect: ProgramEffect,
    more: &'static str,
) -> CommandTable {
    CommandTable { names, options: [BUILD, more], operands: OperandKind::Targets, effect }
}
