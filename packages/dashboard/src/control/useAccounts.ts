import { useQuery } from '@tanstack/react-query'
import type { ActingAccountView } from '@keyrail/gateway'
import { chooseAccount } from './chosenAccount.ts'
import { accountsQuery, sessionQuery } from './queries.ts'

/** Returns the accounts of the user, none before they are loaded, the id of the one that the pages show, and a function that chooses another one. */
export function useAccounts(): {
  readonly accounts: readonly (ActingAccountView & { readonly title: string })[]
  readonly current: string
  readonly choose: (id: string) => void
} {
  const { data: session } = useQuery(sessionQuery)
  const { data } = useQuery(accountsQuery)
  const items = session === undefined || data === undefined ? [] : data.items
  return {
    accounts: items.map((one) => ({ ...one, title: one.kind === 'personal' ? 'Personal' : one.name })),
    current: session?.actingFor.id ?? '',
    choose: (id) => chooseAccount(id === session?.account.id ? undefined : id),
  }
}
