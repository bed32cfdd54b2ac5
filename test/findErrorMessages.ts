import ts from 'typescript'

/** One source file of a package. */
export interface SourceFile {
  /** The path below the package's `src`. */
  readonly path: string
  readonly text: string
}

/** The error messages of one file, in the order of the source. A hint follows its message as `hint: …`. */
export interface FileMessages {
  readonly path: string
  readonly messages: readonly string[]
}

/** The functions that create errors, each with the positions of the arguments that become part of the message. */
type Factories = Map<string, Set<number>>

/** Object members that contain the text of an error: `text` and `problem` of failure facts, and `hint`. */
const textMembers: ReadonlySet<string> = new Set(['text', 'problem', 'hint'])

/** Objects that list hints by kind of failure, and other tables of error texts. */
const textTables: ReadonlySet<string> = new Set(['hintTexts', 'fixes'])

const isNamedFunction = (node: ts.Node): node is ts.FunctionDeclaration | ts.ArrowFunction | ts.FunctionExpression =>
  ts.isFunctionDeclaration(node) || ts.isArrowFunction(node) || ts.isFunctionExpression(node)

/** The name by which a function is called. */
const getFunctionName = (
  node: ts.FunctionDeclaration | ts.ArrowFunction | ts.FunctionExpression,
): string | undefined => {
  if (node.name) return node.name.text
  const { parent } = node
  return ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name) ? parent.name.text : undefined
}

const getCalleeName = ({ expression }: ts.CallExpression | ts.NewExpression): string => {
  if (ts.isIdentifier(expression)) return expression.text
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : ''
}

/** Finds the error classes of a package: those that extend `Error` or another error class. */
const findErrorClasses = (files: readonly ts.SourceFile[]): Set<string> => {
  const classes = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isClassDeclaration(node) && node.name)
      for (const { types } of node.heritageClauses ?? [])
        for (const { expression } of types)
          if (expression.getText().endsWith('Error') || classes.has(expression.getText())) classes.add(node.name.text)
    ts.forEachChild(node, visit)
  }
  for (const file of files) visit(file)
  return classes
}

/** Returns the expressions for the message of an error, if this node creates one. */
const getMessageExpressions = (node: ts.Node, factories: Factories, classes: ReadonlySet<string>): ts.Expression[] => {
  if (ts.isNewExpression(node)) {
    const name = getCalleeName(node)
    return (name.endsWith('Error') || classes.has(name)) && node.arguments?.[0] ? [node.arguments[0]] : []
  }
  if (ts.isCallExpression(node)) {
    const positions = factories.get(getCalleeName(node))
    return node.arguments.filter((_, at) => positions?.has(at))
  }
  if (ts.isShorthandPropertyAssignment(node) && textMembers.has(node.name.text)) return [node.name]
  if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && textMembers.has(node.name.text))
    return [node.initializer]
  if (
    ts.isVariableDeclaration(node) &&
    ts.isIdentifier(node.name) &&
    textTables.has(node.name.text) &&
    node.initializer
  )
    return ts.isObjectLiteralExpression(node.initializer)
      ? node.initializer.properties.flatMap((member) => (ts.isPropertyAssignment(member) ? [member.initializer] : []))
      : []
  return []
}

/** Returns the parts of an expression that can become its value: both branches of a condition, and both sides of `??` and `||`. */
const getAlternatives = (node: ts.Expression): ts.Expression[] => {
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return getAlternatives(node.expression)
  if (ts.isConditionalExpression(node)) return [...getAlternatives(node.whenTrue), ...getAlternatives(node.whenFalse)]
  const operator = ts.isBinaryExpression(node) ? node.operatorToken.kind : undefined
  if (
    ts.isBinaryExpression(node) &&
    (operator === ts.SyntaxKind.BarBarToken || operator === ts.SyntaxKind.QuestionQuestionToken)
  )
    return [...getAlternatives(node.left), ...getAlternatives(node.right)]
  return [node]
}

/** Finds the functions whose parameters become messages, such as `check(ok, message)`. Functions that call such functions are found, too. */
const findFactories = (files: readonly ts.SourceFile[], classes: ReadonlySet<string>): Factories => {
  // `makeError` is a function of ethers.
  const factories: Factories = new Map([
    ['makeError', new Set([0])],
    // Of `@keyrail/core/internal`.
    ['check', new Set([1])],
  ])
  const findParameters = (
    node: ts.Node,
  ): { readonly name: string; readonly parameters: readonly string[] } | undefined => {
    for (let at: ts.Node = node; at; at = at.parent)
      if (isNamedFunction(at)) {
        const name = getFunctionName(at)
        if (name) return { name, parameters: at.parameters.map((parameter) => parameter.name.getText()) }
      }
    return undefined
  }
  let found = true
  const visit = (node: ts.Node): void => {
    for (const expression of getMessageExpressions(node, factories, classes))
      for (const alternative of getAlternatives(expression)) {
        const owner = ts.isIdentifier(alternative) ? findParameters(node) : undefined
        const position = owner?.parameters.indexOf(alternative.getText()) ?? -1
        if (!owner || position < 0) continue
        const positions = factories.get(owner.name) ?? new Set()
        if (positions.has(position)) continue
        factories.set(owner.name, positions.add(position))
        found = true
      }
    ts.forEachChild(node, visit)
  }
  while (found) {
    found = false
    for (const file of files) visit(file)
  }
  return factories
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ')

/** Writes an expression as a message, with `${…}` for each value. Returns undefined if the expression contains no text. */
const writeMessage = (node: ts.Expression): string | undefined => {
  if (ts.isStringLiteralLike(node)) return oneLine(node.text)
  if (ts.isTemplateExpression(node))
    return oneLine(
      node.head.text +
        node.templateSpans.map(({ expression, literal }) => `\${${expression.getText()}}${literal.text}`).join(''),
    )
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [writeMessage(node.left), writeMessage(node.right)]
    if (left === undefined && right === undefined) return undefined
    return `${left ?? `\${${oneLine(node.left.getText())}}`}${right ?? `\${${oneLine(node.right.getText())}}`}`
  }
  return undefined
}

/** Finds the possible values of each name in a file: the value of a `const`, or the results of a function. */
const findValues = (file: ts.SourceFile): Map<string, ts.Expression[]> => {
  const values = new Map<string, ts.Expression[]>()
  const add = (name: string, value: ts.Expression): void => {
    values.set(name, [...(values.get(name) ?? []), ...getAlternatives(value)])
  }
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      if (ts.isArrowFunction(node.initializer) && !ts.isBlock(node.initializer.body))
        add(node.name.text, node.initializer.body)
      else add(node.name.text, node.initializer)
    }
    if (ts.isReturnStatement(node) && node.expression) {
      let owner: ts.Node | undefined = node.parent
      while (owner && !isNamedFunction(owner)) owner = owner.parent
      const name = owner && getFunctionName(owner)
      if (name) add(name, node.expression)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return values
}

/** The names in an expression whose values are part of the message: identifiers and called functions. */
const getNames = (node: ts.Expression): string[] => {
  if (ts.isIdentifier(node)) return [node.text]
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) return [node.expression.text]
  if (ts.isTemplateExpression(node)) return node.templateSpans.flatMap(({ expression }) => getNames(expression))
  if (ts.isBinaryExpression(node)) return [...getNames(node.left), ...getNames(node.right)]
  if (ts.isConditionalExpression(node)) return [...getNames(node.whenTrue), ...getNames(node.whenFalse)]
  return []
}

/**
 * Finds the messages of all errors that a package creates, without running it: arguments of `new …Error(…)`, arguments of functions that pass one on as
 * a message, and the texts of failures. It replaces a name in such a text with its `const` or function, also from another file.
 *
 * @param sources - The files of one package, without tests.
 * @returns The files that have messages, by path.
 */
export function findErrorMessages(sources: readonly SourceFile[]): readonly FileMessages[] {
  const files = sources.map(({ path, text }) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  const classes = findErrorClasses(files)
  const factories = findFactories(files, classes)
  const values = new Map(files.map((file) => [file.fileName, findValues(file)]))
  const everywhere = new Map<string, ts.Expression[]>()
  for (const names of values.values())
    for (const [name, expressions] of names) everywhere.set(name, [...(everywhere.get(name) ?? []), ...expressions])
  /** The text of each message by file and position. */
  const found = new Map<string, Map<number, string>>()

  const addMessage = (expression: ts.Expression, prefix: string, seen: ReadonlySet<string>): void => {
    for (const alternative of getAlternatives(expression)) {
      const file = alternative.getSourceFile().fileName
      const text = writeMessage(alternative)
      if (text !== undefined && /[a-z]{2}/i.test(text.replace(/[$][{][^}]*[}]/g, ''))) {
        const messages = found.get(file) ?? new Map<number, string>()
        found.set(file, messages)
        messages.set(alternative.getStart(), prefix + text)
      }
      for (const name of getNames(alternative)) {
        if (seen.has(name)) continue
        const here = values.get(file)?.get(name)
        // A function may be in another file. Constants of other files are not followed: their names repeat.
        const isCall = (): boolean => ts.isCallExpression(alternative) || alternative.getText().includes(`${name}(`)
        for (const value of here ?? (isCall() ? (everywhere.get(name) ?? []) : []))
          addMessage(value, '', new Set([...seen, name]))
      }
    }
  }
  const visit = (node: ts.Node): void => {
    const isHint = ts.isPropertyAssignment(node) && node.name.getText() === 'hint'
    for (const expression of getMessageExpressions(node, factories, classes))
      addMessage(expression, isHint ? 'hint: ' : '', new Set())
    ts.forEachChild(node, visit)
  }
  for (const file of files) visit(file)

  return [...found]
    .map(([path, messages]) => ({
      path,
      messages: [...new Set([...messages].sort(([one], [other]) => one - other).map(([, text]) => text))],
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}
