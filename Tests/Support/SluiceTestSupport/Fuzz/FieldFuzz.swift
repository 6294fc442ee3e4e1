internal import HTTPTypes
internal import SluiceCore

/// What must hold for any text as a header field's value: entity tags, dates, pauses, and what a refusal says.
enum FieldFuzz {
    static func check(_ text: String) throws(FuzzFinding) {
        try checkETag(text)
        try checkTimestamp(text)
        try checkHTTPDate(text)
        if let pause = RetryAfter.duration(text, now: Timestamp(ticks: 0)) {
            try demand(pause >= .zero && pause < .seconds(9000 * 366 * 86_400), "a pause of \(pause)")
        }
    }

    /// A version comes back from its tag, unless it holds `\"`, which stands for a quote.
    private static func checkETag(_ text: String) throws(FuzzFinding) {
        var versions = [text]
        switch ETag(text) {
        case .strong(let version): versions.append(version)
        case .weak(let whole): try demand(whole.isExactly(text) && ETag(text).version == nil, "a weak tag is changed")
        }
        for version in versions where !holdsEscapedQuote(version) {
            let quoted = ETag.quoted(version)
            let again = ETag(quoted).version ?? "(weak)"
            try demand(again.isExactly(version), "the version \(version) is sent as \(quoted), which is \(again)")
        }
    }

    private static func holdsEscapedQuote(_ text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains { $0 == UInt8(ascii: "\\") && $1 == UInt8(ascii: "\"") }
    }

    private static func checkTimestamp(_ text: String) throws(FuzzFinding) {
        if let time = Timestamp(timeOfDay: text) {
            let again = Timestamp(timeOfDay: time.timeOfDayText)
            try demand(again == time, "the time of day \(text) is printed as \(time.timeOfDayText)")
        }
        guard let time = Timestamp(text) else { return }
        try demand(Timestamp(time.description) == time, "\(text) is printed as \(time)")
        try demand(time.description.utf8.count == 28, "\(text) is printed as \(time)")
        for digits in 0..<7 {
            let cut = Timestamp(time.text(fractionDigits: digits))
            try demand(cut.map { $0 <= time && time.ticks - $0.ticks < 10_000_000 } == true, "\(text) is cut wrongly")
        }
        let parts = time.parts
        let isDate =
            (1...9999).contains(parts.year) && (1...12).contains(parts.month) && (1...31).contains(parts.day)
            && (0..<24).contains(parts.hour) && (0..<60).contains(parts.minute) && (0..<60).contains(parts.second)
        try demand(isDate, "\(text) has the parts \(parts)")
        try demand(time.beginningOfDay <= time, "\(text) is before its day")
        let seconds = Timestamp(time.text(fractionDigits: 0))
        try demand(HTTPDate.timestamp(HTTPDate.text(time)) == seconds, "\(text) is no date of a header field")
    }

    private static func checkHTTPDate(_ text: String) throws(FuzzFinding) {
        guard let time = HTTPDate.timestamp(text) else { return }
        let printed = HTTPDate.text(time)
        try demand(HTTPDate.timestamp(printed) == time, "the date \(text) is printed as \(printed)")
        try demand(printed.utf8.count == 29, "the date \(text) is printed as \(printed)")
    }

    /// What is told of a refusal is short, one line, and says something.
    static func checkMessage(_ body: [UInt8]) throws(FuzzFinding) {
        let response = SyncResponse(HTTPResponse(status: 500), body: MessageBody(bytes: body))
        let message = ServerMessage.text(of: response)
        let isClean = message.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
        }
        let count = message.unicodeScalars.count
        try demand(isClean && (1...ServerMessage.maximumLength).contains(count), "the message is \(message)")
        let context = SyncRequest.Context(action: .lookup, table: "t", recordID: "a")
        let found = SyncResponse(HTTPResponse(status: 200), body: MessageBody(bytes: body))
        let dialect = Dialect.all[body.count % Dialect.all.count]
        if let record = try? dialect.record(in: found, for: context) {
            try demand(dialect.recordID(in: record) == "a", "a record of another id is taken")
        }
    }
}
