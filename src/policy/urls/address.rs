//! Internet addresses that belong to the machine, its network or its cloud: never connected to.
//!
//! In: a numeric address. Out: what it is, as text, unless it is an ordinary public address. Names
//! are handled in `host`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that are not public hosts: first address, length of the prefix, what they are.
/// From the registry of special-purpose addresses
/// (<https://www.iana.org/assignments/iana-ipv4-special-registry>), and what clouds put on public
/// addresses.
const SPECIAL_V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "an address of this machine"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "an address shared by a provider's customers"),
    ([127, 0, 0, 0], 8, "a loopback address"),
    ([168, 63, 129, 16], 32, "a cloud's own address"),
    ([169, 254, 0, 0], 16, "a link-local address, where clouds keep metadata"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "a reserved address"),
    ([192, 0, 2, 0], 24, "an address of documentation"),
    ([192, 31, 196, 0], 24, "a reserved address"),
    ([192, 52, 193, 0], 24, "a reserved address"),
    ([192, 80, 8, 124], 32, "a cloud's own address"),
    ([192, 88, 99, 0], 24, "a relay's address"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([192, 175, 48, 0], 24, "a reserved address"),
    ([198, 18, 0, 0], 15, "an address of benchmarks"),
    ([198, 51, 100, 0], 24, "an address of documentation"),
    ([203, 0, 113, 0], 24, "an address of documentation"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

/// Blocks of IPv6 that are not public hosts although they lie in `2000::/3`, and names for the
/// others that come up.
const SPECIAL_V6: &[([u16; 8], u32, &str)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, "an address of this machine"),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, "a loopback address"),
    ([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "an IPv4 address in disguise"),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "an IPv4 address in disguise"),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, "an IPv4 address in disguise"),
    ([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 32, "an IPv4 address in disguise"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "a tunnel's or a reserved address"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "an address of documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "an IPv4 address in disguise"),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, "a reserved address"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "an address of documentation"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "a private address"),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "a link-local address"),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "a private address"),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "a multicast address"),
];

/// Returns what an address is when it is not a public host's; `None` for one that may be connected
/// to.
pub fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let within = |first: [u8; 4], length: u32| {
        (u32::from(address) ^ u32::from(Ipv4Addr::from(first))).leading_zeros() >= length
    };
    SPECIAL_V4.iter().find(|(first, length, _)| within(*first, *length)).map(|(_, _, what)| *what)
}

/// Only `2000::/3` is given to hosts at all; whatever is added elsewhere later is refused until it
/// is known here.
fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let within = |first: [u16; 8], length: u32| {
        (u128::from(address) ^ u128::from(Ipv6Addr::from(first))).leading_zeros() >= length
    };
    let listed = SPECIAL_V6
        .iter()
        .find(|(first, length, _)| within(*first, *length))
        .map(|(_, _, what)| *what);
    let outside = || (!within([0x2000, 0, 0, 0, 0, 0, 0, 0], 3)).then_some("a reserved address");
    listed.or_else(outside).or_else(|| carried(address))
}

/// Some tunnels write an IPv4 address behind an ordinary prefix (ISATAP: `::0:5efe:a.b.c.d`,
/// `::200:5efe:a.b.c.d`).
fn carried(address: Ipv6Addr) -> Option<&'static str> {
    let [.., kind, mark, high, low] = address.segments();
    let tunnel = mark == 0x5efe && matches!(kind, 0 | 0x200);
    let inner = Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    tunnel.then(|| special_v4(inner)).flatten()
}

#[cfg(test)]
mod tests {
    use super::special;
    use pretty_assertions::assert_eq;

    #[test]
    fn special_addresses_are_named_and_their_neighbours_are_public() {
        for (text, refused) in [
            ("0.0.0.0", true),
            ("0.255.255.255", true),
            ("1.0.0.0", false),
            ("9.255.255.255", false),
            ("10.0.0.5", true),
            ("11.0.0.0", false),
            ("93.184.216.34", false),
            ("100.63.255.255", false),
            ("100.64.0.1", true),
            ("100.100.100.200", true),
            ("100.128.0.0", false),
            ("127.0.0.1", true),
            ("127.255.255.254", true),
            ("128.0.0.1", false),
            ("168.63.129.15", false),
            ("168.63.129.16", true),
            ("169.254.169.254", true),
            ("169.254.0.23", true),
            ("169.253.255.255", false),
            ("172.15.255.255", false),
            ("172.16.0.1", true),
            ("172.31.255.255", true),
            ("172.32.0.0", false),
            ("192.0.0.8", true),
            ("192.0.0.192", true),
            ("192.0.1.0", false),
            ("192.0.2.1", true),
            ("192.88.99.1", true),
            ("192.167.255.255", false),
            ("192.168.1.1", true),
            ("198.17.255.255", false),
            ("198.18.0.1", true),
            ("198.19.255.255", true),
            ("198.51.100.7", true),
            ("203.0.113.7", true),
            ("223.255.255.255", false),
            ("224.0.0.1", true),
            ("239.255.255.255", true),
            ("240.0.0.1", true),
            ("255.255.255.255", true),
            ("::", true),
            ("::1", true),
            ("::127.0.0.1", true),
            ("::93.184.216.34", true),
            ("::ffff:127.0.0.1", true),
            ("::ffff:93.184.216.34", true),
            ("::ffff:0:127.0.0.1", true),
            ("64:ff9b::a9fe:a9fe", true),
            ("64:ff9b:1::1", true),
            ("100::1", true),
            ("2001::1", true),
            ("2001:2::1", true),
            ("2001:10::1", true),
            ("2001:20::1", true),
            ("2001:db8::1", true),
            ("2001:200::1", false),
            ("2001:4860:4860::8888", false),
            ("2002:7f00:1::", true),
            ("2002:5db8:d822::", true),
            ("2606:2800:220:1:248:1893:25c8:1946", false),
            ("2606:2800::5efe:10.0.0.1", true),
            ("2606:2800::200:5efe:127.0.0.1", true),
            ("2606:2800::5efe:93.184.216.34", false),
            ("2620:4f:8000::1", true),
            ("3fff::1", true),
            ("5f00::1", true),
            ("fc00::1", true),
            ("fd00:ec2::254", true),
            ("fd20:ce::254", true),
            ("fe80::1", true),
            ("fec0::1", true),
            ("ff02::1", true),
            ("4000::1", true),
        ] {
            assert_eq!(special(text.parse().unwrap()).is_some(), refused, "{text}");
        }
    }
}
