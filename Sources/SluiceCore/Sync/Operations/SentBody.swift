/// What was sent for one revision of an operation: kept until the outcome is known.
package struct SentBody: Sendable, Hashable {
    /// The operation's revision.
    package var revision: Int
    /// The body as the engine made it, before any filter.
    package var request: JSON
    /// The body as it went out, behind all filters.
    package var final: JSON
    /// The local record at that time; nil where it was deleted.
    package var local: JSON?

    package init(revision: Int, request: JSON, final: JSON, local: JSON?) {
        self.revision = revision
        self.request = request
        self.final = final
        self.local = local
    }
}
