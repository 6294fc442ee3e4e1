internal import SluiceCore

/// The OData service of a backend: its tables' model, its operations, and its protection against forged requests.
struct ODataService: Sendable {
    let rules: BackendConfiguration.OData
    let model: ServiceModel
    let operations: [ODataOperation]
    let csrf: CSRFGuard
    let crossOrigin: CrossOrigin

    /// - Parameter secret: the secret shared by the processes on one database.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for operations with invalid names or unknown tables.
    init(
        _ rules: BackendConfiguration.OData, _ tables: [BackendTable], _ operations: [ODataOperation], secret: String?
    ) throws(SluiceError) {
        self.rules = rules
        self.operations = operations
        model = ServiceModel(rules, tables)
        csrf = CSRFGuard(isRequired: rules.requiresCSRFToken, secret: secret)
        crossOrigin = CrossOrigin(origins: Set(rules.origins))
        var names = Set(model.sets.map(\.name) + [model.container])
        for operation in operations {
            guard BackendConfiguration.isIdentifier(operation.name), names.insert(operation.name).inserted else {
                throw SluiceError(
                    .invalidArgument,
                    "the operation \(operation.name) has no name of letters, digits and _ that nothing else has")
            }
            let parameters = operation.parameters.map(\.name)
            guard parameters.allSatisfy(BackendConfiguration.isIdentifier), Set(parameters).count == parameters.count
            else {
                throw SluiceError(
                    .invalidArgument, "the parameters of the operation \(operation.name) are not named well")
            }
            if let table = operation.result.table, model.set(ofTable: table) == nil {
                let hint = NearestKey.suggestion(for: table, among: tables.map(\.name)) ?? ""
                throw SluiceError(
                    .invalidArgument,
                    "the operation \(operation.name) gives back records of \(table), which is not configured\(hint)")
            }
        }
    }
}
