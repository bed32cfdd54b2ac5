import { z } from 'zod'
import { apiErrorView } from './apiError.ts'
import { isTokenScope } from '../roles.ts'
import { routes } from '../routes.ts'
import type { Route } from '../route.ts'

type Json = Readonly<Record<string, unknown>>

const statusTexts: Readonly<Record<number, string>> = {
  200: 'Success.',
  201: 'Created.',
  204: 'Success, without a body.',
}

const toSecurity = ({ access }: Route): readonly Json[] => {
  if (access === 'anyone') return []
  if (access === 'session' || !(access === 'operator' || isTokenScope(access))) return [{ session: [] }]
  if (access === 'operator') return [{ session: [] }, { operatorToken: [] }]
  return [{ session: [] }, { accessToken: [access] }]
}

const accountParameter: Json = {
  name: 'X-Keyrail-Account',
  in: 'header',
  required: false,
  description:
    'The id of the account that the request acts for, from `GET /api/accounts`. Default: the personal account, or that of the access token.',
  schema: { type: 'string' },
}

/** Removes noise: the pattern of dates, and the limits of safe integers. Writes defaults as a sentence. */
const simplifySchema = ({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void => {
  if (jsonSchema['format'] === 'date-time') delete jsonSchema['pattern']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
  const { description } = jsonSchema
  if (typeof description === 'string') jsonSchema['description'] = description.replace(/@default (.*)$/, 'Default: $1.')
}

/** Collects named schemas, so that each is in the document once. */
const createSchemas = (): { toJson(schema: z.ZodType, io: 'input' | 'output'): Json; all: Record<string, unknown> } => {
  const all: Record<string, unknown> = {}
  return {
    all,
    toJson: (schema, io) => {
      const {
        $schema: _,
        $defs = {},
        ...rest
      } = z.toJSONSchema(schema, { io, override: simplifySchema }) as Record<string, unknown>
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

const toParameters = (schema: Json, place: 'path' | 'query'): readonly Json[] => {
  const required = (schema['required'] ?? []) as readonly string[]
  return Object.entries((schema['properties'] ?? {}) as Record<string, Json>).map(([name, of]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: of,
  }))
}

/**
 * Generates the OpenAPI document of the control API from its route table.
 * @param options.publicUrl - The base URL of the control API.
 * @returns The document, ready to serialize as JSON.
 * @see OpenAPI Specification 3.1
 */
export const openApi = ({ publicUrl }: { publicUrl: string }): Json => {
  const schemas = createSchemas()
  const errorResponse = {
    description: 'Error. The body contains its code and how to fix it.',
    content: { 'application/json': { schema: schemas.toJson(apiErrorView, 'output') } },
  }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const { name, summary, description, params, query, body, response, status, type = 'application/json' } = route
    const [method = '', path = ''] = name.split(' ')
    const parameters = [
      ...(['anyone', 'session', 'operator'].includes(route.access) ? [] : [accountParameter]),
      ...(params === undefined ? [] : toParameters(schemas.toJson(params, 'input'), 'path')),
      ...(query === undefined ? [] : toParameters(schemas.toJson(query, 'input'), 'query')),
    ]
    ;(paths[path] ??= {})[method.toLowerCase()] = {
      operationId: toOperationId(method, path),
      summary,
      ...(description === undefined ? {} : { description }),
      security: toSecurity(route),
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(body === undefined
        ? {}
        : {
            requestBody: { required: true, content: { 'application/json': { schema: schemas.toJson(body, 'input') } } },
          }),
      responses: {
        [status]: {
          description: statusTexts[status],
          ...(response === undefined ? {} : { content: { [type]: { schema: schemas.toJson(response, 'output') } } }),
        },
        default: errorResponse,
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
            'Set when you log in. Over HTTP, which works only on the local machine, its name is keyrail-session. Writes must come from a page of the same origin.',
        },
        accessToken: { type: 'http', scheme: 'bearer', description: 'A personal access token, krp_…' },
        operatorToken: { type: 'http', scheme: 'bearer', description: "The operator's token, from the configuration." },
      },
    },
  }
}

/** Turns `GET /api/apps/{appId}/allow-list` into `getAppsAppIdAllowList`. */
const toOperationId = (method: string, path: string): string =>
  method.toLowerCase() +
  path
    .replace('/api', '')
    .split(/[^a-z0-9]+/i)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
