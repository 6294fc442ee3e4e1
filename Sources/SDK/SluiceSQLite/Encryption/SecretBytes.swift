internal import CSQLite
internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Secret bytes on memory pages of their own. If the system allows it, these are not swapped out and in no core dump.
/// They are wiped when the last owner releases them.
///
/// They are written once, before anyone else has them; therefore the type may be unchecked `Sendable`.
final class SecretBytes: @unchecked Sendable {
    let count: Int
    private let pages: UnsafeMutableRawBufferPointer

    /// Allocates so many bytes, filled by `body`.
    init(count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let size = Int(sysconf(Int32(_SC_PAGESIZE)))
        let length = max(1, (count + size - 1) / size) * size
        let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else {
            throw SluiceError(.storeInputOutput, "there is no memory for a key (\(String(cString: strerror(errno))))")
        }
        pages = UnsafeMutableRawBufferPointer(start: memory, count: length)
        self.count = count
        // Neither is essential, and both may be forbidden to the process.
        _ = mlock(memory, length)
        #if os(Linux)
            _ = madvise(memory, length, Int32(MADV_DONTDUMP))
        #endif
        try body(UnsafeMutableRawBufferPointer(rebasing: pages[..<count]))
    }

    /// Copies bytes.
    convenience init(_ bytes: some Collection<UInt8>) throws {
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    deinit {
        guard let start = pages.baseAddress else { return }
        csqlite_wipe(start, UInt64(pages.count))
        munmap(start, pages.count)
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: pages[..<count]))
    }
}
