//! `Launcher`: a program that starts another one, and how its command line is read.

/// What a program does besides starting another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrapperKind {
    /// Nothing: what is started decides, where a rule names the wrapper.
    Plain,
    /// It prepares an environment of the repository first: a rule has to name it too.
    Runner,
    /// It starts modules of Python: a rule has to name it too, unless it spells out what is
    /// started.
    Module,
}

/// What stands between the options and the inner command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstWord {
    Nothing,
    /// So many words.
    Words(usize),
    Duration,
    Variables,
    /// `-m`, behind which a module is named.
    ModuleOption,
    /// Nothing, or anything up to one of these words.
    Mark(&'static str),
}

/// What the inner command is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InnerForm {
    /// Words.
    Words,
    /// Words that a shell is given as its own, behind the name of a user.
    WordsOfShell,
    /// Words that a shell is given as one script.
    Script,
    /// A script in each word.
    Scripts,
}

/// A program that starts another one.
pub(crate) struct Launcher {
    /// The program and, where it has them, the verbs.
    pub(crate) name: &'static str,
    /// What it is where a rule may allow it; `None` where only rules that refuse look behind it.
    pub(crate) allowed: Option<WrapperKind>,
    /// Options before the inner command that a rule may allow, in the notation of `tables`.
    pub(crate) options: &'static str,
    /// Other options before it.
    pub(crate) other: &'static str,
    pub(crate) first: FirstWord,
    pub(crate) form: InnerForm,
    /// Options whose value is a script.
    pub(crate) scripts: &'static str,
}

/// Options of `python`.
pub(super) const PYTHON: &str = "-X= -W= -B -E -I -O -OO -P -b -bb -d -q -s -S -u -v";
/// Other options of `python`.
const PYTHON_OTHER: &str = "-c= -h -i -V -VV --help --version --check-hash-based-pycs=";

const DOCKER: &str = "-a= -c= -e= -h= -l= -m= -p= -u= -v= -w= --name= --env= --env-file= --volume= \
                      --workdir= --user= --publish= --network= --entrypoint= --mount= --platform= \
                      --label= --memory= --cpus= --hostname= --pull= --tmpfs= --shm-size= \
                      --device= --cap-add= --cap-drop= --security-opt= --add-host= --index= -d -i \
                      -t -P -T --detach --interactive --tty --rm --init --privileged --read-only";

const SWITCH_USER: &str = "-c= -g= -G= -s= -w= --command= --session-command= --group= \
                           --supp-group= --shell= --whitelist-environment= -l -m -p -P -f --login \
                           --pty --fast --preserve-environment";

/// One that is nothing but what it starts.
pub(super) const fn wrapper(
    name: &'static str,
    options: &'static str,
    other: &'static str,
) -> Launcher {
    launcher(name, Some(WrapperKind::Plain), [options, other])
}

/// One that prepares an environment for what it starts.
pub(super) const fn runner(
    name: &'static str,
    options: &'static str,
    other: &'static str,
) -> Launcher {
    launcher(name, Some(WrapperKind::Runner), [options, other])
}

/// One that starts modules of Python, also where a rule allows it.
pub(super) const fn python(name: &'static str) -> Launcher {
    let launcher = launcher(name, Some(WrapperKind::Module), [PYTHON, PYTHON_OTHER]);
    Launcher { first: FirstWord::ModuleOption, ..launcher }
}

/// One that only rules that refuse look behind, with the command behind its options.
pub(super) const fn after_options(name: &'static str, options: &'static str) -> Launcher {
    launcher(name, None, ["", options])
}

/// As [`after_options`], with one word between them and the command.
pub(super) const fn after_word(name: &'static str, options: &'static str) -> Launcher {
    Launcher { first: FirstWord::Words(1), ..after_options(name, options) }
}

/// As [`after_options`], with the command behind `--` if it has one.
pub(super) const fn after_dashes(name: &'static str, options: &'static str) -> Launcher {
    Launcher { first: FirstWord::Mark("--"), ..after_options(name, options) }
}

/// As [`after_options`], for modules of Python.
pub(super) const fn python_like(name: &'static str, options: &'static str) -> Launcher {
    Launcher { first: FirstWord::ModuleOption, ..after_options(name, options) }
}

pub(super) const fn mise(name: &'static str) -> Launcher {
    let options = "-C= -j= -c= --command= --cd= --jobs= -q -v -y";
    Launcher { scripts: "-c --command", ..after_dashes(name, options) }
}

pub(super) const fn tmux(name: &'static str) -> Launcher {
    let options = "-c= -e= -F= -n= -s= -t= -x= -y= -A -b -d -D -E -h -k -P -v";
    Launcher { form: InnerForm::Scripts, ..after_options(name, options) }
}

/// One whose options may stand behind the user's name too. What follows that name is for a shell.
pub(super) const fn switch_user(name: &'static str) -> Launcher {
    Launcher {
        first: FirstWord::Mark("--"),
        form: InnerForm::WordsOfShell,
        scripts: "-c --command --session-command",
        ..after_options(name, SWITCH_USER)
    }
}

pub(super) const fn container(name: &'static str) -> Launcher {
    after_word(name, DOCKER)
}

pub(super) const fn launcher(
    name: &'static str,
    allowed: Option<WrapperKind>,
    [options, other]: [&'static str; 2],
) -> Launcher {
    let (first, form, scripts) = (FirstWord::Nothing, InnerForm::Words, "");
    Launcher { name, allowed, options, other, first, form, scripts }
}
