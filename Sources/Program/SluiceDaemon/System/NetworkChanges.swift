internal import Foundation

/// The kernel's messages about links and addresses that come up (rtnetlink(7)), as hints that a network may be there.
enum NetworkChanges {
    /// `NETLINK_ROUTE`, and the groups of links, IPv4 addresses and IPv6 addresses.
    private static let route: Int32 = 0
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100

    /// `struct sockaddr_nl`.
    private struct Address {
        var family = UInt16(AF_NETLINK)
        var pad: UInt16 = 0
        var process: UInt32 = 0
        var groups: UInt32 = NetworkChanges.groups
    }

    /// Calls `changed` until the task is cancelled; returns at once if the kernel provides no messages.
    static func follow(_ changed: @Sendable () -> Void) async {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_NETLINK, kind, route)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = Address()
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
            }
        }
        guard isBound else { return }
        var buffer = [UInt8](repeating: 0, count: 8192)
        while !Task.isCancelled {
            var hasChanged = false
            while recv(descriptor, &buffer, buffer.count, 0) > 0 { hasChanged = true }
            if hasChanged { changed() }
            // Several messages belong to one change; a second is soon enough.
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
        }
    }
}
