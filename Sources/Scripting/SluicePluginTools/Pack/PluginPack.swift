internal import Crypto
public import SluiceCore
public import SluiceLua

/// A bundle as one file to hand on: a tar archive, the same bytes for the same bundle on every machine.
///
/// An archive rather than a folder: it is copied whole or not at all, two of them can be compared by one hash, and
/// every system unpacks it. Names are in order, times are 0, and owners nobody's, so that nothing of who packed it is
/// in it.
public struct PluginPack: Sendable {
    /// The name of the file: `NAME-VERSION.tar`.
    public let name: String
    /// The archive.
    public let bytes: [UInt8]
    /// The SHA-256 of the archive, in hexadecimal digits.
    public let hash: String

    /// Packs a bundle: all its files, below a folder of its name.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a path that is too long for an archive.
    public init(_ bundle: PluginBundle) throws(SluiceError) {
        let folder = bundle.manifest.name
        var bytes: [UInt8] = []
        for (path, file) in bundle.files.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            bytes += try Self.header("\(folder)/\(path)", size: file.count)
            bytes += file
            bytes += Array(repeating: 0, count: (512 - file.count % 512) % 512)
        }
        self.bytes = bytes + Array(repeating: 0, count: 1024)
        name = "\(folder)-\(bundle.manifest.version).tar"
        hash = Base16.text(Array(SHA256.hash(data: self.bytes)))
    }

    /// Writes the archive into a folder.
    ///
    /// - Returns: where it is now.
    /// - Throws: ``SluiceError`` of code `invalidArgument` where that cannot be done.
    public func write(to folder: String) throws(SluiceError) -> String {
        try AuthorFolder(folder).write([name: bytes])
        return "\(folder)/\(name)"
    }

    /// A header as POSIX has it (ustar).
    private static func header(_ path: String, size: Int) throws(SluiceError) -> [UInt8] {
        var (prefix, name) = ("", path)
        if name.utf8.count > 100 {
            // A long path is cut at a slash: the end of it up to 100 bytes, what is in front up to 155.
            let parts = path.split(separator: "/")
            let cut = parts.indices.dropFirst().first { parts[$0...].joined(separator: "/").utf8.count <= 100 }
            guard let cut, parts[..<cut].joined(separator: "/").utf8.count <= 155 else {
                throw SluiceError(.invalidArgument, "\(path): the path is too long for an archive")
            }
            prefix = parts[..<cut].joined(separator: "/")
            name = parts[cut...].joined(separator: "/")
        }
        var header = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, at place: Int) {
            for (index, byte) in text.utf8.enumerated() { header[place + index] = byte }
        }
        func octal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        put(name, at: 0)
        put(octal(0o644, 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        put(octal(size, 11), at: 124)
        put(octal(0, 11), at: 136)
        put("        0", at: 148)
        put("ustar", at: 257)
        put("00", at: 263)
        put(prefix, at: 345)
        let sum = header.reduce(0) { $0 + Int($1) }
        put(octal(sum, 6) + "\u{0} ", at: 148)
        return header
    }
}
