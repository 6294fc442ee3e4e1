package import SluiceCore

/// What a host function answers a script.
package enum HostReply: Sendable {
    /// A value; nil for nothing.
    case value(JSON?)
    /// An error, which the script may catch.
    case failure(String)
    /// An error for want of a permission.
    case denied(String)
    /// The script waits for this.
    case wait(HostWait)
}

/// What a script waits for. Whoever made the call does it, outside of the plugins' thread, and brings the answer.
package enum HostWait: Sendable {
    /// The rest of the chain.
    case next(Request)
    /// An exchange with a server that the plugin may talk to.
    case http(Request)
    /// A pause.
    case sleep(Duration)
    /// A record of the local store.
    case record(table: String, id: RecordID)
    /// How many records of the local store match.
    case count(Query)
    /// What a server does with a request to a table, and what comes of it.
    case table(TableRequestEdit)
    /// A plugin that a spec asks.
    case spec(String, JSON)
}
