//! `texts`: what leaves must have the properties each case names. The filter is called as the
//! publisher calls it: by destination.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fancy_regex::{Captures, Regex};
use locum_agent::report::actions;
use locum_base::secret::{Redactor, Secret};
use locum_forge::sanitise::{self, TextRules};
use rustix::time::{ClockId, clock_gettime};

use crate::field::Field;
use crate::{Judged, same_names};

/// Processor time a text may take that is told to take under a second, in a build without
/// optimisation.
const LONGEST: Duration = Duration::from_secs(10);

/// Where a text goes.
#[derive(Clone, Copy)]
enum TextDestination {
    Comment,
    Title,
    CommitMessage,
    Log,
    Artifact,
    Output,
    Patch,
    Branch,
}

const DESTINATIONS: &[(&str, TextDestination)] = &[
    ("comment", TextDestination::Comment),
    ("title", TextDestination::Title),
    ("commit_message", TextDestination::CommitMessage),
    ("actions_log", TextDestination::Log),
    ("artifact", TextDestination::Artifact),
    ("output_file", TextDestination::Output),
    ("patch", TextDestination::Patch),
    ("branch_name", TextDestination::Branch),
];

/// What a note asks for beside what the lists of a case say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extra {
    Fast,
    Bounded,
    Unchanged,
}

const NOTES: &[(&str, Extra)] = &[
    ("under 1 s", Extra::Fast),
    ("valid UTF-8 and len <= 65536", Extra::Bounded),
    ("the value must come back unchanged and set no second key", Extra::Unchanged),
];

pub(crate) fn judge(case: &Field<'_>, file: &Field<'_>) -> Result<Judged, String> {
    let fakes = Fakes::read(file)?;
    let options = Options::read(case, file)?;
    let redactor = Redactor::new([Secret::new(fakes.named("KNOWN")?)]);
    options.breaks_own_mention(&redactor)?;
    let destination = case.at("dest").word(DESTINATIONS)?;
    let extra = case.at("note").given().map(|note| note.word(NOTES)).transpose()?;
    let sent = fakes.expand(case.at("text").text()?)?;
    let begin = processor_time();
    let published = publish(destination, &options, &sent, &redactor)?;
    let took = processor_time() - begin;
    let refused = case
        .at("expect")
        .given()
        .map(|expect| expect.word(&[("refuse", ())]))
        .transpose()?
        .is_some();
    let mut problems = Vec::new();
    match &published {
        Some(text) => problems.extend(refused.then(|| format!("not refused: {text}"))),
        None => problems.extend((!refused).then(|| "refused".to_owned())),
    }
    // What is refused is not there at all.
    let text = published.unwrap_or_default();
    let mut views = vec![text.clone()];
    if case.at("post_normalise").given().map_or(Ok(false), |given| given.flag())? {
        let decoded = decode(&text)?;
        views.extend([decoded.split_whitespace().collect(), decoded]);
    }
    for literal in case.at("absent_literals").texts()? {
        let literal = fakes.expand(literal)?;
        problems.extend(
            views
                .iter()
                .filter(|view| view.contains(&literal))
                .map(|view| format!("`{literal}` is still in `{view}`")),
        );
    }
    for pattern in case.at("absent").texts()? {
        problems.extend(finds(pattern, &text)?.then(|| format!("{pattern} matches `{text}`")));
    }
    let outside_patterns = case.at("absent_outside_code").texts()?;
    let outside = if outside_patterns.is_empty() { String::new() } else { outside_code(&text)? };
    for pattern in outside_patterns {
        problems
            .extend(finds(pattern, &outside)?.then(|| format!("{pattern} matches `{outside}`")));
    }
    for part in case.at("present").texts()? {
        let part = fakes.expand(part)?;
        problems.extend(
            (!refused && !text.contains(&part)).then(|| format!("`{part}` is lost from `{text}`")),
        );
    }
    problems.extend(match extra {
        Some(Extra::Fast) if took > LONGEST => Some(format!("took {took:?}")),
        Some(Extra::Bounded) if text.chars().count() > sanitise::BODY_LIMIT_CHARS => {
            Some("too long".to_owned())
        }
        Some(Extra::Unchanged) if text != sent => Some(format!("changed to `{text}`")),
        _ => None,
    });
    Ok(if problems.is_empty() { Judged::Pass } else { Judged::Fail(problems.join("; ")) })
}

/// What the publisher was told.
struct Options {
    rules: TextRules,
    bot_login: String,
    branch_prefix: String,
    default_branch: String,
}

impl Options {
    fn read(case: &Field<'_>, file: &Field<'_>) -> Result<Self, String> {
        let (own, defaults) = (case.at("options"), file.at("defaults"));
        let option = |name: &str| {
            // Both are known, whichever counts.
            let default = defaults.at(name);
            default.whole();
            own.at(name).given().unwrap_or(default)
        };
        let texts = |name: &str| {
            Ok::<_, String>(
                option(name).texts()?.into_iter().map(str::to_owned).collect::<Vec<_>>(),
            )
        };
        let text = |name: &str| Ok::<_, String>(option(name).text()?.to_owned());
        let rules = TextRules {
            mentions: texts("allow_mentions")?,
            closing: option("allow_closing").flag()?,
            hosts: texts("allowed_domains")?,
            prefix: text("trigger")?,
            markers: Vec::new(),
        };
        Ok(Self {
            rules,
            bot_login: text("bot_login")?,
            branch_prefix: text("branch_prefix")?,
            default_branch: text("default_branch")?,
        })
    }

    /// Nobody is told who publishes: a mention of oneself is one like any other.
    fn breaks_own_mention(&self, redactor: &Redactor) -> Result<(), String> {
        let mention = format!("@{}", self.bot_login);
        let published = sanitise::markdown(&format!("{mention} go on"), &self.rules, redactor);
        if published.contains(&mention) {
            Err(format!("mentions itself: {published}"))
        } else {
            Ok(())
        }
    }
}

/// Sends the text through the filter of its destination; `None` when it is refused.
fn publish(
    destination: TextDestination,
    options: &Options,
    text: &str,
    redactor: &Redactor,
) -> Result<Option<String>, String> {
    Ok(match destination {
        TextDestination::Comment => Some(sanitise::markdown(text, &options.rules, redactor)),
        TextDestination::Title => Some(sanitise::title(text, &options.rules, redactor)),
        TextDestination::CommitMessage => {
            Some(sanitise::commit_message(text, &options.rules, redactor))
        }
        TextDestination::Log => Some(sanitise::log_safe(text, redactor)),
        TextDestination::Artifact => Some(sanitise::artifact(text, redactor)),
        TextDestination::Output => match keys_of(&actions::output("result", text)).as_slice() {
            [(name, value)] if name == "result" => Some(value.clone()),
            keys => return Err(format!("the runner reads {keys:?}")),
        },
        TextDestination::Patch => sanitise::patch(text, redactor).ok().map(|()| text.to_owned()),
        TextDestination::Branch => {
            sanitise::branch_name(text, &options.branch_prefix, &options.default_branch, redactor)
                .ok()
        }
    })
}

/// Reads a file of outputs as the runner does: `name=value` or `name<<END`, lines, `END`.
fn keys_of(file: &str) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    let mut lines = file.lines();
    while let Some(line) = lines.next() {
        match (line.split_once("<<"), line.split_once('=')) {
            (Some((name, end)), _) => keys.push((
                name.to_owned(),
                lines.by_ref().take_while(|line| *line != end).collect::<Vec<_>>().join("\n"),
            )),
            (None, Some((name, value))) => keys.push((name.to_owned(), value.to_owned())),
            (None, None) => {}
        }
    }
    keys
}

/// Time this thread had a processor for; other load on the machine does not count.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("`{text}`: {error}"))
}

fn finds(wanted: &str, text: &str) -> Result<bool, String> {
    pattern(wanted)?.is_match(text).map_err(|error| format!("`{wanted}`: {error}"))
}

/// Leaves out fenced blocks and code spans, as the reference checker of the set does.
fn outside_code(text: &str) -> Result<String, String> {
    let fences = pattern(r"(?ms)^[ ]{0,3}(`{3,}|~{3,})[^\n]*\n.*?^[ ]{0,3}\1[`~]*[ \t]*$")?;
    let spans = pattern(r"(?s)(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)")?;
    Ok(spans.replace_all(&fences.replace_all(text, ""), "").into_owned())
}

/// Undoes what a reader's program undoes: invisible characters and references, of numbers and of
/// names.
fn decode(text: &str) -> Result<String, String> {
    let seen: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}'))
        .collect();
    let names =
        [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", '\u{a0}')];
    let letter = |name: &str| match name.strip_prefix('#') {
        Some(number) => {
            let hex = number.strip_prefix(['x', 'X']);
            char::from_u32(
                hex.map_or_else(|| number.parse(), |hex| u32::from_str_radix(hex, 16)).ok()?,
            )
        }
        None => names.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter),
    };
    let references = pattern(r"&(#\d+|#[xX][0-9a-fA-F]+|[a-z]+);")?;
    let decoded = references.replace_all(&seen, |found: &Captures<'_, str>| {
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        found
            .get(1)
            .and_then(|name| letter(name.as_str()))
            .map_or_else(|| whole.to_owned(), String::from)
    });
    Ok(decoded.into_owned())
}

/// What stands for secrets, by name; kept in parts so that no scanner takes it for real.
struct Fakes(BTreeMap<String, String>);

impl Fakes {
    /// Puts the fakes together and works out those that are derived from them.
    fn read(file: &Field<'_>) -> Result<Self, String> {
        let mut fakes = BTreeMap::new();
        for (name, parts) in file.at("fakes").entries()? {
            fakes.insert(name.to_owned(), parts.texts()?.concat());
        }
        let fakes = Self(fakes);
        let (token, known) = (fakes.named("GHP")?.clone(), fakes.named("KNOWN")?.clone());
        let each = |text: &str, write: &dyn Fn(char) -> String| {
            text.chars().map(write).collect::<String>()
        };
        let begin: String = token.chars().take(20).collect();
        let rest: String = token.chars().skip(20).collect();
        let letters: Vec<String> = token.chars().map(String::from).collect();
        let derived = [
            ("GHP_SPLIT_NL", format!("{begin}\n{rest}")),
            ("GHP_SPACED", letters.join(" ")),
            (
                "GHP_ZW",
                letters.chunks(4).map(<[String]>::concat).collect::<Vec<_>>().join("\u{200b}"),
            ),
            ("GHP_HTML", each(&token, &|letter| format!("&#{};", u32::from(letter)))),
            ("KNOWN_B64", STANDARD.encode(&known)),
            ("KNOWN_B64_OFFSET1", STANDARD.encode(format!("x{known}"))),
            ("KNOWN_HEX", each(&known, &|letter| format!("{:02x}", u32::from(letter)))),
            ("KNOWN_URL", each(&known, &|letter| format!("%{:02X}", u32::from(letter)))),
            ("KNOWN_REV", known.chars().rev().collect()),
            ("KNOWN_TAIL", known.chars().skip(7).collect()),
        ];
        let told = file.at("derived").entries()?;
        // How each is made is told in words.
        told.iter().for_each(|(_, how)| how.is_prose());
        same_names(
            "derived",
            derived.iter().map(|(name, _)| *name),
            told.iter().map(|(name, _)| *name),
        )?;
        let derived = derived.into_iter().map(|(name, value)| (name.to_owned(), value));
        Ok(Self(fakes.0.into_iter().chain(derived).collect()))
    }

    fn named(&self, name: &str) -> Result<&String, String> {
        self.0.get(name).ok_or_else(|| format!("there is no fake `{name}`"))
    }

    /// Puts the fakes where their names stand.
    fn expand(&self, text: &str) -> Result<String, String> {
        let full = self.0.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{{{name}}}}}"), value)
        });
        match pattern(r"\{\{([A-Z0-9_]+)\}\}")?.find(&full) {
            Ok(None) => Ok(full),
            found => Err(format!(
                "{:?} stands for nothing",
                found.ok().flatten().map(|found| found.as_str().to_owned())
            )),
        }
    }
}
