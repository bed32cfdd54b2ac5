import { z } from 'zod'
import { apiErrorView } from './apiError.ts'
import { routeNames, routeOf } from './routes.ts'
import type { AnyRoute } from './route.ts'

type Json = Readonly<Record<string, unknown>>

const statusTexts: Readonly<Record<number, string>> = { 200: 'Done.', 201: 'Made.', 204: 'Done; there is no body.' }

const securityOf = ({ who }: AnyRoute): readonly Json[] => {
  if (who === 'anyone') return []
  if (who === 'session') return [{ session: [] }]
  if (who === 'operator') return [{ session: [] }, { operatorToken: [] }]
  return [{ session: [] }, { accessToken: [who] }]
}

/** Leaves out what says nothing to a reader: how a date is matched, and the ends of what numbers can be. */
const plainer = ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
  if (jsonSchema['format'] === 'date-time') delete jsonSchema['pattern']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
}

/** Collects what schemas name, so that each stands in the document once. */
const createSchemas = (): { of(schema: z.ZodType, io: 'input' | 'output'): Json; all: Record<string, unknown> } => {
  const all: Record<string, unknown> = {}
  return {
    all,
    of: (schema, io) => {
      const {
        $schema: _,
        $defs = {},
        ...rest
      } = z.toJSONSchema(schema, { io, override: plainer }) as Record<string, unknown>
      const { id, ...named } = rest
      const moved = JSON.parse(JSON.stringify({ $defs, named }).replaceAll('#/$defs/', '#/components/schemas/')) as {
        $defs: Record<string, unknown>
        named: Json
      }
      for (const [name, definition] of Object.entries(moved.$defs)) {
        const { id: __, ...plain } = definition as Record<string, unknown>
        all[name] ??= plain
      }
      if (typeof id !== 'string') return moved.named
      all[id] ??= moved.named
      return { $ref: `#/components/schemas/${id}` }
    },
  }
}

const parametersOf = (schema: Json, place: 'path' | 'query'): readonly Json[] => {
  const required = (schema['required'] ?? []) as readonly string[]
  return Object.entries((schema['properties'] ?? {}) as Record<string, Json>).map(([name, of]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: of,
  }))
}

/**
 * Writes the control API down as an OpenAPI document, from the table of its routes.
 * @param options.publicUrl - Where it is reached.
 * @returns The document, ready to be sent as JSON.
 * @see OpenAPI Specification 3.1
 */
export const openApi = ({ publicUrl }: { publicUrl: string }): Json => {
  const schemas = createSchemas()
  const rejection = {
    description: 'Rejected: the body says why.',
    content: { 'application/json': { schema: schemas.of(apiErrorView, 'output') } },
  }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const name of routeNames) {
    const [method = '', path = ''] = name.split(' ')
    const route = routeOf(name)
    const { params, query, body, answer, status, type = 'application/json' } = route
    const parameters = [
      ...(params === undefined ? [] : parametersOf(schemas.of(params, 'input'), 'path')),
      ...(query === undefined ? [] : parametersOf(schemas.of(query, 'input'), 'query')),
    ]
    ;(paths[path] ??= {})[method.toLowerCase()] = {
      operationId: operationIdOf(method, path),
      summary: route.summary,
      security: securityOf(route),
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(body === undefined
        ? {}
        : { requestBody: { required: true, content: { 'application/json': { schema: schemas.of(body, 'input') } } } }),
      responses: {
        [status]: {
          description: statusTexts[status],
          ...(answer === undefined ? {} : { content: { [type]: { schema: schemas.of(answer, 'output') } } }),
        },
        default: rejection,
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Keyrail control API', version: '1' },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      schemas: schemas.all,
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-keyrail-session',
          description:
            'Set by logging in. Over http, on this machine alone, its name is keyrail-session. Writes must come from a page of the same origin.',
        },
        accessToken: { type: 'http', scheme: 'bearer', description: 'A personal access token, krp_…' },
        operatorToken: { type: 'http', scheme: 'bearer', description: "The operator's token, from the configuration." },
      },
    },
  }
}

/** `GET /api/apps/{appId}/allow-list` is `getAppsAppIdAllowList`. */
const operationIdOf = (method: string, path: string): string =>
  method.toLowerCase() +
  path
    .replace('/api', '')
    .split(/[^a-z0-9]+/i)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
