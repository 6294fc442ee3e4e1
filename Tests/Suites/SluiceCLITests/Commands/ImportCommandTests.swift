import Foundation
import Sluice
import Testing

@Suite struct ImportCommandTests {
    private static let declared = """
        tables:
          movies:
            columns: { title: string, year: integer, score: real, won: boolean, seen: date, cast: json }

        """

    private func run(_ arguments: String..., scratch: Scratch, input: String = "") async throws -> Program.Result {
        try await Program.sluice.run(
            ["import", "movies"] + arguments + ["--store", scratch.file("local.db"), "--json"], input: input,
            in: scratch.path)
    }

    private func records(_ scratch: Scratch) async throws -> [JSON] {
        let store = scratch.file("local.db")
        let query = try await Program.sluice("query", "movies", "--orderby", "id", "--store", store, "--json")
        return try query.json["items"]?.elements ?? []
    }

    private func queued(_ scratch: Scratch) async throws -> [String] {
        let list = try await Program.sluice("queue", "list", "--store", scratch.file("local.db"), "--json").json
        return (list["operations"]?.elements ?? []).map { "\($0["kind"] ?? .null) \($0["record"] ?? .null)" }
    }

    private func count(_ scratch: Scratch) async throws -> Int { try await records(scratch).count }

    private func message(_ result: Program.Result) throws -> String {
        try result.json["error"]?["message"]?.string ?? ""
    }

    private func tally(_ read: Int, _ inserted: Int, _ updated: Int, _ unchanged: Int) -> JSON {
        [
            "table": "movies", "read": JSON(read), "inserted": JSON(inserted), "updated": JSON(updated),
            "unchanged": JSON(unchanged),
        ]
    }

    @Test("the lines that sluice sql prints of a whole table are the same records, in another store too")
    func fromSQL() async throws {
        try await withScratch { scratch in
            let config = try scratch.write("sync.yaml", Self.declared)
            let other = scratch.file("other.db")
            let records = [
                #"{"id":"a","title":"one","year":1999,"score":9007199254740993,"more":{"x":[1,2]},"cast":["b"]}"#,
                #"{"id":"b","title":"7","extra":null,"won":true}"#, #"{"id":"c","year":null}"#,
            ]
            for record in records {
                let made = try await Program.sluice("insert", "movies", record, "--store", other, "--config", config)
                #expect(made.status == 0, "\(made)")
            }
            let printed = try await Program.sluice("sql", "SELECT * FROM movies", "--store", other, "--json")
            let result = try await run(
                "-", "--format", "jsonl", "--config", config, scratch: scratch, input: printed.output)
            #expect(result.status == 0, "\(result) \(printed)")
            // A property that is missing is null in SQL.
            func values(_ records: [JSON]?) -> [JSON] {
                (records ?? []).map { JSON(members: ($0.members ?? []).filter { !$0.value.isNull }) }
            }
            let before = try await Program.sluice("query", "movies", "--orderby", "id", "--store", other, "--json")
            #expect(try await values(self.records(scratch)) == values(before.json["items"]?.elements))
            // An edit between the two counts, and what was not edited keeps its digits.
            let edited = printed.output.replacing("\"year\":1999", with: "\"year\":2000")
                .replacing("\"score\":9007199254740992", with: "\"score\":5")
            _ = try await run("-", "--upsert", "--format", "jsonl", "--config", config, scratch: scratch, input: edited)
            let after = try await self.records(scratch)
            #expect(after.first?["score"] == 5 && after.first?["year"] == 2000 && after.first?["more"] != nil)
        }
    }

    @Test("lines of JSON become records that wait for the next push, each number digit for digit")
    func lines() async throws {
        try await withServer(tables: "{ movies: {} }") { server, scratch in
            try scratch.write(
                "movies.jsonl",
                "\u{FEFF}{\"id\":\"a\",\"n\":1.10,\"big\":18446744073709551616}\r\n\n{\"title\":\"no id\",\"x\":null}")
            let result = try await run("movies.jsonl", scratch: scratch)
            #expect(result.status == 0 && result.errors == "", "\(result)")
            #expect(result.output == "\(tally(2, 2, 0, 0))\n")
            let all = try await records(scratch)
            #expect(all.contains(try JSON(parsing: #"{"id":"a","n":1.10,"big":18446744073709551616}"#)))
            #expect(all.contains { "\($0["n"] ?? .null)" == "1.10" })
            #expect(all.contains { $0["title"] == "no id" && $0["x"] == .null && $0["id"]?.string?.isEmpty == false })
            let push = try await Program.sluice(
                "push", "--store", scratch.file("local.db"), "--endpoint", server.endpoint, "--json")
            #expect(try push.json["applied"] == 2, "\(push)")
            // The server has added what only it sets; the file says nothing else.
            try scratch.write("movies.jsonl", #"{"id":"a","n":1.1,"version":"mine"}"#)
            var expected = tally(1, 0, 0, 1)
            expected["leftOut"] = ["version"]
            #expect(try await run("movies.jsonl", "--upsert", scratch: scratch).json == expected)
            #expect(try await queued(scratch) == [])
        }
    }

    @Test(
        "a mark of deletion that is neither set nor unset ends the import with its line",
        arguments: ["yes", "2", "true "])
    func unclearMark(_ mark: String) async throws {
        try await withScratch { scratch in
            let clear = "a,\nb,FALSE\nc,0\nd,\"\"\ne,1\n"
            try scratch.write("movies.csv", "id,deleted\n\(clear)f,\(mark)\n")
            let refused = try await run("movies.csv", scratch: scratch)
            #expect(refused.status == 2 && refused.errors.contains("movies.csv:7: column deleted"), "\(refused)")
            #expect(try await records(scratch).isEmpty)
            try scratch.write("movies.csv", "id,deleted\n\(clear)")
            let result = try await run("movies.csv", scratch: scratch)
            #expect(try result.status == 0 && result.json["inserted"] == 4 && result.json["deleted"] == 1, "\(result)")
        }
    }

    @Test("UTF-16 is called by its name", arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
    func wide(_ encoding: String.Encoding) async throws {
        try await withScratch { scratch in
            let file = URL(fileURLWithPath: scratch.file("movies.csv"))
            try #require("\u{FEFF}id,title\na,Alien\n".data(using: encoding)).write(to: file)
            let result = try await run("movies.csv", scratch: scratch)
            #expect(result.status == 2 && result.errors.contains("movies.csv:1: the file is UTF-16"), "\(result)")
        }
    }

    @Test("what only the server sets is left out, and said to be; so is a record that is marked as deleted")
    func serverSet() async throws {
        try await withScratch { scratch in
            let marked = "b,Brazil,,TRUE\nd,Dune,,1\n"
            try scratch.write("movies.csv", "id,title,version,deleted\na,Alien,3.0,false\n\(marked),,,\n")
            let result = try await run("movies.csv", scratch: scratch)
            #expect(result.status == 0, "\(result)")
            #expect(try result.json["leftOut"] == ["deleted", "version"] && result.json["deleted"] == 2)
            #expect(try await records(scratch).map { $0["id"] } == ["a"])
            let store = scratch.file("local.db")
            let insert = try await Program.sluice(
                "insert", "movies", "{\"id\":\"c\",\"version\":\"1\"}", "--store", store)
            #expect(insert.output.contains("left out, as only the server sets it: version"), "\(insert)")
            let none = try await Program.sluice("queue", "list", "--state", "dead", "--store", store)
            #expect(none.output.contains("none of 2 changes is like that") && !none.output.contains("nothing waits"))
        }
    }

    @Test("a table that stays here takes all that a file says, whatever a server would set")
    func localTable() async throws {
        try await withScratch { scratch in
            let config = try scratch.write("sync.yaml", "tables: { movies: { local: true } }\n")
            try scratch.write("movies.jsonl", #"{"id":"a","version":"3.0","deleted":true}"#)
            let result = try await run("movies.jsonl", "--config", config, scratch: scratch)
            #expect(try result.status == 0 && result.json == tally(1, 1, 0, 0), "\(result)")
            let kept = try await records(scratch)
            #expect(kept.map { $0["version"] } == ["3.0"] && kept.map { $0["deleted"] } == [true])
        }
    }

    @Test("CSV becomes what the table's columns are declared as")
    func csv() async throws {
        try await withScratch { scratch in
            let config = try scratch.write("sync.yaml", Self.declared)
            try scratch.write(
                "movies.CSV",
                "\u{FEFF}id,title,year,score,won,seen,cast,note\r\n"
                    + "a,\"The \"\"first\"\"\nof two, so far\",1994,9.30,true,1994-09-23,\"[\"\"Tim\"\"]\",007\r\n"
                    + "b,\"\",,,FALSE,,,\r\n")
            let result = try await run("movies.CSV", "--config", config, scratch: scratch)
            #expect(try result.json == tally(2, 2, 0, 0), "\(result)")
            let all = try await records(scratch)
            #expect(
                try all == [
                    JSON(
                        parsing: #"""
                            {"id":"a","title":"The \"first\"\nof two, so far","year":1994,"score":9.30,"won":true,
                            "seen":"1994-09-23","cast":["Tim"],"note":"007"}
                            """#),
                    JSON(parsing: #"{"id":"b","title":"","won":false}"#),
                ])
            // The store tells the types where the configuration is not there.
            try scratch.write("more.csv", "id,year\nc,2001\n")
            #expect(try await run("more.csv", scratch: scratch).status == 0)
            #expect(try await records(scratch).last == ["id": "c", "year": 2001])
            // What was left out counts as null: a repeat changes nothing.
            #expect(try await run("movies.CSV", "--upsert", scratch: scratch).json == tally(2, 0, 0, 2))
        }
    }

    @Test(
        "a line of JSON whose value is not what its column is declared as is refused, and nothing is stored",
        arguments: [
            (#""title":7"#, "title: 7 is no text"), (#""year":"1994""#, "year: \"1994\" is no integer"),
            (#""year":1994.5"#, "year: 1994.5 is no integer"),
            (#""year":9223372036854775808"#, "year: 9223372036854775808 is no integer"),
            (#""score":"9.3""#, "score: \"9.3\" is no number"), (#""score":1e400"#, "score: 1e400 is no number"),
            (#""won":1"#, "won: 1 is no boolean"), (#""seen":"yesterday""#, "seen: \"yesterday\" is no date"),
            (#""seen":{}"#, "seen: {} is no date"),
        ])
    func declaredJSON(_ member: String, _ reason: String) async throws {
        try await withScratch { scratch in
            let config = try scratch.write("sync.yaml", Self.declared)
            let good = #"""
                {"id":"a","title":"x","year":1994,"score":9,"won":true,"seen":"1994-09-23","cast":["Tim"],"note":7}
                {"id":"b","title":null,"year":null,"score":9.30,"won":null,"seen":null,"cast":{"n":1}}

                """#
            try scratch.write("movies.jsonl", good + "{\"id\":\"c\",\(member)}\n")
            // With the declaration, and with that of the store alone.
            for options in [["--config", config], []] {
                let result = try await Program.sluice.run(
                    ["import", "movies", "movies.jsonl", "--store", "local.db", "--json"] + options, in: scratch.path)
                #expect(result.status == 2, "\(result)")
                let text = try message(result)
                #expect(text.hasPrefix("movies.jsonl:3: column \(reason)"), "\(text)")
                #expect(text.hasSuffix("; nothing is stored"), "\(text)")
                #expect(try await records(scratch) == [])
                #expect(try await queued(scratch) == [])
            }
            try scratch.write("movies.jsonl", good)
            #expect(try await run("movies.jsonl", scratch: scratch).json == tally(2, 2, 0, 0))
        }
    }

    @Test("CSV with another separator is refused with a hint, and read where it is given")
    func separators() async throws {
        try await withScratch { scratch in
            for (separator, argument) in [(";", "';'"), ("\t", "tab"), ("|", "'|'")] {
                try? FileManager.default.removeItem(atPath: scratch.file("local.db"))
                let lines = [["id", "title", "year"], ["a", "\"one\(separator) two, three\"", "1994"]]
                try scratch.write("m.csv", lines.map { $0.joined(separator: separator) + "\n" }.joined())
                let refused = try await run("m.csv", scratch: scratch)
                #expect(refused.status == 2, "\(refused)")
                let text = try message(refused)
                #expect(text.hasPrefix("m.csv:1: ") && text.contains("give --separator \(argument);"), "\(text)")
                #expect(text.hasSuffix("; nothing is stored"), "\(text)")
                #expect(try await records(scratch) == [])
                let word = separator == "\t" ? "tab" : separator
                let read = try await run("m.csv", "--separator", word, scratch: scratch)
                #expect(try read.json == tally(1, 1, 0, 0), "\(read)")
                #expect(
                    try await records(scratch) == [
                        ["id": "a", "title": JSON("one\(separator) two, three"), "year": "1994"]
                    ])
            }
            // A column may be called so.
            try scratch.write("n.csv", "\"a;b\"\nx\n")
            #expect(try await run("n.csv", scratch: scratch).status == 0)
            try scratch.write("n.jsonl", "{}\n")
            let lines = try await run("n.jsonl", "--separator", ";", scratch: scratch)
            #expect(lines.status == 2 && lines.errors.contains("--separator is for CSV"), "\(lines)")
            for argument in ["", "\"", "a", "1", ";;", "\n", "é"] {
                #expect(try await run("m.csv", "--separator", argument, scratch: scratch).status == 2)
            }
        }
    }

    @Test("an upsert changes what differs, leaves the rest alone and makes no doubles")
    func upsert() async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            for record in [#"{"id":"a","year":1,"own":true}"#, #"{"id":"b","year":2}"#] {
                _ = try await Program.sluice("insert", "movies", record, "--store", store)
            }
            try scratch.write(
                "movies.jsonl", #"{"id":"a","year":1.0}"# + "\n" + #"{"id":"b","year":3}"# + "\n" + #"{"id":"c"}"#)
            let text = try await Program.sluice(
                "import", "movies", scratch.file("movies.jsonl"), "--upsert", "--store", store)
            #expect(text.output == "import movies: 1 inserted, 1 updated, 1 unchanged\n", "\(text)")
            #expect(
                try await records(scratch) == [
                    ["id": "a", "year": 1, "own": true], ["id": "b", "year": 3], ["id": "c"],
                ])
            #expect(try await run("movies.jsonl", "--upsert", scratch: scratch).json == tally(3, 0, 0, 3))
            // One record twice: the last says what it is.
            try scratch.write("movies.jsonl", #"{"id":"d","year":1}"# + "\n" + #"{"id":"d","year":2}"#)
            #expect(try await run("movies.jsonl", "--upsert", scratch: scratch).json == tally(2, 1, 1, 0))
            #expect(try await records(scratch).last == ["id": "d", "year": 2])
            try scratch.write("movies.jsonl", #"{"year":1}"#)
            let none = try await run("movies.jsonl", "--upsert", scratch: scratch)
            #expect(none.status == 2 && none.errors.contains("movies.jsonl:1: the record has no id"), "\(none)")
        }
    }

    @Test("an error takes its own step back, tells what is stored, and a repeat goes on from there", arguments: [2, 3])
    func steps(_ step: Int) async throws {
        try await withScratch { scratch in
            let config = try scratch.write("sync.yaml", Self.declared)
            let good = "id,year\na,1\nb,2\nc,3\nd,4\ne,"
            try scratch.write("movies.csv", good + "five\nf,6\n")
            let options = ["--config", config, "--step", "\(step)"]
            let result = try await Program.sluice.run(
                ["import", "movies", "movies.csv", "--store", "local.db", "--json"] + options, in: scratch.path)
            #expect(result.status == 2, "\(result)")
            let stored = step == 2 ? 4 : 3
            #expect(try await count(scratch) == stored)
            #expect(try result.json["inserted"] == JSON(stored))
            let text = try message(result)
            #expect(text.hasPrefix("movies.csv:6: column year: \"five\" is no integer; stored are \(stored) records"))
            #expect(text.contains("with --upsert"), "\(text)")
            try scratch.write("movies.csv", good + "5\nf,6\n")
            let again = try await run("movies.csv", "--config", config, "--upsert", scratch: scratch)
            #expect(try again.json == tally(6, 6 - stored, 0, stored), "\(again)")
            #expect(try await queued(scratch).count == 6)
        }
    }

    @Test("all or nothing is one transaction", arguments: ["all", "0"])
    func whole(_ step: String) async throws {
        try await withScratch { scratch in
            let lines = (1...2500).map { #"{"id":"id-\#($0)"}"# }.joined(separator: "\n")
            try scratch.write("movies.ndjson", lines + "\n{")
            let result = try await run("movies.ndjson", "--step", step, scratch: scratch)
            #expect(result.status == 2 && result.errors.contains("movies.ndjson:2501: "), "\(result)")
            #expect(try message(result).hasSuffix("; nothing is stored"))
            #expect(try await count(scratch) == 0)
            try scratch.write("movies.ndjson", lines)
            #expect(try await run("movies.ndjson", "--step", step, scratch: scratch).json == tally(2500, 2500, 0, 0))
        }
    }

    @Test("a record that is here already, or twice in the file, ends an import without --upsert")
    func doubles() async throws {
        try await withScratch { scratch in
            let twice = #"{"id":"a"}"# + "\n" + #"{"id":"b"}"# + "\n\n" + #"{"id":"a"}"#
            for step in ["1", "2", "all"] {
                try? FileManager.default.removeItem(atPath: scratch.file("local.db"))
                let result = try await run("-", "--format", "jsonl", "--step", step, scratch: scratch, input: twice)
                #expect(result.status == 2, "\(result)")
                #expect(try result.json["error"]?["code"] == "recordExists")
                #expect(try message(result).hasPrefix("standard input:4: the record is given twice, on lines 1 and 4;"))
                #expect(try await count(scratch) == (step == "all" ? 0 : 2))
            }
            _ = try await Program.sluice("insert", "movies", #"{"id":"z"}"#, "--store", scratch.file("local.db"))
            let here = try await run("-", "--format", "jsonl", scratch: scratch, input: #"{"id":"z"}"#)
            #expect(here.status == 2 && here.errors.contains("a record with this id exists"), "\(here)")
        }
    }

    @Test("any column can be the id, a number as its text")
    func ids() async throws {
        try await withScratch { scratch in
            try scratch.write("a.jsonl", #"{"sku":12,"title":"x"}"#)
            #expect(try await run("a.jsonl", "--id", "sku", scratch: scratch).status == 0)
            try scratch.write("b.csv", "title,sku\ny,013\n")
            #expect(try await run("b.csv", "--id", "sku", scratch: scratch).status == 0)
            #expect(try await records(scratch) == [["id": "013", "title": "y"], ["id": "12", "title": "x"]])
            for (file, text, reason) in [
                ("a.jsonl", #"{"id":7}"#, "--id id"), ("a.jsonl", #"{"sku":1,"id":"a"}"#, "besides sku"),
                ("a.jsonl", #"{"title":"x"}"#, "has no sku"), ("a.jsonl", #"{"sku":[1]}"#, "is a string"),
                ("a.csv", "a,b\n1,2", "no column sku"), ("a.csv", "sku,id\n1,2", "besides sku"),
                ("a.csv", "sku,b\n,2", "has no sku"), ("a.csv", "sku\n\"\"", "an id has a character"),
                ("a.csv", "sku\na/b", "a new id is"),
            ] {
                try scratch.write(file, text)
                let column = text.contains("7") ? [] : ["--id", "sku"]
                let result = try await Program.sluice.run(
                    ["import", "movies", file, "--store", "local.db"] + column, in: scratch.path)
                #expect(result.status == 2 && result.errors.contains(reason), "\(text): \(result)")
            }
            #expect(try await count(scratch) == 2)
        }
    }

    @Test("records that got new ids would be made again by a repeat, and the message says so")
    func madeIDs() async throws {
        try await withScratch { scratch in
            try scratch.write("a.csv", "title\nx\ny\n\"\n")
            let result = try await run("a.csv", "--step", "1", scratch: scratch)
            #expect(try message(result).hasSuffix("import what comes after that line"), "\(result)")
            #expect(
                try message(result).contains("a.csv:4: ") && message(result).contains("2 records, up to that of line 3")
            )
        }
    }

    @Test(
        "what cannot be read ends with 2, file and line, and stores nothing",
        arguments: [
            ("a.csv", "", "is empty"), ("a.csv", "id,id\n", "two columns id"), ("a.csv", "id,\n", "has no name"),
            ("a.csv", "id ,n\n", "has a blank at an end"), ("a.csv", "id, n\n", "has a blank at an end"),
            ("a.csv", "id,a\nx\n", "a.csv:2: the record has 1 field, and the header names 2 columns"),
            ("a.csv", "id\nx,y\n", "a.csv:2: "), ("a.csv", "id\n\"x", "a.csv:2: "), ("a.csv", "id\n\0", "a.csv:2: "),
            ("a.csv", "ID\nx", "only in the case of letters"),
            ("a.jsonl", "[\n", "a.jsonl:1: "), ("a.jsonl", "[]", "a.jsonl:1: a line has to be one JSON object"),
            ("a.jsonl", #"{"items":[{"id":"a"}],"count":1}"#, "a.jsonl:1: this is the answer of sluice query --json"),
            ("a.json", "{\n\"id\":\"a\"}", "a.json:1: "), ("a.jsonl", "{\"a\":1,\"a\":2}", "repeated"),
            ("a.jsonl", "\0", "a.jsonl:1: "), ("a.jsonl", "{\"a\":1}\n{\"a\\u0000\":1}", "a.jsonl:2: "),
            (
                "a.jsonl", String(repeating: "{\"a\":", count: 100) + "1" + String(repeating: "}", count: 100),
                "a.jsonl:1: "
            ),
            (
                "a.jsonl", String(repeating: "{\"a\":", count: 62) + "1" + String(repeating: "}", count: 62),
                "a.jsonl:1: "
            ),
            ("a.txt", "id\n", "--format"), (".", "", "--format"),
        ])
    func refused(_ file: String, _ text: String, _ reason: String) async throws {
        try await withScratch { scratch in
            if file != "." { try scratch.write(file, text) }
            let result = try await run(file, scratch: scratch)
            #expect(result.status == 2 && result.errors.contains(reason), "\(result)")
            #expect(result.errors.filter { $0 == "\n" }.count == 1)
            if FileManager.default.fileExists(atPath: scratch.file("local.db")) {
                #expect(try await count(scratch) == 0)
                #expect(try await queued(scratch) == [])
            }
        }
    }

    @Test("bytes that no text has, endless lines and very wide tables are refused with their line")
    func hostile() async throws {
        try await withScratch { scratch in
            func refusal(_ file: String, _ bytes: [UInt8], _ reason: String) async throws {
                try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(file)))
                let result = try await run(file, scratch: scratch)
                #expect(result.status == 2 && result.errors.contains(reason), "\(result.errors.prefix(500))")
            }
            let header = Array("id,a\nx,".utf8)
            try await refusal("a.csv", header + [0xFF], "a.csv:2: the text is not UTF-8")
            try await refusal("a.jsonl", Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), "a.jsonl:1: ")
            let long = [UInt8](repeating: UInt8(ascii: "x"), count: 16 << 20)
            try await refusal("a.csv", header + long + long, "a.csv:2: ")
            let folded = long.enumerated().map { $0.offset % 100 == 0 ? UInt8(ascii: "\n") : $0.element }
            try await refusal("a.csv", header + [UInt8(ascii: "\"")] + folded, "a.csv:2: the record is longer")
            try await refusal("a.jsonl", Array("{\"a\":\"".utf8) + long, "a.jsonl:1: ")
            let names = (1...1001).map { "c\($0)" }.joined(separator: ",")
            try await refusal("a.csv", Array(names.utf8), "a.csv:1: the record has more than 1000 fields")
            #expect(try await count(scratch) == 0)
        }
    }

    @Test("options that cannot be make no store")
    func options() async throws {
        try await withScratch { scratch in
            try scratch.write("a.csv", "id\nx\n")
            for arguments in [
                ["a.csv", "--step", "-1"], ["a.csv", "--step=-1"], ["a.csv", "--step", "99999999999999999999"],
                ["a.csv", "--step", "few"], ["a.csv", "--format", "xml"], ["a.csv", "--id", ""], ["-"], ["none.csv"],
                [],
            ] {
                let result = try await Program.sluice.run(
                    ["import", "movies"] + arguments + ["--store", "local.db"], in: scratch.path)
                #expect(result.status == 2, "\(arguments): \(result)")
            }
            let table = try await Program.sluice(
                "import", "sluice_queue", "a.csv", "--store", "local.db", in: scratch.path)
            #expect(table.status == 2)
            #expect(!FileManager.default.fileExists(atPath: scratch.file("local.db")))
            let folder = try await run(scratch.path, "--format", "csv", scratch: scratch)
            #expect(folder.status == 2 && folder.errors.contains("cannot be read to its end"), "\(folder)")
            let empty = try await Program.sluice(
                "import", "movies", "-", "--format", "jsonl", "--store", "local.db", in: scratch.path)
            #expect(empty.status == 0 && empty.output == "import movies: no records\n", "\(empty)")
        }
    }
}
