public import SluiceBase

extension Dialect {
    /// The wires that Sluice knows, the oldest first.
    public static let all: [Dialect] = [.azureV1, .azureV2, .azureV3, .datasync]

    /// The wire of that name: `azure-v2`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for any other name; the message lists the names.
    public init(named name: String) throws(SluiceError) {
        guard let dialect = Self.all.first(where: { $0.name == name }) else {
            let names = Self.all.map(\.name).joined(separator: ", ")
            throw SluiceError(.invalidArgument, "no dialect has the name \(name); known are \(names)")
        }
        self = dialect
    }
}
