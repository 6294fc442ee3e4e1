internal import SluiceBase
internal import SluiceWire

extension TableOperation {
    /// Returns the error that refuses a repair because the outcome of a send is unknown. Its message lists the ways to
    /// settle it that the operation's state allows.
    ///
    /// - Parameter group: the operations of its group, which are only sent with it.
    func unknownOutcome(_ reason: String, with group: [TableOperation] = []) -> SluiceError {
        let together = [self] + group
        let way =
            if together.contains(where: { $0.state == .parked && $0.failure?.serverRecord != nil }) {
                "resolve the conflict that holds it, and push"
            } else if together.contains(where: { $0.isHeld || $0.notBefore != nil }) {
                // A push skips operations that are held or wait for a time.
                "retry it and push"
            } else {
                "push"
            }
        let other = kind == .insert && self.group == nil ? ", or delete the record" : ""
        return SluiceError(
            .operationRefused, "\(reason); \(way) to learn what became of it\(other)", table: table,
            recordID: recordID, operationID: id)
    }
}

extension QueueReader {
    /// Refuses to change an operation while its group may have arrived. The group is sent again unchanged, or its
    /// parts would not fit together.
    func refuseDoubt(inGroupOf operation: TableOperation) throws {
        guard let group = operation.group else { return }
        let members = try members(of: group)
        guard members.contains(where: \.isUncertain) else { return }
        throw operation.unknownOutcome("it is not known whether its group has arrived", with: members)
    }
}
