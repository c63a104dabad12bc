//! Programs of JavaScript and TypeScript: the compiler, checkers, formatters and test runners.
//!
//! Data only, in the notation of `tables`.

use crate::command::tables::{CommandTable, OperandKind, runs};

/// One table per program, in the notation of `tables`.
pub(super) const TABLES: &[CommandTable] = &[
    runs(
        &["tsc", "vue-tsc"],
        OperandKind::Targets,
        "-p=< --project=< -b --build --noEmit --emitDeclarationOnly -v --version -h --help --all \
         --showConfig --listFiles --listFilesOnly --listEmittedFiles --explainFiles --pretty=? \
         --noErrorTruncation --diagnostics --extendedDiagnostics --traceResolution --dry -d -f \
         --force --verbose --clean --stopBuildOnErrors -i --incremental --composite \
         --preserveWatchOutput --locale= \
         --outDir=> --outFile=> --declarationDir=> --tsBuildInfoFile=> --generateTrace=> \
         --generateCpuProfile=> \
         --strict --noImplicitAny --strictNullChecks --strictFunctionTypes --strictBindCallApply \
         --strictPropertyInitialization --strictBuiltinIteratorReturn --noImplicitThis \
         --useUnknownInCatchVariables --alwaysStrict --noUnusedLocals --noUnusedParameters \
         --exactOptionalPropertyTypes --noImplicitReturns --noFallthroughCasesInSwitch \
         --noUncheckedIndexedAccess --noImplicitOverride --noPropertyAccessFromIndexSignature \
         --allowUnusedLabels --allowUnreachableCode --erasableSyntaxOnly --noCheck \
         --skipLibCheck --skipDefaultLibCheck --allowJs --checkJs --maxNodeModuleJsDepth= \
         -t= --target= -m= --module= --moduleResolution= --moduleDetection= --moduleSuffixes= \
         --customConditions= --lib= --noLib --types= --typeRoots=< --rootDir=< --rootDirs=< \
         --baseUrl=< --jsx= --jsxFactory= --jsxFragmentFactory= --jsxImportSource= \
         --esModuleInterop --allowSyntheticDefaultImports --allowUmdGlobalAccess \
         --allowArbitraryExtensions --allowImportingTsExtensions \
         --rewriteRelativeImportExtensions --resolveJsonModule --resolvePackageJsonExports \
         --resolvePackageJsonImports --noResolve --noUncheckedSideEffectImports \
         --isolatedModules --isolatedDeclarations --verbatimModuleSyntax --preserveSymlinks \
         --forceConsistentCasingInFileNames --experimentalDecorators --emitDecoratorMetadata \
         --useDefineForClassFields --downlevelIteration --importHelpers --declaration \
         --declarationMap --sourceMap --inlineSourceMap --inlineSources --sourceRoot= --mapRoot= \
         --newLine= --removeComments --preserveConstEnums --stripInternal --noEmitHelpers \
         --noEmitOnError --emitBOM --ignoreDeprecations= --ignoreConfig \
         --assumeChangesOnlyAffectDirectDependencies --disableSizeLimit \
         --disableReferencedProjectLoad --disableSolutionSearching \
         --disableSourceOfProjectReferenceRedirect",
    ),
    runs(
        &["eslint"],
        OperandKind::EditedHereWith(&["--fix"]),
        "--fix --fix-dry-run --fix-type= --ext= --max-warnings= --quiet --no-eslintrc \
         --no-config-lookup -c=< --config=< --env= --global= --rule= --no-ignore --ignore-path=< \
         --ignore-pattern= --stdin --stdin-filename=< --no-inline-config \
         --report-unused-disable-directives --report-unused-disable-directives-severity= \
         --report-unused-inline-configs= --cache --no-cache --cache-file=> --cache-location=> \
         --cache-strategy= --color --no-color -f=@ --format=@ -o=> --output-file=> \
         --print-config=< --env-info --no-error-on-unmatched-pattern --exit-on-fatal-error \
         --no-warn-ignored --warn-ignored --pass-on-no-patterns --pass-on-unpruned-suppressions \
         --debug --stats --flag= --concurrency= -h --help -v --version",
    ),
    runs(
        &["prettier"],
        OperandKind::EditedWith(&["--write", "-w"]),
        "-c -l -w -u --check --list-different --write --ignore-unknown --log-level= --loglevel= \
         --color --no-color --no-error-on-unmatched-pattern --config=< --no-config \
         --config-precedence= --no-editorconfig --find-config-path=< --find-config-file=< \
         --ignore-path=< --with-node-modules --cache --no-cache --cache-location=> \
         --cache-strategy= --file-info=< --support-info --stdin-filepath=< --parser=@ \
         --arrow-parens= --bracket-same-line --no-bracket-spacing --embedded-language-formatting= \
         --end-of-line= --experimental-operator-position= --experimental-ternaries \
         --no-experimental-ternaries --html-whitespace-sensitivity= --jsx-single-quote \
         --object-wrap= --print-width= --prose-wrap= --quote-props= --no-semi --semi=? \
         --single-attribute-per-line --single-quote=? --tab-width= --trailing-comma= --use-tabs=? \
         --vue-indent-script-and-style --range-start= --range-end= --cursor-offset= \
         --insert-pragma --require-pragma --check-ignore-pragma -h --help -v --version",
    ),
    runs(
        &["jest"],
        OperandKind::Targets,
        "-t=* -i -u -o -b -w= -c=@ -e -f -h --help --version --testNamePattern=* \
         --testPathPattern=* --testPathPatterns=* --testPathIgnorePatterns= --testMatch= \
         --testRegex=* --runInBand --ci=? --coverage=? --collectCoverage=? --silent=? --verbose=? \
         --bail=? --cache --no-cache --cacheDirectory=> --passWithNoTests --listTests --all \
         --onlyChanged --onlyFailures --lastCommit --changedSince= --changedFilesWithAncestor \
         --updateSnapshot --maxWorkers= --maxConcurrency= --workerThreads \
         --workerGracefulExitTimeout= --workerIdleMemoryLimit= \
         --watchAll=? --watch=? --no-watchman --watchPathIgnorePatterns= --no-coverage \
         --detectOpenHandles --detectLeaks --openHandlesTimeout= --forceExit --clearCache \
         --expand --runTestsByPath --findRelatedTests --selectProjects= --ignoreProjects= \
         --projects=< --roots=< --rootDir=< --testTimeout= --testFailureExitCode= \
         --testLocationInResults --testEnvironment=@ --env=@ \
         --color --colors --no-color --no-colors --logHeapUsage --randomize --seed= --showSeed \
         --shard= --collectCoverageFrom= --coverageProvider= --coverageReporters=@ \
         --coverageThreshold= --coveragePathIgnorePatterns= --reporters=@ --config=@ \
         --showConfig --debug --noStackTrace --useStderr --errorOnDeprecated --injectGlobals=? \
         --clearMocks --resetMocks --restoreMocks --resetModules --collectTests \
         --waitForUnhandledRejections --modulePathIgnorePatterns= --transformIgnorePatterns= \
         --json --outputFile=> --coverageDirectory=> \
         --test-name-pattern=* --test-path-pattern=* --run-in-band --test-timeout= \
         --max-workers= --pass-with-no-tests --list-tests --only-changed --update-snapshot --no-stack-trace",
    ),
    runs(
        &["vitest"],
        OperandKind::Targets,
        "-t=* -u -c=< -r=< -h -v --help --version --run --coverage=? --coverage.enabled=? \
         --coverage.provider=@ --coverage.reporter=@ --coverage.include= --coverage.exclude= \
         --coverage.all=? --coverage.clean=? --coverage.skipFull=? --coverage.reportOnFailure=? \
         --coverage.thresholds.lines= --coverage.thresholds.functions= \
         --coverage.thresholds.branches= --coverage.thresholds.statements= \
         --coverage.thresholds.perFile=? --coverage.thresholds.100=? \
         --coverage.reportsDirectory=> --silent=? --bail= --reporter=@ --no-color --color \
         --passWithNoTests --config=< --root=< --mode= --environment=@ \
         --update=? --testNamePattern=* --maxWorkers= --minWorkers= --pool=@ \
         --threads=? --no-threads --single-thread --singleThread --minThreads= --maxThreads= \
         --poolOptions.threads.singleThread=? --poolOptions.forks.singleFork=? \
         --poolOptions.threads.maxThreads= --poolOptions.threads.minThreads= \
         --poolOptions.forks.maxForks= --poolOptions.forks.minForks= --vmMemoryLimit= \
         --no-coverage --watch=? --no-watch --project= --changed=? --shard= \
         --typecheck=? --typecheck.enabled=? --typecheck.only=? --typecheck.tsconfig=< --dom \
         --globals=? --retry= --testTimeout= --hookTimeout= --teardownTimeout= \
         --slowTestThreshold= --hideSkippedTests --no-file-parallelism --fileParallelism=? \
         --maxConcurrency= --allowOnly=? --exclude= --sequence.shuffle=? \
         --sequence.shuffle.files=? --sequence.shuffle.tests=? --sequence.seed= \
         --sequence.concurrent=? --sequence.hooks= --logHeapUsage --isolate=? --no-isolate \
         --dir=< --clearScreen=? --clearCache --cache=? --no-cache --disableConsoleIntercept=? \
         --printConsoleTrace --expandSnapshotDiff --includeTaskLocation \
         --dangerouslyIgnoreUnhandledErrors --detectAsyncLeaks --expect.requireAssertions=? \
         --expect.poll.timeout= --listTags=? --tagsFilter= --strictTags=? --filesOnly \
         --staticParse --outputFile=> --outputFile.json=> --outputFile.junit=> \
         --outputFile.html=> --outputFile.blob=> --outputFile.tap=> --attachmentsDir=>",
    ),
    runs(
        &["biome check", "biome lint", "biome format", "biome ci"],
        OperandKind::EditedHereWith(&["--write", "--fix", "--unsafe"]),
        "--write --fix --unsafe --changed --staged --since= --no-errors-on-unmatched --reporter= \
         --diagnostic-level= --max-diagnostics= --skip-parse-errors --error-on-warnings \
         --colors= --verbose --only= --skip= --linter-enabled= --formatter-enabled= \
         --assist-enabled= --enforce-assist= --organize-imports-enabled= --format-with-errors= \
         --files-max-size= --files-ignore-unknown= --vcs-enabled= --vcs-use-ignore-file= \
         --vcs-client-kind= --vcs-default-branch= --indent-style= --indent-width= --line-ending= \
         --line-width= --attribute-position= --bracket-same-line= --bracket-spacing= --expand= \
         --use-editorconfig= --quote-style= --jsx-quote-style= --quote-properties= \
         --trailing-commas= --semicolons= --arrow-parentheses= --stdin-file-path=< \
         --javascript-formatter-enabled= --javascript-formatter-indent-style= \
         --javascript-formatter-indent-width= --javascript-formatter-line-width= \
         --javascript-formatter-quote-style= --javascript-linter-enabled= \
         --json-formatter-enabled= --json-formatter-indent-style= --json-formatter-indent-width= \
         --json-formatter-line-width= --json-linter-enabled= --json-parse-allow-comments= \
         --json-parse-allow-trailing-commas= --css-formatter-enabled= --css-linter-enabled= \
         --css-parse-css-modules= --config-path=< -h --help",
    ),
];
