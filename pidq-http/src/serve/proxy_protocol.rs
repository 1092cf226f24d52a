//! PROXY protocol, versions 1 and 2: a header in which a proxy names the client of a connection.
//!
//! Only trusted proxies may send it, and they must: headers are never detected heuristically. The format is that of
//! haproxy's `proxy-protocol.txt`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Signature of a version 2 header.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Maximum size of a version 1 header, with its line end.
const LINE_LIMIT: usize = 107;
/// Maximum payload of a version 2 header. Addresses and certificate information are far shorter.
const PAYLOAD_LIMIT: usize = 4096;
/// Type of the TLS record after the addresses of version 2.
const TLV_SSL: u8 = 0x20;
/// Flag for a client connected over TLS.
const CLIENT_SSL: u8 = 0x01;

/// Origin of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Origin {
    /// The proxy itself, for example a health check.
    Local,
    /// A client whose address the proxy does not know.
    Unknown,
    /// A client, possibly connected to the proxy over TLS.
    Client { address: IpAddr, tls: bool },
}

/// Malformed or unsupported header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Malformed;

/// Reads the header and none of the bytes after it.
pub(super) async fn read_header(stream: &mut TcpStream) -> io::Result<Result<Origin, Malformed>> {
    // No header of either version is shorter.
    let mut start = [0; SIGNATURE.len()];
    stream.read_exact(&mut start).await?;
    if start == *SIGNATURE {
        let mut head = [0; 4];
        stream.read_exact(&mut head).await?;
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        if length > PAYLOAD_LIMIT {
            return Ok(Err(Malformed));
        }
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).await?;
        return Ok(parse_v2(head[0], head[1], &payload));
    }
    Ok(match start.starts_with(b"PROXY ") {
        true => read_line(stream, start.to_vec()).await?.and_then(|line| parse_v1(&line)),
        false => Err(Malformed),
    })
}

/// Reads the rest of a line, and nothing after it.
async fn read_line(stream: &mut TcpStream, mut line: Vec<u8>) -> io::Result<Result<Vec<u8>, Malformed>> {
    let mut buffer = [0; LINE_LIMIT];
    loop {
        let count = stream.peek(&mut buffer[line.len()..]).await?;
        let end = buffer[line.len()..][..count].iter().position(|byte| *byte == b'\n');
        let length = line.len();
        line.resize(length + end.map_or(count, |end| end + 1), 0);
        stream.read_exact(&mut line[length..]).await?;
        match (end, count) {
            (Some(_), _) => return Ok(Ok(line)),
            (None, 0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            (None, _) if line.len() == LINE_LIMIT => return Ok(Err(Malformed)),
            (None, _) => {}
        }
    }
}

/// Parses `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n`.
fn parse_v1(line: &[u8]) -> Result<Origin, Malformed> {
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

/// Parses version and command, family and protocol, and the payload.
fn parse_v2(command: u8, family: u8, payload: &[u8]) -> Result<Origin, Malformed> {
    let (address, tlvs) = match (command, family) {
        (0x20, _) => return Ok(Origin::Local),
        (0x21, 0x00 | 0x31) => return Ok(Origin::Unknown),
        (0x21, 0x11) => {
            let (source, tlvs) = addresses::<4>(payload, 12)?;
            (IpAddr::from(Ipv4Addr::from(source)), tlvs)
        }
        (0x21, 0x21) => {
            let (source, tlvs) = addresses::<16>(payload, 36)?;
            (IpAddr::from(Ipv6Addr::from(source)), tlvs)
        }
        _ => return Err(Malformed),
    };
    Ok(Origin::Client { address, tls: parse_tls_flag(tlvs)? })
}

/// Returns the client address, and the bytes after both addresses and ports.
fn addresses<const N: usize>(payload: &[u8], length: usize) -> Result<([u8; N], &[u8]), Malformed> {
    let (bytes, tlvs) = payload.split_at_checked(length).ok_or(Malformed)?;
    let source = bytes.first_chunk().ok_or(Malformed)?;
    Ok((*source, tlvs))
}

/// Returns whether the type-length-value records contain the TLS flag.
fn parse_tls_flag(mut bytes: &[u8]) -> Result<bool, Malformed> {
    let mut tls = false;
    while let [kind, high, low, payload @ ..] = bytes {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let (value, tlvs) = payload.split_at_checked(length).ok_or(Malformed)?;
        tls |= *kind == TLV_SSL && value.first().is_some_and(|flags| flags & CLIENT_SSL != 0);
        bytes = tlvs;
    }
    if bytes.is_empty() { Ok(tls) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn client(address: &str) -> Result<Origin, Malformed> {
        Ok(Origin::Client { address: address.parse().expect("an address"), tls: false })
    }

    #[test]
    fn a_version_1_header_names_the_client() {
        let long = format!("PROXY TCP6 {0} {0} 65535 65535\r\n", "ffff:f00f:ffff:ffff:ffff:ffff:ffff:ffff");
        assert_eq!(parse_v1(b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"), client("192.0.2.1"));
        assert_eq!(parse_v1(long.as_bytes()), client("ffff:f00f:ffff:ffff:ffff:ffff:ffff:ffff"));
        assert_eq!(parse_v1(b"PROXY UNKNOWN\r\n"), Ok(Origin::Unknown));
        assert_eq!(parse_v1(b"PROXY UNKNOWN whatever it says\r\n"), Ok(Origin::Unknown));
        assert_eq!(parse_v1(b"PROXY UNKNOWN with more words than two addresses\r\n"), Ok(Origin::Unknown));
    }

    #[test]
    fn a_malformed_version_1_header_is_rejected() {
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
            "PROXY UNKNOWNX\r\n",
            "PROXY\rTCP4 192.0.2.1 198.51.100.1 1 443\r\n",
            "PROXY \u{e4}\r\n",
            "",
        ] {
            assert_eq!(parse_v1(line.as_bytes()), Err(Malformed), "{line:?}");
        }
    }

    const V4: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 1, 220, 4, 1, 187];

    #[test]
    fn a_version_2_header_names_the_client() {
        assert_eq!(parse_v2(0x21, 0x11, &V4), client("192.0.2.1"));
        let mut v6 = [0; 36];
        v6[15] = 1;
        assert_eq!(parse_v2(0x21, 0x21, &v6), client("::1"));
        for (command, family, origin) in [
            (0x20, 0x11, Origin::Local),
            // The family of a local connection is ignored, whatever it is.
            (0x20, 0xff, Origin::Local),
            (0x20, 0, Origin::Local),
            (0x21, 0, Origin::Unknown),
            (0x21, 0x31, Origin::Unknown),
        ] {
            assert_eq!(parse_v2(command, family, &V4), Ok(origin));
        }
        for (command, family) in [(0x22, 0x11), (0x11, 0x11), (0x21, 0x12), (0x21, 0x22), (0x21, 0x32), (0x21, 0xff)] {
            assert_eq!(parse_v2(command, family, &[0; 64]), Err(Malformed), "{command:x} {family:x}");
        }
        assert_eq!(parse_v2(0x21, 0x11, &V4[..11]), Err(Malformed));
        assert_eq!(parse_v2(0x21, 0x21, &v6[..35]), Err(Malformed));
    }

    #[test]
    fn tls_to_the_proxy_is_read_from_the_header() {
        let bytes = |tlvs: &[u8]| match parse_v2(0x21, 0x11, &[&V4[..], tlvs].concat()) {
            Ok(Origin::Client { tls, .. }) => Ok(tls),
            _ => Err(Malformed),
        };
        assert_eq!(bytes(&[0x04, 0, 1, 9, 0x20, 0, 5, 1, 0, 0, 0, 0]), Ok(true));
        assert_eq!(bytes(&[0x20, 0, 5, 0, 0, 0, 0, 0]), Ok(false));
        assert_eq!(bytes(&[0x20, 0, 0]), Ok(false));
        for broken in [&[0x20][..], &[0x20, 0], &[0x20, 0, 5, 1], &[0x20, 255, 255, 1]] {
            assert_eq!(bytes(broken), Err(Malformed), "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_input_does_not_panic(
            command: u8,
            family: u8,
            payload in proptest::collection::vec(any::<u8>(), 0..80)
        ) {
            let _ = (parse_v1(&payload), parse_v2(command, family, &payload));
        }
    }
}
