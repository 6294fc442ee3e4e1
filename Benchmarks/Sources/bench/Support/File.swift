internal import Glibc

/// Files and folders, by the system's calls.
enum File {
    /// The text of a small file of the kernel's, which has no length and is read in one piece; empty where there is
    /// none.
    static func ofKernel(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        return String(unsafeUninitializedCapacity: 8192) { max(0, Glibc.read(descriptor, $0.baseAddress, $0.count)) }
    }

    /// The whole file, or nil if there is none.
    static func read(_ path: String) throws -> [UInt8]? {
        let descriptor = open(path, O_RDONLY)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw failure("cannot open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot read", path) }
        var error: BenchFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            while count < buffer.count {
                let read = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
                if read < 0 { error = failure("cannot read", path) }
                if read <= 0 { return }
                count += read
            }
        }
        if let error { throw error }
        return bytes
    }

    /// The folder of this program.
    static var here: String {
        var path = [CChar](repeating: 0, count: 4097)
        let count = readlink("/proc/self/exe", &path, 4096)
        let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes[..<(bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0)], as: UTF8.self)
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard descriptor >= 0 else { throw failure("cannot create", path) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 else { throw failure("cannot write", path) }
            rest = rest.dropFirst(written)
        }
    }

    /// A new, empty folder below `parent`.
    static func temporaryDirectory(in parent: String) throws -> String {
        var template = Array("\(parent)/sluice-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw failure("cannot make a folder in", parent) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func makeDirectory(_ path: String) throws {
        guard mkdir(path, 0o755) == 0 else { throw failure("cannot make the folder", path) }
    }

    /// Removes a folder and the files in it, and in the folders in it. What is not there is removed already.
    static func removeDirectory(_ path: String) {
        guard let directory = opendir(path) else { return }
        defer {
            closedir(directory)
            rmdir(path)
        }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            let child = "\(path)/\(name)"
            if unlink(child) != 0 { removeDirectory(child) }
        }
    }

    /// Removes a database with the files that SQLite keeps beside it.
    static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal", "-lock"] { unlink(path + suffix) }
    }

    /// Writes a line to the standard error output.
    static func complain(_ message: String) {
        let line = Array((message + "\n").utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }

    private static func failure(_ what: String, _ path: String) -> BenchFailure {
        BenchFailure("\(what) \(path): \(String(cString: strerror(errno)))")
    }
}
