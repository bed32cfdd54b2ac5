import ts from 'typescript'

/** A declaration file of one entry point. */
export interface EntryDeclarations {
  /** How users import it, such as `@keyrail/core/schema`. */
  readonly name: string
  /** The text of its `.d.ts` or `.d.cts` file. */
  readonly text: string
}

const kinds = ['Functions', 'Constants', 'Classes', 'Types', 'Not exported, but used above'] as const
type Kind = (typeof kinds)[number]

interface Declared {
  readonly name: string
  readonly kind: Kind
  readonly text: string
}

/**
 * Lists the public API of a package: for each entry point its functions, constants, classes and types, sorted by name and without
 * comments, and the types that these refer to. Moving code or rewording docstrings does not change the result.
 * @param entries - Each entry point with its declaration file.
 * @throws If a file contains a statement that has no name.
 */
export function formatPublicApi(entries: readonly EntryDeclarations[]): string {
  return entries.map(writeEntry).join('\n')
}

function writeEntry({ name: entry, text }: EntryDeclarations): string {
  const file = ts.createSourceFile('index.d.ts', text, ts.ScriptTarget.Latest)
  const exported = new Map<string, string>()
  const forwarded: string[] = []
  const imported = new Map<string, string>()
  const declarations: ts.Statement[] = []
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement))
      for (const [name, line] of getImports(statement, entry)) imported.set(name, line)
    else if (!ts.isExportDeclaration(statement)) declarations.push(statement)
    else if (statement.moduleSpecifier) forwarded.push(...getForwards(statement, entry))
    else for (const { name, declaredAs } of getExports(statement)) exported.set(declaredAs, name)
  }
  const printer = ts.createPrinter({ removeComments: true })
  const declared = declarations.map((statement): Declared => {
    const name = getName(statement)
    const text = printer.printNode(ts.EmitHint.Unspecified, statement, file).replaceAll('\r', '')
    const exportedAs = exported.get(name)
    if (exportedAs === undefined) return { name, kind: 'Not exported, but used above', text }
    const alias = exportedAs === name ? '' : `// Exported as ${exportedAs}\n`
    return { name: exportedAs, kind: getKind(statement), text: alias + text }
  })
  const missing = [...exported.keys()].filter((name) => !declarations.some((one) => getName(one) === name))
  const section = (title: string, lines: readonly string[], between = '\n'): string[] =>
    lines.length === 0 ? [] : [`// ${title}\n\n${lines.join(between)}\n`]
  return [
    `// ${'='.repeat(80)}\n// ${entry}\n// ${'='.repeat(80)}\n`,
    ...section(
      'Libraries that the types need',
      file.libReferenceDirectives.map(({ fileName }) => `// ${fileName}`),
    ),
    ...section(
      'Exports of other modules',
      [
        ...forwarded,
        ...missing.map((name) => {
          const line = (imported.get(name) ?? `export { ${name} }`).replace('import type', 'export')
          return exported.get(name) === name ? line : `${line} // exported as ${exported.get(name)}`
        }),
      ].sort(),
    ),
    ...kinds.flatMap((kind) => {
      // Overloads stay in their order, which is part of their meaning: sorting is stable.
      const ofKind = declared.filter((one) => one.kind === kind).sort((one, other) => compare(one.name, other.name))
      return section(
        kind,
        ofKind.map(({ text }) => text),
        '\n\n',
      )
    }),
    ...section('Imports', [...imported.values()].sort()),
  ].join('\n')
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

const formatAlias = (declared: string, name: string): string => (declared === name ? name : `${declared} as ${name}`)

/** Returns the name under which users import a module: `./schema.js` of `@keyrail/core` is `@keyrail/core/schema`. */
const resolveModule = (specifier: ts.Expression | undefined, entry: string): string => {
  const module = specifier && ts.isStringLiteral(specifier) ? specifier.text : ''
  const own = /^[.][/](.+)[.]c?js$/.exec(module)?.[1]
  return own === undefined ? module : `${entry.split('/').slice(0, 2).join('/')}/${own}`
}

/** Returns each imported name of a statement, with the line that imports it. */
function getImports({ importClause, moduleSpecifier }: ts.ImportDeclaration, entry: string): [string, string][] {
  const from = resolveModule(moduleSpecifier, entry)
  const bindings = importClause?.namedBindings
  const names: [string, string][] = importClause?.name
    ? [[importClause.name.text, `{ default as ${importClause.name.text} }`]]
    : []
  if (bindings && ts.isNamespaceImport(bindings)) names.push([bindings.name.text, `* as ${bindings.name.text}`])
  if (bindings && ts.isNamedImports(bindings))
    for (const { name, propertyName } of bindings.elements)
      names.push([name.text, `{ ${formatAlias(propertyName?.text ?? name.text, name.text)} }`])
  return names.map(([name, binding]) => [name, `import type ${binding} from '${from}'`])
}

function getExports({ exportClause }: ts.ExportDeclaration): { readonly name: string; readonly declaredAs: string }[] {
  if (exportClause === undefined || ts.isNamespaceExport(exportClause)) throw new Error('an export has no name')
  return exportClause.elements.map(({ name, propertyName }) => ({
    name: name.text,
    declaredAs: propertyName?.text ?? name.text,
  }))
}

function getForwards(statement: ts.ExportDeclaration, entry: string): string[] {
  const from = resolveModule(statement.moduleSpecifier, entry)
  return getExports(statement).map(
    ({ name, declaredAs }) => `export { ${formatAlias(declaredAs, name)} } from '${from}'`,
  )
}

function getKind(statement: ts.Statement): Kind {
  if (ts.isFunctionDeclaration(statement)) return 'Functions'
  if (ts.isClassDeclaration(statement)) return 'Classes'
  if (!ts.isVariableStatement(statement)) return 'Types'
  const [first] = statement.declarationList.declarations
  return first?.type && ts.isFunctionTypeNode(first.type) ? 'Functions' : 'Constants'
}

function getName(statement: ts.Statement): string {
  if (ts.isVariableStatement(statement)) {
    const [first] = statement.declarationList.declarations
    if (first && ts.isIdentifier(first.name)) return first.name.text
  }
  const isNamed =
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isModuleDeclaration(statement)
  if (isNamed && statement.name) return statement.name.text
  throw new Error(`a declaration of kind ${ts.SyntaxKind[statement.kind]} has no name`)
}
