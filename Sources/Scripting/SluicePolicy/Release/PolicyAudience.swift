internal import Crypto

/// The devices that a release is for: those with all its labels, and of these a share.
package struct PolicyAudience: Sendable, Hashable {
    /// The share of all devices, in thousandths of a percent.
    package static let all = 100_000

    /// The labels that a device must have.
    package var labels: [String: String] = [:]
    /// The share, in thousandths of a percent. A device that is in a share is in every larger one.
    package var share = PolicyAudience.all

    package init() {}

    /// Reads a share: `10%`, `0.5%`.
    package static func share(_ text: String) -> Int? {
        guard text.hasSuffix("%") else { return nil }
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int($0) }), (0...100).contains(whole), parts.count <= 2 else {
            return nil
        }
        guard parts.count == 2 else { return whole * 1_000 }
        guard (1...3).contains(parts[1].count), parts[1].allSatisfy({ $0.isASCII && $0.isNumber }),
            let digits = Int(parts[1] + String(repeating: "0", count: 3 - parts[1].count))
        else { return nil }
        let share = whole * 1_000 + digits
        return share <= all ? share : nil
    }

    /// Returns the share as `0.5%`.
    package static func text(_ share: Int) -> String {
        let rest = share % 1_000
        if rest == 0 { return "\(share / 1_000)%" }
        var digits = String(1_000 + rest).dropFirst()
        while digits.last == "0" { digits = digits.dropLast() }
        return "\(share / 1_000).\(digits)%"
    }

    /// Returns the place of a device among all, from 0 to 99,999: a hash of its id and of the release's name and version,
    /// so that not the same devices are first every time. The share of one version only grows.
    package static func place(of device: String, in name: String, _ version: Int) -> Int {
        let hash = Array(SHA256.hash(data: Array("\(name)\u{0}\(version)\u{0}\(device)".utf8)))
        let number = hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(number % UInt64(all))
    }

    /// Returns the reason why a device is not of the audience; nil if it is.
    package func refusal(of device: PolicyDeviceName, _ name: String, _ version: Int) -> String? {
        for (label, value) in labels.sorted(by: { $0.key < $1.key }) where device.labels[label] != value {
            return "it is for devices with \(label) \(value)"
        }
        let place = Self.place(of: device.id, in: name, version)
        return place < share ? nil : "it is for \(Self.text(share)) of the devices, without this one"
    }
}

/// A device as releases choose it.
package struct PolicyDeviceName: Sendable, Hashable {
    /// The device's id, the same for its whole life.
    package var id: String
    /// Its labels.
    package var labels: [String: String]

    package init(id: String, labels: [String: String] = [:]) { (self.id, self.labels) = (id, labels) }
}
