extension TableOperation {
    /// Refuses a repair because nobody knows what became of a send, and says what can be done about it: each way is open
    /// in the state that the operation has.
    func unknownOutcome(_ reason: String) -> SluiceError {
        // A push passes by what is held, and what waits for its time.
        let way = isHeld || notBefore != nil ? "retry it and push" : "push"
        let other = kind == .insert && group == nil ? ", or delete the record" : ""
        return SluiceError(
            .operationRefused, "\(reason); \(way) to learn what became of it\(other)", table: table,
            recordID: recordID, operationID: id)
    }
}
