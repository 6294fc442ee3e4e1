extension ODataOptions {
    /// The generation of OData that a text is written in. The parser reads both.
    public enum Style: Sendable, Hashable {
        /// The v3 of Azure Mobile Services and of Mobile Apps before version 6: `substringof('x',name)`,
        /// `datetimeoffset'2013-01-01T00:00:00.000Z'`, `12L`.
        case v3
        /// The v4 of the later servers: `contains(name,'x')`, `cast(2013-01-01T00:00:00.000Z,Edm.DateTimeOffset)`.
        case v4
    }
}
