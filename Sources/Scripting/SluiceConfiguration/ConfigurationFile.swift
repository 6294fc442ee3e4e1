internal import Foundation
package import SluiceCore
internal import Yams

/// A configuration in YAML, read strictly: every refusal names file, line and column.
package struct ConfigurationFile: Sendable {
    /// The name that refusals begin with.
    package let name: String
    let text: String

    /// Creates a file from a text. Refusals begin with `name`.
    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// Reads the file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    package init(path: String) throws(SluiceError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw SluiceError(.invalidArgument, "\(path): the file cannot be read: \(UnreadableFile.reason(path))")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw SluiceError(.invalidArgument, "\(path): the file is not UTF-8")
        }
        self.init(name: path, text: text)
    }

    /// Returns the file's one document.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the text is empty or no YAML.
    package func root() throws(SluiceError) -> ConfigurationNode {
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw SluiceError(.invalidArgument, "\(name): the file is empty")
            }
            return ConfigurationNode(YAMLSource(node: node, file: self), "the file")
        } catch let error as SluiceError {
            throw error
        } catch let error as YamlError {
            throw refusal(error)
        } catch {
            throw SluiceError(.invalidArgument, "\(name): the file is not valid YAML", cause: error)
        }
    }

    /// Returns a place of the file, as refusals begin.
    func location(_ place: (line: Int, column: Int)?) -> String {
        name + (place.map { ":\($0.line):\($0.column)" } ?? "")
    }

    private func refusal(at mark: Mark?, _ reason: String) -> SluiceError {
        SluiceError(.invalidArgument, "\(location(mark.map { ($0.line, $0.column) })): \(reason)")
    }

    private func refusal(_ error: YamlError) -> SluiceError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            refusal(at: mark, "the file is not valid YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            refusal(at: context.mark, "repeated key \(duplicates.joined(separator: ", "))")
        default: refusal(at: nil, "the file is not valid YAML")
        }
    }
}

/// Text from servers and files, made safe to show.
package enum PlainText {
    /// Returns the text as one line. Control characters become spaces: they could move a terminal's cursor.
    package static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                    return isControl || scalar == "\u{2028}" || scalar == "\u{2029}" ? " " : scalar
                }))
    }
}

/// Says for people why a file cannot be read: the errors of the system are for programs.
package enum UnreadableFile {
    /// Returns the reason, for the end of a sentence.
    package static func reason(_ path: String) -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return "there is none" }
        if isFolder.boolValue { return "it is a folder" }
        return FileManager.default.isReadableFile(atPath: path) ? "reading it failed" : "this user may not read it"
    }
}
