import Foundation
import Testing

@testable import SluiceBase

@Suite("Files")
struct OpenFileTests {
    private let folder: URL
    private var path: String { folder.appendingPathComponent("file").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func removing<Result>(_ body: () throws -> Result) rethrows -> Result {
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body()
    }

    private func code(_ path: String, _ way: FileOpening) -> Int32? {
        do throws(SystemFailure) {
            _ = try OpenFile(path, way)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("all bytes are written, and no more are read than wanted")
    func content() throws {
        try removing {
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
            try OpenFile(path, [.writing, .new]).write(bytes)
            #expect(try OpenFile(path).read(upTo: .max) == bytes)
            #expect(try OpenFile(path).read(upTo: 70_000) == Array(bytes[..<70_000]))
            #expect(try OpenFile(path).read(upTo: 9, at: 199_998) == Array(bytes[199_998...]))
            #expect(FileStatus(path)?.permissions == 0o600)
            #expect(code(path, [.writing, .new]) == EEXIST)
        }
    }

    @Test("a full disk is a failure with the number of bytes that were written")
    func full() {
        removing {
            let failure = #expect(throws: SystemFailure.self) {
                try OpenFile("/dev/full", .writing).write([1, 2, 3])
            }
            #expect(failure?.code == ENOSPC && failure?.written == 0)
            #expect(failure?.description.hasPrefix("write: ") == true)
        }
    }

    @Test("links and pipes are refused where a file is wanted")
    func others() throws {
        try removing {
            try OpenFile(path, [.writing, .new]).write([1])
            try FileManager.default.createSymbolicLink(atPath: path + "-link", withDestinationPath: path)
            #expect(mkfifo(path + "-pipe", 0o600) == 0)
            #expect(code(path + "-link", .filesOnly) == nil)
            #expect(code(path + "-link", .withoutLinks) == ELOOP)
            #expect(code(path + "-pipe", .filesOnly) == EINVAL)
            #expect(code(folder.path, .filesOnly) == EINVAL && code(path, .folder) == ENOTDIR)
        }
    }

    @Test("one claims a file, until it lets go or is gone")
    func claims() throws {
        try removing {
            var first: OpenFile? = try OpenFile(path, [.updating, .creating])
            let second = try OpenFile(path, [.updating, .creating])
            #expect(try first?.claim() == true)
            #expect(try !second.claim())
            #expect(try OpenFile(path).isClaimed)
            first?.release()
            #expect(try second.claim())
            second.release()
            #expect(try first?.claim() == true)
            first = nil
            #expect(try second.claim())
        }
    }

    @Test("a file that is written or replaced is noticed, and one of the same name is another")
    func identity() throws {
        try removing {
            let file = try OpenFile(path, [.writing, .new])
            let (empty, identity) = (FileStatus(path), FileIdentity(path))
            #expect(FileStatus(path) == empty && file.isAt(path))
            try file.write([1])
            #expect(FileStatus(path) != empty && FileIdentity(path) == identity)
            #expect(rename(path, path + "-old") == 0)
            #expect(!file.isAt(path) && file.isAt(path + "-old"))
            try OpenFile(path, [.writing, .new]).write([1])
            #expect(!file.isAt(path) && FileIdentity(path) != identity)
        }
    }
}
