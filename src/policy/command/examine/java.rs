//! `java` that runs classes, an archive or a source of the repository.
//!
//! In: the words of a command. Out: what it reads, and that code of the repository runs. What loads
//! an agent, reads more words from a file or writes a log is left to rules that spell it out.

use std::sync::LazyLock;

use crate::command::examine::examiner::Examiner;
use crate::command::examine::path_use;
use crate::command::tables::options::{GivenOption, OptionArgument, OptionTable};
use crate::command::tables::settings;

static JAVA: LazyLock<OptionTable> = LazyLock::new(|| {
    OptionTable::new([
        "-ea -esa -da -dsa -enableassertions -disableassertions -enablesystemassertions \
         -disablesystemassertions -ea:= -da:= -server -client -showversion --show-version \
         --enable-preview -verbose:gc -verbose:class --source= --add-modules= --limit-modules= \
         --add-opens= --add-exports= --add-reads= --enable-native-access= --illegal-access= \
         --sun-misc-unsafe-memory-access= --finalization= -D=@ -X=~",
        "-cp=< -classpath=< --class-path=< -p=< --module-path=<",
    ])
});

impl Examiner<'_> {
    /// Looks at Java; returns whether it runs code of the repository and nothing else.
    pub(super) fn java(&mut self) -> bool {
        let words = self.words;
        let mut at = 1;
        let mut given: Vec<GivenOption<'_>> = Vec::new();
        while words.get(at).is_some_and(|word| word.starts_with('-') && word != "-jar") {
            let read = JAVA.read(words, at);
            if !read.is_known {
                return false;
            }
            at = read.next;
            given.extend(read.given);
        }
        let paths: Vec<&str> = given
            .iter()
            .filter(|option| option.takes == OptionArgument::ReadFile)
            .filter_map(|option| option.value)
            .flat_map(|path| path.split(':'))
            .collect();
        let is_archive = words.get(at).is_some_and(|word| word == "-jar");
        let Some(main) = words.get(at + usize::from(is_archive)).map(String::as_str) else {
            return false;
        };
        let is_file = is_archive || main.ends_with(".java");
        let runs = if is_file { self.is_inside(main) } else { !paths.is_empty() && is_class(main) };
        if !runs || !given.iter().all(is_harmless) || !paths.iter().all(|path| self.is_inside(path))
        {
            return false;
        }
        self.found.runs_code = true;
        for path in paths.into_iter().chain(Some(main).filter(|_| is_file)) {
            self.found.reads.extend(path_use(path, self.folder));
        }
        true
    }

    /// Whether a path is one of the repository.
    fn is_inside(&self, path: &str) -> bool {
        !path.is_empty()
            && !path.starts_with(['/', '~', '-', '@'])
            && self.folder.join(path).is_ok()
    }
}

/// Whether an option of Java chooses no code, and no file but those of the path of its classes.
fn is_harmless(option: &GivenOption<'_>) -> bool {
    match option.takes {
        OptionArgument::Setting | OptionArgument::Attached => {
            settings::is_known("java", option.name, option.value.unwrap_or_default())
        }
        OptionArgument::Value => {
            option.value.is_some_and(|value| !value.starts_with('-') && !value.contains(".."))
        }
        OptionArgument::Nothing
        | OptionArgument::Optional
        | OptionArgument::ReadFile
        | OptionArgument::WrittenFile
        | OptionArgument::Lines
        | OptionArgument::KindAndFile
        | OptionArgument::Text
        | OptionArgument::Two => !option.lacks_value(),
    }
}

fn is_class(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._$".contains(&byte))
}
