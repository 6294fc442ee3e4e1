internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A socket of the loopback address, by the calls of the system: no library is to mend what is sent here.
struct HostileSocket: Sendable {
    let descriptor: Int32

    /// A socket that listens on a port of its own.
    static func listening() throws(SluiceError) -> (HostileSocket, port: Int) {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard descriptor >= 0, isListening else {
            if descriptor >= 0 { HostileSocket(descriptor: descriptor).close() }
            throw SluiceError(.network, "the hostile server gets no port to listen on (\(errno))")
        }
        return (HostileSocket(descriptor: descriptor), Int(UInt16(bigEndian: address.sin_port)))
    }

    /// The next connection; nil once the socket is shut.
    func next() -> HostileSocket? {
        while true {
            let connected = accept(descriptor, nil, nil)
            if connected < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard connected >= 0 else { return nil }
            var isOn: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(connected, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
            #if canImport(Darwin)
                setsockopt(connected, SOL_SOCKET, SO_NOSIGPIPE, &isOn, size)
            #endif
            return HostileSocket(descriptor: connected)
        }
    }

    /// What has arrived, at most 64 KiB; nil once the other side has closed or the connection broke.
    func read() -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            var read = -1
            repeat { read = recv(descriptor, buffer.baseAddress, buffer.count, 0) } while read < 0 && errno == EINTR
            count = max(0, read)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Sends all of it.
    ///
    /// - Returns: false if the other side has left.
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent, flags)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Whether the other side leaves within that many milliseconds.
    func isLeft(within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, milliseconds) > 0 else { return false }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        guard count > 0 else { return true }
        // Something waits to be read: the client is there, and the time is to pass all the same.
        _ = poll(nil, 0, milliseconds)
        return false
    }

    /// Has a close send a reset.
    func resetOnClose() {
        var isHard = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &isHard, socklen_t(MemoryLayout<linger>.size))
    }

    /// Ends what waits on the socket, in whichever thread it waits.
    func shut() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    func close() {
        #if canImport(Glibc)
            _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #else
            _ = Darwin.close(descriptor)
        #endif
    }
}
