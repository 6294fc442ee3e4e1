internal import Foundation
internal import SluiceConfiguration
public import SluiceCore

extension BackendConfiguration {
    /// Reads a configuration file. Paths in it are relative to its directory.
    ///
    /// ```yaml
    /// database: sqlite:backend.db        # or sqlite::memory:
    /// auth: { secretVariable: SLUICE_JWT_SECRET }
    /// tables:
    ///   movies: { seed: movies.json, pageSize: 100, maxTop: 128000, softDelete: true }
    ///   notes: { perUser: owner, recordsExpire: 90d }
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column.
    public init(file path: String) throws(SluiceError) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        self = try ConfigurationReader(directory: directory).configuration(ConfigurationFile(path: path))
    }

    /// Reads a configuration's text. `file` is the name that errors begin with, `directory` what paths are relative to.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column.
    public init(yaml text: String, file: String, directory: String) throws(SluiceError) {
        let source = ConfigurationFile(name: file, text: text)
        self = try ConfigurationReader(directory: directory).configuration(source)
    }
}
