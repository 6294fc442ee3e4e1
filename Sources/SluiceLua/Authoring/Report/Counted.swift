extension Int {
    /// The number with its noun: `1 error`, `2 errors`.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
