//! Verbs of tool chains that look, build, test, format and check, each beside a neighbour that does
//! more.

use super::check;

#[test]
fn modules_of_the_repository_run_as_their_files_do() {
    let project = "[project.scripts]\nacme = \"acme.entry:main\"\n[tool.pytest.ini_options]\n";
    check(
        &[
            ("pyproject.toml", project),
            ("src/acme/__init__.py", ""),
            ("src/acme/__main__.py", ""),
            ("src/acme/cli.py", ""),
            ("src/acme/entry.py", ""),
            ("src/acme/parser.py", ""),
            ("src/http/cli.py", ""),
        ],
        &[
            "command(python -m acme)",
            "command(python -m acme.cli 'a b')",
            "command(python3 -m acme.entry)",
            "command(cd src && python -m acme.cli x)",
            "command(python -Wd -m unittest tests.test_parser -v)",
            "command(python -m json.tool a.json)",
        ],
        &[
            "command(python -m acme.parser)",
            "command(python -m acme.other)",
            "command(python -m http.cli)",
            "command(python -m http.server)",
            "command(python -m pip install x)",
            "command(python -m acme.cli /etc/passwd)",
            "command(python -c 'import acme')",
        ],
    );
}

#[test]
fn tools_of_python_that_are_set_up_look_and_check() {
    check(
        &[
            ("pyproject.toml", "[tool.ruff]\n[dependency-groups]\ndev = [\"ty>=0.1\", \"pytest\"]"),
            ("poetry.lock", ""),
            ("manage.py", ""),
            ("app/a.py", ""),
        ],
        &[
            "command(ruff rule E501)",
            "command(ty check)",
            "command(poetry check)",
            "command(poetry show --tree)",
            "command(./manage.py check)",
            "command(rm -rf .pytest_cache .ruff_cache)",
        ],
        &[
            "command(ruff server)",
            "command(ty server)",
            "command(poetry publish)",
            "command(poetry add x)",
            "command(poetry version minor)",
            "command(./manage.py runserver)",
            "command(./manage.py migrate)",
            "command(rm -rf .venv)",
        ],
    );
}

#[test]
fn programs_of_node_that_packages_bring() {
    let package = r#"{"scripts": {"test": "x"}, "devDependencies": {"vue-tsc": "1",
        "prisma": "1", "@playwright/test": "1", "turbo": "1", "stylelint": "1", "aws-cdk": "1"}}"#;
    let files = [("package.json", package), ("package-lock.json", ""), ("src/a.ts", "")];
    check(
        &files,
        &[
            "command(npm run)",
            "command(npm pack --dry-run)",
            "command(npx vue-tsc --noEmit)",
            "command(npx prisma validate)",
            "command(npx prisma generate)",
            "command(npx playwright test --list)",
            "command(npx turbo run test)",
            "command(npx cdk synth)",
            "command(./node_modules/.bin/stylelint src)",
        ],
        &[
            "command(npm pack)",
            "command(npm publish)",
            "command(npx prisma migrate deploy)",
            "command(npx prisma db push)",
            "command(npx playwright install)",
            "command(npx playwright show-report)",
            "command(npx turbo run deploy)",
            "command(npx turbo run test deploy)",
            "command(npx cdk synth --app curl)",
            "command(npx cdk deploy)",
            "command(npx oxlint)",
        ],
    );
}

#[test]
fn verbs_of_compiled_languages() {
    check(
        &[("Cargo.toml", "[package]"), ("src/lib.rs", "")],
        &["command(cargo verify-project)", "command(cargo read-manifest)", "command(cargo help)"],
        &["command(cargo publish --dry-run)", "command(cargo install x)", "command(cargo xtask)"],
    );
    check(
        &[("go.mod", ""), ("a.go", ""), (".golangci.yml", "")],
        &["command(go mod edit -json)", "command(golangci-lint linters)"],
        &["command(go mod edit -require=x@v1)", "command(golangci-lint cache clean)"],
    );
    check(
        &[("A.sln", ""), ("src/A/A.csproj", ""), ("src/A/A.cs", "")],
        &[
            "command(dotnet clean)",
            "command(dotnet --list-sdks)",
            "command(dotnet sln list)",
            "command(dotnet list package)",
        ],
        &[
            "command(dotnet nuget push x)",
            "command(dotnet tool install x)",
            "command(dotnet add package x)",
            "command(dotnet publish)",
            "command(dotnet list ../x package)",
        ],
    );
    check(
        &[("Package.swift", ""), ("Sources/A/A.swift", ""), (".swiftformat", "")],
        &[
            "command(swift build -c release)",
            "command(swift test --filter A)",
            "command(swift package describe)",
            "command(swiftformat --lint Sources)",
        ],
        &["command(swift package update)", "command(swift package init)", "command(swiftlint)"],
    );
    check(
        &[("pubspec.yaml", "name: a"), ("lib/a.dart", "")],
        &[
            "command(dart test test/a_test.dart -n a)",
            "command(dart analyze --fatal-infos)",
            "command(dart format --output=none .)",
            "command(dart run bin/a.dart x)",
        ],
        &[
            "command(dart pub get)",
            "command(dart pub publish)",
            "command(dart pub global activate x)",
            "command(flutter test)",
        ],
    );
}

#[test]
fn verbs_of_scripting_languages() {
    let composer = r#"{"scripts": {"test": "x", "deploy": "y"}}"#;
    check(
        &[("composer.json", composer), ("artisan", ""), ("src/a.php", "")],
        &[
            "command(composer run test)",
            "command(composer run-script test)",
            "command(composer dump-autoload)",
            "command(php -m)",
            "command(php artisan route:list)",
            "command(./artisan test --filter a)",
        ],
        &[
            "command(composer run deploy)",
            "command(composer require x)",
            "command(php -r x)",
            "command(php artisan migrate)",
            "command(./artisan tinker)",
        ],
    );
    check(
        &[
            ("Gemfile", "gem 'rails'\ngem 'brakeman'\n"),
            ("config/application.rb", ""),
            ("bin/rails", ""),
            ("app/a.rb", ""),
        ],
        &[
            "command(bin/rails test test/a_test.rb:3)",
            "command(bin/rails routes)",
            "command(bin/rails db:migrate:status)",
            "command(bundle exec rails test)",
            "command(bundle exec brakeman -q)",
        ],
        &[
            "command(bin/rails db:drop)",
            "command(bin/rails server)",
            "command(bin/rails runner x)",
            "command(bundle exec rails console)",
            "command(bundle exec reek)",
        ],
    );
    check(
        &[("mix.exs", ""), ("lib/a.ex", ""), ("bench/a.exs", "")],
        &["command(mix help)", "command(mix xref graph)", "command(mix run bench/a.exs)"],
        &["command(mix run -e x)", "command(mix deps.get)", "command(mix hex.publish)"],
    );
}

#[test]
fn what_describes_machines_is_checked_and_nothing_is_started() {
    check(
        &[
            ("main.tf", ""),
            ("charts/acme/Chart.yaml", ""),
            ("deploy/kustomization.yaml", ""),
            ("docker-compose.yml", ""),
            ("Dockerfile", ""),
            (".yamllint", ""),
            (".github/workflows/ci.yml", "on: push\njobs: {}\n"),
        ],
        &[
            "command(terraform fmt -check)",
            "command(terraform validate)",
            "command(helm lint charts/acme)",
            "command(helm template charts/acme)",
            "command(kubectl kustomize deploy)",
            "command(docker compose config -q)",
            "command(hadolint Dockerfile)",
            "command(yamllint .github/workflows/ci.yml)",
            "command(actionlint)",
        ],
        &[
            "command(terraform apply)",
            "command(terraform init)",
            "command(tofu fmt)",
            "command(helm template charts/acme --post-renderer ./x)",
            "command(helm install acme charts/acme)",
            "command(kubectl kustomize other)",
            "command(kubectl apply -k deploy)",
            "command(docker compose up)",
            "command(docker compose config --output .github/x.yml)",
            "command(docker build .)",
        ],
    );
}

#[test]
fn scripts_and_tasks_of_the_repository_run_by_their_names() {
    let tasks = "version: 3\ntasks:\n  build:\n    cmds: [x]\n  deploy:\n    cmds: [y]\n";
    check(
        &[
            ("scripts/test.sh", ""),
            ("scripts/gen.sh", ""),
            ("scripts/deploy.sh", ""),
            ("scripts/setup.sh", ""),
            ("script/lint", ""),
            ("justfile", "lint:\n  x\ndeploy:\n  y\n"),
            ("Taskfile.yml", tasks),
        ],
        &[
            "command(./scripts/test.sh --fast)",
            "command(scripts/gen.sh)",
            "command(script/lint src)",
            "command(just lint)",
            "command(just --list)",
            "command(task build)",
            "command(task --list)",
        ],
        &[
            "command(scripts/gen.sh x)",
            "command(./scripts/deploy.sh)",
            "command(./scripts/setup.sh)",
            "command(./scripts/other.sh)",
            "command(just deploy)",
            "command(just lint deploy)",
            "command(task deploy)",
            "command(task build deploy)",
        ],
    );
}
