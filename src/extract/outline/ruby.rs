//! Definitions of Ruby by its lines and their indentation, whose grammar would add 2 MB to the
//! program.
//!
//! A definition ends at the `end` that is indented as it is. Comments and texts over several lines
//! are passed by.

use std::collections::HashMap;

use crate::outline::{FoundPlace, OutlinedText};

/// Words that stand before a `def` on its line.
const BEFORE_DEF: &[&str] = &[
    "memoize",
    "module_function",
    "override",
    "private",
    "private_class_method",
    "protected",
    "public",
    "public_class_method",
];

/// A definition whose `end` is to come.
struct OpenDefinition {
    number: usize,
    start: usize,
    indent: usize,
    is_method: bool,
}

/// Lines that are passed by.
#[derive(Clone, Copy)]
enum PassedBy<'t> {
    /// From `=begin` to `=end`.
    Comment,
    /// To the line that is this mark.
    HereDocument(&'t str),
}

impl PassedBy<'_> {
    /// Whether a line is the last of them.
    fn ends_with(self, line: &str) -> bool {
        match self {
            Self::Comment => line.starts_with("=end"),
            Self::HereDocument(mark) => line.trim() == mark,
        }
    }
}

/// Adds what a text defines.
pub(super) fn outline(outline: &mut OutlinedText<'_>) {
    let text = outline.text;
    let marks = LastMarks::new(text);
    let (mut open, mut passed_by): (Vec<OpenDefinition>, Option<PassedBy<'_>>) = (Vec::new(), None);
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let start = line_start;
        line_start += line.len();
        let code = line.trim();
        if passed_by.is_some() {
            passed_by = passed_by.filter(|passed_by| !passed_by.ends_with(line));
            continue;
        }
        if outline.is_full() || line.trim_end() == "__END__" {
            break;
        }
        if line.starts_with("=begin") {
            passed_by = Some(PassedBy::Comment);
        }
        if passed_by.is_some() || code.starts_with('#') {
            continue;
        }
        passed_by = marks.here_document(code, start).map(PassedBy::HereDocument);
        let indent = line.len() - line.trim_start().len();
        let place = FoundPlace {
            start: start + indent,
            name: start + indent,
            end: start + line.trim_end().len(),
        };
        if word(code) == "end" {
            while let Some(definition) = open.pop_if(|definition| definition.indent >= indent) {
                close(outline, &definition, place.end);
            }
        } else if let Some(found) = definition(code)
            && !open.last().is_some_and(|open| open.is_method && open.indent < indent)
        {
            // One whose `end` never came.
            while let Some(definition) = open.pop_if(|definition| definition.indent >= indent) {
                close(outline, &definition, start.saturating_sub(1));
            }
            let (number, start) = (outline.found.len(), place.start);
            outline.add(place, open.len());
            if !found.is_whole {
                open.push(OpenDefinition { number, start, indent, is_method: found.is_method });
            }
        }
    }
    for definition in open {
        close(outline, &definition, text.len());
    }
}

fn close(outline: &mut OutlinedText<'_>, definition: &OpenDefinition, end: usize) {
    let last_line = outline.last_line(definition.start, end);
    if let Some(found) = outline.found.get_mut(definition.number) {
        found.last_line = last_line;
    }
}

/// What a line begins to define.
struct FoundLine {
    is_method: bool,
    /// Whether it ends on the line.
    is_whole: bool,
}

fn definition(code: &str) -> Option<FoundLine> {
    let mut rest = code;
    while BEFORE_DEF.contains(&word(rest)) {
        rest = rest.get(word(rest).len()..)?.trim_start();
    }
    let keyword = word(rest);
    let is_method = match keyword {
        "def" => true,
        "class" | "module" if rest.len() == code.len() => false,
        _ => return None,
    };
    let name = rest.get(keyword.len()..)?.strip_prefix([' ', '\t'])?.trim_start();
    if name.is_empty() || name.starts_with("<<") {
        return None;
    }
    let code = code.split(" #").next().unwrap_or(code).trim_end();
    let ends = code.strip_suffix("end").is_some_and(|before| before.ends_with([' ', ';']));
    Some(FoundLine { is_method, is_whole: ends || (is_method && is_endless(name)) })
}

/// Whether a method is written as `name(parameters) = value`.
fn is_endless(method: &str) -> bool {
    let name = method.find(|it: char| it == '(' || it.is_whitespace()).unwrap_or(method.len());
    let mut rest = method.get(name..).unwrap_or_default();
    if rest.starts_with('(') {
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|(_, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some((end, _)) = end else { return false };
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    rest.trim_start().starts_with("= ")
}

/// Where the last line begins that is each mark: a shift to the left by a constant looks like a
/// here-document, but has no such line behind it.
struct LastMarks<'t>(HashMap<&'t str, usize>);

impl<'t> LastMarks<'t> {
    fn new(text: &'t str) -> Self {
        let mut line_start = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let start = line_start;
            line_start += line.len();
            (line.trim(), start)
        });
        Self(lines.filter(|(line, _)| is_mark(line)).collect())
    }

    /// Returns the mark of the here-document that a line begins: `SQL` of `<<~SQL`.
    fn here_document<'c>(&self, code: &'c str, line_start: usize) -> Option<&'c str> {
        let marks = code
            .split("<<")
            .skip(1)
            .map(|rest| word(rest.trim_start_matches(['~', '-']).trim_start_matches(['"', '\''])));
        let mut marks = marks.filter(|mark| is_mark(mark));
        marks.find(|mark| self.0.get(*mark).is_some_and(|last| *last > line_start))
    }
}

/// Whether a text is a word as marks of here-documents are.
fn is_mark(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_uppercase()) && word(text) == text
}

/// Returns the word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::outline::language::Language;
    use crate::outline::{Definition, definitions};
    use pretty_assertions::assert_eq;

    fn found(text: &str) -> Vec<String> {
        let line = |found: &Definition| {
            let (first, last) = (found.first_line, found.last_line);
            format!("{first}-{last} {}{}", "  ".repeat(found.depth), found.head)
        };
        definitions(Language::Ruby, text).unwrap().iter().map(line).collect()
    }

    #[test]
    fn methods_classes_and_modules_are_found_with_their_ends() {
        let text = "# class No\nmodule M\n  class A < B\n    attr_reader :x\n    def f(a,\n          \
                    b)\n      if a\n        def no; end\n      end\n    end\n\n    class << self\n      \
                    def g = 1\n    end\n    private def x=(v)\n      @x = <<~SQL\n        def \
                    no\n      SQL\n    end\n    def self.h; end\n    class E < StandardError; end # \
                    end\n  end\nend\n=begin\nclass No\n=end\nclass Open\n  def i(x = (1)) = x\n  def \
                    last\n    1\n__END__\nclass No\n";
        assert_eq!(
            found(text),
            [
                "2-23 module M",
                "3-22   class A < B",
                "5-10     def f(a,",
                "13-13     def g = 1",
                "15-19     private def x=(v)",
                "20-20     def self.h; end",
                "21-21     class E < StandardError; end # end",
                "27-32 class Open",
                "28-28   def i(x = (1)) = x",
                "29-32   def last",
            ]
        );
    }

    #[test]
    fn only_a_here_document_that_ends_is_passed_by() {
        for (text, expected) in [
            ("MAX = 1<<BITS\nclass A\nend\n", vec!["2-3 class A"]),
            ("# cat <<EOF > x\nclass A\nend\nEOF\n", vec!["2-3 class A"]),
            ("BITS\nMAX = 1<<BITS\nclass A\nend\n", vec!["3-4 class A"]),
            ("a = 1 <<BITS\nclass A\nend\nBITS + 1\n", vec!["2-3 class A"]),
            ("a = <<EOF\nEOF then\nclass No\nEOF\nclass A; end\n", vec!["5-5 class A; end"]),
            ("a(1<<BITS, <<~'EOF')\nclass No\n  EOF\nclass A; end\n", vec!["4-4 class A; end"]),
            (
                "=begin\nclass No\n =end\nclass No\n=end it\nclass A; end\n",
                vec!["6-6 class A; end"],
            ),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_of_one_mebibyte_takes_time_in_proportion() {
        let shifts = "class A; end\na<<B\n".repeat(60_000) + "B\n";
        assert_eq!(found(&shifts), ["1-1 class A; end"]);
        let (marks, blanks) = ("a<<B\nb<<C\n".repeat(100_000), " \n".repeat(1 << 19));
        assert_eq!(found(&(marks.clone() + "class A; end\n")), ["200001-200001 class A; end"]);
        assert_eq!(found(&(marks + "class A\n" + &blanks)), ["200001-200001 class A"]);
    }
}
