import Foundation

/// Returns a JSON Web Token of that user, as far as it can be read without its key.
func readableToken(_ subject: String, nonce: String = "1") -> String {
    func part(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
    return [part(#"{"alg":"HS256"}"#), part(#"{"iss":"here","sub":"\#(subject)","jti":"\#(nonce)"}"#), "c2ln"]
        .joined(separator: ".")
}
