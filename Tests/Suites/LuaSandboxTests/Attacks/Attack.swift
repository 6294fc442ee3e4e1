import CLuaSandbox

/// A script that wants more than it is allowed.
struct Attack: CustomStringConvertible, Sendable {
    let number: Int
    let name: String
    let script: String
    /// What may come of it.
    let outcomes: Set<UInt32>

    init(_ number: Int, _ name: String, _ outcomes: [sluice_outcome], _ script: String) {
        (self.number, self.name, self.script) = (number, name, script)
        self.outcomes = Set(outcomes.map(\.rawValue))
    }

    var description: String { "\(number): \(name)" }
}

extension [sluice_outcome] {
    static var killed: Self {
        [SLUICE_FAILED_FUEL, SLUICE_FAILED_BURST, SLUICE_FAILED_CPU, SLUICE_FAILED_MEMORY]
    }
    static var refused: Self { [SLUICE_FAILED_RUNTIME] }
    static var blocked: Self { [SLUICE_FAILED_BLOCKED] }
    static var harmless: Self { [SLUICE_DONE] }
}
