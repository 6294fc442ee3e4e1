internal import Foundation
internal import NIOCore
internal import Sluice

/// The process at the other end of a Unix socket, from the kernel (`SO_PEERCRED`), so that the peer cannot forge it.
struct PeerCredentials: Sendable, Hashable {
    var process: Int32
    var user: UInt32
    var group: UInt32

    /// Reads the peer of a connection; nil if it is no Unix socket.
    static func of(_ channel: any Channel) async -> PeerCredentials? {
        guard case .unixDomainSocket = channel.localAddress, let channel = channel as? any SocketOptionProvider else {
            return nil
        }
        return try? await channel.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
        ).get()
    }
}

/// The permitted users of a Unix socket: root, the daemon's own user, the listed users, and a group's members.
package struct SocketRule: Sendable, Hashable {
    private let users: Set<UInt32>
    /// The group of the socket's file.
    let group: UInt32?
    private let members: Set<UInt32>
    /// The mode of the socket's file. With listed users it admits everyone, because they need not be in the file's
    /// group. The peer's credentials are checked in any case.
    let mode: mode_t

    /// - Throws: ``SluiceError`` of code `invalidArgument` for users and groups that this machine does not know.
    package init(users names: [String], group name: String?) throws {
        var users: Set<UInt32> = [0, geteuid()]
        for name in names {
            guard let entry = getpwnam(name) else {
                throw SluiceError(.invalidArgument, "control.users: this machine has no user \(name)")
            }
            users.insert(entry.pointee.pw_uid)
        }
        self.users = users
        mode = names.isEmpty ? 0o660 : 0o666
        var members: Set<UInt32> = []
        if let name {
            guard let entry = getgrnam(name) else {
                throw SluiceError(.invalidArgument, "control.group: this machine has no group \(name)")
            }
            group = entry.pointee.gr_gid
            var list = entry.pointee.gr_mem
            while let member = list?.pointee {
                if let entry = getpwnam(member) { members.insert(entry.pointee.pw_uid) }
                list = list?.advanced(by: 1)
            }
        } else {
            group = nil
        }
        self.members = members
    }

    func admits(_ peer: PeerCredentials) -> Bool {
        users.contains(peer.user) || members.contains(peer.user) || peer.group == group
    }
}
