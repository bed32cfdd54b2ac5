import type { User } from '../storage/users.ts'

/** An account as others may see it: without the hash of its password. */
export type Account = Omit<User, 'password'>
