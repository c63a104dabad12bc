//! Outlines of source code through the binary: what each file defines is shown with its lines, and
//! what is refused or hostile does not stop it.

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)"]
  - deny: ["read(src/secret.rs)", "read(secret/**)"]
"#;

/// Returns what one call answers for a path.
fn outline(files: &[(&str, &str)], path: &str) -> String {
    let policy = [(".locum/policy.yml", POLICY)];
    let stage = Stage::with(&[policy.as_slice(), files].concat());
    let script = format!(
        "version: 1\ntasks:\n  - turns:\n      - calls: [{{ tool: list_code_definition_names, args: \
         {{ path: '{path}' }} }}]\n      - calls: [{{ tool: attempt_completion, args: {{ result: ok \
         }} }}]\n"
    );
    let ran = stage.play(&script, &[]);
    let answers = stage.answers();
    answers.first().map(|(_, text)| text.clone()).unwrap_or_else(|| panic!("{ran:?}"))
}

#[test]
fn a_folder_is_outlined_file_by_file_without_those_that_are_refused_or_ignored() {
    let files = [
        (".gitignore", "generated.py\n"),
        ("src/lib.rs", "pub struct A;\n\nimpl A {\n    fn b(&self) {\n    }\n}\n"),
        ("src/main.py", "class C:\n    def d(self):\n        pass\n"),
        ("src/e.cs", "class E { void F() { } }\n"),
        ("src/secret.rs", "fn token() {}\n"),
        ("src/generated.py", "def made(): pass\n"),
        ("src/deep/g.go", "package g\nfunc G() {}\n"),
        ("src/README.md", "# fn no()\n"),
    ];
    let shown = "# src/e.cs\n1-1 | class E { void F() { } }\n1-1 |   void F() { }\n\n# src/lib.rs\n1-1 \
                 | pub struct A;\n3-6 | impl A {\n4-5 |   fn b(&self) {\n\n# src/main.py\n1-3 | class \
                 C:\n2-3 |   def d(self):";
    assert_eq!(
        outline(&files, "src"),
        format!("{shown}\n\n(Source files that may not be read are left out.)")
    );
    assert_eq!(outline(&files, "src/deep/g.go"), "# src/deep/g.go\n2-2 | func G() {}");
    // A file that is named on purpose is shown although an ignore file names it.
    assert_eq!(outline(&files, "src/generated.py"), "# src/generated.py\n1-1 | def made(): pass");
    let refused = outline(&files, "src/secret.rs");
    assert!(refused.contains("`read(src/secret.rs)`: denied by"), "{refused}");
    let missing = outline(&files, "src/libs.rs");
    assert!(missing.starts_with("Cannot outline `src/libs.rs`: it does not exist."), "{missing}");
}

#[test]
fn hostile_source_is_outlined_as_far_as_it_can_be_and_the_run_goes_on() {
    let deep = "(".repeat(200_000);
    let nested = "class A {".repeat(50_000);
    let values = format!("int x = {};\n", "{}".repeat(500_000));
    let signs = "@".repeat(1_000_000);
    let files = [
        ("a.rs", "fn a() {}\n"),
        ("deep.js", &deep),
        ("deep.py", &deep),
        ("nested/a.cpp", &nested),
        ("nested/b.java", &nested),
        ("nested/c.cpp", &values),
        ("signs.cs", &signs),
        ("values.cpp", &values),
        ("z.rs", "fn z() {}\n"),
    ];
    assert_eq!(
        outline(&files, "."),
        "# a.rs\n1-1 | fn a() {}\n\n# z.rs\n1-1 | fn z() {}\n\n(3 files define nothing.)\n(Left out: \
         `values.cpp` takes too long to parse.)"
    );
    let answer = outline(&files, "nested");
    let first =
        format!("# nested/a.cpp\n1-1 | {}class A…\n1-1 |   class A {{\n", "class A {".repeat(17));
    assert!(answer.starts_with(&first), "{answer}");
    let end = "\n\n(Cut after 64 KiB, in file 1 of 3. Outline single files, or search them with \
               `search_files`, for what is left.)\n(Left out: `nested/b.java` comes after 10,000 \
               definitions of others; `nested/c.cpp` comes after 10,000 definitions of others.)";
    assert!(answer.ends_with(end), "{answer}");
    assert_eq!(
        outline(&files, "values.cpp"),
        "Cannot outline `values.cpp`: it takes too long to parse."
    );
}

#[test]
fn a_folder_of_many_files_says_that_there_are_more() {
    let names: Vec<String> = (0..102).map(|it| format!("many/{it:03}.go")).collect();
    let text = "package a\nfunc F() {}\n";
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text)).collect();
    let answer = outline(&files, "many");
    assert_eq!(answer.matches("2-2 | func F() {}").count(), 100, "{answer}");
    assert!(
        answer.ends_with("(The first 100 source files of the folder. Outline others one by one.)"),
        "{answer}"
    );
}
