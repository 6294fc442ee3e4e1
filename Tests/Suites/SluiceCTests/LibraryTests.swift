import Foundation
import RepositoryFiles
import SluiceBase
import Testing

@Suite struct LibraryTests {
    /// The functions that the header declares.
    private static func declared() throws -> Set<String> {
        let header = try Folder.text("Sources/Bindings/CSluice/include/sluice.h")
            .replacing(#/(?s)/\*.*?\*//#, with: "")
        return Set(header.matches(of: #/\b(sluice_\w+)\(\s*[a-z]/#).map { String($0.output.1) })
    }

    @Test("the library exports what the header declares and nothing else")
    func exports() async throws {
        try await Folder.use { folder in
            let names = try await Command.run(["nm", "-D", "--defined-only", Folder.library], in: folder)
            #expect(names.status == 0)
            let lines = names.output.split(separator: "\n").map { $0.split(separator: " ") }
            #expect(lines.allSatisfy { $0.last?.hasPrefix("sluice_") ?? false })
            // The symbols' version is an absolute symbol itself.
            let functions = lines.filter { $0.dropLast().last == "T" }.compactMap {
                $0.last?.split(separator: "@").first
            }
            let declared = try Self.declared()
            #expect(declared.count > 30)
            #expect(Set(functions.map(String.init)) == declared)
            let name = try await Command.run(["sh", "-c", "readelf -d \(Folder.library) | grep SONAME"], in: folder)
            #expect(name.output.contains("[libsluice.so]"))
        }
    }

    @Test("the tests call every function of the header, and Python knows each")
    func everyFunctionIsNamed() throws {
        let programs = try ["rules", "work", "threads", "callbacks"].map {
            try Folder.text("Tests/Suites/SluiceCTests/Programs/\($0).c")
        }
        let python = try Folder.text("Sources/Bindings/SluicePython/sluice/_abi.py")
        let expect = try Folder.text("Tests/Suites/SluiceCTests/Programs/expect.h")
        for function in try Self.declared() {
            #expect((programs + [expect]).contains { $0.contains("\(function)(") }, "\(function) is not tested")
            #expect(python.contains("\"\(function)\""), "\(function) is missing in Python")
        }
    }

    @Test("every code of the engine has a number, and no two have one")
    func codes() async throws {
        let errors = try Folder.text("Sources/SDK/SluiceBase/Errors/SluiceError.swift")
        let codes = errors.matches(of: #/public static let \w+ = Code\(name: \.(\w+)\)/#).map { String($0.output.1) }
        #expect(codes.count > 30)
        try await Folder.use { folder in
            let names = try await Command.run(
                [
                    "python3", "-c",
                    """
                    import ctypes
                    library = ctypes.CDLL("lib/libsluice.so")
                    library.sluice_code_name.restype = ctypes.c_char_p
                    print(*[library.sluice_code_name(code).decode() for code in range(-2, 1000)])
                    """,
                ], in: folder)
            #expect(names.status == 0, "\(names.output)")
            let known = names.output.split(whereSeparator: \.isWhitespace).map(String.init).filter { $0 != "unknown" }
            #expect(Set(known).count == known.count)
            #expect(Set(codes).subtracting(known).isEmpty)
            let header = try Folder.text("Sources/Bindings/CSluice/include/sluice.h")
            let numbers = header.matches(of: #/SLUICE_(OK|ERROR_\w+) = (\d+)/#).map { String($0.output.2) }
            #expect(Set(numbers).count == numbers.count)
            #expect(numbers.count == known.count)
        }
    }

    @Test(
        "the header is strict C99 and C++17, and stands alone",
        arguments: ["cc -std=c99 -x c", "c++ -std=c++17 -x c++"])
    func languages(compiler: String) async throws {
        try await Folder.use { folder in
            let result = try await Command.run(
                [
                    "sh", "-c",
                    "echo '#include <sluice.h>' | \(compiler) -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Ilib -",
                ], in: folder)
            #expect(result.status == 0, "\(result.output)")
        }
    }

    @Test("a folder gets header, library and pkg-config file, and nothing else")
    func installation() async throws {
        try await Folder.use { folder in
            let made = try await Command.run([Repository.path(".ci/lib"), "there", Folder.library], in: folder)
            try #require(made.status == 0, "\(made.output)")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("there"))
            #expect(Set(files) == ["sluice.h", "libsluice.so", "sluice.pc"])
            let there = ["PKG_CONFIG_PATH": folder.file("there"), "LD_LIBRARY_PATH": folder.file("there")]
            let version = try await Command.run(
                ["pkg-config", "--modversion", "sluice"], in: folder, environment: there)
            #expect(version.output == "\(SluiceVersion.text)\n")
            let program = "#include <sluice.h>\n#include <stdio.h>\nint main(void) { puts(sluice_version_text()); }\n"
            try Data(program.utf8).write(to: URL(fileURLWithPath: folder.file("version.c")))
            let run = try await Command.run(
                ["sh", "-c", "cc version.c $(pkg-config --cflags --libs sluice) -o version && ./version"], in: folder,
                environment: there)
            #expect(run.output == "\(SluiceVersion.text)\n")
        }
    }
}
