import HTTPTypes
import SluiceCore
import SluiceProbe
import SluiceTesting
import Synchronization

/// Faults that show by writing to a scratch table.
extension ProbeCase {
    static let writing = inserts + updates + deletes + values + together

    private static func isInsert(_ request: SyncRequest) -> Bool {
        request.method == "POST" && request.target == "/tables/probes"
    }
    private static func isUpdate(_ request: SyncRequest) -> Bool { request.method == "PATCH" }
    private static func isDelete(_ request: SyncRequest) -> Bool { request.method == "DELETE" }

    private static let inserts: [ProbeCase] = [
        ProbeCase(.insertRefused, "no row can be made", writes: true, FaultyServer.refuse(400, where: isInsert)),
        ProbeCase(
            .idReplaced, "the server gives ids of its own", writes: true,
            FaultyServer.request { request in
                if isInsert(request) { request.setBody { $0["id"] = $0["id"]?.string.map { JSON("own-\($0)") } } }
            }),
        ProbeCase(
            .insertOverwrites, "a second insert replaces the row", writes: true,
            { request, _, pass in
                let response = try await pass(request)
                guard isInsert(request), response.status == 409, let id = try request.body.json["id"]?.string else {
                    return response
                }
                var request = request
                request.head.method = .patch
                request.head.path = "/tables/probes/\(id)"
                return try await pass(request)
            }),
        ProbeCase(
            .insertMisjudged, "a second insert is answered 400", writes: true,
            FaultyServer.answer { _, response in if response.status == 409 { response.head.status = .badRequest } }),
        ProbeCase(
            .conflictBare, "409 without the record", writes: true,
            FaultyServer.answer { _, response in if response.status == 409 { response.body = .empty } }),
        ProbeCase(
            .readsLag, "a row is not found right after it was made", writes: true,
            {
                let count = Counter()
                return { request, _, pass in
                    if request.isRecord(), request.method == "GET", count.next() == 1 { return .json(404, "") }
                    return try await pass(request)
                }
            }()),
    ]

    private static let updates: [ProbeCase] = [
        ProbeCase(.updateRefused, "no row can be changed", writes: true, FaultyServer.refuse(403, where: isUpdate)),
        ProbeCase(
            .updateIgnored, "an update is answered with the row as it was", writes: true,
            { request, _, pass in
                guard isUpdate(request) else { return try await pass(request) }
                var look = request
                look.head.method = .get
                look.body = .empty
                return try await pass(look)
            }),
        ProbeCase(
            .updateReplaces, "PATCH replaces the row", writes: true,
            FaultyServer.request { if isUpdate($0) { $0.head.method = .put } }),
        ProbeCase(
            .versionUnchanged, "one version for ever", writes: true,
            { request, _, pass in
                var request = request
                request.set("If-Match", nil)
                var response = try await pass(request)
                guard request.has("/probes") else { return response }
                response["ETag"] = response["ETag"].map { _ in "\"v0\"" }
                response.change { $0["version"] = "v0" }
                return response
            }),
        ProbeCase(
            .timeUnchanged, "the time of change is that of the creation", writes: true,
            FaultyServer.rows(where: { $0.has("/probes") }) { $0["updatedAt"] = $0["createdAt"] ?? .null }),
        ProbeCase(
            .answersNothing, "204 to an update", writes: true,
            FaultyServer.answer { request, response in
                if isUpdate(request), response.status == 200 {
                    response.head.status = .noContent
                    response.body = .empty
                }
            }),
        ProbeCase(
            .answersOther, "200 with an error to an update", writes: true,
            FaultyServer.refuse(200, #"{"error":"an accident"}"#, where: isUpdate)),
        ProbeCase(
            .conditionIgnored, "If-Match is not looked at", writes: true,
            FaultyServer.request { if isUpdate($0) { $0.set("If-Match", nil) } }),
        ProbeCase(
            .conditionMisjudged, "400 in place of 412", writes: true,
            FaultyServer.answer { _, response in
                if response.status == 412 {
                    response.head.status = .badRequest
                    response.body = MessageBody(json: ["error": "old"])
                }
            }),
        ProbeCase(
            .preconditionBare, "412 without the record", writes: true,
            FaultyServer.answer { _, response in if response.status == 412 { response.body = .empty } }),
    ]

    private static let deletes: [ProbeCase] = [
        ProbeCase(.deleteRefused, "no row can be deleted", writes: true, FaultyServer.refuse(403, where: isDelete)),
        ProbeCase(
            .scratchLeft, "rows stay in the scratch table", writes: true, FaultyServer.refuse(403, where: isDelete)),
        ProbeCase(
            .deleteIgnored, "204 to a delete, and nothing is deleted", writes: true,
            FaultyServer.refuse(204, "", where: isDelete)),
        ProbeCase(
            .deleteConditionIgnored, "If-Match of a delete is not looked at", writes: true,
            FaultyServer.request { if isDelete($0) { $0.set("If-Match", nil) } }),
        ProbeCase(
            .deleteUntraced, "deleted rows are gone", writes: true,
            { request, model, pass in
                let response = try await pass(request)
                if isDelete(request), response.status == 204 { model.hardDelete("probes", request.recordID) }
                return response
            }),
        ProbeCase(
            .deleteTimeUnchanged, "a delete leaves the time of change as it is", writes: true,
            { request, model, pass in
                guard isDelete(request), let row = model.rows("probes")[request.recordID], row["deleted"] == false,
                    request.head.headerFields[.ifMatch] == "\"\(row["version"]?.string ?? "")\""
                else { return try await pass(request) }
                model.deleteUntold("probes", request.recordID)
                return .json(204, "")
            }),
        ProbeCase(
            .undeleteRefused, "no row can be brought back", writes: true,
            FaultyServer.refuse(405) { $0.method == "POST" && $0.isRecord() }),
        ProbeCase(
            .changesMissed, "change tokens do not report updates", writes: true,
            prepare: { change($0) { $0.issuesChangeTokens = true } },
            FaultyServer.answer { request, response in
                if request.has("deltatoken=") { response.changeList { $0.filter { $0["deleted"] == true } } }
            }),
        ProbeCase(
            .deletesMissed, "change tokens do not report deletes", writes: true,
            prepare: { change($0) { $0.issuesChangeTokens = true } },
            FaultyServer.answer { request, response in
                if request.has("deltatoken=") { response.changeList { $0.filter { $0["deleted"] != true } } }
            }),
    ]

    private static let values: [ProbeCase] = [
        ProbeCase(
            .textsAltered, "spaces at the ends are cut off", writes: true,
            FaultyServer.rows { row in
                if let text = row["text"]?.string { row["text"] = JSON(String(text.drop { $0 == " " })) }
            }),
        ProbeCase(
            .textsAltered, "four bytes of UTF-8 become a question mark", writes: true,
            FaultyServer.rows { row in
                if let text = row["text"]?.string { row["text"] = JSON(text.replacing("\u{1F600}", with: "?")) }
            }),
        ProbeCase(
            .numbersRounded, "integers are doubles", writes: true,
            FaultyServer.rows {
                if let number = $0["number"]?.double { $0["number"] = Int64(nearest: number).map { JSON($0) } }
            }),
        ProbeCase(
            .numbersAsTexts, "numbers become texts", writes: true,
            FaultyServer.rows { if let number = $0["number"]?.number { $0["number"] = JSON("\(number)") } }),
        ProbeCase(
            .nullIgnored, "null does not clear a value", writes: true,
            FaultyServer.request { request in
                guard isUpdate(request) else { return }
                request.setBody { body in
                    for (name, value) in body.members ?? [] where value.isNull { body[name] = nil }
                }
            }),
        ProbeCase(
            .datesAltered, "times lose their milliseconds", writes: true,
            FaultyServer.rows { row in
                if let time = row["at"]?.string { row["at"] = JSON(time.replacing(".123", with: "")) }
            }),
        ProbeCase(
            .halfEmojiKept, "half an emoji is kept", writes: true,
            {
                let isBroken = Mutex(false)
                let row = #"{"id":"sluice-probe-000000-b","version":"v9","text":"x\ud83dy"}"#
                return { request, _, pass in
                    let isHalf = String(decoding: request.body.bytes, as: UTF8.self).contains("\\ud83d")
                    if isHalf {
                        isBroken.withLock { $0 = true }
                        return .json(200, row)
                    }
                    guard request.method == "GET", request.target.hasSuffix("-b"), isBroken.withLock({ $0 }) else {
                        return try await pass(request)
                    }
                    return .json(200, row)
                }
            }()),
    ]

    private static let together: [ProbeCase] = [
        ProbeCase(
            .repeatTwice, "a repeat is said to be remembered, and is not", writes: true,
            FaultyServer.answer { request, response in
                if request.head.headerFields.contains(where: { $0.name.canonicalName == "repeatability-request-id" }) {
                    response["Repeatability-Result"] = "accepted"
                }
            }),
        ProbeCase(
            .batchRefused, "batches are announced and refused", writes: true,
            prepare: { change($0) { $0.saysBatchSize = 20 } },
            FaultyServer.refuse(501) { $0.has("$batch") }),
        ProbeCase(
            .batchBroken, "a batch's answer lacks its parts", writes: true, prepare: takesBatches,
            FaultyServer.refuse(200, #"{"responses":[{"id":"x","status":201}]}"#) { $0.has("$batch") }),
        ProbeCase(
            .batchNotAtomic, "the parts of a group stand by themselves", writes: true, prepare: takesBatches,
            FaultyServer.request { request in
                guard request.has("$batch") else { return }
                request.setBody { body in
                    body["requests"] = JSON(
                        (body["requests"]?.elements ?? []).map { part in
                            var part = part
                            part["atomicityGroup"] = nil
                            part["dependsOn"] = nil
                            return part
                        })
                }
            }),
    ]

    static func takesBatches(_ model: ModelServer) {
        change(model) { $0.saysBatchSize = 20 }
        model.offer([.batches, .requestIDs])
    }
}

extension SyncRequest {
    var recordID: RecordID { RecordID(String(target.split(separator: "/").last ?? "")) }
}
