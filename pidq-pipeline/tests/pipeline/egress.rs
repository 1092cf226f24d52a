//! Tests of the SSRF guard: every notation of every forbidden address, and DNS rebinding.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pidq_http::Fut;
use pidq_pipeline::net::egress::{
    AllowList, Backend, EgressError, EgressRejection, EgressScope, Guard, Level, Listeners, Policy, Resolver,
    SystemResolver,
};
use tokio::net::{TcpListener, UdpSocket};

/// A resolver with fixed names.
pub struct FixedResolver(HashMap<&'static str, Vec<IpAddr>>);

impl Resolver for FixedResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>> {
        let found = self.0.get(name).cloned();
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

fn names() -> FixedResolver {
    let rows: &[(&str, &[&str])] = &[
        ("api.example.com", &["93.184.216.34", "2606:2800:220:1::1"]),
        ("localhost", &["127.0.0.1", "::1"]),
        ("ollama.plant", &["10.1.2.3"]),
        ("inner.evil.example", &["10.1.2.3"]),
        ("loop.evil.example", &["127.0.0.1"]),
        ("meta.evil.example", &["169.254.169.254"]),
        ("both.evil.example", &["93.184.216.34", "127.0.0.1"]),
        ("mapped.evil.example", &["::ffff:169.254.169.254"]),
        ("db.plant", &["10.0.0.5"]),
        ("bücher.example", &[]),
        ("xn--bcher-kva.example", &["93.184.216.34"]),
        ("empty.example", &[]),
    ];
    let parse = |address: &&str| address.parse().unwrap();
    FixedResolver(rows.iter().map(|(name, addresses)| (*name, addresses.iter().map(parse).collect())).collect())
}

fn guard(scope: EgressScope) -> Guard {
    let backends = vec![
        Backend { host: "db.plant".to_owned(), port: 5432 },
        Backend::from_url("redis://:secret@localhost").unwrap(),
        Backend::from_url("nats://[::1]:4222").unwrap(),
    ];
    Guard::new(Policy { scope, backends }, None).unwrap().with_resolver(Arc::new(names()))
}

async fn outcome(guard: &Guard, address: &str) -> &'static str {
    match guard.target(address, None).await {
        Ok(_) => "allowed",
        Err(EgressError::Unresolved) => "unresolved",
        Err(EgressError::Rejected(rejection)) => match rejection {
            EgressRejection::InvalidUrl(_) => "invalid",
            EgressRejection::Never(_) => "never",
            EgressRejection::Level(_) => "level",
            EgressRejection::Backend => "backend",
            EgressRejection::NotListed | EgressRejection::NotListedForClassification => "not listed",
        },
    }
}

/// URLs and their results under the most permissive policy.
const URLS: &[(&str, &str)] = &[
    // The metadata address in all its notations.
    ("http://169.254.169.254/", "never"),
    ("http://169.254.169.254:80/latest/meta-data", "never"),
    ("http://169.254.169.254./", "never"),
    ("http://2852039166/", "never"),
    ("http://0xa9fea9fe/", "never"),
    ("http://0xA9.0xFE.0xA9.0xFE/", "never"),
    ("http://0251.0376.0251.0376/", "never"),
    ("http://025177524776/", "never"),
    ("http://169.254.43518/", "never"),
    ("http://169.16689662/", "never"),
    ("http://0251.254.0xa9.254/", "never"),
    ("http://[::ffff:169.254.169.254]/", "never"),
    ("http://[::ffff:a9fe:a9fe]/", "never"),
    ("http://[0:0:0:0:0:ffff:a9fe:a9fe]/", "never"),
    ("http://[::ffff:0:a9fe:a9fe]/", "never"),
    ("http://[64:ff9b::a9fe:a9fe]/", "never"),
    ("http://[64:ff9b::169.254.169.254]/", "never"),
    ("http://[2002:a9fe:a9fe::1]/", "never"),
    ("http://[2001:db8::5efe:a9fe:a9fe]/", "never"),
    ("http://[fe80::5efe:a9fe:a9fe]/", "never"),
    ("http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/", "never"),
    ("http://１６９．２５４．１６９．２５４/", "never"),
    ("http://169。254。169。254/", "never"),
    ("http://169．254．169．254/", "never"),
    ("http://169｡254｡169｡254/", "never"),
    ("http://meta.evil.example/", "never"),
    ("http://mapped.evil.example/", "never"),
    // Metadata services of other providers.
    ("http://[fd00:ec2::254]/", "never"),
    ("http://[fd00:0ec2:0:0:0:0:0:0254]/", "never"),
    ("http://[fd20:ce::254]/", "never"),
    ("http://100.100.100.200/", "never"),
    ("http://1684301000/", "never"),
    ("http://168.63.129.16/", "never"),
    ("http://192.0.0.192/", "never"),
    ("http://metadata.google.internal/computeMetadata/v1/", "never"),
    ("http://METADATA.Google.Internal./", "never"),
    ("http://metadata/", "never"),
    ("http://ｍｅｔａｄａｔａ.google.internal/", "never"),
    ("http://metadata。google。internal/", "never"),
    ("http://instance-data/", "never"),
    // Link-local, unspecified and multicast addresses.
    ("http://169.254.0.1/", "never"),
    ("http://[fe80::1]/", "never"),
    ("http://[febf::1]/", "never"),
    ("http://0.0.0.0/", "never"),
    ("http://0/", "never"),
    ("http://0.1.2.3/", "never"),
    ("http://0x0/", "never"),
    ("http://[::]/", "never"),
    ("http://[::ffff:0.0.0.0]/", "never"),
    ("http://224.0.0.1/", "never"),
    ("http://239.255.255.250/", "never"),
    ("http://[ff02::1]/", "never"),
    ("http://255.255.255.255/", "never"),
    ("http://4294967295/", "never"),
    // Reserved addresses.
    ("http://100.64.0.1/", "level"),
    ("http://198.18.0.1/", "level"),
    ("http://192.0.2.1/", "level"),
    ("http://203.0.113.9/", "level"),
    ("http://240.0.0.1/", "level"),
    ("http://[2001:db8::1]/", "level"),
    ("http://[2001:0:a00:1::]/", "level"),
    ("http://[64:ff9b:1::a00:1]/", "level"),
    ("http://[::127.0.0.1]/", "level"),
    ("http://[::7f00:1]/", "level"),
    ("http://[100::1]/", "level"),
    ("http://[fec0::1]/", "level"),
    // URLs that parsers interpret differently.
    ("http://user@api.example.com/", "invalid"),
    ("http://user:password@api.example.com/", "invalid"),
    ("http://api.example.com@169.254.169.254/", "invalid"),
    ("http://@api.example.com/", "invalid"),
    ("http://api.example.com#@169.254.169.254/", "invalid"),
    ("http://api.example.com/v1#part", "invalid"),
    ("http://api.example.com\\@169.254.169.254/", "invalid"),
    ("http:\\\\169.254.169.254\\", "invalid"),
    ("http://169.254.169.254%2f@api.example.com/", "invalid"),
    ("http://%31%36%39.254.169.254/", "invalid"),
    ("http://[fe80::1%25eth0]/", "invalid"),
    ("http://api.example.com\t/", "invalid"),
    ("http://api.exa\nmple.com/", "invalid"),
    (" http://api.example.com/", "invalid"),
    ("http://api.example.com/ HTTP/1.1", "invalid"),
    ("http:///169.254.169.254/", "invalid"),
    ("http:/api.example.com/", "invalid"),
    ("http:api.example.com/", "invalid"),
    ("//api.example.com/", "invalid"),
    ("api.example.com", "invalid"),
    ("", "invalid"),
    ("http://", "invalid"),
    ("http://:80/", "invalid"),
    ("http://./", "invalid"),
    ("http://a..b/", "invalid"),
    ("http://api.example.com:0/", "invalid"),
    ("http://api.example.com:99999/", "invalid"),
    ("http://api.example.com:80a/", "invalid"),
    ("http://1.2.3.4.5/", "invalid"),
    ("http://256.256.256.256/", "invalid"),
    ("http://0x100000000/", "invalid"),
    ("http://[::1/", "invalid"),
    ("http://::1/", "invalid"),
    ("http://api.example.com/v1/%2e%2e/admin", "invalid"),
    ("http://api.example.com/v1%2fadmin", "invalid"),
    ("file:///etc/passwd", "invalid"),
    ("gopher://127.0.0.1:6379/_INFO", "invalid"),
    ("ftp://api.example.com/", "invalid"),
    ("unix:///run/docker.sock", "invalid"),
    ("javascript:alert(1)", "invalid"),
    // Backends of the platform.
    ("http://db.plant:5432/", "backend"),
    ("http://10.0.0.5:5432/", "backend"),
    ("http://167772165:5432/", "backend"),
    ("http://[::ffff:10.0.0.5]:5432/", "backend"),
    ("http://localhost:6379/", "backend"),
    ("http://127.0.0.1:6379/", "backend"),
    ("http://127.1.2.3:6379/", "backend"),
    ("http://[::1]:6379/", "backend"),
    ("http://127.0.0.1:4222/", "backend"),
    ("http://loop.evil.example:6379/", "backend"),
    // Permitted addresses.
    ("http://nowhere.example/", "unresolved"),
    ("http://empty.example/", "unresolved"),
    ("http://db.plant:8000/v1", "allowed"),
    ("http://localhost:11434/v1", "allowed"),
    ("http://127.1/", "allowed"),
    ("http://ollama.plant:11434/v1", "allowed"),
    ("https://api.example.com/v1", "allowed"),
    ("HTTPS://API.EXAMPLE.COM./v1/", "allowed"),
    ("https://api.example.com/v1?api-version=1", "allowed"),
    ("https://bücher.example/v1", "allowed"),
    ("https://8.8.8.8/", "allowed"),
    ("https://[64:ff9b::8.8.8.8]/", "allowed"),
    ("https://[2606:4700::1111]/", "allowed"),
];

#[tokio::test]
async fn no_notation_reaches_a_forbidden_address() {
    let guard = guard(EgressScope::Level(Level::Local));
    let mut failures = Vec::new();
    for &(address, expected) in URLS {
        let actual = outcome(&guard, address).await;
        if actual != expected {
            failures.push(format!("{address:?}: {actual}, not {expected}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(URLS.len() >= 80);
}

#[tokio::test]
async fn the_platforms_own_listeners_are_rejected_by_all_of_their_names() {
    for listener in ["127.0.0.1:21200", "0.0.0.0:21200", "[::]:21200"] {
        let listeners = Listeners::default();
        let allowed: AllowList = "http://127.0.0.1:21200".parse().unwrap();
        let scopes = [EgressScope::Level(Level::Local), EgressScope::AllowListed(allowed)];
        let [guard, listed] = scopes.map(|scope| guard(scope).with_listeners(listeners.clone()));
        assert_eq!(outcome(&guard, "http://127.0.0.1:21200/v1").await, "allowed", "before it is bound");
        listeners.add([listener.parse().unwrap()]);
        for host in [
            "127.0.0.1",
            "127.1",
            "127.9.9.9",
            "0x7f.1",
            "2130706433",
            "localhost",
            "LOCALHOST.",
            "loop.evil.example",
            "both.evil.example",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::127.0.0.1]",
            "[2002:7f00:1::]",
        ] {
            let url = format!("http://{host}:21200/api");
            assert_eq!(outcome(&guard, &url).await, "backend", "{listener} {url}");
        }
        for (url, expected) in [
            ("http://0.0.0.0:21200/", "never"),
            ("http://[::]:21200/", "never"),
            ("http://127.0.0.1:21201/v1", "allowed"),
            ("http://ollama.plant:21200/v1", "allowed"),
            ("https://api.example.com:21200/v1", "allowed"),
        ] {
            assert_eq!(outcome(&guard, url).await, expected, "{listener} {url}");
        }
        assert_eq!(outcome(&listed, "http://127.0.0.1:21200/v1").await, "backend", "the list does not permit it");
    }
}

/// URLs and their results at the three levels.
const LEVELS: &[(&str, [&str; 3])] = &[
    ("https://api.example.com/v1", ["allowed", "allowed", "allowed"]),
    ("http://10.1.2.3/", ["level", "allowed", "allowed"]),
    ("http://172.16.0.1/", ["level", "allowed", "allowed"]),
    ("http://172.32.0.1/", ["allowed", "allowed", "allowed"]),
    ("http://192.168.1.1/", ["level", "allowed", "allowed"]),
    ("http://3232235777/", ["level", "allowed", "allowed"]),
    ("http://0300.0250.1.1/", ["level", "allowed", "allowed"]),
    ("http://[fd12::1]/", ["level", "allowed", "allowed"]),
    ("http://[::ffff:10.0.0.1]/", ["level", "allowed", "allowed"]),
    ("http://[2002:a00:1::]/", ["level", "allowed", "allowed"]),
    ("http://[64:ff9b::a00:1]/", ["level", "allowed", "allowed"]),
    ("http://inner.evil.example/", ["level", "allowed", "allowed"]),
    ("http://127.0.0.1/", ["level", "level", "allowed"]),
    ("http://127.255.255.254/", ["level", "level", "allowed"]),
    ("http://0x7f.1/", ["level", "level", "allowed"]),
    ("http://017700000001/", ["level", "level", "allowed"]),
    ("http://2130706433/", ["level", "level", "allowed"]),
    ("http://[::1]/", ["level", "level", "allowed"]),
    ("http://[0000::1]/", ["level", "level", "allowed"]),
    ("http://[::ffff:127.0.0.1]/", ["level", "level", "allowed"]),
    ("http://[2002:7f00:1::]/", ["level", "level", "allowed"]),
    ("http://localhost./", ["level", "level", "allowed"]),
    ("http://LOCALHOST/", ["level", "level", "allowed"]),
    ("http://loop.evil.example/", ["level", "level", "allowed"]),
    ("http://both.evil.example/", ["level", "level", "allowed"]),
];

#[tokio::test]
async fn each_egress_level_permits_its_addresses() {
    for &(address, expected) in LEVELS {
        for (level, expected) in [Level::Public, Level::Private, Level::Local].into_iter().zip(expected) {
            assert_eq!(outcome(&guard(EgressScope::Level(level)), address).await, expected, "{address} at {level:?}");
        }
    }
}

#[tokio::test]
async fn with_an_allow_list_other_hosts_are_rejected() {
    let guard = guard(EgressScope::AllowListed(
        "https://api.example.com/v1, http://localhost:11434, http://meta.evil.example".parse().unwrap(),
    ));
    let rows = [
        ("https://api.example.com/v1", "allowed"),
        ("https://api.example.com/v1/../v2", "not listed"),
        ("https://api.example.com:444/v1", "not listed"),
        ("http://localhost:11434/v1", "allowed"),
        ("http://127.0.0.1:11434/v1", "not listed"),
        ("http://ollama.plant:11434/v1", "not listed"),
        // Listed, but still forbidden.
        ("http://meta.evil.example/", "never"),
    ];
    for (address, expected) in rows {
        assert_eq!(outcome(&guard, address).await, expected, "{address}");
    }
}

#[tokio::test]
async fn the_allow_list_of_a_classification_only_narrows() {
    let guard = guard(EgressScope::Level(Level::Public));
    let allow_list: AllowList = "https://api.example.com/v1, http://10.1.2.3".parse().unwrap();
    assert!(guard.target("https://api.example.com/v1", Some(&allow_list)).await.is_ok());
    let other = guard.target("https://8.8.8.8/v1", Some(&allow_list)).await;
    assert!(matches!(other, Err(EgressError::Rejected(EgressRejection::NotListedForClassification))));
    assert!(matches!(
        guard.target("http://10.1.2.3/", Some(&allow_list)).await,
        Err(EgressError::Rejected(EgressRejection::Level(_)))
    ));
}

#[tokio::test]
async fn administrator_addresses_are_not_checked() {
    let guard = guard(EgressScope::Unrestricted);
    assert_eq!(outcome(&guard, "http://127.0.0.1:6379/").await, "allowed");
    assert_eq!(outcome(&guard, "http://user@127.0.0.1/").await, "invalid");
}

#[test]
fn a_rejection_does_not_reveal_resolved_addresses() {
    let text = EgressRejection::Never("a metadata service").to_string();
    assert!(text.contains("PIDQ_LLM_ALLOW") && !text.contains("metadata"), "{text}");
}

#[tokio::test]
async fn the_system_resolver_returns_all_addresses() {
    let addresses = SystemResolver.resolve("localhost").await.unwrap();
    assert!(!addresses.is_empty() && addresses.iter().all(IpAddr::is_loopback), "{addresses:?}");
}

/// Starts a DNS server that first returns a private address and then always loopback, and counts the requests.
async fn rebinding_server(address: &str) -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind(address).await.unwrap();
    let (address, requests) = (socket.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = requests.clone();
    tokio::spawn(async move {
        let mut packet = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            let question = &packet[..length];
            // No AAAA records.
            let is_v4 = question[length - 4..length - 2] == [0, 1];
            let is_first = is_v4 && count.fetch_add(1, Ordering::SeqCst) == 0;
            let address = if is_first { Ipv4Addr::new(192, 168, 255, 254) } else { Ipv4Addr::LOCALHOST };
            let _ = socket.send_to(&response(question, is_v4.then_some(address)), from).await;
        }
    });
    (address, requests)
}

/// Returns a DNS response (RFC 1035): the question, and at most one address with a TTL of zero.
fn response(question: &[u8], address: Option<Ipv4Addr>) -> Vec<u8> {
    let mut response = question.to_vec();
    response[2..4].copy_from_slice(&[0x81, 0x80]);
    response[6..8].copy_from_slice(&[0, u8::from(address.is_some())]);
    if let Some(address) = address {
        response.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        response.extend(address.octets());
    }
    response
}

/// A resolver that queries a DNS server and caches nothing.
struct DnsResolver(SocketAddr);

impl Resolver for DnsResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let socket = UdpSocket::bind("127.0.0.1:0").await?;
            let mut question = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
            for label in name.split('.') {
                question.push(label.len() as u8);
                question.extend(label.bytes());
            }
            question.extend([0, 0, 1, 0, 1]);
            socket.send_to(&question, self.0).await?;
            let mut packet = [0; 512];
            let length = socket.recv(&mut packet).await?;
            let octets: [u8; 4] = packet[length - 4..length].try_into().unwrap();
            Ok(vec![Ipv4Addr::from(octets).into()])
        })
    }
}

#[tokio::test]
async fn dns_rebinding_is_blocked() {
    let (server, requests) = rebinding_server("127.0.0.1:0").await;
    check_rebinding(Arc::new(DnsResolver(server)), &requests).await;
}

async fn check_rebinding(resolver: Arc<dyn Resolver>, requests: &AtomicUsize) {
    let honeypot = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = honeypot.local_addr().unwrap().port();
    let policy = Policy { scope: EgressScope::Level(Level::Private), backends: Vec::new() };
    let guard = Guard::new(policy, None).unwrap().with_resolver(resolver);

    let target = guard.target(&format!("http://rebind.example:{port}/v1"), None).await.unwrap();
    assert!(guard.connect(&target, Duration::from_millis(200)).await.is_err());
    assert_eq!(requests.load(Ordering::SeqCst), 1, "the name is resolved once");

    // The second response would be loopback, but the name is not resolved again.
    assert!(guard.target(&format!("http://rebind.example:{port}/v1"), None).await.is_err());
    let caught = tokio::time::timeout(Duration::from_millis(100), honeypot.accept()).await;
    assert!(caught.is_err(), "the honeypot was reached");
}

/// Environment variable of the child process in its own namespaces.
const CHILD_ENV: &str = "PIDQ_TEST_IN_NAMESPACE";

/// Runs this program in its own network and mount namespaces, where `/etc/resolv.conf` names the DNS server of the test.
const NAMESPACE_SCRIPT: &str =
    "ip link set lo up && mount --bind \"$RESOLV\" /etc/resolv.conf && exec \"$PROGRAM\" --exact \"$TEST\"";

#[test]
fn dns_rebinding_is_blocked_with_the_system_resolver() {
    if std::env::var_os(CHILD_ENV).is_some() {
        return run_in_namespace();
    }
    if !Command::new("unshare").args(["-rmn", "ip", "link", "set", "lo", "up"]).status().is_ok_and(|s| s.success()) {
        return eprintln!("SKIPPED: there is no `unshare -rmn`, or no `ip`");
    }
    let resolv = std::env::temp_dir().join(format!("pidq-resolv-{}", std::process::id()));
    std::fs::write(&resolv, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n").unwrap();
    let mut command = Command::new("unshare");
    let command = command.args(["-rmn", "sh", "-c", NAMESPACE_SCRIPT]).env(CHILD_ENV, "1").env("RESOLV", &resolv);
    let command = command.env("PROGRAM", std::env::current_exe().unwrap());
    let output = command.env("TEST", "egress::dns_rebinding_is_blocked_with_the_system_resolver").output().unwrap();
    std::fs::remove_file(&resolv).unwrap();
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output_text.contains("1 passed"), "{output_text}");
}

fn run_in_namespace() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (_, requests) = rebinding_server("127.0.0.1:53").await;
        check_rebinding(Arc::new(SystemResolver), &requests).await;
    });
}
