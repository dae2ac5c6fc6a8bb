import ts from "typescript";

/** Text of a file from `start` to `end` becomes `after`. */
export type Edit = { start: number; end: number; after: string };

/** What a kind of fault makes of a node; none where it does not apply. */
type Rule = (node: ts.Node) => readonly Edit[];

const swap = (node: ts.Node, after: string): Edit[] => [
  { start: node.getStart(), end: node.end, after },
];
const none: readonly Edit[] = [];

/** Kinds of faults, each of which is one slip that a programmer makes. */
export const rules = {
  boundary: operators({ "<": "<=", "<=": "<", ">": ">=", ">=": ">" }),
  direction: operators({ "<": ">=", "<=": ">", ">": "<=", ">=": "<" }),
  equality: operators({ "===": "!==", "!==": "===" }),
  connective: operators({ "&&": "||", "||": "&&" }),
  condition: (node) => {
    if (ts.isIfStatement(node)) return negation(node.expression);
    return ts.isConditionalExpression(node) ? negation(node.condition) : none;
  },
  answer: (node) => {
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
      return isPredicate(node) || isBoolean(node.body) ? negation(node.body) : none;
    }
    if (!ts.isReturnStatement(node) || node.expression === undefined) return none;
    const owner = ts.findAncestor(node, ts.isFunctionLike);
    return owner !== undefined && isPredicate(owner) ? negation(node.expression) : none;
  },
  number: (node) => {
    if (!ts.isNumericLiteral(node) && !ts.isBigIntLiteral(node)) return none;
    return isAmount(node) ? swap(node, larger(node)) : none;
  },
  statement: (node) => {
    if (!ts.isExpressionStatement(node)) return none;
    const call = ts.isAwaitExpression(node.expression)
      ? node.expression.expression
      : node.expression;
    if (!ts.isCallExpression(call) || isProse(call)) return none;
    return /^(?:super|clear|unref)/.test(calleeName(call)) ? none : swap(node, ";");
  },
  refusal: (node) => {
    if (!ts.isIfStatement(node) || node.elseStatement !== undefined) return none;
    // Without a refusal that narrows a type, the rest of the function does not type-check.
    if (/null|undefined|typeof|instanceof|\.ok\b/.test(node.expression.getText())) return none;
    return leavesEarly(node.thenStatement) ? swap(node, ";") : none;
  },
  element: (node) => {
    if (ts.isArrayLiteralExpression(node)) {
      return isList(node) ? node.elements.flatMap((_, at) => removal(node.elements, at)) : none;
    }
    if (!ts.isObjectLiteralExpression(node) || !isOfModule(node)) return none;
    const checks = node.properties.filter(
      (property) => ts.isPropertyAssignment(property) && ts.isArrowFunction(property.initializer),
    );
    if (checks.length < 3) return none;
    return checks.flatMap((check) => removal(node.properties, node.properties.indexOf(check)));
  },
  code: (node) =>
    ts.isStringLiteral(node) && (isHeader(node) || isCode(node))
      ? swap(node, node.getText().replace(/.$/, "x$&"))
      : none,
  default: (node) => {
    if (!ts.isBinaryExpression(node) || node.operatorToken.getText() !== "??") return none;
    const { left, right } = node;
    // Such a default is there for the type checker alone, as a rule.
    if (ts.isElementAccessExpression(left)) return none;
    if (ts.isNumericLiteral(right) || ts.isBigIntLiteral(right)) return swap(right, larger(right));
    if (ts.isStringLiteral(right)) return swap(right, right.getText().replace(/.$/, "x$&"));
    if (right.kind === ts.SyntaxKind.TrueKeyword) return swap(right, "false");
    return right.kind === ts.SyntaxKind.FalseKeyword ? swap(right, "true") : none;
  },
  selection: (node) => drop(node, /^(?:filter|toSorted|sort)$/),
  clause: (node) => {
    const isText = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
    if (isText || ts.isTemplateExpression(node)) return clauses(node);
    return drop(node, /^(?:orderBy|where)$/);
  },
} as const satisfies Record<string, Rule>;

export type FaultKind = keyof typeof rules;

function operators(swaps: Readonly<Record<string, string>>): Rule {
  return (node) => {
    if (!ts.isBinaryExpression(node)) return none;
    const after = swaps[node.operatorToken.getText()];
    return after === undefined ? none : swap(node.operatorToken, after);
  };
}

/** A call of one of these methods is left out of its chain. */
function drop(node: ts.Node, methods: RegExp): readonly Edit[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return none;
  const { name, expression } = node.expression;
  return methods.test(name.text) ? [{ start: expression.end, end: node.end, after: "" }] : none;
}

const negation = (node: ts.Node): Edit[] => swap(node, `!(${node.getText()})`);

function isPredicate(node: ts.SignatureDeclaration): boolean {
  const type = node.type;
  return (
    type !== undefined &&
    (type.kind === ts.SyntaxKind.BooleanKeyword || ts.isTypePredicateNode(type))
  );
}

function isBoolean(node: ts.Node): boolean {
  if (ts.isParenthesizedExpression(node)) return isBoolean(node.expression);
  if (ts.isPrefixUnaryExpression(node)) return node.operator === ts.SyntaxKind.ExclamationToken;
  if (ts.isCallExpression(node)) {
    const isMethod = ts.isPropertyAccessExpression(node.expression);
    const names = isMethod
      ? /^(?:is|has|some$|every$|includes|test$|(?:starts|ends)With)/
      : /^(?:is|has)/;
    return names.test(calleeName(node));
  }
  if (!ts.isBinaryExpression(node)) return false;
  const operator = node.operatorToken.getText();
  if (operator === "&&" || operator === "||") return isBoolean(node.left) && isBoolean(node.right);
  return /^[<>]=?$|^[!=]==$/.test(operator);
}

/** Calls whose arguments only people read, or that no one can make fail. */
export const isProse = (call: ts.CallExpression): boolean =>
  /^(?:describe|meta|assert|progress)$/.test(calleeName(call)) ||
  /(?:^|\.)(?:log|logger|console)\.\w+$/.test(call.expression.getText());

/** The last name of what is called: `max` of `z.string().max(3)`. */
function calleeName({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
}

const methodPath = ({ expression }: ts.CallExpression): string =>
  expression.getText().startsWith("Math.") ? "" : expression.getText();

/** Waits and pauses may be a little longer, and no one sees it. */
const waits = /wait|every|retry|retries|timeout|backoff|poll|interval|pause|lag|delay/i;

/** Whether a number is a limit, a weight or a count, and neither a place nor a wait. */
function isAmount(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isCallExpression(parent)) return /\.(?:min|max|gte?|lte?)$/.test(methodPath(parent));
  if (ts.isBinaryExpression(parent)) {
    return parent.operatorToken.getText() !== "??" && !/^[01]n?$/.test(node.getText());
  }
  const isValue =
    ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isParameter(parent);
  return isValue && !waits.test(parent.name.getText());
}

/** By one, or twice as much where one more is next to nothing. */
function larger(node: ts.NumericLiteral | ts.BigIntLiteral): string {
  const digits = node.getText().replaceAll("_", "").replace(/n$/, "");
  const value = Number(digits);
  const more = value < 1_000 ? value + 1 : value * 2;
  return ts.isBigIntLiteral(node) ? `${more}n` : String(more);
}

/** A bare error is thrown at bugs alone, which no test can bring about. */
function leavesEarly(node: ts.Statement): boolean {
  if (ts.isBlock(node)) {
    const last = node.statements.at(-1);
    return last !== undefined && node.statements.length <= 2 && leavesEarly(last);
  }
  if (ts.isThrowStatement(node)) return !/^throw new Error\b/.test(node.getText());
  return ts.isReturnStatement(node) || ts.isContinueStatement(node);
}

/** A list of at least three that has a name, or is a set or an enumeration; not a pair or the arguments of a call. */
function isList(node: ts.ArrayLiteralExpression): boolean {
  let { parent } = node;
  if (node.elements.length < 3) return false;
  while (ts.isAsExpression(parent) || ts.isSatisfiesExpression(parent)) parent = parent.parent;
  if (ts.isNewExpression(parent)) return parent.expression.getText() === "Set";
  if (ts.isCallExpression(parent)) return calleeName(parent) === "enum";
  return isOfModule(node) && (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent));
}

const isOfModule = (node: ts.Node): boolean =>
  ts.findAncestor(node, ts.isFunctionLike) === undefined;

/** An entry of a list, with the comma beside it. */
function removal(list: ts.NodeArray<ts.Node>, at: number): Edit[] {
  const before = list[at - 1];
  const element = list[at];
  const next = list[at + 1];
  if (element === undefined) return [];
  if (next !== undefined) return [{ start: element.getStart(), end: next.getStart(), after: "" }];
  return [{ start: before?.end ?? element.getStart(), end: element.end, after: "" }];
}

const headerName = /^(?!aria-|data-)[a-z]+(?:-[a-z0-9]+)+$/i;

/** The name of a header, or the value of one in a table of headers. */
function isHeader(node: ts.StringLiteral): boolean {
  const { parent } = node;
  if (ts.isCallExpression(parent)) {
    return /^(?:set|get|has|append)$/.test(calleeName(parent)) && headerName.test(node.text);
  }
  if (!ts.isPropertyAssignment(parent)) return false;
  return headerName.test(parent.name.getText().replaceAll('"', ""));
}

const isCode = ({ parent }: ts.StringLiteral): boolean =>
  ts.isPropertyAssignment(parent) && /^(?:status|code)$/.test(parent.name.getText());

/** What a clause holds, to its end: no placeholder, whose value would be one too many. */
const held = String.raw`(?:(?!\b(?:AND|OR|ORDER|LIMIT|GROUP|THEN|RETURNING)\b)[^()\`"?\n]|\([^()\`"?\n]*\))+`;
const ends = String.raw`(?=\s*(?:[)\`"\n]|\b(?:AND|OR|ORDER|LIMIT|GROUP|THEN|RETURNING)\b))`;
const clausePatterns: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`\bORDER BY ${held}(?<![,\s])${ends}`, "g"), ""],
  [new RegExp(String.raw`(?<!BETWEEN \S+ )\bAND ${held}(?<!\s)${ends}`, "g"), ""],
  [new RegExp(String.raw`\bWHERE ${held}(?<!\s)${ends}`, "g"), "WHERE 1 = 1"],
  [/\bDESC\b/g, "ASC"],
];

function clauses(node: ts.Node): Edit[] {
  const text = node.getText();
  if (!/\b(?:SELECT|UPDATE|DELETE FROM|WHERE|ORDER BY)\b/.test(text)) return [];
  return clausePatterns.flatMap(([pattern, after]) =>
    [...text.matchAll(pattern)].map(({ index, 0: clause }) => {
      const start = node.getStart() + index;
      return { start, end: start + clause.length, after };
    }),
  );
}
