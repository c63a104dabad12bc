//! Commands that a starter refuses by word, although they would come to nothing where they are
//! contained: a model that reads why does not try again.

use std::fmt::Write as _;

use crate::starter::flow;
use crate::written::quoted;

/// Why, and the commands.
type RefusedGroup = (&'static str, &'static [&'static str]);

const GROUPS: &[RefusedGroup] = &[
    (
        "publishing is locum's part, see `publish`",
        &[
            "git push",
            "gh",
            "hub",
            "glab",
            "npm publish",
            "npm unpublish",
            "npm deprecate",
            "pnpm publish",
            "yarn publish",
            "yarn npm publish",
            "bun publish",
            "cargo publish",
            "cargo yank",
            "cargo owner",
            "gem push",
            "gem yank",
            "gem owner",
            "rake release",
            "bundle exec rake release",
            "twine",
            "python -m twine",
            "python setup.py sdist upload",
            "poetry publish",
            "uv publish",
            "flit publish",
            "hatch publish",
            "pdm publish",
            "mix hex.publish",
            "dotnet nuget push",
            "mvn deploy",
            "mvn clean deploy",
            "mvn release:perform",
            "./mvnw deploy",
            "./mvnw clean deploy",
            "./mvnw release:perform",
            "./gradlew publish",
            "gradle publish",
            "goreleaser",
            "docker push",
        ],
    ),
    (
        "commands have no network, accounts or machines to manage here",
        &[
            "curl",
            "wget",
            "ssh",
            "scp",
            "sftp",
            "nc",
            "ncat",
            "telnet",
            "aws",
            "gcloud",
            "az",
            "kubectl",
            "helm",
            "terraform",
            "sudo",
            "doas",
            "su",
            "apt",
            "apt-get",
            "systemctl",
            "service",
            "crontab",
            "mount",
            "shutdown",
            "reboot",
        ],
    ),
    (
        "credentials are for people",
        &[
            "git credential",
            "npm token",
            "npm login",
            "npm adduser",
            "cargo login",
            "gem signin",
            "docker login",
            "gpg",
        ],
    ),
];

/// Writes the rules that refuse them.
pub(super) fn rules(text: &mut String) {
    for (why, commands) in GROUPS {
        flow(text, "deny", "", commands);
        let _ = writeln!(text, "    reason: {}", quoted(why));
    }
}
