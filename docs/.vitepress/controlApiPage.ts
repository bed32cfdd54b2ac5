import { headingSlug } from './headingSlug.ts'
import { readControlApi } from './readControlApi.ts'
import type { ControlRoute, ControlType } from './readControlApi.ts'

type Types = ReadonlyMap<string, ControlType>

/** The sections of the page, by the start of the paths of their routes after `/api/`. The first match counts. */
const sections: readonly (readonly [title: string, path: RegExp])[] = [
  ['The service', /^(deployment|networks|openapi)/],
  ['Account and session', /^(account|session)/],
  ['Apps', /^apps(?!\/\{appId\}\/(allow-list|jwt-keys))/],
  ['Allow lists', /^apps\/\{appId\}\/allow-list/],
  ['JWT keys', /^apps\/\{appId\}\/jwt-keys/],
  ['API keys', /^keys/],
  ['Usage and metrics', /^(activity|usage|metrics)/],
  ['Access tokens', /^tokens/],
  ['Alerts', /^alerts/],
  ['Audit log', /^audit-log/],
  ['Operators', /^admin/],
  ['More', /^/],
]

/**
 * Writes the reference of the control API: each route with its access, a curl command, its input, response and errors; then the types.
 * @param top - The top of the workspace.
 * @returns Markdown.
 */
export function controlApiPage(top: string): string {
  const { routes, types } = readControlApi(top)
  const bySection = new Map<string, ControlRoute[]>()
  for (const route of routes) {
    const [title = ''] = sections.find(([, path]) => path.test(route.path.slice('/api/'.length))) ?? []
    bySection.set(title, [...(bySection.get(title) ?? []), route])
  }
  const shown = listTypes(
    routes.flatMap(({ response = '' }) => response),
    types,
  )
  return `${[
    '# Control API reference',
    about,
    ...sections.flatMap(([title]) => {
      const own = bySection.get(title)
      return own === undefined ? [] : [`## ${title}`, ...own.map((route) => writeRoute(route, types, shown))]
    }),
    '## Types',
    ...shown.map((name) => writeType(types.get(name) as ControlType)),
  ].join('\n\n')}\n`
}

const about = `Every route of the service's control API. [Control API](/service/control-api.md) explains access tokens, conventions and [errors](/service/control-api.md#errors), and has a complete client in TypeScript.

The commands below use these variables:

\`\`\`sh
export KEYRAIL_SERVICE_URL=https://rpc.example.org
export KEYRAIL_TOKEN=krp_…
\`\`\`

Any route can also respond with \`too_many_requests\`, \`busy\`, \`unavailable\` or \`internal\`. The errors of a route are those that its input can cause; your client should treat an unknown code by its HTTP status.`

const access: Readonly<Record<string, string>> = {
  anyone: 'none needed',
  session: 'a browser session',
  operator: "an operator's session, or the operator token",
  reveal: 'a browser session of an owner, admin or developer of the account',
  manage: 'a browser session of an owner or admin of the account',
  own: 'a browser session of a member of the account',
  rules: 'a browser session of an owner of the account',
  delete: 'a browser session of an owner of the account',
}

function writeRoute(route: ControlRoute, types: Types, shown: readonly string[]): string {
  const { method, path, summary, doc, query, body, response, status } = route
  const input = [['Query', query] as const, ['Body', body] as const].flatMap(([title, type]) =>
    type === undefined ? [] : [`**${title}**`, fence('ts', formatDeclarations(type, types))],
  )
  const errors = listErrors(route, types)
  return [
    `### \`${method} ${path}\``,
    [summary, doc].join(' ').trim(),
    `**Access:** ${access[route.access] ?? `a session, or an access token with the scope \`${route.access}\``}.`,
    fence('sh', formatCurl(route, types)),
    ...input,
    `**Response:** ${status}${response === undefined ? ', without a body' : ` ${linkTypes(response, shown)}`}.`,
    ...(errors.length === 0 ? [] : [`**Errors:** ${errors.map((code) => `\`${code}\``).join(', ')}.`]),
  ].join('\n\n')
}

const fence = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

/** Returns a named type and the types that it extends. */
function getFamily(name: string, types: Types): readonly ControlType[] {
  const type = types.get(name)
  return type === undefined ? [] : [type, ...type.bases.flatMap((base) => getFamily(base, types))]
}

const formatDeclarations = (type: string, types: Types): string =>
  getFamily(type, types)
    .map(({ declaration }) => declaration)
    .join('\n\n') || type

const getNames = (type: string): readonly string[] => [...type.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name)

/** Lists the types that are named, and those that they name, in alphabetical order. */
function listTypes(texts: readonly string[], types: Types): readonly string[] {
  const found = new Set<string>()
  const visit = (text: string): void => {
    for (const name of getNames(text)) {
      const type = types.get(name)
      if (type === undefined || found.has(name)) continue
      found.add(name)
      visit(type.declaration.replaceAll(/\/\*\*[\s\S]*?\*\//g, ''))
    }
  }
  for (const text of texts) visit(text)
  return [...found].sort((a, b) => a.localeCompare(b))
}

const writeType = ({ name, doc, declaration }: ControlType): string =>
  [`### ${name}`, ...(doc === '' ? [] : [doc]), fence('ts', declaration)].join('\n\n')

function linkTypes(type: string, shown: readonly string[]): string {
  const links = getNames(type)
    .filter((name) => shown.includes(name))
    .map((name) => `[${name}](#${headingSlug(name)})`)
  const isOneName = links.length === 1 && /^\w+$/.test(type)
  if (isOneName) return links[0] as string
  return `\`${type}\`${links.length === 0 ? '' : ` (${links.join(', ')})`}`
}

function formatCurl(route: ControlRoute, types: Types): string {
  const { method, path, body } = route
  const url = `"$KEYRAIL_SERVICE_URL${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${toVariable(name)}`)}"`
  const verb = method === 'GET' || (method === 'POST' && body !== undefined) ? '' : ` -X ${method}`
  return [
    `curl${verb} ${url}`,
    ...credentials(route.access),
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d '${JSON.stringify(getSample(body, types))}'`]),
  ].join(' \\\n  ')
}

/** What a token can be used for. */
const tokenAccess: readonly string[] = ['read', 'apps:write', 'keys:write', 'members', 'operator']

/** The options of curl that authenticate. A session is a cookie of a browser, and its writes need the origin of the service. */
function credentials(who: string): readonly string[] {
  if (who === 'anyone') return []
  if (!tokenAccess.includes(who)) return ['-b "__Host-keyrail-session=$SESSION"', '-H "Origin: $KEYRAIL_SERVICE_URL"']
  return ['-H "Authorization: Bearer $KEYRAIL_TOKEN"']
}

/** Turns `appId` into `APP_ID`. */
const toVariable = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/** Sample values of members of bodies, by name. */
const samples: Readonly<Record<string, unknown>> = {
  name: 'Shop',
  useCase: 'Payments',
  chain: 'ethereum',
  services: ['Node API'],
  network: 'mainnet',
  version: 1,
  graceDays: 7,
  minutes: 10,
  minCalls: 100,
  expiresAt: '2030-01-01T00:00:00.000Z',
  email: 'ann@example.org',
  current: 'the old password',
  password: 'a long new password',
  next: 'a long new password',
  token: 'eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjB9.c2ln',
  type: 'origin',
  value: 'https://shop.example.org',
  label: 'Production',
  pem: '-----BEGIN PUBLIC KEY-----\n…',
  url: 'https://hooks.example.org/keyrail',
  scopes: ['read'],
  days: 7,
  limits: null,
  role: 'viewer',
  accountId: 'acc_0123456789abcdefghij',
  userId: 'usr_0123456789abcdefghij',
  link: 'https://rpc.example.org/…',
  code: '123456',
  passkey: { id: 'bXk', clientDataJSON: 'e30', authenticatorData: 'ZGF0YQ', signature: 'c2ln', userHandle: 'dXNy' },
}

/** Samples of bodies that need one of several members. */
const bodySamples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  AddFactorBody: { label: 'Phone', totp: { setup: 'c2V0dXA', code: '123456' } },
}

/** A body with all required members, or the first optional one. */
export function getSample(type: string, types: Types): Readonly<Record<string, unknown>> {
  const body = bodySamples[type]
  if (body !== undefined) return body
  const members = getFamily(type, types).flatMap((one) => one.members)
  const required = members.filter(({ isRequired }) => isRequired)
  const [first] = members.filter(({ isRequired }) => !isRequired)
  const isAlmostEmpty = required.every(({ name }) => name === 'version')
  const chosen = isAlmostEmpty && first !== undefined ? [...required, first] : required
  return Object.fromEntries(chosen.map(({ name, type: of }) => [name, samples[name] ?? getSampleOfType(of)]))
}

const getSampleOfType = (type: string): unknown => {
  if (type === 'boolean') return true
  if (type === 'number') return 1
  if (type.startsWith('readonly ')) return []
  return type.includes('null') ? null : '…'
}

function listErrors({ access: who, path, query, body, confirms }: ControlRoute, types: Types): readonly string[] {
  const hasVersion = getFamily(body ?? '', types).some(({ members }) => members.some(({ name }) => name === 'version'))
  return [
    ...(who === 'anyone' ? [] : ['not_logged_in']),
    ...(who === 'anyone' || tokenAccess.includes(who) ? [] : ['session_required']),
    ...(tokenAccess.includes(who) ? ['forbidden'] : []),
    ...(['anyone', 'session', 'operator'].includes(who) ? [] : ['role_required', 'unknown_account']),
    ...(confirms === true ? ['confirm_required'] : []),
    ...(confirms === false ? [] : ['wrong_password', 'second_factor_confirm_required']),
    ...(path.includes('{') ? ['not_found'] : []),
    ...(body === undefined ? [] : ['bad_json', 'bad_media_type', 'body_too_large']),
    ...(body === undefined && query === undefined ? [] : ['invalid']),
    ...(hasVersion ? ['version_conflict'] : []),
  ]
}
