//! Columns for terminals: as wide as their widest entry, up to a limit, the last one free.

/// Columns that an entry is filled up to at most. One that is wider stays whole, in a line of its
/// own width: nothing of it is lost, and the other lines do not grow with it.
const WIDTH_LIMIT: usize = 120;

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
            .min(WIDTH_LIMIT)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| {
                let rest = width.saturating_sub(cell.chars().count());
                format!("{cell}{}", " ".repeat(rest))
            })
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

    #[test]
    fn an_entry_of_any_length_stays_whole_and_widens_no_other_line() {
        let long = "m".repeat(70_000);
        let rows = [[long.clone(), "x".to_owned()], ["short".to_owned(), "y".to_owned()]];
        let lines = lines(["K", "VALUE"], &rows);
        assert_eq!(lines[1], format!("{long}  x"));
        assert_eq!(lines[2], format!("{:<120}  y", "short"));
    }
}
