import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { toAddress, toBalance } from './startSoakNode.ts'

/** An instance as its callers see it. */
export interface Target {
  readonly name: string
  readonly port: number
  /** Whether its `/readyz` responded with 200. */
  isReady: boolean
}

/** What an account of the load has sent and received. */
export interface AccountTotals {
  sent: number
  /** Calls with a result. */
  granted: number
  /** Calls that were rejected because the quota is used up. */
  usedUp: number
  /** Calls that the service metered for certain: with a result, or with an error that is not about its stores. */
  metered: number
}

/** A fault as long as calls may notice it. */
export interface Window {
  readonly name: string
  /** Outcomes that calls may have, besides a result and a used-up quota, by their start, such as `503 `. */
  readonly allows: readonly string[]
  readonly from: number
  to?: number
}

/** Load that goes through a balancer which respects `/readyz`. */
export interface SoakLoad {
  readonly totals: readonly AccountTotals[]
  /** How many calls have ended, by outcome: the status, and the reason of an error. */
  readonly outcomes: ReadonlyMap<string, number>
  /** Calls with an outcome that no fault allows. */
  readonly problems: readonly string[]
  /** Add a window before its fault starts. */
  readonly windows: Window[]
  /** Sends one call. Never rejects. @returns Its outcome. */
  readonly call: (account: number, target?: Target) => Promise<string>
  /** How many calls have ended. */
  readonly ended: () => number
  /** How many calls of each account ended at an instance since then, by `performance.now()`, or are in flight there. At most a minute ago. */
  readonly countSince: (target: Target, since: number) => readonly number[]
  /** Sends calls of all accounts at this rate until `stop`. */
  readonly start: (options: { readonly clients: number; readonly perSecond: number }) => void
  readonly stop: () => Promise<void>
  readonly close: () => void
}

/** How long a call may take before it counts as lost, in milliseconds. */
const lostAfterMs = 60_000
/** How long calls are remembered for {@link SoakLoad.countSince}, in milliseconds. */
const rememberedMs = 60_000

/** Creates load for accounts, each with the path of its key. Nothing is sent until `start`. */
export const createLoad = (targets: readonly Target[], paths: readonly string[], random: () => number): SoakLoad => {
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo' })
  const totals: AccountTotals[] = paths.map(() => ({ sent: 0, granted: 0, usedUp: 0, metered: 0 }))
  const outcomes = new Map<string, number>()
  const problems: string[] = []
  const windows: Window[] = []
  const inFlight = new Map(targets.map((target) => [target, paths.map(() => 0)]))
  const recent: { readonly target: Target; readonly account: number; readonly at: number }[] = []
  let ended = 0

  const send = (port: number, path: string, body: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(
        { agent, host: '127.0.0.1', port, path, method: 'POST', headers: { 'content-type': 'application/json' } },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
          response.on('error', reject)
        },
      )
      sent.setTimeout(lostAfterMs, () => sent.destroy(new Error('no response')))
      sent.on('error', reject)
      sent.end(body)
    })
  const getOutcome = async (account: number, call: number, port: number): Promise<string> => {
    const params = [toAddress(account, call), 'latest']
    const body = JSON.stringify({ jsonrpc: '2.0', id: call, method: 'eth_getBalance', params })
    let response
    try {
      response = await send(port, paths[account] ?? '', body)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return code === undefined ? message : `cut ${code}`
    }
    try {
      const { id, result, error } = JSON.parse(response.text) as {
        readonly id: number | null
        readonly result?: string
        readonly error?: { readonly data?: { readonly reason?: string } }
      }
      // An error that concerns the whole request has no id.
      if (id !== call && (id !== null || error === undefined)) return `${response.status} of another call`
      if (error !== undefined) return `${response.status} ${error.data?.reason}`
      return result === toBalance(call) ? String(response.status) : `${response.status} with a wrong result`
    } catch {
      return `${response.status} without JSON`
    }
  }
  const choose = (): Target => {
    const ready = targets.filter(({ isReady }) => isReady)
    const from = ready.length === 0 ? targets : ready
    return from[Math.floor(random() * from.length)] as Target
  }
  const isAllowed = (outcome: string, from: number): boolean =>
    windows.some(({ to = Infinity, allows }) => to >= from && allows.some((allowed) => outcome.startsWith(allowed)))

  const call: SoakLoad['call'] = async (account, target = choose()) => {
    const total = totals[account] as AccountTotals
    const counts = inFlight.get(target) as number[]
    const number = (total.sent += 1)
    const startedAt = performance.now()
    counts[account] = (counts[account] ?? 0) + 1
    const outcome = await getOutcome(account, number, target.port)
    counts[account] = (counts[account] ?? 0) - 1
    ended += 1
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    const at = performance.now()
    // No instance received this call.
    if (outcome !== 'cut ECONNREFUSED') recent.push({ target, account, at })
    while ((recent[0]?.at ?? at) < at - rememberedMs) recent.shift()
    if (outcome === '200') total.granted += 1
    else if (outcome === '403 quota_exceeded') total.usedUp += 1
    else if (!isAllowed(outcome, startedAt)) {
      const during = windows.filter(({ to = Infinity }) => to >= startedAt).map(({ name }) => name)
      problems.push(
        `${outcome} from ${target.name} after ${Math.round(at - startedAt)} ms, during ${during.join(', ') || 'nothing'}`,
      )
    }
    if (!/^cut|^no response|key_store_unavailable/.test(outcome)) total.metered += 1
    return outcome
  }

  let isStopped = false
  let running: Promise<unknown> = Promise.resolve()
  return {
    totals,
    outcomes,
    problems,
    windows,
    call,
    ended: () => ended,
    countSince: (target, since) =>
      paths.map(
        (_, account) =>
          (inFlight.get(target)?.[account] ?? 0) +
          recent.filter((one) => one.target === target && one.account === account && one.at >= since).length,
      ),
    start: ({ clients, perSecond }) => {
      isStopped = false
      const pauseMs = (clients * 1_000) / perSecond
      const client = async (): Promise<void> => {
        while (!isStopped) {
          await wait(pauseMs * (0.5 + random()))
          await call(Math.floor(random() * paths.length))
        }
      }
      running = Promise.all(Array.from({ length: clients }, client))
    },
    stop: async () => {
      isStopped = true
      await running
    },
    close: () => agent.destroy(),
  }
}
