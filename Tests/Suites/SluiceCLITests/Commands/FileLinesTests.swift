import Foundation
import Sluice
import Testing

@testable import SluiceCLI

@Suite struct FileLinesTests {
    private func lines(_ text: String, longest: Int) async throws -> [String] {
        try await withScratch { scratch in
            let lines = try FileLines(try scratch.write("lines", text), longest: longest)
            var all: [String] = []
            while let line = try lines.next() { all.append(line) }
            return all
        }
    }

    @Test("lines come without their ends, whether or not the last has one")
    func ends() async throws {
        #expect(try await lines("", longest: 5) == [])
        #expect(try await lines("\n", longest: 5) == [""])
        #expect(try await lines("a\n\nbc\r\n", longest: 5) == ["a", "", "bc\r"])
        #expect(try await lines("a\nbc", longest: 5) == ["a", "bc"])
    }

    @Test("a line may be longer than what is read at once, and end where that ends", arguments: -1...1)
    func chunks(_ difference: Int) async throws {
        let long = String(repeating: "x", count: (1 << 16) + difference)
        #expect(try await lines("\(long)\n\(long)\ny\n", longest: 1 << 17) == [long, long, "y"])
    }

    @Test("a line that is too long ends it as it ends the import")
    func tooLong() async throws {
        #expect(try await lines("12345\n12345", longest: 5) == ["12345", "12345"])
        for text in ["12345\n123456\n", "1\n123456", "\n" + String(repeating: "x", count: 1 << 20)] {
            let error = await #expect(throws: SluiceError.self) { try await lines(text, longest: 5) }
            #expect(error?.code == .invalidRecord)
            #expect(error?.message == "line 2 is longer than 5 bytes")
        }
    }

    @Test("a folder is no file")
    func folder() async throws {
        try await withScratch { scratch in
            let lines = try FileLines(scratch.path, longest: 5)
            #expect(throws: CommandFailure.self) { try lines.next() }
        }
    }
}
