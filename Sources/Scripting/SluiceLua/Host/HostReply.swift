package import SluiceCore

/// The answer of a host function to a script.
package enum HostReply: Sendable {
    /// A value; nil for nothing.
    case value(JSON?)
    /// An error that the script may catch.
    case failure(String)
    /// An error because a permission is missing.
    case denied(String)
    /// The script has to wait.
    case wait(HostWait)
}

/// A reason to wait. The caller carries it out, off the plugins' thread, and resumes the script with the result.
package enum HostWait: Sendable {
    /// The rest of the chain.
    case next(SyncRequest)
    /// An exchange with a server that the plugin may talk to.
    case http(SyncRequest)
    /// A pause.
    case sleep(Duration)
    /// A record of the local store.
    case record(table: String, id: RecordID)
    /// The number of matching records in the local store.
    case count(TableQuery)
    /// A request to a server's table, carried out by the server.
    case table(TableRequestEdit)
}
