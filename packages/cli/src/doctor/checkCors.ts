import { describeFailure } from './describeFailure.ts'
import type { Finding } from './finding.ts'
import type { Probe } from './probe.ts'

const lets = (headers: Headers, origin: string): boolean =>
  ['*', origin].includes(headers.get('access-control-allow-origin') ?? '')

const names = (text: string | null): string[] =>
  (text ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())

const failed = (text: string, fix: string, facts: Finding['facts'] = {}): Finding => ({
  check: 'cors',
  level: 'fail',
  text,
  fix,
  facts,
})

const askOwner = (origin: string): string =>
  `whoever runs the address must let pages of ${origin} read it; else send the calls through a route of your own server`

/**
 * Looks whether a page can use the address from a browser.
 *
 * @param probe - The address. Its calls say from then on that they come from there.
 * @param origin - Of the page, as in `https://app.example`.
 * @see The fetch standard, CORS protocol
 */
export async function checkCors(probe: Probe, origin: string): Promise<Finding> {
  let preflight: Response | undefined
  try {
    preflight = await probe.preflight(origin)
  } catch {
    preflight = undefined
  }
  if (preflight === undefined) return failed('a preflight is not answered', askOwner(origin))
  if (!preflight.ok) {
    return failed(`a preflight is answered by HTTP ${preflight.status}`, askOwner(origin), { status: preflight.status })
  }
  if (!lets(preflight.headers, origin)) return failed(`pages of ${origin} are not let in`, askOwner(origin))
  const allowed = names(preflight.headers.get('access-control-allow-headers'))
  if (!allowed.includes('content-type') && !allowed.includes('*')) {
    return failed('pages may not send content-type: application/json', askOwner(origin))
  }
  probe.comeFrom(origin)
  try {
    await probe.request({ method: 'eth_chainId' })
  } catch (error) {
    const { text, fix, kind, reason } = describeFailure(error)
    return failed(`a call from ${origin} is rejected: ${text}`, fix, {
      kind,
      reason: reason ?? null,
    })
  }
  const headers = probe.seen()?.headers ?? new Headers()
  if (!lets(headers, origin)) return failed(`the answer may not be read by pages of ${origin}`, askOwner(origin))
  const exposed = names(headers.get('access-control-expose-headers'))
  const text = `pages of ${origin} can call it`
  if (exposed.includes('retry-after') || exposed.includes('*')) return { check: 'cors', level: 'ok', text }
  return {
    check: 'cors',
    level: 'warn',
    text: `${text}, and cannot see Retry-After`,
    fix: 'whoever runs it should name it in Access-Control-Expose-Headers; until then a page guesses how long to wait',
  }
}
