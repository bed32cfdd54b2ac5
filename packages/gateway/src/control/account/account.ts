import type { User } from '../../storage/users.ts'

/** An account, as other parts of the service see it: without its password hash. */
export interface Account extends Pick<
  User,
  'id' | 'email' | 'state' | 'role' | 'limits' | 'createdAt' | 'emailVerifiedAt' | 'hasSecondFactor'
> {
  /** `false` for an account that only single sign-on can log in to. */
  readonly hasPassword: boolean
}
