import { bypass, http } from 'msw'
import type { HttpHandler } from 'msw'
import { describeUrlProblem } from '@keyrail/core/internal'
import type { RpcErrorObject } from '@keyrail/core'
import { checkRuntime } from '../checkRuntime.ts'
import { invalidInput } from '../invalidInput.ts'
import { nodeFiles } from './recorded.ts'
import type { RecordedCall, RecordedCalls } from './recorded.ts'

/** A recording in progress. */
export interface Recording {
  /** msw handlers that pass calls through to the node and record them. */
  readonly handlers: HttpHandler[]
  /** Returns the calls recorded so far, in order. */
  readonly calls: () => readonly RecordedCall[]
  /** Writes the recording to a file. Node only. */
  readonly save: (file: string) => Promise<void>
}

/** The parts of a URL that may be secrets: parts of the path, names and values of the query, and credentials, if longer than 7 characters. */
function getSecrets(url: URL): string[] {
  const parts = [...`${url.pathname}${url.search}`.split(/[/?&=]/), url.username, url.password]
  const decoded = parts.map((part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  })
  return [...new Set([...parts, ...decoded])]
    .filter((part) => part.length > 7)
    .sort((one, other) => other.length - one.length)
}

/** This many consecutive characters of a secret count as a leak. */
const MIN_LEAK_LENGTH = 8

/** Matches a secret in JSON: all of it or a part, in any letter case, also if characters are percent-encoded or escaped. */
function toPattern(secret: string): RegExp {
  const characters = [...secret].map((character) => {
    const code = (character.codePointAt(0) as number).toString(16).padStart(2, '0')
    const plain = character.replace(/[^\w]/g, String.raw`\$&`)
    return code.length > 2 ? plain : String.raw`(?:${plain}|%${code}|\\+u00${code})`
  })
  const from = (at: number): string =>
    characters.slice(at, at + MIN_LEAK_LENGTH).join('') +
    characters.slice(at + MIN_LEAK_LENGTH).reduceRight((rest, character) => `(?:${character}${rest})?`, '')
  const starts = Array.from({ length: characters.length - MIN_LEAK_LENGTH + 1 }, (_, at) => from(at))
  return new RegExp(starts.join('|'), 'gi')
}

/**
 * Records the calls to a node with their responses, for `replay`. Possible keys in the URL are never recorded: if a response repeats one,
 * it is masked.
 *
 * @param url - The full URL of the node, as the code under test calls it.
 * @throws {KeyrailError} kind `invalidRequest` if `url` is not a URL, or on Node older than 22.12.
 * @example
 * const recording = record('https://node.example/testnet/v2/kr_a…')
 * // setupServer(...recording.handlers).listen(), then the calls, then:
 * await recording.save('calls.json')
 */
export function record(url: string): Recording {
  checkRuntime()
  let target: URL
  try {
    target = new URL(url)
  } catch {
    throw invalidInput(`The url of record ${describeUrlProblem(url)}`)
  }
  const patterns = getSecrets(target).map(toPattern)
  const recorded: RecordedCall[] = []
  const mask = <T>(value: T): T => {
    let text = JSON.stringify(value)
    if (text === undefined) return value
    for (const pattern of patterns) text = text.replaceAll(pattern, '…')
    return JSON.parse(text) as T
  }
  const store = (sent: unknown, received: unknown): void => {
    const responses = (Array.isArray(received) ? received : [received]) as ({
      id?: unknown
      result?: unknown
      error?: RpcErrorObject
    } | null)[]
    for (const call of (Array.isArray(sent) ? sent : [sent]) as ({
      id?: unknown
      method?: unknown
      params?: unknown[]
    } | null)[]) {
      const response = responses.find((one) => one?.id === call?.id)
      if (typeof call?.method !== 'string' || response == null) continue
      const { method, params = [] } = call
      const { error, result = null } = response
      recorded.push(mask(error == null ? { method, params, result } : { method, params, error }))
    }
  }
  const isTarget = (requested: string): boolean => {
    const { origin, pathname, search } = new URL(requested)
    return origin === target.origin && pathname === target.pathname && search === target.search
  }

  return {
    handlers: [
      http.post(
        ({ request }) => isTarget(request.url),
        async ({ request }) => {
          const sent = await request.clone().text()
          const response = await fetch(bypass(request))
          const text = await response.text()
          try {
            store(JSON.parse(sent), JSON.parse(text))
          } catch {
            // A body that is not JSON is passed on but not recorded.
          }
          const headers = new Headers(response.headers)
          // fetch has already decompressed the body.
          for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name)
          return new Response(text, { status: response.status, headers })
        },
      ),
    ],
    calls: () => [...recorded],
    async save(file) {
      const files = nodeFiles()
      if (files === undefined) throw invalidInput('save cannot write a file in a browser. Use calls()')
      const all: RecordedCalls = { calls: recorded }
      await files.writeFile(file, `${JSON.stringify(all, null, 2)}\n`)
    },
  }
}
