extension JSON: Codable {
    /// Reads the exact value from ``JSONRecordDecoder``, and from another decoder as far as it can express the value.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? JSONValueDecoder {
            self = decoder.value
            return
        }
        if let container = try? decoder.container(keyedBy: JSONCodingKey.self) {
            self.init(
                members: try container.allKeys.map {
                    (
                        $0.stringValue,
                        try container.decodeNil(forKey: $0) ? .null : container.decode(JSON.self, forKey: $0)
                    )
                })
        } else if var container = try? decoder.unkeyedContainer() {
            self = .array
            while !container.isAtEnd {
                append(try container.decodeNil() ? .null : container.decode(JSON.self))
            }
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self.init(value)
            } else if let value = try? container.decode(String.self) {
                self.init(value)
            } else {
                self.init(try JSON.Number(from: decoder))
            }
        }
    }

    /// Writes the exact value to ``JSONRecordEncoder``, and to another encoder as far as it can express the value.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? JSONValueEncoder { return encoder.node.set(self) }
        switch kind {
        case .object:
            var container = encoder.container(keyedBy: JSONCodingKey.self)
            for (name, value) in members ?? [] { try container.encode(value, forKey: JSONCodingKey(name: name.text)) }
        case .array:
            var container = encoder.unkeyedContainer()
            for element in elements ?? [] { try container.encode(element) }
        case .number: try number?.encode(to: encoder)
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool:
            var container = encoder.singleValueContainer()
            try container.encode(bool == true)
        case .string:
            var container = encoder.singleValueContainer()
            try container.encode(string ?? "")
        }
    }
}

extension JSON.Number: Codable {
    /// Reads the exact number from ``JSONRecordDecoder``, and from another decoder an integer or the nearest double.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? JSONValueDecoder {
            guard let number = decoder.value.number else { throw decoder.mismatch(JSON.Number.self, "a number") }
            self = number
            return
        }
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int64.self) {
            self.init(value)
        } else if let value = try? container.decode(UInt64.self), let number = JSON.Number(text: String(value)) {
            self = number
        } else if let number = JSON.Number(try container.decode(Double.self)) {
            self = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a finite number")
        }
    }

    /// Writes the exact number to ``JSONRecordEncoder``, and to another encoder an integer or the nearest double.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? JSONValueEncoder { return encoder.node.set(JSON(self)) }
        var container = encoder.singleValueContainer()
        if let int { return try container.encode(int) }
        if let large: UInt64 = integer() { return try container.encode(large) }
        try container.encode(double)
    }
}

extension Timestamp: Codable {
    /// Reads the time from its text.
    ///
    /// - Throws: `DecodingError` for a text that is not a time.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = Timestamp(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the text of a time")
        }
        self = time
    }

    /// Writes the time as text: to milliseconds, as servers and scripts do, unless that loses digits; then to 100 ns.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text(fractionDigits: ticks % 10_000 == 0 ? 3 : 7))
    }
}

/// The key of a position without a name of the type: an element's index, or `super`.
struct JSONCodingKey: CodingKey {
    static let `super` = JSONCodingKey(name: "super")

    let stringValue: String
    let intValue: Int?

    init(name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(name: stringValue) }
    init?(intValue: Int) { self.init(index: intValue) }
}
