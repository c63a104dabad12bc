//! Columns for terminals: as wide as their widest entry, the last one free.

/// Returns rows as lines with aligned columns; nothing for no rows. Cells are foreign text: control
/// characters are spelled out.
pub fn lines<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let all: Vec<Vec<String>> =
        std::iter::once(head.iter().map(|word| (*word).to_owned()).collect())
            .chain(rows.iter().map(|row| {
                row.iter()
                    .map(|cell| locum_agent::report::markdown::visible(cell).replace('\n', " "))
                    .collect()
            }))
            .collect();
    let width = |column: usize| {
        all.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect::<Vec<_>>();
        cells.join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::lines;
    use pretty_assertions::assert_eq;

    #[test]
    fn columns_are_as_wide_as_their_widest_entry() {
        let rows = [["ä".to_owned(), "x\u{1b}".to_owned()], ["long".to_owned(), String::new()]];
        assert_eq!(lines(["K", "VALUE"], &rows), ["K     VALUE", "ä     x(U+001B)", "long"]);
        assert_eq!(lines(["K"], &[]), Vec::<String>::new());
    }
}
