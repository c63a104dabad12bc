//! What a starter shares with the built-in policy is the same there.

use pretty_assertions::assert_eq;

use super::{scan, starter};
use crate::Policy;
use crate::intent::Facts;
use crate::query::parse_intent;
use crate::rule::LocatedPattern;
use crate::verdict::Decision;

#[test]
fn a_starter_and_the_built_in_policy_look_change_and_refuse_alike() {
    let built_in = Policy::builtin();
    let starter = starter(&scan(&[("src/a.rs", "")])).unwrap();
    let starter = Policy::parse(&starter, "policy.yml").unwrap();
    let rules = |policy: &Policy, decision: Decision| -> Vec<(Vec<String>, Vec<String>)> {
        let rules = policy.judge.rules().iter().filter(|rule| rule.decision == decision);
        let texts = |all: &[LocatedPattern]| all.iter().map(|one| one.text.clone()).collect();
        rules.map(|rule| (texts(&rule.patterns), texts(&rule.except))).collect()
    };
    assert_eq!(rules(&built_in, Decision::Deny), rules(&starter, Decision::Deny));
    assert_eq!(rules(&starter, Decision::Deny).len(), 10);
    let shared = rules(&starter, Decision::Allow);
    for program in ["command(ls:*)", "command(mkdir:*)"] {
        let has = |(patterns, _): &&(Vec<String>, Vec<String>)| {
            patterns.first().is_some_and(|first| first == program)
        };
        let found = shared.iter().find(has);
        assert!(found.is_some(), "{program}");
        assert_eq!(rules(&built_in, Decision::Allow).iter().find(has), found, "{program}");
    }
    for (command, is_refused) in [
        ("gh pr list --json title", false),
        ("gh -R o/r pr view 5", false),
        ("gh pr view 5 -R o/r", false),
        ("gh run view 5 --log", false),
        ("glab mr diff 5", false),
        ("hub ci-status", false),
        ("gh pr merge 5", true),
        ("gh pr create", true),
        ("gh -R o/r pr merge 5", true),
        ("gh --unheard pr list", true),
        ("gh api repos/o/r", true),
        ("gh auth token", true),
        ("gh secret list", true),
        ("gh alias list", true),
        ("gh extension list", true),
        ("gh repo delete o/r", true),
        ("gh release download v1", true),
        ("glab mr merge 5", true),
        ("hub pr checkout 5", true),
    ] {
        for policy in [&built_in, &starter] {
            let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
            let intent = parse_intent(&format!("command({command})")).unwrap();
            let verdict = policy.decide(&intent, &facts);
            assert_eq!(verdict.rule().is_some(), is_refused, "{command}: {}", verdict.reason());
        }
    }
    for (command, reason) in [
        ("gh auth token", "credentials are for people"),
        ("gh -R o/r secret list", "credentials are for people"),
        ("glab auth status", "credentials are for people"),
        ("gh pr create", "publishing is locum's part"),
        ("gh authors", "publishing is locum's part"),
    ] {
        let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
        let intent = parse_intent(&format!("command({command})")).unwrap();
        for policy in [&built_in, &starter] {
            let verdict = policy.decide(&intent, &facts);
            assert!(verdict.reason().contains(reason), "{command}: {}", verdict.reason());
        }
    }
}

/// Commands that a rule refuses by word, each group beside neighbours that none does.
const REFUSED: &[(&[&str], &[&str])] = &[
    (
        &["git subtree push --prefix docs origin pages", "git send-email a.patch", "git push"],
        &["git subtree list", "git format-patch -1", "git stash push"],
    ),
    (
        &[
            "npm pub",
            "npm run publish",
            "npm dist-tag add a@1 latest",
            "npm deprecate a x",
            "npm unpublish a",
            "npm access public a",
            "npx changeset publish",
            "npx semantic-release --no-ci",
            "npx lerna publish from-git",
            "pnpm exec changeset publish",
            "pnpm -r publish",
            "yarn npm publish",
        ],
        &[
            "npm pack",
            "npm run build",
            "npm dist-tag ls a",
            "npx changeset status",
            "npx lerna run test",
            "pnpm -r build",
        ],
    ),
    (
        &[
            "uvx twine upload dist/a",
            "pipx run twine upload dist/a",
            "uv run twine upload dist/a",
            "python3 -m twine upload dist/a",
            "poetry run twine upload dist/a",
            "python setup.py sdist bdist_wheel upload -r pypi",
            "maturin publish",
            "cargo release patch --execute",
            "bundle exec rake build release",
            "bundle exec rake 'release[origin]'",
            "ko publish ./cmd/a",
            "conan upload a/1",
            "make deploy",
            "flutter pub publish",
            "deno publish --dry-run",
            "cabal upload a.tar.gz",
            "stack upload .",
            "sbt publish",
        ],
        &[
            "uvx ruff check",
            "pipx run black .",
            "python -m build",
            "python setup.py sdist",
            "maturin build",
            "cargo build --release",
            "bundle exec rake build",
            "bundle exec rake release_notes",
            "conan install .",
            "make depend",
            "flutter pub deps",
            "deno test",
            "cabal check",
            "stack build",
            "sbt publishLocal",
        ],
    ),
    (
        &[
            "mvn -B deploy",
            "mvn clean deploy",
            "./mvnw -B clean deploy -DskipTests",
            "mvn release:prepare",
            "mvn jib:build",
            "./gradlew clean publish",
            "gradle publishToMavenCentral",
            "./gradlew publishToSonatype",
            "./gradlew build publishAllPublicationsToMavenCentralRepository",
            "./gradlew publishToMavenLocal publish",
            "./gradlew uploadArchives",
            "mvn -Prelease clean verify deploy -DskipTests",
            "mvnd deploy",
            "./gradlew --no-daemon build :core:publish",
        ],
        &[
            "mvn -B verify",
            "mvn clean package",
            "./gradlew clean build",
            "gradle publishToMavenLocal",
            "./gradlew jibBuildTar",
            "mvn -pl core dependency:tree",
            "./gradlew :core:build",
        ],
    ),
    (
        &[
            "socat - TCP:a.example:80",
            "openssl s_client -connect a.example:443",
            "ftp a.example",
            "sftp a.example",
            "telnet a.example",
            "dig +short a.example",
            "nslookup a.example",
            "gsutil cp a gs://b/",
            "rclone copy docs b:",
            "s3cmd put a s3://b",
        ],
        &["openssl x509 -in a.crt -text", "openssl dgst -sha256 a", "rsync -a docs/ /tmp/d"],
    ),
    (
        &[
            "bq query x",
            "tofu apply",
            "terraform -chdir=infra apply",
            "pulumi up",
            "cdk deploy",
            "npx cdk deploy",
            "sam deploy",
            "serverless deploy",
            "flyctl deploy",
            "fly deploy",
            "heroku config",
            "npx vercel --prod",
            "netlify deploy",
            "wrangler deploy",
            "firebase deploy",
            "supabase db push",
            "railway up",
            "doctl apps list",
            "ansible all -m ping",
            "ansible-playbook -i hosts site.yml",
            "eksctl create cluster",
            "stripe charges create",
            "helm upgrade a .",
        ],
        &[
            "terraform fmt -check",
            "terraform validate",
            "tofu fmt",
            "helm lint .",
            "helm template .",
            "cdk synth",
            "sam validate",
            "wrangler types",
            "ansible-lint",
        ],
    ),
    (
        &[
            "docker run --rm alpine sh",
            "docker --context x exec a sh",
            "docker compose up -d",
            "docker buildx build --push .",
            "docker build --push .",
            "docker image push a",
            "docker push a",
            "docker login",
            "podman push a b",
            "podman run a",
            "skopeo copy dir:/tmp/a docker://b",
            "crane push a b",
            "buildah push a",
        ],
        &[
            "docker build -t a .",
            "docker images",
            "docker --version",
            "docker compose config",
            "podman build .",
            "crane digest a",
        ],
    ),
    (
        &[
            "crontab -e",
            "at now + 5 minutes",
            "systemctl stop a",
            "mkfs.ext4 /dev/sda1",
            "nsenter -t 1 -m sh",
            "mount -o remount,rw /",
            "insmod a.ko",
            "useradd a",
            "visudo",
            "chroot /host sh",
            "git config --global user.email a@example.com",
            "git config --system --add safe.directory a",
            "git config core.hooksPath hooks",
        ],
        &[
            "git config --global --get user.email",
            "git config --get user.email",
            "git config core.autocrlf false",
            "attr -l a",
            "findmnt",
            "id",
        ],
    ),
    (
        &[
            "pass show a",
            "op read op://a/b",
            "vault kv get a",
            "security find-generic-password -s a",
            "keyring get a b",
            "python -m keyring get a b",
            "secret-tool lookup a b",
            "gh auth token",
            "npm token list",
            "git credential fill",
            "git config credential.helper store",
            "ansible-vault view a.yml",
            "composer config -g github-oauth.github.com a",
            "poetry config pypi-token.pypi a",
        ],
        &["pass", "composer config --list", "poetry config --list", "git config user.name a"],
    ),
    (
        &[
            "claude -p x",
            "npx codex exec x",
            "gemini -p x",
            "aider a.py",
            "opencode run x",
            "copilot -p x",
            "locum run x",
        ],
        &["locum policy check", "goose --version"],
    ),
];

#[test]
fn well_known_ways_out_are_refused_by_word_and_their_neighbours_are_not() {
    let policy = Policy::builtin();
    let facts =
        Facts { mode: "code".to_owned(), sandboxed: true, contained: true, ..Facts::default() };
    for (refused, others) in REFUSED {
        let groups = [(refused, true), (others, false)];
        for (command, is_refused) in
            groups.into_iter().flat_map(|(group, is)| group.iter().map(move |one| (one, is)))
        {
            for start in ["", "timeout 60 ", "cd src && "] {
                let script = format!("{start}{command}");
                let intent = parse_intent(&format!("command({script})")).unwrap();
                let verdict = policy.decide(&intent, &facts);
                let expected = if is_refused { Decision::Deny } else { Decision::Allow };
                assert_eq!(verdict.decision, expected, "{script}: {}", verdict.reason());
            }
        }
    }
}
