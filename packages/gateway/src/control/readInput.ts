import type { z } from 'zod'
import type { AnyRoute } from './contract/route.ts'
import { controlRefusals } from './controlRefusals.ts'
import { problemsOf } from './problemsOf.ts'
import { maxControlBody, maxStrangerBody, readJsonBody } from './readJsonBody.ts'
import type { ControlRefusal, FieldProblem } from './reply.ts'

type Read = { readonly value: unknown } | { readonly problems: readonly FieldProblem[] }

const check = (schema: z.ZodType | undefined, given: unknown): Read => {
  if (schema === undefined) return { value: undefined }
  const result = schema.safeParse(given)
  return result.success ? { value: result.data } : { problems: problemsOf(result.error.issues, given) }
}

const queryOf = ({ url }: Request): Readonly<Record<string, string>> => Object.fromEntries(new URL(url).searchParams)

/** What stands in a request's path, query and body, as its route declares them; or why it is refused. */
export const readInput = async (
  request: Request,
  route: AnyRoute,
  pathParams: Readonly<Record<string, string>>,
): Promise<{ params: unknown; query: unknown; body: unknown } | { refusal: ControlRefusal }> => {
  const params = check(route.params, pathParams)
  // What cannot be an id is nobody's.
  if ('problems' in params) return { refusal: controlRefusals.notFound() }
  const query = check(route.query, queryOf(request))
  if ('problems' in query) return { refusal: controlRefusals.invalid(query.problems) }
  if (route.body === undefined) return { params: params.value, query: query.value, body: undefined }
  const json = await readJsonBody(request, route.who === 'anyone' ? maxStrangerBody : maxControlBody)
  if ('refusal' in json) return json
  const body = check(route.body, json.value)
  if ('problems' in body) return { refusal: controlRefusals.invalid(body.problems) }
  return { params: params.value, query: query.value, body: body.value }
}
