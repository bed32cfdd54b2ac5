import { refusals } from '../refusal/refusals.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { JwtVerdict } from './jwtVerdict.ts'

/** Why a request with such a token may not go on, or `undefined`. What a good token narrows is asked of its `allow`. */
export const refuseJwt = (verdict: JwtVerdict): Refusal | undefined =>
  verdict.ok ? undefined : refusals.jwtInvalid(verdict.check, verdict.message)
