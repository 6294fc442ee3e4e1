internal import SluiceCore

extension SluiceError {
    /// Wraps a plugin's failure for the caller of the engine.
    init(
        plugin failure: PluginFailure, _ code: Code = .hookFailed, table: String? = nil, recordID: RecordID? = nil,
        operationID: String? = nil
    ) {
        self.init(
            code, "plugin \(failure)", table: table, recordID: recordID,
            operationID: operationID, cause: failure)
    }

    /// Wraps a plugin's failure for the sender of the request.
    init(plugin failure: PluginFailure, about request: SyncRequest) {
        let context = request.context
        self.init(
            plugin: failure, .filter, table: context.table, recordID: context.recordID,
            operationID: context.operationID)
    }
}

extension PluginCaller {
    /// Whether the plugin's decisions are only logged.
    var isShadow: Bool { plan.mode == .shadow }
}
