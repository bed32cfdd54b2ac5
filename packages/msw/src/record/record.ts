import { bypass, http } from 'msw'
import type { HttpHandler } from 'msw'
import type { RpcErrorObject } from '@keyrail/core'
import { checkRuntime } from '../checkRuntime.ts'
import { refused } from '../refused.ts'
import { nodeFiles } from './recorded.ts'
import type { RecordedCall, RecordedCalls } from './recorded.ts'

/** A recording that goes on. */
export interface Recording {
  /** For msw: they let calls through to the node, and listen. */
  readonly handlers: HttpHandler[]
  /** What was recorded so far, in order. */
  readonly calls: () => readonly RecordedCall[]
  /** Writes it to a file. Node only. */
  readonly save: (file: string) => Promise<void>
}

/** What of a URL is a secret: each part of its path and query, names too, and credentials, long enough to be one. */
function secretsOf(url: URL): string[] {
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

/** So many characters of a secret in a row are taken for a part of it. */
const LEAST = 8

/** Finds a secret in JSON, whole or in part, in whatever letter case, and where characters of it are percent-encoded or escaped. */
function patternOf(secret: string): RegExp {
  const characters = [...secret].map((character) => {
    const code = (character.codePointAt(0) as number).toString(16).padStart(2, '0')
    const plain = character.replace(/[^\w]/g, String.raw`\$&`)
    return code.length > 2 ? plain : String.raw`(?:${plain}|%${code}|\\+u00${code})`
  })
  const from = (at: number): string =>
    characters.slice(at, at + LEAST).join('') +
    characters.slice(at + LEAST).reduceRight((rest, character) => `(?:${character}${rest})?`, '')
  const starts = Array.from({ length: characters.length - LEAST + 1 }, (_, at) => from(at))
  return new RegExp(starts.join('|'), 'gi')
}

/**
 * Listens to the calls that go to a node, and keeps them with their answers for `replay`. What in the address could be a key is never kept:
 * where a node repeats it in an answer, the answer loses it.
 *
 * @param url - The whole address of the node, as the code under test calls it.
 * @throws {KeyrailError} kind `invalidRequest` if that is no URL, or on a Node older than 22.12.
 * @example
 * const recording = record('https://node.example/testnet/v2/kr_a…')
 * // setupServer(...recording.handlers).listen(), then the calls, then:
 * await recording.save('calls.json')
 */
export function record(url: string): Recording {
  checkRuntime()
  let whole: URL
  try {
    whole = new URL(url)
  } catch {
    throw refused('record takes a whole URL, such as https://host/path')
  }
  const patterns = secretsOf(whole).map(patternOf)
  const recorded: RecordedCall[] = []
  const mask = <T>(value: T): T => {
    let text = JSON.stringify(value)
    if (text === undefined) return value
    for (const pattern of patterns) text = text.replaceAll(pattern, '…')
    return JSON.parse(text) as T
  }
  const keep = (sent: unknown, got: unknown): void => {
    const answers = (Array.isArray(got) ? got : [got]) as ({
      id?: unknown
      result?: unknown
      error?: RpcErrorObject
    } | null)[]
    for (const call of (Array.isArray(sent) ? sent : [sent]) as ({
      id?: unknown
      method?: unknown
      params?: unknown[]
    } | null)[]) {
      const answer = answers.find((one) => one?.id === call?.id)
      if (typeof call?.method !== 'string' || answer == null) continue
      const { method, params = [] } = call
      const { error, result = null } = answer
      recorded.push(mask(error == null ? { method, params, result } : { method, params, error }))
    }
  }
  const isIt = (asked: string): boolean => {
    const { origin, pathname, search } = new URL(asked)
    return origin === whole.origin && pathname === whole.pathname && search === whole.search
  }

  return {
    handlers: [
      http.post(
        ({ request }) => isIt(request.url),
        async ({ request }) => {
          const sent = await request.clone().text()
          const response = await fetch(bypass(request))
          const text = await response.text()
          try {
            keep(JSON.parse(sent), JSON.parse(text))
          } catch {
            // What is no JSON is passed on and not kept.
          }
          const headers = new Headers(response.headers)
          // The text was unpacked on its way here.
          for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name)
          return new Response(text, { status: response.status, headers })
        },
      ),
    ],
    calls: () => [...recorded],
    async save(file) {
      const files = nodeFiles()
      if (files === undefined) throw refused('save needs Node: in a browser take calls()')
      const all: RecordedCalls = { calls: recorded }
      await files.writeFile(file, `${JSON.stringify(all, null, 2)}\n`)
    },
  }
}
