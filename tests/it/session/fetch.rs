//! A run that is killed while it waits for a page, really killed, and resumed: the page is not
//! asked for again, and the model is told.

use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures::future::BoxFuture;
use locum_agent::session::event::Event;
use locum_sandbox::network::{Connector, Transport};
use pretty_assertions::assert_eq;
use tokio::net::TcpStream;

use crate::session::fixture::Fixture;

/// Tells the second start of this program where the run is, and where the server.
const VARIABLE: &str = "LOCUM_TEST_OF_A_KILL";

/// When the run is given up that never asks.
const LONGEST: Duration = Duration::from_secs(120);

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: [\"read(**)\", \"edit(src/**)\", \"fetch(http://docs.example.org)\"]\n";

const SCRIPT: &str = r#"
  - turns:
      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
      - calls: [{ tool: web_fetch, args: { url: "http://docs.example.org/page" } }]
      - calls: [{ tool: attempt_completion, args: { result: "read" } }]
"#;

/// Every name stands for a public address, and every connection leads to the test's server.
struct ToServer(SocketAddr);

impl Transport for ToServer {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec![IpAddr::from([93, 184, 216, 34])]) })
    }

    fn connect(&self, _: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(self.0))
    }

    fn tls_config(&self) -> Result<Arc<rustls::ClientConfig>, String> {
        Err("nobody proves a name here".to_owned())
    }
}

/// Answers no question, and tells of each.
fn serve() -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, asked) = mpsc::channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap();
            open.push(stream);
            let _ = sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned());
        }
    });
    (address, asked)
}

#[test]
fn a_page_that_was_waited_for_when_the_run_was_killed_is_not_asked_for_again() {
    if let Ok(place) = std::env::var(VARIABLE) {
        let [folder, server] = place.split('\n').collect::<Vec<_>>().try_into().unwrap();
        let mut run = Fixture::of(Path::new(folder), SCRIPT, POLICY);
        run.connector = Connector::new(Arc::new(ToServer(server.parse().unwrap())));
        run.run();
        panic!("the run ended before it was killed");
    }
    let (server, asked) = serve();
    let mut killed = Fixture::with_policy(SCRIPT, POLICY);
    let folder = killed.journal.parent().unwrap().display().to_string();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "session::fetch::a_page_that_was_waited_for_when_the_run_was_killed_is_not_asked_for_again"])
        .env(VARIABLE, format!("{folder}\n{server}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let first = asked.recv_timeout(LONGEST);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first.unwrap().starts_with("GET /page HTTP/1.1\r\n"));

    killed.connector = Connector::new(Arc::new(ToServer(server)));
    let resumed = killed.resume();
    assert_eq!(
        (resumed.word(), resumed.changed()),
        ("done", vec!["src/b.txt"]),
        "{}",
        resumed.reason()
    );
    assert!(asked.try_recv().is_err(), "what a question may have done is not done twice");
    let [told] = resumed.answers("web_fetch").try_into().unwrap();
    assert!(told.contains("interrupted") && told.contains("not performed again"), "{told}");
    let answered =
        resumed.lines.iter().filter(|line| matches!(&line.event, Event::Answered { .. })).count();
    assert_eq!(answered, 3, "each call has one answer");
}
