internal import SluiceCore

/// A tree written out so that two trees have the same text if and only if they are the same expression in a generation
/// of OData: what that generation has no words for stands as what is printed in its place, and a chain of `and` or `or`
/// as the list of its terms.
enum QueryOutline {
    static func text(_ filter: QueryExpression, as style: ODataOptions.Style) -> String {
        var outline = Writer(style: style)
        outline.condition(filter)
        return outline.text
    }

    private struct Writer {
        let style: ODataOptions.Style
        var text = ""

        /// An expression where v3 must have a comparison in the place of `true`.
        mutating func condition(_ expression: QueryExpression) {
            if style == .v3, case .literal(.bool(let value)) = expression {
                self.expression(
                    .binary(.eq, .literal(.number(JSON.Number(1))), .literal(.number(JSON.Number(value ? 1 : 0)))))
            } else {
                self.expression(expression)
            }
        }

        mutating func expression(_ expression: QueryExpression) {
            switch expression {
            case .literal(let literal): self.literal(literal)
            case .column(let name): text += "[\(name.text.unicodeScalars.map { String($0.value, radix: 16) })]"
            case .unary(.not, .literal(.bool)) where style == .v3:
                // Printed as the negation of a comparison.
                if case .unary(_, let operand) = expression { list("not") { $0.condition(operand) } }
            case .unary(let operation, let operand): list(operation.rawValue) { $0.expression(operand) }
            case .binary(.and, _, _): chain(.and, expression)
            case .binary(.or, _, _): chain(.or, expression)
            case .binary(let operation, let left, let right):
                list(operation.rawValue) {
                    $0.expression(left)
                    $0.expression(right)
                }
            case .call(let function, let arguments):
                list(function.rawValue) { writer in for argument in arguments { writer.expression(argument) } }
            case .membership(_, let literals) where literals.isEmpty: condition(.literal(.bool(false)))
            case .membership where style == .v3: chain(.or, expression)
            case .membership(let operand, let literals):
                list("in") { writer in
                    writer.expression(operand)
                    for literal in literals { writer.literal(literal) }
                }
            case .path(let path): self.path(path)
            case .list(let elements): list("list") { writer in for element in elements { writer.expression(element) } }
            case .object(let members):
                list("object") { writer in
                    for member in members {
                        writer.name(member.name ?? "")
                        writer.expression(member.value)
                    }
                }
            case .choice(let choices):
                list("case") { writer in
                    for choice in choices {
                        writer.expression(choice.condition)
                        writer.expression(choice.value)
                    }
                }
            case .typed(let operation, let operand, let type):
                list("\(operation.rawValue) \(type)") { writer in if let operand { writer.expression(operand) } }
            }
        }

        private mutating func name(_ name: String) {
            text += "[\(name.unicodeScalars.map { String($0.value, radix: 16) })]"
        }

        /// A path's root, and its steps with what is in them; both generations write them alike.
        private mutating func path(_ path: TableQuery.Path) {
            list("path \(path.root)") { writer in
                for step in path.steps {
                    switch step {
                    case .property(let property): writer.name(property.text)
                    case .type(let type): writer.list("type \(type)") { _ in }
                    case .annotation(let annotation): writer.list("annotation \(annotation)") { _ in }
                    case .key(let values): writer.arguments("key", values)
                    case .function(let function, let values): writer.arguments("function \(function)", values)
                    case .filter(let condition): writer.list("filter") { $0.expression(condition) }
                    case .count(let condition, let search):
                        writer.list("count \(String(describing: search))") { writer in
                            if let condition { writer.expression(condition) }
                        }
                    case .any(let lambda):
                        writer.list("any \(lambda?.variable ?? "")") { writer in
                            if let lambda { writer.expression(lambda.condition) }
                        }
                    case .all(let lambda): writer.list("all \(lambda.variable)") { $0.expression(lambda.condition) }
                    }
                }
            }
        }

        private mutating func arguments(_ title: String, _ values: [TableQuery.Argument]) {
            list(title) { writer in
                for value in values {
                    writer.name(value.name ?? "")
                    writer.expression(value.value)
                }
            }
        }

        private mutating func list(_ name: String, _ body: (inout Writer) -> Void) {
            text += "(\(name)"
            body(&self)
            text += ")"
        }

        private mutating func chain(_ operation: QueryExpression.BinaryOperator, _ expression: QueryExpression) {
            let terms = terms(operation, expression)
            guard terms.count > 1 else {
                for term in terms { self.expression(term) }
                return
            }
            list(operation.rawValue) { writer in for term in terms { writer.condition(term) } }
        }

        private func terms(
            _ operation: QueryExpression.BinaryOperator, _ expression: QueryExpression
        ) -> [QueryExpression] {
            var terms: [QueryExpression] = []
            var waiting = [expression]
            while let next = waiting.popLast() {
                if case .binary(operation, let left, let right) = next {
                    waiting += [right, left]
                } else if style == .v3, operation == .or, case .membership(let operand, let literals) = next {
                    terms += literals.map { .binary(.eq, operand, .literal($0)) }
                } else {
                    terms.append(next)
                }
            }
            return terms
        }

        private mutating func literal(_ literal: TableQuery.Literal) {
            switch literal {
            case .string(let value): text += "'\(value.unicodeScalars.map { String($0.value, radix: 16) })"
            case .number(let number): text += "#\(number.storage)"
            case .date(let date): text += "date:\(date.ticks)"
            // v3 has no word for a day.
            case .day(let day) where style == .v3: text += "date:\(day.ticks)"
            case .day(let day): text += "day:\(day.ticks)"
            case .timeOfDay(let time): text += "time:\(time.ticks)"
            case .guid(let guid): text += "guid:\(guid)"
            case .point(let point): text += "point:\(point.longitude + 0):\(point.latitude + 0)"
            case .bool(let value): text += "\(value)"
            case .null: text += "null"
            case .duration(let ticks): text += "duration:\(ticks)"
            case .enumeration, .binary, .shape, .infinity, .notANumber: text += "\(literal)"
            }
            text += ";"
        }
    }
}
