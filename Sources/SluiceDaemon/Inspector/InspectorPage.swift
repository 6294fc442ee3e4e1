internal import HTTPTypes
internal import Sluice

/// The page's files, which are in the program, and the header fields that all answers have.
enum InspectorPage {
    /// A file by its path below `/inspector/`; the page itself by the empty one.
    static func file(_ path: String) -> LocalReply? {
        switch path {
        case "": reply(PackageResources.index_html, "text/html; charset=utf-8")
        case "inspector.css": reply(PackageResources.inspector_css, "text/css; charset=utf-8")
        case "inspector.js": reply(PackageResources.inspector_js, "text/javascript; charset=utf-8")
        case "dom.js": reply(PackageResources.dom_js, "text/javascript; charset=utf-8")
        case "decisions.js": reply(PackageResources.decisions_js, "text/javascript; charset=utf-8")
        case "views.js": reply(PackageResources.views_js, "text/javascript; charset=utf-8")
        case "icon.svg": reply(PackageResources.icon_svg, "image/svg+xml")
        default: nil
        }
    }

    private static func reply(_ bytes: [UInt8], _ type: String) -> LocalReply {
        LocalReply(.ok, headers: [.contentType: type], bytes: bytes)
    }

    static func redirect(_ path: String) -> LocalReply { LocalReply(.seeOther, headers: [.location: path]) }

    /// What someone sees who is not signed in.
    static let signInNeeded = LocalReply(
        .unauthorized,
        text: """
            This address is used up, too old, or was never given.

            sluice inspector prints a new one.

            """)

    /// Nothing from elsewhere is loaded, nobody frames the page, and nothing of it is kept on a disk.
    private static let fields: [(String, String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]

    static func guarded(_ reply: LocalReply) -> LocalReply {
        var reply = reply
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { reply.headers[name] = value }
        }
        return reply
    }
}
