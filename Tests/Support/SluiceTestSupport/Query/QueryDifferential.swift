package import SluiceCore

/// Asks several answerers the same generated queries, and finds the smallest query on which one differs from
/// `TableQuery.Evaluator`.
package struct QueryDifferential: Sendable {
    /// The answerers that hold those records; made anew for each set of them.
    package typealias Setup = @Sendable ([JSON], TableSchema?) async throws -> [QueryAnswerer]

    /// What was asked, and the first difference.
    package struct Outcome: Sendable {
        /// How many queries were asked.
        package var queries = 0
        /// How many answers there were, and how many were records and not refusals.
        package var answers = 0
        package var answersWithRecords = 0
        /// How many times an answerer could not be asked, by the reason.
        package var skipped: [String: Int] = [:]
        /// The smallest query found on which answers differ, with its records and the answers.
        package var difference: String?
    }

    private let setup: Setup

    package init(setup: @escaping Setup) { self.setup = setup }

    /// Plays seed after seed until the time is over, and the first `least` of them in any case.
    ///
    /// - Parameter time: nil plays all.
    package static func play(
        seeds: ClosedRange<UInt64>, atLeast least: Int, for time: Duration?, _ body: (UInt64) async throws -> Void
    ) async throws {
        let start = ContinuousClock.now
        for (index, seed) in seeds.enumerated() {
            if index >= least, let time, ContinuousClock.now - start > time { return }
            try await body(seed)
        }
    }

    /// Asks queries that follow from the seed, so many about each of so many sets of records.
    package func run(
        seed: UInt64, sets: Int, queries: Int, records: Int = 12, depth: Int = 3
    ) async throws -> Outcome {
        var generator = QueryGenerator(seed: seed)
        var outcome = Outcome()
        for set in 0..<sets {
            let rows = (0..<records).map { generator.record("id-\($0)") }
            let schema = set % 2 == 0 ? QueryGenerator.schema : nil
            let answerers = try await setup(rows, schema)
            for _ in 0..<queries {
                let trial = QueryTrial(generator.query(depth), rows, schema)
                outcome.queries += 1
                guard await differs(trial, answerers, &outcome) else { continue }
                let least = await QueryShrinker.shrink(trial) { trial in
                    guard let answerers = try? await setup(trial.records, trial.schema) else { return false }
                    var unused = Outcome()
                    return await differs(trial, answerers, &unused)
                }
                outcome.difference = try await describe(least)
                return outcome
            }
        }
        return outcome
    }

    private func differs(_ trial: QueryTrial, _ answerers: [QueryAnswerer], _ outcome: inout Outcome) async -> Bool {
        let expected = Self.expected(trial)
        for answerer in answerers {
            let answer = await answerer.answer(to: trial.query)
            if case .skipped(let reason) = answer {
                outcome.skipped["\(answerer.name): \(reason)", default: 0] += 1
                continue
            }
            outcome.answers += 1
            if case .records(let ids, _) = answer, !ids.isEmpty { outcome.answersWithRecords += 1 }
            if answer != expected { return true }
        }
        return false
    }

    private func describe(_ trial: QueryTrial) async throws -> String {
        var lines = [trial.description, "evaluator: \(Self.expected(trial))"]
        for answerer in try await setup(trial.records, trial.schema) {
            lines.append("\(answerer.name): \(await answerer.answer(to: trial.query))")
        }
        return lines.joined(separator: "\n")
    }

    private static func expected(_ trial: QueryTrial) -> QueryAnswer {
        answer(trial.query, trial.records, trial.schema)
    }

    /// What the evaluator says.
    private static func answer(_ query: TableQuery, _ records: [JSON], _ schema: TableSchema?) -> QueryAnswer {
        do {
            let evaluator = try TableQuery.Evaluator(query, schema: schema)
            let ids = evaluator.apply(to: records).compactMap { $0["id"]?.string }
            return .records(ids, count: records.count(where: evaluator.matches))
        } catch {
            return .refused(error.code.description)
        }
    }

    /// The evaluator, asked what the query's text says after it was printed and read again.
    package static func reader(_ style: ODataOptions.Style, _ records: [JSON], _ schema: TableSchema?) -> QueryAnswerer
    {
        QueryAnswerer("read from \(style)") { query in
            var read = query
            read.filter = try query.filter.map { filter throws(TableQuery.SyntaxError) in
                try QueryExpression(odata: filter.odata(style), maximumLength: .max)
            }
            read.order = query.order.isEmpty ? [] : try TableQuery.order(odata: query.odataOrder)
            return answer(read, records, schema)
        }
    }

    /// A store, which is given the records.
    package static func store(
        _ store: some LocalStore, _ name: String, _ records: [JSON], _ schema: TableSchema?
    ) async throws -> QueryAnswerer {
        if let schema { try await store.define([schema]) }
        let table = QueryGenerator.schema.name
        try await store.write { writer in
            for record in records { try writer.put(record, in: table) }
        }
        return QueryAnswerer(name) { query in
            try await store.read { reader in
                let ids = try reader.records(matching: query).compactMap { $0["id"]?.string }
                return .records(ids, count: try reader.count(matching: query))
            }
        }
    }
}
