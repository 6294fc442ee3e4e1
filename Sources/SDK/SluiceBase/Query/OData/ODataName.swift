/// Property names in OData text.
///
/// A name that OData's grammar does not allow, or that it would read as something else, is written with `_xHHHH_` for
/// the characters in the way, as the servers' own mapping of names to identifiers does it (XML names in .NET). So no
/// name can change a query's meaning.
package enum ODataName {
    /// Whether a text reads the name as something else: an operator or a constant.
    private static func isReserved(_ name: String) -> Bool {
        guard (3...5).contains(name.utf8.count) else { return false }
        if name == "null" || name == "INF" || name == "NaN" { return true }
        let word = name.lowercased()
        return word == "not" || word == "true" || word == "false"
    }

    /// A name that is no property's, as a type's: as it stands, if texts can have it.
    static func plain(_ name: String) -> String {
        let isName = name.unicodeScalars.allSatisfy {
            ODataScanner.continuesIdentifier($0) || ".#()".unicodeScalars.contains($0)
        }
        return isName && !name.isEmpty ? name : encoded(PropertyName(name))
    }

    /// The name as it is written; `taken` are the variables that mean something else there.
    package static func encoded(_ name: PropertyName, taken: [PropertyName] = []) -> String {
        let scalars = Array(name.text.unicodeScalars)
        var output = ""
        for (index, scalar) in scalars.enumerated() {
            let isAllowed =
                index == 0
                ? ODataScanner.beginsIdentifier(scalar) && !isReserved(name.text) && !taken.contains(name)
                : ODataScanner.continuesIdentifier(scalar)
            // What is not allowed will be written with an underscore as its first character.
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

    /// The name that was written so.
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

    /// The character that a `_xHHHH_` here stands for, and the length of that; `isEnd` tells the last underscore.
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

/// Which column a name in a text means; nil where there is none of that name.
package typealias ODataColumns = (PropertyName) -> PropertyName?

extension ODataScanner {
    /// The column that the name, as it is written at that place, means.
    func column(_ written: String, _ columns: ODataColumns, at place: Int) throws(QuerySyntaxError) -> PropertyName {
        let name = ODataName.decoded(written)
        guard let column = columns(name) else { throw error("there is no column \"\(name)\"", at: place) }
        return column
    }
}
