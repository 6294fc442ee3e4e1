/// Property names in OData text.
///
/// A name that OData's grammar does not allow, or reads as something else, is written with `_xHHHH_` for the characters
/// in the way. The servers' own mapping of names to identifiers does the same (XML names in .NET). So no name can
/// change a query's meaning.
package enum ODataName {
    /// Returns whether a text reads the name as something else: an operator or a constant.
    private static func isReserved(_ name: String) -> Bool {
        guard (3...5).contains(name.utf8.count) else { return false }
        if name == "null" || name == "INF" || name == "NaN" { return true }
        let word = name.lowercased()
        return word == "not" || word == "true" || word == "false"
    }

    /// Returns the name of something other than a property, such as a type: unchanged, if texts allow it.
    static func plain(_ name: String) -> String {
        let isName = name.unicodeScalars.allSatisfy {
            ODataScanner.continuesIdentifier($0) || ".#()".unicodeScalars.contains($0)
        }
        return isName && !name.isEmpty ? name : encoded(PropertyName(name))
    }

    /// Returns the name's OData text; `taken` are variables, which would be read instead.
    package static func encoded(_ name: PropertyName, taken: [PropertyName] = []) -> String {
        let scalars = Array(name.text.unicodeScalars)
        var output = ""
        for (index, scalar) in scalars.enumerated() {
            let isAllowed =
                index == 0
                ? ODataScanner.beginsIdentifier(scalar) && !isReserved(name.text) && !taken.contains(name)
                : ODataScanner.continuesIdentifier(scalar)
            // A disallowed character will be written with an underscore first.
            let code = code(scalars[index...]) { $0 == "_" || !ODataScanner.continuesIdentifier($0) }
            if isAllowed && code == nil {
                output.unicodeScalars.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                output += "_x" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "_"
            }
        }
        return output
    }

    /// Returns the name for an OData text.
    package static func decoded(_ name: String) -> PropertyName {
        if !name.contains("_x") { return PropertyName(name) }
        let scalars = Array(name.unicodeScalars)
        var output = String.UnicodeScalarView()
        var index = 0
        while index < scalars.count {
            if let (scalar, length) = code(scalars[index...]) {
                output.append(scalar)
                index += length
            } else {
                output.append(scalars[index])
                index += 1
            }
        }
        return PropertyName(String(output))
    }

    /// Returns the character of a `_xHHHH_` here, and the length of that escape; `isEnd` accepts the last underscore.
    private static func code(
        _ scalars: ArraySlice<Unicode.Scalar>, isEnd: (Unicode.Scalar) -> Bool = { $0 == "_" }
    ) -> (Unicode.Scalar, Int)? {
        guard scalars.starts(with: "_x".unicodeScalars) else { return nil }
        let digits = scalars.dropFirst(2).prefix { $0.properties.isASCIIHexDigit }
        guard (4...6).contains(digits.count), digits.endIndex < scalars.endIndex, isEnd(scalars[digits.endIndex]),
            let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
            let scalar = Unicode.Scalar(value)
        else { return nil }
        return (scalar, digits.count + 3)
    }
}

/// A function that maps names in a text to columns; nil for an unknown name.
package typealias ODataColumns = (PropertyName) -> PropertyName?

extension ODataScanner {
    /// Returns the column for the name as it is written at that position.
    func column(_ written: String, _ columns: ODataColumns, at place: Int) throws(TableQuery.SyntaxError)
        -> PropertyName
    {
        let name = ODataName.decoded(written)
        guard let column = columns(name) else { throw error("there is no column \"\(name)\"", at: place) }
        return column
    }
}
