internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import SluiceCore
internal import Synchronization

/// A small server of page files, as a process of its own: the other end of what goes over real sockets.
struct WireServer {
    /// How many rows a page of ``fixed(_:)`` has.
    static let fixedRows = 20

    private let program: Program
    private let port: Int

    /// Starts one that serves the pages of a folder.
    init(pages: String) throws {
        program = try Program.itself(["--child", "serve", pages, "-"])
        guard let port = Int(program.firstLine()) else { throw BenchFailure("the server did not start") }
        self.port = port
    }

    /// Where the k-th request for a table gets the k-th page: a place of its own for each run.
    func pages(ofRun run: String) -> String { "http://127.0.0.1:\(port)/\(run)" }

    /// Where every request gets the same small page.
    var fixed: String { "http://127.0.0.1:\(port)/\(Self.fixed)" }

    func stop() { program.stop() }

    private static let fixed = "fixed"

    /// The process's own part: serves until it is ended.
    static func serve(pages: String) async throws {
        guard let first = try File.read("\(pages)/0.json") else { throw BenchFailure("there are no pages in \(pages)") }
        let small = JSON((try JSON(parsing: first).elements ?? []).prefix(fixedRows)).bytes()
        let counts = Mutex<[String: Int]>([:])
        let router = Router()
        router.get(":run/tables/:table") { _, context -> Hummingbird.Response in
            let run = try context.parameters.require("run")
            var page = small
            if run != fixed {
                let number = counts.withLock { counts in
                    defer { counts[run, default: 0] += 1 }
                    return counts[run, default: 0]
                }
                page = try File.read("\(pages)/\(number).json") ?? Array("[]".utf8)
            }
            return Hummingbird.Response(
                status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(bytes: page)))
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in say("\(channel.localAddress?.port ?? 0)") },
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        try await application.runService()
    }
}
