import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Hooks before pulled rows are stored")
struct AfterPullTests {
    private static let open = TableQuery(
        "todos", filter: .binary(.eq, .column("open"), .literal(.bool(true))))

    private func device(
        _ kind: StoreKind, rows: Int = 5, pageSize: Int = 2,
        _ decide: @escaping @Sendable (PulledPage) async throws -> [PulledRow.Decision]
    ) async throws -> Device {
        let device = try await Device(
            kind, hooks: [TestHook(hookName: "sieve", pull: decide)], adjust: { $0.pageSize = pageSize })
        device.server.seed("todos", (0..<rows).map { ["id": JSON("r\($0)"), "n": JSON($0), "open": true] })
        return device
    }

    @Test("a hook sees whole pages, and what it changes is stored", arguments: StoreKind.allCases)
    func changes(_ kind: StoreKind) async throws {
        let pages = Shared<[[String]]>([])
        let device = try await device(kind) { page in
            #expect(page.table == "todos" && page.queryName == "all")
            pages.change { $0.append(page.rows.map(\.id.text)) }
            return page.rows.map { row in
                guard let n = row.record["n"]?.int, n % 2 == 1 else { return .keep }
                var record = row.record
                record["n"] = JSON(n * 100)
                record["version"] = nil
                return .change(record)
            }
        }
        let result = try await device.todos.pull(named: "all")
        #expect(result.stored == 5 && result.dropped == 0)
        #expect(pages.value.allSatisfy { (1...2).contains($0.count) } && Set(pages.value.joined()).count == 5)
        for n in 0..<5 {
            let row = try await device.todos.lookup(id: "r\(n)")
            #expect(row?["n"]?.int == Int64(n % 2 == 1 ? n * 100 : n))
            #expect(row?["version"] == device.server.rows("todos")["r\(n)"]?["version"])
        }
    }

    @Test("members that a hook sets are stored beside those that came", arguments: StoreKind.allCases)
    func sets(_ kind: StoreKind) async throws {
        let device = try await device(kind) { page in
            page.rows.map { row -> PulledRow.Decision in
                let n = row["n"]?.int ?? 0
                #expect(row["none"] == nil && row["id"]?.textID == row.id && row.record["n"]?.int == n)
                if n == 0 { return .set(.object) }
                if n % 2 == 0 { return .keep }
                return .set(["n": JSON(n * 100), "extra": ["a": 1], "version": row["version"] ?? .null])
            }
        }
        #expect(try await device.todos.pull(named: "all").stored == 5)
        for n in 0..<5 {
            let row = try await device.todos.lookup(id: "r\(n)")
            #expect(row?["n"]?.int == Int64(n % 2 == 1 ? n * 100 : n) && row?["open"] == true)
            #expect(row?["extra"] == (n % 2 == 1 ? ["a": 1] : nil))
            #expect(row?["version"] == device.server.rows("todos")["r\(n)"]?["version"])
        }
    }

    @Test("members that are set and whole records add up along the chain", arguments: StoreKind.allCases)
    func chainOfKinds(_ kind: StoreKind) async throws {
        func hook(_ name: String, _ decide: @escaping @Sendable (PulledRow) -> PulledRow.Decision) -> TestHook {
            TestHook(hookName: name, pull: { page in page.rows.map(decide) })
        }
        let device = try await Device(
            kind,
            hooks: [
                hook("first") { $0.id == "r0" ? .drop(reason: "no") : .set(["a": 1, "b": 1]) },
                hook("second") { $0["b"] == 1 && $0["c"] == 0 ? .set(["b": 2]) : .keep },
                hook("third") { row in
                    guard row.id == "r1" else { return .keep }
                    var record = row.record
                    record["c"] = nil
                    return .change(record)
                },
                hook("fourth") { $0["c"] == nil ? .set(["d": $0["b"] ?? .null]) : .keep },
            ])
        device.server.seed("todos", ["r0", "r1", "r2"].map { ["id": JSON($0), "c": 0] })
        #expect(try await device.todos.pull(named: "all").dropped == 1)
        #expect(try await device.local("r1") == ["id": "r1", "a": 1, "b": 2, "d": 2])
        #expect(try await device.local("r2") == ["id": "r2", "a": 1, "b": 2, "c": 0])
    }

    @Test("a hook that wants no table leaves pages as they came", arguments: StoreKind.allCases)
    func notWanted(_ kind: StoreKind) async throws {
        let hook = TestHook(
            table: "others",
            pull: { _ in
                Issue.record("nobody asked for it")
                return []
            })
        let device = try await Device(kind, hooks: [hook])
        device.server.seed("todos", [["id": "a"]])
        #expect(try await device.todos.pull(named: "all").stored == 1)
    }

    @Test("a dropped row is not stored, and goes where it is here", arguments: StoreKind.allCases, [true, false])
    func drops(_ kind: StoreKind, isNamed: Bool) async throws {
        let drops = Shared<Set<String>>(["r1"])
        let device = try await device(kind) { page in
            page.rows.map { drops.value.contains($0.id.text) ? .drop(reason: "not ours") : .keep }
        }
        let name = isNamed ? "all" : nil
        let first = try await device.todos.pull(named: name)
        #expect(first.stored == 4 && first.dropped == 1 && first.deleted == 0)
        #expect(try await device.todos.lookup(id: "r1") == nil)
        drops.value = ["r1", "r2"]
        device.server.seed("todos", [["id": "r1", "n": 7], ["id": "r2", "n": 7]])
        let second = try await device.todos.pull(named: name)
        #expect(second.dropped == 2 && second.deleted == 1)
        #expect(try await device.todos.lookup(id: "r2") == nil)
        #expect(try await device.todos.lookup(id: "r4") != nil)
        drops.value = []
        device.server.seed("todos", [["id": "r1", "n": 8]])
        try await device.todos.pull(named: name)
        #expect(try await device.local("r1")?["n"] == 8)
    }

    @Test("a dropped row stays where another query holds it", arguments: StoreKind.allCases)
    func heldByOther(_ kind: StoreKind) async throws {
        let drops = Shared(false)
        let device = try await device(kind, rows: 2) { page in
            page.rows.map { _ in drops.value && page.queryName != "other" ? .drop(reason: "no") : .keep }
        }
        try await device.todos.pull(Self.open, named: "open")
        try await device.todos.pull(Self.open, named: "other")
        drops.value = true
        device.server.seed("todos", [["id": "r0", "n": 5]])
        try await device.todos.pull(Self.open, named: "open")
        try await device.todos.pull(Self.open)
        #expect(try await device.todos.lookup(id: "r0") != nil)
    }

    @Test("a dropped row with waiting changes is left alone", arguments: StoreKind.allCases)
    func pending(_ kind: StoreKind) async throws {
        let drops = Shared(false)
        let device = try await device(kind, rows: 1) { page in
            page.rows.map { _ in drops.value ? .drop(reason: "no") : .keep }
        }
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "r0", "n": 9])
        let operation = try #require(try await device.operation("r0"))
        device.server.onRequest { $0.isWrite ? .answer(.json(400, "")) : .none }
        try await device.context.push()
        drops.value = true
        device.server.seed("todos", [["id": "r0", "n": 5]])
        let result = try await device.todos.pull(named: "all")
        #expect(result.pending == 1 && result.dropped == 0)
        #expect(try await device.local("r0")?["n"] == 9)
        #expect(try await device.operation("r0")?.id == operation.id)
    }

    @Test(
        "a dropped row whose changes are given up goes then, as one that has left", arguments: StoreKind.allCases,
        [false, true])
    func givenUp(_ kind: StoreKind, _ reconciles: Bool) async throws {
        let drops = Shared(false)
        let device = try await device(kind, rows: 2) { page in
            page.rows.map { drops.value && $0.id == "r0" ? .drop(reason: "no") : .keep }
        }
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "r0", "n": 9])
        let operation = try #require(try await device.operation("r0"))
        device.server.onRequest { $0.isWrite ? .answer(.json(400, "")) : .none }
        try await device.context.push()
        drops.value = true
        device.server.seed("todos", [["id": "r0", "n": 5]])
        #expect(try await device.todos.pull(named: "all").pending == 1)
        // Later rows, so that no page shows this one again.
        device.server.seed("todos", (0..<3).map { ["id": JSON("later\($0)")] })
        try await device.todos.pull(named: "all")
        if reconciles { try await device.todos.reconcile(named: "all") }
        try await device.context.queue.discard(operation.id)
        #expect(try await device.local("r0")?["n"] == 0)
        try await device.todos.pull(named: "all")
        #expect(try await device.local("r0") == nil)
        #expect(try await device.local("r1") != nil)
    }

    @Test("tombstones pass whatever is said", arguments: StoreKind.allCases)
    func tombstones(_ kind: StoreKind) async throws {
        let seen = Shared<[String]>([])
        let device = try await device(kind, rows: 2) { page in
            seen.change { $0 += page.rows.filter(\.isTombstone).map(\.id.text) }
            return page.rows.map { $0.isTombstone ? .drop(reason: "no") : .keep }
        }
        try await device.todos.pull(named: "all")
        device.server.softDelete("todos", "r1")
        let result = try await device.todos.pull(named: "all")
        #expect(seen.value.contains("r1") && result.deleted == 1 && result.dropped == 0)
        #expect(try await device.todos.lookup(id: "r1") == nil)
    }

    @Test("what only the server sets cannot be changed, and rows cannot be left out", arguments: StoreKind.allCases)
    func broken(_ kind: StoreKind) async throws {
        let change = Shared<@Sendable (PulledPage) throws -> [PulledRow.Decision]>({ _ in throw HookMishap() })
        let device = try await device(kind, rows: 3) { page in try change.value(page) }
        func altering(_ name: String, _ value: JSON) -> @Sendable (PulledPage) throws -> [PulledRow.Decision] {
            { page in
                page.rows.map { row in
                    var record = row.record
                    record[name] = value
                    return .change(record)
                }
            }
        }
        let deep = (0..<JSON.maximumDepth).reduce(JSON(1)) { inner, _ in [inner] }
        let wrong: [@Sendable (PulledPage) throws -> [PulledRow.Decision]] = [
            { _ in throw HookMishap() }, { _ in [] }, { $0.rows.map { _ in .change("text") } },
            { $0.rows.map { _ in .set(["id": "z"]) } }, { $0.rows.map { _ in .set(["version": "z"]) } },
            { $0.rows.map { _ in .set([1]) } }, { $0.rows.map { _ in .set(["n": deep]) } },
            altering("n", deep), altering("id", "z"), altering("version", "z"), altering("deleted", true),
            altering("updatedAt", .null),
        ]
        for answer in wrong {
            change.value = answer
            let error = await #expect(throws: SluiceError.self) { try await device.todos.pull(named: "all") }
            #expect(error?.code == .hookFailed && error?.message.contains("sieve") == true)
            #expect(try await device.todos.count() == 0)
            let cursors = try await device.context.status().cursors
            #expect(cursors.isEmpty)
        }
        change.value = { $0.rows.map { _ in .keep } }
        #expect(try await device.todos.pull(named: "all").stored == 3)
    }

    @Test("each hook sees what the one before it left", arguments: StoreKind.allCases)
    func chain(_ kind: StoreKind) async throws {
        let seen = Shared<[String]>([])
        let first = TestHook(
            hookName: "first",
            pull: { page in
                page.rows.map { row in
                    if row.id == "r0" { return .drop(reason: "no") }
                    var record = row.record
                    record["by"] = "first"
                    return .change(record)
                }
            })
        let second = TestHook(
            hookName: "second",
            pull: { page in
                seen.change { $0 += page.rows.map { "\($0.id) \($0.record["by"]?.string ?? "")" } }
                return page.rows.map { _ in .keep }
            })
        let device = try await Device(kind, hooks: [first, second])
        device.server.seed("todos", [["id": "r0"], ["id": "r1"]])
        try await device.todos.pull(named: "all")
        #expect(seen.value == ["r1 first"])
        #expect(try await device.local("r1") == ["id": "r1", "by": "first"])
    }

    @Test("a changed row is the base of an edit, and only the edit is sent", arguments: StoreKind.allCases)
    func base(_ kind: StoreKind) async throws {
        let device = try await device(kind, rows: 1) { page in
            page.rows.map { row in
                var record = row.record
                record["title"] = "here"
                return .change(record)
            }
        }
        try await device.todos.pull(named: "all")
        try await device.todos.update(["id": "r0", "n": 2])
        // The mirror of a pending record is what would have been stored.
        device.server.onRequest { $0.isWrite ? .answer(.json(400, "")) : .none }
        try await device.context.push()
        try await device.todos.pull()
        let operation = try #require(try await device.operation("r0"))
        #expect(try await device.context.queue.copies(of: operation).mirror?["title"] == "here")
        device.server.onRequest(nil)
        try await device.context.queue.retry(operation.id)
        try await device.context.push()
        #expect(try device.server.requests.last?.body.json == ["id": "r0", "n": 2])
    }

    @Test("a reconcile asks about the rows that it brings", arguments: StoreKind.allCases)
    func reconcile(_ kind: StoreKind) async throws {
        let device = try await device(kind, rows: 2) { page in
            page.rows.map { $0.id == "r1" ? .drop(reason: "no") : .keep }
        }
        try await device.todos.pull(named: "all")
        try await device.store.write { try $0.delete(["r0"], from: "todos") }
        let result = try await device.todos.reconcile(named: "all")
        #expect(result.stored == 1)
        #expect(try await device.todos.records().map { $0["id"] } == ["r0"])
    }

    @Test(
        "what a hook changes or takes out is not written back by an edit of something else",
        arguments: [Dialect.azureV2, .azureV3, .datasync])
    func editsStandOnTheServersRecord(_ dialect: Dialect) async throws {
        for isWhole in [true, false] {
            let hook = TestHook(pull: { page in
                page.rows.map { row in
                    let text = row["text"] ?? .null
                    if isWhole { return .change(["id": JSON(row.id), "cost": 2.5, "text": text, "own": 1]) }
                    return .set(["cost": 2.5, "own": 1])
                }
            })
            let device = try await Device(
                .memory, dialect: dialect, adjust: { $0.hooks = [hook] })
            device.server.seed("todos", [["id": "a", "text": "x", "cost": 25, "secret": "s", "list": [1, 2]]])
            try await device.todos.pull()
            #expect(try await device.local("a")?["cost"] == 2.5)
            try await device.todos.update(["id": "a", "text": "y"])
            try await device.todos.update(["id": "a", "list": [3]], options: OperationOptions(isMergeable: false))
            #expect(try await device.context.push().isClean)
            #expect(
                device.remote("a") == ["id": "a", "text": "y", "cost": 25, "secret": "s", "list": [3]], "\(dialect)")
        }
    }

    @Test("a record that has changed on the server since is a conflict, and one that is gone, too")
    func editsOfAnotherRecord() async throws {
        for isGone in [true, false] {
            let device = try await Device(
                .memory, dialect: .azureV3,
                adjust: { $0.hooks = [TestHook(pull: { page in page.rows.map { _ in .set(["cost": 2.5]) } })] })
            device.server.seed("todos", [["id": "a", "text": "x", "cost": 25]])
            try await device.todos.pull()
            try await device.todos.update(["id": "a", "text": "y"])
            if isGone {
                device.server.softDelete("todos", "a")
            } else {
                device.server.seed("todos", [["id": "a", "text": "theirs"]])
            }
            let result = try await device.context.push()
            #expect(result.conflicts == 1 && result.remaining == 1, "\(result)")
        }
    }
}
