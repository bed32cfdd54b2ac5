import type { EndpointUrlOptions } from '@keyrail/core'
import { http } from 'msw'
import type { HttpHandler } from 'msw'
import { checkRuntime } from '../checkRuntime.ts'
import type { FaultKind, FaultOptions, FaultResponse } from '../faults/fault.ts'
import { createFaultPlan } from '../faults/faultPlan.ts'
import { checkProvider } from '../faults/providers.ts'
import type { ProviderName } from '../faults/providers.ts'
import { invalidInput } from '../invalidInput.ts'
import type { ReceivedCall } from '../receivedCall.ts'
import { createRequestHandler } from './createRequestHandler.ts'
import type { HandleRequest, RunCall } from './createRequestHandler.ts'
import { matchEndpoint } from './matchEndpoint.ts'
import type { MatchedEndpoint } from './matchEndpoint.ts'

/** The HTTP side that a mock node and a replay share: msw handlers, endpoints, keys, faults and the list of calls. */
export interface MockServer {
  readonly handlers: HttpHandler[]
  readonly endpoints: readonly MatchedEndpoint[]
  readonly handleRequest: HandleRequest
  readonly provider: () => ProviderName
  readonly setProvider: (provider: ProviderName) => void
  readonly fail: (kind: FaultKind | FaultResponse, options?: FaultOptions) => () => void
  readonly clearFaults: () => void
  readonly calls: (method?: string) => readonly ReceivedCall[]
  readonly reset: () => void
}

/** Options of {@link createMockServer}. */
export interface MockServerOptions {
  readonly endpoint: EndpointUrlOptions | { readonly endpoints: readonly EndpointUrlOptions[] }
  readonly provider: ProviderName
  readonly maxBatch: (provider: ProviderName) => number
  readonly run: RunCall
}

/**
 * Lists the endpoints in the options, at least one.
 *
 * @throws {KeyrailError} kind `invalidRequest` if there is none.
 */
export function getEndpoints(
  options: MockServerOptions['endpoint'],
): readonly [EndpointUrlOptions, ...EndpointUrlOptions[]] {
  const isList = Object(options) === options && 'endpoints' in options
  const [first, ...others] = isList ? options.endpoints : [options as EndpointUrlOptions]
  if (first === undefined && isList) throw invalidInput('endpoints is empty. Pass one endpoint or more')
  return [first as EndpointUrlOptions, ...others]
}

/**
 * Creates the HTTP side of a mock node.
 *
 * @throws {KeyrailError} kind `invalidRequest`, with the option and how to fix it.
 */
export function createMockServer({
  endpoint,
  provider: initialProvider,
  maxBatch,
  run,
}: MockServerOptions): MockServer {
  checkRuntime()
  const endpoints = getEndpoints(endpoint).map(matchEndpoint)
  const plan = createFaultPlan()
  let received: ReceivedCall[] = []
  let provider = initialProvider
  let hanging: (() => void)[] = []

  const setProvider = (next: ProviderName): void => {
    checkProvider(next)
    provider = next
  }
  setProvider(initialProvider)
  const clearFaults = (): void => {
    plan.clear()
    const released = hanging
    hanging = []
    for (const release of released) release()
  }
  const handleRequest = createRequestHandler({
    endpoints,
    plan,
    provider: () => provider,
    maxBatch: () => maxBatch(provider),
    run,
    recordCall: (call) => void received.push(call),
    hang: (signal) =>
      new Promise((resolve) => {
        hanging.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
  })

  return {
    handlers: [
      http.all(
        ({ request }) => endpoints.some(({ matches }) => matches(request.url)),
        ({ request }) => handleRequest(request),
      ),
    ],
    endpoints,
    handleRequest,
    provider: () => provider,
    setProvider,
    fail: (kind, options = {}) => plan.add(kind, options),
    clearFaults,
    calls: (method) => (method === undefined ? [...received] : received.filter((call) => call.method === method)),
    reset() {
      clearFaults()
      received = []
      provider = initialProvider
    },
  }
}
