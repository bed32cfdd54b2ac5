import type { User } from '../../storage/users.ts'

/** An account without its password hash and quota owner. */
export interface Account extends Omit<User, 'password' | 'quotaOwner'> {
  /** `false` for an account that only single sign-on can log in to. */
  readonly hasPassword: boolean
}
