extension SluiceError {
    /// The next step after an error of this code, as a sentence for a person. ``message`` may have a closer one.
    public var remedy: String { code.remedy }
}

extension SluiceError.Code {
    /// The next step after an error of this code, as a sentence for a person.
    public var remedy: String {
        switch self {
        case .network: "Check the network and the server's address; changes wait in the queue until the next push."
        case .timeout: "Try again, or raise the limits of the client if the server needs longer."
        case .cancelled: "Call it again: it goes on where it ended."
        case .unauthorized: "Sign in again, or give a valid token; the push goes on from there."
        case .forbidden: "Ask for the permission at the server, then retry the operation or discard it."
        case .notFound: "Check the table's name and the server's path; a record may have been deleted."
        case .conflict, .preconditionFailed: "Decide the conflict by a handler, or by resolving the held operation."
        case .rejected: "Read the server's reason, edit the record and retry the operation, or discard it."
        case .serverFailure: "Try again later; if it stays, look at the server's log."
        case .brokenProtocol: "Check the wire and the path of the endpoint; sluice probe names a server's faults."
        case .tooLarge: "Raise the limit of the client or the server, or make the record smaller."
        case .filter: "Mend the filter; its own error is the cause."
        case .aborted: "Do what the handler's reason says, then push again."
        case .refusedByHook: "Change the record as the hook's reason says, and write it again."
        case .hookFailed: "Mend the hook; its own error is the cause."
        case .postponed: "Push again when the hook lets the operation pass."
        case .invalidArgument: "Correct the argument or the setting that the message names."
        case .invalidQuery: "Correct the query at the place that the message names."
        case .unsupported: "Use another way for this on this wire or store; the message says which part is missing."
        case .invalidRecord: "Correct the record: its id, its shape, or the value that the message names."
        case .invalidTable: "Use another name: of letters, digits and underscores, and not one of the store's own."
        case .limitReached: "Call it again to go on, or raise the limit."
        case .removalsHeld: "Check the server's rows; allow the removal if they are right."
        case .recordExists: "Update the record, or insert it under another id."
        case .recordMissing: "Insert the record, or pull the table first."
        case .operationRefused: "Read the operation again: the queue has changed, or decides about it first."
        case .operationsPending: "Push the waiting operations, or discard them."
        case .storeNotADatabase: "Open the right file, or with its key."
        case .storeBusy: "Try again when the other process is done."
        case .storeFull: "Make room on the disk; nothing was written."
        case .storeInputOutput: "Check the disk, the file's owner and its permissions."
        case .storeCorrupt: "Recover the store: its readable changes move into a new one."
        case .storeSchema: "Open the store with the version that wrote it, or migrate it."
        case .storeClosed: "Open the store again."
        case .storeLeaseLost: "Leave the work to the context that has the store now."
        case .storeKeyRefused: "Give the store's own key."
        case .storeEncrypted: "Open the store with its key."
        case .storeNotEncrypted: "Open the store without a key, or encrypt it first."
        case .storeLibraryMissing: "Install SQLCipher 4 (libsqlcipher)."
        case .notCovered: "Add a defining request that covers it, or ask while the service is reachable."
        case .notAvailableOffline: "Ask again while the service is reachable."
        case .maybeApplied: "Look whether the server has the record, then retry the operation or discard it."
        default: "Read the message."
        }
    }
}
