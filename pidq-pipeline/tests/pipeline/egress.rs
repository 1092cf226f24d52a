//! Where a caller may send us: every spelling of every place that must not be reached, and a name server that lies.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pidq_http::Fut;
use pidq_pipeline::egress::{
    AllowList, BackEnd, Guard, Level, NoTarget, Policy, Reach, Refusal, Resolver, SystemResolver,
};
use tokio::net::{TcpListener, UdpSocket};

/// A name server of fixed names.
pub struct Names(HashMap<&'static str, Vec<IpAddr>>);

impl Resolver for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Fut<'a, io::Result<Vec<IpAddr>>> {
        let found = self.0.get(name).cloned();
        Box::pin(async move { found.ok_or_else(|| io::ErrorKind::NotFound.into()) })
    }
}

fn names() -> Names {
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
    let read = |address: &&str| address.parse().unwrap();
    Names(rows.iter().map(|(name, places)| (*name, places.iter().map(read).collect())).collect())
}

fn guard(reach: Reach) -> Guard {
    let back_ends = vec![
        BackEnd { host: "db.plant".to_owned(), port: 5432 },
        BackEnd::of_url("redis://:secret@localhost").unwrap(),
        BackEnd::of_url("nats://[::1]:4222").unwrap(),
    ];
    Guard::new(Policy { reach, back_ends }, None).unwrap().with_resolver(Arc::new(names()))
}

async fn outcome(guard: &Guard, address: &str) -> &'static str {
    match guard.target(address, None).await {
        Ok(_) => "reached",
        Err(NoTarget::Unresolved) => "unresolved",
        Err(NoTarget::Refused(refusal)) => match refusal {
            Refusal::Spelling(_) => "spelling",
            Refusal::Never(_) => "never",
            Refusal::Level(_) => "level",
            Refusal::BackEnd => "back end",
            Refusal::NotListed | Refusal::NotListedForLabel => "not listed",
        },
    }
}

/// Address, and what becomes of it where everything but the floor is open.
const SPELLINGS: &[(&str, &str)] = &[
    // The metadata address, by all its names.
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
    // Metadata of others.
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
    // The link, nowhere, and many.
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
    // Set aside.
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
    // Spellings that programs read differently.
    ("http://user@api.example.com/", "spelling"),
    ("http://user:password@api.example.com/", "spelling"),
    ("http://api.example.com@169.254.169.254/", "spelling"),
    ("http://@api.example.com/", "spelling"),
    ("http://api.example.com#@169.254.169.254/", "spelling"),
    ("http://api.example.com/v1#part", "spelling"),
    ("http://api.example.com\\@169.254.169.254/", "spelling"),
    ("http:\\\\169.254.169.254\\", "spelling"),
    ("http://169.254.169.254%2f@api.example.com/", "spelling"),
    ("http://%31%36%39.254.169.254/", "spelling"),
    ("http://[fe80::1%25eth0]/", "spelling"),
    ("http://api.example.com\t/", "spelling"),
    ("http://api.exa\nmple.com/", "spelling"),
    (" http://api.example.com/", "spelling"),
    ("http://api.example.com/ HTTP/1.1", "spelling"),
    ("http:///169.254.169.254/", "spelling"),
    ("http:/api.example.com/", "spelling"),
    ("http:api.example.com/", "spelling"),
    ("//api.example.com/", "spelling"),
    ("api.example.com", "spelling"),
    ("", "spelling"),
    ("http://", "spelling"),
    ("http://:80/", "spelling"),
    ("http://./", "spelling"),
    ("http://a..b/", "spelling"),
    ("http://api.example.com:0/", "spelling"),
    ("http://api.example.com:99999/", "spelling"),
    ("http://api.example.com:80a/", "spelling"),
    ("http://1.2.3.4.5/", "spelling"),
    ("http://256.256.256.256/", "spelling"),
    ("http://0x100000000/", "spelling"),
    ("http://[::1/", "spelling"),
    ("http://::1/", "spelling"),
    ("http://api.example.com/v1/%2e%2e/admin", "spelling"),
    ("http://api.example.com/v1%2fadmin", "spelling"),
    ("file:///etc/passwd", "spelling"),
    ("gopher://127.0.0.1:6379/_INFO", "spelling"),
    ("ftp://api.example.com/", "spelling"),
    ("unix:///run/docker.sock", "spelling"),
    ("javascript:alert(1)", "spelling"),
    // Our own services.
    ("http://db.plant:5432/", "back end"),
    ("http://10.0.0.5:5432/", "back end"),
    ("http://167772165:5432/", "back end"),
    ("http://[::ffff:10.0.0.5]:5432/", "back end"),
    ("http://localhost:6379/", "back end"),
    ("http://127.0.0.1:6379/", "back end"),
    ("http://127.1.2.3:6379/", "back end"),
    ("http://[::1]:6379/", "back end"),
    ("http://127.0.0.1:4222/", "back end"),
    ("http://loop.evil.example:6379/", "back end"),
    // What is left.
    ("http://nowhere.example/", "unresolved"),
    ("http://empty.example/", "unresolved"),
    ("http://db.plant:8000/v1", "reached"),
    ("http://localhost:11434/v1", "reached"),
    ("http://127.1/", "reached"),
    ("http://ollama.plant:11434/v1", "reached"),
    ("https://api.example.com/v1", "reached"),
    ("HTTPS://API.EXAMPLE.COM./v1/", "reached"),
    ("https://api.example.com/v1?api-version=1", "reached"),
    ("https://bücher.example/v1", "reached"),
    ("https://8.8.8.8/", "reached"),
    ("https://[64:ff9b::8.8.8.8]/", "reached"),
    ("https://[2606:4700::1111]/", "reached"),
];

#[tokio::test]
async fn no_spelling_leads_to_where_nobody_may_go() {
    let guard = guard(Reach::Level(Level::Local));
    let mut wrong = Vec::new();
    for &(address, expected) in SPELLINGS {
        let found = outcome(&guard, address).await;
        if found != expected {
            wrong.push(format!("{address:?}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(SPELLINGS.len() >= 80);
}

/// Address, and what becomes of it at the three levels.
const LEVELS: &[(&str, [&str; 3])] = &[
    ("https://api.example.com/v1", ["reached", "reached", "reached"]),
    ("http://10.1.2.3/", ["level", "reached", "reached"]),
    ("http://172.16.0.1/", ["level", "reached", "reached"]),
    ("http://172.32.0.1/", ["reached", "reached", "reached"]),
    ("http://192.168.1.1/", ["level", "reached", "reached"]),
    ("http://3232235777/", ["level", "reached", "reached"]),
    ("http://0300.0250.1.1/", ["level", "reached", "reached"]),
    ("http://[fd12::1]/", ["level", "reached", "reached"]),
    ("http://[::ffff:10.0.0.1]/", ["level", "reached", "reached"]),
    ("http://[2002:a00:1::]/", ["level", "reached", "reached"]),
    ("http://[64:ff9b::a00:1]/", ["level", "reached", "reached"]),
    ("http://inner.evil.example/", ["level", "reached", "reached"]),
    ("http://127.0.0.1/", ["level", "level", "reached"]),
    ("http://127.255.255.254/", ["level", "level", "reached"]),
    ("http://0x7f.1/", ["level", "level", "reached"]),
    ("http://017700000001/", ["level", "level", "reached"]),
    ("http://2130706433/", ["level", "level", "reached"]),
    ("http://[::1]/", ["level", "level", "reached"]),
    ("http://[0000::1]/", ["level", "level", "reached"]),
    ("http://[::ffff:127.0.0.1]/", ["level", "level", "reached"]),
    ("http://[2002:7f00:1::]/", ["level", "level", "reached"]),
    ("http://localhost./", ["level", "level", "reached"]),
    ("http://LOCALHOST/", ["level", "level", "reached"]),
    ("http://loop.evil.example/", ["level", "level", "reached"]),
    ("http://both.evil.example/", ["level", "level", "reached"]),
];

#[tokio::test]
async fn a_level_reaches_what_is_no_nearer_than_it_says() {
    for &(address, expected) in LEVELS {
        for (level, expected) in [Level::Public, Level::Private, Level::Local].into_iter().zip(expected) {
            assert_eq!(outcome(&guard(Reach::Level(level)), address).await, expected, "{address} at {level:?}");
        }
    }
}

#[tokio::test]
async fn with_a_list_nothing_else_is_reached() {
    let guard = guard(Reach::Listed(
        "https://api.example.com/v1, http://localhost:11434, http://meta.evil.example".parse().unwrap(),
    ));
    let rows = [
        ("https://api.example.com/v1", "reached"),
        ("https://api.example.com/v1/../v2", "not listed"),
        ("https://api.example.com:444/v1", "not listed"),
        ("http://localhost:11434/v1", "reached"),
        ("http://127.0.0.1:11434/v1", "not listed"),
        ("http://ollama.plant:11434/v1", "not listed"),
        // Listed, and still not to be reached.
        ("http://meta.evil.example/", "never"),
    ];
    for (address, expected) in rows {
        assert_eq!(outcome(&guard, address).await, expected, "{address}");
    }
}

#[tokio::test]
async fn the_list_of_a_label_narrows_and_never_widens() {
    let guard = guard(Reach::Level(Level::Public));
    let label: AllowList = "https://api.example.com/v1, http://10.1.2.3".parse().unwrap();
    assert!(guard.target("https://api.example.com/v1", Some(&label)).await.is_ok());
    let other = guard.target("https://8.8.8.8/v1", Some(&label)).await;
    assert!(matches!(other, Err(NoTarget::Refused(Refusal::NotListedForLabel))));
    assert!(matches!(guard.target("http://10.1.2.3/", Some(&label)).await, Err(NoTarget::Refused(Refusal::Level(_)))));
}

#[tokio::test]
async fn addresses_of_an_administrator_are_taken_as_given() {
    let guard = guard(Reach::Given);
    assert_eq!(outcome(&guard, "http://127.0.0.1:6379/").await, "reached");
    assert_eq!(outcome(&guard, "http://user@127.0.0.1/").await, "spelling");
}

#[test]
fn a_refusal_says_what_to_do_and_not_where_a_name_leads() {
    let text = Refusal::Never("a metadata service").to_string();
    assert!(text.contains("PIDQ_LLM_ALLOW") && !text.contains("metadata"), "{text}");
}

#[tokio::test]
async fn the_resolver_of_the_system_gives_all_addresses_of_a_name() {
    let places = SystemResolver.resolve("localhost").await.unwrap();
    assert!(!places.is_empty() && places.iter().all(IpAddr::is_loopback), "{places:?}");
}

/// A name server on the wire that answers a private address first and loopback ever after, and counts.
async fn rebinding_server(address: &str) -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind(address).await.unwrap();
    let (address, asked) = (socket.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = asked.clone();
    tokio::spawn(async move {
        let mut packet = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            let question = &packet[..length];
            // Nobody here has an IPv6 address.
            let is_v4 = question[length - 4..length - 2] == [0, 1];
            let first = is_v4 && count.fetch_add(1, Ordering::SeqCst) == 0;
            let place = if first { Ipv4Addr::new(192, 168, 255, 254) } else { Ipv4Addr::LOCALHOST };
            let _ = socket.send_to(&answer(question, is_v4.then_some(place)), from).await;
        }
    });
    (address, asked)
}

/// RFC 1035: the question again, and one address that is good for no time at all, or none.
fn answer(question: &[u8], place: Option<Ipv4Addr>) -> Vec<u8> {
    let mut answer = question.to_vec();
    answer[2..4].copy_from_slice(&[0x81, 0x80]);
    answer[6..8].copy_from_slice(&[0, u8::from(place.is_some())]);
    if let Some(place) = place {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        answer.extend(place.octets());
    }
    answer
}

/// Asks a name server on the wire, and keeps nothing.
struct Wire(SocketAddr);

impl Resolver for Wire {
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
async fn a_name_that_changes_its_mind_reaches_nobody() {
    let (server, asked) = rebinding_server("127.0.0.1:0").await;
    rebinding_reaches_nobody(Arc::new(Wire(server)), &asked).await;
}

async fn rebinding_reaches_nobody(resolver: Arc<dyn Resolver>, asked: &AtomicUsize) {
    let honeypot = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = honeypot.local_addr().unwrap().port();
    let policy = Policy { reach: Reach::Level(Level::Private), back_ends: Vec::new() };
    let guard = Guard::new(policy, None).unwrap().with_resolver(resolver);

    let target = guard.target(&format!("http://rebind.example:{port}/v1"), None).await.unwrap();
    assert!(guard.connect(&target, Duration::from_millis(200)).await.is_err());
    assert_eq!(asked.load(Ordering::SeqCst), 1, "a name is looked up once");

    // The second time it leads here, and is not even tried.
    assert!(guard.target(&format!("http://rebind.example:{port}/v1"), None).await.is_err());
    let caught = tokio::time::timeout(Duration::from_millis(100), honeypot.accept()).await;
    assert!(caught.is_err(), "somebody came to the honeypot");
}

/// Set in the world of its own in which this program runs a second time.
const INSIDE: &str = "PIDQ_TEST_INSIDE";

/// The resolver of the system asks whom `/etc/resolv.conf` names: in a network and a view of files of its own, us.
const WORLD: &str =
    "ip link set lo up && mount --bind \"$RESOLV\" /etc/resolv.conf && exec \"$PROGRAM\" --exact \"$TEST\"";

#[test]
fn the_resolver_of_the_system_is_not_fooled_either() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    if !Command::new("unshare").args(["-rmn", "ip", "link", "set", "lo", "up"]).status().is_ok_and(|s| s.success()) {
        return eprintln!("SKIPPED: there is no `unshare -rmn`, or no `ip`");
    }
    let resolv = std::env::temp_dir().join(format!("pidq-resolv-{}", std::process::id()));
    std::fs::write(&resolv, "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n").unwrap();
    let mut world = Command::new("unshare");
    let world = world.args(["-rmn", "sh", "-c", WORLD]).env(INSIDE, "1").env("RESOLV", &resolv);
    let world = world.env("PROGRAM", std::env::current_exe().unwrap());
    let output = world.env("TEST", "egress::the_resolver_of_the_system_is_not_fooled_either").output().unwrap();
    std::fs::remove_file(&resolv).unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

fn inside() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (_, asked) = rebinding_server("127.0.0.1:53").await;
        rebinding_reaches_nobody(Arc::new(SystemResolver), &asked).await;
    });
}
