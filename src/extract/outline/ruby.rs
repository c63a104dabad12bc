//! Definitions of Ruby by its lines and their indentation, whose grammar would add 2 MB to the
//! program.
//!
//! A definition ends at the `end` that is indented as it is. Texts over several lines are passed by.

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

/// Adds what a text defines.
pub(super) fn outline(outline: &mut OutlinedText<'_>) {
    let text = outline.text;
    let (mut open, mut passed_by): (Vec<OpenDefinition>, Option<&str>) = (Vec::new(), None);
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let start = line_start;
        line_start += line.len();
        let code = line.trim();
        if let Some(end) = passed_by {
            passed_by = passed_by.filter(|_| code.split_whitespace().next() != Some(end));
            continue;
        }
        if outline.is_full() || line.trim_end() == "__END__" {
            break;
        }
        passed_by = if line.starts_with("=begin") { Some("=end") } else { here_document(code) };
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

/// Returns the mark that ends the text over several lines that a line begins: `SQL` of `<<~SQL`.
fn here_document(code: &str) -> Option<&str> {
    let (_, rest) = code.split_once("<<")?;
    let mark = rest.trim_start_matches(['~', '-']).trim_start_matches(['"', '\'']);
    let mark = word(mark);
    mark.starts_with(|letter: char| letter.is_ascii_uppercase()).then_some(mark)
}

/// Returns the word that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::outline::definitions;
    use crate::outline::language::Language;
    use pretty_assertions::assert_eq;

    #[test]
    fn methods_classes_and_modules_are_found_with_their_ends() {
        let text = "# class No\nmodule M\n  class A < B\n    attr_reader :x\n    def f(a,\n          \
                    b)\n      if a\n        def no; end\n      end\n    end\n\n    class << self\n      \
                    def g = 1\n    end\n    private def x=(v)\n      @x = <<~SQL\n        def \
                    no\n      SQL\n    end\n    def self.h; end\n    class E < StandardError; end # \
                    end\n  end\nend\n=begin\nclass No\n=end\nclass Open\n  def i(x = (1)) = x\n  def \
                    last\n    1\n__END__\nclass No\n";
        let found = definitions(Language::Ruby, text).unwrap();
        let shown = found.iter().map(|found| {
            let (first, last) = (found.first_line, found.last_line);
            format!("{first}-{last} {}{}", "  ".repeat(found.depth), found.head)
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
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
}
