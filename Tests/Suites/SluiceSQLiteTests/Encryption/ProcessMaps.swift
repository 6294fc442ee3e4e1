import Glibc

/// What the kernel says of the memory of this process.
enum ProcessMaps {
    /// The whole list, a line for each mapping. The kernel gives no more than some lines with each read, which is not the
    /// end: who stops there has seen a part.
    static func text() -> String {
        let descriptor = open("/proc/self/maps", O_RDONLY)
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}
