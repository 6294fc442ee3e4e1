internal import Crypto
public import SluiceCore
public import SluiceLua

/// A bundle as one file for distribution: a tar archive, with the same bytes for the same bundle on every machine.
///
/// An archive has advantages over a folder: it is copied completely or not at all, one hash compares two of them, and
/// every system can unpack it. Names are sorted, times are 0, and there are no owners, so that it contains no trace of
/// the packer.
public struct PluginPack: Sendable {
    /// The name of the file: `NAME-VERSION.tar`.
    public let name: String
    /// The archive.
    public let bytes: [UInt8]
    /// The SHA-256 of the archive, in hexadecimal digits.
    public let hash: String

    /// Packs all files of a bundle, below a folder with its name.
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
    /// - Returns: the path of the archive.
    /// - Throws: ``SluiceError`` of code `invalidArgument` if it cannot be written.
    public func write(to folder: String) throws(SluiceError) -> String {
        try AuthorFolder(folder).write([name: bytes])
        return "\(folder)/\(name)"
    }

    /// Returns a POSIX header (ustar).
    private static func header(_ path: String, size: Int) throws(SluiceError) -> [UInt8] {
        var (prefix, name) = ("", path)
        if name.utf8.count > 100 {
            // A long path is split at a slash: at most 100 bytes after it, and at most 155 before it.
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
