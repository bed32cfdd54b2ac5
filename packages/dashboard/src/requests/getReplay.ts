import { snippetMethods } from '@keyrail/snippets'
import type { SnippetCall, SnippetMethod } from '@keyrail/snippets'
import type { RequestDetailsView } from '@keyrail/gateway'
import { getRequestSteps } from '../run/exampleCalls.ts'
import type { RequestStep } from '../run/exampleCalls.ts'

/** A way to repeat a request. */
export interface Replay {
  /** Where its params are from: the log, the example for its method, or nowhere: then it has none. */
  readonly source: 'log' | 'example' | 'none'
  readonly steps: readonly RequestStep[]
  /** The program that makes it. */
  readonly program: { readonly call: SnippetCall } | { readonly method: SnippetMethod }
}

/** The recorded params; `undefined` if there are none, if their excerpt was cut, or if they are by name. */
function readParams(text: string | null): readonly unknown[] | undefined {
  if (text === null) return undefined
  try {
    const params: unknown = JSON.parse(text)
    return Array.isArray(params) ? params : undefined
  } catch {
    return undefined
  }
}

/** Gets how to repeat a request; `undefined` if a page cannot, because its method is unknown or needs a WebSocket or a signature. */
export function getReplay({ method, params: text }: RequestDetailsView): Replay | undefined {
  if (method === null || /^eth_(?:un)?subscribe$/.test(method)) return undefined
  const params = readParams(text)
  if (params !== undefined) {
    const call = { method, params }
    return { source: 'log', steps: [() => call], program: { call } }
  }
  const example = snippetMethods.find(({ rpc }) => rpc[0] === method)
  if (example === undefined) {
    const call = { method, params: [] }
    return { source: 'none', steps: [() => call], program: { call } }
  }
  const steps = getRequestSteps(example.id, {})
  return steps && { source: 'example', steps, program: { method: example.id } }
}
