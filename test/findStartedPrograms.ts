import ts from 'typescript'

/** The functions of `node:child_process` that start a program. */
const starters: ReadonlySet<string> = new Set(['exec', 'execFile', 'execFileSync', 'execSync', 'spawn', 'spawnSync'])

/** What every machine with Node, npm, git and a shell has. */
const always: readonly string[] = ['', 'bash', 'git', 'id', 'node', 'npm', 'npx', 'ps', 'sh', 'tar']

/** What npm installs into `node_modules/.bin`, or a test installs. */
const fromNpm: readonly string[] = ['attw', 'depcruise', 'keyrail', 'oxfmt', 'tsc', 'vitepress']

const shells: ReadonlySet<string> = new Set(['bash', 'sh', 'exec', 'execSync'])

const getName = (node: ts.Node): string | undefined => {
  if (ts.isIdentifier(node)) return node.text
  return ts.isPropertyAccessExpression(node) ? node.name.text : undefined
}

/** Finds the value of a constant in a file. */
const findConstants = (file: ts.SourceFile): ReadonlyMap<string, ts.Expression> => {
  const constants = new Map<string, ts.Expression>()
  const visit = (node: ts.Node): void => {
    const isConstant = ts.isVariableDeclaration(node) && (node.parent.flags & ts.NodeFlags.Const) !== 0
    if (isConstant && ts.isIdentifier(node.name) && node.initializer) constants.set(node.name.text, node.initializer)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return constants
}

/**
 * Finds the programs that a test file starts without `getProgram`, so that it fails on a machine that lacks them.
 *
 * @param path - The path of the file.
 * @param text - Its source.
 * @param programs - The names of the programs that `scripts/externalPrograms.ts` lists.
 * @returns The source of each such program, with its line.
 */
export function findStartedPrograms(path: string, text: string, programs: readonly string[]): string[] {
  if (!text.includes('child_process') && !/\/run\.ts'/.test(text)) return []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const constants = findConstants(file)
  const inShell = new RegExp(String.raw`(?:^|[\s;&|(/])(?:${programs.join('|')})(?:\s|$)`, 'm')
  const problems: string[] = []
  const report = (node: ts.Node): void => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart())
    problems.push(`${path}:${line + 1}: ${node.getText().replaceAll(/\s+/g, ' ')}`)
  }

  /** Whether an expression is a program that is always there, or one that `getProgram` has found. */
  const isSafe = (node: ts.Expression): boolean => {
    if (ts.isStringLiteralLike(node)) return [...always, ...fromNpm].includes(node.text)
    if (ts.isAwaitExpression(node) || ts.isNonNullExpression(node)) return isSafe(node.expression)
    if (ts.isBinaryExpression(node)) return isSafe(node.left) && isSafe(node.right)
    if (ts.isConditionalExpression(node)) return isSafe(node.whenTrue) && isSafe(node.whenFalse)
    const source = node.getText()
    if (source === 'process.execPath') return true
    // Programs that npm installs, and those next to a program that was found.
    if (ts.isCallExpression(node))
      return getName(node.expression) === 'getProgram' || /node_modules|getProgram\(|\bgetBin\(/.test(source)
    const value = ts.isIdentifier(node) ? constants.get(node.text) : undefined
    // `setUpPython` returns it.
    return value === undefined ? getName(node) === 'python' : isSafe(value)
  }

  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [program] = node.arguments
      const callee = ts.isCallExpression(node.expression) ? node.expression.arguments[0] : node.expression
      const alias = callee && ts.isIdentifier(callee) ? constants.get(callee.text) : undefined
      // `promisify(execFile)(program)`, or a constant with that function.
      const started = alias && ts.isCallExpression(alias) ? alias.arguments[0] : callee
      const name = started && getName(started)
      const isMethod = started !== undefined && ts.isPropertyAccessExpression(started)
      const isStarter =
        name !== undefined && !isMethod && (starters.has(name) || (name === 'run' && /\/run\.ts'/.test(text)))
      if (isStarter && program) {
        const runsShell = shells.has(name) || (ts.isStringLiteralLike(program) && shells.has(program.text))
        const words = runsShell
          ? node.arguments.flatMap((one) => (ts.isArrayLiteralExpression(one) ? one.elements : [one]))
          : []
        const scripts = words.filter((one) => ts.isStringLiteralLike(one) || ts.isTemplateExpression(one))
        for (const script of scripts) if (inShell.test(script.getText().slice(1, -1))) report(script)
        if (!shells.has(name) && !isSafe(program)) report(program)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return problems
}
