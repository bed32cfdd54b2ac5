import ts from 'typescript'

/** What a module exports by name. */
export interface ExportedNames {
  /** Usable as types only: interfaces, type aliases, and what is exported by `export type`. */
  readonly types: readonly string[]
  /** Usable at run time; classes among them. */
  readonly values: readonly string[]
}

/**
 * Lists what a source file exports by name, from its text alone.
 * @param source - TypeScript, also the text of a declaration file.
 * @throws Where it exports what has no name here: `export *` or a default.
 */
export function exportedNames(source: string): ExportedNames {
  const types: string[] = []
  const values: string[] = []
  for (const statement of ts.createSourceFile('module.ts', source, ts.ScriptTarget.Latest).statements) {
    if (ts.isExportAssignment(statement)) throw new Error('a default export has no name')
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, isTypeOnly } = statement
      if (!exportClause) throw new Error('what `export *` brings is not said')
      const names = ts.isNamespaceExport(exportClause)
        ? [{ name: exportClause.name.text, type: isTypeOnly }]
        : exportClause.elements.map((element) => ({ name: element.name.text, type: isTypeOnly || element.isTypeOnly }))
      for (const { name, type } of names) (type ? types : values).push(name)
    } else if (ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some(isExport)) {
      if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) types.push(statement.name.text)
      else if (ts.isVariableStatement(statement))
        values.push(...statement.declarationList.declarations.map(({ name }) => nameOf(name)))
      else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
        values.push(nameOf(statement.name))
      else throw new Error(`an export of kind ${ts.SyntaxKind[statement.kind]} is not read`)
    }
  }
  return { types: [...new Set(types)].sort(), values: [...new Set(values)].sort() }
}

const isExport = ({ kind }: ts.ModifierLike): boolean => kind === ts.SyntaxKind.ExportKeyword

function nameOf(name: ts.BindingName | ts.Identifier | undefined): string {
  if (!name || !ts.isIdentifier(name)) throw new Error('an export must have a plain name')
  return name.text
}
