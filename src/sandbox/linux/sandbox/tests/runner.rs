//! What a runner leaves lying around for later steps, and the sockets by which a machine is
//! controlled. Each has a test of its own and runs, as everything in this folder, as an
//! administrator and as an ordinary user.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use pretty_assertions::{assert_eq, assert_ne};

use super::{SandboxFixture, sandboxes_of};
use crate::exec::Exit;
use crate::level::SandboxLevel;
use crate::linux::sandbox::Sandbox;
use locum_policy::Policy;
use locum_policy::schema;

/// Has a command write to the file that a variable of the runner names, where it lies on hosted
/// runners: found by its variable, by its path, and by looking for it.
fn a_command_file_is_out_of_reach(variable: &str) {
    let attack = |place: &SandboxFixture, sandbox: &Sandbox| {
        let file =
            place.outside.join(format!("_runner_file_commands/{}_0b1c", variable.to_lowercase()));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "").unwrap();
        let script = format!(
            "echo EVIL=1 >> \"${variable}\"; echo EVIL=1 >> {at}; for f in $(find {folder} -type \
             f); do echo EVIL=1 >> $f; done; ln {at} src/x && echo EVIL=1 >> src/x; ln -s {at} \
             src/y && echo EVIL=1 >> src/y; mv src/a {at}; true",
            at = file.display(),
            folder = file.parent().unwrap().display(),
        );
        place.run(&script, sandbox).unwrap();
        std::fs::read_to_string(&file).unwrap()
    };
    let place = SandboxFixture::new();
    assert_ne!(attack(&place, &place.sandbox(schema::SandboxSetting::Off)), "", "outside");
    for sandbox in sandboxes_of(&SandboxFixture::new().env) {
        assert_eq!(attack(&SandboxFixture::new(), &sandbox), "", "{variable}, {:?}", sandbox.level);
    }
}

/// Has a command connect to a listening socket, outside and inside, also where the policy lets it
/// read the folder of the socket.
fn a_socket_is_out_of_reach(path: &str) {
    let attack = |place: &SandboxFixture, sandbox: &Sandbox| {
        let socket = place.outside.join(path);
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777)).unwrap();
        let script = format!(
            "perl -MSocket -e 'for my $k (SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET) {{ \
             socket(S,AF_UNIX,$k,0) or next; connect(S,sockaddr_un(\"{at}\")) and \
             syswrite(S,\"GET /containers/json HTTP/1.0\\r\\n\\r\\n\") }}'; ln {at} src/s; ln -s \
             {at} src/t; perl -MSocket -e 'for (@ARGV) {{ socket(S,AF_UNIX,SOCK_STREAM,0) or \
             next; connect(S,sockaddr_un($_)) and syswrite(S,\"x\") }}' src/s src/t; true",
            at = socket.display()
        );
        place.run(&script, sandbox).unwrap();
        listener.set_nonblocking(true).unwrap();
        let mut answer = String::new();
        while let Ok((mut stream, _)) = listener.accept() {
            stream.read_to_string(&mut answer).unwrap();
        }
        answer
    };
    let place = SandboxFixture::new();
    assert_ne!(attack(&place, &place.sandbox(schema::SandboxSetting::Off)), "", "outside");
    let readable = |place: &SandboxFixture, network: &str| {
        let text = format!(
            "version: 1\ncommands: {{ network: {network}, reads: ['{}/**'] }}\n",
            place.outside.display()
        );
        Policy::parse(&text, "policy.yml").unwrap().settings().commands.clone()
    };
    for namespaces in [true, false] {
        let level = SandboxLevel { namespaces, ..SandboxLevel::obtained() };
        for network in ["off", "policy", "open"] {
            let place = SandboxFixture::new();
            let sandbox = Sandbox::on(&readable(&place, network), &place.env, level).unwrap();
            assert_eq!(attack(&place, &sandbox), "", "{path}, network {network}, {level:?}");
        }
    }
    for sandbox in sandboxes_of(&SandboxFixture::new().env) {
        assert_eq!(attack(&SandboxFixture::new(), &sandbox), "", "{path}, {:?}", sandbox.level);
    }
}

#[test]
fn the_file_of_variables_is_out_of_reach() {
    a_command_file_is_out_of_reach("GITHUB_ENV");
}

#[test]
fn the_file_of_outputs_is_out_of_reach() {
    a_command_file_is_out_of_reach("GITHUB_OUTPUT");
}

#[test]
fn the_file_of_the_search_path_is_out_of_reach() {
    a_command_file_is_out_of_reach("GITHUB_PATH");
}

#[test]
fn the_file_of_the_summary_is_out_of_reach() {
    a_command_file_is_out_of_reach("GITHUB_STEP_SUMMARY");
}

#[test]
fn the_file_of_state_is_out_of_reach() {
    a_command_file_is_out_of_reach("GITHUB_STATE");
}

#[test]
fn the_socket_of_docker_is_out_of_reach() {
    a_socket_is_out_of_reach("run/docker.sock");
}

#[test]
fn the_socket_of_containerd_is_out_of_reach() {
    a_socket_is_out_of_reach("run/containerd/containerd.sock");
}

#[test]
fn the_socket_of_podman_is_out_of_reach() {
    a_socket_is_out_of_reach("run/podman/podman.sock");
}

#[test]
fn the_socket_of_an_agent_with_keys_is_out_of_reach() {
    a_socket_is_out_of_reach("ssh-XXXXXX/agent.2104");
}

#[test]
fn the_socket_of_the_resolver_is_out_of_reach() {
    a_socket_is_out_of_reach("run/systemd/resolve/io.systemd.Resolve");
}

#[test]
fn a_program_that_makes_its_user_another_one_does_not() {
    if !rustix::process::geteuid().is_root() {
        // An ordinary user cannot make such a program; that none gains anything is asked of the
        // kernel by its own word for it.
        for sandbox in sandboxes_of(&SandboxFixture::new().env) {
            let (_, status) =
                SandboxFixture::new().run("grep NoNewPrivs /proc/self/status", &sandbox).unwrap();
            assert_eq!(status, "NoNewPrivs:\t1\n");
        }
        return;
    }
    // Replaces `sudo`: it belongs to another user and runs as them.
    let run = |sandbox: &Sandbox| {
        let place = SandboxFixture::new();
        let program = place.root.join("src/become");
        let real = Path::new("/usr/bin/id").canonicalize().unwrap();
        assert!(Command::new("cp").arg(real).arg(&program).status().unwrap().success());
        std::os::unix::fs::chown(&program, Some(65534), Some(65534)).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
        let (exit, output) = place.run("exec src/become -u", sandbox).unwrap();
        assert_eq!(exit, Exit::Code(0), "{output}");
        output
    };
    assert_eq!(run(&SandboxFixture::new().sandbox(schema::SandboxSetting::Off)), "65534\n");
    for sandbox in sandboxes_of(&SandboxFixture::new().env) {
        assert_eq!(run(&sandbox), "0\n", "{:?}", sandbox.level);
    }
}
