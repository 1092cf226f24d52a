//! The PROXY protocol, versions 1 and 2: a proxy that passes bytes on says first whose bytes they are.
//!
//! Only trusted proxies are asked, and these have to say it: whether a header is one is never guessed.
//! The format is that of haproxy's `proxy-protocol.txt`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// What a header of version 2 begins with.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest header of version 1, with its line end.
const LONGEST_LINE: usize = 107;
/// The longest rest of a header of version 2. Addresses and what proxies tell of certificates are far shorter.
const LONGEST_REST: usize = 4096;
/// Something told of TLS, beside the addresses of version 2.
const TLV_SSL: u8 = 0x20;
/// The client came over TLS.
const CLIENT_SSL: u8 = 0x01;

/// Whose bytes these are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Origin {
    /// The proxy's own, such as a look whether we are alive.
    Proxy,
    /// Those of a client whose address the proxy does not know, or who has none.
    Unknown,
    /// Those of a client, who may have come over TLS to the proxy.
    Client { address: IpAddr, tls: bool },
}

/// A header that is none, or one that we do not take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Malformed;

/// Reads the header and not a byte of what follows.
pub(super) async fn header(stream: &mut TcpStream) -> io::Result<Result<Origin, Malformed>> {
    // No header of either version is shorter.
    let mut start = [0; SIGNATURE.len()];
    stream.read_exact(&mut start).await?;
    if start == *SIGNATURE {
        let mut head = [0; 4];
        stream.read_exact(&mut head).await?;
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        if length > LONGEST_REST {
            return Ok(Err(Malformed));
        }
        let mut rest = vec![0; length];
        stream.read_exact(&mut rest).await?;
        return Ok(second(head[0], head[1], &rest));
    }
    Ok(match start.starts_with(b"PROXY ") {
        true => line(stream, start.to_vec()).await?.and_then(|line| first(&line)),
        false => Err(Malformed),
    })
}

/// The rest of a line, without looking at more than the line.
async fn line(stream: &mut TcpStream, mut line: Vec<u8>) -> io::Result<Result<Vec<u8>, Malformed>> {
    let mut seen = [0; LONGEST_LINE];
    loop {
        let count = stream.peek(&mut seen[line.len()..]).await?;
        let end = seen[line.len()..][..count].iter().position(|byte| *byte == b'\n');
        let length = line.len();
        line.resize(length + end.map_or(count, |end| end + 1), 0);
        stream.read_exact(&mut line[length..]).await?;
        match (end, count) {
            (Some(_), _) => return Ok(Ok(line)),
            (None, 0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            (None, _) if line.len() == LONGEST_LINE => return Ok(Err(Malformed)),
            (None, _) => {}
        }
    }
}

/// `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n`.
fn first(line: &[u8]) -> Result<Origin, Malformed> {
    let text = std::str::from_utf8(line).ok().and_then(|line| line.strip_suffix("\r\n")).ok_or(Malformed)?;
    let words: Vec<&str> = text.split(' ').collect();
    let (source, target) = match words[..] {
        ["PROXY", "UNKNOWN", ..] => return Ok(Origin::Unknown),
        ["PROXY", family @ ("TCP4" | "TCP6"), source, target, from, to] => {
            let is_port = |text: &str| text.parse::<u16>().is_ok_and(|port| port.to_string() == text);
            let address = |text: &str| text.parse::<IpAddr>().ok().filter(|ip| ip.is_ipv4() == (family == "TCP4"));
            if !is_port(from) || !is_port(to) {
                return Err(Malformed);
            }
            (address(source), address(target))
        }
        _ => return Err(Malformed),
    };
    let (address, _) = source.zip(target).ok_or(Malformed)?;
    Ok(Origin::Client { address, tls: false })
}

/// Version and command, family and protocol, and what comes after the length.
fn second(command: u8, family: u8, rest: &[u8]) -> Result<Origin, Malformed> {
    let (address, more) = match (command, family) {
        (0x20, _) => return Ok(Origin::Proxy),
        (0x21, 0x00 | 0x31) => return Ok(Origin::Unknown),
        (0x21, 0x11) => {
            let (source, more) = addresses::<4>(rest, 12)?;
            (IpAddr::from(Ipv4Addr::from(source)), more)
        }
        (0x21, 0x21) => {
            let (source, more) = addresses::<16>(rest, 36)?;
            (IpAddr::from(Ipv6Addr::from(source)), more)
        }
        _ => return Err(Malformed),
    };
    Ok(Origin::Client { address, tls: came_by_tls(more)? })
}

/// The address of the client, and what follows both addresses and ports.
fn addresses<const N: usize>(rest: &[u8], length: usize) -> Result<([u8; N], &[u8]), Malformed> {
    let (told, more) = rest.split_at_checked(length).ok_or(Malformed)?;
    let source = told.first_chunk().ok_or(Malformed)?;
    Ok((*source, more))
}

/// Looks through what is told beside the addresses, each with its type and its length.
fn came_by_tls(mut told: &[u8]) -> Result<bool, Malformed> {
    let mut tls = false;
    while let [kind, high, low, rest @ ..] = told {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let (value, more) = rest.split_at_checked(length).ok_or(Malformed)?;
        tls |= *kind == TLV_SSL && value.first().is_some_and(|flags| flags & CLIENT_SSL != 0);
        told = more;
    }
    if told.is_empty() { Ok(tls) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn client(address: &str) -> Result<Origin, Malformed> {
        Ok(Origin::Client { address: address.parse().expect("an address"), tls: false })
    }

    #[test]
    fn a_line_says_who_comes() {
        let long = format!("PROXY TCP6 {0} {0} 65535 65535\r\n", "ffff:f00f:ffff:ffff:ffff:ffff:ffff:ffff");
        assert_eq!(first(b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"), client("192.0.2.1"));
        assert_eq!(first(long.as_bytes()), client("ffff:f00f:ffff:ffff:ffff:ffff:ffff:ffff"));
        assert_eq!(first(b"PROXY UNKNOWN\r\n"), Ok(Origin::Unknown));
        assert_eq!(first(b"PROXY UNKNOWN whatever it says\r\n"), Ok(Origin::Unknown));
    }

    #[test]
    fn a_line_that_is_not_quite_one_is_none() {
        for line in [
            "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443 1\r\n",
            "PROXY TCP4  192.0.2.1 198.51.100.1 56324 443\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 056324 443\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 65536 443\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 +1 443\r\n",
            "PROXY TCP4 192.0.2.01 198.51.100.1 1 443\r\n",
            "PROXY TCP4 192.0.2.1 name.example 1 443\r\n",
            "PROXY TCP4 ::1 ::1 1 443\r\n",
            "PROXY TCP6 192.0.2.1 198.51.100.1 1 443\r\n",
            "PROXY UDP4 192.0.2.1 198.51.100.1 1 443\r\n",
            "PROXY tcp4 192.0.2.1 198.51.100.1 1 443\r\n",
            "PROXY UNKNOWN",
            "PROXY \u{e4}\r\n",
            "",
        ] {
            assert_eq!(first(line.as_bytes()), Err(Malformed), "{line:?}");
        }
    }

    const V4: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 1, 220, 4, 1, 187];

    #[test]
    fn addresses_may_come_as_bytes() {
        assert_eq!(second(0x21, 0x11, &V4), client("192.0.2.1"));
        let mut v6 = [0; 36];
        v6[15] = 1;
        assert_eq!(second(0x21, 0x21, &v6), client("::1"));
        for (command, family, origin) in [
            (0x20, 0x11, Origin::Proxy),
            (0x20, 0, Origin::Proxy),
            (0x21, 0, Origin::Unknown),
            (0x21, 0x31, Origin::Unknown),
        ] {
            assert_eq!(second(command, family, &V4), Ok(origin));
        }
        for (command, family) in [(0x22, 0x11), (0x11, 0x11), (0x21, 0x12), (0x21, 0x22), (0x21, 0x32), (0x21, 0xff)] {
            assert_eq!(second(command, family, &[0; 64]), Err(Malformed), "{command:x} {family:x}");
        }
        assert_eq!(second(0x21, 0x11, &V4[..11]), Err(Malformed));
        assert_eq!(second(0x21, 0x21, &v6[..35]), Err(Malformed));
    }

    #[test]
    fn tls_before_the_proxy_is_told_beside_the_addresses() {
        let told = |more: &[u8]| match second(0x21, 0x11, &[&V4[..], more].concat()) {
            Ok(Origin::Client { tls, .. }) => Ok(tls),
            _ => Err(Malformed),
        };
        assert_eq!(told(&[0x04, 0, 1, 9, 0x20, 0, 5, 1, 0, 0, 0, 0]), Ok(true));
        assert_eq!(told(&[0x20, 0, 5, 0, 0, 0, 0, 0]), Ok(false));
        assert_eq!(told(&[0x20, 0, 0]), Ok(false));
        for broken in [&[0x20][..], &[0x20, 0], &[0x20, 0, 5, 1], &[0x20, 255, 255, 1]] {
            assert_eq!(told(broken), Err(Malformed), "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(command: u8, family: u8, rest in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = (first(&rest), second(command, family, &rest));
        }
    }
}
