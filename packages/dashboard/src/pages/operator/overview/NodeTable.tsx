import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { UpstreamView } from '@keyrail/gateway'
import { upstreamsQuery } from '../../../control/queries.ts'
import { useNetworks } from '../../../networks/useNetworks.ts'
import { Card } from '../../../parts/Card.tsx'
import { Loaded } from '../../../parts/Loaded.tsx'
import { TableBox } from '../../../parts/TableBox.tsx'
import { TableHead } from '../../../parts/TableHead.tsx'
import { countText, msText } from '../../../parts/times.ts'
import { headText, StatusBadge } from '../OperatorUpstreams.tsx'
import { getSlowness } from './getSlowness.ts'

/** How many nodes are shown. */
const maxShown = 8

const ratio = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** The nodes: those with a problem first, then the slowest. */
export function NodeTable() {
  const { getTitle } = useNetworks()
  const query = useQuery({ ...upstreamsQuery, refetchInterval: 5_000 })
  return (
    <Card
      title="Nodes"
      lead="Those with a problem first, then the slowest."
      aside={<Link to="/operator/upstreams">Upstreams</Link>}
    >
      <Loaded query={query}>
        {({ items }) => {
          const sorted = sortNodes(items)
          return (
            <>
              <TableBox label="Table of nodes">
                <table className="table cards">
                  <TableHead
                    titles={['Node', 'Status', { title: 'Latency', isNumber: true }, { title: 'Head', isNumber: true }]}
                  />
                  <tbody>
                    {sorted.slice(0, maxShown).map(({ node, slowness }) => (
                      <tr key={`${node.network} ${node.name}`}>
                        <th scope="row">
                          {node.name}
                          <p className="hint">{getTitle(node.network)}</p>
                        </th>
                        <td data-label="Status">
                          <StatusBadge status={node.status} />
                        </td>
                        <td data-label="Latency" className="number">
                          {msText(node.latencyMs)}
                          {slowness !== undefined && (
                            <p>
                              <span className="badge warn">Slow: {ratio.format(slowness)}× the fastest</span>
                            </p>
                          )}
                        </td>
                        <td data-label="Head" className="number">
                          {headText(node)}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </TableBox>
              {sorted.length > maxShown && (
                <p className="small soft">{countText(sorted.length - maxShown)} more are on the page Upstreams.</p>
              )}
            </>
          )
        }}
      </Loaded>
    </Card>
  )
}

function sortNodes(items: readonly UpstreamView[]) {
  return items
    .map((node) => ({ node, slowness: getSlowness(node, items) }))
    .toSorted(
      (one, other) =>
        Number(one.node.status === 'healthy') - Number(other.node.status === 'healthy') ||
        (other.slowness ?? 0) - (one.slowness ?? 0) ||
        (other.node.latencyMs ?? 0) - (one.node.latencyMs ?? 0),
    )
}
