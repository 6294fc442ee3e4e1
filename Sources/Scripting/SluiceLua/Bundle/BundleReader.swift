internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads the files of a folder, up to the limits of a bundle. It follows no links, not even one created during the
/// read.
struct BundleReader {
    /// The limit of names read from a folder, hidden names included.
    private static let maximumNames = 4_096

    private let folder: String
    private var rules: BundleRules
    private var found: [String: [UInt8]] = [:]
    private var names = 0

    init(_ folder: String) {
        self.folder = folder
        rules = BundleRules(location: folder)
    }

    func files() throws(SluiceError) -> [String: [UInt8]] {
        var reader = self
        let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw reader.failure("the folder cannot be read") }
        try reader.readFolder(root, "")
        return reader.found
    }

    private func failure(_ reason: String) -> SluiceError {
        rules.refusal("\(reason) (\(String(cString: strerror(errno))))")
    }

    /// Reads a folder, and closes its descriptor.
    private mutating func readFolder(_ descriptor: Int32, _ prefix: String) throws(SluiceError) {
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            throw failure("\(prefix): the folder cannot be read")
        }
        defer { closedir(stream) }
        var entries: [String] = []
        while let entry = readdir(stream) {
            names += 1
            guard names <= Self.maximumNames else { throw rules.refusal("expected at most \(Self.maximumNames) names") }
            guard let name = Self.name(of: entry) else { throw rules.refusal("a name in the folder is not UTF-8") }
            if !name.hasPrefix(".") { entries.append(name) }
        }
        for name in entries.sorted() { try readEntry(name, in: descriptor, prefix) }
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private mutating func readEntry(_ name: String, in folder: Int32, _ prefix: String) throws(SluiceError) {
        let path = prefix + name
        var status = stat()
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ELOOP { throw rules.refusal("\(path) is a symbolic link") }
            throw failure("\(path) cannot be read")
        }
        guard fstat(file, &status) == 0 else {
            close(file)
            throw failure("\(path) cannot be read")
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            guard path.utf8.split(separator: UInt8(ascii: "/")).count < 8 else {
                close(file)
                throw rules.refusal("\(path): expected at most 8 folders inside each other")
            }
            try readFolder(file, path + "/")
        case S_IFREG:
            defer { close(file) }
            try rules.admit(path)
            let bytes = try bytes(of: file, path, room: rules.room(for: path))
            try rules.check(path, bytes)
            found[path] = bytes
        default:
            close(file)
            throw rules.refusal("\(path) is neither a file nor a folder")
        }
    }

    /// Reads the file's bytes, at most one more than the room: the reported size is not trusted.
    private func bytes(of file: Int32, _ path: String, room: Int) throws(SluiceError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= room {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("\(path) cannot be read") }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }
}
