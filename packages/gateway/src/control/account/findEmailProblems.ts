import { foldEmail, toEmailIdentity } from '../../storage/emailIdentity.ts'

/** An account of an earlier version whose email address needs an operator. */
export interface EmailAddressProblem {
  readonly id: string
  readonly email: string
  /** `invalid`: nobody can log in with the address. `similar`: the address of another account looks like it. */
  readonly problem: 'invalid' | 'similar'
}

/**
 * Finds accounts whose email address is not valid, or looks like the one of another account of the list. New accounts cannot have such an
 * address; earlier versions allowed some.
 * @param accounts - All accounts.
 */
export const findEmailProblems = (
  accounts: readonly { readonly id: string; readonly email: string }[],
): EmailAddressProblem[] => {
  const counts = new Map<string, number>()
  for (const { email } of accounts) counts.set(foldEmail(email), (counts.get(foldEmail(email)) ?? 0) + 1)
  return accounts.flatMap(({ id, email }): EmailAddressProblem[] => {
    if (toEmailIdentity(email) === undefined) return [{ id, email, problem: 'invalid' }]
    return (counts.get(foldEmail(email)) ?? 0) > 1 ? [{ id, email, problem: 'similar' }] : []
  })
}
