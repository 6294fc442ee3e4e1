internal import HTTPTypes
internal import SluiceBase

/// A server's message about its refusal.
package enum ServerMessage {
    /// The longest message that is kept, in characters.
    package static let maximumLength = 500
    /// The maximum number of problems of a list in a message.
    private static let maximumProblems = 20

    /// Returns the text of an error's answer, found as the clients of this protocol do. It is a JSON string; or an
    /// object's member `error`, `description` or `message` (the .NET server's), or RFC 9457's `detail` or `title`
    /// followed by the problems of single properties; or a list of problems; or the body itself, unless it is a web
    /// page; or the status. Control characters and credentials are removed and long texts cut.
    package static func text(of response: SyncResponse) -> String {
        let text = shown(found(in: response), response)
        return text.isEmpty ? status(response) : text
    }

    /// The message for a web page in place of an answer.
    package static let webPage =
        "the answer is a web page: check the endpoint, and whether a login page is in the way"

    /// Whether the body is a web page, as a proxy or a login page sends it.
    package static func isWebPage(_ response: SyncResponse) -> Bool {
        guard isMarkup(response) else { return false }
        var text = String(decoding: response.body.bytes.prefix(4096), as: UTF8.self).lowercased()[...]
        while true {
            text = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            // A declaration or a comment may come first.
            guard let (start, end) = [("<?", "?>"), ("<!--", "-->")].first(where: { text.hasPrefix($0.0) }),
                let skipped = text.dropFirst(start.count).firstRange(of: end)
            else { break }
            text = text[skipped.upperBound...]
        }
        // An element of a service's own may begin with one of these names.
        return ["<!doctype html", "<html", "<head", "<body"].contains { name in
            text.hasPrefix(name)
                && text.dropFirst(name.count).first.map { !($0.isLetter || "-_:.".contains($0)) } ?? true
        }
    }

    /// Whether the body is markup, and no text for a person.
    private static func isMarkup(_ response: SyncResponse) -> Bool {
        response.body.bytes.first { !" \t\r\n\u{FEFF}".utf8.contains($0) } == UInt8(ascii: "<")
    }

    private static func found(in response: SyncResponse) -> String {
        if response.body.isEmpty { return "" }
        guard let body = try? response.body.json else {
            // No more bytes than a message can need: a scalar has at most four, and control characters are removed.
            return isMarkup(response)
                ? "" : String(decoding: response.body.bytes.prefix(8 * maximumLength), as: UTF8.self)
        }
        // A record is no message, though it may have a title, and neither is an empty object, an empty array or null.
        let isEmpty = body.isNull || ([.object, .array].contains(body.kind) && body.count == 0)
        if isEmpty || body.names.contains("id") { return "" }
        return said(in: body) ?? String(describing: body)
    }

    /// Returns the message in a document: a text, an object's member with a known name, or a list of these.
    private static func said(in body: JSON) -> String? {
        if let text = body.string { return text }
        if let problems = body.elements {
            let texts = problems.prefix(maximumProblems).compactMap { $0.kind == .array ? nil : said(in: $0) }
            return texts.isEmpty ? nil : texts.joined(separator: "; ")
        }
        for name in ["error", "description", "message", "errorMessage", "detail", "title"] {
            guard let value = body[name], let text = value.string ?? value["message"]?.string, !text.isEmpty else {
                continue
            }
            let problems = body["errors"].flatMap(problems)
            return [text, problems].compactMap { $0 }.joined(separator: " ")
        }
        return problems(body["errors"] ?? body)
    }

    /// Returns the problems of single properties, as ASP.NET lists them: `{"Title": ["is required"], …}`; nil for any
    /// other object.
    private static func problems(_ body: JSON) -> String? {
        var problems: [String] = []
        for (name, value) in (body.members ?? []).prefix(maximumProblems) {
            guard let texts = value.elements?.prefix(maximumProblems).map(\.string), !texts.isEmpty,
                !texts.contains(nil)
            else { return nil }
            problems.append("\(name): \(texts.compactMap { $0 }.joined(separator: ", "))")
        }
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    private static func status(_ response: SyncResponse) -> String {
        let reason = shown(response.head.status.reasonPhrase, response)
        let page = response.status < 400 && isWebPage(response) ? webPage : nil
        let meaning = (page ?? meaning(ofStatus: response.status)).map { ": \($0)" } ?? ""
        return "the server answered \(response.status)\(reason.isEmpty ? "" : " \(reason)")\(meaning)"
    }

    /// Returns the text, cut and without credentials. They are removed before and after the cut, because a cut may
    /// leave a part of one, and control characters may have split one.
    private static func shown(_ text: String, _ response: SyncResponse) -> String {
        guard let credentials = response.credentials else { return shortened(text) }
        return shortened(credentials.hiding(shortened(credentials.hiding(text))))
    }

    /// Returns the text on one line, without control characters, cut where it is long.
    package static func shortened(_ text: String, to maximumLength: Int = ServerMessage.maximumLength) -> String {
        var output = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isSpace = scalar == "\n" || scalar == "\r" || scalar == "\t"
            if isSpace, output.last != " " { output.append(" ") }
            // Unicode's control and format characters: a format character can turn the direction of a terminal's line.
            let category = scalar.properties.generalCategory
            if !isSpace && category != .control && category != .format { output.append(scalar) }
            if output.count >= maximumLength { break }
        }
        while output.last == " " { output.removeLast() }
        return String(output)
    }
}
