//! What a maintainer can do about something that was not published.
//!
//! In: what the forge or git said. Out: the setting's exact name and where it is. The words of the
//! forge pick the advice and nothing else: what the run ends as does not depend on them.

/// Words of a refusal, in small letters, and what helps. The first that fits is taken.
const CURES: &[(&[&str], &str)] = &[
    // POST /pulls, where a repository or its organisation forbids it.
    (
        &["not permitted to create or approve pull requests"],
        "tick \"Allow GitHub Actions to create and approve pull requests\" under Settings → Actions \
         → General → Workflow permissions; where it cannot be ticked, an owner of the organisation \
         ticks it in the organisation's settings first",
    ),
    (
        &["archived"],
        "the repository is archived and takes nothing: \"Unarchive this repository\" is under \
         Settings → General → Danger Zone",
    ),
    // GH013 with the rule "Require signed commits", and GH006 with the same protection.
    (
        &["must have verified signatures", "commits must be signed"],
        "the rule \"Require signed commits\" asks for signatures: say `publish: { sign: api }` in \
         the policy, so that GitHub makes and signs the commits",
    ),
    (
        &["signed no commit of this token"],
        "use the workflow's own token or an app's as `github-token`, or say `publish: { sign: git }` \
         in the policy",
    ),
    (
        &["without `workflows` permission", "without `workflow` scope"],
        "no workflow's own token may change files below `.github/workflows`: give the action a \
         `github-token` of an app with the permission \"Workflows\"",
    ),
    (
        &["push cannot contain secrets"],
        "push protection found a secret in the commit: take it out, and see Settings → Advanced \
         Security → Push protection",
    ),
    (
        &["gh013", "repository rule violations"],
        "a ruleset refuses the branch: under Settings → Rules → Rulesets, add the app to the bypass \
         list or leave the branches of `publish.branch` out of the ruleset's targets",
    ),
    (
        &["gh006", "protected branch"],
        "the branch is protected: under Settings → Branches, leave the branches of \
         `publish.branch` (`locum/**`) out of the rule, or let the app push in \"Restrict who can \
         push to matching branches\"; for a branch of a person, say \
         `publish: { as: pull-request }` in the policy",
    ),
    (
        &["draft pull requests are not supported"],
        "drafts need a plan that has them: say `publish: { draft: false }` in the policy; a change \
         whose checks fail stays a diff then",
    ),
    (&["issue is locked", "conversation is locked"], "unlock the conversation, then ask again"),
    (
        &["issues are disabled", "issues has been disabled"],
        "tick \"Issues\" under Settings → General → Features",
    ),
    (
        &["resource not accessible", "not allowed to write", ": 403", ": 401"],
        "give the job `permissions: { contents: write, issues: write, pull-requests: write }`, or the \
         action a `github-token` that may write; a token's owner may have to authorise it for the \
         organisation's single sign-on",
    ),
    (
        &["conflicts are not resolved in"],
        "ask again and say which side is right, or resolve them on the branch and push that",
    ),
    (
        &["moved on while the run worked, and the change conflicts"],
        "ask again, and the run starts from the branch as it is now; `rebase` resolves conflicts \
         with the base",
    ),
    (
        &["was merged or closed while the run", "is gone by now, and is not recreated"],
        "restore the branch and reopen the pull request, then ask again; or ask on an open issue \
         or pull request",
    ),
    (
        &[
            "does not build on",
            "holds something else",
            "is not what was there before",
            "was closed while the run",
        ],
        "ask again: the run starts from what is there now",
    ),
    (
        &["`publish(issue)`"],
        "list `issue` in the policy's `publish.allow`, or ask on an issue or pull request",
    ),
    (
        &["holds a secret"],
        "no secret is published: ask again, and say where the value comes from instead, such as an \
         environment variable",
    ),
    (
        &["of the answer: "],
        "what answered is not GitHub's API as Locum knows it: look at `GITHUB_API_URL` and at any \
         proxy before it; what was asked for may be done all the same",
    ),
    (
        &["asks to wait", "failed at", "cannot reach", "timed out", "hung up", "could not resolve"],
        "GitHub did not take it now, see https://www.githubstatus.com: ask again later",
    ),
];

/// Returns what helps against what was said; `None` where that is not known.
pub(super) fn of(said: &str) -> Option<String> {
    let said = said.to_ascii_lowercase();
    let fits = |signs: &&[&str]| signs.iter().any(|sign| said.contains(sign));
    CURES.iter().find(|(signs, _)| fits(signs)).map(|(_, cure)| (*cure).to_owned())
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn every_common_refusal_has_its_setting() {
        for (said, setting) in [
            (
                "github refused POST /repos/a/b/pulls: 403 GitHub Actions is not permitted to create \
                 or approve pull requests.",
                "Allow GitHub Actions to create and approve pull requests",
            ),
            ("403 Repository was archived so is read-only.", "Unarchive this repository"),
            (
                "the remote refused the push: pre-receive hook declined: error: GH006: Protected \
                 branch update failed for refs/heads/main.",
                "Restrict who can push to matching branches",
            ),
            ("error: GH013: Repository rule violations found for refs/heads/x.", "Rulesets"),
            ("error: GH013: ... - Commits must have verified signatures.", "sign: api"),
            ("it signed no commit of this token (unsigned)", "sign: git"),
            ("403 Resource not accessible by integration", "pull-requests: write"),
            (
                "refusing to allow a GitHub App to create or update workflow \
                 `.github/workflows/x.yml` without `workflows` permission",
                "Workflows",
            ),
            ("github failed at PATCH /x: 502 Bad Gateway", "ask again later"),
            ("github failed at POST /x: cannot read `.` of the answer: EOF", "GITHUB_API_URL"),
            ("github asks to wait 60 s before POST /x", "ask again later"),
            (
                "pull request #8 was merged or closed while the run worked, so nothing is pushed",
                "reopen the pull request",
            ),
            (
                "pull request #8 was closed while the run worked, so nothing is pushed to it",
                "the run starts from what is there now",
            ),
        ] {
            assert!(of(said).is_some_and(|cure| cure.contains(setting)), "{said}: {:?}", of(said));
        }
        assert_eq!(of("something else"), None);
    }
}
