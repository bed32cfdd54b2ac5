import { explainFailure } from './explainFailure.ts'
import type { Finding } from './finding.ts'
import type { Probe } from './probe.ts'

const allows = (headers: Headers, origin: string): boolean =>
  ['*', origin].includes(headers.get('access-control-allow-origin') ?? '')

const parseNames = (text: string | null): string[] =>
  (text ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())

const fail = (text: string, fix: string, facts: Finding['facts'] = {}): Finding => ({
  check: 'cors',
  level: 'fail',
  text,
  fix,
  facts,
})

const getFix = (origin: string): string =>
  `ask the operator to allow the origin ${origin}, or send the calls through a route of your own server`

/**
 * Checks that a web page can call the endpoint from a browser.
 *
 * @param probe - The endpoint. Its later calls send the origin.
 * @param origin - The page's origin, for example `https://app.example`.
 * @see Fetch standard, CORS protocol
 */
export async function checkCors(probe: Probe, origin: string): Promise<Finding> {
  let preflight: Response | undefined
  try {
    preflight = await probe.preflight(origin)
  } catch {
    preflight = undefined
  }
  if (preflight === undefined) return fail('the preflight request got no response', getFix(origin))
  if (!preflight.ok) {
    return fail(`the preflight request returned HTTP ${preflight.status}`, getFix(origin), { status: preflight.status })
  }
  if (!allows(preflight.headers, origin)) return fail(`the origin ${origin} is not allowed`, getFix(origin))
  const allowed = parseNames(preflight.headers.get('access-control-allow-headers'))
  if (!allowed.includes('content-type') && !allowed.includes('*')) {
    return fail('pages cannot send content-type: application/json', getFix(origin))
  }
  probe.setOrigin(origin)
  try {
    await probe.request({ method: 'eth_chainId' })
  } catch (error) {
    const { text, fix, kind, reason } = explainFailure(error)
    return fail(`a call from ${origin} was rejected: ${text}`, fix, {
      kind,
      reason: reason ?? null,
    })
  }
  const headers = probe.lastResponse()?.headers ?? new Headers()
  if (!allows(headers, origin)) return fail(`pages of ${origin} cannot read the response`, getFix(origin))
  const exposed = parseNames(headers.get('access-control-expose-headers'))
  const text = `pages of ${origin} can call the endpoint`
  if (exposed.includes('retry-after') || exposed.includes('*')) return { check: 'cors', level: 'ok', text }
  return {
    check: 'cors',
    level: 'warn',
    text: `${text}, but cannot read Retry-After`,
    fix: 'ask the operator to add it to Access-Control-Expose-Headers; until then, pages guess how long to wait',
  }
}
