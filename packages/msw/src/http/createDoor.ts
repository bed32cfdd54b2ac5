import type { AddressOptions } from '@keyrail/core'
import { http } from 'msw'
import type { HttpHandler } from 'msw'
import type { SeenCall } from '../calls.ts'
import { checkRuntime } from '../checkRuntime.ts'
import { checkPersonality } from '../faults/dialects.ts'
import type { Personality } from '../faults/dialects.ts'
import type { Fault, FaultAnswer, FaultKind, FaultOptions, Misbehaviour } from '../faults/fault.ts'
import { createFaultPlan } from '../faults/faultPlan.ts'
import { refused } from '../refused.ts'
import { createAnswerer } from './answerRequest.ts'
import { matchAddress } from './matchAddress.ts'

/** What stands between msw and whatever knows the answers: addresses, keys, faults, the list of calls. */
export interface Door {
  readonly handlers: HttpHandler[]
  readonly personality: () => Personality
  readonly setPersonality: (personality: Personality) => void
  readonly fail: (kind: FaultKind | Misbehaviour | FaultAnswer, options?: FaultOptions) => () => void
  readonly heal: () => void
  readonly calls: (method?: string) => readonly SeenCall[]
  readonly reset: () => void
}

/** What a door is made with. */
export interface DoorOptions {
  readonly address: AddressOptions | { readonly endpoints: readonly AddressOptions[] }
  readonly personality: Personality
  readonly maxBatch: (personality: Personality) => number
  /** Answers a call; `fault` is one that changes what the node knows. */
  readonly run: (method: string, params: readonly unknown[], fault: Fault | undefined) => unknown
}

/** The addresses that were given, one or several. */
export function addressesOf(address: DoorOptions['address']): readonly [AddressOptions, ...AddressOptions[]] {
  if (Object(address) !== address)
    throw refused('pass an address: { url }, or { baseUrl, apiKey } or { rpcUrl, apiKey }')
  const [first, ...others] = 'endpoints' in address ? address.endpoints : [address]
  if (first === undefined) throw refused('endpoints must name one address or more')
  return [first, ...others]
}

/**
 * Makes the handlers.
 *
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 */
export function createDoor({ address, personality, maxBatch, run }: DoorOptions): Door {
  checkRuntime()
  const addresses = addressesOf(address).map(matchAddress)
  const plan = createFaultPlan()
  let seen: SeenCall[] = []
  let voice = personality
  let hanging: (() => void)[] = []

  const setPersonality = (next: Personality): void => {
    checkPersonality(next)
    voice = next
  }
  setPersonality(personality)
  const heal = (): void => {
    plan.clear()
    const ended = hanging
    hanging = []
    for (const breakOff of ended) breakOff()
  }
  const answer = createAnswerer({
    addresses,
    plan,
    personality: () => voice,
    maxBatch: () => maxBatch(voice),
    run,
    see: (call) => void seen.push(call),
    hang: (signal) =>
      new Promise((resolve) => {
        hanging.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
  })

  return {
    handlers: [
      http.all(
        ({ request }) => addresses.some(({ isNear }) => isNear(request.url)),
        ({ request }) => answer(request),
      ),
    ],
    personality: () => voice,
    setPersonality,
    fail: (kind, options = {}) => plan.add(kind, options),
    heal,
    calls: (method) => (method === undefined ? [...seen] : seen.filter((call) => call.method === method)),
    reset() {
      heal()
      seen = []
      voice = personality
    },
  }
}
