/// The key of a place that no type named: an element's index, or `super`.
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
