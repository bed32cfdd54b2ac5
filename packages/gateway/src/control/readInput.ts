import type { z } from 'zod'
import type { Route } from './route.ts'
import { apiErrors } from './apiErrors.ts'
import { isPlainName, toProblems } from './toProblems.ts'
import { maxControlBody, maxAnonymousBody, readJsonBody } from './readJsonBody.ts'
import type { ApiError, FieldProblem } from './apiErrors.ts'

type Checked = { readonly value: unknown } | { readonly problems: readonly FieldProblem[] }

const check = (schema: z.ZodType | undefined, given: unknown): Checked => {
  if (schema === undefined) return { value: undefined }
  const result = schema.safeParse(given)
  return result.success ? { value: result.data } : { problems: toProblems(result.error.issues, given) }
}

/** Finds repeated query parameters. They are rejected because a proxy in front of the service might use a different one of the values. */
const findRepeated = (query: URLSearchParams): readonly FieldProblem[] => {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const name of query.keys()) {
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return [...repeated].map((name) =>
    isPlainName(name)
      ? { field: name, fix: 'is repeated: send it once' }
      : { field: 'query', fix: 'contains a repeated parameter: send each one once' },
  )
}

/** Validates a request's path, query and body against its route's schemas. */
export const readInput = async (
  request: Request,
  route: Route,
  pathParams: Readonly<Record<string, string>>,
): Promise<{ params: unknown; query: unknown; body: unknown } | { error: ApiError }> => {
  const params = check(route.params, pathParams)
  // A malformed id matches nothing.
  if ('problems' in params) return { error: apiErrors.notFound() }
  const { searchParams } = new URL(request.url)
  const repeated = findRepeated(searchParams)
  if (repeated.length > 0) return { error: apiErrors.invalid(repeated) }
  const query = check(route.query, Object.fromEntries(searchParams))
  if ('problems' in query) return { error: apiErrors.invalid(query.problems) }
  if (route.body === undefined) return { params: params.value, query: query.value, body: undefined }
  const json = await readJsonBody(request, route.access === 'anyone' ? maxAnonymousBody : maxControlBody)
  if ('error' in json) return json
  const body = check(route.body, json.value)
  if ('problems' in body) return { error: apiErrors.invalid(body.problems) }
  return { params: params.value, query: query.value, body: body.value }
}
