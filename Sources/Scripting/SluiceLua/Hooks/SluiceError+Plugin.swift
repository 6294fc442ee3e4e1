internal import SluiceCore

extension SluiceError {
    /// The error that a plugin's failure is for who called the engine.
    init(
        plugin failure: PluginFailure, _ code: Code = .hookFailed, table: String? = nil, recordID: RecordID? = nil,
        operationID: String? = nil
    ) {
        self.init(
            code, "plugin \(failure)", table: table, recordID: recordID,
            operationID: operationID, cause: failure)
    }

    /// The error that a plugin's failure is for who sent the request.
    init(plugin failure: PluginFailure, about request: Request) {
        let context = request.context
        self.init(
            plugin: failure, .filter, table: context.table, recordID: context.recordID,
            operationID: context.operationID)
    }
}

extension PluginCaller {
    /// Whether what the plugin decides is only written down.
    var isShadow: Bool { plan.mode == .shadow }
}
