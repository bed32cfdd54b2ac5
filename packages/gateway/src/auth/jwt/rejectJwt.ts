import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import type { JwtResult } from './jwtResult.ts'

/** Why a request with such a token may not go on, or `undefined`. What a good token narrows is asked of its `allow`. */
export const rejectJwt = (verdict: JwtResult): Rejection | undefined =>
  verdict.ok ? undefined : rejections.jwtInvalid(verdict.check, verdict.message)
