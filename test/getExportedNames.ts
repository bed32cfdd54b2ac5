import ts from 'typescript'

/** The named exports of a module. */
export interface ExportedNames {
  /** Exports that are only types: interfaces, type aliases, and names in `export type`. */
  readonly types: readonly string[]
  /** Exports that exist at run time, including classes. */
  readonly values: readonly string[]
}

/**
 * Lists the named exports of a source file.
 * @param source - The text of a TypeScript file or a declaration file.
 * @throws If an export has no name in the text: `export *` or a default export.
 */
export function getExportedNames(source: string): ExportedNames {
  const types: string[] = []
  const values: string[] = []
  for (const statement of ts.createSourceFile('module.ts', source, ts.ScriptTarget.Latest).statements) {
    if (ts.isExportAssignment(statement)) throw new Error('a default export has no name')
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, isTypeOnly } = statement
      if (!exportClause) throw new Error('the exports of `export *` are unknown')
      const names = ts.isNamespaceExport(exportClause)
        ? [{ name: exportClause.name.text, type: isTypeOnly }]
        : exportClause.elements.map((element) => ({ name: element.name.text, type: isTypeOnly || element.isTypeOnly }))
      for (const { name, type } of names) (type ? types : values).push(name)
    } else if (ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExport)) {
      if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) types.push(statement.name.text)
      else if (ts.isVariableStatement(statement))
        values.push(...statement.declarationList.declarations.map(({ name }) => getName(name)))
      else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
        values.push(getName(statement.name))
      else throw new Error(`an export of kind ${ts.SyntaxKind[statement.kind]} is not supported`)
    }
  }
  return { types: [...new Set(types)].sort(), values: [...new Set(values)].sort() }
}

const isExport = ({ kind }: ts.ModifierLike): boolean => kind === ts.SyntaxKind.ExportKeyword

function getName(name: ts.BindingName | ts.Identifier | undefined): string {
  if (!name || !ts.isIdentifier(name)) throw new Error('an export must have a plain name')
  return name.text
}
