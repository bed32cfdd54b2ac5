import { methodNames } from '@keyrail/core'
import { toNetworkBlock } from '../../lib/ip/toNetworkBlock.ts'
import { createMask } from '../../lib/secrets/createMask.ts'
import type { Mask } from '../../lib/secrets/createMask.ts'
import { secretShapes } from '../../lib/secrets/secretShapes.ts'
import { describeRevert, findRevertData } from './describeRevert.ts'
import { createLogId } from './logId.ts'
import { excerptLength } from './requestRecorder.ts'
import type { RecordedError, RecordedRequest } from './requestRecorder.ts'
import type { RequestRow } from './requestLogRows.ts'

const methodLength = 64
const textLength = 200
/** The selector and 16 words. */
const revertDataLength = 2 + 8 + 16 * 64
const shown = '…'
const knownMethods: ReadonlySet<string> = new Set(methodNames)
const anyShape = new RegExp(secretShapes.map(({ source }) => source).join('|'), 'g')

/** Replaces what a database may reject or a page cannot show: control characters and half characters. */
const toPrintable = (text: string): string => text.replaceAll(/\p{Cs}|(?![\n\t])\p{Cc}/gu, '\u{FFFD}')

type ToText = (text: string | undefined, length: number) => string | null

/** Masks by the secrets that they hide. To create one takes about 0.3 ms. */
export type Masks = Map<string, Mask>

const getMask = (masks: Masks, secrets: readonly string[]): Mask => {
  const name = secrets.join('\n')
  let mask = masks.get(name)
  if (mask === undefined) masks.set(name, (mask = createMask(secrets)))
  return mask
}

/** Creates a function that masks secrets in a text and then cuts it. */
const createToText =
  (masks: Masks, secrets: readonly string[]): ToText =>
  (text, length) => {
    if (text === undefined) return null
    const masked = getMask(masks, secrets)(text, shown).replaceAll(anyShape, shown)
    return toPrintable(masked.slice(0, length))
  }

const toMethod = (method: string | undefined, toText: ToText): string | null =>
  method !== undefined && knownMethods.has(method)
    ? method
    : toText(method?.replaceAll(/\p{C}/gu, '\u{FFFD}'), methodLength)

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
 * @param masks - Those of other requests, which are used again. They contain secrets, so do not store them for long.
 */
export const toRequestRow = (request: RecordedRequest, at: number, masks: Masks): RequestRow => {
  const toText = createToText(masks, request.secrets)
  const { code, message } = parseError(request.error)
  const { error, outcome } = request
  const revertData =
    outcome === 'reverted' && error !== undefined && 'text' in error ? findRevertData(error.text) : undefined
  const revert = revertData === undefined ? undefined : describeRevert(revertData)
  const params = toText(request.params, excerptLength)
  const response = toText(request.response, excerptLength)
  return {
    request: {
      keyId: request.keyId,
      at,
      id: createLogId(at),
      method: toMethod(request.method, toText),
      outcome,
      code,
      message: toText(revert ?? message, textLength),
      revertData: toText(revertData, revertDataLength),
      status: request.status,
      durationUs: Math.round(request.durationMs * 1_000),
      network: request.network,
      requestId: request.requestId,
      calls: request.calls,
      failedCalls: request.failedCalls,
      storedCalls: request.storedCalls,
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
