internal import Foundation

/// An address of IPv4 or IPv6, by its bytes: four, or sixteen. An IPv4-mapped IPv6 address counts as IPv4.
package struct NetworkAddress: Sendable, Hashable {
    package let bytes: [UInt8]

    /// Reads an address as proxies write it: bare, with a port, or in brackets.
    package init?(_ text: some StringProtocol) {
        var text = String(text).filter { !$0.isWhitespace && $0 != "\"" }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            guard text[end...] == "]" || text[end...].hasPrefix("]:") else { return nil }
            text = String(text[text.index(after: text.startIndex)..<end])
        } else if text.filter({ $0 == ":" }).count == 1 {
            text = String(text.prefix { $0 != ":" })
        }
        // A link-local address ends with the name of its link.
        text = String(text.prefix { $0 != "%" })
        var v4 = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &v4) == 1 {
            bytes = v4
            return
        }
        var v6 = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        bytes = v6.starts(with: mapped) ? Array(v6.suffix(4)) : v6
    }
}

/// A network in CIDR notation, `10.0.0.0/8`, or one address.
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    private let address: NetworkAddress
    private let bits: Int
    /// The original text of the range.
    public let description: String

    /// The addresses of this machine.
    public static let loopback = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }

    /// Reads a range; nil for an invalid text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ NetworkAddress($0) }) else { return nil }
        let all = address.bytes.count * 8
        guard let bits = parts.count > 1 ? Int(parts[1]) : all, (0...all).contains(bits) else { return nil }
        (self.address, self.bits, description) = (address, bits, text)
    }

    package func contains(_ other: NetworkAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        return zip(address.bytes, other.bytes).enumerated().allSatisfy { index, pair in
            let common = min(8, max(0, bits - index * 8))
            return common == 0 || pair.0 >> (8 - common) == pair.1 >> (8 - common)
        }
    }
}
