internal import SluiceBase

/// Options of a change: what the application gives with it besides its content.
///
/// ```swift
/// try await todos.update(changes, options: OperationOptions(tags: ["urgent"]))
/// try await ledger.insert(entry, options: OperationOptions(isMergeable: false))
/// ```
public struct OperationOptions: Sendable, Hashable {
    /// Kept with the operation: filters see them in the request's context, and a push may be of those with a tag alone.
    /// A change that becomes part of one that waits adds its tags. Up to 32, each 1 to 255 characters.
    public var tags: Set<String>
    /// Whether the change may become part of one that waits, and later ones part of it. One that may not reaches the
    /// server as it was made, in an own request.
    public var isMergeable: Bool

    /// Options; each has a default.
    public init(tags: Set<String> = [], isMergeable: Bool = true) {
        self.tags = tags
        self.isMergeable = isMergeable
    }

    func validate(table: String) throws(SluiceError) {
        guard tags.count <= 32, tags.allSatisfy({ (1...255).contains($0.unicodeScalars.count) }) else {
            throw SluiceError(
                .invalidArgument, "an operation has up to 32 tags, each of 1 to 255 characters", table: table)
        }
    }
}
