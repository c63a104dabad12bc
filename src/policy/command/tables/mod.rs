//! Option tables of common programs: every option that may follow a `:*`, and what it does. An
//! option that is not here is not allowed by `:*`, so that a new option of a program is a refusal,
//! not a hole.
//!
//! Notation: `-l` takes nothing; `--color=?` takes a value only after `=`; `-n=` takes a value;
//! `--file=<` takes a file that is read; `-o=>` takes a file that is written, `--report=+` one
//! behind a kind and `:`; `--arg==` takes two values; `-p=@` takes a value that `settings` has to
//! know, and `-W=~` one that stands right behind it, if any; `-k=*` takes text that names no file,
//! whatever it looks like. In `--log:=` the value stands behind the colon. Single letters combine
//! (`-la`), unless `-` stands among the options of a program to which that is one long option.

mod build;
mod checkers;
pub(crate) mod compilers;
mod configuring;
mod dotnet;
pub(super) mod git;
mod go;
pub mod index;
mod javascript;
pub(in crate::command) mod jvm;
pub(crate) mod launched;
pub(crate) mod launcher;
pub(crate) mod launchers;
mod looks;
mod native;
mod node;
pub(crate) mod options;
mod partial;
pub(crate) mod programs;
pub(super) mod properties;
mod python;
mod ruby;
mod rust;
pub(super) mod settings;
pub(super) mod spelling;
pub(crate) mod tasks;
pub(super) mod text;
pub(in crate::command) mod variables;
pub mod verbs;
pub(crate) mod wrappers;

/// Programs, or verbs of programs, that take the same words.
pub struct CommandTable {
    /// The program and, where it has them, the verb: `git diff`.
    pub names: &'static [&'static str],
    /// Its options, in two lists where verbs share one.
    pub options: [&'static str; 2],
    /// What its other words are.
    pub operands: OperandKind,
    /// What running it means.
    pub effect: ProgramEffect,
}

/// What the words of a command that are not options are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// There must be none.
    None,
    /// Text without a meaning for files; options are not looked for either.
    Words,
    /// Text without a meaning for files.
    Text,
    /// Names, or files that are read, that start with a letter, a digit, `.` or `_`.
    Plain,
    /// Tasks of a build that the repository defines.
    Tasks,
    /// Files and folders that are read.
    Paths,
    /// As `Paths`; without one, the folder the command runs in.
    PathsOrHere,
    /// One file that is read; a second would be written.
    OnePath,
    /// A pattern or program, unless an option gave it, then files; without one, the folder the
    /// command runs in or its input.
    PatternThenPaths(&'static [&'static str]),
    /// Revisions, `REVISION:PATH`, or paths.
    Revisions,
    /// None, but patterns of what is shown under one of these options.
    PatternsUnder(&'static [&'static str]),
    /// None but these.
    Only(&'static [&'static str]),
    /// Names of tests or packages that may be paths.
    Targets,
    /// Files and folders that are made, changed or removed.
    Edited,
    /// What they become, then files and folders that are changed.
    ChangeThenEdited,
    /// Files and folders that are read, and written under one of these options.
    EditedWith(&'static [&'static str]),
    /// Files and folders that are written, and only read under one of these options.
    EditedWithout(&'static [&'static str]),
    /// As `EditedWith`; without one, all that lies in the folder the command runs in.
    EditedHereWith(&'static [&'static str]),
    /// As `EditedWithout`; without one, all that lies in the folder the command runs in.
    EditedHereWithout(&'static [&'static str]),
    /// First a program in a folder of the repository, or a file with one of these endings; what is
    /// behind it is for that program.
    Program(&'static [&'static str]),
    /// There must be none, and one of these options.
    OnlyWith(&'static [&'static str]),
    /// Keys or variables whose names do not say that they hold a secret; at least one.
    HarmlessKeys,
    /// Files that are read, and one of these options.
    PathsUnder(&'static [&'static str]),
    /// A revision or none, `--`, then files that become what they were in it.
    RevisionThenEdited,
    /// Nothing but a format, which starts with `+`.
    Format,
    /// Files that are read, and last where they go.
    Copied,
    /// Sources and objects of a compiler, which writes beside where it runs unless an option says
    /// where.
    Compiled,
    /// Folders of CMake, or targets to build in one.
    Configured,
}

/// What running a program means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEffect {
    /// It only reads.
    Reads,
    /// It may write, but runs nothing of the repository.
    Writes,
    /// It runs code of the repository: tests, builds, scripts.
    RunsCode,
}

const fn reads(
    names: &'static [&'static str],
    operands: OperandKind,
    options: &'static str,
) -> CommandTable {
    CommandTable { names, options: [options, ""], operands, effect: ProgramEffect::Reads }
}

const fn writes(
    names: &'static [&'static str],
    operands: OperandKind,
    options: &'static str,
) -> CommandTable {
    CommandTable { names, options: [options, ""], operands, effect: ProgramEffect::Writes }
}

const fn runs(
    names: &'static [&'static str],
    operands: OperandKind,
    options: &'static str,
) -> CommandTable {
    CommandTable { names, options: [options, ""], operands, effect: ProgramEffect::RunsCode }
}
