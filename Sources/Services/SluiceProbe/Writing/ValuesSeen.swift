internal import SluiceBase

/// The values of a row as they were sent and as they came back.
struct ValuesSeen: ProbeObservation {
    let form: ScratchForm
    /// The record in the answer, or the one that was read afterwards.
    var record: JSON
    /// The value of the column that was set to null; nil where none was.
    var cleared: (column: PropertyName, value: JSON?)?
    /// The outcome of a text with half an emoji; nil where none was sent.
    var half: Half?

    /// The outcome of a text with half an emoji.
    enum Half: Sendable {
        case refused, replaced
        /// It comes back, as the reason says.
        case kept(String)
    }

    var findings: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if let column = form.text, let sent = form.values[column], let came = value(column), came != sent {
            found.append(ProbeFinding(.textsAltered, "\(sent) came back as \(came)"))
        }
        for column in [form.integer, form.real].compactMap(\.self) {
            guard let sent = form.values[column], let came = value(column), came != sent else { continue }
            let isText = came.string.flatMap { JSON.Number(text: $0) }.map { JSON($0) == sent } ?? false
            found.append(
                ProbeFinding(isText ? .numbersAsTexts : .numbersRounded, "\(sent) came back as \(came)"))
        }
        if let column = form.date, let sent = form.values[column], let came = value(column),
            came.string.flatMap({ Timestamp($0) }) != sent.string.flatMap({ Timestamp($0) })
        {
            found.append(ProbeFinding(.datesAltered, "\(sent) came back as \(came)"))
        }
        if let cleared, let value = cleared.value, !value.isNull {
            found.append(ProbeFinding(.nullIgnored, "\(cleared.column) was set to null, and is \(value)"))
        }
        if case .kept(let reason)? = half {
            found.append(ProbeFinding(.halfEmojiKept, "a text with half an emoji was taken: \(reason)"))
        }
        return found
    }

    /// The value that came back. A property that is missing is null, unless its column was only guessed.
    private func value(_ column: PropertyName) -> JSON? { record[column] ?? (form.isGuessed ? nil : .null) }

    var facts: [(subject: String, text: String)] {
        let missing = [form.text, form.integer, form.real, form.flag, form.date].compactMap(\.self)
            .filter { record[$0] == nil }.map(\.text)
        guard form.isGuessed, !missing.isEmpty else { return [] }
        return [
            ("values", "the scratch table has no \(missing.joined(separator: ", ")): declare its columns under tables")
        ]
    }
}
