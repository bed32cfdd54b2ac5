import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** An export of a package. */
export interface Exported {
  readonly name: string
  /** Whether it exists only for the compiler. */
  readonly isType: boolean
  /** The package that it is re-exported from, such as `@keyrail/core`. */
  readonly reExportedFrom?: string
  /** The source file, from the package's `src`. */
  readonly file?: string
  /** Its declarations as they are written, without bodies; several if a function is overloaded. */
  readonly declarations: readonly string[]
  readonly doc: Doc
}

/** A parsed docblock. Texts are Markdown, with `{@link …}` unchanged. */
export interface Doc {
  readonly text: string
  readonly params: readonly { readonly name: string; readonly text: string }[]
  readonly returns: string
  readonly throws: readonly string[]
  readonly examples: readonly string[]
  readonly see: readonly string[]
}

/**
 * Reads the exports of a package from its sources. Types need not be inferred, because every export of this workspace declares its type.
 * @param index - The package's `src/index.ts`, which only exports by name.
 * @throws If the named file does not contain an export.
 */
export function readExports(index: string): readonly Exported[] {
  return parse(index)
    .statements.filter(ts.isExportDeclaration)
    .flatMap((statement) => {
      const { exportClause, moduleSpecifier, isTypeOnly } = statement
      if (!exportClause || !ts.isNamedExports(exportClause) || !moduleSpecifier) return []
      const from = (moduleSpecifier as ts.StringLiteral).text
      return exportClause.elements.map((element): Exported => {
        const name = element.name.text
        const isType = isTypeOnly || element.isTypeOnly
        if (!from.startsWith('.')) return { name, isType, reExportedFrom: from, declarations: [], doc: emptyDoc }
        return { isType, ...find(join(dirname(index), from), element.propertyName?.text ?? name), name, file: from }
      })
    })
}

const emptyDoc: Doc = { text: '', params: [], returns: '', throws: [], examples: [], see: [] }

const parsed = new Map<string, ts.SourceFile>()

function parse(file: string): ts.SourceFile {
  const known = parsed.get(file)
  if (known) return known
  const made = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  parsed.set(file, made)
  return made
}

function find(file: string, name: string): Pick<Exported, 'declarations' | 'doc'> {
  const source = parse(file)
  const found = source.statements.filter((statement) => getNames(statement).includes(name))
  if (found.length > 0) {
    const declarations = found.filter((one) => !isImplementation(one, found)).map(declarationText)
    return { declarations, doc: readDoc(found[0] as ts.Statement) }
  }
  for (const statement of source.statements.filter(ts.isExportDeclaration)) {
    const { exportClause, moduleSpecifier } = statement
    if (!exportClause || !ts.isNamedExports(exportClause) || !moduleSpecifier) continue
    const element = exportClause.elements.find((one) => one.name.text === name)
    const from = (moduleSpecifier as ts.StringLiteral).text
    if (element && from.startsWith('.')) return find(join(dirname(file), from), element.propertyName?.text ?? name)
  }
  throw new Error(`${file} does not export ${name}`)
}

function getNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.getText())
  const { name } = statement as ts.DeclarationStatement
  return name ? [name.getText()] : []
}

/** Whether a declaration is the implementation of an overloaded function, which callers do not see. */
const isImplementation = (statement: ts.Statement, all: readonly ts.Statement[]): boolean =>
  all.length > 1 && ts.isFunctionDeclaration(statement) && statement.body !== undefined

function declarationText(statement: ts.Statement): string {
  const text = withoutKeywords(statement.getText())
  const upTo = (node: ts.Node): string =>
    withoutKeywords(statement.getSourceFile().text.slice(statement.getStart(), node.getStart()))
  if (ts.isFunctionDeclaration(statement)) return statement.body ? upTo(statement.body) : text
  if (ts.isClassDeclaration(statement)) return classText(statement)
  if (!ts.isVariableStatement(statement)) return text
  const [declaration] = statement.declarationList.declarations
  const value = declaration?.initializer
  if (!declaration || !value) return text
  if (!ts.isArrowFunction(value)) return upTo(value).replace(/\s*=$/, '')
  const head = statement.getSourceFile().text.slice(value.getStart(), value.equalsGreaterThanToken.getStart())
  return `const ${declaration.name.getText()} = ${head.trimEnd()}`
}

const withoutKeywords = (text: string): string => text.replace(/^export (async )?/, '').trimEnd()

/** A class without private members and bodies. */
function classText(node: ts.ClassDeclaration): string {
  const source = node.getSourceFile().text
  const [opening] = node.members
  const head = source.slice(node.getStart(), opening ? opening.getFullStart() : node.end).replace(/^export /, '')
  const members = node.members.flatMap((member) => {
    const name = member.name?.getText() ?? ''
    if (name.startsWith('#') || name.startsWith('_')) return []
    const body = (member as ts.MethodDeclaration).body
    const docs = source.slice(member.getFullStart(), member.getStart()).trim()
    const end = body ? body.getStart() : member.end
    return [[docs, source.slice(member.getStart(), end).trim()].filter(Boolean).join('\n  ')]
  })
  return `${head.trimEnd()}\n  ${members.join('\n  ')}\n}`
}

function readDoc(statement: ts.Statement): Doc {
  const blocks = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc)
  const block = blocks.at(-1)
  if (!block) return emptyDoc
  const tags: readonly ts.JSDocTag[] = block.tags ?? []
  const named = (name: string): string[] =>
    tags
      .filter(({ tagName }) => tagName.text === name)
      .map((tag) => `${getThrownType(tag)}${asText(tag.comment)}`.trim())
  return {
    text: asText(block.comment),
    params: tags.filter(ts.isJSDocParameterTag).map((tag) => ({
      name: tag.name.getText(),
      text: asText(tag.comment).replace(/^-\s*/, ''),
    })),
    returns: named('returns').join(' '),
    throws: named('throws'),
    examples: named('example'),
    see: tags.filter(ts.isJSDocSeeTag).map((tag) => seeText(tag)),
  }
}

/** The class in `@throws {KeyrailError} kind …`. */
const getThrownType = (tag: ts.JSDocTag): string =>
  ts.isJSDocThrowsTag(tag) && tag.typeExpression ? `\`${tag.typeExpression.type.getText()}\` ` : ''

/** The text of a `@see` tag. The compiler parses its first word as a name. */
const seeText = (tag: ts.JSDocSeeTag): string =>
  tag
    .getText()
    .replace(/^@see\s*/, '')
    .replaceAll(/\s*\n\s*\*?\s*/g, ' ')
    .trim()

const asText = (comment: string | ts.NodeArray<ts.JSDocComment> | undefined): string =>
  (ts.getTextOfJSDocComment(comment) ?? '').trim()
