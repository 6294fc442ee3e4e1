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
        let root: OpenFile
        do throws(SystemFailure) {
            root = try OpenFile(folder, .folder)
        } catch {
            throw reader.failure("the folder cannot be read", error)
        }
        try reader.readFolder(root, "")
        return reader.found
    }

    private func failure(_ reason: String, _ failure: SystemFailure) -> SluiceError {
        rules.refusal("\(reason) (\(failure.reason))")
    }

    private mutating func readFolder(_ folder: OpenFile, _ prefix: String) throws(SluiceError) {
        // The stream closes its descriptor.
        let descriptor = fcntl(folder.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0, let stream = fdopendir(descriptor) else {
            let reason = SystemFailure.last("fdopendir")
            if descriptor >= 0 { close(descriptor) }
            throw failure("\(prefix): the folder cannot be read", reason)
        }
        defer { closedir(stream) }
        var entries: [String] = []
        while let entry = readdir(stream) {
            names += 1
            guard names <= Self.maximumNames else { throw rules.refusal("expected at most \(Self.maximumNames) names") }
            guard let name = Self.name(of: entry) else { throw rules.refusal("a name in the folder is not UTF-8") }
            if !name.hasPrefix(".") { entries.append(name) }
        }
        for name in entries.sorted() { try readEntry(name, in: folder, prefix) }
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private mutating func readEntry(_ name: String, in folder: OpenFile, _ prefix: String) throws(SluiceError) {
        let path = prefix + name
        let file: OpenFile
        let status: FileStatus
        do throws(SystemFailure) {
            file = try OpenFile(name, [.withoutLinks, .withoutWaiting], in: folder)
            status = try file.status()
        } catch {
            if error.code == ELOOP { throw rules.refusal("\(path) is a symbolic link") }
            throw failure("\(path) cannot be read", error)
        }
        if status.isFolder {
            guard path.utf8.split(separator: UInt8(ascii: "/")).count < 8 else {
                throw rules.refusal("\(path): expected at most 8 folders inside each other")
            }
            try readFolder(file, path + "/")
            return
        }
        guard status.isFile else { throw rules.refusal("\(path) is neither a file nor a folder") }
        try rules.admit(path)
        let bytes: [UInt8]
        do throws(SystemFailure) {
            // The reported size is not trusted.
            bytes = try file.read(upTo: rules.room(for: path) + 1)
        } catch {
            throw failure("\(path) cannot be read", error)
        }
        try rules.check(path, bytes)
        found[path] = bytes
    }
}
