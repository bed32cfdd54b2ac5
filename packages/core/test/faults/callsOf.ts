import type { Seen } from '../faultServer.ts'

/** One call of a request. */
export interface AskedCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** The calls of a request: those of a batch, or the one; none where the body is no JSON. */
export function callsOf({ json }: Seen): readonly AskedCall[] {
  return ([json] as unknown[]).flat().filter((call) => call !== undefined) as AskedCall[]
}
