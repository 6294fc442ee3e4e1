extension JSON: CustomStringConvertible {
    /// The value as compact JSON text.
    public var description: String { String(decoding: bytes(), as: UTF8.self) }

    /// The value as compact JSON text in UTF-8.
    public func bytes() -> [UInt8] {
        var output: [UInt8] = []
        handle.print(to: &output)
        return output
    }
}

extension JSONHandle {
    fileprivate func print(to output: inout [UInt8]) {
        switch kind {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool: output.append(contentsOf: (bool == true ? "true" : "false").utf8)
        case .number: output.append(contentsOf: (number?.description ?? "null").utf8)
        case .string: _ = withText { JSONEscape.append($0, to: &output) }
        case .array:
            output.append(UInt8(ascii: "["))
            for (index, element) in (elements ?? []).enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.print(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object:
            output.append(UInt8(ascii: "{"))
            var first = true
            forEachMember { name, value in
                if !first { output.append(UInt8(ascii: ",")) }
                first = false
                JSONEscape.append(name, to: &output)
                output.append(UInt8(ascii: ":"))
                JSONHandle(sharing: value).print(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}
