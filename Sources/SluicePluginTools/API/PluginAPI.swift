internal import SluiceLua

/// The plugin API, described once: the page of the documentation, the editor's stubs and the test that holds both
/// against a machine are made from it.
enum PluginAPI {
    /// A member of an object or a module.
    package struct Member: Sendable {
        /// What kind of member it is.
        package enum Form: Sendable, Hashable {
            /// Read as `object.name`; nil where it may be missing.
            case field(isWritable: Bool)
            /// Called as `object:name(…)`.
            case method
            /// Called as `module.name(…)`.
            case function
        }

        /// The name.
        package let name: String
        package let form: Form
        /// Parameters as in a stub, a question mark after the name of one that may be left out: `name: string`.
        package let parameters: [(name: String, type: String)]
        /// The type of the field, or of what it returns; empty for nothing.
        package let type: String
        /// What it is, in words.
        package let text: String
    }

    /// An object that hooks get, or a module that is there in every hook.
    package struct Part: Sendable {
        /// Its name in the page: `req`, `crypto`.
        package let name: String
        /// Its class in the stubs: `sluice.Request`.
        package let type: String
        /// What it is, in words.
        package let text: String
        /// Whether it is a global.
        let isModule: Bool
        /// Its members.
        package let members: [Member]
    }

    /// A hook, with its parameters and what it may return.
    package struct Hook: Sendable {
        package let kind: HookKind
        package let parameters: [(name: String, type: String)]
        package let returns: String
        /// When it is called, in words.
        package let text: String
    }

    static func field(_ name: String, _ type: String, _ text: String) -> Member {
        Member(name: name, form: .field(isWritable: false), parameters: [], type: type, text: text)
    }

    static func writable(_ name: String, _ type: String, _ text: String) -> Member {
        Member(name: name, form: .field(isWritable: true), parameters: [], type: type, text: text)
    }

    static func method(
        _ name: String, _ parameters: [(name: String, type: String)] = [], _ type: String = "", _ text: String
    ) -> Member {
        Member(name: name, form: .method, parameters: parameters, type: type, text: text)
    }

    static func function(
        _ name: String, _ parameters: [(name: String, type: String)] = [], _ type: String = "", _ text: String
    ) -> Member {
        Member(name: name, form: .function, parameters: parameters, type: type, text: text)
    }

    /// The version of the API, as manifests ask for it.
    package static let version = "1.0"

    /// All objects and modules.
    package static var parts: [Part] { objects + modules }
}
