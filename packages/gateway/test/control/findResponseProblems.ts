import { z } from 'zod'
import { openApi } from '../../src/control/contract/openApi.ts'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import type { TestResponse } from './startControl.ts'

type Json = Readonly<Record<string, unknown>>
interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>
  >
}

// Serialized as it is served, which drops undefined members.
const document = JSON.parse(
  JSON.stringify(openApi({ publicUrl: 'http://localhost' })).replaceAll('#/components/schemas/', '#/$defs/'),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Json }
}

const compiled = new Map<string, z.ZodType>()

/** Compiles the served document's schema, so that responses are checked against the document and not against its source. */
const findSchema = (name: RouteName, status: string): { type: string; schema: z.ZodType } | undefined => {
  const [method = '', path = ''] = name.split(' ')
  const [content] = Object.entries(document.paths[path]?.[method.toLowerCase()]?.responses[status]?.content ?? {})
  if (content === undefined) return undefined
  const [type, { schema }] = content
  const key = `${name} ${status}`
  const known =
    compiled.get(key) ??
    z.fromJSONSchema({ ...schema, $defs: document.components.schemas } as Parameters<typeof z.fromJSONSchema>[0])
  compiled.set(key, known)
  return { type, schema: known }
}

/**
 * Checks a response against the OpenAPI document.
 * @returns The problems; empty if the response is valid.
 */
export const findResponseProblems = (
  name: RouteName,
  { status, headers, text, body }: TestResponse,
): readonly string[] => {
  const [method = '', path = ''] = name.split(' ')
  const declared = Object.keys(document.paths[path]?.[method.toLowerCase()]?.responses ?? {})
  const at = declared.includes(String(status)) ? String(status) : status >= 400 ? 'default' : undefined
  if (at === undefined) return [`${name} does not declare status ${status}`]
  const problems: string[] = []
  if (headers.get('cache-control') !== 'no-store') problems.push('is cacheable')
  if (headers.get('x-content-type-options') !== 'nosniff') problems.push('has no nosniff')
  if (headers.get('access-control-allow-origin') !== null) problems.push('has CORS headers')
  if (!/^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? '')) problems.push('has no request id')
  const expected = findSchema(name, at)
  if (expected === undefined) return text === '' ? problems : [...problems, 'has a body']
  if (headers.get('content-type')?.split(';')[0] !== expected.type) problems.push(`is not ${expected.type}`)
  const result = expected.schema.safeParse(expected.type === 'application/json' ? body : text)
  return result.success ? problems : [...problems, JSON.stringify(result.error.issues)]
}
