import Logging
import Tracing

var logger: Logger { fatalError() }
var tracer: any Tracer { fatalError() }
