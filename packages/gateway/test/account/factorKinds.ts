import type {
  FactorProof,
  NewFactorOptions,
  NewPasskey,
  PasskeyOptions,
} from '../../src/control/account/factorProof.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { getAppCode, stepMs } from './appCode.ts'
import { createSoftAuthenticator } from './softAuthenticator.ts'

/** What a log-in needs besides the password. */
export type FactorKind = 'no factor' | 'an app' | 'a passkey'

export const factorKinds: readonly FactorKind[] = ['no factor', 'an app', 'a passkey']

/** Each database with each kind of factor, for attacks that must fail with every one. */
export const databasesAndFactors = suiteDatabases.flatMap((database) =>
  factorKinds.map((factor) => ({ database, factor, name: `${database.name} with ${factor}` })),
)

/** The second factor of one user. */
export interface TestFactor {
  /** Responds to the options of a new factor. */
  add(options: NewFactorOptions): { totp: { setup: string; code: string } } | { passkey: NewPasskey }
  /** Proves it. An app shows each code once, so the clock advances if it has to. */
  prove(options: { readonly passkey: PasskeyOptions | null }): FactorProof
}

/** Creates a factor. @param options.site - The origin of the dashboard. */
export const createTestFactor = (
  kind: Exclude<FactorKind, 'no factor'>,
  { site, clock }: { site: string; clock: { now: number } },
): TestFactor => {
  if (kind === 'a passkey') {
    const device = createSoftAuthenticator({ site })
    return {
      add: ({ passkey }) => ({ passkey: device.create(passkey) }),
      prove: ({ passkey }) => ({ passkey: device.get(passkey) }),
    }
  }
  let secret = ''
  let step = 0
  return {
    add: ({ totp }) => {
      secret = totp.secret
      step = Math.floor(clock.now / stepMs)
      return { totp: { setup: totp.setup, code: getAppCode(secret, clock.now) } }
    },
    prove: () => {
      step = Math.max(step + 1, Math.floor(clock.now / stepMs))
      // A code is valid one step early.
      clock.now = Math.max(clock.now, (step - 1) * stepMs)
      return { code: getAppCode(secret, step * stepMs) }
    },
  }
}
