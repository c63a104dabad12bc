//! Where programs find what they need outside the checkout: the system, toolchains, a home and a
//! temporary folder of their own.
//!
//! In: the environment of this program. Out: places with what may be done there; `command_env` has
//! the variables that lead programs to them. The real home is not among them; of it only folders
//! that hold tools are, and none that holds credentials.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command_env::{TOOL_HOMES, cargo_home, folder};
use crate::linux::tool_chains::{self, PROGRAMS, above, stays_in};
use crate::reach::NetworkAccess;
use locum_policy::schema::CommandLimits;

/// What may be done in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceUse {
    /// Read, list, execute.
    Read,
    /// May be read, written and run.
    Write,
}

/// Folders and files of the system that programs read.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/proc",
    "/var/lib/dpkg",
    // Where Debian's Ruby keeps what `gem install` installs for all.
    "/var/lib/gems",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/urandom",
    "/dev/random",
];

/// Devices that are written to.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// What is read of `/etc`: names, libraries, certificates, languages. Keys and accounts' secrets
/// are not among them.
const ETC: &[&str] = &[
    "passwd",
    "group",
    "nsswitch.conf",
    "hosts",
    "host.conf",
    "resolv.conf",
    "gai.conf",
    "hostname",
    "services",
    "protocols",
    "networks",
    "localtime",
    "timezone",
    "locale.alias",
    "locale.conf",
    "default/locale",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "os-release",
    "lsb-release",
    "debian_version",
    "redhat-release",
    "alpine-release",
    "machine-id",
    "mime.types",
    "magic",
    "alternatives",
    "ssl/certs",
    "ssl/openssl.cnf",
    "ca-certificates",
    "pki/tls/certs",
    "pki/ca-trust",
    "gitattributes",
    "terminfo",
    "inputrc",
    "bash.bashrc",
    "profile",
    "java",
    "maven",
    "perl",
    "python3",
    "fonts",
    "node",
    "R",
    "ghc",
    "dotnet",
    "crypto-policies",
];

/// What names of hosts are resolved with, where commands may reach the network.
const RESOLVER: &[&str] = &["/run/systemd/resolve", "/run/resolvconf"];

/// Folders of tools below a home.
const HOME_TOOLS: &[&str] = &[
    ".rustup",
    ".pyenv",
    ".nvm",
    ".volta",
    ".rbenv",
    ".goenv",
    ".asdf",
    ".sdkman",
    ".deno/bin",
    ".bun/bin",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/uv",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".cache/node/corepack",
    "go/pkg/mod",
    "go/bin",
    ".m2/repository",
    "miniconda3",
    "miniforge3",
];

/// What is read of cargo's own folder; its credentials lie next to these.
const CARGO_TOOLS: &[&str] = &["bin", "config.toml", "config", "env"];

/// What cargo keeps of the registry; written to only where commands may reach the network.
const CARGO_STORES: &[&str] = &["registry", "git"];

/// What a toolchain keeps next to its `bin`.
const BESIDE_PROGRAMS: &[&str] = &["lib", "lib64", "libexec", "include"];

/// Returns every place outside the checkout. `own` is the private folder, `env` the whole
/// environment of this program.
pub(crate) fn places(
    env: &BTreeMap<String, String>,
    own: &Path,
    network: NetworkAccess,
) -> Vec<(PathBuf, PlaceUse)> {
    let mut found: Vec<(PathBuf, PlaceUse)> =
        SYSTEM.iter().map(|path| (PathBuf::from(path), PlaceUse::Read)).collect();
    found.extend(DEVICES.iter().map(|path| (PathBuf::from(path), PlaceUse::Write)));
    found.extend(ETC.iter().map(|name| (Path::new("/etc").join(name), PlaceUse::Read)));
    let settings = tool_chains::settings(Path::new("/etc"));
    found.extend(settings.into_iter().map(|path| (path, PlaceUse::Read)));
    found.push((own.to_owned(), PlaceUse::Write));
    // Commands held to a proxy resolve nothing: a query for a name would leak whatever the name
    // says.
    if network == NetworkAccess::Open {
        found.extend(RESOLVER.iter().map(|path| (PathBuf::from(path), PlaceUse::Read)));
    }
    let home = folder(env, "HOME");
    if let Some(home) = &home {
        found.extend(HOME_TOOLS.iter().map(|name| (home.join(name), PlaceUse::Read)));
    }
    found.extend(
        TOOL_HOMES
            .iter()
            .filter(|(name, _)| *name != "PYTHONUSERBASE")
            .filter_map(|(name, _)| Some((folder(env, name)?, PlaceUse::Read))),
    );
    if let Some(cargo) = cargo_home(env) {
        let stores = match network {
            NetworkAccess::Open | NetworkAccess::Proxied | NetworkAccess::Handed => PlaceUse::Write,
            NetworkAccess::Off | NetworkAccess::Own => PlaceUse::Read,
        };
        found.extend(CARGO_TOOLS.iter().map(|name| (cargo.join(name), PlaceUse::Read)));
        found.extend(CARGO_STORES.iter().map(|name| (cargo.join(name), stores)));
    }
    let programs = program_folders(env, home.as_deref());
    for programs in &programs {
        let beside = above(programs).filter(|above| Some(above) != home.as_ref());
        found.extend(beside.into_iter().flat_map(|above| {
            let beside = BESIDE_PROGRAMS.iter().map(|name| above.join(name));
            let beside: Vec<_> = beside.filter(|path| stays_in(&above, path)).collect();
            beside.into_iter().map(|path| (path, PlaceUse::Read))
        }));
    }
    let whole = tool_chains::entries(programs.iter().map(PathBuf::as_path), home.as_deref());
    found.extend(programs.into_iter().chain(whole).map(|path| (path, PlaceUse::Read)));
    found
}

/// Returns the programs on `PATH` whose tool chain commands see in part, each with what they do not
/// see of it.
pub fn half_visible(
    env: &BTreeMap<String, String>,
    limits: &CommandLimits,
) -> Vec<(&'static str, PathBuf)> {
    // What depends on the network or is a run's own holds no tool chain.
    let mut places = places(env, Path::new("/dev/null"), NetworkAccess::Off);
    places.extend(reads(limits));
    let places: Vec<_> =
        places.into_iter().filter_map(|(path, _)| path.canonicalize().ok()).collect();
    let is_hidden = |path: &PathBuf| {
        path.canonicalize().is_ok_and(|real| !places.iter().any(|place| real.starts_with(place)))
    };
    let folders = program_folders(env, None);
    let found = PROGRAMS.iter().filter_map(|name| {
        let program = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())?;
        let real = program.canonicalize().ok()?;
        let roots = [&program, &real].into_iter().filter_map(|path| above(path.parent()?));
        let beside = roots.flat_map(|root| ["pyvenv.cfg", "lib"].map(|name| root.join(name)));
        [real.clone()].into_iter().chain(beside).find(is_hidden).map(|path| (*name, path))
    });
    found.collect()
}

/// Returns the folders on `PATH`, without the home.
fn program_folders(env: &BTreeMap<String, String>, home: Option<&Path>) -> Vec<PathBuf> {
    let folders = env.get("PATH").into_iter().flat_map(|path| path.split(':')).map(PathBuf::from);
    folders
        .filter(|path| path.is_absolute() && path.parent().is_some())
        .filter(|path| Some(path.as_path()) != home)
        .collect()
}

/// Returns the folders that the policy lets commands read. What is not a whole folder or file is
/// left out.
pub(crate) fn reads(limits: &CommandLimits) -> impl Iterator<Item = (PathBuf, PlaceUse)> {
    limits.reads.iter().filter_map(|glob| {
        let text = glob.text();
        let folder = text.strip_suffix("/**").unwrap_or(&text);
        let is_whole = !folder.is_empty() && !folder.contains(['*', '?', '[', '{']);
        is_whole.then(|| (Path::new("/").join(folder), PlaceUse::Read))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::{PlaceUse, half_visible, places};
    use crate::reach::NetworkAccess;
    use locum_policy::schema::CommandLimits;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn no_place_holds_a_home_or_its_credentials() {
        let env = env(&[
            ("HOME", "/home/me"),
            ("CARGO_HOME", "/home/me/.cargo"),
            ("PATH", "/usr/bin:/home/me:relative:/:/home/me/x/bin"),
        ]);
        let found = places(&env, Path::new("/own"), NetworkAccess::Proxied);
        for inside in [
            "/home/me/.ssh/id_ed25519",
            "/home/me/.aws/credentials",
            "/home/me/.config/gh/hosts.yml",
            "/home/me/.netrc",
            "/root/x",
            "/etc/shadow",
            "/etc/ssh/key",
            "/run/docker.sock",
            "/tmp/x",
            "/run/systemd/resolve/io.systemd.Resolve",
            "/dev/tty",
            "/dev/sda",
        ] {
            let holds = found.iter().find(|(place, _)| Path::new(inside).starts_with(place));
            assert!(holds.is_none(), "{inside}: {holds:?}");
        }
        assert!(found.contains(&(PathBuf::from("/home/me/x/bin"), PlaceUse::Read)));
        assert!(found.contains(&(PathBuf::from("/own"), PlaceUse::Write)));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes folders")]
    fn folders_beside_programs_are_read_unless_they_are_links_that_lead_out() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for folder in ["tool/bin", "tool/lib", "vault"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("lib", root.join("tool/lib64")).unwrap();
        std::os::unix::fs::symlink(root.join("vault"), root.join("tool/include")).unwrap();
        let path = root.join("tool/bin").display().to_string();
        let found = places(&env(&[("PATH", &path)]), Path::new("/own"), NetworkAccess::Off);
        let is_read = |name: &str| found.contains(&(root.join(name), PlaceUse::Read));
        assert!(is_read("tool/lib") && is_read("tool/lib64"), "{found:?}");
        assert!(!is_read("tool/include") && !is_read("vault"), "{found:?}");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes folders")]
    fn a_program_whose_library_is_hidden_is_half_visible_and_a_whole_one_is_not() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for file in ["home/bin/node", "home/lib/x", "tool/bin/ruby", "tool/lib/x"] {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::File::create_new(file).unwrap();
        }
        let path = format!("{0}/home/bin:{0}/tool/bin", root.display());
        let env = env(&[("HOME", root.join("home").to_str().unwrap()), ("PATH", &path)]);
        let found = half_visible(&env, &CommandLimits::default());
        assert_eq!(found, [("node", root.join("home/lib"))]);
    }
}
