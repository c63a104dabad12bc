//! Commands of projects in Dart, with Flutter or without, and in Swift.

use crate::starter::commands::{RepositoryTools, is_top, listed};

/// What Dart and its packages look, build, test, format and analyse with.
const DART: &str = "\
    dart test:*, dart analyze:*, dart format:*, dart fix --dry-run:*, dart fix --apply:*, dart \
    run:*, dart compile:*, dart doc:*, dart info, dart help:*, dart pub deps:*, dart --version";
/// The same of Flutter.
const FLUTTER: &str = "\
    flutter test:*, flutter analyze:*, flutter gen-l10n:*, flutter build bundle:*, flutter help:*, \
    flutter pub deps:*, flutter --version";
/// What Swift packages are built, tested and looked into with.
const SWIFT: &str = "\
    swift test:*, swift build:*, swift run:*, swift package describe:*, swift package \
    dump-package:*, swift package show-dependencies:*, swift package show-executables:*, swift \
    package tools-version, swift format:*, swift --version";

pub(super) fn dart(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("pubspec.yaml") else { return };
    let why = manifest.to_string();
    // A package of Flutter has it among its dependencies, as `sdk: flutter`.
    let is_flutter = found.text(manifest).contains("sdk: flutter");
    let program = if is_flutter { "flutter" } else { "dart" };
    let mut files = found.scan.files.iter().map(|path| path.as_str());
    let has_tests = files.any(|path| path.starts_with("test/") && path.ends_with("_test.dart"));
    found.add(&format!("{program} test:*"), is_top(manifest) && has_tests, &why);
    found.add_all(listed(DART), &why);
    if is_flutter {
        found.add_all(listed(FLUTTER), &why);
    }
}

pub(super) fn swift(found: &mut RepositoryTools<'_>) {
    let Some(manifest) = found.named("Package.swift") else { return };
    let why = manifest.to_string();
    let mut files = found.scan.files.iter().map(|path| path.as_str());
    let has_tests = files.any(|path| path.starts_with("Tests/") && path.ends_with(".swift"));
    found.add("swift test:*", is_top(manifest) && has_tests, &why);
    found.add_all(listed(SWIFT), &why);
    if found.holds(".swiftformat") {
        found.add("swiftformat:*", false, ".swiftformat");
    }
    if found.holds(".swiftlint.yml") {
        found.add_all(listed("swiftlint, swiftlint lint:*"), ".swiftlint.yml");
    }
}
