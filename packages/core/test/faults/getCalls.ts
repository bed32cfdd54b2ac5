import type { Seen } from '../faultServer.ts'

/** One call of a request. */
export interface RequestedCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** The calls of a request, batched or single; none if the body is not JSON. */
export function getCalls({ json }: Seen): readonly RequestedCall[] {
  return ([json] as unknown[]).flat().filter((call) => call !== undefined) as RequestedCall[]
}
