import Foundation
import SluiceCore
import SluiceSQLite
import SluiceTesting
import Testing

@Suite struct LeaseFileTests {
    @Test("a lease that was given back is free, though a process that is being started still has its descriptor")
    func descriptorElsewhere() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file("store.db"))
        let lease = try #require(try await store.takeLease())
        // What a fork does: one more descriptor of the same open file.
        let copies = try Self.descriptors(of: folder.file("store.db-lease")).map { dup($0) }
        #expect(copies.count == 1)
        lease.release()
        let again = try await store.takeLease()
        #expect(again != nil)
        again?.release()
        for copy in copies { _ = close(copy) }
        try await store.close()
    }

    private static func descriptors(of path: String) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasSuffix(path)
                ?? false
        }
    }
}
