//! Variables that may stand in front of a command, with what their value may be: a word, a number,
//! one of a list, options of a program.
//!
//! Data only. `command::variables` checks an assignment by it.

/// Variables that any program may be given, with a word as their value.
pub(in crate::command) const HARMLESS: &str = "\
    APP_ENV BABEL_ENV BUNDLE_FROZEN BUNDLE_WITHOUT CARGO_INCREMENTAL CARGO_PROFILE_DEV_DEBUG \
    CARGO_PROFILE_DEV_OPT_LEVEL CARGO_PROFILE_RELEASE_DEBUG CARGO_PROFILE_TEST_DEBUG \
    CARGO_PROFILE_TEST_OPT_LEVEL CARGO_TERM_COLOR CARGO_TERM_PROGRESS_WHEN CARGO_TERM_QUIET \
    CARGO_TERM_VERBOSE CGO_ENABLED CI CLICOLOR CLICOLOR_FORCE COLUMNS COMPOSER_ALLOW_SUPERUSER \
    COMPOSER_MEMORY_LIMIT COMPOSER_NO_INTERACTION COMPOSER_PROCESS_TIMEOUT COVERAGE \
    CTEST_OUTPUT_ON_FAILURE CUDA_VISIBLE_DEVICES DEBUG DISABLE_SPRING DOTNET_CLI_TELEMETRY_OPTOUT \
    DOTNET_NOLOGO DOTNET_SKIP_FIRST_TIME_EXPERIENCE DO_NOT_TRACK ESLINT_USE_FLAT_CONFIG FLASK_ENV \
    FORCE_COLOR GO111MODULE GOAMD64 GOARCH GOARM GOEXPERIMENT GOOS GOTRACEBACK GTEST_COLOR \
    GTEST_FILTER HYPOTHESIS_PROFILE INSTA_FORCE_PASS INSTA_UPDATE LANG LANGUAGE LC_ALL LC_COLLATE \
    LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LINES LOG_LEVEL MIX_ENV NEXT_TELEMETRY_DISABLED \
    NODE_DEBUG NODE_DISABLE_COLORS NODE_ENV NODE_NO_WARNINGS NO_COLOR NO_UPDATE_NOTIFIER \
    NUMBA_DISABLE_JIT PHP_CS_FIXER_IGNORE_ENV PIP_NO_INPUT PROPTEST_CASES \
    PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTHONASYNCIODEBUG PYTHONDEVMODE PYTHONDONTWRITEBYTECODE \
    PYTHONFAULTHANDLER PYTHONHASHSEED PYTHONIOENCODING PYTHONMALLOC PYTHONNOUSERSITE \
    PYTHONOPTIMIZE PYTHONPROFILEIMPORTTIME PYTHONSAFEPATH PYTHONTRACEMALLOC PYTHONUNBUFFERED \
    PYTHONUTF8 PYTHONVERBOSE PYTHONWARNINGS PY_COLORS RACK_ENV RAILS_ENV RAILS_LOG_LEVEL \
    RUBY_YJIT_ENABLE RUFF_NO_CACHE RUST_BACKTRACE RUST_LIB_BACKTRACE RUST_LOG RUST_TEST_THREADS \
    SEED SETUPTOOLS_SCM_PRETEND_VERSION TERM TF_CPP_MIN_LOG_LEVEL TIMING TOKENIZERS_PARALLELISM \
    TS_NODE_TRANSPILE_ONLY TURBO_TELEMETRY_DISABLED TZ UPDATE_EXPECT UV_FROZEN UV_LOCKED \
    UV_NO_CACHE UV_NO_PROGRESS VERBOSE";

/// Those of them in whose value `*` stands for any text.
pub(in crate::command) const WITH_STARS: &str = "DEBUG GTEST_FILTER";

/// Variables whose value is a number.
pub(in crate::command) const NUMBERS: &str = "\
    CARGO_BUILD_JOBS CMAKE_BUILD_PARALLEL_LEVEL CTEST_PARALLEL_LEVEL GOMAXPROCS \
    MKL_NUM_THREADS NEXTEST_TEST_THREADS OMP_NUM_THREADS OPENBLAS_NUM_THREADS \
    PYTEST_XDIST_AUTO_NUM_WORKERS QUICKCHECK_TESTS RAYON_NUM_THREADS RUST_MIN_STACK \
    SOURCE_DATE_EPOCH UV_THREADPOOL_SIZE VITEST_MAX_FORKS VITEST_MAX_THREADS VITEST_MIN_FORKS \
    VITEST_MIN_THREADS";

/// Variables that may hold one of these values alone: any other could name a program, a host or a
/// file.
pub(in crate::command) const EXACT: &[(&str, &[&str])] = &[
    ("BROWSER", &["none"]),
    ("CARGO_NET_OFFLINE", &["true"]),
    ("COMPOSER_DISABLE_NETWORK", &["1"]),
    ("DATABASE_URL", &["sqlite://", "sqlite:///:memory:", "sqlite://:memory:", "sqlite::memory:"]),
    ("GIT_EDITOR", &["true", ":"]),
    ("GIT_OPTIONAL_LOCKS", &["0"]),
    ("GIT_PAGER", &["cat", ""]),
    ("GIT_TERMINAL_PROMPT", &["0"]),
    ("GOPROXY", &["off"]),
    ("GOTOOLCHAIN", &["local"]),
    ("GOWORK", &["off"]),
    ("HF_HUB_OFFLINE", &["1"]),
    ("HUSKY", &["0"]),
    ("MPLBACKEND", &["Agg", "agg"]),
    ("PAGER", &["cat", ""]),
    ("PIP_DISABLE_PIP_VERSION_CHECK", &["1"]),
    ("PYTHONBREAKPOINT", &["0"]),
    ("QT_QPA_PLATFORM", &["offscreen", "minimal"]),
    ("SDL_AUDIODRIVER", &["dummy"]),
    ("SDL_VIDEODRIVER", &["dummy"]),
    ("SQLX_OFFLINE", &["true", "1"]),
    ("SYMFONY_DEPRECATIONS_HELPER", &["disabled", "weak"]),
    ("TRANSFORMERS_OFFLINE", &["1"]),
    ("UV_NO_SYNC", &["1", "true"]),
    ("UV_OFFLINE", &["1", "true"]),
    ("XDEBUG_MODE", &["off", "coverage"]),
];

/// Variables whose value is a list of `KEY=WORD`, with the keys that are harmless. Others name
/// files, programs or what is trusted.
pub(in crate::command) const KEYED: &[(&str, &str)] = &[
    (
        "GODEBUG",
        "allocfreetrace asyncpreemptoff gccheckmark gcpacertrace gcshrinkstackoff \
         gcstoptheworld gctrace http2debug inittrace madvdontneed scavtrace scheddetail \
         schedtrace tracebackancestors",
    ),
    ("ASAN_OPTIONS", SANITIZER),
    ("LSAN_OPTIONS", SANITIZER),
    ("TSAN_OPTIONS", SANITIZER),
    ("UBSAN_OPTIONS", SANITIZER),
];

const SANITIZER: &str = "\
    abort_on_error allocator_may_return_null check_initialization_order color \
    detect_container_overflow detect_leaks detect_odr_violation detect_stack_use_after_return \
    exitcode fast_unwind_on_malloc halt_on_error history_size print_stacktrace print_stats \
    quarantine_size_mb second_deadlock_stack strict_init_order strict_string_checks verbosity";

/// Variables whose value is a folder of the repository, from which code is loaded.
pub(in crate::command) const FOLDERS: &str = "MYPYPATH PYTHONPATH RUBYLIB";

/// Variables whose value is a folder for temporary files, to which a build or a cache is written.
pub(in crate::command) const SCRATCH_FOLDERS: &str =
    "CARGO_TARGET_DIR MYPY_CACHE_DIR RUFF_CACHE_DIR";

/// Variables whose value is a file directly in `/tmp`.
pub(in crate::command) const SCRATCH_FILES: &str = "COVERAGE_FILE";

/// Variables whose value is a module of settings of the repository.
pub(in crate::command) const SETTINGS_MODULES: &str = "DJANGO_SETTINGS_MODULE";

/// Variables whose value holds options, with those that are harmless. One that ends with `*` may be
/// followed by letters, digits and `_-.,:=+@`; a blank in it stands between two words.
pub(in crate::command) const OPTIONS: &[(&str, &[&str])] = &[
    ("RUSTFLAGS", RUSTC),
    ("RUSTDOCFLAGS", RUSTC),
    (
        "MIRIFLAGS",
        &[
            "-Zmiri-disable-isolation",
            "-Zmiri-ignore-leaks",
            "-Zmiri-strict-provenance",
            "-Zmiri-symbolic-alignment-check",
            "-Zmiri-tree-borrows",
            "-Zmiri-backtrace=*",
            "-Zmiri-seed=*",
            "-Zmiri-many-seeds=*",
        ],
    ),
    ("PYTEST_ADDOPTS", PYTEST),
    (
        "GOFLAGS",
        &[
            "-v",
            "-race",
            "-short",
            "-trimpath",
            "-buildvcs=*",
            "-count=*",
            "-p=*",
            "-tags=*",
            "-timeout=*",
            "-vet=*",
            "-mod=readonly",
            "-mod=vendor",
            "-mod=mod",
        ],
    ),
    ("RUBYOPT", &["-w", "-W0", "-W1", "-W2", "-W:*", "--enable=*", "--disable=*", "--yjit"]),
    (
        "SPEC_OPTS",
        &[
            "-b",
            "-c",
            "-fd",
            "-fp",
            "--backtrace",
            "--color",
            "--no-color",
            "--fail-fast",
            "--force-color",
            "--format d",
            "--format doc",
            "--format documentation",
            "--format p",
            "--format progress",
            "--order *",
            "--seed *",
            "--tag *",
        ],
    ),
    ("MAVEN_OPTS", JAVA),
    ("JAVA_OPTS", JAVA),
    ("JAVA_TOOL_OPTIONS", JAVA),
    ("JDK_JAVA_OPTIONS", JAVA),
    ("GRADLE_OPTS", JAVA),
    ("CFLAGS", C),
    ("CXXFLAGS", C),
    (
        "NODE_OPTIONS",
        &[
            "--max-old-space-size=*",
            "--max_old_space_size=*",
            "--max-semi-space-size=*",
            "--disable-warning=*",
            "--dns-result-order=*",
            "--enable-source-maps",
            "--experimental-strip-types",
            "--experimental-vm-modules",
            "--expose-gc",
            "--no-deprecation",
            "--no-experimental-fetch",
            "--no-warnings",
            "--openssl-legacy-provider",
            "--throw-deprecation",
            "--trace-deprecation",
            "--trace-uncaught",
            "--trace-warnings",
            "--unhandled-rejections=*",
            "--stack-trace-limit=*",
        ],
    ),
];

const RUSTC: &[&str] = &[
    "-D *",
    "-W *",
    "-A *",
    "-F *",
    "-D*",
    "-W*",
    "-A*",
    "--cfg *",
    "--cfg=*",
    "--cap-lints *",
    "--cap-lints=*",
    "-Ccodegen-units=*",
    "-Cdebug-assertions=*",
    "-Cdebuginfo=*",
    "-Copt-level=*",
    "-Coverflow-checks=*",
    "-Cpanic=*",
    "-Ctarget-cpu=*",
    "-Ctarget-feature=*",
    "-Zsanitizer=*",
    "-C codegen-units=*",
    "-C debug-assertions=*",
    "-C debuginfo=*",
    "-C opt-level=*",
    "-C overflow-checks=*",
    "-C panic=*",
    "-C target-cpu=*",
    "-C target-feature=*",
    "-Z sanitizer=*",
];

const PYTEST: &[&str] = &[
    "-q",
    "-v",
    "-x",
    "-s",
    "-l",
    "-vv",
    "-vvv",
    "-ra",
    "-rA",
    "-rf",
    "-rs",
    "--capture=*",
    "--color=*",
    "--count=*",
    "--create-db",
    "--disable-warnings",
    "--durations=*",
    "--ff",
    "--forked",
    "--lf",
    "--maxfail=*",
    "--no-cov",
    "--no-header",
    "--reuse-db",
    "--strict-config",
    "--strict-markers",
    "--tb=*",
    "--timeout=*",
    "-k *",
    "-m *",
    "-n *",
    "-n*",
    "-p no:*",
];

/// None that names a file: `-XX:OnError=` starts a program, and `-Duser.home=` leads to other
/// settings.
const JAVA: &[&str] = &[
    "-Xmx*",
    "-Xms*",
    "-Xss*",
    "-ea",
    "-XX:+UseG1GC",
    "-XX:+UseParallelGC",
    "-XX:+UseSerialGC",
    "-XX:+UseZGC",
    "-XX:+TieredCompilation",
    "-XX:MaxMetaspaceSize=*",
    "-XX:MaxRAMPercentage=*",
    "-XX:ReservedCodeCacheSize=*",
    "-XX:TieredStopAtLevel=*",
    "-Dfile.encoding=*",
    "-Djava.awt.headless=*",
    "-Djava.net.preferIPv4Stack=*",
    "-Dnet.bytebuddy.experimental=*",
    "-Dorg.gradle.caching=*",
    "-Dorg.gradle.daemon=*",
    "-Dorg.gradle.parallel=*",
    "-Dorg.gradle.workers.max=*",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=*",
    "-Dorg.slf4j.simpleLogger.log.*",
    "-Dstyle.color=*",
    "-Duser.country=*",
    "-Duser.language=*",
    "-Duser.timezone=*",
];

/// None that hands words on to the linker or the assembler (`-Wl,`), or loads code (`-fplugin`).
const C: &[&str] = &[
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "-Og",
    "-Os",
    "-g",
    "-g3",
    "-fPIC",
    "-fno-omit-frame-pointer",
    "-pedantic",
    "-pthread",
    "-Wall",
    "-Wconversion",
    "-Werror",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Werror=*",
    "-Wno-*",
    "-D*",
    "-fsanitize=*",
    "-march=*",
    "-mtune=*",
    "-std=*",
];
