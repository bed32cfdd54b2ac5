import { randomBytes } from 'node:crypto'
import { adapters } from '@keyrail/vectors'
import type { AdapterAct, AdapterCase, AdapterEnd } from '@keyrail/vectors'
import { findLeaks, reachableStrings } from '../leakWalk.ts'
import { startAdapterServer } from './adapterServer.ts'
import type { AdapterServer } from './adapterServer.ts'
import type { TestClient, Subject } from './subject.ts'

/** The result of a case. */
export interface CaseReport {
  /** The problems found, each in a few words; empty if the case passed. */
  readonly problems: readonly string[]
  /** Where the key was found, also in places that the case does not check. The client is searched only if the case checks it. */
  readonly leaks: readonly ('error' | 'client' | 'console')[]
  /** The messages of the errors, to debug a problem. */
  readonly messages: readonly string[]
  /** The duration, in milliseconds. */
  readonly tookMs: number
}

/** Options of {@link runAdapterCase}. */
export interface RunOptions {
  /** The library's own functions, or its way to make any call. */
  readonly api: 'library' | 'raw'
  /** The timeout of a call, in milliseconds. @default 15_000 */
  readonly limitMs?: number
  /**
   * Whether a case that takes longer than it may is a problem. Tests pass `false`, because a busy machine is slow: the table of peers is
   * where times are compared.
   * @default true
   */
  readonly checksMaximumTime?: boolean
}

/** The outcome of a call. */
type Ended =
  | { readonly value: unknown; readonly right: boolean }
  | { readonly error: unknown }
  | { readonly pending: true }
  | { readonly impossible: string }

/** One call of a case, with the check of its result. */
interface CheckedCall {
  readonly call: Promise<unknown>
  readonly isRight: (value: unknown) => boolean
}

const { node } = adapters

/** Returns the APIs to run a case with. */
export const getApis = ({ apis = ['library', 'raw'] }: AdapterCase): readonly ('library' | 'raw')[] => apis

/** Runs one case with a subject, with its own server and key. */
export async function runAdapterCase(
  subject: Subject,
  oneCase: AdapterCase,
  { api, limitMs = 15_000, checksMaximumTime = true }: RunOptions,
): Promise<CaseReport> {
  const key = `kr_a${randomBytes(20).toString('hex')}`
  const { given = {}, expect } = oneCase
  const server = await startAdapterServer(oneCase.responses, key)
  const controller = new AbortController()
  const reason = new Error('the user went away')
  const watched = watchProcess()
  const started = performance.now()
  let client: TestClient | undefined
  try {
    client = await subject.open[api]({
      origin: server.origin,
      key,
      chainId: given.chainId === false ? undefined : Number(node.chainId),
      batch: given.batch ?? false,
      timeoutMs: given.timeoutMs,
      signal: oneCase.do.some(({ act }) => act === 'abort') ? controller.signal : undefined,
    })
    const ends: Ended[] = []
    for (const act of oneCase.do) {
      const calls = start(act, client, key)
      if (calls.length === 0) ends.push({ impossible: 'no way to abort' })
      else if (act.act === 'abort') {
        await server.first
        // Long enough for a response to arrive and a retry delay to start.
        setTimeout(() => controller.abort(reason), 100)
      }
      ends.push(...(await Promise.all(calls.map((one) => waitForEnd(one, limitMs)))))
    }
    const tookMs = performance.now() - started
    const requestCount = server.arrived.length
    if (expect.quietMs) await new Promise((resolve) => setTimeout(resolve, expect.quietMs))
    const errors = ends.flatMap((end) => ('error' in end && end.error !== reason ? [end.error] : []))
    // Searching a client is slow: half a second for web3.
    const exposed = expect.noKeyIn?.includes('client') ? client.exposed : undefined
    const places = { error: errors, client: exposed, console: watched.printed }
    const leaks = (['error', 'client', 'console'] as const).filter((place) => findLeaks(places[place], key).length > 0)
    const problems = [
      ...findOutcomeProblems({ ends, expected: expect.ends, client, reason, limitMs }),
      ...findRequestProblems(server, expect),
      ...(expect.quietMs && server.arrived.length > requestCount ? ['keeps sending requests'] : []),
      ...findTimeProblems(server, expect, checksMaximumTime ? tookMs : undefined),
      ...(expect.errorIncludes === undefined ||
      errors.every((error) => includesText(error, expect.errorIncludes as string))
        ? []
        : [`error does not contain \u2018${expect.errorIncludes}\u2019`]),
      ...leaks.filter((place) => expect.noKeyIn?.includes(place)).map((place) => `key in the ${place}`),
      ...(expect.prints === false && watched.printed.length > 0 ? ['prints to the console'] : []),
      ...(watched.unhandled.length > 0 ? ['rejection that nobody can catch'] : []),
    ]
    return { problems: [...new Set(problems)], leaks, messages: errors.map(String), tookMs }
  } finally {
    client?.close()
    await server.close()
    watched.stop()
  }
}

/** Performs an action of the user. Returns no calls if the library does not support it. */
function start(act: AdapterAct, client: TestClient, key: string): readonly CheckedCall[] {
  const quantity =
    (expected: unknown) =>
    (value: unknown): boolean => {
      try {
        return typeof value !== 'number' && BigInt(value as string) === BigInt(expected as string)
      } catch {
        return false
      }
    }
  const account = (at: number): (typeof node.accounts)[number] => node.accounts[at] as never
  const headIs = (is: unknown = node.blockNumber): CheckedCall['isRight'] => {
    const isRight = quantity(is)
    // Block numbers are small, so a library may return numbers.
    return (value) => isRight(typeof value === 'number' ? BigInt(value) : value)
  }
  switch (act.act) {
    case 'blockNumber':
      return [{ call: client.blockNumber(), isRight: headIs(act.is) }]
    case 'balance':
      return [{ call: client.balance(account(0).address), isRight: quantity(act.is ?? account(0).balance) }]
    case 'contractRead': {
      const { owner, response } = node.contract
      return [
        { call: client.contractRead(), isRight: (value) => [owner, response].includes(String(value).toLowerCase()) },
      ]
    }
    case 'send':
      return [{ call: client.send(node.transaction.raw), isRight: (value) => value === node.transaction.hash }]
    case 'balances': {
      const accounts = node.accounts.slice(0, act.count)
      const addresses = accounts.map(({ address }) => address)
      const calls = client.balances?.(addresses) ?? addresses.map((address) => client.balance(address))
      return accounts.map(({ balance }, at) => ({ call: calls[at] as Promise<unknown>, isRight: quantity(balance) }))
    }
    case 'together':
      return act.acts.flatMap((one) => start(one, client, key))
    case 'abort':
      return client.abortable ? [{ call: client.abortable(), isRight: () => false }] : []
    case 'request': {
      const written = JSON.stringify(act.is).replaceAll('$KEY', key)
      return [{ call: client.request(act.method, act.params), isRight: (value) => JSON.stringify(value) === written }]
    }
  }
}

/** Waits for a call, up to a limit. */
async function waitForEnd({ call, isRight }: CheckedCall, limitMs: number): Promise<Ended> {
  let timer
  const limit = new Promise<Ended>((resolve) => {
    timer = setTimeout(() => resolve({ pending: true }), limitMs)
  })
  const ended = call.then(
    (value): Ended => ({ value, right: isRight(value) }),
    (error: unknown): Ended => ({ error }),
  )
  const end = await Promise.race([ended, limit])
  clearTimeout(timer)
  return end
}

interface OutcomeCheck {
  readonly ends: readonly Ended[]
  readonly expected: AdapterEnd | readonly AdapterEnd[]
  readonly client: TestClient
  readonly reason: Error
  readonly limitMs: number
}

function findOutcomeProblems({ ends, expected, client, reason, limitMs }: OutcomeCheck): string[] {
  return ends.flatMap((end, at) => {
    const expectedEnd = typeof expected === 'string' ? expected : expected[at]
    const problem = findOutcomeProblem(end, expectedEnd as AdapterEnd, { client, reason, limitMs })
    return problem === undefined ? [] : [typeof expected === 'string' ? problem : `call ${at + 1} ${problem}`]
  })
}

function findOutcomeProblem(
  end: Ended,
  wanted: AdapterEnd,
  { client, reason, limitMs }: Pick<OutcomeCheck, 'client' | 'reason' | 'limitMs'>,
): string | undefined {
  if ('impossible' in end) return end.impossible
  if ('pending' in end) return `pending after ${limitMs / 1_000} s`
  if ('value' in end) {
    if (wanted === 'right' || wanted === 'completed') return end.right ? undefined : 'got a wrong value'
    return end.right ? 'got a value' : 'got a made-up value'
  }
  const { error } = end
  if (wanted === 'completed') return undefined
  if (wanted === 'reason') return error === reason ? undefined : 'another error than the reason'
  const shown = client.decodeRevert(error)
  if (wanted === 'right') return shown ? 'failed, as a revert' : 'failed'
  if (wanted === 'failure') return shown ? 'shown as a revert' : undefined
  const { name, args, data } = node.contract.revert
  if (!shown) return 'not shown as a revert'
  const isNamed = shown.name === name && String(shown.args?.map(String)).toLowerCase() === String(args)
  return isNamed || shown.data === data ? undefined : 'revert not decoded'
}

function findRequestProblems({ arrived, countRedirected }: AdapterServer, expect: AdapterCase['expect']): string[] {
  const { atLeast = 0, atMost = Infinity } = expect.requests ?? {}
  const methods = arrived.flatMap((one) => one.methods)
  const many = (count: number): string => `${count} request${count === 1 ? '' : 's'}`
  const connections = new Set(arrived.map(({ connection }) => connection)).size
  return [
    ...(arrived.length < atLeast || arrived.length > atMost ? [many(arrived.length)] : []),
    ...(expect.methods && String(methods) !== String(expect.methods) ? [`sent ${brief(methods)}`] : []),
    ...Object.entries(expect.counts ?? {}).flatMap(([method, count]) => {
      const sent = methods.filter((one) => one === method).length
      return sent === count ? [] : [`${brief([method])} ${sent} times`]
    }),
    ...(connections > (expect.connections?.atMost ?? Infinity) ? [`${connections} connections`] : []),
    ...(expect.redirectedRequests === 0 && countRedirected() > 0 ? ['followed'] : []),
    ...(arrived.some((one) => one.isBatch && one.methods.length > 1 && one.methods.includes(expect.alone ?? ''))
      ? ['joined']
      : []),
  ]
}

const brief = (methods: readonly string[]): string => methods.map((method) => method.replace(/^eth_/, '')).join(', ')

const seconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

/** @param tookMs - How long the case took, `undefined` to check only how long it waited at least. */
function findTimeProblems(
  { arrived }: AdapterServer,
  { waitMs, withinMs = Infinity }: AdapterCase['expect'],
  tookMs: number | undefined,
): string[] {
  const [one, two] = arrived
  const waited = one && two ? two.at - one.at : undefined
  const checksMaximum = tookMs !== undefined
  const waitedWrong =
    waitMs !== undefined &&
    waited !== undefined &&
    (waited < waitMs.atLeast || (checksMaximum && waited > waitMs.atMost))
  return [
    ...(waitedWrong ? [`waited ${seconds(waited)}`] : []),
    ...(checksMaximum && tookMs > withinMs ? [`took ${seconds(tookMs)}`] : []),
  ]
}

const includesText = (error: unknown, words: string): boolean => {
  const pattern = new RegExp(/^\d+$/.test(words) ? `\\b${words}\\b` : words.replace(/[^\w\s]/g, '\\$&'))
  return reachableStrings(error).some((text) => pattern.test(text))
}

interface Watched {
  readonly printed: unknown[]
  readonly unhandled: unknown[]
  readonly stop: () => void
}

const watching = new Set<Watched>()
const words = ['debug', 'error', 'info', 'log', 'warn'] as const
const onUnhandled = (error: unknown): void => watching.forEach(({ unhandled }) => unhandled.push(error))
let restore = (): void => {}

/** Records console output and unhandled rejections. Cases that run at the same time record those of each other too. */
function watchProcess(): Watched {
  if (watching.size === 0) {
    const before = words.map((word) => console[word])
    for (const word of words)
      console[word] = (...parts: unknown[]) => watching.forEach(({ printed }) => printed.push(...parts))
    process.on('unhandledRejection', onUnhandled)
    restore = () => {
      process.off('unhandledRejection', onUnhandled)
      words.forEach((word, at) => (console[word] = before[at] as typeof console.log))
    }
  }
  const watched: Watched = {
    printed: [],
    unhandled: [],
    stop: () => {
      watching.delete(watched)
      if (watching.size === 0) restore()
    },
  }
  watching.add(watched)
  return watched
}
