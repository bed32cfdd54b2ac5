import type { AllowList } from '../allowList/compileAllowList.ts'

/** The checks of a token, in the order in which they are made; a rejection names the first that failed. */
export type JwtCheck =
  | 'missing'
  | 'malformed'
  | 'header'
  | 'kid'
  | 'algorithm'
  | 'signature'
  | 'expiry'
  | 'lifetime'
  | 'not_before'
  | 'issued_at'
  | 'audience'
  | 'claims'

/** What was found of a token. Holds nothing of the token itself but its key's id. */
export type JwtResult =
  | {
      readonly ok: true
      readonly kid: string
      /** When the token ends, in milliseconds since 1970. */
      readonly untilMs: number
      /** What the token allows, where it says: asked besides the app's own list, so that it can only narrow. */
      readonly allow: AllowList | undefined
    }
  | {
      readonly ok: false
      readonly check: JwtCheck
      /** For the caller: reads on after "invalid JWT: ". */
      readonly message: string
      /** Up to when the verdict holds, in milliseconds since 1970; a token that is too early may be good later. */
      readonly untilMs: number
    }
