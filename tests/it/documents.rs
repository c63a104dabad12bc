//! Documents through the binary: their text is shown, and what is hostile is an error, at once.

use std::io::{Cursor, Write as _};

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)"]
  - deny: ["read(secret/**)"]
"#;

/// Returns what one call of `read_file` answers.
fn read(files: &[(&str, &[u8])], call: &str) -> String {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("secret/a.docx", "x")]);
    for (path, content) in files {
        std::fs::write(stage.path(&format!("checkout/{path}")), content).unwrap();
    }
    let script = format!(
        "version: 1\ntasks:\n  - turns:\n      - calls: [{{ tool: read_file, args: {call} }}]\n      \
         - calls: [{{ tool: attempt_completion, args: {{ result: ok }} }}]\n"
    );
    let ran = stage.play(&script, &[]);
    let answers = stage.answers();
    answers.first().map(|(_, text)| text.clone()).unwrap_or_else(|| panic!("{ran:?}"))
}

fn docx(document: &str) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    writer.write_all(document.as_bytes()).unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn the_text_of_documents_is_shown_with_lines_beside_other_files() {
    let document = docx("<w:p><w:r><w:t>one</w:t></w:r></w:p><w:p><w:r><w:t>two</w:t></w:r></w:p>");
    let notebook = br#"{"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": []}]}"#;
    let files = [("a.docx", document.as_slice()), ("b.ipynb", notebook), ("c.txt", b"plain\n")];
    let answer = read(
        &files,
        "{ path: a.docx, files: [{ path: b.ipynb }, { path: secret/a.docx }, { path: c.txt, \
         line_ranges: [1-1] }] }",
    );
    assert_eq!(
        answer,
        "File: a.docx\nText of a Word document; lines are those of the text.\n\n1 | one\n2 | \n3 | \
         two\n\nFile: b.ipynb\nText of a notebook; lines are those of the text.\n\n1 | --- Cell 1 \
         of 1: code ---\n2 | x = 1\n\nFile: secret/a.docx\nLeft out, because the policy refused \
         it: `read(secret/a.docx)`: denied by `read(secret/**)` (rule `read(secret/**)`, \
         .locum/policy.yml:6).\n\nFile: c.txt\n1 | plain"
    );
    let raw = read(&files, "{ path: b.ipynb, mode: raw }");
    assert!(raw.starts_with("File: b.ipynb\n1 | {\"cells\""), "{raw}");
}

#[test]
fn a_hostile_document_is_an_error_and_the_run_goes_on() {
    let deep =
        format!("%PDF-1.4\n1 0 obj\n{}\nendobj\ntrailer\n<< /Root 1 0 R >>", "[".repeat(1 << 20));
    let bomb = docx(&" ".repeat(70 << 20));
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n";
    for (name, content, expected) in [
        ("deep.pdf", deep.as_bytes(), "Cannot read `deep.pdf`: "),
        ("bomb.docx", &bomb, "a part of the document unpacks to more than 67108864 bytes."),
        ("cut.docx", bomb.get(..50).unwrap(), "Cannot read `cut.docx`: the document is malformed"),
        ("a.pdf", pointer, "Git LFS pointer: the content (9 bytes) is not in this checkout."),
        ("zero.pdf", b"%PDF-1.4\n\0\0\0", "Cannot read `zero.pdf`: the document is malformed"),
    ] {
        let answer = read(&[(name, content)], &format!("{{ path: {name} }}"));
        assert!(answer.contains(expected), "{name}: {answer}");
    }
}
