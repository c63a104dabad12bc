//! Documents through the binary: their text is shown, and what is hostile is an error, at once.

use std::io::{Cursor, Write as _};
use std::process::{Child, Stdio};

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

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn docx(document: &str) -> Vec<u8> {
    package(&[("word/document.xml", document)])
}

/// Makes a workbook with one sheet of these rows.
fn xlsx(rows: &str) -> Vec<u8> {
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = |kind: &str, target: &str| {
        format!(
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="{office}/{kind}" Target="{target}"/></Relationships>"#
        )
    };
    package(&[
        ("_rels/.rels", &relations("officeDocument", "xl/workbook.xml")),
        (
            "xl/workbook.xml",
            &format!(
                r#"<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="Costs" sheetId="1" r:id="r1"/></sheets></workbook>"#
            ),
        ),
        ("xl/_rels/workbook.xml.rels", &relations("worksheet", "worksheets/sheet1.xml")),
        (
            "xl/worksheets/sheet1.xml",
            &format!(r#"<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>"#),
        ),
    ])
}

/// Makes a PDF of one page that shows a line.
pub(crate) fn pdf(line: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 20 200 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F1 3 0 R >> \
         >> /Contents 5 0 R >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    let (mut file, mut table) = ("%PDF-1.4\n".to_owned(), String::new());
    for (at, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let start = file.len();
    file.push_str(&format!(
        "xref\n0 6\n0000000000 65535 f \n{table}trailer\n<< /Size 6 /Root 1 0 R \
         >>\nstartxref\n{start}\n%%EOF\n"
    ));
    file.into_bytes()
}

/// Returns what the kernel says of a process, once it has one filter of system calls more than
/// this one.
fn confined_status(process: &mut Child) -> String {
    let filters = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"));
        line.unwrap().trim().parse::<u32>().unwrap()
    };
    let own = filters(&std::fs::read_to_string("/proc/self/status").unwrap());
    for _ in 0..1_000_000 {
        let of_process = format!("/proc/{}/status", process.id());
        let status = std::fs::read_to_string(of_process).unwrap_or_default();
        assert!(process.try_wait().unwrap().is_none(), "it ended: {status}");
        if filters(&status) == own + 1 {
            return status;
        }
        std::thread::yield_now();
    }
    panic!("it waits for input and is not confined");
}

#[test]
fn the_process_that_reads_documents_is_confined_before_it_takes_a_byte() {
    let stage = Stage::with(&[]);
    let mut command = stage.locum(&["__extract"]);
    let mut reader =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let status = confined_status(&mut reader);
    assert!(status.contains("\nSeccomp:\t2\n"), "{status}");
    assert!(status.contains("\nNoNewPrivs:\t1\n"), "{status}");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", reader.id())).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    for (name, expected) in [
        ("Max file size", "0"),
        ("Max processes", "0"),
        ("Max open files", "3"),
        ("Max address space", "805306368"),
        ("Max cpu time", "20"),
    ] {
        assert_eq!(limit(name), [expected, expected], "{name}");
    }
    reader.stdin.take().unwrap().write_all(b"\"nothing\"\n").unwrap();
    let output = reader.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        r#"{"failed":"the request is not understood"}"#
    );
}

#[test]
fn the_text_of_a_pdf_and_of_a_workbook_is_shown() {
    let answer = read(&[("a.pdf", &pdf("Hello world"))], "{ path: a.pdf }");
    assert_eq!(
        answer,
        "File: a.pdf\nText of this PDF document; lines are those of the text.\n\n1 | --- Page 1 of 1 \
         ---\n2 | Hello world"
    );
    let rows = r#"<row r="1"><c r="A1" t="inlineStr"><is><t>Item</t></is></c><c r="B1"><v>1.5</v></c></row>"#;
    let answer = read(&[("a.xlsx", &xlsx(rows))], "{ path: a.xlsx }");
    assert_eq!(
        answer,
        "File: a.xlsx\nText of this Excel workbook; lines are those of the text.\n\n1 | --- Sheet 1 of \
         1: Costs ---\n2 | A1: Item | B1: 1.5"
    );
}

#[test]
fn a_broken_notebook_is_shown_as_the_text_it_is() {
    let answer = read(&[("a.ipynb", b"{\"cells\": [\n<<<<<<< ours\n")], "{ path: a.ipynb }");
    assert!(
        answer.starts_with(
            "File: a.ipynb\nShown as it is, not by its cells: the document is malformed: "
        ),
        "{answer}"
    );
    assert!(answer.ends_with("\n\n1 | {\"cells\": [\n2 | <<<<<<< ours"), "{answer}");
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
        "File: a.docx\nText of this Word document; lines are those of the text.\n\n1 | one\n2 | \n3 | \
         two\n\nFile: b.ipynb\nText of this notebook; lines are those of the text.\n\n1 | --- Cell 1 \
         of 1 (cell_number 0): code ---\n2 | x = 1\n\nFile: secret/a.docx\nLeft out, because the policy refused \
         it: `read(secret/a.docx)`: denied by `read(secret/**)` (rule `read(secret/**)`, \
         .locum/policy.yml:6).\n\nFile: c.txt\n1 | plain"
    );
    let raw = read(&files, "{ path: b.ipynb, mode: raw }");
    assert!(raw.starts_with("File: b.ipynb\n1 | {\"cells\""), "{raw}");
}

#[test]
fn a_text_that_is_not_utf_8_is_said_to_be_so_and_not_damaged() {
    let content: &[u8] = b"caf\xe9 one\ntwo\n";
    let answer = read(&[("a.txt", content)], "{ path: a.txt }");
    let note = "The file is not UTF-8: each \u{fffd} stands for a byte or more that is not shown.";
    assert!(answer.starts_with("File: a.txt\n1 | caf\u{fffd} one\n2 | two\n"), "{answer}");
    assert!(answer.contains(note), "{answer}");
    let policy = POLICY.replace("read(**)", "read(**)\", \"edit(**)");
    for (written, is_written) in [("caf\\uFFFD one\\n2\\n", false), ("cafe one\\n2\\n", true)] {
        let stage = Stage::with(&[(".locum/policy.yml", &policy)]);
        std::fs::write(stage.path("checkout/a.txt"), content).unwrap();
        let script = format!(
            "version: 1\ntasks:\n  - turns:\n      - calls: [{{ tool: read_file, args: {{ path: \
             a.txt }} }}]\n      - calls: [{{ tool: write_to_file, args: {{ path: a.txt, content: \
             \"{written}\" }} }}]\n      - calls: [{{ tool: attempt_completion, args: {{ result: ok \
             }} }}]\n"
        );
        let ran = stage.play(&script, &[]);
        let now = std::fs::read(stage.path("checkout/a.txt")).unwrap();
        assert_eq!(now != content, is_written, "{ran:?}");
        let refused = "`a.txt` is not UTF-8, and the `\u{fffd}` in the content would take";
        let is_refused = stage.answers().iter().any(|(_, text)| text.contains(refused));
        assert_eq!(is_refused, !is_written, "{ran:?}");
    }
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
