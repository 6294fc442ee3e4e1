internal import SluiceBase
internal import SluiceWire

extension TableOperation {
    /// Refuses a repair because the outcome of a send is unknown; the message lists what can be done about it: each way
    /// is open in the state that the operation has.
    ///
    /// - Parameter group: the operations of its group, without which it is not sent.
    func unknownOutcome(_ reason: String, with group: [TableOperation] = []) -> SluiceError {
        let together = [self] + group
        let way =
            if together.contains(where: { $0.state == .parked && $0.failure?.serverRecord != nil }) {
                "resolve the conflict that holds it, and push"
            } else if together.contains(where: { $0.isHeld || $0.notBefore != nil }) {
                // A push passes by what is held, and what waits for its time.
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
    /// Refuses to change an operation while its group may have arrived: that goes out again as it was,
    /// or its parts would not fit together.
    func refuseDoubt(inGroupOf operation: TableOperation) throws {
        guard let group = operation.group else { return }
        let members = try members(of: group)
        guard members.contains(where: \.isUncertain) else { return }
        throw operation.unknownOutcome("it is not known whether its group has arrived", with: members)
    }
}
