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
            #expect(code == "8\n")
        }
    }

    @Test("an export onto a full disk ends with 8, names the file, and leaves none")
    func export() async throws {
        try await withScratch { scratch in
            try await filled(scratch, rows: 2000)
            let line = "ulimit -f 100; trap '' XFSZ; exec $0 store export \(scratch.file("all.jsonl")) --store $1"
            let result = try await run(line, scratch)
            #expect(result.status == 8 && result.errors.contains("all.jsonl could not be written whole"), "\(result)")
            #expect(!FileManager.default.fileExists(atPath: scratch.file("all.jsonl")))
        }
    }

    @Test("a log that nobody reads stops no server")
    func log() async throws {
        try await withScratch { scratch in
            let settings = try scratch.write(
                "backend.yaml", "database: sqlite:\(scratch.file("b.db"))\ntables: { x: {} }\n")
            let script = """
                import fcntl, os, socket, subprocess, sys, time, urllib.error, urllib.request
                s = socket.socket(); s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]; s.close()
                r, w = os.pipe()
                fcntl.fcntl(w, 1031, 4096)
                p = subprocess.Popen([sys.argv[1], "serve", "--config", sys.argv[2], "--port", str(port)], stdout=w, stderr=w)
                os.close(w)
                url = "http://127.0.0.1:%d/tables/x" % port
                def answer(data=None):
                    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
                    try: return urllib.request.urlopen(request, timeout=20).status
                    except urllib.error.HTTPError as error: return error.code
                for _ in range(200):
                    try: answer(); break
                    except OSError: time.sleep(0.05)
                os.link(sys.argv[3], sys.argv[3] + "-second")
                failed = [answer(b'{"id":"a"}') for _ in range(40)]
                os.unlink(sys.argv[3] + "-second")
                read = answer()
                p.terminate()
                print(set(failed), read, p.wait(20))
                """
            let result = try await Program(path: "/usr/bin/env").run(
                ["python3", "-c", script, Program.sluice.path, settings, scratch.file("b.db")])
            #expect(result.output == "{500} 200 0\n", "\(result)")
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
