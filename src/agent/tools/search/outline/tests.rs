//! Which files are outlined and how that is shown. What a process of its own finds in them is
//! tested with the program.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{ListedCode, OutlinedFile, SHOWN_LIMIT_BYTES, render};
use crate::tools::fixture::ToolFixture;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_extract::outline::Definition;
use locum_policy::intent::{Act, Intent};

const ALL: ListedCode = ListedCode { paths: Vec::new(), has_refused: false, has_more: false };

fn found(first_line: usize, last_line: usize, depth: usize, head: &str) -> Definition {
    Definition { first_line, last_line, depth, head: head.to_owned() }
}

fn file(path: &str, outline: Result<Vec<Definition>, &'static str>) -> OutlinedFile {
    let outline = outline.map_err(str::to_owned);
    OutlinedFile { path: RepoPath::parse(path).unwrap(), outline }
}

#[test]
fn files_are_shown_with_lines_and_what_is_left_out_is_said() {
    let files = [
        file("a.rs", Ok(vec![found(1, 4, 0, "impl A {"), found(2, 3, 1, "fn b() {")])),
        file("b.py", Ok(Vec::new())),
        file("c.py", Ok(vec![found(10, 12, 0, "def f():")])),
        file("d.js", Err("is larger than 1 MiB")),
        file("e.js", Err("is binary")),
    ];
    let listed = ListedCode { has_refused: true, has_more: true, ..ALL };
    assert_eq!(
        render(&files, &listed),
        "# a.rs\n1-4 | impl A {\n2-3 |   fn b() {\n\n# c.py\n10-12 | def f():\n\n(1 file defines \
         nothing.)\n(Left out: `d.js` is larger than 1 MiB; `e.js` is binary.)\n(Source files that \
         may not be read are left out.)\n(The first 100 source files of the folder. Outline others \
         one by one.)"
    );
    assert_eq!(render(&files[1..2], &ALL), "(1 file defines nothing.)");
    let broken: Vec<_> =
        (0..12).map(|it| file(&format!("{it}.c"), Err("cannot be read"))).collect();
    let text = render(&broken, &ALL);
    assert!(text.ends_with("`9.c` cannot be read; and 2 more.)"), "{text}");
}

#[test]
fn what_is_shown_has_a_bound_and_says_so() {
    let many = vec![found(1, 1, 0, "fn a_function_with_a_long_name() {}"); 2_000];
    let files = [
        file("a.js", Err("is binary")),
        file("b.rs", Ok(many)),
        file("c.rs", Ok(vec![found(1, 1, 0, "fn c()")])),
        file("d.rs", Ok(Vec::new())),
        file("e.rs", Err("takes too long to parse")),
    ];
    let text = render(&files, &ListedCode { has_refused: true, has_more: true, ..ALL });
    assert!(text.len() < SHOWN_LIMIT_BYTES + 500, "{}", text.len());
    let (_, notes) = text.split_once("\n\n").unwrap();
    assert_eq!(
        notes,
        "(Cut after 64 KiB, in file 2 of 5. Outline single files, or search them with \
         `search_files`, for what is left.)\n(1 file defines nothing.)\n(Left out: `a.js` is \
         binary; `e.rs` takes too long to parse.)\n(Source files that may not be read are left \
         out.)\n(The first 100 source files of the folder. Outline others one by one.)"
    );
    // As short as a line can be, for as many definitions as there are at most.
    let short = vec![found(1, 1, 0, "a"); 10_000];
    let text = render(&[file("a.rs", Ok(short))], &ALL);
    assert!(text.contains("\n(Cut after 64 KiB, in file 1 of 1."), "{text}");
}

#[test]
fn it_reads_the_place_and_says_what_is_no_code() {
    let mut fixture = ToolFixture::new(&[
        (".gitignore", "build/\n"),
        ("code/a.txt", "x"),
        ("code/b.rs", "fn b() {}\n"),
        ("code/deep/c.rs", "fn c() {}\n"),
        ("c.md", "# c\n"),
        ("d.js", "a\0b"),
    ]);
    let large = format!("// {}\n", "x".repeat(1024 * 1024));
    #[expect(clippy::disallowed_methods, reason = "a test makes the file it is about")]
    std::fs::write(fixture.at("e.go"), large).unwrap();
    let arguments = json!({ "path": "code" }).to_string();
    let tool = "list_code_definition_names";
    let call = fixture.parse(tool, &arguments, ToolName::ALL).unwrap();
    assert_eq!(call.intents(), [Intent::Read(RepoPath::parse("code").unwrap())]);
    assert_eq!((call.headline().as_str(), call.only_reads()), ("outline code", true));
    fixture.hidden = vec!["code/b.rs"];
    for (path, expected) in [
        (
            "code",
            "No source code lies directly in `code`. Known are Bash, C, C++, C#, Go, HCL, Java, \
             JavaScript, Lua, PHP, Protocol Buffers, Python, Ruby, Rust, TypeScript.\n(Source files \
             that may not be read are left out.)",
        ),
        ("code/b.rs", "Cannot outline `code/b.rs`: it may not be read."),
        ("d.js", "Cannot outline `d.js`: it is binary."),
        ("e.go", "Cannot outline `e.go`: it is larger than 1 MiB."),
        ("none", "Cannot outline `none`: it does not exist."),
    ] {
        let arguments = json!({ "path": path }).to_string();
        assert_eq!(fixture.call(tool, &arguments).text, expected, "{path}");
    }
    for (arguments, expected) in [
        (json!({ "path": "c.md" }), "Cannot outline `c.md`: its name is of no language that is"),
        (json!({ "path": "../x" }), "../x"),
        (json!({}), "`list_code_definition_names` needs `path`"),
        (json!({ "path": 7 }), "Cannot outline `7`: it does not exist."),
    ] {
        let text = fixture.call(tool, &arguments.to_string()).text;
        assert!(text.contains(expected), "{arguments}: {text}");
    }
}

#[test]
fn folders_named_like_source_code_take_no_place_of_files() {
    let folders: Vec<String> = (0..101).map(|it| format!("many/{it:03}.js/a.txt")).collect();
    let mut files: Vec<(&str, &str)> = folders.iter().map(|path| (path.as_str(), "x")).collect();
    files.extend([("many/z.js", "a\0b"), ("denied/a.js/a.txt", "x"), ("denied/b.js", "x")]);
    let mut fixture = ToolFixture::new(&files);
    fixture.hidden = vec!["denied/a.js", "denied/b.js"];
    let outline = |path: &str| {
        let arguments = json!({ "path": path }).to_string();
        fixture.call("list_code_definition_names", &arguments).text
    };
    assert_eq!(outline("many"), "(Left out: `many/z.js` is binary.)");
    let denied = outline("denied");
    assert!(denied.starts_with("No source code lies directly in `denied`."), "{denied}");
    assert!(denied.ends_with("\n(Source files that may not be read are left out.)"), "{denied}");
    fixture.hidden = vec!["many/000.js", "many/100.js"];
    let arguments = json!({ "path": "many" }).to_string();
    let shown = fixture.call("list_code_definition_names", &arguments).text;
    assert_eq!(shown, "(Left out: `many/z.js` is binary.)", "no file is refused");
}
