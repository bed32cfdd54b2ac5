import ts from 'typescript'

/**
 * Lists what users' code compiles against: the names that a package exports, and every declaration that they lead to, without comments
 * and each in its place by name. What only moves in the sources changes nothing here; what changes for users' compilers does.
 * @param declarations - The text of the package's declaration file, with all of its types in it.
 * @throws Where it holds what has no name.
 */
export function publicFace(declarations: string): string {
  const file = ts.createSourceFile('index.d.ts', declarations, ts.ScriptTarget.Latest)
  const printer = ts.createPrinter({ removeComments: true })
  const exported: string[] = []
  const imported: string[] = []
  const declared: { name: string; text: string }[] = []
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) imported.push(...importsOf(statement))
    else if (ts.isExportDeclaration(statement)) exported.push(...exportsOf(statement))
    else {
      const text = printer.printNode(ts.EmitHint.Unspecified, statement, file)
      declared.push({ name: nameOf(statement), text })
    }
  }
  return [
    ...file.libReferenceDirectives.map(({ fileName }) => `/// <reference lib="${fileName}" />`),
    ...exported.sort(),
    ...imported.sort(),
    // Overloads stay in their order, which is part of what they mean.
    ...declared.sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name))).map(asLines),
  ].join('\n')
}

const asLines = ({ text }: { readonly text: string }): string => `\n${text.replaceAll('\r', '')}`

const named = (elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]): string[] =>
  elements.map(({ name, propertyName }) =>
    propertyName === undefined ? name.text : `${propertyName.text} as ${name.text}`,
  )

function importsOf({ importClause, moduleSpecifier }: ts.ImportDeclaration): string[] {
  const from = ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : ''
  const bindings = importClause?.namedBindings
  const names = [
    ...(importClause?.name === undefined ? [] : [`default as ${importClause.name.text}`]),
    ...(bindings === undefined
      ? []
      : ts.isNamedImports(bindings)
        ? named(bindings.elements)
        : [`* as ${bindings.name.text}`]),
  ]
  return names.map((name) => `import { ${name} } from '${from}'`)
}

function exportsOf({ exportClause, isTypeOnly, moduleSpecifier }: ts.ExportDeclaration): string[] {
  if (exportClause === undefined || ts.isNamespaceExport(exportClause)) throw new Error('an export has no name')
  const from = moduleSpecifier && ts.isStringLiteral(moduleSpecifier) ? ` from '${moduleSpecifier.text}'` : ''
  const types = exportClause.elements.map((element) => isTypeOnly || element.isTypeOnly)
  return named(exportClause.elements).map((name, index) => `export ${types[index] ? 'type ' : ''}{ ${name} }${from}`)
}

function nameOf(statement: ts.Statement): string {
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
  throw new Error(`a declaration of kind ${ts.SyntaxKind[statement.kind]} has no name here`)
}
