import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { networkStatusQuery, sessionQuery } from '../control/queries.ts'
import { Note } from '../parts/Note.tsx'
import { useNetworks } from './useNetworks.ts'

/** Says which networks of the account's apps and API keys have no healthy node. Renders nothing if all have one. */
export function NetworksDown() {
  const { data, isError } = useQuery({ ...networkStatusQuery, refetchInterval: 15_000 })
  const { data: session } = useQuery(sessionQuery)
  const { getTitle } = useNetworks()
  // After a failed poll, the last counts may be wrong.
  const down = isError ? [] : (data?.networks ?? []).filter((one) => one.isOfAccount && one.nodes.healthy === 0)
  if (down.length === 0) return null
  const names = new Intl.ListFormat('en').format(down.map(({ network }) => getTitle(network)))
  return (
    <Note kind="warn" action={session?.account.role === 'operator' && <Link to="/operator/upstreams">Upstreams</Link>}>
      {names} {down.length === 1 ? 'has' : 'have'} no healthy node, so calls of your apps and API keys to{' '}
      {down.length === 1 ? 'it' : 'them'} may fail.
    </Note>
  )
}
