import { useQuery } from '@tanstack/react-query'
import type { ActingAccountView } from '@keyrail/gateway'
import { sessionQuery } from './queries.ts'

/** What a role may allow. */
export type Scope = ActingAccountView['scopes'][number]

/** Returns whether the user's role in the account allows something. The service checks it too. */
export function useMay(): (scope: Scope) => boolean {
  const { data } = useQuery(sessionQuery)
  return (scope) => data?.actingFor.scopes.includes(scope) === true
}
