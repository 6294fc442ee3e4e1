internal import Sluice
internal import SluiceStores

/// What is asked and answered, told as it happens, and whether each answer is right.
struct Story {
    private let isQuiet: Bool
    private var steps: [JSON] = []
    private(set) var isRight = true

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func chapter(_ title: String) { say("\n\(title)") }
    func note(_ text: String) { say(text) }

    /// Reads, and compares the answer's records and source with what is right.
    mutating func ask(
        _ store: MixedStore, _ address: String, _ source: StoreResult.Source, _ ids: [String],
        _ options: ReadOptions = ReadOptions()
    ) async throws {
        let mode = store.mode
        let result = try await store.read(address, options)
        let found = result.records.compactMap { $0["id"]?.string }
        // Without an order the service's own stands.
        let isSorted = address.contains("$orderby")
        let sameRecords = isSorted ? found == ids : found.sorted() == ids.sorted()
        let ok = sameRecords && result.source == source
        say("  \(address)")
        say("    \(found.isEmpty ? "no records" : found.joined(separator: ", "))")
        say("    \(result.explain)")
        add([
            "asked": JSON(address), "mode": JSON(mode.rawValue), "source": JSON(result.source.rawValue),
            "complete": JSON(result.isComplete), "records": JSON(found.map { JSON($0) }),
            "asOf": result.asOf.map { JSON($0.description) } ?? .null, "explain": JSON(result.explain),
            "right": JSON(ok),
        ])
        if !ok { say("    WRONG: \(source.rawValue) with \(ids.joined(separator: ", ")) is right") }
    }

    /// Has something fail, and compares the error's code with the right one.
    mutating func refused(
        _ what: String, by code: SluiceError.Code, _ body: () async throws -> StoreResult
    ) async {
        var found = "no error"
        var message = ""
        do {
            _ = try await body()
        } catch let error as SluiceError {
            found = error.code.description
            message = error.message
        } catch {
            found = "\(type(of: error))"
        }
        let ok = found == code.description
        say("  \(what)\n    \(found): \(message)")
        add(["asked": JSON(what), "error": JSON(found), "message": JSON(message), "right": JSON(ok)])
        if !ok { say("    WRONG: \(code) is right") }
    }

    /// Says how it went.
    func end() { say(isRight ? "\nAll answers are right." : "\nAn answer is wrong.") }

    /// What was asked and answered.
    var document: JSON { ["steps": JSON(steps), "right": JSON(isRight)] }

    private mutating func add(_ step: JSON) {
        steps.append(step)
        if step["right"]?.bool != true { isRight = false }
    }

    private func say(_ text: String) { if !isQuiet { print(text) } }
}
