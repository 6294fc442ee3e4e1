internal import SluiceCore

extension SimulatedServer {
    /// Answers the parts of a batch in order. The parts of a group are performed together or not at all.
    func answer(_ batch: ModelBatch, _ device: Int, user: Int, _ state: inout State) -> SyncResponse {
        ModelBatch.answer(
            answers(to: batch, &state) { request, isAlone, state in
                answer(request, device, user: user, isAlone: isAlone, &state)
            })
    }

    /// Returns the answers to the parts of a batch, each from `answer`. Its flag is true for a request outside of a
    /// group.
    func answers(
        to batch: ModelBatch, _ state: inout State, by answer: (SyncRequest, Bool, inout State) -> SyncResponse
    ) -> [(id: String, response: SyncResponse)] {
        var answers: [(id: String, response: SyncResponse)] = []
        var failed: Set<String> = []
        var index = 0
        while index < batch.parts.count {
            let group = batch.parts[index].group
            var end = index + 1
            while group != nil, end < batch.parts.count, batch.parts[end].group == group { end += 1 }
            let before = state
            var responses: [SyncResponse] = []
            for part in batch.parts[index..<end] {
                let isStopped = part.dependsOn.contains { failed.contains($0) }
                let response =
                    isStopped
                    ? .model(424, nil)
                    : answer(part.request, group == nil, &state)
                if response.status >= 300 { failed.insert(part.id) }
                responses.append(response)
            }
            let isBroken = group != nil && responses.contains { $0.status >= 300 }
            if isBroken { state = before }
            for (part, response) in zip(batch.parts[index..<end], responses) {
                answers.append((part.id, isBroken && response.status < 300 ? .model(424, nil) : response))
            }
            index = end
        }
        return answers
    }
}
