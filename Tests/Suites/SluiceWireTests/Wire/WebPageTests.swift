import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceWire

@Suite("Web pages in place of answers")
struct WebPageTests {
    @Test(
        "a page is known by its first element, whatever stands before it",
        arguments: [
            "<html>Log in</html>", "\u{FEFF}\n <HTML lang='en'>", "<!DOCTYPE html><p>x", "<head\n/>", "<body>x</body>",
            "<?xml version='1.0'?>\n<!-- proxy 7 -->\n<!-- <x> --><!doctype HTML PUBLIC>", "<html",
        ])
    func pages(text: String) { #expect(isPage(text)) }

    @Test(
        "other markup, a text and JSON are none",
        arguments: [
            "<header>x</header>", "<body-mass>7</body-mass>", "<html:p/>", "<feed><title><html></title></feed>",
            "<?xml version='1.0'?><edmx:Edmx><!-- <html> --></edmx:Edmx>", "<!-- <html>", "<?xml <html>",
            "see <html>", "\"<html>\"", "", "<",
        ])
    func others(text: String) { #expect(!isPage(text)) }

    private func isPage(_ text: String) -> Bool {
        ServerMessage.isWebPage(SyncResponse(HTTPResponse(status: .ok), body: MessageBody(bytes: Array(text.utf8))))
    }
}
