internal import HTTPTypes

/// What a server says about its refusal.
package enum ServerMessage {
    /// The longest message that is kept, in characters.
    package static let maximumLength = 500

    /// The text of an answer that is an error, as the clients of this protocol look for it: a JSON string; of an
    /// object the member `error`, `description`, `message`, or RFC 9457's `detail` or `title`; else the body as it is,
    /// unless it is a web page; else the status. Control characters are taken out and long texts cut.
    package static func text(of response: Response) -> String {
        let text = shortened(found(in: response))
        return text.isEmpty ? status(response) : text
    }

    /// Whether the body begins as a web page does.
    package static func isHTML(_ response: Response) -> Bool {
        response.body.bytes.first { !" \t\r\n\u{FEFF}".utf8.contains($0) } == UInt8(ascii: "<")
    }

    private static func found(in response: Response) -> String {
        if response.body.isEmpty { return "" }
        guard let body = try? response.body.json else {
            // No more than can be kept: a scalar has at most four bytes, and control characters fall out.
            return isHTML(response)
                ? "" : String(decoding: response.body.bytes.prefix(8 * maximumLength), as: UTF8.self)
        }
        if let text = body.string { return text }
        for name in ["error", "description", "message", "detail", "title"] {
            if let text = body[name]?.string, !text.isEmpty { return text }
            if let text = body[name]?["message"]?.string, !text.isEmpty { return text }
        }
        // A record is no message, and neither is an empty object, an empty array or null.
        let isEmpty = body.isNull || ([.object, .array].contains(body.kind) && body.count == 0)
        return isEmpty || body.names.contains("id") ? "" : String(describing: body)
    }

    private static func status(_ response: Response) -> String {
        let reason = shortened(response.head.status.reasonPhrase)
        return "the server answered \(response.status)\(reason.isEmpty ? "" : " \(reason)")"
    }

    private static func shortened(_ text: String) -> String {
        var output = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isSpace = scalar == "\n" || scalar == "\r" || scalar == "\t"
            if isSpace, output.last != " " { output.append(" ") }
            // Unicode's control and format characters: the latter can turn the direction of a terminal's line.
            let category = scalar.properties.generalCategory
            if !isSpace && category != .control && category != .format { output.append(scalar) }
            if output.count >= maximumLength { break }
        }
        while output.last == " " { output.removeLast() }
        return String(output)
    }
}
