internal import Sluice

/// Tables and their rows as the store has them.
struct TablesView: Sendable {
    /// The number of rows on a page.
    private static let page = 50
    /// The most pending operations of a table that are read for its rows' marks.
    private static let mostMarks = 1000

    private let session: ClientSession
    private let plugins: PluginsView
    private var context: SyncContext { session.context }

    init(_ endpoint: InspectedEndpoint) {
        session = endpoint.session
        plugins = PluginsView(endpoint)
    }

    /// Returns the tables with their row counts, pending operations, and the cursors of their queries.
    func tables() async throws -> JSON {
        let cursors = try await context.status().cursors
        var tables = JSON.array
        for table in session.settings.tables {
            var json: JSON = ["name": JSON(table.name)]
            json["rows"] = JSON(try await context.table(table.name).count())
            json["waiting"] = JSON(try await context.queue.count(TableOperation.Filter(table: table.name)))
            json["columns"] = JSON(
                table.columns.map { ["name": JSON($0.name), "type": JSON($0.type.rawValue)] as JSON })
            json["queries"] = JSON(
                cursors.filter { $0.table == table.name }.map { cursor in
                    cursor.json.setting(["pulledAt": cursor.pulledAt.map { JSON($0.description) } ?? .null])
                })
            tables.append(json)
        }
        return ["tables": tables]
    }

    /// Returns a page of a table's rows in the order of their ids.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an undeclared table and an invalid filter.
    func rows(of name: String, filter: String?, skip: Int) async throws -> JSON {
        try require(name)
        guard skip >= 0 else { throw SluiceError(.invalidArgument, "skip cannot be negative") }
        var query = TableQuery(name, order: [.init("id")])
        if let filter, !filter.isEmpty {
            do {
                query.filter = try QueryExpression(odata: filter)
            } catch {
                throw SluiceError(.invalidArgument, "filter: \(error)")
            }
        }
        let count = try await context.table(name).count(matching: query)
        (query.skip, query.top) = (skip, Self.page)
        let rows = try await context.table(name).records(matching: query)
        let waiting = try await context.queue.operations(
            TableOperation.Filter(table: name), skip: 0, top: Self.mostMarks)
        let marks = Dictionary(waiting.map { ($0.recordID, $0) }, uniquingKeysWith: { $1 })
        var columns: [PropertyName] = []
        var seen: Set<PropertyName> = []
        for column in rows.flatMap(\.names) where seen.insert(column).inserted { columns.append(column) }
        return [
            "table": JSON(name), "count": JSON(count), "skip": JSON(skip), "page": JSON(Self.page),
            "columns": JSON(columns.map { JSON($0) }),
            "rows": JSON(
                rows.map { row -> JSON in
                    let id = row["id"]?.string ?? ""
                    let mark = marks[RecordID(id)]
                    return [
                        "id": JSON(id), "cells": JSON(columns.map { row[$0].map { JSON($0.description) } ?? .null }),
                        "waits": mark.map { JSON("\($0.kind.rawValue), \($0.state.rawValue)") } ?? .null,
                    ]
                }),
        ]
    }

    /// A record: its fields in each copy, and its story.
    ///
    /// - Parameter asksServer: whether the server is asked for its copy, instead of taking the last one seen.
    func row(_ id: RecordID, in table: String, asksServer: Bool) async throws -> JSON {
        try require(table)
        let decisions = try await plugins.decisions()
        let story = try await RecordStory.json(of: id, in: table, context, decisions: decisions)
        func copy(_ name: PropertyName) -> JSON? { story[name].flatMap { $0.isNull ? nil : $0 } }
        var server = copy("server")
        if asksServer {
            do {
                server = try await context.client?.table(table).lookup(id: id)
            } catch let error as SluiceError where error.code == .notFound {
                server = nil
            }
        }
        let fields = FieldComparison(
            dialect: context.options.dialect, base: copy("base"), local: copy("local"), server: server)
        return [
            "table": JSON(table), "id": JSON(id), "fields": fields.json, "events": story["events"] ?? .array,
            "hasBase": JSON(fields.base != nil), "hasLocal": JSON(fields.local != nil),
            "hasServer": JSON(fields.server != nil), "asked": JSON(asksServer),
            "waits": JSON(story["operations"]?.count ?? 0),
        ]
    }

    private func require(_ name: String) throws {
        guard session.settings.tables.contains(where: { $0.name == name }) else {
            throw SluiceError(.invalidArgument, "the configuration has no table \(name)")
        }
    }
}
