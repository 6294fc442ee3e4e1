internal import SluiceCore

extension HostileCase {
    /// Answers that are too much. A page that is too large is asked for in smaller parts. Memory grows by
    /// less than 96 MB whatever comes.
    static var size: [HostileCase] { largeBodies + packedBodies + wrongPacking + largeContents }

    /// A busy machine takes long to read as much; the time is not what these show.
    private static let limits = HostileLimits(
        exchange: SyncRequest.Limits(grace: .seconds(120)), requests: 8, memory: 96 << 20)
    private static let block = Array(repeating: UInt8(ascii: " "), count: 65_536)

    private static func sized(
        _ name: String, _ call: HostileCall, _ outcome: HostileOutcome, answer: @escaping Answer
    ) -> HostileCase { HostileCase(.size, name, call, outcome, limits: limits, answer: answer) }

    private static func head(_ fields: String, status: Int = 200) -> HostileAct {
        .text("HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\n\(fields)\r\n\r\n")
    }

    private static func whole(_ status: Int = 200) -> Answer {
        always([head("Content-Length: \(300 << 20)", status: status), .repeated(block, times: 4800)])
    }

    private static var largeBodies: [HostileCase] {
        let chunk = Array("10000\r\n".utf8) + block + Array("\r\n".utf8)
        return [
            sized("300 MB, announced", .pull, .fails(.tooLarge), answer: whole()),
            sized(
                "300 MB in chunks", .pull, .fails(.tooLarge),
                answer: always([head("Transfer-Encoding: chunked"), .repeated(chunk, times: 4800), .text("0\r\n\r\n")])),
            sized(
                "300 MB up to the connection's end", .pull, .fails(.tooLarge),
                answer: always([head("Connection: close"), .repeated(block, times: 4800), .close])),
            sized("300 MB", .update, .waits(.tooLarge), answer: whole()),
            sized("a refusal of 300 MB", .update, .waits(.tooLarge), answer: whole(500)),
            sized("a conflict of 300 MB", .insert, .waits(.tooLarge), answer: whole(409)),
            sized("300 MB", .lookup, .fails(.tooLarge), answer: whole()),
            sized(
                "a length of 2^62", .pull, .fails(.tooLarge),
                answer: always([head("Content-Length: 4611686018427387904"), .text("[]"), .hold])),
            sized(
                "a header field of 300 MB", .pull, .fails(.network),
                answer: always([.text("HTTP/1.1 200 OK\r\nX-Long: "), .repeated(Array("long".utf8), times: 75 << 20)])),
            sized(
                "a header field of 300 MB of spaces", .pull, .fails(.network),
                answer: always([.text("HTTP/1.1 200 OK\r\nX-Long: "), .repeated(block, times: 4800)])),
            sized(
                "packed bytes that begin with a name of 300 MB", .pull, .fails(.network),
                answer: always([
                    head("Content-Encoding: gzip\r\nContent-Length: \(300 << 20)"),
                    .send([31, 139, 8, 8, 0, 0, 0, 0, 0, 255]), .repeated(block, times: 4800),
                ])),
            sized(
                "header fields of 300 MB", .pull, .fails(.network),
                answer: always([
                    .text("HTTP/1.1 200 OK\r\n"), .repeated(Array("X-A: b\r\n".utf8), times: 37_500_000),
                ])),
            sized(
                "trailer fields of 300 MB", .pull, .fails(.network),
                answer: always([
                    head("Transfer-Encoding: chunked"), .text("2\r\n[]\r\n0\r\n"),
                    .repeated(Array("X-A: b\r\n".utf8), times: 37_500_000),
                ])),
            sized(
                "a chunk extension of 300 MB", .pull, .fails(.network),
                answer: always([
                    head("Transfer-Encoding: chunked"), .text("2;x="), .repeated(block, times: 4800),
                ])),
        ]
    }

    private static func packed(_ coding: String, _ body: (acts: [HostileAct], count: Int)) -> Answer {
        always([head("Content-Encoding: \(coding)\r\nContent-Length: \(body.count)")] + body.acts)
    }

    private static var packedBodies: [HostileCase] {
        let bomb = PackedBytes.gzip(megabytes: 300)
        return [
            sized("300 MB as 2 MB of gzip", .pull, .fails(.tooLarge), answer: packed("gzip", bomb)),
            sized(
                "300 MB as 2 MB of deflate", .pull, .fails(.tooLarge),
                answer: packed("deflate", PackedBytes.zlib(megabytes: 300))),
            sized(
                "300 MB of gzip in chunks", .pull, .fails(.tooLarge),
                answer: always(
                    [head("Content-Encoding: gzip\r\nTransfer-Encoding: chunked")]
                        + bomb.acts.flatMap(chunked) + [.text("0\r\n\r\n")])),
            sized("300 MB as 2 MB of gzip", .insert, .waits(.tooLarge), answer: packed("gzip", bomb)),
            sized("a refusal of 300 MB as 2 MB of gzip", .delete, .waits(.tooLarge)) { _ in
                [head("Content-Encoding: gzip\r\nContent-Length: \(bomb.count)", status: 503)] + bomb.acts
            },
            sized("gzip within gzip", .pull, .fails(.brokenProtocol), answer: packed("gzip, gzip", bomb)),
        ]
    }

    /// The act as one chunk, or as one for each time it repeats.
    private static func chunked(_ act: HostileAct) -> [HostileAct] {
        func chunk(_ bytes: [UInt8]) -> [UInt8] {
            Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
        switch act {
        case .send(let bytes): return [.send(chunk(bytes))]
        case .repeated(let bytes, let times):
            let many = Array(repeatElement(bytes, count: 1000).joined())
            return [.repeated(chunk(many), times: times / 1000 + 1)]
        default: return [act]
        }
    }

    private static var wrongPacking: [HostileCase] {
        let page = PackedBytes.stored(Array(HostileRows.one.utf8))
        func packed(_ coding: String, _ bytes: [UInt8]) -> Answer {
            always([.answer(200, [("Content-Encoding", coding)], body: bytes)])
        }
        return [
            sized(
                "gzip that is well", .pull, HostileRows.brought,
                answer: once([.answer(200, [("Content-Encoding", "gzip")], body: page)])),
            sized(
                "GZIP in capitals", .pull, HostileRows.brought,
                answer: once([.answer(200, [("Content-Encoding", "GZIP")], body: page)])),
            sized(
                "gzip that breaks off", .pull, .fails(.network), answer: packed("gzip", Array(page.dropLast(40)))),
            sized(
                "gzip with a wrong checksum", .pull, .fails(.network),
                answer: packed("gzip", PackedBytes.stored(Array(HostileRows.one.utf8), checksum: 7))),
            sized("bytes that are no gzip", .pull, .fails(.network), answer: packed("gzip", Array("[]".utf8))),
            sized("an empty body that is said to be gzip", .pull, .fails(.network), answer: packed("gzip", [])),
            sized(
                "gzip with other bytes after it", .pull, .fails(.network),
                answer: packed("gzip", page + Array("[]".utf8))),
            sized(
                "gzip that nobody says is gzip", .pull, .fails(.brokenProtocol),
                answer: once([.answer(200, body: page)])),
        ]
            + ["br", "zstd", "compress", "x-unknown", "gzip, br"].map { coding in
                sized(
                    "the coding \(coding), which was not asked for", .pull, .fails(.brokenProtocol),
                    answer: packed(coding, page))
            }
    }

    private static var largeContents: [HostileCase] {
        let fields = (0..<100_000).map { #""f\#($0)":\#($0)"# }.joined(separator: ",")
        let long = String(repeating: "k", count: 1 << 20)
        let tombstones = HostileRows.page(
            (0..<100_000).map { #"{"id":"\#($0)","deleted":true,"updatedAt":"\#(HostileRows.time)"}"# })
        return [
            sized(
                "a row of 100,000 fields", .pull, HostileRows.brought,
                answer: once(HostileRows.page([HostileRows.row("x", fields)]))),
            sized(
                "a field's name of 1 MB", .pull, HostileRows.brought,
                answer: once(HostileRows.page([HostileRows.row("x", "\"\(long)\":1")]))),
            sized(
                "a text of 8 MB", .pull, HostileRows.brought,
                answer: once([
                    head("Content-Length: \(HostileRows.one.utf8.count + (8 << 20) + 7)"),
                    .text(String(HostileRows.one.dropLast(2)) + #","l":""#), .repeated(block, times: 128),
                    .text("\"}]"),
                ])),
            sized(
                "30 MB of numbers", .pull, .fails(.tooLarge),
                answer: always([
                    head("Content-Length: \(30 << 20)"), .text("[0"),
                    .repeated(Array(",0".utf8), times: (15 << 20) - 2),
                    .text("]"), .text(" "),
                ])),
            sized(
                "30 MB of numbers", .update, .waits(.tooLarge),
                answer: always([
                    head("Content-Length: \(30 << 20)"), .text("[0"),
                    .repeated(Array(",0".utf8), times: (15 << 20) - 2),
                    .text("]"), .text(" "),
                ])),
            sized(
                "100,000 tombstones of rows that are not here", .pull,
                .brings(["a", "b"], cursor: .at(HostileRows.time)),
                answer: once(tombstones)),
            sized(
                "a message of 8 MB", .update, .parks(.rejected),
                answer: always([
                    head("Content-Length: \((8 << 20) + 12)", status: 400), .text(#"{"error":""#),
                    .repeated(Array("x".utf8), times: 8 << 20), .text(#""}"#),
                ])),
        ]
    }
}
