package egress

import "net/netip"

// closed are the addresses outside of the internet that netip has no word for, and those behind
// which another address hides.
var closed = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),      // this host
	netip.MustParsePrefix("100.64.0.0/10"),  // carriers' own; also services of clouds
	netip.MustParsePrefix("192.0.0.0/24"),   // protocol assignments
	netip.MustParsePrefix("198.18.0.0/15"),  // measurements
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, and broadcast
	netip.MustParsePrefix("64:ff9b::/96"),   // IPv4 behind NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"), // the same, of a network's own
	netip.MustParsePrefix("2002::/16"),      // IPv4 behind 6to4
	netip.MustParsePrefix("2001::/32"),      // IPv4 behind Teredo
	netip.MustParsePrefix("fec0::/10"),      // site-local
}

// permits reports whether a host of this trust may have the address. A link-local address, such as those of services that hand out a cloud
// machine's credentials, must be named by its number: the owner of a name chooses its addresses.
func (t trust) permits(ip netip.Addr) bool {
	ip = ip.Unmap()
	switch t {
	case public:
		if !ip.IsGlobalUnicast() || ip.IsPrivate() {
			return false
		}
		for _, prefix := range closed {
			if prefix.Contains(ip) {
				return false
			}
		}
		return true
	case ownNetwork:
		return ip.IsGlobalUnicast() || ip.IsLoopback()
	case everyAddress:
		return true
	}
	return false
}
