import { refusals } from '../../errors/rejections.ts'
import type { Refusal } from '../../errors/rejection.ts'
import type { JwtVerdict } from './jwtResult.ts'

/** Why a request with such a token may not go on, or `undefined`. What a good token narrows is asked of its `allow`. */
export const refuseJwt = (verdict: JwtVerdict): Refusal | undefined =>
  verdict.ok ? undefined : refusals.jwtInvalid(verdict.check, verdict.message)
