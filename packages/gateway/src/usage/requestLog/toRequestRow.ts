import { toNetworkBlock } from '../../lib/ip/toNetworkBlock.ts'
import { createMask } from '../../lib/secrets/createMask.ts'
import { secretShapes } from '../../lib/secrets/secretShapes.ts'
import { createLogId } from './logId.ts'
import { excerptLength } from './requestLog.ts'
import type { RecordedError, RecordedRequest } from './requestLog.ts'
import type { RequestRow } from './requestLogRows.ts'

const methodLength = 64
const textLength = 200
const shown = '…'
const anyShape = new RegExp(secretShapes.map(({ source }) => source).join('|'), 'g')

/** Replaces what a database may reject or a page cannot show: control characters and half characters. */
const toPrintable = (text: string): string => text.replaceAll(/\p{Cs}|(?![\n\t])\p{Cc}/gu, '\u{FFFD}')

type ToText = (text: string | undefined, length: number) => string | null

/** Creates a function that masks secrets in a text and then cuts it. */
const createToText = (secrets: readonly string[]): ToText => {
  let mask: ReturnType<typeof createMask> | undefined
  return (text, length) => {
    if (text === undefined) return null
    mask ??= createMask(secrets)
    const masked = mask(text, shown).replaceAll(anyShape, shown)
    return toPrintable(masked.slice(0, length))
  }
}

const firstCode = /^\s*\{\s*"code"\s*:\s*(-?\d{1,15})\b/
const firstMessage = /"message"\s*:\s*"((?:[^"\\]|\\.)*)/

/** Parses the code and the message of an error. The source text of a node's error may be cut, or be no error of JSON-RPC. */
const parseError = (error: RecordedError | undefined): { code: number | null; message: string | undefined } => {
  if (error === undefined) return { code: null, message: undefined }
  if ('message' in error) return error
  try {
    const { code, message } = JSON.parse(error.text) as { code?: unknown; message?: unknown }
    return {
      code: Number.isSafeInteger(code) ? (code as number) : null,
      message: typeof message === 'string' ? message : undefined,
    }
  } catch {
    const [, code] = firstCode.exec(error.text) ?? []
    const [, message] = firstMessage.exec(error.text) ?? []
    return { code: code === undefined ? null : Number(code), message }
  }
}

/**
 * Converts a recorded request to the row that is stored, without any secret.
 * @param at - When it was recorded, in milliseconds since 1970.
 */
export const toRequestRow = (request: RecordedRequest, at: number): RequestRow => {
  const toText = createToText(request.secrets)
  const { code, message } = parseError(request.error)
  const params = toText(request.params, excerptLength)
  const response = toText(request.response, excerptLength)
  return {
    request: {
      keyId: request.keyId,
      at,
      id: createLogId(at),
      method: toText(request.method?.replaceAll(/\p{C}/gu, '\u{FFFD}'), methodLength),
      outcome: request.outcome,
      code,
      message: toText(message, textLength),
      status: request.status,
      durationUs: Math.round(request.durationMs * 1_000),
      network: request.network,
      requestId: request.requestId,
      calls: request.calls,
      failedCalls: request.failedCalls,
      keyEnding: request.keyEnding ?? null,
      origin: toText(request.origin, textLength),
      ipBlock: (request.ip === undefined ? undefined : toNetworkBlock(request.ip)) ?? null,
      requestBytes: request.requestBytes ?? null,
      responseBytes: request.responseBytes ?? null,
      transport: request.transport,
    },
    excerpts: params === null && response === null ? undefined : { params, response },
  }
}
