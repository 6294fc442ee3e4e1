import Foundation
import Testing

@Suite struct LostOutputTests {
    private static let shell = Program(path: "/bin/sh")

    /// Runs a command of the shell's, in which `$0` is the program and `$1` the store.
    private func run(_ line: String, _ scratch: Scratch) async throws -> Program.Result {
        try await Self.shell.run(["-c", line, Program.sluice.path, scratch.file("s.db")])
    }

    private func filled(_ scratch: Scratch, rows: Int) async throws {
        let lines = (0..<rows).map { "{\"id\":\"r\($0)\",\"text\":\"\(String(repeating: "x", count: 100))\"}" }
        let file = try scratch.write("rows.jsonl", lines.joined(separator: "\n"))
        #expect(
            try await Program.sluice("import", "notes", file, "--store", scratch.file("s.db")).status == 0)
    }

    @Test(
        "what cannot be written to standard output ends no command with 0",
        arguments: [
            "queue export --store $1", "queue export --json --store $1", "query notes --json --store $1",
            "sql 'select * from notes' --json --store $1", "status --store $1", "--help", "help queue", "--version",
            "config schema", "plugin stubs", "demo", "store check --store $1", "--generate-completion-script bash",
        ])
    func full(command: String) async throws {
        try await withScratch { scratch in
            try await filled(scratch, rows: 3)
            // Some of them write files where they are.
            let result = try await run("cd \"${1%/*}\" && exec $0 \(command) > /dev/full", scratch)
            #expect(result.status == 8, "\(result)")
            #expect(result.errors.contains("standard output"), "\(result)")
        }
    }

    @Test("a closed output is told, and a reader that has gone is no success")
    func closed() async throws {
        try await withScratch { scratch in
            try await filled(scratch, rows: 2000)
            #expect(try await run("exec $0 status --store $1 >&-", scratch).status == 8)
            let gone = try await run(
                "{ $0 queue export --store $1; echo $? > \(scratch.file("code")); } | head -c 1 > /dev/null", scratch)
            #expect(gone.status == 0)
            let code = String(
                decoding: FileManager.default.contents(atPath: scratch.file("code")) ?? Data(), as: UTF8.self)
            #expect(code != "0\n" && !code.isEmpty)
        }
    }

    @Test("a pipe that takes nothing now is waited for, though its owner has it never wait")
    func slow() async throws {
        try await withScratch { scratch in
            try await filled(scratch, rows: 2000)
            let script = """
                import fcntl, os, subprocess, sys, time
                r, w = os.pipe()
                fcntl.fcntl(w, fcntl.F_SETFL, fcntl.fcntl(w, fcntl.F_GETFL) | os.O_NONBLOCK)
                p = subprocess.Popen([sys.argv[1], "queue", "export", "--store", sys.argv[2]], stdout=w)
                os.close(w)
                time.sleep(1)
                lines = 0
                while True:
                    piece = os.read(r, 65536)
                    if not piece: break
                    lines += piece.count(b"\\n")
                print(p.wait(), lines)
                """
            let result = try await Program(path: "/usr/bin/env").run(
                ["python3", "-c", script, Program.sluice.path, scratch.file("s.db")])
            #expect(result.output == "0 2000\n", "\(result)")
        }
    }
}
