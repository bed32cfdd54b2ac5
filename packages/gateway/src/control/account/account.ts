import type { User } from '../../storage/users.ts'

/** An account as others may see it: without the hash of its password, and without what only quotas need. */
export type Account = Omit<User, 'password' | 'quotaOwner'>
