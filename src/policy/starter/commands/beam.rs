//! Commands of projects in Elixir and Erlang.

use crate::starter::commands::{RepositoryTools, is_top, listed};
use crate::starter::scan::is_plain;

/// Tasks of Mix that look, build, check and format.
const MIX: &str = "\
    mix format:*, mix compile:*, mix credo:*, mix dialyzer:*, mix deps:*, mix deps.tree:*, mix \
    app.tree:*, mix xref:*, mix help:*, mix docs:*, mix clean:*, mix phx.routes:*, mix \
    ecto.migrations:*, mix coveralls:*, mix coveralls.detail:*, mix coveralls.html:*, mix \
    sobelow:*, mix run, mix --version";
/// Folders of scripts that show or measure something.
const SCRIPTS: &[&str] = &["examples/", "bench/", "scripts/"];
/// Most scripts with lines of their own.
const MOST: usize = 4;

pub(super) fn beam(found: &mut RepositoryTools<'_>) {
    if let Some(manifest) = found.named("mix.exs") {
        let why = manifest.to_string();
        found.add("mix test:*", is_top(manifest), &why);
        found.add_all(listed(MIX), &why);
        let scan = found.scan;
        let files = scan.files.iter().filter(|path| is_plain(path.as_str()));
        let scripts = files.map(|path| path.as_str()).filter(|path| {
            path.ends_with(".exs") && SCRIPTS.iter().any(|folder| path.starts_with(folder))
        });
        // With an option before it, Mix would run what stands on the command line.
        for script in scripts.take(MOST) {
            found.add(&format!("mix run {script}:*"), false, "a script of the repository");
        }
    }
    if let Some(manifest) = found.named("rebar.config") {
        found.add_all(
            listed(
                "rebar3 eunit:*, rebar3 ct:*, rebar3 proper:*, rebar3 compile:*, rebar3 xref:*, \
                 rebar3 dialyzer:*, rebar3 fmt:*, rebar3 lint:*, rebar3 tree:*, rebar3 version",
            ),
            &manifest.to_string(),
        );
    }
}
