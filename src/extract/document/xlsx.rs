//! Text of an Excel workbook: each sheet by name, its rows by number, its columns by letter, each
//! cell with its value and its formula. Cells are taken one by one, so that a sheet with two cells
//! far apart is not a large one.

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader as _, Xlsx, XlsxError, open_workbook_from_rs};

use crate::document::package::Package;
use crate::document::{BoundedText, DocumentError};

/// Letters of the names of columns.
const LETTERS: u32 = 26;

/// Reads the text of a workbook.
pub(super) fn text(content: &[u8]) -> Result<String, DocumentError> {
    Package::open(content)?.check_sizes()?;
    let mut workbook: Xlsx<_> = open_workbook_from_rs(Cursor::new(content)).map_err(failed)?;
    let names = workbook.sheet_names();
    let mut text = BoundedText::default();
    for (at, name) in names.iter().enumerate() {
        text.push(&format!("--- Sheet {} of {}: {name} ---\n", at + 1, names.len()));
        if let Err(error) = sheet(&mut workbook, name, &mut text) {
            text.push(&format!("({})\n", failed(error)));
        }
        text.push("\n");
        if text.is_full {
            break;
        }
    }
    Ok(text.finish())
}

/// Adds a sheet: a line for each row that holds something, each cell with its name.
fn sheet(
    workbook: &mut Xlsx<Cursor<&[u8]>>,
    name: &str,
    text: &mut BoundedText,
) -> Result<(), XlsxError> {
    let mut cells = workbook.worksheet_cells_reader(name)?;
    let mut row = None;
    while let Some(cell) = cells.next_cell_with_formula()? {
        let (number, column) = cell.pos;
        let value = shown(&cell.value);
        // Programs that write workbooks often leave the value to those that open them.
        let value = match cell.formula.filter(|formula| !formula.is_empty()) {
            None if value.is_empty() => continue,
            None => value,
            Some(formula) if value.is_empty() => format!("={}", one_line(&formula)),
            Some(formula) => format!("{value} (={})", one_line(&formula)),
        };
        let gap = match row {
            None => "",
            Some(last) if last == number => " | ",
            Some(_) => "\n",
        };
        row = Some(number);
        text.push(&format!("{gap}{}{}: {value}", letters(column), number.saturating_add(1)));
        if text.is_full {
            break;
        }
    }
    text.push(if row.is_none() { "(empty)\n" } else { "\n" });
    Ok(())
}

fn one_line(text: &str) -> String {
    text.trim().replace('\n', "\\n")
}

fn shown(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) => one_line(text),
        DataRef::SharedString(text) => one_line(text),
        DataRef::Bool(true) => "TRUE".to_owned(),
        DataRef::Bool(false) => "FALSE".to_owned(),
        DataRef::DateTime(time) => date(*time),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn date(time: ExcelDateTime) -> String {
    if time.is_duration() {
        return time.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time_of_day = format!("{hour:02}:{minute:02}:{second:02}");
    match (hour, minute, second) {
        // Days count from 1.
        _ if (0.0..1.0).contains(&time.as_f64()) => time_of_day,
        (0, 0, 0) => date,
        _ => format!("{date} {time_of_day}"),
    }
}

/// Returns the name of a column, counted from 0: `A`, `Z`, `AA`.
fn letters(mut column: u32) -> String {
    let mut letters = Vec::new();
    loop {
        let letter = char::from_u32(u32::from(b'A') + column % LETTERS).unwrap_or('?');
        letters.push(letter);
        match (column / LETTERS).checked_sub(1) {
            Some(next) => column = next,
            None => break,
        }
    }
    letters.iter().rev().collect()
}

fn failed(error: XlsxError) -> DocumentError {
    match error {
        XlsxError::Password => DocumentError::Encrypted,
        other => DocumentError::malformed(other),
    }
}

#[cfg(test)]
mod tests {
    use super::letters;
    use crate::document::DocumentKind;
    use crate::document::docx::tests::package;
    use pretty_assertions::assert_eq;

    const RELATIONS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet2.xml"/></Relationships>"#;

    fn workbook(first: &str, second: &str) -> Vec<u8> {
        let sheet = |rows: &str| {
            format!(
                r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
            )
        };
        package(&[
            (
                "_rels/.rels",
                r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
            ),
            (
                "xl/workbook.xml",
                r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Costs" sheetId="1" r:id="r1"/><sheet name="Empty" sheetId="2" r:id="r2"/></sheets></workbook>"#,
            ),
            ("xl/_rels/workbook.xml.rels", RELATIONS),
            (
                "xl/styles.xml",
                r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#,
            ),
            ("xl/worksheets/sheet1.xml", &sheet(first)),
            ("xl/worksheets/sheet2.xml", &sheet(second)),
        ])
    }

    #[test]
    fn sheets_rows_and_cells_are_named() {
        let rows = r#"<row r="1"><c r="A1" t="inlineStr"><is><t>Item</t></is></c><c r="B1" t="inlineStr"><is><t>Price</t></is></c></row><row r="3"><c r="A3" t="inlineStr"><is><t>two
lines</t></is></c><c r="B3"><v>1.5</v></c><c r="C3" t="b"><v>1</v></c><c r="D3" s="1"><v>45000</v></c></row>"#;
        assert_eq!(
            DocumentKind::Xlsx.text(&workbook(rows, "")).unwrap(),
            "--- Sheet 1 of 2: Costs ---\nA1: Item | B1: Price\nA3: two\\nlines | B3: 1.5 | C3: \
             TRUE | D3: 2023-03-15\n\n--- Sheet 2 of 2: Empty ---\n(empty)"
        );
        for (column, expected) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")] {
            assert_eq!(letters(column), expected);
        }
    }

    #[test]
    fn formulas_are_shown_with_and_without_a_value_and_times_of_day_without_a_day() {
        let rows = r#"<row r="1"><c r="A1"><v>10</v></c><c r="B1"><f>A1*2</f><v>20</v></c><c r="C1"><f>SUM(A1:B1)</f></c><c r="D1"/><c r="E1" s="1"><v>0.5</v></c></row><row r="2"><c r="A2" t="str"><f>"x"&amp;A1</f><v>x10</v></c><c r="B2"><f t="shared" ref="B2:B3" si="0">A1+1</f><v>11</v></c></row><row r="3"><c r="B3"><f t="shared" si="0"/><v>1</v></c></row>"#;
        let text = DocumentKind::Xlsx.text(&workbook(rows, "")).unwrap();
        let expected = "A1: 10 | B1: 20 (=A1*2) | C1: =SUM(A1:B1) | E1: 12:00:00\n\
                        A2: x10 (=\"x\"&A1) | B2: 11 (=A1+1)\nB3: 1 (=A2+1)\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn cells_far_apart_take_no_room_and_what_is_broken_is_said() {
        let rows = r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#;
        let text = DocumentKind::Xlsx.text(&workbook(rows, "<row><c")).unwrap();
        assert!(text.contains("A1: 1\nXFD1048576: 2"), "{text}");
        assert!(text.contains("Empty ---\n(the document is malformed"), "{text}");
        let error = DocumentKind::Xlsx.text(&package(&[("a", "b")])).unwrap_err().to_string();
        assert!(error.starts_with("the document is malformed"), "{error}");
    }
}
