import { z } from 'zod'
import { openApi } from '../../src/control/contract/openApi.ts'
import type { RouteName } from '../../src/control/contract/route.ts'
import type { Answered } from './startControl.ts'

type Json = Readonly<Record<string, unknown>>
interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>
  >
}

// As it is served: what no JSON can say is not in it.
const document = JSON.parse(
  JSON.stringify(openApi({ publicUrl: 'http://localhost' })).replaceAll('#/components/schemas/', '#/$defs/'),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Json }
}

const compiled = new Map<string, z.ZodType>()

/** Reads the document's schema back, so that an answer is held against what is served and not against what it was made from. */
const schemaAt = (name: RouteName, status: string): { type: string; schema: z.ZodType } | undefined => {
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
 * What in an answer is not as the OpenAPI document says.
 * @returns Faults, in words; none where it is right.
 */
export const answerFaults = (name: RouteName, { status, headers, text, body }: Answered): readonly string[] => {
  const [method = '', path = ''] = name.split(' ')
  const declared = Object.keys(document.paths[path]?.[method.toLowerCase()]?.responses ?? {})
  const at = declared.includes(String(status)) ? String(status) : status >= 400 ? 'default' : undefined
  if (at === undefined) return [`${name} is not declared to answer ${status}`]
  const faults: string[] = []
  if (headers.get('cache-control') !== 'no-store') faults.push('is not no-store')
  if (headers.get('x-content-type-options') !== 'nosniff') faults.push('may be sniffed')
  if (headers.get('access-control-allow-origin') !== null) faults.push('may be read by other sites')
  if (!/^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? '')) faults.push('has no request id')
  const expected = schemaAt(name, at)
  if (expected === undefined) return text === '' ? faults : [...faults, 'has a body']
  if (headers.get('content-type')?.split(';')[0] !== expected.type) faults.push(`is no ${expected.type}`)
  const result = expected.schema.safeParse(expected.type === 'application/json' ? body : text)
  return result.success ? faults : [...faults, JSON.stringify(result.error.issues)]
}
