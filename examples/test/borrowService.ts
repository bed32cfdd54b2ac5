import { inject } from 'vitest'
import type { DevDescription } from '../../packages/cli/src/dev/devService.ts'

/** The service that all examples call. */
export interface Borrowed {
  readonly service: DevDescription
  /** The latest-block examples, in a copy that lies to this service as the examples lie to the one of `npm start`. */
  readonly copies: string
}

/** Borrows the service from whoever lends it. */
export async function borrowService(): Promise<Borrowed> {
  const response = await fetch(inject('serviceLender'))
  const answer = await response.text()
  if (!response.ok) throw new Error(answer)
  return JSON.parse(answer) as Borrowed
}
