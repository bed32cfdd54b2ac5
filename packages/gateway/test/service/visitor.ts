import type { ControlApi } from '../../src/index.ts'

/** The response to a request. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

/** A browser: it stores the session cookie and sends the Origin header. */
export interface Visitor {
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Seen>
  /** Sends a request to a route of the contract. Throws if it fails. */
  get<Name extends keyof ControlApi>(
    name: Name,
    given?: { params?: Readonly<Record<string, string>>; body?: ControlApi[Name]['body']; query?: string },
  ): Promise<ControlApi[Name]['response']>
  /** The `Cookie` header that it would send. */
  cookie: string
}

/** Creates a browser for a service. */
export const createVisitor = (origin: string): Visitor => {
  const request: Visitor['request'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${origin}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(visitor.cookie === '' ? {} : { cookie: visitor.cookie }),
        ...(method === 'GET' ? {} : { origin, 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      visitor.cookie = pair.endsWith('=') ? '' : pair
    }
    const text = await response.text()
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      json = undefined
    }
    return { status: response.status, headers: response.headers, text, json }
  }
  const visitor: Visitor = {
    cookie: '',
    request,
    get: async (name, { params = {}, body, query = '' } = {}) => {
      const [method = '', pattern = ''] = name.split(' ')
      const path = pattern.replaceAll(/\{(\w+)\}/g, (_, param: string) => encodeURIComponent(params[param] ?? ''))
      // The API expects a JSON body for writes, also an empty one.
      const { status, text, json } = await request(
        method,
        `${path}${query}`,
        method === 'GET' ? undefined : (body ?? {}),
      )
      if (status >= 300) throw new Error(`${name} was rejected with ${status}: ${text}`)
      return json as never
    },
  }
  return visitor
}
