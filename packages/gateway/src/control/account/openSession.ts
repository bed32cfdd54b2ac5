import type { Session } from '../../storage/sessions.ts'

/** A session that a request can still be sent in. */
export interface OpenSession extends Omit<Session, 'userId' | 'factorAt'> {
  /** Identifies it in the control API. No request can be sent with it. */
  readonly id: string
  /** Whether the viewer's request was sent in it. */
  readonly current: boolean
  /** When it expires if it is not used, in milliseconds since 1970. */
  readonly expiresAt: number
}
