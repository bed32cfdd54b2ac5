import type { z } from 'zod'
import type { AnyRoute } from './contract/route.ts'
import { apiErrors } from './apiErrors.ts'
import { isPlainName, toProblems } from './toProblems.ts'
import { maxControlBody, maxUnknownBody, readJsonBody } from './readJsonBody.ts'
import type { ApiError, FieldProblem } from './reply.ts'

type Read = { readonly value: unknown } | { readonly problems: readonly FieldProblem[] }

const check = (schema: z.ZodType | undefined, given: unknown): Read => {
  if (schema === undefined) return { value: undefined }
  const result = schema.safeParse(given)
  return result.success ? { value: result.data } : { problems: toProblems(result.error.issues, given) }
}

/** Parameters that are there more than once: the service and a proxy in front of it could each take another one for the right one. */
const repeatedIn = (query: URLSearchParams): readonly FieldProblem[] => {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const name of query.keys()) {
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return [...repeated].map((name) =>
    isPlainName(name)
      ? { field: name, fix: 'is there more than once: give it once' }
      : { field: 'query', fix: 'has a parameter more than once: give each once' },
  )
}

/** What stands in a request's path, query and body, as its route declares them; or why it is rejected. */
export const readInput = async (
  request: Request,
  route: AnyRoute,
  pathParams: Readonly<Record<string, string>>,
): Promise<{ params: unknown; query: unknown; body: unknown } | { rejection: ApiError }> => {
  const params = check(route.params, pathParams)
  // What cannot be an id is nobody's.
  if ('problems' in params) return { rejection: apiErrors.notFound() }
  const { searchParams } = new URL(request.url)
  const repeated = repeatedIn(searchParams)
  if (repeated.length > 0) return { rejection: apiErrors.invalid(repeated) }
  const query = check(route.query, Object.fromEntries(searchParams))
  if ('problems' in query) return { rejection: apiErrors.invalid(query.problems) }
  if (route.body === undefined) return { params: params.value, query: query.value, body: undefined }
  const json = await readJsonBody(request, route.who === 'anyone' ? maxUnknownBody : maxControlBody)
  if ('rejection' in json) return json
  const body = check(route.body, json.value)
  if ('problems' in body) return { rejection: apiErrors.invalid(body.problems) }
  return { params: params.value, query: query.value, body: body.value }
}
