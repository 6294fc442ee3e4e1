internal import SluiceCore
internal import SluiceLua

/// What a hook has answered, as a spec sees it: by the names that `expect` of a fixture has.
enum SpecAnswer {
    static func document(
        _ run: PluginRig.Run, sent: some BidirectionalCollection<Request>, values: [String: JSON]
    ) -> JSON {
        let answer = run.answer?.value as? FixtureAnswer
        var document: JSON = [
            "answer": JSON(run.failure == nil ? run.answer?.name ?? "none" : "failed"), "fuel": JSON(run.cost.fuel),
            "log": JSON(
                run.log.map { line in
                    var json: JSON = ["level": JSON(line.level), "message": JSON(line.message)]
                    json["fields"] = line.fields
                    return json
                }),
            "kv": JSON(
                members: values.sorted { $0.key < $1.key }.compactMap { key, saved in
                    saved["v"].map { (key, $0) }
                }),
        ]
        if let failure = run.failure {
            document["error"] = ["kind": JSON(failure.kind.rawValue), "message": JSON(failure.message)]
        }
        document["decision"] = answer?.decision
        document["record"] = answer?.record
        if let rows = answer?.rows { document["page"] = ["rows": rows, "dropped": answer?.dropped ?? .object] }
        document["request"] = (answer?.request ?? sent.last).map(self.request)
        if !sent.isEmpty { document["sent"] = JSON(sent.map(self.request)) }
        document["response"] = answer?.response.map(ExchangeDocument.response)
        return document
    }

    private static func request(_ request: Request) -> JSON {
        var json = ExchangeDocument.request(request)
        json["url"] = JSON(RequestDocument.url(of: request.head))
        return json
    }
}
