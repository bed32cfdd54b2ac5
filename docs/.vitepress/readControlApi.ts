import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A route of the control API, as its sources declare it. Types are TypeScript. */
export interface ControlRoute {
  readonly method: string
  /** Such as `/api/apps/{appId}`. */
  readonly path: string
  readonly summary: string
  readonly doc: string
  /** `anyone`, `session`, `operator` or the scope of an access token. */
  readonly access: string
  readonly status: number
  /** Whether a session older than 15 minutes must send the password. `'factor'`: it always must, and prove its second factor. */
  readonly confirms: boolean | 'factor'
  readonly query: string | undefined
  readonly body: string | undefined
  readonly response: string | undefined
}

/** An exported type of the control API. */
export interface ControlType {
  readonly name: string
  readonly doc: string
  /** The declaration as it is written, with the docs of its members. */
  readonly declaration: string
  /** The interfaces that it extends. */
  readonly bases: readonly string[]
  /** Its own members, if it is an interface. */
  readonly members: readonly { readonly name: string; readonly isRequired: boolean; readonly type: string }[]
}

/**
 * Reads the routes and types of the control API from the sources of the gateway, without running them.
 * @param top - The top of the workspace.
 */
export function readControlApi(top: string): {
  readonly routes: readonly ControlRoute[]
  readonly types: ReadonlyMap<string, ControlType>
} {
  const folder = join(top, 'packages/gateway/src/control')
  const declarations = parse(join(folder, 'contract/controlApi.d.ts'))
  const types = new Map<string, ControlType>()
  for (const statement of declarations.statements) {
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)
    if (isType) types.set(statement.name.text, toType(statement))
  }
  const files = globSync('routes/*Routes.ts', { cwd: folder }).map((file) => parse(join(folder, file)))
  return { types, routes: readRoutes(declarations, new Map(files.flatMap(readFacts))) }
}

const parse = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)

const getDoc = (node: ts.Node): string =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .trim()

function toType(statement: ts.InterfaceDeclaration | ts.TypeAliasDeclaration): ControlType {
  const isInterface = ts.isInterfaceDeclaration(statement)
  const members = isInterface ? statement.members.filter(ts.isPropertySignature) : []
  const clauses = isInterface ? (statement.heritageClauses ?? []) : []
  return {
    name: statement.name.text,
    doc: getDoc(statement),
    declaration: statement.getText().replace(/^export /, ''),
    bases: clauses.flatMap((clause) => clause.types.map(({ expression }) => expression.getText())),
    members: members.map(({ name, questionToken, type }) => ({
      name: name.getText(),
      isRequired: questionToken === undefined,
      type: type?.getText() ?? 'unknown',
    })),
  }
}

/** Reads the calls of `route`: the members of each that are literals, by the route's name. */
function readFacts(node: ts.Node): readonly (readonly [string, ReadonlyMap<string, string>])[] {
  if (ts.isCallExpression(node) && node.expression.getText() === 'route') {
    const [name, facts] = node.arguments as unknown as readonly [ts.StringLiteral, ts.ObjectLiteralExpression]
    const literals = facts.properties.filter(ts.isPropertyAssignment).map((member) => {
      const { initializer: value } = member
      return [member.name.getText(), ts.isStringLiteralLike(value) ? value.text : value.getText()] as const
    })
    return [[name.text, new Map(literals)]]
  }
  const found: (readonly [string, ReadonlyMap<string, string>])[] = []
  ts.forEachChild(node, (child) => void found.push(...readFacts(child)))
  return found
}

function readRoutes(
  source: ts.SourceFile,
  table: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly ControlRoute[] {
  const api = source.statements.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === 'ControlApi')
  if (!api) throw new Error('controlApi.d.ts has no interface ControlApi')
  return api.members.filter(ts.isPropertySignature).map((member) => {
    const name = (member.name as ts.StringLiteral).text
    const [call] = (member.type as ts.TypeReferenceNode).typeArguments ?? []
    const parts = call && ts.isTypeLiteralNode(call) ? call.members.filter(ts.isPropertySignature) : []
    const getPart = (part: string): string | undefined =>
      parts
        .find((one) => one.name.getText() === part)
        ?.type?.getText()
        .replaceAll(/\s+/g, ' ')
    const facts = table.get(name)
    if (facts === undefined) throw new Error(`no call of route() has ${name}`)
    const [method = '', path = ''] = name.split(' ')
    return {
      method,
      path,
      summary: facts.get('summary') ?? '',
      doc: facts.get('description') ?? '',
      access: facts.get('access') ?? '',
      status: Number(facts.get('status') ?? (facts.has('response') ? 200 : 204)),
      confirms: facts.get('confirms') === 'factor' ? 'factor' : facts.get('confirms') === 'true',
      query: getPart('query'),
      body: getPart('body'),
      response: getPart('response'),
    }
  })
}
