internal import Dispatch
internal import Foundation

/// The service manager's notifications, as `sd_notify(3)` describes them: one datagram to the socket that
/// `NOTIFY_SOCKET` names. Without that variable nothing is sent. A notification waits one second at most for a manager
/// that does not read; a repeated one does not wait.
package struct ServiceManager: Sendable {
    private let path: String?
    /// The interval of watchdog notifications, half of the allowed one; nil without a watchdog.
    let watchdogInterval: Duration?

    package init(_ environment: [String: String]) {
        path = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 1 ? $0 : nil }
        watchdogInterval = isForUs ? limit.map { .microseconds($0 / 2) } : nil
    }

    /// Whether a service manager has started the process.
    var isPresent: Bool { path != nil }

    func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }
    func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)") }
    func stopping() { send("STOPPING=1") }
    func status(_ text: String) { send("STATUS=\(text)", waits: false) }
    func watchdog() { send("WATCHDOG=1", waits: false) }

    /// The monotonic clock, in microseconds.
    private static var monotonicMicroseconds: UInt64 { DispatchTime.now().uptimeNanoseconds / 1000 }

    private func send(_ message: String, waits: Bool = true) {
        guard let path else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A leading @ means the abstract namespace, where a NUL replaces it.
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path)! + bytes.count)
        let text = Array(message.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                text.withUnsafeBytes { sendto(descriptor, $0.baseAddress, $0.count, flags, address, length) }
            }
        }
    }
}
