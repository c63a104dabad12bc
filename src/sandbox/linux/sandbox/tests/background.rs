//! Commands in the background: who reaches them, and what they see of the checkout.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::{assert_eq, assert_ne};

use super::{Beside, SandboxFixture, ScriptAttempt, TestCommand};
use crate::exec::background::{BackgroundCommand, OutputWait};
use crate::exec::{self, CommandOutput, CommandRun, Exit};
use crate::layer::LayerFolders;
use crate::linux::sandbox::Sandbox;
use crate::network::Connector;
use crate::network::proxy::NetworkProxy;
use crate::reach::WriteAccess;
use crate::samples::RecordingTransport;
use locum_base::secret::Redactor;
use locum_policy::intent::{Connection, Facts};
use locum_policy::schema::{CommandLimits, CommandNetwork, SandboxSetting};
use locum_policy::urls::Destination;
use locum_policy::{Permit, Policy};

/// Answers on a port, over and over.
const SERVER: &str = "exec perl -MSocket -e '$| = 1; socket(L,AF_INET,SOCK_STREAM,0) or die $!; \
                      setsockopt(L,SOL_SOCKET,SO_REUSEADDR,1); \
                      bind(L,sockaddr_in(4000,INADDR_LOOPBACK)) or die $!; listen(L,5) or die $!; \
                      print \"listening\\n\"; while (accept(C,L)) { syswrite C, \"hello\"; close C }'";

const CLIENT: &str = "exec perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0) or die $!; \
                      connect(S,sockaddr_in(4000,INADDR_LOOPBACK)) or die $!; local $/; print <S>'";

fn wait(until: &str) -> OutputWait<'_> {
    OutputWait { patience: Duration::from_secs(20), until: Some(until) }
}

/// A runtime on which commands go on while others are waited for.
struct Commands<'p> {
    place: &'p SandboxFixture,
    runtime: tokio::runtime::Runtime,
}

impl<'p> Commands<'p> {
    fn of(place: &'p SandboxFixture) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { place, runtime }
    }

    fn start(
        &self,
        (script, until): (&str, &str),
        attempt: ScriptAttempt<'_>,
        beside: Beside<'_>,
    ) -> BackgroundCommand {
        let _entered = self.runtime.enter();
        let start = |permit: &Permit<TestCommand>, command: CommandRun<'_>| {
            BackgroundCommand::start(permit, command)
        };
        let mut started = self.place.with_command(script, attempt, beside, start).unwrap();
        let ended = self.runtime.block_on(started.wait(wait(until)));
        assert_eq!(ended, None, "{}", started.take_output(&Redactor::default()).text);
        started
    }

    fn run(&self, script: &str, attempt: ScriptAttempt<'_>, beside: Beside<'_>) -> CommandOutput {
        self.place.with_command(script, attempt, beside, |permit, command| {
            self.runtime.block_on(exec::run(permit, command)).unwrap()
        })
    }

    fn stop(&self, command: &mut BackgroundCommand) -> Exit {
        self.runtime.block_on(command.stop())
    }
}

#[test]
fn a_server_is_reached_by_commands_in_its_network_and_by_no_other() {
    let place = SandboxFixture::new();
    let commands = Commands::of(&place);
    let sandbox = place.sandbox(SandboxSetting::Required);
    let attempt = || ScriptAttempt::of(&sandbox);
    let mut server = commands.start((SERVER, "listening"), attempt(), Beside::default());
    let network = server.network().unwrap();
    let beside = Beside { network: Some(&network), ..Beside::default() };
    for _ in 0..2 {
        let output = commands.run(CLIENT, attempt(), beside);
        assert_eq!((output.exit, &*output.output.text), (Exit::Code(0), "hello"));
    }
    let alone = commands.run(CLIENT, attempt(), Beside::default());
    assert_ne!(alone.exit, Exit::Code(0), "a command with a network of its own");
    // A second one beside it is reached in the same way.
    let other = SERVER.replace("4000", "4001");
    let mut other = commands.start((&other, "listening"), attempt(), beside);
    let output = commands.run(&CLIENT.replace("4000", "4001"), attempt(), beside);
    assert_eq!((output.exit, &*output.output.text), (Exit::Code(0), "hello"));
    commands.stop(&mut other);
    commands.stop(&mut server);
    let output = commands.run(CLIENT, attempt(), beside);
    assert_ne!(output.exit, Exit::Code(0), "it has ended");
}

#[test]
fn each_command_in_a_network_has_the_proxy_of_its_own_mode() {
    let policy = |host: &str| {
        let text = format!(
            "version: 1\ncommands: {{ network: policy }}\nnetwork: {{ allow: ['http://{host}'] }}\n"
        );
        Policy::parse(&text, "policy.yml").unwrap()
    };
    let web = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = web.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        while let Ok((mut stream, _)) = web.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nweb";
            let _ = stream.write_all(answer);
        }
    });
    let proxy = |host: &str| {
        let (transport, connected) = RecordingTransport::new(address, &[]);
        // No test reads it, but the receiver has to stay alive.
        std::mem::forget(connected);
        let policy = policy(host);
        NetworkProxy::new(
            Connector::new(Arc::new(transport)),
            Arc::new(move |to| policy.admit(Connection::Command(to), &Facts::default())),
        )
    };
    let asks = |host: &str| {
        format!(
            "exec perl -MSocket -e 'my ($host, $port) = $ENV{{HTTP_PROXY}} =~ \
             m,^http://([0-9.]+):([0-9]+)$,; socket(S,AF_INET,SOCK_STREAM,0) or die $!; \
             connect(S,sockaddr_in($port,inet_aton($host))) or die $!; \
             syswrite S, \"GET http://{host}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\"; local $/; print <S>'"
        )
    };
    let place = SandboxFixture::new();
    let commands = Commands::of(&place);
    let sandbox = Sandbox::prepare(&policy("one.example").settings().commands, &place.env)
        .unwrap()
        .with_hosts_of(&policy("one.example"), &Facts::default());
    let attempt =
        |host: &str| ScriptAttempt { proxy: Some(proxy(host)), ..ScriptAttempt::of(&sandbox) };
    let server = (SERVER, "listening");
    let server = commands.start(server, attempt("one.example"), Beside::default());
    let network = server.network().unwrap();
    let beside = Beside { network: Some(&network), ..Beside::default() };
    for (host, other) in [("two.example", "one.example"), ("one.example", "two.example")] {
        let output = commands.run(&asks(host), attempt(host), beside);
        assert!(output.output.text.ends_with("web"), "{host}: {}", output.output.text);
        let output = commands.run(&asks(other), attempt(host), beside);
        assert!(output.output.text.contains("403"), "{other}: {}", output.output.text);
        assert_eq!(output.traffic.unwrap().verdicts.len(), 1);
    }
    let output = commands.run(CLIENT, attempt("one.example"), beside);
    assert_eq!(output.output.text, "hello");
}

#[test]
fn a_program_in_another_sandbox_beside_reaches_it_and_nothing_else_of_it() {
    let place = SandboxFixture::new();
    let commands = Commands::of(&place);
    let sandbox = place.sandbox(SandboxSetting::Required);
    let limits = CommandLimits { network: CommandNetwork::Listed, ..CommandLimits::default() };
    let other = sandbox.beside(&limits, &place.env).unwrap();
    let nobody = |_| {
        Policy::parse("version: 1\n", "policy.yml").unwrap().admit(
            Connection::Command(Destination::parse("nobody.example").unwrap()),
            &Facts::default(),
        )
    };
    let proxy = NetworkProxy::new(Connector::default(), Arc::new(nobody));
    let in_other = || ScriptAttempt { proxy: Some(proxy.clone()), ..ScriptAttempt::of(&other) };
    let mut server =
        commands.start((SERVER, "listening"), ScriptAttempt::of(&sandbox), Beside::default());
    let network = server.network().unwrap();
    let beside = Beside { network: Some(&network), ..Beside::default() };
    for _ in 0..2 {
        let output = commands.run(CLIENT, in_other(), beside);
        assert_eq!((output.exit, &*output.output.text), (Exit::Code(0), "hello"));
    }
    let alone = commands.run(CLIENT, in_other(), Beside::default());
    assert_ne!(alone.exit, Exit::Code(0), "with a network of its own");
    // Homes and temporary files are not shared.
    let script = "echo x > ~/seen; echo x > /tmp/seen; ls ~ /tmp";
    let written = commands.run(script, ScriptAttempt::of(&sandbox), Beside::default());
    assert!(written.output.text.contains("seen"), "{}", written.output.text);
    let seen = commands.run("ls ~ /tmp", in_other(), Beside::default());
    assert!(!seen.output.text.contains("seen"), "{}", seen.output.text);
    commands.stop(&mut server);
}

#[test]
fn it_sees_what_others_wrote_and_what_it_writes_is_its_own() {
    let place = SandboxFixture::new();
    let commands = Commands::of(&place);
    let sandbox = place.sandbox(SandboxSetting::Required);
    let folder = |name: &str| {
        let [upper, work] = ["upper", "work"].map(|part| place.outside.join(name).join(part));
        std::fs::create_dir_all(&upper).unwrap();
        std::fs::create_dir_all(&work).unwrap();
        (upper, work)
    };
    let layer = |(upper, work): &(PathBuf, PathBuf)| -> (PathBuf, PathBuf) {
        (upper.clone(), work.clone())
    };
    let (run_folders, own_folders) = (layer(&folder("run")), layer(&folder("own")));
    let run_layer = LayerFolders::over(&run_folders.0, &run_folders.1);
    let own_layer = LayerFolders::over(&own_folders.0, &own_folders.1);
    let attempt = || ScriptAttempt { writes: WriteAccess::Entries, ..ScriptAttempt::of(&sandbox) };
    let built = Beside { layer: Some(run_layer), ..Beside::default() };
    let output = commands.run("mkdir -p build && echo built > build/out", attempt(), built);
    assert_eq!(output.exit, Exit::Code(0), "{}", output.output.text);
    let script = "cat build/out; echo own > src/own && echo up; while [ ! -e src/go ]; do :; done; \
                  cat src/a; echo; cat build/out; echo seen; sleep 1000";
    let beside = Beside { layer: Some(own_layer), seen_below: Some(&run_folders.0), network: None };
    let mut server = commands.start((script, "up"), attempt(), beside);
    assert_eq!(server.take_output(&Redactor::default()).text, "built\nup\n");
    assert!(!place.root.join("src/own").exists() && !run_folders.0.join("src/own").exists());
    assert!(own_folders.0.join("src/own").exists());
    // Somebody edits a file, a command builds again.
    std::fs::write(place.root.join("src/a.new"), "edited").unwrap();
    std::fs::rename(place.root.join("src/a.new"), place.root.join("src/a")).unwrap();
    run_layer.empty_work().unwrap();
    let output = commands.run("echo again > build/out", attempt(), built);
    assert_eq!(output.exit, Exit::Code(0), "{}", output.output.text);
    std::fs::write(place.root.join("src/go"), "").unwrap();
    server.renew_layer().unwrap();
    assert_eq!(commands.runtime.block_on(server.wait(wait("seen"))), None);
    assert_eq!(server.take_output(&Redactor::default()).text, "edited\nagain\nseen\n");
    assert_eq!(commands.stop(&mut server), Exit::Signal(15));
}

#[test]
fn one_that_may_write_nothing_sees_what_others_wrote_too() {
    let place = SandboxFixture::new();
    let commands = Commands::of(&place);
    let sandbox = place.sandbox(SandboxSetting::Required);
    let [upper, work] = ["upper", "work"].map(|part| place.outside.join("own").join(part));
    std::fs::create_dir_all(&upper).unwrap();
    std::fs::create_dir_all(&work).unwrap();
    let layer = Some(LayerFolders::over(&upper, &work));
    let attempt = ScriptAttempt { writes: WriteAccess::Nothing, ..ScriptAttempt::of(&sandbox) };
    let script = "echo up; while [ ! -e src/go ]; do :; done; cat src/a; echo; echo own > src/own; \
                  echo seen; sleep 1000";
    let beside = Beside { layer, ..Beside::default() };
    let mut reader = commands.start((script, "up"), attempt, beside);
    std::fs::write(place.root.join("src/a.new"), "edited").unwrap();
    std::fs::rename(place.root.join("src/a.new"), place.root.join("src/a")).unwrap();
    std::fs::write(place.root.join("src/go"), "").unwrap();
    reader.renew_layer().unwrap();
    assert_eq!(commands.runtime.block_on(reader.wait(wait("seen"))), None);
    let output = reader.take_output(&Redactor::default()).text;
    assert!(output.contains("edited\n"), "{output}");
    assert!(!place.root.join("src/own").exists() && !upper.join("src/own").exists());
    commands.stop(&mut reader);
}
