import SluiceCore
import SluiceTestSupport
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Runs a pull row: its pages, scripted; its query, through our pull.
struct PullRunner {
    private let input: JSON
    private let script: PullScript

    init(_ input: JSON) {
        self.input = input
        script = PullScript(input)
    }

    func observe() async throws -> JSON {
        let store = MortalStore(MemoryStore())
        let device: CaseDevice
        do {
            device = try await CaseDevice(
                dialect: input["dialect"]?.string, transport: script, pageSize: pageSize, store: store)
        } catch let error as SluiceError where error.code == .invalidArgument {
            return ["page_size": "error", "failed": true]
        }
        try await prepare(device)
        var observed = JSON.object
        let pages = Mutex<[Int]>([])
        var result = PullResult()
        do {
            if let uses = input["store_dies_after"]?.int { store.die(after: Int(uses)) }
            defer { store.revive() }
            for step in input["steps_run"]?.elements ?? ["pull"] {
                if step == "purge" {
                    try await device.table.purge(named: name)
                } else {
                    result = try await device.context.pull(try query(device), named: name) { progress in
                        pages.withLock { $0.append(progress.rows) }
                    }
                }
            }
            observed["failed"] = false
        } catch let error as SluiceError {
            observed["failed"] = true
            observed["code"] = JSON(error.code.description)
        }
        return try await observation(device, result, observed, pages.withLock { $0 })
    }

    private func observation(
        _ device: CaseDevice, _ result: PullResult, _ start: JSON, _ pages: [Int]
    ) async throws -> JSON {
        var observed = start
        let operations = try await device.operations()
        let ids = try await device.ids()
        let cursor = try await device.context.status().cursors.first?.updatedAt
        observed["stored"] = JSON(ids.count)
        observed["ids"] = JSON(ids.map { JSON($0) })
        observed["texts"] = JSON(
            members: try await device.table.records().map { ($0["id"]?.string ?? "", $0["text"] ?? .null) })
        observed["requests"] = JSON(script.requests.map { JSON($0) })
        observed["request_count"] = JSON(script.requests.count)
        observed["features"] = JSON(script.features.map { JSON($0) })
        if let expected = input["expected_features"]?.string {
            observed["features_as_expected"] = JSON(
                !script.features.isEmpty && script.features.allSatisfy { $0 == expected })
        }
        observed["cursor"] = cursor.flatMap { Timestamp($0) }.map { JSON($0.text(fractionDigits: 3)) } ?? .null
        observed["ops_after"] = JSON(operations.count)
        observed["queue"] = JSON(operations.map { JSON("\($0.kind.rawValue) \($0.recordID) \($0.state.rawValue)") })
        let before = Set((input["local"]?.elements ?? []).compactMap(\.string))
        observed["additions"] = JSON(ids.filter { !before.contains($0) }.count)
        observed["replacements"] = JSON(result.stored - ids.filter { !before.contains($0) }.count)
        observed["deletions"] = JSON(result.deleted)
        observed["pages"] = JSON(pages.map { JSON($0) })
        let top = script.requests.first?.split(separator: "; ").first { $0.hasPrefix("top ") }
        observed["page_size"] = top.flatMap { Int($0.dropFirst(4)) }.map { JSON($0) } ?? .null
        return observed
    }

    /// What the row asks for; 50 where it says nothing, as the older SDKs do, and nil where it wants the default.
    private var pageSize: Int? {
        if let size = input["pageSize"] { return size.int.map(Int.init) }
        return input["page_size"]?.int.map(Int.init) ?? 50
    }

    private var name: String? {
        guard let name = input["queryId"]?.string else { return nil }
        let parts = name.split(separator: "*")
        guard parts.count == 2, let times = Int(parts[1]) else { return name }
        return String(repeating: String(parts[0]), count: times)
    }

    private func query(_ device: CaseDevice) throws -> TableQuery {
        var query = TableQuery(device.table.name)
        let given = input["query"] ?? .object
        if let filter = given["filter"]?.string { query.filter = try QueryExpression(odata: filter) }
        if let order = given["orderby"]?.string { query.order = try TableQuery.order(odata: order) }
        if let select = given["select"]?.string { query.select = try TableQuery.select(odata: select) }
        query.skip = given["skip"]?.int.map(Int.init) ?? 0
        query.top = given["top"]?.int.map(Int.init)
        query.includesCount = given["count"] == true
        query.parameters = (given["parameters"]?.members ?? []).map { .init($0.name.text, $0.value.string ?? "") }
        return query
    }

    private func prepare(_ device: CaseDevice) async throws {
        let local: [JSON] = (input["local"]?.elements ?? []).map { ["id": $0, "text": "before", "version": "0"] }
        try await device.settle(local)
        if let token = input["token_before"]?.string, let name, let client = device.context.client {
            let cursor = Cursor(
                owner: device.context.owner(of: device.table.name, named: name, client),
                query: Cursor.text(of: try query(device), client.dialect.odata),
                position: CursorPosition(updatedAt: token))
            try await device.store.write { try $0.put(cursor.record, in: Cursor.schema.name) }
        }
        if input["pending"] != nil { try await device.table.insert(["id": "pending", "text": "local"]) }
        if let words = input["during"]?.string?.split(separator: " ").map(String.init), words.count == 2 {
            let table = device.table
            script.duringFirstPage {
                let record: JSON = ["id": JSON(words[1]), "text": "local"]
                if words[0] == "insert" { try await table.insert(record) } else { try await table.update(record) }
            }
        }
    }
}
