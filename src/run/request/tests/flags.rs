//! Flags of a command: where they stand, and what is said of those that do not exist.

use super::fixture;
use crate::run::request::RequestedAction;

#[test]
fn a_flag_behind_the_task_is_refused_and_unknown_words_name_known_ones() {
    let read = |body: &str| fixture(body).decide();
    for (body, why) in [
        ("/locum --mode=cod x y", "no mode `cod`; did you mean `code`? Modes: `orchestrator`, "),
        ("/locum --mode nonsense", "there is no mode `nonsense`. Modes: `orchestrator`, "),
        ("/locum --budgt=1 x y", "no flag `--budgt`; did you mean `--budget`? Flags: `--dry-run`"),
        ("/locum --model=fats x y", "profile `fats`; did you mean `fast`? Profiles: `fast`"),
        ("/locum --model=huge x y", "there is no model profile `huge`. Profiles: `fast`"),
        ("/locum code say hello --dry-run", "flag `--dry-run` stands behind the task"),
        ("/locum code say hello —dry-run", "flag `—dry-run` stands behind the task"),
        ("/locum say hello --paths=docs/**\nmore", "flag `--paths=docs/**` stands behind"),
        ("/locum say hello --budget 3", "flag `--budget` stands behind the task"),
        ("/locum --paths= code say hello", "`--paths` needs a value"),
        ("/locum --paths=, code say hello", "`--paths` needs a value"),
        ("/locum --paths=docs/**,../x code say hello", "`../x` of `--paths`: "),
    ] {
        let refused = read(body).unwrap_err();
        assert!(refused.rule == "command" && refused.why.contains(why), "{body}: {}", refused.why);
    }
    for body in [
        "/locum say what `--dry-run` does",
        "/locum explain the option --paths to me",
        "/locum say json is\nmissing --dry-run",
        "/locum say hello - and more",
    ] {
        assert_eq!(read(body).unwrap().action, RequestedAction::Run, "{body}");
    }
    for body in ["/locum —dry-run say hello", "/locum code --dry-run say hello"] {
        assert!(read(body).unwrap().flags.dry_run, "{body}");
    }
}
