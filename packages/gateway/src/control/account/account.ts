import type { User } from '../../storage/users.ts'

/** An account without its password hash and quota owner. */
export type Account = Omit<User, 'password' | 'quotaOwner'>
