//! `MarkdownText`: Markdown that is written from front to end, with the marks of the lists and
//! quotes that a line is in.
//!
//! In: words, and where lines, paragraphs, lists, quotes, links and code begin and end. Out: the
//! text. Breaks are written when something follows, so that nothing stands empty.

/// How deep lists and quotes are followed.
const DEPTH_LIMIT: usize = 64;

/// How many of them stand before a line.
const MARKS_LIMIT: usize = 6;

/// What lines are in.
#[derive(Clone, Debug)]
enum Container {
    Quote,
    /// The number of the next entry, where entries have numbers, and whether there was one.
    List(Option<i64>, bool),
    /// An entry of a list, with its mark, and whether that is written.
    Entry(String, bool),
}

/// A link that is open: where its text begins, once there is some, and where it leads.
#[derive(Debug)]
struct OpenLink {
    start: Option<usize>,
    target: String,
}

/// Code that is open.
#[derive(Clone, Copy, Debug, Default)]
struct OpenCode {
    /// Where it begins, once there is some.
    start: Option<usize>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct MarkdownText {
    out: String,
    containers: Vec<Container>,
    /// Lists and quotes that are open deeper than they are followed.
    deeper: usize,
    /// Whether something stands on the line.
    is_line_open: bool,
    /// How many containers go on at the blank line that comes next, where one does.
    blank: Option<usize>,
    /// What a heading begins with.
    lead: String,
    link: Option<OpenLink>,
    code: Option<OpenCode>,
}

/// Returns the shortest mark around code, of so many signs at least, that is not in it.
pub(super) fn fence(code: &str, least: usize) -> String {
    let (mut longest, mut run) = (0, 0);
    for letter in code.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(least.max(if longest < least { least } else { longest + 1 }))
}

impl MarkdownText {
    /// Writes words; blanks between them are one.
    pub(super) fn words(&mut self, text: &str) {
        for (index, word) in text.split(char::is_whitespace).enumerate() {
            if index > 0 {
                self.space();
            }
            if !word.is_empty() {
                self.begin();
                self.out.push_str(word);
            }
        }
    }

    /// Writes a blank, where something stands before it.
    pub(super) fn space(&mut self) {
        if self.is_line_open && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }

    /// Ends the line.
    pub(super) fn line(&mut self) {
        self.is_line_open = false;
    }

    /// Ends the paragraph. A link around paragraphs is the first one's with a text.
    pub(super) fn paragraph(&mut self) {
        self.close_code();
        if self.link.as_ref().is_some_and(|link| link.start.is_some()) {
            self.close_link();
        }
        self.lead.clear();
        self.line();
        if !matches!(self.containers.last(), Some(Container::Entry(_, false))) {
            let depth = self.containers.len();
            self.blank = Some(self.blank.map_or(depth, |blank| blank.min(depth)));
        }
    }

    /// Begins the next line with this.
    pub(super) fn lead(&mut self, mark: &str) {
        mark.clone_into(&mut self.lead);
    }

    /// Writes lines as they are, as a paragraph.
    pub(super) fn block(&mut self, lines: &str) {
        self.paragraph();
        for line in lines.lines() {
            self.line();
            self.begin();
            self.out.push_str(line);
        }
        self.paragraph();
    }

    pub(super) fn open_quote(&mut self) {
        self.open(Container::Quote);
    }

    pub(super) fn close_quote(&mut self) {
        self.close(|container| matches!(container, Container::Quote));
        self.paragraph();
    }

    /// Opens a list, whose entries have numbers from the first one on, or none.
    pub(super) fn open_list(&mut self, first: Option<i64>) {
        // Below the text of an entry it needs no blank line.
        if matches!(self.containers.last(), Some(Container::Entry(..))) {
            self.blank = None;
        }
        self.open(Container::List(first, false));
    }

    pub(super) fn close_list(&mut self) {
        self.close(|container| matches!(container, Container::List(..)));
        self.paragraph();
    }

    /// Opens an entry of a list, perhaps with a number of its own.
    pub(super) fn open_entry(&mut self, number: Option<i64>) {
        self.close_entry();
        if self.deeper == 0
            && let Some(Container::List(next, had_entry)) = self.containers.last_mut()
        {
            let mark = match next {
                None => "- ".to_owned(),
                Some(next) => {
                    let own = number.unwrap_or(*next);
                    *next = own.saturating_add(1);
                    format!("{own}. ")
                }
            };
            if std::mem::replace(had_entry, true) {
                self.blank = None;
            }
            self.open(Container::Entry(mark, false));
        } else {
            self.blank = self.blank.filter(|_| self.lead.is_empty() && !self.out.is_empty());
            self.lead("- ");
        }
    }

    pub(super) fn close_entry(&mut self) {
        self.close_code();
        if self.link.as_ref().is_some_and(|link| link.start.is_some()) {
            self.close_link();
        }
        self.line();
        let inner = self.containers.iter().rposition(|it| !matches!(it, Container::Quote));
        if let Some(at) = inner.filter(|_| self.deeper == 0)
            && matches!(self.containers.get(at), Some(Container::Entry(..)))
        {
            self.containers.truncate(at);
        }
    }

    /// Opens a link, or what leads nowhere.
    pub(super) fn open_link(&mut self, target: Option<String>) {
        let is_code = self.code.is_some();
        self.close_link();
        self.close_code();
        self.link = target.map(|target| OpenLink { start: None, target });
        if is_code {
            self.open_code();
        }
    }

    pub(super) fn close_link(&mut self) {
        let Some(OpenLink { start, target }) = self.link.take() else { return };
        // Code that goes on behind it is other code.
        let is_code = self.code.is_some();
        self.close_code();
        if let Some(start) = start {
            self.rewrite(start, |text| format!("[{text}]({target})"));
        }
        if is_code {
            self.open_code();
        }
    }

    pub(super) fn open_code(&mut self) {
        self.code.get_or_insert_default();
    }

    pub(super) fn close_code(&mut self) {
        if let Some(OpenCode { start: Some(start) }) = self.code.take() {
            self.rewrite(start, code_span);
        }
    }

    /// Writes code.
    pub(super) fn code(&mut self, code: &str) {
        self.begin();
        self.out.push_str(&code_span(code));
    }

    /// Returns the text.
    pub(super) fn finish(mut self) -> String {
        self.close_code();
        self.close_link();
        self.out.trim().to_owned()
    }

    fn open(&mut self, container: Container) {
        if self.containers.len() < DEPTH_LIMIT {
            self.containers.push(container);
        } else if !matches!(container, Container::Entry(..)) {
            self.deeper += 1;
        }
    }

    /// Closes the innermost container of a kind, with what is in it.
    fn close(&mut self, is_meant: impl Fn(&Container) -> bool) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(at) = self.containers.iter().rposition(is_meant) {
            self.containers.truncate(at);
        }
    }

    /// Begins a line, where none is open, and notes where links and code begin.
    fn begin(&mut self) {
        if !self.is_line_open {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            let blank = self.blank.take();
            if !self.out.is_empty() {
                self.out.push('\n');
                if let Some(depth) = blank {
                    self.marks(depth, false);
                    self.out.truncate(self.out.trim_end_matches(' ').len());
                    self.out.push('\n');
                }
            }
            self.marks(self.containers.len(), true);
            self.out.push_str(&std::mem::take(&mut self.lead));
            self.is_line_open = true;
        }
        let at = self.out.len();
        if let Some(link) = &mut self.link {
            link.start = link.start.or(Some(at));
        }
        if let Some(code) = &mut self.code {
            code.start = code.start.or(Some(at));
        }
    }

    /// Writes what stands before a line; marks of entries once, where the line is text.
    fn marks(&mut self, depth: usize, is_text: bool) {
        let mut written = 0;
        for container in self.containers.iter_mut().take(depth) {
            let is_near = written < MARKS_LIMIT;
            match container {
                Container::Quote if is_near => self.out.push_str("> "),
                Container::Entry(mark, is_written) if is_text && !*is_written => {
                    self.out.push_str(mark);
                    *is_written = true;
                }
                Container::Entry(mark, _) if is_near => {
                    self.out.push_str(&" ".repeat(mark.len()));
                }
                Container::Quote | Container::Entry(..) => {}
                Container::List(..) => continue,
            }
            written += 1;
        }
    }

    /// Writes what stands from a place on in another way; blanks around it stay outside.
    fn rewrite(&mut self, start: usize, write: impl Fn(&str) -> String) {
        let Some(text) = self.out.get(start..).map(str::to_owned) else { return };
        let plain = text.trim();
        if plain.is_empty() {
            return;
        }
        self.out.truncate(start);
        let is_blank = text.starts_with(' ') && !self.out.ends_with([' ', '\n']);
        self.out.push_str(if is_blank { " " } else { "" });
        self.out.push_str(&write(plain));
        self.out.push_str(if text.ends_with(' ') { " " } else { "" });
    }
}

/// Returns code as it stands in a line.
fn code_span(code: &str) -> String {
    let fence = fence(code, 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{code}{pad}{fence}")
}
